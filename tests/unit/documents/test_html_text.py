"""The text of a web page: what a reader sees, in lines, whatever the page is made of."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.errors import EvidenceFault
from proofspan.evidence.text.text_document import locate_in_text
from proofspan.evidence.text_file import read_text, text_of_html
from proofspan.evidence.types import SpanQuery

PAGE = """<!DOCTYPE html><html lang=en><head><meta charset="utf-8"><title>Not shown</title>
<style>p > b { color: red }</style></head><body class="it's">
<h1>Service <b>bulletin</b>&nbsp;07</h1>
<p>Oil of the <i>diesel</i> engine:
   fill in 5W&#45;30 only,<br>and change it every 20,000&thinsp;km.<!-- <p>never shown</p> -->
<script>if (a < b && "</p>") { document.write("<p>never</p>") }</script>
<ul><li>Wait <li>Wipe the dipstick</ul>
<table><tr><th>Engine<th>Fill</tr><tr><td>petrol</td> <td title="4 > 3">4.3&nbsp;l</td></tr></table>
<pre>  a  b
    c</pre>
3 < 4 &amp; &lt;b&gt; stays text</body></html>"""


def test_a_page_is_described_in_reading_order() -> None:
    assert text_of_html(PAGE).replace("\xa0", " ").replace("\u2009", " ").splitlines() == [
        "Service bulletin 07",
        "",
        "Oil of the diesel engine: fill in 5W-30 only,",
        "and change it every 20,000 km.",
        "",
        "Wait",
        "Wipe the dipstick",
        "",
        "Engine\tFill",
        "petrol\t4.3 l",
        "",
        "  a  b",
        "    c",
        "",
        "3 < 4 & <b> stays text",
    ]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("", ""),
        ("plain", "plain\n"),
        ("<p>a</p><p>b</p>", "a\n\nb\n"),
        ("a<b>b</b>c", "abc\n"),
        ("a <b> b</b>", "a b\n"),
        ("<p>a<br><br>b", "a\n\nb\n"),
        ("<SCRIPT>x</sCript >y", "y\n"),
        ("<script>never closed <p>x", ""),
        ("a<!-- never closed <p>x", "a\n"),
        ("a<p title='never closed>x", "a\n\nx\n"),
        ("a<p never closed", "a\n"),
        ("<svg><text>drawn</text></svg>b", "b\n"),
        ("<?xml version='1.0'?><!DOCTYPE x><p>a</p>", "a\n"),
        ("a</>b</ x>c", "abc\n"),
        ("1<2<<3", "1<2<<3\n"),
        ("a<!-->b--><!--->c<!-- - -- > --!>d", "ab-->cd\n"),
        ("<fieldset><legend>L</legend>in</fieldset><center>c</center>", "L\nin\nc\n"),
        ("a<textarea><p>t</textarea>b<video>no video</video>c<noembed>n</noembed>d", "abcd\n"),
        ("&unknown; &#x41; &#0;", "&unknown; A \ufffd\n"),
    ],
)
def test_torn_pages_are_read_as_far_as_they_go(source: str, text: str) -> None:
    assert text_of_html(source) == text


@given(st.text(alphabet="<>/!-?=\"' abp&;\n", max_size=200))
def test_no_page_however_torn_stops_it(source: str) -> None:
    text = text_of_html(source)
    assert text == "" or (text.endswith("\n") and not text.startswith("\n"))
    assert "\n\n\n" not in text or "<p" in source or "br" in source


@given(st.lists(st.text(alphabet="ab7. é雪", min_size=1, max_size=20), min_size=1, max_size=8))
def test_every_paragraph_is_found_again(paragraphs: list[str]) -> None:
    text = text_of_html("".join(f"<p>{each}</p>" for each in paragraphs))
    assert text.split() == " ".join(paragraphs).split()


@pytest.mark.parametrize(
    "torn",
    ["<a ", "<!--", '<a b="', "<a 'b", "</", "<?", "<![CDATA[", "<script></scrip", "<a =", "<", "&",
     "<td>", "<!-- --", "<video>"],
)  # fmt: skip
def test_a_page_of_tags_that_never_end_takes_no_quadratic_time(torn: str) -> None:
    started = time.process_time()
    text_of_html(torn * (400_000 // len(torn)))
    assert time.process_time() - started < 4


def test_a_quote_is_placed_in_a_page_with_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "b.html"
    path.write_text(PAGE, encoding="utf-8")
    document = read_text(path)
    found = locate_in_text(SpanQuery("Fill in 5W-30 only, and change it every 15,000 km."), document)
    assert document.is_extracted
    assert (found.status, [(each.first_line, each.last_line) for each in found.ranges]) == ("fuzzy", [(3, 4)])
    assert [(each.quote, each.page) for each in found.differences if each.kind == "number"] == [
        ("15,000", "20,000")
    ]


@pytest.mark.parametrize("charset", ["iso-8859-1", "Windows-1252", "koi8-r", "shift_jis"])
def test_a_page_is_read_in_the_charset_that_it_names(tmp_path: Path, charset: str) -> None:
    word = {"koi8-r": "масло", "shift_jis": "雪道"}.get(charset, "Größe")
    path = tmp_path / "b.htm"
    path.write_bytes(f"<meta charset={charset}><p>{word}</p>".encode(charset))
    assert read_text(path).text == f"{word}\n"


@pytest.mark.parametrize("charset", ["punycode", "idna", "hex", "rot13", "utf-7", "nonsense", "iso-8859-1"])
def test_other_codecs_are_no_charsets_and_text_files_have_none(tmp_path: Path, charset: str) -> None:
    path = tmp_path / ("b.md" if charset == "iso-8859-1" else "b.html")
    path.write_bytes(f'<meta charset="{charset}">'.encode() + "<p>Größe</p>".encode("latin-1"))
    with pytest.raises(EvidenceFault) as caught:
        read_text(path)
    assert caught.value.problems[0].code == "not_utf8"
