"""All metrics of a run as a table: each number with its counts, interval and goal, and what was left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import isfinite

import pandas as pd

from proofspan.diagnosis.topic import in_words
from proofspan.metrics.catalogue import GROUPS, METRICS, Metric
from proofspan.metrics.goals import Status
from proofspan.metrics.values import (
    MetricValue,
    counted_in_words,
    difference_in_words,
    interval_in_words,
    left_out_in_words,
    number_in_words,
    value_in_words,
)
from proofspan.services.metrics.report import METRIC_EXPORTS, metric_rows
from proofspan.services.metrics.trends import RunTrend
from proofspan.store.query.metric_sql import MISSES
from proofspan.store.query.metrics import Slice
from proofspan.ui.trends.load import address_behind, base, bound_words
from proofspan.ui.visit.view_state import ViewState
from proofspan.ui.widgets.export_menu import export_menu
from proofspan.ui.widgets.table import Cell, Column, Grid, Look, Row

#: What a verdict is called and looks like.
VERDICTS: Mapping[Status, tuple[str, Look]] = {
    "pass": ("✓ passes", "green"),
    "warn": ("! warns", "yellow"),
    "fail": ("✗ fails", "red"),
    "unknown": ("not measured", "quiet"),
}
#: The metrics that slices are compared by; an export has all of them.
SLICED = (
    *("section_match_at_1", "gt_in_top_20", "ndcg_at_10", "section_coverage"),
    *("citation_match", "anchor_coverage", "over_refusal", "ok", "delta_s_mean"),
)
#: CSS pixels of the frame of slices.
HEIGHT = 640
#: Slice → the filter that keeps its questions.
_FILTERS: Mapping[Slice, str] = {"section": "about", "document": "about", "type": "type", "bucket": "bucket"}


def metric_grid(run: RunTrend, other: RunTrend | None, view: ViewState) -> Grid:
    """Return a row per metric in groups, beside the other run's number and the difference."""
    heads = [Column(Cell("value"), "end"), Column(Cell("counted"), "end"), Column(Cell("95 %"), "end")]
    heads += [Column(Cell("goal"), "start")]
    if other is not None:
        heads += [Column(Cell(other.run_id, tip=other.run.title or ""), "end")]
        heads += [Column(Cell("difference"), "end")]
    heads += [Column(Cell("left out"), "start")]
    rows = [
        row
        for group, name in GROUPS.items()
        for row in _group(name, [each for each in METRICS.values() if each.group == group], run, other, view)
    ]
    return Grid(f"All metrics of {run.run_id}", "metric", tuple(heads), tuple(rows))


def _group(
    name: str, metrics: Iterable[Metric], run: RunTrend, other: RunTrend | None, view: ViewState
) -> Iterator[Row]:
    found = [each for each in metrics if each.metric_id in run.measured.values]
    if found:
        yield Row(Cell(name, look="quiet"), (Cell(""),) * (7 if other is not None else 5))
    for metric in found:
        yield Row(Cell(metric.name, tip=metric.counted), tuple(_cells(metric, run, other, view)))


def _cells(metric: Metric, run: RunTrend, other: RunTrend | None, view: ViewState) -> Iterator[Cell]:
    value = run.measured.values[metric.metric_id]
    if value.value is None:
        yield Cell("–", look="quiet")
    else:
        yield Cell(
            number_in_words(metric, value.value),
            href=address_behind(metric.metric_id, run.run_id, view),
            spoken=f"{metric.name} {value_in_words(value)}: {_opens(metric)}",
        )
    yield Cell(counted_in_words(value) if value.denominator else "", look="quiet")
    yield Cell(interval_in_words(value), look="quiet")
    yield _goal(run, metric.metric_id)
    if other is not None:
        there = other.measured.values.get(metric.metric_id)
        yield Cell(number_in_words(metric, there.value if there else None), look="quiet")
        yield difference(metric, value, there)
    yield Cell(left_out_in_words(value), look="quiet")


def _opens(metric: Metric) -> str:
    return "the questions that count against it" if metric.metric_id in MISSES else "its questions"


def _goal(run: RunTrend, metric_id: str) -> Cell:
    goal, verdict = run.measured.goals.get(metric_id), run.measured.verdicts.get(metric_id)
    if goal is None or verdict is None:
        return Cell("")
    words, look = VERDICTS[verdict.status]
    return Cell(
        f"{words} · {bound_words(goal.passes)}", tip=f"goal {goal.in_words()}: {verdict.why}.", look=look
    )


def difference(metric: Metric, value: MetricValue, other: MetricValue | None) -> Cell:
    """Return how far a number is from the other run's, in points of percent for a share."""
    numbers = (value.value, other.value if other is not None else None)
    if any(number is None or not isfinite(number) for number in numbers):
        return Cell("–", look="quiet")
    change = float(str(numbers[0])) - float(str(numbers[1]))
    words = difference_in_words(metric, change)
    if words[:1] not in "+−":
        return Cell("=", look="quiet")
    if metric.better is None:
        return Cell(words)
    return Cell(words, look="green" if (change > 0) == (metric.better == "higher") else "red")


def slice_grid(
    slices: Mapping[str, Mapping[str, MetricValue]], by: Slice, run_id: str, view: ViewState
) -> Grid:
    """Return a row per slice, the largest first, and a column per metric that any of them has."""
    shown = [
        metric_id
        for metric_id in SLICED
        if any((found := values.get(metric_id)) and found.denominator for values in slices.values())
    ]
    columns = tuple(
        Column(Cell(METRICS[metric_id].name, tip=METRICS[metric_id].counted), "end") for metric_id in shown
    )
    rows = tuple(
        Row(
            Cell(_title(name, by), tip=name),
            tuple(_slice_cell(values.get(one), one, name, by, run_id, view) for one in shown),
        )
        for name, values in slices.items()
    )
    return Grid(f"Metrics of {run_id} by {by}", by, columns, rows, height=HEIGHT)


def _title(name: str, by: Slice) -> str:
    """Return a slice's display name; places are named as on Triage."""
    return in_words((name,)) if _FILTERS[by] == "about" else name


def _slice_cell(
    value: MetricValue | None, metric_id: str, name: str, by: Slice, run_id: str, view: ViewState
) -> Cell:
    if value is None or value.value is None:
        return Cell("–", look="quiet")
    narrowed = base(view, run_id).change(
        **{_FILTERS[by]: (name,)}, miss=metric_id if metric_id in MISSES else ""
    )
    message = value_in_words(value)
    return Cell(
        number_in_words(value.metric, value.value),
        note=counted_in_words(value) if value.numerator is not None else f"of {value.denominator:,}",
        tip=message,
        href=narrowed.link(""),
        spoken=f"{_title(name, by)}, {value.metric.name}: {message}, list what counts against it",
    )


# The metrics that Trends shows, as files: of the whole run, or of its slices.


def metrics_export(
    run: RunTrend, slices: Mapping[str, Mapping[str, MetricValue]] | None, *, name: str
) -> None:
    """Draw the download of the whole run's metrics or of the `slices`; `name` is the workspace's."""
    parts = len(run.measured.values) if slices is None else sum(map(len, slices.values()))
    export_menu(
        lambda: _rows(run, slices),
        matching=parts,
        name=f"{name} {run.run_id}",
        stem="metrics",
        exports=METRIC_EXPORTS,
    )


def _rows(run: RunTrend, slices: Mapping[str, Mapping[str, MetricValue]] | None) -> Iterator[pd.DataFrame]:
    measured = run.measured
    if slices is None:
        yield metric_rows(run.run_id, measured.values, measured=measured)
        return
    for name, values in slices.items():
        yield metric_rows(run.run_id, values, slice_name=name)
