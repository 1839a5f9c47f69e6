"""What every metric of a list is added up from, in one pass over the index (`sql/sums.sql`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from core.metrics.catalogue import METRICS, Metric
from core.metrics.intervals import Z_95
from core.metrics.values import Tally
from core.store.measures import MEASURES, Measure
from core.store.statements import statement

Row = Mapping[str, object]

#: The columns that the statement reads besides those of its filter and its slice.
MEASURED = tuple(dict.fromkeys(column for measure in MEASURES.values() for column in measure.columns))
#: Whole numbers of 10^-12: what is added up lies well below a million.
_EXACT = "DECIMAL(18, 12)"
#: Each reason to leave a trace out, with the name of its column: several metrics share one.
_LEFT = {
    left: f"left_{place}"
    for place, left in enumerate(dict.fromkeys(measure.left for measure in MEASURES.values()))
}
#: The numbers whose quantiles are taken, with the names of their sorted lists.
_SORTED = {
    MEASURES[metric_id]: f"sorted_{MEASURES[metric_id].value}"
    for metric_id, metric in METRICS.items()
    if metric.kind == "quantile"
}


@cache
def sums_statement(*, where: str, slice_sql: str) -> str:
    """The statement for a list and a way to slice it, both of our own words."""
    return statement("sums").format(
        where=where,
        slice=slice_sql,
        columns=", ".join(MEASURED),
        counted=", ".join([*MEASURED, *(f"{left} AS {name}" for left, name in _LEFT.items())]),
        added=", ".join(f"{sql} AS {name}" for name, sql in _added()),
        fields=", ".join(f"{sql} AS {name}" for name, sql in _fields()),
    )


def tallies(row: Sequence[object]) -> dict[str, Tally]:
    """The metrics of one slice from its row of the statement, without the slice itself."""
    found = dict(zip((name for name, _ in _fields()), row, strict=True))
    return {metric_id: _tally(METRICS[metric_id], measure, found) for metric_id, measure in MEASURES.items()}


def no_tallies() -> dict[str, Tally]:
    """The metrics of no question at all."""
    return {metric_id: Tally(0) for metric_id in MEASURES}


def _tally(metric: Metric, measure: Measure, found: Row) -> Tally:
    left, metric_id = _LEFT[measure.left], metric.metric_id
    counted = {word: int(str(found[f"{left}_{word}"])) for word in measure.reasons}
    left_out = {word: count for word, count in counted.items() if count}
    of = int(str(found[f"{metric_id}_of" if measure.weight else f"{left}_of"] or 0))
    if metric.kind == "quantile":
        value, low, high = (_number(found[f"{metric_id}_{end}"]) for end in ("at", "low", "high"))
        if low is None or high is None:  # too few questions to tell
            low = high = None
        return Tally(of, value=value, low=low, high=high, left_out=left_out)
    total = _number(found[f"{metric_id}_total"]) or 0.0
    squares = total if metric.kind == "share" else _number(found[f"{metric_id}_squares"]) or 0.0
    return Tally(of, total, squares, left_out=left_out)


def _number(value: object) -> float | None:
    return None if value is None else float(str(value))


@cache
def _added() -> tuple[tuple[str, str], ...]:
    """Everything that is added up over a slice: name and SQL."""
    return tuple(dict([*_added_reasons(), *_added_values(), *_added_lists()]).items())


def _added_reasons() -> Iterator[tuple[str, str]]:
    for measure in MEASURES.values():
        left = _LEFT[measure.left]
        yield f"{left}_of", f"count(*) FILTER ({left} IS NULL)"
        for word in measure.reasons:
            yield f"{left}_{word}", f"count(*) FILTER ({left} = '{word}')"


def _added_values() -> Iterator[tuple[str, str]]:
    for metric_id, measure in MEASURES.items():
        kind, value = METRICS[metric_id].kind, measure.value
        counts = f"FILTER ({_LEFT[measure.left]} IS NULL)"
        if measure.weight:
            yield f"{metric_id}_of", f"sum({measure.weight}) {counts}"
            yield f"{metric_id}_total", f"sum({value}) {counts}"
        elif kind == "share":
            yield f"{metric_id}_total", f"count(*) FILTER ({_LEFT[measure.left]} IS NULL AND ({value}))"
        elif kind == "mean":
            yield f"{metric_id}_total", f"CAST(sum(TRY_CAST({value} AS {_EXACT})) {counts} AS DOUBLE)"
            square = f"TRY_CAST({value} * {value} AS {_EXACT})"
            yield f"{metric_id}_squares", f"CAST(sum({square}) {counts} AS DOUBLE)"


def _added_lists() -> Iterator[tuple[str, str]]:
    for measure, name in _SORTED.items():
        yield name, f"list_sort(list({measure.value}) FILTER ({_LEFT[measure.left]} IS NULL))"


@cache
def _fields() -> tuple[tuple[str, str], ...]:
    """What is read of a slice: name and SQL over what was added up."""
    plain = [(name, name) for name, _ in _added() if name not in _SORTED.values()]
    return (*plain, *_quantiles())


def _quantiles() -> Iterator[tuple[str, str]]:
    """The values at a quantile's rank and, by the normal approximation, at those of its interval."""
    for metric_id, measure in MEASURES.items():
        quantile = METRICS[metric_id].quantile
        if quantile is None:
            continue
        values, of, percent = _SORTED[measure], f"{_LEFT[measure.left]}_of", round(100 * quantile)
        around = f"{Z_95} * sqrt({of} * {quantile * (1 - quantile)})"
        ranks = {
            "at": f"({of} * {percent} + 99) // 100",
            "low": f"ceil({of} * {quantile} - {around})",
            "high": f"ceil({of} * {quantile} + {around})",
        }
        for end, rank in ranks.items():
            yield f"{metric_id}_{end}", f"CASE WHEN {rank} >= 1 THEN {values}[CAST({rank} AS BIGINT)] END"
