"""Paired comparisons: published values, and what must hold for all."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofspan.metrics import statistics
from proofspan.metrics.statistics import flips_needed, mcnemar, mean_difference


@pytest.mark.parametrize(
    ("fixed", "regressed", "p"),
    [
        (6, 1, 0.125),
        (0, 0, 1.0),
        (3, 3, 1.0),
        (5, 0, 0.0625),
        (6, 0, 0.03125),
        (59, 6, 2 * 91_581_634 / 2**65),
        (10, 2, 0.03857421875),
    ],
)
def test_known_values(fixed: int, regressed: int, p: float) -> None:
    assert mcnemar(fixed, regressed) == pytest.approx(p, rel=1e-12)


@given(st.integers(0, 400), st.integers(0, 400))
def test_the_p_of_flips_is_symmetric_and_a_probability(fixed: int, regressed: int) -> None:
    p = mcnemar(fixed, regressed)
    assert 0 < p <= 1
    assert p == mcnemar(regressed, fixed)
    assert mcnemar(fixed + regressed + 1, 0) <= p


def test_very_many_flips_are_no_trouble() -> None:
    assert 0 <= mcnemar(30_000, 29_000) < 0.05
    assert mcnemar(100_000, 100_000) == 1
    assert mcnemar(50_000, 0) == 0


@pytest.mark.parametrize(("fixed", "regressed"), [(540, 461), (501, 500), (1_001, 0), (2_000, 1_890)])
def test_many_flips_come_to_what_counting_them_out_says(fixed: int, regressed: int) -> None:
    flips, fewer = fixed + regressed, min(fixed, regressed)
    counted = Fraction(2 * sum(math.comb(flips, chosen) for chosen in range(fewer + 1)), 2**flips)
    assert mcnemar(fixed, regressed) == pytest.approx(min(1.0, float(counted)), rel=1e-9)


def test_how_many_flips_it_takes() -> None:
    assert flips_needed(1, 0) == 6
    assert flips_needed(4, 4) is None
    assert flips_needed(0, 0) is None
    needed = flips_needed(6, 1)
    assert needed is not None and 7 < needed < 20
    assert flips_needed(1_001, 1_000) == pytest.approx(1.96**2 * 2_001**2, rel=1e-3)
    better = 6 * needed // 7
    assert mcnemar(better, needed - better) < statistics.LEVEL


@pytest.mark.parametrize("counts", [(-1, 0), (0, -1)])
def test_what_is_no_count_is_refused(counts: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="count from 0"):
        mcnemar(*counts)
    with pytest.raises(ValueError, match="count from 0"):
        flips_needed(*counts)


def test_the_interval_of_a_mean() -> None:
    found = mean_difference([1.0, 0.0] * 50)
    assert found is not None and found.method == "bootstrap" and found.pairs == 100
    assert found.mean == 0.5
    half = 1.96 * math.sqrt(0.25 / 100)
    assert (found.low, found.high) == pytest.approx((0.5 - half, 0.5 + half), abs=0.015)


def test_drawing_how_often_each_comes_is_as_drawing_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    differences = [1.0] * 60 + [0.0] * 300 + [-1.0] * 40
    by_counts = mean_difference(differences)
    monkeypatch.setattr(statistics, "FEW_DISTINCT", 0)
    one_by_one = mean_difference(differences)
    assert by_counts is not None and one_by_one is not None
    assert by_counts[1:3] == pytest.approx(one_by_one[1:3], abs=0.006)


def test_many_pairs_get_the_normal_interval() -> None:
    found = mean_difference([1.0, 0.0] * 5_000)
    assert found is not None and found.method == "normal"
    half = 1.96 * math.sqrt(0.25 / 10_000)
    assert (found.low, found.high) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-4)


@settings(max_examples=10)
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=20), st.randoms())
def test_the_order_of_the_pairs_says_nothing(differences: list[float], random: object) -> None:
    found = mean_difference(differences)
    assert found is not None
    assert found.low <= found.mean <= found.high
    assert mean_difference(reversed(differences)) == found


def test_without_pairs_there_is_no_result_and_no_number_is_refused() -> None:
    assert mean_difference([]) is None
    with pytest.raises(ValueError, match="finite"):
        mean_difference([0.1, math.nan])
