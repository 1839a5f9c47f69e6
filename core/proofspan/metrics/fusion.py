"""Rank candidates by several logged lists, or by several logged scores, for many questions at once.

A question is a row and a candidate a column of an array. Columns are in the order that breaks ties. A rank is
1-based and 0 where a list does not hold the candidate; a feature is NaN where a candidate lacks it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Ranks = NDArray[np.int32]
Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]

#: Decimals of a fused score: who reads the scores from a log finds the order by them.
DECIMALS = 6
#: Decimals of a weighted sum of features.
SUM_DECIMALS = 9
#: Decimals of a score in units of its last one, beyond which a difference is an error of floating point.
_EXACT = 8


def rrf(
    ranks: Sequence[Ranks], *, k: float, weights: Sequence[float] = (), depth: int | None = None
) -> Numbers:
    """Return the score of each candidate by reciprocal rank fusion, rounded to 6 decimals; 0 in no list.

    The score is the sum of weight / (k + rank) over the lists that hold the candidate within their first
    `depth` places. All arrays have one shape, `weights` are one for each list, all 1 by default. Half a unit
    of the last decimal is rounded to even. Source: Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion
    outperforms Condorcet and individual Rank Learning Methods" (SIGIR 2009); weights are an extension of it.
    ValueError where k or a weight is negative.
    """
    factors = tuple(weights) or (1.0,) * len(ranks)
    if k < 0 or min(factors, default=0.0) < 0:
        raise ValueError(f"k and weights count from 0, not k={k}, weights={factors}")
    units = np.zeros(ranks[0].shape if len(ranks) else 0)
    for rank, factor in zip(ranks, factors, strict=True):
        counts = held(rank, depth)
        units += np.where(counts, 10.0**DECIMALS * factor / np.where(counts, k + rank, 1.0), 0.0)
    # Halves are exact in few fractions and a hair beside in others: both are halves.
    scores: Numbers = np.rint(np.round(units, _EXACT)) / 10.0**DECIMALS
    return scores


def held(rank: Ranks, depth: int | None) -> Flags:
    """Return where a list holds a candidate within its first `depth` places, None for all of them."""
    return rank > 0 if depth is None else (rank > 0) & (rank <= depth)


def weighted_sum(features: Sequence[Numbers], weights: Sequence[float], among: Flags) -> Numbers:
    """Return a weighted sum of features, each normalised to 0–1 among the candidates of its question.

    Normalised is (value − smallest) / (largest − smallest): min-max normalisation as in Lee, "Analyses of
    Multiple Evidence Combination" (SIGIR 1997). A feature that is missing, or equal for all candidates of the
    question, counts as 0. The sum is rounded to 9 decimals. `among` are the candidates that are compared.
    """
    total = np.zeros(among.shape)
    for feature, weight in zip(features, weights, strict=True):
        known = among & np.isfinite(feature)
        low = np.where(known, feature, np.inf).min(axis=1, initial=np.inf, keepdims=True)
        high = np.where(known, feature, -np.inf).max(axis=1, initial=-np.inf, keepdims=True)
        spread = np.where(high > low, high - low, 1.0)
        total += np.where(known & (high > low), (feature - low) / spread, 0.0) * weight
    rounded: Numbers = np.round(total, SUM_DECIMALS)
    return rounded


def order(scores: Numbers, among: Flags, ties: Ranks | None = None) -> NDArray[np.intp]:
    """Return the columns of each question's candidates, best score first and those not `among` last.

    Equal scores are in the order of `ties`, smallest first, without it in that of the columns.
    """
    keys = np.where(among, -scores, np.inf)
    if ties is None:
        return np.argsort(keys, axis=1, kind="stable")
    before = np.argsort(ties, axis=1, kind="stable")
    return np.take_along_axis(
        before, np.argsort(np.take_along_axis(keys, before, 1), axis=1, kind="stable"), 1
    )


def places(ordered: NDArray[np.intp], counts: NDArray[np.intp]) -> Ranks:
    """Return the 1-based rank of each column in its question's order, of which the first `counts` remain."""
    ranks = np.zeros(ordered.shape, np.int32)
    width = ordered.shape[1]
    numbers = np.arange(1, width + 1, dtype=np.int32)
    kept = np.where(numbers <= counts[:, None], numbers, 0).astype(np.int32)
    np.put_along_axis(ranks, ordered, kept, axis=1)
    return ranks
