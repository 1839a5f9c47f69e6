"""How far people agree, with each other and with the rules: Cohen's κ and Krippendorff's α.

Both are for names without an order. κ: J. Cohen, "A coefficient of agreement for nominal scales" (1960); α:
K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), which allows for missing values and any
number of people. Intervals are percentiles of resamples of the answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from proofspan.metrics.statistics import SEED

#: How often the answers are drawn again for an interval.
RESAMPLES = 2_000


class Agreement(NamedTuple):
    """A coefficient with its 95 % interval over `n` answers; None where it is not defined.

    1 is full agreement, 0 what chance gives, below 0 less than that. `same` is how many of the answers
    everybody gives one value. A coefficient is not defined without two values for an answer, or if all values
    are the same.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    same: int


def cohen_kappa(pairs: Iterable[tuple[str, str]]) -> Agreement:
    """Return Cohen's κ of two people: the value that each gives to the answers that both look at."""
    counted = Counter(pairs)
    names = sorted({name for pair in counted for name in pair})
    place = {name: at for at, name in enumerate(names)}
    table = np.zeros((len(names), len(names)))
    for (one, other), count in counted.items():
        table[place[one], place[other]] = count
    n = int(table.sum())

    def draw(generator: np.random.Generator) -> np.ndarray:
        shape = (RESAMPLES, *table.shape)
        return _kappas(generator.multinomial(n, table.ravel() / n, size=RESAMPLES).reshape(shape))

    return _with_interval(_kappas(table[None]), draw, n, int(np.trace(table)))


def krippendorff_alpha(ratings: Iterable[Sequence[str]]) -> Agreement:
    """Return Krippendorff's α: of each answer the values that people give, one a person.

    Answers with fewer than two values say nothing and are left out.
    """
    counted = Counter(tuple(sorted(each)) for each in ratings if len(each) > 1)
    names = sorted({name for each in counted for name in each})
    kinds = np.array([[each.count(name) for name in names] for each in counted], dtype=float)
    sizes = np.array([*counted.values()])
    n = int(sizes.sum()) if counted else 0

    def draw(generator: np.random.Generator) -> np.ndarray:
        return _alphas(kinds, generator.multinomial(n, sizes / n, size=RESAMPLES))

    same = sum(count for each, count in counted.items() if len({*each}) == 1)
    point = _alphas(kinds, sizes[None]) if counted else np.array([np.nan])
    return _with_interval(point, draw, n, same)


def _kappas(tables: np.ndarray) -> np.ndarray:
    """Return κ of tables of counts, shape (draws, names, names); NaN where it is not defined."""
    n = tables.sum(axis=(1, 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = np.trace(tables, axis1=1, axis2=2) / n
        expected = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1) / n**2
        result: np.ndarray = np.where(expected < 1, (observed - expected) / (1 - expected), np.nan)
    return result


def _alphas(kinds: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Return α for draws of answers; NaN where it is not defined.

    `kinds` has how many people give each value to a kind of answer, shape (kinds, names); `draws` how often
    each kind is drawn, shape (draws, kinds).
    """
    people = kinds.sum(axis=1)
    agreeing = (kinds * (kinds - 1)).sum(axis=1) / (people - 1)
    totals = draws @ kinds
    n = totals.sum(axis=1)
    pairs = n * n - (totals * totals).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        disagreeing = n - draws @ agreeing
        result: np.ndarray = np.where(pairs > 0, 1 - (n - 1) * disagreeing / pairs, np.nan)
    return result


def _with_interval(
    point: np.ndarray, draw: Callable[[np.random.Generator], np.ndarray], n: int, same: int
) -> Agreement:
    if n == 0 or np.isnan(point[0]):
        return Agreement(None, None, None, n, same)
    drawn = draw(np.random.Generator(np.random.PCG64(SEED)))
    low, high = np.nanpercentile(drawn, [2.5, 97.5])
    value = float(point[0])
    return Agreement(value, min(value, float(low)), max(value, float(high)), n, same)
