"""The sums that every metric of a list is made of, by slice (`sql/sums.sql`, `sql/quantiles.sql`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache, lru_cache
from typing import Any, Literal

from proofspan.metrics.catalogue import METRICS
from proofspan.metrics.statistics import Z_95
from proofspan.metrics.values import Tally
from proofspan.store.query.database import statement
from proofspan.store.query.metric_sql import MEASURES

#: A row of a statement.
Row = tuple[Any, ...]
#: By slice and metric: a quantile's value, and those at the ends of its interval.
Ends = dict[tuple[object, str], tuple[float | None, ...]]

#: The columns that the statements read besides those of their filter and their slice.
MEASURED = tuple(dict.fromkeys(column for measure in MEASURES.values() for column in measure.columns))
#: Sums are exact in units of 10^-12; they stay well below a million.
_EXACT = "DECIMAL(18, 12)"
#: Each reason that leaves a trace out, as SQL, with the name of its column: several metrics share one.
_LEFT = {
    left: f"left_{place}"
    for place, left in enumerate(dict.fromkeys(measure.left for measure in MEASURES.values()))
}
#: How many texts of each statement are cached: there is one per combination of a filter's parts.
CACHED_STATEMENTS = 64
#: The metrics that are quantiles.
_QUANTILES = tuple(metric_id for metric_id in MEASURES if METRICS[metric_id].kind == "quantile")
#: The metrics of no question.
NO_TALLIES: Mapping[str, Tally] = {metric_id: Tally(0) for metric_id in MEASURES}


@dataclass(slots=True)
class _Sum:
    of: int = 0
    total: int | Decimal = 0
    squares: int | Decimal = 0
    left_out: Counter[str] = field(default_factory=Counter)


@lru_cache(maxsize=CACHED_STATEMENTS)
def sums_statement(*, where: str, slice_sql: str) -> str:
    """Return the statement of sums for a condition and a slice, both our own SQL."""
    return statement("sums").format(
        where=where,
        slice=slice_sql,
        left=", ".join(f"{left} AS {name}" for left, name in _LEFT.items()),
        columns=", ".join(MEASURED),
        reasons=", ".join(_LEFT.values()),
        sums=", ".join(sql for metric_id in MEASURES for sql in _summed(metric_id)),
    )


@lru_cache(maxsize=CACHED_STATEMENTS)
def quantiles_statements(*, where: str, slice_sql: str) -> tuple[tuple[tuple[str, ...], str], ...]:
    """Return the statements of quantiles: one per number, with the metrics that are quantiles of it."""
    found = []
    for measure in dict.fromkeys(MEASURES[metric_id] for metric_id in _QUANTILES):
        metric_ids = tuple(metric_id for metric_id in _QUANTILES if MEASURES[metric_id] is measure)
        ranks = []  # of each quantile, and of the ends of its interval
        for quantile in (METRICS[metric_id].quantile or 0.0 for metric_id in metric_ids):
            around = f"{Z_95} * sqrt(numbers * {quantile * (1 - quantile)})"
            ranks.append(f"(numbers * {round(100 * quantile)} + 99) // 100")
            ranks += [f"ceil(numbers * {quantile} {sign} {around})" for sign in "-+"]
        values = ", ".join(f"min(value) FILTER (rank = {rank})" for rank in ranks)
        sql = statement("quantiles").format(
            where=where, slice=slice_sql, value=measure.value, left=measure.left, values=values
        )
        found.append((metric_ids, sql))
    return tuple(found)


def tallies_of(sums: Iterable[Row], ends: Ends) -> dict[object, dict[str, Tally]]:
    """Return the metrics of each slice, the largest slice first, then by name."""
    sizes: Counter[object] = Counter()
    found: dict[object, dict[str, _Sum]] = {}
    for name, *rest in sums:  # a combination of reasons that leave its traces out of some metrics
        left, traces = dict(zip(_LEFT, rest, strict=False)), rest[len(_LEFT)]
        numbers = iter(rest[len(_LEFT) + 1 :])
        sizes[name] += traces
        into = found.setdefault(name, {metric_id: _Sum() for metric_id in MEASURES})
        for metric_id, measure in MEASURES.items():
            summed, each = [next(numbers) or 0 for _ in _summed(metric_id)], into[metric_id]
            if (reason := left[measure.left]) is not None:
                each.left_out[reason] += traces
                continue
            each.of += int(summed.pop(0)) if measure.weight else traces
            if summed:
                each.total += summed[0]
                each.squares += summed[-1]
    slices: dict[object, dict[str, Tally]] = {}
    for name in sorted(sizes, key=lambda name: (-sizes[name], str(name))):
        tallies = slices[name] = {}
        for metric_id, measure in MEASURES.items():
            each = found[name][metric_id]
            left_out = {word: each.left_out[word] for word in measure.reasons if each.left_out[word]}
            tallies[metric_id] = Tally(each.of, float(each.total), float(each.squares), left_out=left_out)
        for metric_id in _QUANTILES:
            value, low, high = ends.get((name, metric_id), (None, None, None))
            if low is None or high is None:  # too few questions for an interval
                low = high = None
            tallies[metric_id] = replace(tallies[metric_id], value=value, low=low, high=high)
    return slices


@cache
def _summed(metric_id: str) -> tuple[str, ...]:
    """Return the sums of a metric as SQL: its own denominator if it has one, the sum, the squares."""
    measure, kind = MEASURES[metric_id], METRICS[metric_id].kind
    if measure.weight:
        return f"sum({measure.weight})", f"sum({measure.value})"
    if kind == "share":
        return (f"count_if({measure.value})",)
    if kind == "mean":
        square = f"({measure.value}) * ({measure.value})"
        return tuple(f"sum(TRY_CAST({number} AS {_EXACT}))" for number in (measure.value, square))
    return ()


Slice = Literal["section", "document", "type", "bucket"]

#: How many slices are shown, the largest.
MOST_SLICES = 200
#: Each way to slice a list as SQL, with the column that it reads. A question is in every section (or page)
#: and every document that it is about, including those that contain others.
SLICES: Mapping[Slice, tuple[str, str]] = {
    "section": ("unnest(list_filter(about, lambda place: contains(place, '#')))", "about"),
    "document": ("unnest(list_filter(about, lambda place: NOT contains(place, '#')))", "about"),
    "type": ("q_type", "q_type"),
    "bucket": ("bucket", "bucket"),
}


@dataclass(frozen=True, slots=True)
class RunSums:
    """The sums over the headline traces of a whole run, one per question.

    `measures` are the metrics by id; `counts` has, for a column or several, how many questions have which
    value, or values.
    """

    measures: Mapping[str, Tally]
    counts: Mapping[str, dict[Any, int]]
