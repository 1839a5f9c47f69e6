"""All metrics of a run as a panel: each number with its counts, interval and goal, and what was left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd
import streamlit as st

from proofspan.diagnosis.topic import in_words
from proofspan.metrics.catalogue import GROUPS, METRICS, Metric
from proofspan.metrics.values import (
    MetricValue,
    counted_in_words,
    interval_in_words,
    left_out_in_words,
    missing_in_words,
    number_in_words,
    value_in_words,
)
from proofspan.services.compare import MetricPair
from proofspan.services.metrics.report import METRIC_EXPORTS, metric_rows
from proofspan.services.metrics.run_metrics import RunTrend, Trends
from proofspan.store.query.metric_sql import MISSES
from proofspan.store.query.metrics import Slice
from proofspan.ui.compare.difference import difference_cell, difference_column
from proofspan.ui.trends.charts import address_behind, base, bound_words
from proofspan.ui.visit.view_state import ViewState, change_view
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.controls import segments
from proofspan.ui.widgets.export_menu import export_menu
from proofspan.ui.widgets.fold import fold
from proofspan.ui.widgets.markup import Piece
from proofspan.ui.widgets.table import Cell, Column, Grid, Look, Row, explained, show_grid
from proofspan.ui.widgets.text import sentence_start, unbroken

#: What the status of a goal or of a check is called and looks like.
VERDICTS: Mapping[str, tuple[str, Look]] = {
    "pass": ("✓ passes", "green"),
    "open": ("? open", "yellow"),
    "warn": ("! warning", "yellow"),
    "fail": ("✗ fails", "red"),
    "unknown": ("not measured", "quiet"),
    "skipped": ("skipped", "quiet"),
}
#: Slice → its metrics.
Slices = Mapping[str, Mapping[str, MetricValue]]
#: How a slice is called, and the filter that keeps its questions.
_SLICES: Mapping[Slice, tuple[str, str]] = {
    "section": ("section", "about"),
    "document": ("document", "about"),
    "type": ("question type", "type"),
    "bucket": ("bucket", "bucket"),
}
#: The metrics that slices are compared by; an export has all of them.
SLICED = (
    *("section_match_at_1", "gt_in_top_20", "ndcg_at_10", "section_coverage"),
    *("citation_match", "anchor_coverage", "over_refusal", "ok", "delta_s_mean"),
)
#: CSS pixels of the frame of slices.
HEIGHT = 640


def metrics_panel(
    trends: Trends,
    pairs: Mapping[str, MetricPair],
    view: ViewState,
    slices: Slices | None,
    *,
    workspace: str,
) -> None:
    """Draw every metric of the shown run, or the `slices` of `view.by`, and the definitions."""
    run, measured = trends.current, trends.current.measured

    def rows() -> Iterator[pd.DataFrame]:
        if slices is None:
            yield metric_rows(run.run_id, measured.values, measured=measured)
            return
        for title, values in slices.items():
            yield metric_rows(run.run_id, values, slice_name=title)

    about = f"All numbers of {run.run_id}, each with its count, its interval and what is left out."
    markup.note(about, "muted")
    with st.container(horizontal=True, vertical_alignment="center", key="metric-head"):
        segments(
            "Sliced by",
            {"whole": "Whole run", **{name: f"By {words}" for name, (words, _) in _SLICES.items()}},
            view.by or "whole",
            key="metrics-by",
            on_choose=lambda by: change_view(by=None if by == "whole" else by),
        )
        st.space("stretch")
        parts = len(measured.values) if slices is None else sum(map(len, slices.values()))
        name = f"{workspace} {run.run_id}"
        export_menu(rows, matching=parts, name=name, stem="metrics", exports=METRIC_EXPORTS)
    if differences := measured.differences:
        with st.container(border=True, key="pack"):
            differ = Piece("The stored metrics pack differs from these numbers.", "strong")
            lines = [markup.text([Piece(each.in_words())], role="hint") for each in differences]
            markup.show(markup.text([differ]), *lines)
    if view.by is None or slices is None:
        show_grid(metric_grid(run, trends.other, pairs, view), key="metric-cells")
    elif slices:
        show_grid(slice_grid(slices, view.by, run.run_id, view), key=f"metric-cells-{view.by}")
    else:
        markup.note(f"No question of {run.run_id} has a {_SLICES[view.by][0]}.", "strong")
    fold("counted", "How is this counted?", _definitions)


def _definitions() -> None:
    for group, title in GROUPS.items():
        metrics = [metric for metric in METRICS.values() if metric.group == group]
        markup.show(
            markup.text([Piece(title, "h3")], role="heading"),
            markup.facts(
                [(each.name, [Piece(each.counted), Piece(f"  {each.source}.", "muted")]) for each in metrics]
            ),
        )


def metric_grid(
    run: RunTrend, other: RunTrend | None, pairs: Mapping[str, MetricPair], view: ViewState
) -> Grid:
    """Return a row per metric in groups, beside the other run's number and Compare's difference."""
    columns = [Column(Cell(name), "end") for name in ("Value", "Counted", "95 %")]
    columns += [Column(Cell("Goal"), "start")]
    if other is not None:
        columns += [Column(Cell(other.run_id, tip=other.run.title or ""), "end")]
        columns += [difference_column(run.run_id, other.run_id)]
    columns += [Column(Cell("Left out"), "start")]
    rows = []
    for group, name in GROUPS.items():
        metrics = [metric for metric in METRICS.values() if metric.group == group]
        found = [metric for metric in metrics if metric.metric_id in run.measured.values]
        if found:
            rows.append(Row(Cell(name, look="quiet"), (Cell(""),) * len(columns)))
        for metric in found:
            cells = tuple(_cells(metric, run, other, pairs.get(metric.metric_id), view))
            head = explained(metric.name, f"metric.{metric.metric_id}", tip=metric.counted)
            rows.append(Row(head, cells))
    return Grid(f"All metrics of {run.run_id}", "Metric", tuple(columns), tuple(rows))


def _cells(
    metric: Metric, run: RunTrend, other: RunTrend | None, pair: MetricPair | None, view: ViewState
) -> Iterator[Cell]:
    metric_id, measured = metric.metric_id, run.measured
    value = measured.values[metric_id]
    if value.value is None:
        yield Cell("–", look="quiet", tip=missing_in_words(value))
    else:
        opens = "the questions that count against it" if metric_id in MISSES else "its questions"
        yield Cell(
            number_in_words(metric, value.value),
            href=address_behind(metric_id, run.run_id, view),
            spoken=f"{metric.name} {value_in_words(value)}: {opens}",
        )
    yield Cell(counted_in_words(value) if value.denominator else missing_in_words(value), look="quiet")
    yield Cell(interval_in_words(value), look="quiet")
    goal, verdict = measured.goals.get(metric_id), measured.verdicts.get(metric_id)
    if goal is None or verdict is None:
        yield Cell("")
    else:
        words, look = VERDICTS[verdict.status]
        tip = f"goal {goal.in_words()}: {verdict.why}."
        yield Cell(f"{unbroken(words)} · {unbroken(bound_words(metric, goal.passes))}", tip=tip, look=look)
    if other is not None:
        there = other.measured.values.get(metric_id)
        yield Cell(number_in_words(metric, there.value if there else None), look="quiet")
        yield difference_cell(pair) if pair is not None else Cell("–", look="quiet")
    yield Cell(left_out_in_words(value), look="quiet")


def slice_grid(slices: Slices, by: Slice, run_id: str, view: ViewState) -> Grid:
    """Return a row per slice, the largest first, and a column per metric that any of them has."""
    shown = [
        metric_id
        for metric_id in SLICED
        if any((found := values.get(metric_id)) and found.denominator for values in slices.values())
    ]
    rows, field = [], _SLICES[by][1]
    for name, values in slices.items():
        title = in_words((name,)) if field == "about" else name  # places are named as on Triage
        cells = []
        for metric_id in shown:
            value = values.get(metric_id)
            if value is None or value.value is None:
                cells.append(Cell("–", look="quiet"))
                continue
            miss = metric_id if metric_id in MISSES else ""
            share = value.numerator is not None
            message = value_in_words(value)
            cells.append(
                Cell(
                    number_in_words(value.metric, value.value),
                    note=counted_in_words(value) if share else f"of {value.denominator:,}",
                    tip=message,
                    href=base(view, run_id).change(**{field: (name,)}, miss=miss).link(""),
                    spoken=f"{title}, {value.metric.name}: {message}, list what counts against it",
                )
            )
        rows.append(Row(Cell(title, tip=name), tuple(cells)))
    columns = tuple(
        Column(explained(METRICS[one].name, f"metric.{one}", tip=METRICS[one].counted), "end")
        for one in shown
    )
    return Grid(
        f"Metrics of {run_id} by {by}", sentence_start(_SLICES[by][0]), columns, tuple(rows), height=HEIGHT
    )
