"""The marks of the evidence strip, and how pages share its cells."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.evidence.types import FoundSpan, Place, SpanQuery
from proofspan.services.page.strip_marks import MOST_CELLS, PageMark, cell_firsts, cell_of, page_marks
from proofspan.services.page.target import Target
from proofspan.ui.viewer.strip import packed, page_strip

CITED = Target("cited", 1, "manual", SpanQuery("text", 41))
GOLD = Target("gold", 1, "manual", SpanQuery("text", 41))
THIRD = Target("retrieved", 3, "manual", SpanQuery("text", 41), chunk_id="c")


def found_on(page_idx: int | None) -> FoundSpan:
    return FoundSpan("exact" if page_idx is not None else "not_found", page_idx, False, 1.0)


def test_a_page_says_what_cites_it_what_is_gold_there_and_what_was_retrieved() -> None:
    assert page_marks([CITED, GOLD, THIRD], {}, "manual") == (PageMark(41, (1,), 1, (3,)),)


def test_a_placed_passage_counts_where_it_was_found_and_one_that_was_not_found_where_it_is_cited() -> None:
    other = replace(CITED, number=2)
    marks = page_marks([CITED, other], {"cite:1": found_on(7), "cite:2": found_on(None)}, "manual")
    assert marks == (PageMark(7, (1,)), PageMark(41, (2,)))


def test_a_passage_over_several_pages_counts_on_each() -> None:
    over = replace(CITED, query=SpanQuery("text", 41, last_cited_page_idx=42))
    assert [each.page_idx for each in page_marks([over], {}, "manual")] == [41, 42]
    found = replace(found_on(42), continues=(Place(43, ()),))
    assert [each.page_idx for each in page_marks([over], {"cite:1": found}, "manual")] == [42, 43]


def test_page_0_is_a_page() -> None:
    first = replace(CITED, query=SpanQuery("text", 0))
    assert page_marks([first], {}, "manual") == (PageMark(0, (1,)),)


@pytest.mark.parametrize(
    "target",
    [
        replace(CITED, doc_id="another"),
        replace(CITED, doc_id=None),
        replace(CITED, query=SpanQuery("text", None)),
        replace(CITED, query=SpanQuery("text", -1)),
        replace(THIRD, number=None),
    ],
    ids=["other document", "no document", "no page", "page below 0", "chunk without a rank"],
)
def test_what_has_no_place_in_the_document_is_left_out(target: Target) -> None:
    assert page_marks([target], {}, "manual") == ()


@given(page_count=st.integers(1, 20_000), data=st.data())
def test_every_page_lies_in_exactly_the_cell_that_begins_at_or_before_it(
    page_count: int, data: st.DataObject
) -> None:
    firsts = cell_firsts(page_count)
    assert firsts[0] == 0 and firsts[-1] == page_count
    assert all(before < after for before, after in pairwise(firsts))
    assert len(firsts) - 1 == min(page_count, MOST_CELLS)
    page_idx = data.draw(st.integers(0, page_count - 1))
    at = cell_of(page_idx, page_count)
    assert firsts[at] <= page_idx < firsts[at + 1]


def test_a_cell_is_named_as_a_person_would_say_it() -> None:
    strip = page_strip(
        [PageMark(41, (1,), 1, (3,))], page_count=96, page_idx=40, labels=[str(page) for page in range(96)]
    )
    assert [mark.words for mark in strip.marks] == [
        "p. 40 (PDF 41) (shown)",
        "p. 41 (PDF 42): cited 1, gold, rank 3",
    ]
    page = "p. 41 (PDF 42)"
    assert strip.rest == f"96 pages: cited on {page}, gold on {page}, retrieved on {page}"
    labels = [f"A-{place}" for place in range(10_000)]
    (mark,) = page_strip([PageMark(41, (1,))], page_count=10_000, page_idx=None, labels=labels).marks
    assert mark.words.startswith("pp. A-") and "(PDF " in mark.words


def test_the_shown_page_is_marked_and_says_what_it_holds() -> None:
    (mark,) = page_strip([PageMark(0, ranks=(1, 2))], page_count=3, page_idx=0).marks
    assert (mark.shown, mark.go, mark.words) == (True, 0, "PDF page 1 (shown): ranks 1, 2")


def test_a_shared_cell_goes_to_its_first_marked_page_else_to_its_first() -> None:
    strip = page_strip([PageMark(5_001, gold=2), PageMark(5_003, (2,))], page_count=10_000, page_idx=None)
    (mark,) = strip.marks
    assert mark.go == 5_001
    assert strip.firsts[mark.at] <= 5_001 < strip.firsts[mark.at + 1]
    assert mark.words == "PDF pages 5,001–5,084: cited 2, gold × 2"
    assert strip.jumps


def test_marks_beyond_the_documents_end_are_left_out() -> None:
    strip = page_strip([PageMark(9, (1,))], page_count=9, page_idx=12)
    assert strip.marks == ()


def test_better_ranks_are_drawn_higher_and_bad_ones_stay_visible() -> None:
    strip = page_strip(
        [PageMark(0, ranks=(1,)), PageMark(1, ranks=(20,)), PageMark(2, ranks=(900,))],
        page_count=3,
        page_idx=None,
    )
    first, twentieth, last = (mark.heights["retrieved"] for mark in strip.marks)
    assert first > twentieth == last > 0


def test_ten_thousand_marked_pages_stay_a_bounded_payload() -> None:
    marks = [PageMark(page, (page + 1,), 2, (page + 1,)) for page in range(10_000)]
    strip = page_strip(marks, page_count=10_000, page_idx=9_999)
    assert len(strip.marks) == strip.cells == MOST_CELLS
    assert len(packed(strip)) < 40_000


def test_a_printed_label_that_cannot_be_shown_is_made_visible() -> None:
    strip = page_strip([PageMark(0, (1,))], page_count=1, page_idx=0, labels=["\u202eiv\ud800"])
    assert "\ufffdiv\ufffd" in orjson.loads(packed(strip))["marks"][0]["words"]
