"""Text that somebody else wrote reaches a page as text, whatever it holds."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.records import LABELS
from proofspan.display_names import LABEL_NAMES, NO_LABEL
from proofspan.resources import PACKAGE, text_of
from proofspan.ui.widgets import markup as safe
from proofspan.ui.widgets.markup import Piece

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=80)
KINDS = get_args(safe.Kind)
HOSTILE = [
    "<img src=http://127.0.0.1:9/x onerror=alert(1)>",
    "</span></div><script>alert(1)</script>",
    '" onmouseover="alert(1)',
    "![x](http://127.0.0.1:9/x.png)",
    "&lt;b&gt; &#60;b&#62;",
]


class _Seen(HTMLParser):
    """Collects the tags, the attribute names and the text of a piece of HTML."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


def seen(markup: safe.Markup) -> _Seen:
    parser = _Seen()
    parser.feed(markup.html)
    parser.close()
    return parser


@given(st.lists(st.tuples(ANY_TEXT, st.sampled_from(KINDS), ANY_TEXT), max_size=4))
def test_no_text_becomes_a_tag_or_an_attribute(parts: list[tuple[str, safe.Kind, str]]) -> None:
    result = seen(safe.text([Piece(text, kind, tip) for text, kind, tip in parts]))
    assert result.tags <= {"div", "span", "mark", "strong", "code", "kbd", "del", "ins", "h1", "h2", "h3"}
    assert result.attributes <= {"class", "data-testid", "title"}


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_text_reads_back_as_it_was(hostile: str) -> None:
    for markup in (
        safe.text([Piece(hostile, "phrase", tip=hostile)]),
        safe.facts([(hostile, [Piece("value")])]),
        safe.row([Piece(hostile)], [Piece("right")]),
    ):
        result = seen(markup)
        assert hostile in result.text
        assert not result.tags & {"img", "script", "b"}


@given(ANY_TEXT)
def test_cleaning_keeps_every_place_and_can_always_be_sent(text: str) -> None:
    cleaned = safe.clean(text)
    assert len(cleaned) == len(text)
    cleaned.encode("utf-8")
    assert safe.clean(cleaned) == cleaned


def test_cleaning_shows_what_would_hide() -> None:
    assert safe.clean("a\x00b\ud800c\u202ed\te\n") == "a\ufffdb\ufffdc\ufffdd\te\n"
    assert safe.clean("ΔS → λ é 漢 🙂") == "ΔS → λ é 漢 🙂"


def test_a_label_is_one_short_line_without_markdown() -> None:
    made = safe.label("![x](http://a/b)\n:red[hi]  `c` <b> $x$ *y* _z_ #1 ~s~ |")
    assert "\n" not in made
    assert not re.search(r"(?<!\\)[!\[\]():`<>$*_#~|/]", made)
    assert len(safe.label("long " * 100, limit=20).replace("\\", "")) == 20


@given(ANY_TEXT)
def test_a_label_escapes_every_ascii_punctuation_mark(text: str) -> None:
    unescaped = re.sub(r"\\[!-/:-@\[-`{-~]", "", safe.label(text))
    assert not re.search(r"[!-/:-@\[-`{-~]", unescaped)


def test_cutting_counts_what_it_leaves_out() -> None:
    pieces = [Piece("abcd"), Piece("efgh", "phrase"), Piece("ij")]
    assert safe.cut(pieces, limit=6) == ((Piece("abcd"), Piece("ef", "phrase")), 4)
    assert safe.cut(pieces, limit=10) == (tuple(pieces), 0)


def test_a_huge_text_is_cut_and_says_so() -> None:
    result = seen(safe.text([Piece("x" * (safe.LIMIT + 1234))]))
    assert result.text.count("x") == safe.LIMIT
    assert "1,234 more characters" in result.text


def test_an_unknown_kind_is_a_defect_not_a_class_name() -> None:
    with pytest.raises(ValueError, match="unknown kind"):
        safe.text([Piece("x", 'a"><script>')])  # type: ignore[arg-type]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_link_leads_to_an_address_of_our_own(hostile: str) -> None:
    term, way = Piece("x", term=hostile), Piece("x", href=f"./{hostile}")
    for piece in (term, way):
        result = seen(safe.text([piece]))
        assert result.tags == {"div", "a"} and result.attributes == {"class", "data-testid", "href"}
    for address in (hostile, "javascript:alert(1)", "https://canary.invalid/", "//canary.invalid/"):
        with pytest.raises(ValueError, match="an address of our own"):
            safe.text([Piece("x", href=address)])


def test_every_label_has_a_chip_and_a_rule() -> None:
    css = safe.common_css()
    for name in LABELS:
        assert safe.chip(name) == Piece(LABEL_NAMES[name], name, tip=name, term=f"label.{name}")
        assert f".ps-{name}" in css
    assert safe.chip(None).text == NO_LABEL


def test_no_stylesheet_fetches_anything() -> None:
    own = [text_of(str(path.relative_to(PACKAGE))) for path in PACKAGE.glob("ui/*/*.css")]
    for css in (safe.common_css(), *own):
        assert not re.search(r"url\(|@import|https?:|<", css)


def test_styles_and_scripts_are_sent_without_comments_and_indentation() -> None:
    for path in sorted([*PACKAGE.glob("ui/*/*.css"), *PACKAGE.glob("ui/*/*.js")]):
        whole, sent = path.read_text("utf-8"), text_of(str(path.relative_to(PACKAGE)))
        assert not re.search(r"^(\s|//)|/\*", sent, re.MULTILINE)
        written = re.sub(r"/\*.*?\*/|^\s*//.*?$", "", whole, flags=re.DOTALL | re.MULTILINE)
        assert "".join(sent.split()).replace(";}", "}") == "".join(written.split()).replace(";}", "}")
