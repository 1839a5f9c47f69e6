"""The topic of a question, and the texts that name a place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.records import GoldQuestion, GoldSpan
from proofspan.diagnosis.topic import (
    MAX_CHARS,
    About,
    GoldPlaces,
    about_place,
    in_words,
    outer_sections,
    parse_about,
)
from proofspan.traces.records.chunks import Place

PLACES = {
    "c1": Place("manual", "4.2", 41),
    "c2": Place("manual", "4.3", 44),
    "c3": Place("bulletin", "4.2", None),
    "c4": Place("report", "p028", 27),
}
SPAN = GoldSpan(doc_id="bulletin", page_idx=6, quote="30 Nm")
IN_MANUAL = ("manual#section=4.2", "manual#section=4", "manual")
IN_BULLETIN = ("bulletin#section=4.2", "bulletin#section=4", "bulletin")

texts = st.text(min_size=1, max_size=12)
places = st.builds(About, st.none() | texts) | st.builds(About, st.none() | texts, texts)
pages = st.builds(lambda doc, page: About(doc, page_idx=page), st.none() | texts, st.integers(0, 99_999))


@pytest.mark.slow
@given(places | pages)
def test_a_place_survives_its_text(place: About) -> None:
    if place.value:
        assert parse_about(place.value) == place
        assert not any(ord(letter) < 32 for letter in place.value)


@pytest.mark.parametrize("value", ["", "a#b", "a#page_idx=", "a#page_idx=x", "a#section=", "a#section=b#c"])
def test_what_names_no_place_has_no_place(value: str) -> None:
    assert parse_about(value) is None


def test_places_in_words() -> None:
    values = ["manual#section=4.2", "manual#page_idx=41", "manual", "#section=9", "x#y"]
    assert [in_words([value]) for value in values] == [
        "section 4.2 of manual",
        "PDF page 42 of manual",
        "manual",
        "section 9",
        "x#y",
    ]
    assert in_words(values) == "section 4.2 of manual or PDF page 42 of manual or manual or 2 more places"


@pytest.mark.parametrize(
    ("place", "values"),
    [
        (Place("manual", "4.2", 41), IN_MANUAL),
        (Place("manual", " ", 41), ("manual#page_idx=41", "manual")),
        (Place("report", "p028", 27), ("report#page_idx=27", "report")),
        (Place("report", "p028", 3), ("report#section=p028", "report")),
        (Place("manual", None, 0), ("manual#page_idx=0", "manual")),
        (Place("manual", None, None), ("manual",)),
        (Place(None, "4.2", None), ("#section=4.2", "#section=4")),
        (Place(None, None, 3), ("#page_idx=3",)),
        (Place(None, None, None), ()),
        (Place("d", "x" * MAX_CHARS, None), ("d",)),
    ],
)
def test_a_place_is_a_section_else_a_page_and_its_document(place: Place, values: tuple[str, ...]) -> None:
    assert about_place(place) == values


@pytest.mark.parametrize(
    ("gold", "values"),
    [
        (GoldQuestion("Q", "q", sections=("4.3",)), ("manual#section=4.3", "manual#section=4", "manual")),
        (
            GoldQuestion("Q", "q", sections=("4.2",)),
            IN_MANUAL + IN_BULLETIN,
        ),
        (GoldQuestion("Q", "q", sections=("4.2",), chunks=("c1",)), IN_MANUAL),
        (GoldQuestion("Q", "q", sections=("4.2",), spans=(SPAN,)), IN_BULLETIN),
        (GoldQuestion("Q", "q", sections=("9",), spans=(SPAN,)), ("bulletin#section=9", "bulletin")),
        (GoldQuestion("Q", "q", sections=("9",)), ("#section=9",)),
        (GoldQuestion("Q", "q", chunks=("c2", "c4")),
         ("manual#section=4.3", "manual#section=4", "manual", "report#page_idx=27", "report")),
        (GoldQuestion("Q", "q", chunks=("gone",), spans=(SPAN,)), ("bulletin#page_idx=6", "bulletin")),
        (GoldQuestion("Q", "q", answerable=False), ()),
    ],
    ids=["section", "in two documents", "chunk's document", "span's document", "unknown section",
         "no document", "chunks", "unknown chunk", "no answer"],
)  # fmt: skip
def test_gold_is_about_what_it_names(gold: GoldQuestion, values: tuple[str, ...]) -> None:
    assert GoldPlaces(PLACES).about(gold) == values


@pytest.mark.parametrize(
    ("section", "outer"),
    [
        ("5.4.1", ("5.4", "5")),
        ("i.1", ("i",)),
        ("5", ()),
        ("Item 1.A", ()),
        ("5..1", ()),
        ("5.", ()),
        (".5", ()),
        (".".join("1" * 40), ()),
    ],
)
def test_a_numbered_section_lies_in_those_with_fewer_steps(section: str, outer: tuple[str, ...]) -> None:
    assert outer_sections(section) == outer
