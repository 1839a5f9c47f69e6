"""The Compare page's tables of metrics and of what was pinned, as grids.

Pure; every link is an address of the state that is shown.
"""

from __future__ import annotations

from collections.abc import Sequence

from proofspan.metrics.paired import Mean
from proofspan.metrics.values import MetricValue
from proofspan.metrics.words import (
    counted_in_words,
    difference_in_words,
    interval_in_words,
    left_out_in_words,
    number_in_words,
)
from proofspan.services.compared_metrics import MetricPair
from proofspan.services.compared_pins import PinDifference
from proofspan.services.comparing import p_words
from proofspan.store.measures import MISSES
from proofspan.ui.grid import Cell, Column, Grid, Look, Row
from proofspan.ui.state import ViewState
from proofspan.ui.words import counted

#: Characters of a pinned value.
MAX_VALUE = 120
NOTHING = "–"


def metrics_grid(pairs: Sequence[MetricPair], view: ViewState) -> Grid:
    """A row a metric: both values with their intervals and what they count, then the difference."""
    run, vs = view.run, view.vs or ""
    columns = (
        Column(Cell(vs), "end"),
        Column(Cell(run), "end"),
        Column(Cell("difference", tip=f"{run} − {vs}, question by question, with its 95 % interval"), "end"),
    )
    rows = tuple(_metric_row(pair, view) for pair in pairs)
    return Grid(f"Metrics of {vs} and {run}", "metric", columns, rows)


def _metric_row(pair: MetricPair, view: ViewState) -> Row:
    metric = pair.metric
    there = _value_cell(pair.there, view.change(run=view.vs or "", vs=None))
    here = _value_cell(pair.here, view)
    head = Cell(metric.name, tip=f"{metric.counted} {metric.source}.")
    return Row(head, (there, here, _difference(pair)))


def _value_cell(value: MetricValue | None, view: ViewState) -> Cell:
    """A value; its link opens the questions that count against it."""
    if value is None or value.value is None:
        return Cell(NOTHING, look="quiet", tip=left_out_in_words(value) if value else "")
    metric, number = value.metric, number_in_words(value.metric, value.value)
    counted, interval = counted_in_words(value), interval_in_words(value)
    is_share = value.numerator is not None
    text = f"{counted} · {number}" if is_share else number
    href = view.change(miss=metric.metric_id).link("") if metric.metric_id in MISSES else None
    spoken = f"{metric.name} of {view.run}: {text}. Open the questions that count against it in Triage."
    return Cell(
        text,
        note=interval if is_share else ", ".join(filter(None, (interval, counted))),
        tip=left_out_in_words(value),
        href=href,
        spoken=spoken if href else "",
    )


def _difference(pair: MetricPair) -> Cell:
    """The mean of the differences with its interval; of a quantile the gap alone."""
    mean = pair.difference
    if mean is None:
        return Cell(NOTHING if pair.gap is None else difference_in_words(pair.metric, pair.gap), look="quiet")
    if mean.low == mean.high == 0:
        told = f"the same in all {mean.pairs:,}" if mean.pairs > 1 else "the same in the one"
        return Cell(difference_in_words(pair.metric, 0.0), note=told, look="quiet")
    low, high = (difference_in_words(pair.metric, bound, with_unit=False) for bound in (mean.low, mean.high))
    p = f" · {p_words(pair.p)}" if pair.p is not None else ""
    word, look = _sign(pair)
    text = difference_in_words(pair.metric, mean.mean)
    return Cell(f"{text}{word}", note=f"{low} to {high}{p}", tip=_how(mean), look=look)


def _how(mean: Mean) -> str:
    method = "normal interval, as there are many" if mean.method == "normal" else "bootstrap of 2,000 samples"
    return f"Over the {counted(mean.pairs, 'question')} that count in both runs; {method}."


def _sign(pair: MetricPair) -> tuple[str, Look]:
    """A quiet word where the difference is evidence."""
    if not pair.is_clear:
        return "", ""
    if pair.is_better is None:
        return " · clear", ""
    return (" · better", "green") if pair.is_better else (" · worse", "red")


def pins_grid(differing: Sequence[PinDifference], view: ViewState) -> Grid:
    """Key, value then, value now: only what differs."""
    rows = tuple(Row(Cell(each.key), (_pinned(each.was), _pinned(each.now))) for each in differing)
    columns = (Column(Cell(view.vs or ""), "start"), Column(Cell(view.run), "start"))
    return Grid(f"What was pinned differently for {view.vs} and {view.run}", "pinned", columns, rows)


def _pinned(value: str | None) -> Cell:
    if value is None:
        return Cell("not pinned", look="quiet")
    line = " ".join(value.split())
    return Cell(
        line if len(line) <= MAX_VALUE else f"{line[: MAX_VALUE - 1]}…",
        tip=value[:2_000] if len(line) > MAX_VALUE else "",
    )
