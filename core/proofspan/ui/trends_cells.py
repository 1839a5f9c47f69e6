"""The figures' numbers as tables: a row a run, each number a link to the questions behind it."""

from __future__ import annotations

from collections.abc import Sequence

from proofspan.metrics.catalogue import METRICS
from proofspan.metrics.intervals import share_in_words
from proofspan.metrics.words import (
    counted_in_words,
    interval_in_words,
    left_out_in_words,
    number_in_words,
    value_in_words,
)
from proofspan.services.trends import RunTrend, Trends
from proofspan.ui.grid import Cell, Column, Grid, Row
from proofspan.ui.state import ViewState
from proofspan.ui.trends_points import Counts, Kind, Split, address_behind


def line_table(trends: Trends, metric_ids: Sequence[str], view: ViewState, *, name: str) -> Grid:
    """A column a metric."""
    columns = tuple(Column(Cell(METRICS[metric_id].name), "end") for metric_id in metric_ids)
    rows = tuple(Row(_head(run), tuple(_number(run, one, view) for one in metric_ids)) for run in trends.runs)
    return Grid(name, "run", columns, rows, wide=False)


def band_table(trends: Trends, split: Split, counts: Sequence[Counts], view: ViewState, *, name: str) -> Grid:
    """A column a kind, and one for the questions without any."""
    columns = [Column(Cell(kind.value, tip=kind.help), "end") for kind in split.kinds]
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
        spoken=f"{run.run_id}, {kind.value}: {count:,} of {whole:,} {noun}, list them",
    )
