"""Fusion of many questions at once against a plain reference, and sums of normalised features."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.metrics import fusion

RANKS = st.lists(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=6, max_size=6),
    min_size=1,
    max_size=5,
).map(lambda rows: [np.array(rows, np.int32)[:, :, place] for place in (0, 1)])
K = st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(60), Fraction(1000)])
WEIGHT = st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1), Fraction(3)])


def plain(ranks: list[int], k: Fraction, weights: list[Fraction], depth: int | None) -> float:
    """The score of one candidate, in exact fractions."""
    held = [
        (rank, of)
        for rank, of in zip(ranks, weights, strict=True)
        if rank and (depth is None or rank <= depth)
    ]
    return float(round(sum((of / (k + rank) for rank, of in held), Fraction(0)), 6))


@given(RANKS, K, st.tuples(WEIGHT, WEIGHT), st.none() | st.integers(1, 30))
def test_scores_are_those_of_exact_fractions(
    ranks: list[np.ndarray], k: Fraction, weights: tuple[Fraction, Fraction], depth: int | None
) -> None:
    scores = fusion.rrf(ranks, k=float(k), weights=[float(of) for of in weights], depth=depth)
    for row, column in np.ndindex(scores.shape):
        own = [int(rank[row, column]) for rank in ranks]
        assert scores[row, column] == plain(own, k, list(weights), depth)


def test_half_a_unit_of_the_last_decimal_is_rounded_to_even() -> None:
    # 1 / 128 is 0.0078125 exactly
    assert fusion.rrf([np.array([[68]], np.int32)], k=60).tolist() == [[0.007812]]


@given(RANKS, st.permutations(range(6)))
def test_the_order_of_candidates_does_not_matter(ranks: list[np.ndarray], moved: list[int]) -> None:
    scores = fusion.rrf(ranks, k=60)
    assert (fusion.rrf([rank[:, moved] for rank in ranks], k=60) == scores[:, moved]).all()


def test_a_large_k_orders_by_how_many_lists_hold_a_candidate_and_a_small_one_by_the_first_rank() -> None:
    first = np.array([[1, 9, 0, 30]], np.int32)
    second = np.array([[0, 8, 2, 30]], np.int32)
    among = np.ones((1, 4), np.bool_)
    small, large = (fusion.order(fusion.rrf([first, second], k=k), among).tolist() for k in (0.1, 1e4))
    assert small == [[0, 2, 1, 3]]
    assert large == [[1, 3, 0, 2]]


@pytest.mark.parametrize(("k", "weights"), [(-1.0, (1.0,)), (60.0, (-0.5,))])
def test_what_counts_from_zero_is_not_negative(k: float, weights: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="count from 0"):
        fusion.rrf([np.array([[1]], np.int32)], k=k, weights=weights)


def test_equal_scores_are_in_the_order_of_the_columns_or_of_the_given_ties() -> None:
    scores, among = np.array([[0.5, 0.5, 0.7, 0.9]]), np.array([[True, True, True, False]])
    assert fusion.order(scores, among).tolist() == [[2, 0, 1, 3]]
    assert fusion.order(scores, among, np.array([[3, 1, 0, 2]], np.int32)).tolist() == [[2, 1, 0, 3]]


def test_places_count_the_first_of_an_order() -> None:
    ordered = np.array([[2, 0, 1], [0, 1, 2]])
    assert fusion.places(ordered, np.array([2, 0])).tolist() == [[2, 0, 1], [0, 0, 0]]


def test_features_are_normalised_within_each_question() -> None:
    feature = np.array([[10.0, 20.0, 15.0, 99.0], [3.0, 3.0, np.nan, np.inf]])
    other = np.array([[np.nan, 1.0, 0.0, 5.0], [np.nan, np.nan, np.nan, np.nan]])
    among = np.array([[True, True, True, False], [True, True, True, True]])
    summed = fusion.weighted_sum([feature, other], [2.0, 0.5], among)
    assert summed[0, :3].tolist() == [0.0, 2.5, 1.0]
    assert summed[1].tolist() == [0.0] * 4  # a constant, what is missing, and what is no number count nothing


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=8), st.floats(0.5, 1e3), st.floats(-1e3, 1e3))
def test_a_sum_does_not_depend_on_the_unit_of_a_feature(
    values: list[float], scale: float, shift: float
) -> None:
    feature, among = np.array([values]), np.ones((1, len(values)), np.bool_)
    summed = fusion.weighted_sum([feature], [1.0], among)
    assert (summed >= 0).all() and (summed <= 1).all()
    if np.ptp(feature) > 1e-3:
        assert np.allclose(fusion.weighted_sum([feature * scale + shift], [1.0], among), summed, atol=1e-6)
