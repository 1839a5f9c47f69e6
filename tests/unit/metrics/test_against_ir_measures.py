"""Ranking metrics against ir-measures: equal for every query of random judgements and runs full of ties.

Its default provider is trec_eval's own code (pytrec_eval), so the order of ties is compared as well: scores
are single precision there, and of equal ones the greater name comes first.
"""

from __future__ import annotations

from collections.abc import Callable

import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP, RR, P, R, nDCG

from tests.trec import (
    average_precision,
    ndcg,
    precision,
    recall,
    reciprocal_rank,
    trec_order,
)

Judged = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]
Metric = Callable[[list[int], list[int]], float | None]

CUTS = (1, 2, 3, 5, 10, 100)
#: Their measure → ours, of the relevances in rank order and of all that somebody judged.
METRICS: dict[ir_measures.Measure, Metric] = {
    AP: average_precision,
    RR: reciprocal_rank,
    **{P @ k: lambda ranking, judged, k=k: precision(ranking, judged, k=k) for k in CUTS},
    **{R @ k: lambda ranking, judged, k=k: recall(ranking, judged, k=k) for k in CUTS},
    **{nDCG @ k: lambda ranking, judged, k=k: ndcg(ranking, judged, k=k) for k in CUTS},
}

QUERIES = [f"Q{number}" for number in range(4)]
#: Names whose order by sign differs from that by number, by case and by alphabet.
NAMES = [*(f"d{number}" for number in range(13)), "D1", "d", "é", "ψ7", "\U0001f99a"]
#: Few scores, so that most runs have ties; some differ in double precision alone, some in single as well.
SCORES = [0.0, -1.5, 1.0, 1.0 + 1e-9, 1.0 - 1e-9, 1.0 + 2e-7, 1e30, 0.1, 0.1 + 1e-12]

names = st.sampled_from(NAMES)
judgements = st.dictionaries(
    st.sampled_from(QUERIES), st.dictionaries(names, st.integers(-1, 4), min_size=1), min_size=1
)
runs = st.dictionaries(
    st.sampled_from(QUERIES), st.dictionaries(names, st.sampled_from(SCORES), min_size=1), min_size=1
)


def theirs(judged: Judged, run: Run) -> dict[tuple[ir_measures.Measure, str], float]:
    return {
        (found.measure, found.query_id): found.value for found in ir_measures.iter_calc(METRICS, judged, run)
    }


def ours(judged: Judged, run: Run) -> dict[tuple[ir_measures.Measure, str], float | None]:
    values: dict[tuple[ir_measures.Measure, str], float | None] = {}
    for query in judged.keys() & run.keys():
        ranking = [judged[query].get(name, 0) for name, _ in trec_order(run[query].items())]
        for measure, metric in METRICS.items():
            values[measure, query] = metric(ranking, [*judged[query].values()])
    return values


@pytest.mark.slow
@settings(max_examples=150)
@given(judgements, runs)
def test_every_measure_of_every_query_is_theirs(judged: Judged, run: Run) -> None:
    reference = theirs(judged, run)
    for (measure, query), value in ours(judged, run).items():
        if max(judged[query].values()) > 0:
            assert value == pytest.approx(reference[measure, query], rel=1e-12, abs=1e-12), (measure, query)
        else:
            # Nothing relevant: a number that says nothing is 0 there, and none here.
            assert value is None and reference[measure, query] == 0, (measure, query)


def test_the_order_of_ties_decides_and_is_theirs() -> None:
    judged = {"Q": {"b": 1}}
    for other, value in (("a", 1.0), ("c", 0.5)):
        for score in (1.0, 1.0 + 1e-9):
            run = {"Q": {"b": 1.0, other: score}}
            assert ours(judged, run)[RR, "Q"] == theirs(judged, run)[RR, "Q"] == value
    run = {"Q": {"b": 1.0, "a": 1.0 + 2e-7}}
    assert ours(judged, run)[RR, "Q"] == theirs(judged, run)[RR, "Q"] == 0.5
