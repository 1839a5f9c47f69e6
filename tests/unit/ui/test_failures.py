"""Where a run fails: cells and places whose numbers are the lengths of the lists that they open."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.records import Chunk
from proofspan.diagnosis.topic import about_place
from proofspan.services.health.failure_map import (
    MOST_PLACES,
    Section,
    Tally,
    documents,
    failure_map,
    section_map,
)
from proofspan.services.page.strip_marks import MOST_CELLS
from proofspan.store.files.types import FailureCount
from proofspan.traces.records.chunks import Place
from proofspan.ui.triage.failure_map import (
    ALL,
    area_words,
    cell_words,
    chosen_document,
    failure_strip,
    place_words,
)

TITLES = {"manual": "Owner's manual", "bulletin": ""}
SECTIONS = {
    ("manual", "4"): Section((41, 42, 43), "Engine", 0, has_chunks=False),
    ("manual", "4.2"): Section((41, 42), "Oil", 1),
    ("manual", "4.3"): Section((42, 43), "Coolant", 2),
    ("manual", "5"): Section((), "Index", 3),
    ("bulletin", "1"): Section((), "Bolts", 4),
    ("bulletin", "2"): Section((), "", 5),
}


def about(section: str, doc: str = "manual") -> tuple[str, ...]:
    return about_place(Place(doc, section, None))


def chunk(chunk_id: str, section: str | None, page_idx: int | None = None, **raw: object) -> Chunk:
    return Chunk(chunk_id=chunk_id, text="t", doc_id="manual", section_id=section, page_idx=page_idx, raw=raw)  # type: ignore[arg-type]


def test_sections_know_their_pages_and_titles_and_those_that_hold_them() -> None:
    found = section_map(
        [
            chunk("a", "4.2", 41, section_title="Oil", title_path=["Engine", "Oil"]),
            chunk("b", "4.2", 42),
            chunk("c", "4.3", 42, title_path=["Engine", "Cooling", "too long"]),
            chunk("d", None, 50),
            chunk("e", "p051", 50),
        ]
    )
    assert found == {
        ("manual", "4.2"): Section((41, 42), "Oil", 0),
        ("manual", "4"): Section((41, 42), "Engine", 1, has_chunks=False),
        ("manual", "4.3"): Section((42,), "", 2),
    }


def test_a_page_of_two_sections_is_one_cell_that_counts_each_question_once() -> None:
    both = tuple(dict.fromkeys((*about("4.2"), *about("4.3"))))
    counts = [FailureCount(about("4.2"), 5, 4), FailureCount(about("4.3"), 2, 1), FailureCount(both, 1, 1)]
    shown = failure_map(Tally(counts), SECTIONS, doc_id="manual", titles=TITLES)
    assert [(cell.at, cell.failing, cell.judged) for cell in shown.marked] == [
        (41, 5, 6),
        (42, 6, 8),
        (43, 2, 3),
    ]
    assert [cell_words(cell, shown.firsts) for cell in shown.marked] == [
        "section 4.2 Oil · PDF pages 42–43 · fails on 5 of 6 questions",
        "PDF page 43 · fails on 6 of 8 questions: section 4.2 (5 of 6), section 4.3 (2 of 3)",
        "section 4.3 Coolant · PDF pages 43–44 · fails on 2 of 3 questions",
    ]


def test_the_worst_places_are_chapters_until_sections_have_enough_questions() -> None:
    few = [FailureCount(about("4.2"), 1, 1), FailureCount(about("4.3"), 2, 1), FailureCount(about("5"), 3, 1)]
    shown = failure_map(Tally(few), SECTIONS, doc_id="manual", titles=TITLES)
    assert [area_words(area) for area in shown.areas] == [
        "section 4 Engine · PDF pages 42–44 · fails on 2 of 3 questions",
        "section 5 Index · fails on 1 of 3 questions",
    ]
    many = [FailureCount(count.about, 3, count.failing) for count in few]
    shown = failure_map(Tally(many), SECTIONS, doc_id="manual", titles=TITLES)
    assert [area.place.section_id for area in shown.areas] == ["4.2", "4.3", "5"]


def test_a_text_has_a_cell_for_each_of_its_sections_and_for_those_that_only_questions_name() -> None:
    counts = [FailureCount(about("2", "bulletin"), 1, 0), FailureCount(about("9", "bulletin"), 3, 2)]
    shown = failure_map(Tally(counts), SECTIONS, doc_id="bulletin", titles=TITLES)
    assert (shown.cells, shown.firsts) == (3, ())
    assert [(cell.at, cell.values) for cell in shown.marked] == [
        (1, ("bulletin#section=2",)),
        (2, ("bulletin#section=9",)),
    ]
    strip = failure_strip(shown, about="sections of Bulletin")
    assert [mark.heights for mark in strip.marks] == [{"fine": 1.0}, {"fails": 1.0}]


def test_all_documents_are_a_cell_each_in_the_order_of_the_manifest() -> None:
    counts = [FailureCount(about("1", "bulletin"), 2, 2), FailureCount(about("4.2"), 3, 1)]
    shown = failure_map(Tally(counts), SECTIONS, doc_id=None, titles=TITLES)
    assert [(cell.at, cell.values) for cell in shown.marked] == [(0, ("manual",)), (1, ("bulletin",))]
    assert [place_words(area) for area in shown.areas] == ["bulletin", "Owner's manual"]


def test_pages_without_sections_are_cells_of_their_own() -> None:
    counts = [FailureCount(("report#page_idx=27", "report"), 1, 1)]
    shown = failure_map(Tally(counts), {}, doc_id="report", titles={})
    (cell,) = shown.marked
    assert (shown.cells, cell.at, cell_words(cell, shown.firsts)) == (
        28,
        27,
        "PDF page 28 · fails on 1 of 1 question",
    )


def test_pages_of_a_document_without_pages_mean_nothing() -> None:
    sections = section_map([chunk("a", "1", 0)], unpaged={"manual"})
    assert sections == {("manual", "1"): Section((), "", 0)}
    counts = [FailureCount(("manual#page_idx=0", "manual"), 2, 1)]
    shown = failure_map(Tally(counts), {}, doc_id="manual", titles=TITLES, unpaged={"manual"})
    assert shown.doc_id is None
    whole = Tally([*counts, FailureCount(("bulletin",), 1, 1)])
    both = failure_map(
        Tally(counts), {}, doc_id="manual", titles=TITLES, unpaged={"manual"}, by_document=whole
    )
    assert [cell.values for cell in both.marked] == [("manual",), ("bulletin",)]
    assert [area_words(area) for area in shown.areas] == ["Owner's manual · fails on 1 of 2 questions"]


@pytest.mark.slow
def test_many_pages_and_places_make_a_bounded_strip_whose_cells_open_a_bounded_number() -> None:
    counts = [FailureCount((f"book#page_idx={page}", "book"), 1, page % 2) for page in range(20_000)]
    shown = failure_map(Tally(counts), {}, doc_id="book", titles={})
    assert shown.cells == len(shown.marked) == MOST_CELLS
    assert {len(cell.values) for cell in shown.marked} == {MOST_PLACES}
    assert all(cell.judged == MOST_PLACES for cell in shown.marked)


def test_the_document_is_the_one_asked_for_else_the_worst_else_all() -> None:
    counts = [FailureCount(about("1", "bulletin"), 2, 2), FailureCount(about("4.2"), 3, 1)]
    asked = documents(Tally(counts), TITLES)
    assert chosen_document(asked, SECTIONS, None) == "bulletin"
    assert chosen_document(asked, SECTIONS, "manual") == "manual"
    assert chosen_document(asked, SECTIONS, "gone") == "bulletin"
    assert chosen_document(asked, SECTIONS, ALL) is None
    assert chosen_document(asked, {}, None) is None
    assert chosen_document(asked[:1], {}, None) == "bulletin"


places = st.one_of(
    st.builds(
        Place,
        st.sampled_from(["manual", "bulletin", None]),
        st.sampled_from(["4.2", "4.3", "5", "9.1"]),
        st.none(),
    ),
    st.builds(Place, st.just("manual"), st.none(), st.integers(0, 300)),
)


@st.composite
def drawn_counts(draw: st.DrawFn) -> list[FailureCount]:
    lists = draw(st.lists(st.lists(places, max_size=3), max_size=12))
    named = {tuple(dict.fromkeys(value for place in each for value in about_place(place))) for each in lists}
    numbers = [(draw(st.integers(0, 9)), draw(st.integers(0, 9))) for _ in named]
    return [
        FailureCount(each, max(pair), min(pair)) for each, pair in zip(sorted(named), numbers, strict=True)
    ]


@given(drawn_counts(), st.sampled_from(["manual", "bulletin", None]))
def test_every_number_is_what_its_places_open(counts: list[FailureCount], doc_id: str | None) -> None:
    shown = failure_map(Tally(counts), SECTIONS, doc_id=doc_id, titles=TITLES)
    opened = [(cell.values, cell.judged, cell.failing) for cell in shown.marked]
    for values, judged, failing in [*opened, *(((a.value,), a.judged, a.failing) for a in shown.areas)]:
        listed = [count for count in counts if set(count.about) & set(values)]
        assert judged == sum(count.judged for count in listed)
        assert failing == sum(count.failing for count in listed)
    assert all(0 <= cell.at < shown.cells for cell in shown.marked)
