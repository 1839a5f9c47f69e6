"""The outcome of the gold passage: its rank, and whether the answer cites it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from proofspan.contracts.records.records import GoldQuestion, GoldSpan, Label, Trace
from proofspan.diagnosis.gold import GOLD_STATES, GoldOutcome, gold_outcome, gold_target
from proofspan.diagnosis.messages import GOLD_MEANINGS
from proofspan.diagnosis.types import ReportRow, Signals
from proofspan.traces.records.chunks import Place
from tests.made_traces import made_trace

PLACES = {
    "a": Place("manual", "4.2", 41),
    "b": Place("manual", " 4.3 ", 42),
    "c": Place("bulletin", "4.2", 41),
}
SPAN = GoldSpan("manual", 42, "litres")


def trace_of(chunks: object = None, stages: Mapping[str, object] | None = None, **more: object) -> Trace:
    record = {"q": "How much?", "answer": "4", "stages": dict(stages or {})} | more
    if chunks is not None:
        record["chunks"] = chunks
    return made_trace(record, run_id="R")


def ids(*names: str) -> list[dict[str, str]]:
    return [{"id": name} for name in names]


def gold(**more: object) -> GoldQuestion:
    return GoldQuestion("Q", "How much?", **more)  # type: ignore[arg-type]


def outcome(trace: Trace, known: GoldQuestion | None, row: ReportRow | None = None) -> GoldOutcome | None:
    return gold_outcome(trace, gold_target(known), row, PLACES)


def ranks(trace: Trace, known: GoldQuestion | None) -> tuple[object, ...] | None:
    found = outcome(trace, known)
    return (found.seen, found.retrieved, found.stage) if found else None


def verdict(label: Label, *suspicions: str) -> ReportRow:
    return ReportRow("q", label, "", (), (), Signals(), suspicions)


@pytest.mark.parametrize(
    ("known", "seen", "retrieved"),
    [
        pytest.param(gold(chunks=("b",)), 2, 3, id="chunk ids"),
        pytest.param(gold(chunks=("b", "a")), 1, 1, id="the best of several"),
        pytest.param(gold(chunks=("nowhere",), sections=("4.2",)), None, None, id="chunks before sections"),
        pytest.param(gold(sections=("4.3",), spans=(GoldSpan("manual", 41, "x"),)), 2, 3, id="then sections"),
        pytest.param(gold(sections=(" 4.3",)), 2, 3, id="sections without blanks around them"),
        pytest.param(gold(sections=("4.30",)), None, None, id="sections are text, no numbers"),
        pytest.param(gold(sections=("", " "), spans=(SPAN,)), 2, 3, id="an empty section is none"),
        pytest.param(gold(spans=(SPAN,)), 2, 3, id="then pages"),
        pytest.param(gold(spans=(GoldSpan("bulletin", 41, "x"),)), None, 2, id="a page of that document"),
        pytest.param(gold(spans=(GoldSpan("manual", None, "x"), SPAN)), 2, 3, id="a span with a page counts"),
        pytest.param(gold(spans=(GoldSpan("manual", 7, "x"),)), None, None, id="known and nowhere"),
    ],
)
def test_the_best_rank_of_a_candidate_that_the_gold_names(
    known: GoldQuestion, seen: int | None, retrieved: int | None
) -> None:
    trace = trace_of(ids("a", "b"), {"retrieved": ids("a", "c", "b", "b")})
    assert ranks(trace, known) == (seen, retrieved, "retrieved")


@pytest.mark.parametrize(
    "known",
    [
        None,
        gold(),
        gold(spans=(GoldSpan("manual", None, "litres"),)),
    ],
)
def test_without_something_to_look_for_nothing_is_known(known: GoldQuestion | None) -> None:
    assert ranks(trace_of(ids("a")), known) is None


@pytest.mark.parametrize(
    ("stages", "stage", "retrieved"),
    [
        ({"fused": ids("c", "b"), "retrieved": ids("b")}, "fused", 2),
        ({"reranked": ids("b"), "retrieved": ids("c", "c", "b")}, "retrieved", 3),
        ({"reranked": ids("b")}, "chunks", None),
        ({"retrieved": [*ids(*["a"] * 80), *ids("b")]}, "retrieved", 81),
        ({"retrieved": [{"text": "no id"}, 3, *ids("b")]}, "retrieved", 3),
    ],
)
def test_retrieved_is_looked_up_in_the_whole_list_of_the_top_20s_stage(
    stages: Mapping[str, object], stage: str, retrieved: int | None
) -> None:
    found = outcome(trace_of(ids("a"), stages), gold(chunks=("b",)))
    assert found is not None
    assert (found.seen, found.retrieved, found.stage) == (None, retrieved, stage)
    assert found.state == ("missed" if retrieved is None else "dropped")


def test_a_candidates_own_place_outweighs_the_chunk_file_and_its_id_fills_in() -> None:
    named = {"id": "b", "doc_id": "leaflet", "section_id": "9", "page_idx": 3}
    spoken = {"id": "manual|r=00000000|s=4.2|p=008|b=001"}
    trace = trace_of([named, spoken])
    assert ranks(trace, gold(sections=("9",))) == (1, 1, "chunks")
    assert ranks(trace, gold(sections=("4.3",))) == (None, None, "chunks")
    assert ranks(trace, gold(spans=(GoldSpan("leaflet", 3, "x"),))) == (1, 1, "chunks")
    assert ranks(trace, gold(spans=(GoldSpan("manual", 7, "x"),))) == (2, 2, "chunks")


def test_an_empty_list_missed_the_gold_and_no_list_says_nothing() -> None:
    assert ranks(trace_of([]), gold(chunks=("a",))) == (None, None, None)
    assert ranks(trace_of(None), gold(chunks=("a",))) is None
    assert ranks(trace_of(None, {"fused": ids("a")}), gold(chunks=("a",))) == (None, 1, "fused")


#: What a trace says besides its chunks `a` and `b` (its answer is 4).
CITES_B = {"answer": "4 citations: [b]"}
CITES_A = {"answer": "4 citations: [a]"}
PAYLOAD_B = {"citations": [{"chunk_id": "b"}]}
BY_CHUNK, BY_SECTION, BY_PAGE = gold(chunks=("b",)), gold(sections=("4.3",)), gold(spans=(SPAN,))


@pytest.mark.parametrize("known", [BY_CHUNK, BY_SECTION, BY_PAGE], ids=["chunk", "section", "page"])
@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({}, "seen"),
        ({"citations": [5]}, "seen"),
        (CITES_B, "cited"),
        (CITES_A, "uncited"),
        ({"answer": "4 citations: [invented]"}, "uncited"),
        ({"answer": "4 citations: [a, b]"}, "cited"),
        (PAYLOAD_B, "cited"),
        ({"citations": ["b"]}, "cited"),
        ({"citations": [{"chunk_id": "a"}]} | CITES_B, "uncited"),
        (PAYLOAD_B | CITES_A, "cited"),
    ],
    ids=str,
)
def test_an_answer_is_judged_by_what_it_cites(
    known: GoldQuestion, fields: dict[str, object], state: str
) -> None:
    found = outcome(trace_of(ids("a", "b"), **fields), known, verdict("ok"))
    assert found == GoldOutcome(state, 2, 2, "chunks")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("known", "citation", "state"),
    [
        (BY_CHUNK, {"doc_id": "manual", "page_idx": 42}, "cited"),
        (BY_CHUNK, {"doc_id": "manual", "page": 43}, "cited"),
        (BY_CHUNK, {"doc_id": "manual", "page_idx": 41}, "uncited"),
        (BY_CHUNK, {"doc_id": "manual"}, "uncited"),
        (BY_PAGE, {"doc_id": "manual", "page_idx": 42}, "cited"),
        (BY_PAGE, {"chunk_id": "b", "page_idx": 7}, "uncited"),
        (BY_PAGE, {"chunk_id": "manual|r=00000000|s=4.2|p=043|b=001"}, "cited"),
        (BY_SECTION, {"section_id": " 4.3"}, "cited"),
        (BY_SECTION, {"chunk_id": "a", "section_id": "4.3"}, "cited"),
        (BY_SECTION, {"chunk_id": "c"}, "uncited"),
    ],
)
def test_a_citation_points_where_its_payload_says_and_else_where_its_chunk_lies(
    known: GoldQuestion, citation: dict[str, object], state: str
) -> None:
    found = outcome(trace_of(ids("a", "b"), citations=[citation]), known, verdict("ok"))
    assert found is not None
    assert found.state == state


@pytest.mark.parametrize(
    ("row", "fields", "state", "is_refusal"),
    [
        (verdict("refusal_suspect"), {}, "uncited", True),
        (verdict("refusal_ok"), CITES_B, "uncited", True),
        (verdict("generation_drift", "refusal_other_wording"), {}, "uncited", True),
        (verdict("generation_drift", "refusal_other_wording"), CITES_B, "cited", False),
        (None, CITES_B, "cited", False),
    ],
)
def test_who_saw_the_gold_and_declines_does_not_cite_it(
    row: ReportRow | None, fields: dict[str, object], state: str, is_refusal: bool
) -> None:
    found = outcome(trace_of(ids("b"), **fields), BY_CHUNK, row)
    assert found == GoldOutcome(state, 1, 1, "chunks", is_refusal)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("row", "fields", "state"),
    [
        (verdict("ok"), {}, "answered"),
        (verdict("refusal_ok"), {}, "declined"),
        (verdict("refusal_suspect"), {}, "declined"),
        (verdict("generation_drift", "refusal_other_wording"), {}, "declined"),
        (verdict("generation_drift", "refusal_other_wording"), CITES_B, "answered"),
        (verdict("generation_drift"), {"answer": " "}, None),
        (None, {}, None),
    ],
)
def test_without_an_answer_in_the_documents_declining_is_right(
    row: ReportRow | None, fields: dict[str, object], state: str | None
) -> None:
    found = outcome(trace_of(ids("b"), **fields), gold(answerable=False, chunks=("b",)), row)
    assert (found.state if found else None) == state


def test_every_state_has_its_sentence() -> None:
    assert len({GOLD_MEANINGS[state] for state in GOLD_STATES}) == len(GOLD_STATES)
