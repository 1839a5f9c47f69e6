"""How sure a share of a few questions is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import ceil, erfc, exp, fsum, isfinite, lgamma, log, sqrt
from typing import Literal, NamedTuple

import numpy as np

#: Two-sided 95 % of the normal distribution.
Z_95 = 1.959963984540054


def wilson(part: int, whole: int) -> tuple[float, float]:
    """The Wilson score interval of `part` of `whole`: (low, high) in 0–1.

    Unlike the plain normal interval it stays inside 0–1 and holds for small counts. Nothing is known of an
    empty whole: (0, 1). Source: E. B. Wilson, JASA 22 (1927), equation for the limits of p.
    """
    if not 0 <= part <= whole:
        raise ValueError(f"{part} of {whole} is no share")
    if whole == 0:
        return (0.0, 1.0)
    share, z = part / whole, Z_95
    spread = z * sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole))
    centre = share + z * z / (2 * whole)
    scale = 1 + z * z / whole
    return (max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale))


def percent(share: float) -> str:
    """A share of 0–1 in whole percent; what is neither none nor all never reads as 0 or 100."""
    rounded = round(100 * share)
    if rounded == 0 and share > 0:
        return "<1 %"
    if rounded == 100 and share < 1:
        return ">99 %"
    return f"{rounded} %"


def share_in_words(part: int, whole: int) -> str:
    """`70 % (54–83 %)`: the share of a whole that is not empty, with its 95 % Wilson interval."""
    low, high = wilson(part, whole)
    return f"{percent(part / whole)} ({round(100 * low)}–{round(100 * high)} %)"


# Two runs on the same questions: is the difference more than luck?
#
# Sources: McNemar, "Note on the sampling error of the difference between correlated proportions"
# (Psychometrika 12, 1947), in its exact binomial form; Efron and Tibshirani, "An Introduction to the
# Bootstrap" (1993), chapter 13, for the percentile interval.

#: More pairs than these get the normal interval: it is the same then to the eye, and at once there.
MOST_DRAWN = 5_000
DRAWS = 2_000
#: Samples that are drawn together, so that memory stays small: 100 of 5,000 pairs are 4 MB.
DRAWN_TOGETHER = 100
#: The most distinct differences that are drawn by their frequencies.
FEW_DISTINCT = 16
#: Of flips; more are not counted out one by one.
MOST_TRIED = 1_000
SEED = 20_260_226
#: Below it a difference counts as evidence.
LEVEL = 0.05

Method = Literal["bootstrap", "normal"]


class Mean(NamedTuple):
    """The mean of paired differences with its 95 % interval, over `pairs` pairs."""

    mean: float
    low: float
    high: float
    pairs: int
    method: Method


def mcnemar(fixed: int, regressed: int) -> float:
    """Return the exact two-sided p of flips for the better and for the worse, in 0–1.

    Were neither run better, each flip would go either way like a fair coin. No flip at all: 1. Of more than
    1,000 flips the same sum is taken in floating point, right to nine digits.
    ValueError where a count is negative.
    """
    if fixed < 0 or regressed < 0:
        raise ValueError(f"flips count from 0, not {fixed} and {regressed}")
    flips, fewer = fixed + regressed, min(fixed, regressed)
    if flips > MOST_TRIED:
        # The last and largest part of the sum, by its logarithm, times what the parts before it add.
        share = total = 1.0
        for chosen in range(fewer, 0, -1):
            share *= chosen / (flips - chosen + 1)
            total += share
            if share < total * 1e-17:
                break
        ways_of_last = lgamma(flips + 1) - lgamma(fewer + 1) - lgamma(flips - fewer + 1)
        return min(1.0, 2 * total * exp(ways_of_last - flips * log(2)))
    tail = ways = 1  # to choose none of the flips, then one, two …
    for chosen in range(fewer):
        ways = ways * (flips - chosen) // (chosen + 1)
        tail += ways
    return min(1.0, 2 * tail / (1 << flips))


def holm(ps: Sequence[float], *, level: float = LEVEL) -> list[bool]:
    """Return which of several tests are significant together: at most one in 20 such sets has a false one.

    The smallest p has to be below level / n for n tests, the next below level / (n − 1), up to the first that
    is not. Source: Holm, "A Simple Sequentially Rejective Multiple Test Procedure" (Scandinavian Journal of
    Statistics 6, 1979).
    """
    significant = [False] * len(ps)
    for left, place in zip(range(len(ps), 0, -1), sorted(range(len(ps)), key=ps.__getitem__), strict=True):
        if not ps[place] < level / left:
            break
        significant[place] = True
    return significant


def paired_p(difference: Mean | None, differences: Iterable[float]) -> float:
    """Return the two-sided p of paired differences of numbers, by the normal distribution; 1 without any.

    For many pairs it is that of Student's paired test.
    """
    values = list(differences)
    if difference is None or len(values) < 2:
        return 1.0
    spread = fsum((value - difference.mean) ** 2 for value in values) / (len(values) - 1)
    if not spread:
        return 1.0 if not difference.mean else 0.0
    return erfc(abs(difference.mean) / sqrt(2 * spread / len(values)))


def flips_needed(fixed: int, regressed: int) -> int | None:
    """How many flips it takes, in these shares, until McNemar's p is below 0.05; None where both are equal.

    A rule of thumb for "how many questions would it take": flips grow with the questions. Counts are rounded
    against the difference, so that it is never promised too early; beyond 1,000 flips the normal
    distribution answers. ValueError where a count is negative.
    """
    if fixed < 0 or regressed < 0:
        raise ValueError(f"flips count from 0, not {fixed} and {regressed}")
    flips, more = fixed + regressed, max(fixed, regressed)
    if 2 * more == flips:
        return None
    about = ceil((Z_95 * flips / (2 * more - flips)) ** 2)
    if about > MOST_TRIED:
        return about
    needed = 1
    while mcnemar(better := more * needed // flips, needed - better) >= LEVEL:
        needed += 1
    return needed


def mean_difference(differences: Iterable[float]) -> Mean | None:
    """The mean of differences (new − old) with its 95 % interval; None without any.

    Up to 5,000 pairs the interval is a bootstrap's: 2,000 samples, each drawn from the differences by the
    number of times that each occurs; the same input gives the same interval in whatever order. Above that it
    is the normal one. ValueError where a difference is no finite number.
    """
    counts = Counter(differences)
    pairs = counts.total()
    if not pairs:
        return None
    if not all(map(isfinite, counts)):
        raise ValueError("a difference is no finite number")
    mean = fsum(value * times for value, times in counts.items()) / pairs
    if pairs > MOST_DRAWN:
        spread = fsum(times * (value - mean) ** 2 for value, times in counts.items()) / (pairs - 1)
        half = Z_95 * sqrt(spread / pairs)
        return Mean(mean, mean - half, mean + half, pairs, "normal")
    # Of few distinct differences it is drawn how often each comes, of many one by one.
    values = np.array(sorted(counts), dtype=float)
    times = np.array([counts[value] for value in sorted(counts)])
    generator = np.random.Generator(np.random.PCG64(SEED))
    if len(values) <= FEW_DISTINCT:
        sums = (generator.multinomial(pairs, times / pairs, size=DRAWS) * values).sum(axis=1)
    else:
        all_values, shape = np.repeat(values, times), (DRAWN_TOGETHER, pairs)
        rounds = range(DRAWS // DRAWN_TOGETHER)
        sums = np.concatenate([all_values[generator.integers(0, pairs, shape)].sum(axis=1) for _ in rounds])
    means = np.sort(sums / pairs).tolist()
    cut = round(DRAWS * 0.025)
    return Mean(mean, min(mean, means[cut]), max(mean, means[DRAWS - 1 - cut]), pairs, "bootstrap")
