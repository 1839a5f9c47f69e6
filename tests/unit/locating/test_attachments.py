"""Which attachments belong to a cited place, and in which order."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.names import section_key
from proofspan.contracts.records.records import Attachment, Box
from proofspan.evidence.attachments import CatalogueIndex, CitedPlace, attached

PLACE = CitedPlace("manual", "5.4.2", 42, ((72.0, 300.0, 300.0, 320.0),))


def entry(name: str, section: str | None, page: int | None, box: Box | None = None) -> Attachment:
    return Attachment(name, "warning", "manual", section, page, box)


def ids_of(place: CitedPlace, *entries: Attachment) -> list[tuple[str, str, int | None]]:
    found = attached(place, CatalogueIndex.of(entries))
    return [(item.attachment.attachment_id, item.by, item.pages_away) for item in found]


def test_section_first_by_name_then_pages_by_distance() -> None:
    assert ids_of(
        PLACE,
        entry("far", "5.4.2", 60),
        entry("after", "6", 43),
        entry("before", "5.4.1", 41),
        entry("here", "5.4.2", 42),
        entry("here-too", "5.5", 42),
        entry("two-on", "5.5", 44),
        entry("no-page", "5.4.2", None),
    ) == [
        ("here", "section", 0),
        ("here-too", "page", 0),
        ("before", "page", 1),
        ("after", "page", 1),
        ("far", "section", 18),
        ("no-page", "section", None),
    ]


def test_on_the_cited_page_the_nearest_box_up_or_down_comes_first() -> None:
    assert [
        name
        for name, _, _ in ids_of(
            PLACE,
            entry("no-box", None, 42),
            entry("top", None, 42, (72, 0, 300, 100)),
            entry("just-below", None, 42, (72, 330, 300, 400)),
            entry("beside-right", None, 42, (310, 290, 400, 340)),
            entry("beside-left", None, 42, (0, 290, 60, 340)),
        )
    ] == ["beside-left", "beside-right", "just-below", "top", "no-box"]


def test_without_cited_boxes_a_page_is_in_reading_order() -> None:
    boxes = {"c": (0, 50, 10, 60), "b": (20, 10, 30, 20), "a": (0, 10, 10, 20)}
    entries = [entry(name, None, 42, box) for name, box in boxes.items()]
    assert [name for name, _, _ in ids_of(replace(PLACE, rects=()), *entries)] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("cited", "of_entry", "is_inside"),
    [
        ("5.4.2", "5.4.2", True),
        ("5.4.2", " § 5.4.2. ", True),
        ("5.4.2", "Section 5.4.2", True),
        ("5.4.2", "Sec. 5.4.2", True),
        ("5.4", "5.4.2", True),
        ("5.4.2", "5.4", False),
        ("4.2", "4.20", False),
        ("A.1", "a.1", True),
        ("sectional drawings", "Sectional Drawings", True),
        ("p042", "p042", True),
        (None, None, False),
        ("", "", False),
        ("§", "5.4.2", False),
    ],
)
def test_sections(cited: str | None, of_entry: str | None, is_inside: bool) -> None:
    place = CitedPlace("manual", cited)
    assert bool(ids_of(place, entry("x", of_entry, 7))) is is_inside


def test_other_documents_and_entries_without_one_belong_to_nothing() -> None:
    stray = [replace(entry("x", "5.4.2", 42), doc_id=doc_id) for doc_id in ("bulletin", None)]
    assert ids_of(PLACE, *stray) == []
    assert ids_of(replace(PLACE, doc_id=None), entry("x", "5.4.2", 42)) == []


def test_page_zero_is_a_page() -> None:
    place = CitedPlace("manual", None, 0)
    assert ids_of(place, entry("x", None, 0), entry("y", None, 1)) == [("x", "page", 0), ("y", "page", 1)]


def test_a_document_without_pages_goes_by_section_alone() -> None:
    place = CitedPlace("manual", "2")
    assert ids_of(place, entry("b", "2.1", None), entry("a", "2", 0), entry("c", "3", None)) == [
        ("a", "section", None),
        ("b", "section", None),
    ]


def test_what_the_record_leaves_open_is_read_from_what_is_to_be_drawn() -> None:
    ref = "pdf:manual#page_idx=42&bbox=72,330,300,400"
    bare = Attachment("drawn", "image", render_ref=ref)
    unit = Attachment("unit", "image", "manual", None, 42, (0, 0, 1, 1), "unit", render_ref=ref)
    above = entry("above", None, 42, (72, 200, 300, 250))
    assert [name for name, _, _ in ids_of(PLACE, above, unit, bare)] == ["drawn", "unit", "above"]
    elsewhere = replace(bare, doc_id="bulletin")
    assert ids_of(PLACE, elsewhere) == []


numbers = st.floats(0, 800, allow_nan=False)
boxes = st.none() | st.tuples(numbers, numbers, numbers, numbers)
sections = st.none() | st.sampled_from(["", "4", "4.2", "4.2.1", "4.20", " 4.2. ", "i.1"])
pages = st.none() | st.integers(0, 6)
entries = st.builds(
    Attachment,
    attachment_id=st.uuids().map(str),
    kind=st.sampled_from(["warning", "image"]),
    doc_id=st.none() | st.sampled_from(["a", "b"]),
    section_id=sections,
    page_idx=pages,
    box=boxes,
    box_space=st.sampled_from(["points", "unit"]),
)
catalogues = st.lists(entries, max_size=25, unique_by=lambda each: each.attachment_id)
places = st.builds(
    CitedPlace,
    st.none() | st.sampled_from(["a", "b"]),
    sections,
    pages,
    st.lists(st.tuples(numbers, numbers, numbers, numbers), max_size=2).map(tuple),
)


@given(places, catalogues, st.randoms(use_true_random=False))
def test_the_order_of_the_catalogue_never_matters(
    place: CitedPlace, catalogue: list[Attachment], rng: random.Random
) -> None:
    shuffled = rng.sample(catalogue, len(catalogue))
    assert attached(place, CatalogueIndex.of(catalogue)) == attached(place, CatalogueIndex.of(shuffled))


@given(places, catalogues)
def test_exactly_what_the_rule_names_is_attached(place: CitedPlace, catalogue: list[Attachment]) -> None:
    """Compare with a plain version of the rule, entry by entry."""
    cited = section_key(place.section_id)
    expected = set()
    for each in catalogue:
        if place.doc_id is None or each.doc_id != place.doc_id:
            continue
        in_section = bool(cited) and section_key(each.section_id)[: len(cited)] == cited
        has_pages = place.page_idx is not None and each.page_idx is not None
        if in_section or (has_pages and abs(each.page_idx - place.page_idx) <= 1):  # type: ignore[operator]
            expected.add((each.attachment_id, "section" if in_section else "page"))
    found = attached(place, CatalogueIndex.of(catalogue))
    assert {(item.attachment.attachment_id, item.by) for item in found} == expected
    assert len(found) == len(expected)


@given(places, catalogues)
def test_nearer_pages_come_first(place: CitedPlace, catalogue: list[Attachment]) -> None:
    away = [item.pages_away for item in attached(place, CatalogueIndex.of(catalogue))]
    assert away == sorted(away, key=lambda pages: float("inf") if pages is None else pages)


@given(st.text(max_size=20))
def test_a_final_stop_and_white_space_never_matter(section: str) -> None:
    assert section_key(f" \t{section}. ") == section_key(section)
    assert all(step and step == step.strip() for step in section_key(section))
