"""The Wilson interval: published values, and what must hold for every count."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.metrics.statistics import wilson


@pytest.mark.parametrize(
    ("part", "whole", "low", "high"),
    [  # Newcombe, Statistics in Medicine 17 (1998), table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_published_values(part: int, whole: int, low: float, high: float) -> None:
    assert wilson(part, whole) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_it_holds_the_share_and_stays_inside(counts: tuple[int, int]) -> None:
    part, whole = counts
    low, high = wilson(part, whole)
    assert 0 <= low <= part / whole + 1e-12
    assert part / whole - 1e-12 <= high <= 1
    mirrored = wilson(whole - part, whole)
    assert (1 - mirrored[1], 1 - mirrored[0]) == pytest.approx((low, high), abs=1e-12)


def test_nothing_is_known_of_no_questions() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(("part", "whole"), [(-1, 3), (4, 3)])
def test_what_is_no_share_is_refused(part: int, whole: int) -> None:
    with pytest.raises(ValueError, match="no share"):
        wilson(part, whole)
