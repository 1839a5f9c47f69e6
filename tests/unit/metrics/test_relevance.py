"""Relevance to a gold question: by chunk, by section, by page, in which document."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from proofspan.contracts.records.names import section_key
from proofspan.contracts.records.records import GoldQuestion, GoldSpan
from proofspan.metrics.relevance import GoldCorpus, Relevance
from proofspan.traces.records.chunks import Place

PLACES = {
    "intro": Place("manual", "5", 40),
    "a1": Place("manual", "5.4.1", 41),
    "a2": Place("manual", "5.4.1", 42),
    "b1": Place("manual", "§ 5.4.2.", 42),
    "other": Place("bulletin", "5.4.1", 0),
    "page": Place("report", "p012", 11),
    "bare": Place("report", None, 11),
    "lost": Place(None, None, None),
}


def gold(**more: object) -> GoldQuestion:
    return GoldQuestion("Q", "Why?", **more)  # type: ignore[arg-type]


def relevance(known: GoldQuestion, places: Mapping[str, Place] = PLACES) -> Relevance:
    return GoldCorpus([known], places).relevance(known)


def met(found: Relevance) -> set[str]:
    """The chunks that are the gold one as candidates."""
    return {chunk_id for chunk_id, place in PLACES.items() if found.has(chunk_id, place)}


def span(doc_id: str, page_idx: int | None) -> GoldSpan:
    return GoldSpan(doc_id, page_idx, "a quote")


@pytest.mark.parametrize(
    ("known", "candidates", "relevant", "extent"),
    [
        pytest.param(gold(sections=("5",)), {"intro"}, {"intro"}, {"intro"}, id="no section inside it"),
        pytest.param(
            gold(sections=("5.4.1",)),
            {"a1", "a2", "other"},
            {"a1", "a2", "other"},
            {"a1", "a2", "other"},
            id="of whatever document",
        ),
        pytest.param(
            gold(sections=("5.4.1",), spans=(span("manual", 7),)),
            {"a1", "a2"},
            {"a1", "a2"},
            {"a1", "a2"},
            id="of the spans' document",
        ),
        pytest.param(
            gold(sections=("Section 5.4.1",), chunks=("a2",)),
            {"a1", "a2"},
            {"a2"},
            {"a1", "a2"},
            id="of the chunks' document, which alone are relevant",
        ),
        pytest.param(
            gold(sections=("5.4.1",), spans=(span("leaflet", 7),)),
            {"a1", "a2", "other"},
            {"a1", "a2", "other"},
            {"a1", "a2", "other"},
            id="a document without the section narrows nothing",
        ),
        pytest.param(
            gold(sections=("5.4",), chunks=("a1",)),
            {"a1", "a2", "b1"},
            {"a1"},
            {"a1", "a2", "b1"},
            id="a title over others",
        ),
        pytest.param(
            gold(sections=("5.4.2", "5")), {"b1", "intro"}, {"b1", "intro"}, {"b1", "intro"}, id="two"
        ),
        pytest.param(gold(chunks=("b1",)), {"b1"}, {"b1"}, {"b1"}, id="the section of a chunk"),
        pytest.param(gold(chunks=("a1",)), {"a1", "a2"}, {"a1"}, {"a1", "a2"}, id="in the chunk's document"),
        pytest.param(gold(chunks=("page",)), {"page"}, {"page"}, set(), id="a page is no section"),
        pytest.param(gold(chunks=("bare", "b1")), {"bare", "b1"}, {"bare", "b1"}, {"b1"}, id="one without"),
        pytest.param(gold(chunks=("gone",)), set(), {"gone"}, set(), id="not in the chunk file"),
        pytest.param(
            gold(spans=(span("manual", 42), span("manual", None))),
            {"a2", "b1"},
            {"a2", "b1"},
            {"a2", "b1"},
            id="pages",
        ),
        pytest.param(gold(sections=("9",)), set(), set(), set(), id="a section that no chunk has"),
        pytest.param(gold(sections=("9",), chunks=("a1",)), {"a1"}, {"a1"}, set(), id="then its chunks"),
        pytest.param(
            gold(sections=("9",), spans=(span("report", 11),)),
            {"page", "bare"},
            {"page", "bare"},
            {"page", "bare"},
            id="then its pages",
        ),
    ],
)
def test_what_a_candidate_has_to_be(
    known: GoldQuestion, candidates: set[str], relevant: set[str], extent: set[str]
) -> None:
    found = relevance(known)
    assert found.unranked is None
    assert found.is_absent == (not relevant)
    assert (met(found), found.relevant, found.extent) == (candidates, relevant, extent)


@pytest.mark.parametrize(
    ("known", "why"),
    [
        (gold(answerable=False, chunks=("a1",)), "unanswerable"),
        (gold(), "gold_unplaced"),
        (gold(sections=(" ", "§")), "gold_unplaced"),
        (gold(spans=(span("manual", None),)), "gold_unplaced"),
    ],
)
def test_why_nothing_can_be_ranked(known: GoldQuestion, why: str) -> None:
    assert relevance(known) == Relevance(why)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("known", "places", "is_absent"),
    [
        (gold(sections=("9",)), {"x": Place("manual", "1", 0)}, True),
        (gold(sections=("9",)), {"x": Place("manual", "p001", 0)}, False),
        (gold(sections=("9",)), {}, False),
        (gold(spans=(span("manual", 8),)), {"x": Place("manual", None, 0)}, True),
        (gold(spans=(span("manual", 8),)), {"x": Place("manual", "1", None)}, False),
        (gold(chunks=("gone",)), {"x": Place("manual", "1", 0)}, False),
    ],
)
def test_gold_is_absent_from_a_chunk_file_that_knows_such_places(
    known: GoldQuestion, places: Mapping[str, Place], is_absent: bool
) -> None:
    assert relevance(known, places).is_absent == is_absent


def test_a_section_is_compared_by_its_steps_whatever_the_chunk_file_knows() -> None:
    found = relevance(gold(sections=("§ 7.20.",)), {})
    assert found.has("x", Place("any", "Section 7.20", None))
    assert not found.has("x", Place("any", "7.2", None))
    assert not found.has("x", Place("any", None, None))


def test_a_chunk_that_only_its_id_places_has_the_section_of_its_id() -> None:
    found = relevance(gold(chunks=("manual|r=00000000|s=4.2|p=008|b=001",)), {})
    assert found.sections == {section_key("4.2"): {"manual"}}


def test_several_questions_share_one_pass_over_the_chunks() -> None:
    questions = [gold(sections=("5.4",)), gold(sections=("5.4.2",)), gold(chunks=("intro",))]
    corpus = GoldCorpus(questions, PLACES)
    assert [corpus.relevance(each) for each in questions] == [relevance(each) for each in questions]


def test_each_named_section_is_a_passage_of_its_own() -> None:
    known = gold(sections=("5.4", "5.4.", "§", "12"))
    named = GoldCorpus([known], PLACES).named_sections(known)
    assert [{".".join(key) for key in each} for each in named] == [{"5.4.1", "5.4.2"}, {"12"}]
