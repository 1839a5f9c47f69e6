"""A trace's lists against its gold: ranks, buckets, recall and nDCG, by hand and by their definitions."""

from __future__ import annotations

from collections.abc import Mapping
from math import log2, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.records import GoldQuestion, GoldSpan, Trace
from proofspan.metrics.ranked import (
    CUTS,
    LEFT_OUT,
    Ranked,
    bucket_of,
    ranked,
)
from proofspan.metrics.relevance import GoldCorpus
from proofspan.traces.records.chunks import Place
from tests.made_traces import made_trace
from tests.trec import ndcg, recall, reciprocal_rank

PLACES = {
    "a": Place("manual", "5.4.2", 41),
    "b": Place("manual", "5.4.2", 42),
    "c": Place("manual", "5.4", 42),
    "d": Place("manual", "6", 43),
    **{f"n{number}": Place("manual", "9", 60 + number) for number in range(60)},
}
NOISE = [f"n{number}" for number in range(60)]
BY_SECTION = {"sections": ("§ 5.4.2.",)}


def gold(**more: object) -> GoldQuestion:
    return GoldQuestion("Q", "Why?", **more)  # type: ignore[arg-type]


def trace_of(chunks: object, **stages: object) -> Trace:
    record: dict[str, object] = {"q": "Why?", "answer": "So.", "stages": stages}
    if chunks is not None:
        record["chunks"] = chunks
    return made_trace(record, run_id="R")


def ids(*names: str) -> list[dict[str, object]]:
    return [{"id": name} for name in names]


def scored(*pairs: tuple[str, object]) -> list[dict[str, object]]:
    return [{"id": name, "score": score} for name, score in pairs]


def outcome(trace: Trace, known: Mapping[str, object]) -> Ranked:
    question = gold(**known)
    return ranked(trace, GoldCorpus([question], PLACES).relevance(question), PLACES)


@pytest.mark.parametrize(
    ("chunks", "stages", "known", "ranks", "bucket"),
    [
        (ids("a", "d"), {}, BY_SECTION, (1, 1), "hit"),
        (ids("d", "c", "b"), {}, BY_SECTION, (3, 3), "score_policy"),
        (ids("d", "c"), {}, BY_SECTION, (None, None), "retrieval_gap"),
        (ids(*NOISE[:19], "a"), {}, BY_SECTION, (20, 20), "score_policy"),
        (ids(*NOISE[:20], "a"), {}, BY_SECTION, (21, 21), "retrieval_gap"),
        (ids("d"), {"retrieved": ids("d", "a")}, BY_SECTION, (2, 2), "score_policy"),
        (ids("d"), {"retrieved": ids("d", "a"), "reranked": ids("b", "d")}, BY_SECTION, (1, 2), "hit"),
        (ids("a"), {"fused": ids("d"), "retrieved": ids("a")}, BY_SECTION, (None, None), "retrieval_gap"),
        (ids("a"), {"reranked": ids("d", "d", "a")}, BY_SECTION, (3, 1), "score_policy"),
        (None, {"reranked": ids("d", "a")}, BY_SECTION, (2, 2), "score_policy"),
        (ids("d", "a"), {"fused": []}, BY_SECTION, (2, 2), "score_policy"),
        (ids("b", "a"), {}, {"chunks": ("a",)}, (1, 1), "hit"),
        (ids("d", "c"), {}, {"spans": (GoldSpan("manual", 42, "x"),)}, (2, 2), "score_policy"),
        (ids("d", "a"), {}, {"sections": ("6", "5.4.2")}, (1, 1), "hit"),
        ([{"text": "no id"}, *ids("a")], {}, BY_SECTION, (2, 2), "score_policy"),
        ([{"id": "a", "section_id": "9"}], {}, BY_SECTION, (None, None), "retrieval_gap"),
        ([{"id": "x", "section_id": "Section 5.4.2"}], {}, BY_SECTION, (1, 1), "hit"),
        ([], {}, BY_SECTION, (None, None), "retrieval_gap"),
    ],
)
def test_the_gold_is_at_a_rank_and_in_a_bucket(
    chunks: object,
    stages: Mapping[str, object],
    known: Mapping[str, object],
    ranks: tuple[int | None, int | None],
    bucket: str,
) -> None:
    found = outcome(trace_of(chunks, **stages), known)
    assert found.unranked is None
    assert ((found.section_rank, found.top_rank), found.bucket) == (ranks, bucket)


@pytest.mark.parametrize(
    ("section_rank", "top_rank", "bucket"),
    [
        (1, 1, "hit"),
        (1, None, "hit"),
        (2, 20, "score_policy"),
        (None, 1, "score_policy"),
        (2, 21, "retrieval_gap"),
        (2, None, "retrieval_gap"),
    ],
)
def test_a_bucket_says_where_ranking_failed(
    section_rank: int | None, top_rank: int | None, bucket: str
) -> None:
    assert bucket_of(section_rank, top_rank) == bucket


@pytest.mark.parametrize(
    ("known", "why"),
    [({"answerable": False}, "unanswerable"), ({}, "gold_unplaced")],
)
def test_a_trace_that_cannot_be_ranked_says_why(known: Mapping[str, object], why: str) -> None:
    found = outcome(trace_of(ids("a")), known)
    assert found == LEFT_OUT[why]  # type: ignore[index]
    assert found.columns == {"unranked": why}


def test_no_list_is_left_out_and_an_empty_list_found_nothing() -> None:
    assert outcome(trace_of(None), BY_SECTION) == LEFT_OUT["no_candidates"]
    nothing = Ranked(None, "retrieval_gap", None, None, 0.0, (None,) * 5, 0.0, 0.0)
    assert outcome(trace_of([]), BY_SECTION) == nothing


def test_by_hand() -> None:
    fused = ids("d", "b", "n1", "b", "a")
    retrieved = ids(*NOISE[:9], "a")
    found = outcome(trace_of(ids("d", "b"), fused=fused, retrieved=retrieved), BY_SECTION)
    ideal = 1 + 1 / log2(3)
    assert found.section_coverage == 2 / 2
    assert found.recall == (0.0, 1.0, 0.5, None, None)  # the fused list has 5 places, the retrieved one 10
    assert found.ndcg_10 == pytest.approx((1 / log2(3) + 1 / log2(6)) / ideal)
    assert found.reciprocal_rank == 1 / 2


def test_gold_chunks_alone_are_relevant_and_their_section_is_covered() -> None:
    found = outcome(trace_of(ids("a", "b", "d")), {"chunks": ("b",), **BY_SECTION})
    assert (found.section_rank, found.section_coverage) == (1, 1.0)
    assert (found.recall[0], found.reciprocal_rank) == (0.0, 1 / 2)


def test_gold_that_the_chunk_file_lacks_is_missed_by_who_finds_nothing() -> None:
    missed = {
        "bucket": "retrieval_gap",
        "section_coverage": 0,
        "ndcg_10": 0,
        "reciprocal_rank": 0,
        "recall_1": 0,
    }
    for gold in ({"sections": ("77",)}, {"spans": (GoldSpan("manual", 500, "x"),)}):
        found = outcome(trace_of(ids("a")), gold).columns
        assert {name: value for name, value in found.items() if value is not None} == missed


def test_how_much_there_was_to_find_is_not_known_of_a_section_that_only_the_trace_states() -> None:
    found = outcome(trace_of([{"id": "x", "section_id": "77"}]), {"sections": ("77",)})
    assert found == Ranked(None, "hit", 1, 1)


@pytest.mark.parametrize(
    ("entries", "section_rank"),
    [
        (scored(("d", 0.5), ("a", 0.5)), 1),  # 5.4.2 comes before 6
        (scored(("c", 0.5), ("a", 0.5)), 2),  # 5.4 comes before 5.4.2
        (scored(("d", 0.5), ("a", 0.4)), 2),
        (scored(("d", 1), ("a", 1.0)), 1),
        (scored(("d", 0.5), ("n1", 0.4), ("a", 0.5)), 3),  # no neighbours, no tie
        (scored(("n1", 0.9), ("d", 0.5), ("n2", 0.5), ("a", 0.5), ("c", 0.1)), 2),
        (scored(("d", nan), ("a", nan)), 2),
        (scored(("d", None), ("a", None)), 2),
        (ids("d", "a"), 2),
        (scored(("d", "0.5"), ("a", "0.5")), 2),
        ([{"id": "d", "score_raw": 3}, {"id": "a", "score_raw": 3}], 1),
    ],
)
def test_neighbours_of_equal_score_go_by_section_and_chunk_id(entries: object, section_rank: int) -> None:
    assert outcome(trace_of(entries), BY_SECTION).section_rank == section_rank


def test_a_tie_decides_what_a_cut_holds() -> None:
    tied = scored(*((name, 0.5) for name in (*NOISE[:4], "d", "a")))
    found = outcome(trace_of(tied), {"chunks": ("a",)})
    assert (found.recall[:2], found.reciprocal_rank) == ((1.0, 1.0), 1.0)


NAMES = ["a", "b", "c", "d", "n1", "n2", "n3", "x"]
LISTS = st.lists(st.sampled_from([*NAMES, *NOISE[:30]]), max_size=60)


@given(LISTS, st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
def test_any_list_gives_what_the_definitions_say(names: list[str], wanted: list[str]) -> None:
    found = outcome(trace_of(ids(*names)), {"chunks": tuple(wanted)})
    seen: set[str] = set()
    gains = []
    for name in names:
        gains.append(int(name in wanted and name not in seen))
        seen.add(name)
    judged = [1] * len(wanted)
    expected = [recall(gains, judged, k=k) if len(names) >= k else None for k in CUTS]
    assert list(found.recall) == expected
    assert found.reciprocal_rank == reciprocal_rank(gains, judged)
    assert found.ndcg_10 == ndcg(gains, judged, k=10)
    dcg = sum(gain / log2(rank + 1) for rank, gain in enumerate(gains[:10], start=1))
    ideal = sum(1 / log2(rank + 1) for rank in range(1, min(10, len(wanted)) + 1))
    assert found.ndcg_10 == pytest.approx(dcg / ideal)


@given(LISTS, st.dictionaries(st.sampled_from(NAMES), st.integers(1, 5), min_size=1, max_size=4))
def test_grades_are_gains_as_in_trec_eval(names: list[str], grades: dict[str, int]) -> None:
    found = outcome(trace_of(ids(*names)), {"chunks": tuple(grades), "grades": grades})
    gains = [grades.get(name, 0) for name in dict.fromkeys(names)]
    ranks = [names.index(name) for name in dict.fromkeys(names)]
    at_rank = [0] * len(names)
    for rank, gain in zip(ranks, gains, strict=True):
        at_rank[rank] = gain
    assert found.ndcg_10 == pytest.approx(ndcg(at_rank, list(grades.values()), k=10))
    assert found.recall == outcome(trace_of(ids(*names)), {"chunks": tuple(grades)}).recall


@given(LISTS, LISTS, st.sampled_from([BY_SECTION, {"chunks": ("a", "n3")}, {"sections": ("5.4", "9")}]))
def test_outcomes_agree_with_each_other(
    chunks: list[str], fused: list[str], known: Mapping[str, object]
) -> None:
    found = outcome(trace_of(ids(*chunks), fused=ids(*fused)), known)
    last = fused or chunks
    assert found.top_rank == found.section_rank
    assert found.section_rank is None or 1 <= found.section_rank <= len(last)
    assert (found.bucket == "hit") == (found.section_rank == 1)
    assert (found.bucket == "retrieval_gap") == (found.section_rank is None or found.section_rank > 20)
    counted = [share for share in found.recall if share is not None]
    if len(fused) >= len(chunks) or not fused:  # all cuts are read from one list
        assert counted == sorted(counted)
    assert all(0 <= share <= 1 for share in (*counted, found.section_coverage, found.ndcg_10))
    assert (found.section_coverage == 0) <= (found.bucket == "retrieval_gap")


@given(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from([1, 2])), max_size=8), st.randoms())
def test_the_order_within_a_tie_changes_nothing(pairs: list[tuple[str, int]], shuffled: object) -> None:
    entries = scored(*sorted(pairs, key=lambda pair: -pair[1]))
    other = list(entries)
    shuffled.shuffle(other)  # type: ignore[attr-defined]
    other.sort(key=lambda entry: -float(str(entry["score"])))
    assert outcome(trace_of(entries), BY_SECTION) == outcome(trace_of(other), BY_SECTION)
