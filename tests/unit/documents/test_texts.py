"""Quotes in a document without pages: the same statuses as on a page, character ranges and line numbers."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.records import Offsets
from proofspan.errors import EvidenceFault
from proofspan.evidence.text.text_document import TextDocument, locate_in_text
from proofspan.evidence.text_file import MAX_BYTES, read_text
from proofspan.evidence.types import FoundSpan, SpanQuery
from proofspan.manifest.sniff import content_problem

BULLETIN = """# Service bulletin 07

Oil of the **diesel** engine: fill in 5W-30 only, and change it
every 20,000 km or 24 months, whichever
comes first.

| Engine | Fill | Grade |
|--------|------|-------|
| petrol | 4.3 l | 0W-20 |
| diesel | 5.1 l | 5W-30 |

Check the level after ten minutes. Wipe the dipstick first.

Check the level after ten minutes.
"""
DOCUMENT = TextDocument.of(BULLETIN)


def find(quote: str, text: str = BULLETIN, **more: object) -> FoundSpan:
    return locate_in_text(SpanQuery(quote, **more), TextDocument.of(text))  # type: ignore[arg-type]


def marked(found: FoundSpan, text: str = BULLETIN) -> list[str]:
    return [text[each.start : each.end] for each in found.ranges]


def lines(found: FoundSpan) -> list[tuple[int, int]]:
    return [(each.first_line, each.last_line) for each in found.ranges]


def test_a_quote_over_three_lines_is_one_exact_range() -> None:
    quote = "change it every 20,000 km or 24 months, whichever comes first."
    found = find(quote)
    assert (found.status, found.agreement, found.page_idx, found.rects) == ("exact", 1.0, None, ())
    assert marked(found) == [quote.replace("it every", "it\nevery").replace("whichever ", "whichever\n")]
    assert lines(found) == [(3, 5)]


@pytest.mark.parametrize(
    ("quote", "status"),
    [
        ("Oil of the diesel engine: fill in 5W-30 only", "normalized"),
        ("OIL OF THE DIESEL ENGINE – fill in 5W‑30 only", "normalized"),
        ("diesel 5.1 l 5W-30", "normalized"),
        ("Oil of the diesel engine: fill in 10W-40 only, and change it every 20,000 km", "fuzzy"),
        ("Which one to take. Oil of the diesel engine: fill in 5W-30 only, and change it every 20,000 km",
         "partial"),
        ("Oil of the diesel engine: […] whichever comes first.", "partial"),
        ("Nothing of this sentence stands in that bulletin.", "not_found"),
    ],
)  # fmt: skip
def test_every_status_is_reached_as_on_a_page(quote: str, status: str) -> None:
    found = find(quote)
    assert found.status == status
    assert bool(found.ranges) == (status != "not_found")


def test_a_misquoted_figure_is_named() -> None:
    found = find("change it every 15,000 km or 24 months, whichever comes first.")
    assert [(d.quote, d.page, d.kind) for d in found.differences] == [("15,000", "20,000", "number")]
    assert lines(found) == [(3, 5)]


def test_two_pieces_are_two_ranges() -> None:
    assert lines(find("Oil of the diesel engine: … whichever comes first.")) == [(3, 3), (4, 5)]


def test_a_repeated_quote_offers_its_other_place() -> None:
    found = find("Check the level after ten minutes.")
    assert lines(found) == [(12, 12)]
    assert [(r.first_line, r.start) for other in found.alternatives for r in other.ranges] == [
        (14, BULLETIN.rindex("Check"))
    ]


@pytest.mark.parametrize("shift", [0, 7])
def test_offsets_settle_a_repeated_quote(shift: int) -> None:
    quote = "Check the level after ten minutes."
    start = BULLETIN.rindex(quote)
    found = find(quote, offsets=Offsets(start - shift, start - shift + len(quote)))
    assert (lines(found), found.alternatives, found.status) == ([(14, 14)], (), "exact")


def test_context_settles_a_repeated_quote() -> None:
    found = find("Check the level after ten minutes.", after="Wipe the dipstick")
    assert (lines(found), found.alternatives) == ([(12, 12)], ())


@pytest.mark.parametrize(
    ("offsets", "line"),
    [
        (Offsets(14, 15, "line"), 14),
        (Offsets(len(BULLETIN[: BULLETIN.rindex("Check")].encode()), 10**9, "byte"), 14),
    ],
)
def test_offsets_in_lines_and_bytes_settle_it_too(offsets: Offsets, line: int) -> None:
    text = BULLETIN.replace("diesel", "Größe", 1)
    if offsets.unit == "byte":
        offsets = Offsets(offsets.start + len("Größe".encode()) - len("diesel"), offsets.end, "byte")
    assert lines(find("Check the level after ten minutes.", text, offsets=offsets)) == [(line, line)]


@pytest.mark.parametrize("unit", ["line", "char", "byte"])
def test_a_place_within_the_offsets_counts_before_a_nearer_one_outside(unit: str) -> None:
    quote = "Check the level."
    long = " ".join(f"word{number}" for number in range(100))
    text = f"Stop. {quote}\n{long} {quote}\n"
    start = text.index(long)
    offsets = Offsets(2, 3, "line") if unit == "line" else Offsets(start, len(text), unit)  # type: ignore[arg-type]
    found = find(quote, text, offsets=offsets)
    assert (lines(found), found.alternatives) == ([(2, 2)], ())


def test_offsets_that_hold_two_places_leave_both_open() -> None:
    text = "Check the level. Check the level.\n"
    found = find("Check the level.", text, offsets=Offsets(1, 2, "line"))
    assert [place.ranges[0].start for place in found.alternatives] == [17]


def test_offsets_in_tokens_are_reported_as_of_no_use() -> None:
    found = find("Check the level after ten minutes.", offsets=Offsets(3, 9, "token"))
    assert "tokenizer" in found.note
    assert found.alternatives
    assert find("Wipe the dipstick first.", offsets=Offsets(3, 9, "token")).note == ""


@pytest.mark.parametrize("quote", ["", "Words that stand nowhere in this bulletin."])
def test_what_offsets_name_is_given_as_unverified_where_no_quote_confirms_it(quote: str) -> None:
    found = find(quote, offsets=Offsets(12, 13, "line"))
    assert (found.status, found.ranges) == ("not_found", ())
    assert [BULLETIN[each.start : each.end] for each in found.unverified_ranges] == [
        "Check the level after ten minutes. Wipe the dipstick first."
    ]
    assert "the text at its offsets is “Check the level" in found.note
    assert find(quote, offsets=Offsets(900, 950)).unverified_ranges == ()
    assert find("Wipe the dipstick first.", offsets=Offsets(0, 9)).unverified_ranges == ()


@pytest.mark.parametrize("offsets", [(-5, 3), (9, 4), (10**15, 10**15 + 3), (0, 10**15)])
def test_offsets_that_make_no_sense_change_nothing(offsets: tuple[int, int]) -> None:
    found = find("Wipe the dipstick first.", offsets=Offsets(*offsets))
    assert (found.status, lines(found)) == ("exact", [(12, 12)])


def test_pages_and_boxes_mean_nothing_in_a_text() -> None:
    found = find("Wipe the dipstick first.", cited_page_idx=7, box=(0.0, 0.0, 1.0, 1.0), box_space="points")
    assert (found.page_mismatch, found.note, lines(found)) == (False, "", [(12, 12)])


def test_text_without_spaces_is_placed_to_the_character() -> None:
    text = "前書き。雪道では急ブレーキを避けてください。速度を落とします。"
    found = find("急ブレーキを避けてください", text)
    assert (found.status, marked(found, text)) == ("exact", ["急ブレーキを避けてください"])


def test_lines_end_where_an_editor_ends_them() -> None:
    document = TextDocument.of("one\u2028still one\x0cstill\nthe second line of it\n")
    found = locate_in_text(SpanQuery("the second line of it"), document)
    assert lines(found) == [(2, 2)]
    assert document.line_count == 2


def test_a_quote_of_a_very_common_word_is_answered_in_time() -> None:
    found = find("the", "the cat and " * 50_000)
    assert found.status == "exact"
    assert len(found.alternatives) <= 20


@pytest.mark.parametrize("quote", ["", " \n ", "— … —"])
def test_a_quote_without_words_says_so(quote: str) -> None:
    assert "no letter or digit" in find(quote).note


def test_a_quote_of_50_kb_is_looked_for_by_its_beginning() -> None:
    text = " ".join(f"word{number}" for number in range(12_000))
    found = find(text[: 50 * 1024], text)
    assert found.status == "partial"
    assert found.ranges[0].start == 0
    assert "first 20,000 characters" in found.note


def test_lone_surrogates_are_words_like_any_other() -> None:
    found = find("\ud800 Wipe the dipstick first. \udfff")
    assert (found.status, lines(found)) == ("normalized", [(12, 12)])


@given(st.text(alphabet="ab 7.,-%\n|#é雪", max_size=80), st.data())
def test_any_piece_of_a_text_is_found_where_its_letters_are(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    document = TextDocument.of(text)
    found = locate_in_text(SpanQuery(text[start:end], offsets=Offsets(start, end)), document)
    assert all(0 <= each.start < each.end <= len(text) for each in found.ranges)
    assert all(one.end <= two.start for one, two in pairwise(found.ranges))
    if text[start:end].strip() and any(char.isalnum() for char in text[start:end]):
        assert found.status == "exact"
        assert (found.ranges[0].start, found.ranges[-1].end) == (
            start + len(text[start:end]) - len(text[start:end].lstrip()),
            end - len(text[start:end]) + len(text[start:end].rstrip()),
        )


def test_a_file_is_read_as_python_reads_text(tmp_path: Path) -> None:
    path = tmp_path / "b.md"
    path.write_bytes("\ufeffone\r\ntwo\rthree\n".encode())
    assert read_text(path).text == "one\ntwo\nthree\n"


def test_a_text_may_speak_of_pdf_headers(tmp_path: Path) -> None:
    path = tmp_path / "b.md"
    path.write_text("# Files\n\nA file that begins with %PDF-1.7 is a PDF.\n")
    assert read_text(path).line_count == 3
    assert content_problem(path, "text") is None


@pytest.mark.parametrize(
    ("data", "code", "expected"),
    [
        (b"", "no_text", "holds no text"),
        (b" \r\n\xef\xbb\xbf", "no_text", "holds no text"),
        (b"\x0c\n\xc2\xa0", "no_text", "holds no text"),
        ("Größe\nund ".encode() + "Höhe".encode("latin-1"), "not_utf8", "byte 14 (line 2)"),
        (b"a\xed\xa0\x80b", "not_utf8", "byte 2 (line 1)"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "not_text", "zero bytes"),
        (b"%PDF-1.7\n1 0 obj", "text_is_pdf", "is a PDF"),
        ("text".encode("utf-16"), "not_utf8", "UTF-16"),
    ],
)
def test_what_is_no_text_is_reported_clearly(tmp_path: Path, data: bytes, code: str, expected: str) -> None:
    path = tmp_path / "b.md"
    path.write_bytes(data)
    with pytest.raises(EvidenceFault) as caught:
        read_text(path)
    (problem,) = caught.value.problems
    assert (problem.code, problem.where) == (code, str(path))
    assert expected in problem.message
    assert problem.fix


def test_a_missing_file_a_folder_and_one_of_200_mb_are_not_read(tmp_path: Path) -> None:
    big = tmp_path / "big.txt"
    with big.open("wb") as file:
        file.truncate(200 * 1024 * 1024)
    for path, code in ((tmp_path / "gone.md", "missing"), (tmp_path, "not_a_file"), (big, "too_large")):
        with pytest.raises(EvidenceFault) as caught:
            read_text(path)
        assert caught.value.problems[0].code == code
    assert f"{MAX_BYTES >> 20} MiB" in caught.value.problems[0].message
