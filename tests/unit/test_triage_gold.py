"""At which rank the gold passage stood: one table, and what the index makes of it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from core.contracts.records import GoldQuestion, GoldSpan, SourceLine, Trace
from core.traces.canonical import trace_from
from core.traces.chunks import Place
from core.triage.gold import GoldRanks, gold_ranks, gold_target

PLACES = {
    "a": Place("manual", "4.2", 41),
    "b": Place("manual", " 4.3 ", 42),
    "c": Place("bulletin", "4.2", 41),
}
SPAN = GoldSpan("manual", 42, "litres")


def trace_of(chunks: object = None, stages: Mapping[str, object] | None = None) -> Trace:
    record = {"q": "How much?", "answer": "4", "stages": dict(stages or {})}
    if chunks is not None:
        record["chunks"] = chunks
    trace = trace_from(record, SourceLine("t.jsonl", 1, 0, 0), run_id="R")
    assert isinstance(trace, Trace)
    return trace


def ids(*names: str) -> list[dict[str, str]]:
    return [{"id": name} for name in names]


def gold(**more: object) -> GoldQuestion:
    return GoldQuestion("Q", "How much?", **more)  # type: ignore[arg-type]


def ranks(trace: Trace, known: GoldQuestion | None) -> GoldRanks | None:
    return gold_ranks(trace, gold_target(known), PLACES)


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
    assert ranks(trace, known) == GoldRanks(seen, retrieved, "retrieved")


@pytest.mark.parametrize(
    "known",
    [
        None,
        gold(),
        gold(answerable=False, chunks=("a",)),
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
    found = ranks(trace_of(ids("a"), stages), gold(chunks=("b",)))
    assert found is not None
    assert (found.seen, found.retrieved, found.stage) == (None, retrieved, stage)
    assert found.state == ("missed" if retrieved is None else "dropped")


def test_a_candidates_own_place_outweighs_the_chunk_file_and_its_id_fills_in() -> None:
    named = {"id": "b", "doc_id": "leaflet", "section_id": "9", "page_idx": 3}
    spoken = {"id": "manual|r=00000000|s=4.2|p=008|b=001"}
    trace = trace_of([named, spoken])
    assert ranks(trace, gold(sections=("9",))) == GoldRanks(1, 1, "chunks")
    assert ranks(trace, gold(sections=("4.3",))) == GoldRanks(None, None, "chunks")
    assert ranks(trace, gold(spans=(GoldSpan("leaflet", 3, "x"),))) == GoldRanks(1, 1, "chunks")
    assert ranks(trace, gold(spans=(GoldSpan("manual", 7, "x"),))) == GoldRanks(2, 2, "chunks")


def test_an_empty_list_missed_the_gold_and_no_list_says_nothing() -> None:
    assert ranks(trace_of([]), gold(chunks=("a",))) == GoldRanks(None, None, None)
    assert ranks(trace_of(None), gold(chunks=("a",))) is None
    assert ranks(trace_of(None, {"fused": ids("a")}), gold(chunks=("a",))) == GoldRanks(None, 1, "fused")
