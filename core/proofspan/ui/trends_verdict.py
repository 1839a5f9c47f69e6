"""May it ship? The gate's checks of the shown run, and the numbers that a reviewer asks for first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import streamlit as st

from proofspan.metrics.catalogue import METRICS
from proofspan.metrics.values import MetricValue
from proofspan.metrics.words import (
    counted_in_words,
    difference_in_words,
    interval_in_words,
    left_out_in_words,
    number_in_words,
)
from proofspan.services.gate_checks import Check, Status
from proofspan.services.gating import GateReport
from proofspan.services.trends import HEADLINES, RunTrend, Trends
from proofspan.ui import safe
from proofspan.ui.grid import Cell, Column, Grid, Look, Row, show_grid
from proofspan.ui.safe import Kind, Markup, Piece
from proofspan.ui.state import ViewState
from proofspan.ui.trends_points import base, behind
from proofspan.ui.trends_table import VERDICTS
from proofspan.ui.words import counted

_KINDS: Mapping[str, Kind] = {"pass": "pass", "warn": "warn", "fail": "fail", "unknown": "muted"}
_STATUS: Mapping[Status, tuple[str, Look]] = {
    "fail": ("✗ fails", "red"),
    "warn": ("! warns", "yellow"),
    "pass": ("✓ passes", "green"),
    "skipped": ("skipped", "quiet"),
}


def show_verdict(report: GateReport, view: ViewState) -> None:
    """Whether the run may ship, in a line; what speaks against it below, and every check behind a fold."""
    ships = report.passes()
    word, kind = ("✓ may ship", "pass") if ships else ("✗ may not ship", "fail")
    with st.container(border=True, key="gate"):
        safe.show(
            safe.text(
                [
                    Piece("May it ship? ", "strong"),
                    Piece(word, _KINDS[kind]),
                    Piece(f"  {report.counts_in_words()}{_against(report)}."),
                ],
                role="line",
            ),
            *map(_told, against(report)),
        )
        with st.expander(f"All {counted(len(report.checks), 'check')}", key="checks"):
            show_grid(check_grid(report, view), key="check-cells")


def _against(report: GateReport) -> str:
    return f", against {report.against}" if report.against is not None else ""


def against(report: GateReport, *, most: int = 4) -> tuple[Check, ...]:
    """The checks that speak against a run, the failures first, so many at most."""
    worst = [check for status in ("fail", "warn") for check in report.checks if check.status == status]
    return tuple(worst[:most])


def check_grid(report: GateReport, view: ViewState) -> Grid:
    """A row a check in the gate's order: how it came out, what was counted, and its questions to open."""
    return Grid(
        f"Checks of {report.run_id}",
        "check",
        (Column(Cell("result"), "start"), Column(Cell("counted"), "start"), Column(Cell("questions"), "end")),
        tuple(_check_row(check, view) for check in report.checks),
    )


def _check_row(check: Check, view: ViewState) -> Row:
    word, look = _STATUS[check.status]
    asked = check.count
    href = None
    if check.shown is not None and asked:
        href = replace(base(view, check.shown.run), filter=check.shown).link("")
    return Row(
        Cell(check.title),
        (
            Cell(word, look=look),
            Cell(check.said),
            Cell(
                f"{asked:,}" if asked else "",
                href=href,
                spoken=f"{check.title}: open {counted(asked, 'question')}",
            ),
        ),
    )


def _told(check: Check) -> Markup:
    word, _ = _STATUS[check.status]
    kind: Kind = "fail" if check.status == "fail" else "warn"
    counted_as, _, _ = check.said.partition("; ")
    told = [Piece(word, kind), Piece(f" {check.title}: ", "strong"), Piece(counted_as, tip=check.said)]
    return safe.text(told, role="hint")


def show_cards(trends: Trends, flips: Mapping[str, str], view: ViewState) -> None:
    """A card a headline number. `flips` says of a metric how it differs from the other run."""
    with st.container(key="trend-cards"):
        for metric_id in HEADLINES:
            with st.container(border=True, key=f"card-of-{metric_id}"):
                safe.show(*card(trends.current, trends.other, metric_id, flips.get(metric_id, "")))
                value = trends.current.value(metric_id)
                if value is not None:
                    st.page_link(
                        "pages/triage.py",
                        label=_link_label(value),
                        query_params=behind(metric_id, trends.current.run_id, view).params(),
                    )


def card(run: RunTrend, other: RunTrend | None, metric_id: str, flipped: str) -> Iterable[Markup]:
    """A number with its counts, its goal, and how it differs from the other run's."""
    metric, value = METRICS[metric_id], run.measured.values[metric_id]
    yield safe.text([Piece(metric.name, "strong")], role="line")
    if value.value is None:
        yield safe.text([Piece("–"), Piece("nothing to count", "muted")], role="title")
        yield safe.text([Piece(left_out_in_words(value) or f"no {metric.of}", "muted")], role="hint")
        return
    sure = " · ".join(filter(None, (counted_in_words(value), interval_in_words(value))))
    yield safe.text([Piece(number_in_words(metric, value.value)), Piece(sure, "muted")], role="title")
    goal, verdict = run.measured.goals.get(metric_id), run.measured.verdicts.get(metric_id)
    if goal is not None and verdict is not None:
        word, _ = VERDICTS[verdict.status]
        yield safe.text(
            [
                Piece(word, _KINDS[verdict.status], tip=f"{verdict.why}."),
                Piece(f" goal {goal.in_words()}", "muted"),
            ],
            role="hint",
        )
    then = other.value(metric_id) if other is not None else None
    if other is not None and then is not None and then.value is not None:
        change = difference_in_words(metric, value.value - then.value)
        words = f"{change} against" if change[:1] in "+−" else "as in"
        was = f"{words} {other.run_id} ({number_in_words(metric, then.value)})"
        yield safe.text([Piece(was, "strong"), Piece(f" {flipped}" if flipped else "")], role="hint")


def _link_label(value: MetricValue) -> str:
    missed = value.denominator - (value.numerator or 0)
    return f"The {missed:,} that {'misses' if missed == 1 else 'miss'} it" if missed else "All its questions"
