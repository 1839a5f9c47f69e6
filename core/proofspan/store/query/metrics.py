"""The sums that every metric of a list is made of, by slice (`sql/sums.sql`, `sql/quantiles.sql`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache, lru_cache
from typing import Any, Literal, cast, get_args

from proofspan.metrics.catalogue import METRICS, Measure
from proofspan.metrics.ranked import Bucket
from proofspan.metrics.statistics import Z_95
from proofspan.metrics.values import Tally
from proofspan.store.query.database import statement
from proofspan.store.query.metric_sql import MEASURES

#: A row of a statement, and a sum in it.
Row = tuple[Any, ...]
Exact = int | Decimal
#: By slice and metric: a quantile's value, and those at the ends of its interval.
Ends = Mapping[tuple[object, str], tuple[float | None, ...]]

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


@dataclass(slots=True)
class _Sum:
    """The sums for one metric of one slice."""

    of: int = 0
    total: Exact = 0
    squares: Exact = 0
    left_out: Counter[str] = field(default_factory=Counter)

    def tally(self, measure: Measure) -> Tally:
        left_out = {word: self.left_out[word] for word in measure.reasons if self.left_out[word]}
        return Tally(self.of, float(self.total), float(self.squares), left_out=left_out)


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
        values = ", ".join(value for metric_id in metric_ids for value in _values(metric_id))
        sql = statement("quantiles").format(
            where=where, slice=slice_sql, value=measure.value, left=measure.left, values=values
        )
        found.append((metric_ids, sql))
    return tuple(found)


def ends_of(metric_ids: Sequence[str], rows: Iterable[Row]) -> Ends:
    """Return the rows of a statement of quantiles by slice and metric."""
    return {
        (row[0], metric_id): cast("tuple[float | None, ...]", row[3 * place + 1 : 3 * place + 4])
        for row in rows
        for place, metric_id in enumerate(metric_ids)
    }


def tallies_of(sums: Iterable[Row], ends: Ends) -> dict[object, dict[str, Tally]]:
    """Return the metrics of each slice, the largest slice first, then by name."""
    sizes: Counter[object] = Counter()
    found: dict[object, dict[str, _Sum]] = {}
    for name, *rest in sums:
        reasons, traces, numbers = rest[: len(_LEFT)], cast(int, rest[len(_LEFT)]), rest[len(_LEFT) + 1 :]
        left = dict(zip(_LEFT, cast("list[str | None]", reasons), strict=True))
        sizes[name] += traces
        into = found.setdefault(name, {metric_id: _Sum() for metric_id in MEASURES})
        _add(into, left, traces, iter(cast("list[Exact | None]", numbers)))
    ordered = sorted(sizes, key=lambda name: (-sizes[name], str(name)))
    return {name: _tallies(name, found[name], ends) for name in ordered}


def no_tallies() -> dict[str, Tally]:
    """Return the metrics of no question."""
    return {metric_id: Tally(0) for metric_id in MEASURES}


def _add(
    into: Mapping[str, _Sum], left: Mapping[str, str | None], traces: int, sums: Iterator[Exact | None]
) -> None:
    """Add the traces of one combination of reasons to a slice."""
    for metric_id, measure in MEASURES.items():
        numbers = [next(sums) or 0 for _ in _summed(metric_id)]
        reason, found = left[measure.left], into[metric_id]
        if reason is not None:
            found.left_out[reason] += traces
            continue
        found.of += int(numbers.pop(0)) if measure.weight else traces
        if numbers:
            found.total += numbers[0]
            found.squares += numbers[-1]


def _tallies(name: object, found: Mapping[str, _Sum], ends: Ends) -> dict[str, Tally]:
    tallies = {metric_id: found[metric_id].tally(measure) for metric_id, measure in MEASURES.items()}
    for metric_id in _QUANTILES:
        value, low, high = ends.get((name, metric_id), (None, None, None))
        if low is None or high is None:  # too few questions for an interval
            low = high = None
        tallies[metric_id] = replace(tallies[metric_id], value=value, low=low, high=high)
    return tallies


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


def _values(metric_id: str) -> Iterator[str]:
    """Return the values at a quantile's rank and at the ends of its interval, as SQL over ranked numbers."""
    quantile = METRICS[metric_id].quantile or 0.0
    around = f"{Z_95} * sqrt(numbers * {quantile * (1 - quantile)})"
    yield _at(f"(numbers * {round(100 * quantile)} + 99) // 100")
    yield _at(f"ceil(numbers * {quantile} - {around})")
    yield _at(f"ceil(numbers * {quantile} + {around})")


def _at(rank: str) -> str:
    return f"min(value) FILTER (rank = {rank})"


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

    `measures` are the metrics by id; `labels`, `buckets` and `states` count questions by label, bucket and
    logged λ state (None: not labelled, not judged, not logged); `refusals` counts the judged ones by
    (declines?, gold in the top 20?).
    """

    measures: Mapping[str, Tally]
    labels: Mapping[str | None, int]
    buckets: Mapping[Bucket | None, int]
    states: Mapping[str | None, int]
    refusals: Mapping[tuple[bool, bool], int]


def run_sums(measures: Mapping[str, Tally], outcomes: Sequence[Row]) -> RunSums:
    """Return the sums of a run from its metrics and its rows of `sql/outcomes.sql`."""
    return RunSums(
        measures,
        outcome_counts(outcomes, "label"),
        by_bucket(outcome_counts(outcomes, "bucket")),
        most_frequent_first(outcome_counts(outcomes, "state")),
        by_refusal(outcomes),
    )


def outcome_counts(
    outcomes: Sequence[Row], kind: Literal["label", "bucket", "state", "refusal"]
) -> dict[str | None, int]:
    """Return the counts of one kind by value, from rows of `sql/outcomes.sql` of one slice."""
    return {value: count for _, name, value, count in outcomes if name == kind}


def most_frequent_first(counts: Mapping[str | None, int]) -> dict[str | None, int]:
    """Return the counts in descending order, equal ones by name."""
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0] or "")))


def by_bucket(counts: Mapping[str | None, int]) -> dict[Bucket | None, int]:
    """Return the counts of all buckets in their order, None last."""
    return {bucket: counts.get(bucket, 0) for bucket in (*get_args(Bucket), None)}


def by_refusal(outcomes: Sequence[Row]) -> dict[tuple[bool, bool], int]:
    """Return the judged questions by (declines?, gold in the top 20?)."""
    counts, either = outcome_counts(outcomes, "refusal"), (True, False)
    return {(refused, top): counts.get(f"{refused:d}{top:d}", 0) for refused in either for top in either}
