"""Ranking metrics of one query after trec_eval, which the product's own numbers are compared with.

A *ranking* holds the relevance of each result, best rank first: 0 or less is not relevant (nor judged).
The *judged* are the relevances of all results that somebody judged for the query, retrieved or not, in
any order. Without a relevant result none of these says anything about the ranking: None, never 0.

Sources: trec_eval 9 (m_P, m_recall, m_map, m_recip_rank, m_ndcg_cut), whose printed digits these give;
nDCG with linear gains after Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques"
(ACM TOIS 20, 2002), discounted by log2(rank + 1).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ctypes import c_float
from itertools import islice
from math import log2
from typing import TypeVar

Named = TypeVar("Named", bound=tuple[str, float])

Relevances = Sequence[int]


def trec_order(results: Iterable[Named]) -> list[Named]:
    """(name, score, …) in the order in which trec_eval reads a run, whatever the ranks that its file gives.

    Best score first, and of equal scores the greater name. Scores are compared in single precision, as there:
    two that differ less are equal.
    """
    return sorted(results, key=lambda result: (c_float(result[1]).value, result[0]), reverse=True)


def precision(ranking: Relevances, judged: Relevances, *, k: int) -> float | None:
    """P@k in 0–1: the share of the first k places with a relevant result; those beyond the list have none."""
    return _found(ranking, _at_least_one(k)) / k if _count(judged) else None


def recall(ranking: Relevances, judged: Relevances, *, k: int) -> float | None:
    """recall@k in 0–1: the share of the relevant results that are in the first k places."""
    relevant = _count(judged)
    return _found(ranking, _at_least_one(k)) / relevant if relevant else None


def reciprocal_rank(ranking: Relevances, judged: Relevances) -> float | None:
    """1 / rank of the first relevant result, 0 where the ranking has none."""
    if not _count(judged):
        return None
    return next((1 / rank for rank, gain in enumerate(ranking, start=1) if gain > 0), 0.0)


def average_precision(ranking: Relevances, judged: Relevances) -> float | None:
    """The precision at each relevant result, summed, over the number of relevant results: 0–1."""
    relevant = _count(judged)
    if not relevant:
        return None
    ranks = (rank for rank, gain in enumerate(ranking, start=1) if gain > 0)
    return sum(found / rank for found, rank in enumerate(ranks, start=1)) / relevant


def ndcg(ranking: Relevances, judged: Relevances, *, k: int) -> float | None:
    """nDCG@k in 0–1: the discounted gain of the first k places over that of the best order of the judged."""
    if not _count(judged):
        return None
    return _discounted(ranking, _at_least_one(k)) / _discounted(sorted(judged, reverse=True), k)


def _discounted(gains: Relevances, k: int) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(islice(gains, k), start=1) if gain > 0)


def _found(ranking: Relevances, k: int) -> int:
    return _count(islice(ranking, k))


def _count(relevances: Iterable[int]) -> int:
    return sum(relevance > 0 for relevance in relevances)


def _at_least_one(k: int) -> int:
    if k < 1:
        raise ValueError(f"a list is cut at its first place or later, not at k={k}")
    return k
