"""Ranking metrics: by hand on a small list, and digit for digit what trec_eval printed."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.trec import (
    average_precision,
    ndcg,
    precision,
    recall,
    reciprocal_rank,
    trec_order,
)

RANKING = [0, 1, 0, 2]
JUDGED = [2, 0, 1, 1, 0]
CUTS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)


def test_by_hand() -> None:
    assert precision(RANKING, JUDGED, k=2) == 1 / 2
    assert precision(RANKING, JUDGED, k=8) == 2 / 8
    assert recall(RANKING, JUDGED, k=2) == 1 / 3
    assert recall(RANKING, JUDGED, k=4) == 2 / 3
    assert reciprocal_rank(RANKING, JUDGED) == 1 / 2
    assert average_precision(RANKING, JUDGED) == (1 / 2 + 2 / 4) / 3
    # 1 / log2(3) + 2 / log2(5) over 2 / log2(2) + 1 / log2(3) + 1 / log2(4)
    assert ndcg(RANKING, JUDGED, k=4) == pytest.approx((0.6309298 + 0.8613531) / (2 + 0.6309298 + 0.5))
    assert ndcg([-1, 1], [1, -1], k=2) == pytest.approx(0.6309298)


def test_a_ranking_without_a_relevant_result_has_nothing_found() -> None:
    found = (precision([0], [1], k=1), recall([], [1], k=1), ndcg([0], [1], k=1))
    assert found == (0, 0, 0)
    assert reciprocal_rank([0], [1]) == average_precision([0], [1]) == 0


def test_a_query_without_a_relevant_result_says_nothing() -> None:
    assert precision([0], [0], k=1) is recall([0], [], k=1) is ndcg([0], [-1], k=1) is None
    assert reciprocal_rank([0], []) is average_precision([], []) is None


@pytest.mark.parametrize("metric", [precision, recall, ndcg])
def test_no_list_is_cut_before_its_first_place(metric: type[precision]) -> None:
    with pytest.raises(ValueError, match="k=0"):
        metric([1], [1], k=0)


def test_equal_scores_are_distinguished_by_name_backwards_and_equal_is_single_precision() -> None:
    results = [("a", 1.0), ("c", 1.0), ("b", 1.0 + 1e-9), ("d", 0.5), ("e", 2.0)]
    assert [name for name, _ in trec_order(results)] == ["e", "c", "b", "a", "d"]


@given(st.lists(st.integers(-1, 3), min_size=1, max_size=30), st.integers(1, 40), st.data())
def test_all_lie_between_none_and_the_best_order(judged: list[int], k: int, data: st.DataObject) -> None:
    ranking = data.draw(st.permutations(judged))[: data.draw(st.integers(0, len(judged)))]
    best = sorted(judged, reverse=True)
    if max(judged) <= 0:
        return
    for metric in (precision, recall, ndcg):
        mine, ideal = metric(ranking, judged, k=k), metric(best, judged, k=k)
        assert mine is not None and ideal is not None
        assert 0 <= mine <= ideal + 1e-12 <= 1 + 1e-11
    assert ndcg(best, judged, k=k) == pytest.approx(1)
    assert average_precision(best, judged) == pytest.approx(1)


@pytest.mark.real_data
def test_every_query_has_the_digits_that_trec_eval_printed(real_data: Path) -> None:
    judged: dict[str, dict[str, int]] = defaultdict(dict)
    for line in (real_data / "trec" / "qrels.test").read_text().splitlines():
        query, _, name, relevance = line.split()
        judged[query][name] = int(relevance)
    run: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for line in (real_data / "trec" / "results.test").read_text().splitlines():
        query, _, name, _, score, _ = line.split()
        run[query].append((name, float(score)))
    metrics = {
        **{f"P_{k}": lambda of, k=k: precision(*of, k=k) for k in CUTS},
        **{f"recall_{k}": lambda of, k=k: recall(*of, k=k) for k in CUTS},
        **{f"ndcg_cut_{k}": lambda of, k=k: ndcg(*of, k=k) for k in CUTS},
        "recip_rank": lambda of: reciprocal_rank(*of),
        "map": lambda of: average_precision(*of),
    }
    lists = {
        query: ([judged[query].get(name, 0) for name, _ in trec_order(found)], [*judged[query].values()])
        for query, found in run.items()
    }
    values = {(name, query): metrics[name](of) for query, of in lists.items() for name in metrics}
    for name in metrics:
        each = [values[name, query] for query in lists]
        values[name, "all"] = sum(value for value in each if value is not None) / len(each)
    printed = {
        (name, query): digits
        for name, query, digits in map(
            str.split, (real_data / "trec" / "out.test.aq").read_text().splitlines()
        )
        if name in metrics
    }
    assert len(printed) == 4 * len(metrics)
    assert {key: f"{values[key]:.4f}" for key in printed} == printed
