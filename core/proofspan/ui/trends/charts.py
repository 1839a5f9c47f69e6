"""The figures of Trends: each with a sentence that says what it shows, and its numbers as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from proofspan.charts.lines import Form, line_figure
from proofspan.charts.stacks import stack_figure
from proofspan.charts.theme import Hue
from proofspan.metrics.catalogue import METRICS
from proofspan.metrics.statistics import share_in_words
from proofspan.metrics.values import (
    counted_in_words,
    interval_in_words,
    left_out_in_words,
    number_in_words,
    value_in_words,
)
from proofspan.services.metrics.cohorts import Ranks
from proofspan.services.metrics.trends import RunTrend, Trends
from proofspan.ui.trends.load import (
    BY_BUCKET,
    BY_LABEL,
    BY_STATE,
    Counts,
    Kind,
    Split,
    address_behind,
    band_words,
    bands,
    flows,
    goal_words,
    line_words,
    metric_line,
    rules,
)
from proofspan.ui.visit.view_state import ViewState
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.chart import palette, show_chart
from proofspan.ui.widgets.controls import panel
from proofspan.ui.widgets.table import Cell, Column, Grid, Row
from proofspan.wording import counted


def headline_charts(trends: Trends, view: ViewState) -> None:
    """Draw SectionMatch@1 and GT-in-top-20, each with its goal and its intervals."""
    with side_by_side("headlines"):
        _lines(
            "section_match_at_1",
            "SectionMatch@1",
            "Does the first candidate lie in the gold section? Bars are 95 % intervals.",
            {"section_match_at_1": "accent"},
            trends,
            view,
        )
        _lines(
            "gt_in_top_20",
            "GT-in-top-20",
            "Is the gold section among the first 20? Bars are 95 % intervals.",
            {"gt_in_top_20": "blue"},
            trends,
            view,
        )


def outcome_charts(trends: Trends, known: Ranks, view: ViewState) -> None:
    """Draw labels and buckets as shares of each run's questions."""
    with side_by_side("outcomes"):
        _stack(
            "labels",
            "Labels",
            "Shares of the questions that have a label.",
            BY_LABEL,
            [dict(run.labels.items()) for run in trends.runs],
            trends,
            view,
        )
        _stack(
            "buckets",
            "Buckets",
            "Shares of the judged questions; hover for the run before.",
            BY_BUCKET,
            [dict(run.buckets.items()) for run in trends.runs],
            trends,
            view,
            more=flows([run.run_id for run in trends.runs], known),
        )


def answer_charts(trends: Trends, view: ViewState) -> None:
    """Draw citations and coverages, ΔS, λ and latency."""
    with side_by_side("answers"):
        _lines(
            "citations",
            "Citations and coverage",
            "Do answers cite the gold passage, and how much of it is covered?",
            {
                "citation_match": "orange",
                "anchor_coverage": "accent",
                "section_coverage": "blue",
                "bundle_coverage": "gray",
            },
            trends,
            view,
        )
        _lines(
            "delta-s",
            "ΔS",
            "The logged semantic distance between question and context: lower is better.",
            {"delta_s_mean": "violet", "delta_s_p95": "orange"},
            trends,
            view,
            form="number",
        )
        _stack(
            "states",
            "Stability (λ as logged)",
            "The logged states of all traces, paraphrases and seeds included.",
            BY_STATE,
            [run.measured.states for run in trends.runs],
            trends,
            view,
        )
        _lines(
            "latency",
            "Latency",
            "p50 and p95 per question, in ms.",
            {"latency_p50": "accent", "latency_p95": "orange"},
            trends,
            view,
            form="ms",
        )


def side_by_side(name: str) -> DeltaGenerator:
    """Return a row of boxes, which wraps in a narrow window."""
    return st.container(key=f"trend-charts-{name}")


def _lines(
    name: str,
    title: str,
    about: str,
    hues: Mapping[str, Hue],
    trends: Trends,
    view: ViewState,
    *,
    form: Form = "percent",
) -> None:
    found = [one for one in hues if any(run.value(one) is not None for run in trends.runs)]
    goals = trends.current.measured.goals
    with panel(name, title, about + (goal_words(goals, found, form=form) if len(found) > 1 else "")):
        if not found:
            _nothing([METRICS[one].name for one in hues])
            return
        figure = line_figure(
            [run.run_id for run in trends.runs],
            [metric_line(trends, one, hues[one], view) for one in found],
            rules=rules(goals, {one: hues[one] for one in found}, form=form),
            palette=palette(),
            shown=trends.shown,
            form=form,
        )
        table = line_table(trends, found, view, name=title)
        show_chart(
            figure, key=f"chart-{name}", alt=_alt(title, trends, line_words(trends, found)), table=table
        )


def _stack(
    name: str,
    title: str,
    about: str,
    split: Split,
    counts: Sequence[Counts],
    trends: Trends,
    view: ViewState,
    *,
    more: Sequence[Mapping[str, str]] = (),
) -> None:
    shown = bands(trends, split, counts, view, more=more)
    with panel(name, title, about):
        if not shown:
            _nothing([title])
            return
        figure = stack_figure(
            [run.run_id for run in trends.runs],
            shown,
            palette=palette(),
            shown=trends.shown,
        )
        table = band_table(trends, split, counts, view, name=title)
        show_chart(
            figure, key=f"chart-{name}", alt=_alt(title, trends, band_words(shown, trends.shown)), table=table
        )


def _alt(title: str, trends: Trends, numbers: str) -> str:
    """Return what a screen reader says of a figure."""
    return f"{title} over {counted(len(trends.runs), 'run')}; {trends.current.run_id}: {numbers}"


def _nothing(names: Sequence[str]) -> None:
    message = f"No run has a value for {', '.join(names)}; the table below gives the reason."
    markup.note(message)


def line_table(trends: Trends, metric_ids: Sequence[str], view: ViewState, *, name: str) -> Grid:
    """Return the numbers of a line figure: a row per run, a column per metric."""
    columns = tuple(Column(Cell(METRICS[metric_id].name), "end") for metric_id in metric_ids)
    rows = tuple(Row(_head(run), tuple(_number(run, one, view) for one in metric_ids)) for run in trends.runs)
    return Grid(name, "run", columns, rows, wide=False)


def band_table(trends: Trends, split: Split, counts: Sequence[Counts], view: ViewState, *, name: str) -> Grid:
    """Return the numbers of a stack: a row per run, a column per value and one for none."""
    columns = [Column(Cell(kind.name, tip=kind.value), "end") for kind in split.kinds]
    rows = tuple(
        Row(
            _head(run),
            (
                *(_count(run, kind, found, split, view) for kind in split.kinds),
                Cell(f"{found.get(None, 0):,}", look="quiet"),
            ),
        )
        for run, found in zip(trends.runs, counts, strict=True)
    )
    return Grid(name, "run", (*columns, Column(Cell(split.none), "end")), rows, wide=False)


def _head(run: RunTrend) -> Cell:
    return Cell(run.run_id, tip=run.run.title or "")


def _number(run: RunTrend, metric_id: str, view: ViewState) -> Cell:
    value = run.value(metric_id)
    if value is None:
        return Cell("–", look="quiet", tip="nothing to count")
    counts, interval = counted_in_words(value), interval_in_words(value)
    return Cell(
        number_in_words(value.metric, value.value),
        note=f"{counts} · {interval}" if interval else counts,
        tip=left_out_in_words(value),
        href=address_behind(metric_id, run.run_id, view),
        spoken=f"{run.run_id}, {value.metric.name} {value_in_words(value)}: open the questions behind it",
    )


def _count(run: RunTrend, kind: Kind, found: Counts, split: Split, view: ViewState) -> Cell:
    count, whole = found.get(kind.value, 0), split.whole(found)
    if not count:
        return Cell("0", look="quiet")
    noun = "traces" if split.of_traces else "questions"
    return Cell(
        f"{count:,}",
        note=share_in_words(count, whole),
        look=kind.hue,
        href=split.link(kind, run.run_id, view),
        spoken=f"{run.run_id}, {kind.name}: {count:,} of {whole:,} {noun}, list them",
    )
