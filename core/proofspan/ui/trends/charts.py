"""The figures of Trends: each with a sentence that says what it shows, and its numbers as a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from proofspan.charts.figures import Form, Line, Point, Rule, line_figure, stack_figure
from proofspan.charts.theme import Hue
from proofspan.contracts.records.records import LABELS
from proofspan.display_names import BUCKET_NAMES
from proofspan.metrics.catalogue import METRICS
from proofspan.metrics.goals import Bound, Goal
from proofspan.metrics.ranked import BUCKETS
from proofspan.metrics.statistics import share_in_words
from proofspan.metrics.values import (
    NOT_AVAILABLE,
    counted_in_words,
    interval_in_words,
    left_out_in_words,
    missing_in_words,
    number_in_words,
    value_in_words,
)
from proofspan.services.metrics.cohorts import Ranks
from proofspan.services.metrics.run_metrics import RunTrend, Trends
from proofspan.store.query.metric_sql import MISSES
from proofspan.ui.visit.view_state import ViewState
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.chart import BY_BUCKET, BY_CAUSE, BY_LABEL, Split, palette, show_chart
from proofspan.ui.widgets.controls import panel
from proofspan.ui.widgets.table import Cell, Column, Grid, Row
from proofspan.wording import counted

BY_STATE = Split(
    "States",
    "state",
    {state: state for state in ("convergent", "recursive", "divergent", "chaotic")},
    {"convergent": "green", "recursive": "blue", "divergent": "orange", "chaotic": "red"},
    "Not logged",
)
#: What a list is sorted by to see the questions behind a quantile.
_SORTED = {"delta_s_p95": "delta_s", "latency_p50": "latency", "latency_p95": "latency"}
#: Characters of a run's name in a hover.
ROOM = 44

#: How many questions (or traces) have each value; None: those without any.
Counts = Mapping[Any, int]


def figures(trends: Trends, known: Ranks, view: ViewState) -> None:
    """Draw headline metrics, causes and buckets as shares, labels, what answers cite, ΔS, λ and latency."""
    lines, stack, runs = partial(_lines, trends, view), partial(_stack, trends, view), trends.runs
    with side_by_side("headlines"):
        about = "Does the first candidate lie in the gold section? Bars are 95 % intervals."
        lines("section_match_at_1", "SectionMatch@1", about, {"section_match_at_1": "accent"})
        about = "Is the gold section among the first 20? Bars are 95 % intervals."
        lines("gt_in_top_20", "GT-in-top-20", about, {"gt_in_top_20": "blue"})
    with side_by_side("outcomes"):
        about = "Where questions fail first; claims are checked by `proofspan index`."
        stack("causes", "Causes", about, BY_CAUSE, [run.causes for run in runs])
        about = "Shares of the judged questions; hover for the run before."
        before = flows([run.run_id for run in runs], known)
        stack("buckets", "Buckets", about, BY_BUCKET, [run.buckets for run in runs], more=before)
    with side_by_side("answers"):
        about = "Shares of the questions that have a label."
        stack("labels", "Labels", about, BY_LABEL, [run.labels for run in runs])
        about = "Do answers cite the gold passage, and how much of it is covered?"
        hues: dict[str, Hue] = {"citation_match": "orange", "anchor_coverage": "accent"}
        hues |= {"section_coverage": "blue", "bundle_coverage": "gray"}
        lines("citations", "Citations and coverage", about, hues)
        about = "The logged semantic distance between question and context: lower is better."
        lines("delta-s", "ΔS", about, {"delta_s_mean": "violet", "delta_s_p95": "orange"}, form="number")
        about = "The logged states of all traces, paraphrases and seeds included."
        states = [run.measured.states for run in runs]
        stack("states", "Stability (λ as logged)", about, BY_STATE, states)
        about = "p50 and p95 per question, in ms."
        lines("latency", "Latency", about, {"latency_p50": "accent", "latency_p95": "orange"}, form="ms")


def side_by_side(name: str) -> DeltaGenerator:
    """Return a row of boxes, which wraps in a narrow window."""
    return st.container(key=f"trend-charts-{name}")


def _lines(
    trends: Trends,
    view: ViewState,
    name: str,
    title: str,
    about: str,
    hues: Mapping[str, Hue],
    *,
    form: Form = "percent",
) -> None:
    found = [one for one in hues if any(run.value(one) is not None for run in trends.runs)]
    goals = trends.current.measured.goals
    with panel(name, title, about + (goal_words(goals, found, form=form) if len(found) > 1 else "")):
        lost = [METRICS[one].name for one in hues if _is_unavailable(trends.current, one)]
        if lost:
            markup.note(f"Not available for {trends.current.run_id}: {', '.join(lost)}; see the table below.")
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
        values = [trends.current.measured.values[one] for one in found]
        numbers = ", ".join(f"{each.metric.name} {value_in_words(each)}" for each in values)
        table = line_table(trends, found, view, name=title)
        show_chart(figure, key=f"chart-{name}", alt=_alt(title, trends, numbers), table=table)


def _stack(
    trends: Trends,
    view: ViewState,
    name: str,
    title: str,
    about: str,
    split: Split,
    counts: Sequence[Counts],
    *,
    more: Sequence[Mapping[str, str]] = (),
) -> None:
    shown, table = bands(trends, title, split, counts, view, more=more)
    with panel(name, title, about):
        if not shown:
            _nothing([title])
            return
        runs = [run.run_id for run in trends.runs]
        figure = stack_figure(runs, shown, palette=palette(), shown=trends.shown)
        numbers = ", ".join(f"{band.points[trends.shown].label} {band.name}" for band in shown)
        show_chart(figure, key=f"chart-{name}", alt=_alt(title, trends, numbers), table=table)


def _is_unavailable(run: RunTrend, metric_id: str) -> bool:
    """Return whether a number exists that cannot be counted here, for want of labels for instance."""
    value = run.measured.values.get(metric_id)
    return value is not None and value.value is None and missing_in_words(value) == NOT_AVAILABLE


def _alt(title: str, trends: Trends, numbers: str) -> str:
    """Return what a screen reader says of a figure: the numbers of the shown run."""
    return f"{title} over {counted(len(trends.runs), 'run')}; {trends.current.run_id}: {numbers}"


def _nothing(names: Sequence[str]) -> None:
    markup.note(f"No run has a value for {', '.join(names)}; the table below gives the reason.")


def line_table(trends: Trends, metric_ids: Sequence[str], view: ViewState, *, name: str) -> Grid:
    """Return the numbers of a line figure: a row per run, a column per metric."""

    def number(run: RunTrend, metric_id: str) -> Cell:
        value = run.value(metric_id)
        if value is None:
            known = run.measured.values.get(metric_id)
            words = (missing_in_words(known), left_out_in_words(known)) if known else ("nothing to count",)
            return Cell("–", look="quiet", tip=": ".join(filter(None, words)))
        counts, interval = counted_in_words(value), interval_in_words(value)
        return Cell(
            number_in_words(value.metric, value.value),
            note=f"{counts} · {interval}" if interval else counts,
            tip=left_out_in_words(value),
            href=address_behind(metric_id, run.run_id, view),
            spoken=f"{run.run_id}, {value.metric.name} {value_in_words(value)}: open the questions behind it",
        )

    columns = tuple(Column(Cell(METRICS[metric_id].name), "end") for metric_id in metric_ids)
    rows = tuple(Row(_head(run), tuple(number(run, one) for one in metric_ids)) for run in trends.runs)
    return Grid(name, "Run", columns, rows, wide=False)


def _head(run: RunTrend) -> Cell:
    return Cell(run.run_id, tip=run.run.title or "")


def base(view: ViewState, run_id: str) -> ViewState:
    """Return the state that this page's links begin with: all questions of a run, with the page's profile."""
    return view.with_nothing_chosen().change(run=run_id)


def behind(metric_id: str) -> dict[str, Any]:
    """Return the filter or order behind a number: the questions that count against it, else those counted."""
    if metric_id in _SORTED:
        return {"sort": _SORTED[metric_id], "desc": True}
    if metric_id in MISSES:
        return {"miss": metric_id}
    return {"label": (metric_id,)} if metric_id in LABELS else {}


def address_behind(metric_id: str, run_id: str, view: ViewState) -> str:
    """Return the address of a run's list of those questions."""
    return _list_address(view.with_nothing_chosen(), run_id, tuple(behind(metric_id).items()))


# A page of thirty runs has hundreds of these addresses, and many of them twice.
@lru_cache(maxsize=1 << 13)
def _list_address(view: ViewState, run_id: str, changes: tuple[tuple[str, Any], ...]) -> str:
    return view.change(run=run_id, **dict(changes)).link("")


def _run_words(run: RunTrend) -> str:
    """Return `R004 · hybrid + rerank`, cut to the room that a hover has."""
    words = f"{run.run_id} · {run.run.title}" if run.run.title else run.run_id
    return words if len(words) <= ROOM else f"{words[:ROOM].rstrip()}…"


def metric_line(trends: Trends, metric_id: str, hue: Hue, view: ViewState) -> Line:
    """Return one metric over the runs, each with its count, interval, goal and what is left out."""
    points = []
    for run in trends.runs:
        value = run.measured.values.get(metric_id)
        if value is None:
            points.append(Point(None))
            continue
        verdict, goal = run.measured.verdicts.get(metric_id), run.measured.goals.get(metric_id)
        words = (
            _run_words(run),
            f"{value.metric.name}: {value_in_words(value)}",
            f"goal {goal.in_words()}: {verdict.why}" if goal and verdict else "",
            left_out_in_words(value),
            f"A click lists {'what counts against it' if metric_id in MISSES else 'the questions'}.",
        )
        target = address_behind(metric_id, run.run_id, view)
        points.append(Point(value.value, value.low, value.high, tuple(filter(None, words)), target))
    return Line(METRICS[metric_id].name, hue, tuple(points))


def rules(goals: Mapping[str, Goal], hues: Mapping[str, Hue], *, form: Form) -> tuple[Rule, ...]:
    """Return the goals of these metrics as lines in their colours: the passing bound, and the warning one.

    Of two goals at one place the first is drawn.
    """
    found: dict[float, Rule] = {}
    for metric_id, hue in hues.items():
        goal = goals.get(metric_id)
        for bound, words in ((goal.passes, "goal"), (goal.warns, "warns")) if goal else ():
            if bound is not None:
                found.setdefault(bound.value, Rule(bound.value, f"{words} {bound_words(bound, form)}", hue))
    return tuple(found.values())


def goal_words(goals: Mapping[str, Goal], metric_ids: Iterable[str], *, form: Form) -> str:
    """Return ` Goals: Citation match ≥ 95 %, Anchor coverage ≥ 70 %.`; "" without goals."""
    words = [
        f"{METRICS[one].name} {bound_words(goals[one].passes, form)}" for one in metric_ids if one in goals
    ]
    return f" Goal{'s' * (len(words) > 1)}: {', '.join(words)}." if words else ""


def bound_words(bound: Bound, form: Form = "number") -> str:
    """Return `≥ 70 %`, `≤ 0.45`: short enough for the edge of a figure."""
    sign = {">=": "≥", "<=": "≤", "==": "="}.get(bound.comparison, bound.comparison)
    return f"{sign} {100 * bound.value:g} %" if form == "percent" else f"{sign} {bound.number}"


def bands(
    trends: Trends,
    title: str,
    split: Split,
    counts: Sequence[Counts],
    view: ViewState,
    *,
    more: Sequence[Mapping[str, str]] = (),
) -> tuple[tuple[Line, ...], Grid]:
    """Return the values of each run's questions as shares of the questions that have any, and as a table.

    `counts` has an entry per run, `more` a further line of the hover by run and value. A value that no run
    has is in the table alone.
    """
    noun = "traces" if split is BY_STATE else "questions"
    points: dict[str, list[Point]] = {value: [] for value in split.looks}
    rows = []
    for place, (run, found) in enumerate(zip(trends.runs, counts, strict=True)):
        whole = sum(found.get(value, 0) for value in split.looks)
        cells = []
        for value, look in split.looks.items():
            count = found.get(value, 0)
            share = share_in_words(count, whole) if whole else ""
            about = f"{split.names[value]}: {count:,} of {whole:,}"
            before = more[place].get(value, "") if more else ""
            words = (_run_words(run), f"{about}, {share}" if share else about, before)
            lines = (*filter(None, words), f"A click lists the {noun}.")
            chosen = ((split.field, (value,)), ("all_variants", split is BY_STATE))
            href = _list_address(view.with_nothing_chosen(), run.run_id, chosen) if count else ""
            part = Point(count / whole if whole else 0.0, lines=lines, target=href, label=f"{count:,}")
            points[value].append(part)
            spoken = f"{run.run_id}, {about} {noun}, list them"
            if count:
                cells.append(Cell(f"{count:,}", note=share, look=look, href=href, spoken=spoken))
            else:
                cells.append(Cell("0", look="quiet"))
        rows.append(Row(_head(run), (*cells, Cell(f"{found.get(None, 0):,}", look="quiet"))))
    columns = [Column(Cell(split.names[value], tip=value), "end") for value in split.looks]
    columns += [Column(Cell(split.none), "end")]
    drawn = tuple(
        Line(split.names[value], split.looks[value], tuple(parts))
        for value, parts in points.items()
        if any(part.value for part in parts)
    )
    return drawn, Grid(title, "Run", tuple(columns), tuple(rows), wide=False)


def flows(runs: Sequence[str], known: Ranks) -> tuple[Mapping[str, str], ...]:
    """Return, for each run and bucket, the buckets of its questions in the run before."""
    found: list[Mapping[str, str]] = [{}]
    for was, now in pairwise(runs):
        steps = known.steps(was, now)
        came = {
            bucket: ", ".join(
                f"{steps[before, bucket]:,} {BUCKET_NAMES[before] if before else 'not judged'}"
                for before in (*BUCKETS, None)
                if steps[before, bucket]
            )
            for bucket in BUCKETS
        }
        found.append({bucket: f"in {was}: {words}" for bucket, words in came.items() if words})
    return tuple(found)
