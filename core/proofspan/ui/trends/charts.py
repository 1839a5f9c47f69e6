"""The figures of Trends: each with a sentence that says what it shows, and its numbers as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from proofspan.charts.figures import HEIGHT, TALL, Form, Line, Point, Rule, line_figure, stack_figure
from proofspan.charts.theme import Hue
from proofspan.contracts.records.records import LABELS
from proofspan.display_names import BUCKET_NAMES
from proofspan.metrics.catalogue import METRICS, Metric
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
from proofspan.ui.widgets.fold import fold
from proofspan.ui.widgets.markup import Piece
from proofspan.ui.widgets.table import Cell, Column, Grid, Row, explained
from proofspan.wording import counted


class _States(Split):
    """The states of λ, which one entry explains."""

    def term(self, value: str | None) -> str:
        """Return the entry of λ."""
        return "term.λ" if value else ""


BY_STATE = _States(
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


def figures(trends: Trends, view: ViewState, ranks: Callable[[], Ranks]) -> None:
    """Draw headline metrics, causes and buckets over the runs; labels and what is logged behind a fold.

    What lies below the first row is made when it comes into view. `ranks` returns those of all runs.
    """
    lines, stack, runs = partial(_lines, trends, view), partial(_stack, trends, view), trends.runs

    def rest() -> None:
        with side_by_side("rest"):
            about = _about("Shares of the questions that have a label.")
            stack("labels", "Labels", about, BY_LABEL, lambda: [run.labels for run in runs])
            about = _about(
                "How much of the {gold passage} and of {its section} the cited chunks cover, 0 to 1.",
                "metric.anchor_coverage",
                "metric.section_coverage",
            )
            lines("coverage", "Coverage", about, {"anchor_coverage": "accent", "section_coverage": "blue"})
            about = _about(
                "{ΔS}: the logged semantic distance between question and context, 0 to 1; lower is better. "
                "Its {mean}, and what {19 of 20} questions have at most.",
                *("term.ΔS", "metric.delta_s_mean", "metric.delta_s_p95"),
            )
            lines(
                "delta-s",
                "Semantic distance (ΔS)",
                about,
                {"delta_s_mean": "violet", "delta_s_p95": "orange"},
            )
            about = _about(
                "{λ}: how the pipeline's answers behaved under paraphrase, as it logged them, all traces.",
                "term.λ",
            )
            stack("states", "Stability (λ)", about, BY_STATE, lambda: [run.measured.states for run in runs])
            about = _about(
                "Milliseconds per question: half of the questions took at most {p50}, "
                "19 of 20 at most {p95}.",
                *("metric.latency_p50", "metric.latency_p95"),
            )
            lines("latency", "Latency", about, {"latency_p50": "accent", "latency_p95": "orange"})

    with side_by_side("headlines"):
        lines(
            "retrieval",
            "Retrieval",
            _about(
                "Is the {first candidate} in the gold section, and one of the {first 20}?",
                *("metric.section_match_at_1", "metric.gt_in_top_20"),
            ),
            {"section_match_at_1": "accent", "gt_in_top_20": "blue"},
            at_once=True,
        )
        lines(
            "answers",
            "Answers",
            _about(
                "Which {answers are correct}, and which {cite the gold passage}?",
                *("metric.correct_answers", "metric.citation_match"),
            ),
            {"correct_answers": "green", "citation_match": "orange"},
            at_once=True,
        )
    with side_by_side("outcomes"):
        about = _about("Where questions fail first.")
        stack("causes", "Causes", about, BY_CAUSE, lambda: [run.causes for run in runs])
        about = _about("Where the gold passage ranks, in shares of the judged questions.")
        more = lambda: flows([run.run_id for run in runs], ranks())  # noqa: E731
        stack("buckets", "Buckets", about, BY_BUCKET, lambda: [run.buckets for run in runs], more=more)
    fold("charts", "More charts: labels, coverage, semantic distance, stability, latency", rest)


_about = partial(markup.explained, kind="muted")


def side_by_side(name: str) -> DeltaGenerator:
    """Return a row of boxes, which wraps in a narrow window."""
    return st.container(key=f"trend-charts-{name}")


def _lines(
    trends: Trends,
    view: ViewState,
    name: str,
    title: str,
    about: Sequence[Piece],
    hues: Mapping[str, Hue],
    *,
    at_once: bool = False,
) -> None:
    found = [one for one in hues if any(run.value(one) is not None for run in trends.runs)]
    goals = trends.current.measured.goals
    form = form_of(next(iter(hues)))
    with panel(name, title, [*about, Piece(goal_words(goals, found), "muted")]):
        lost = [METRICS[one].name for one in hues if _is_unavailable(trends.current, one)]
        if lost:
            markup.note(f"Not available for {trends.current.run_id}: {', '.join(lost)}.")
        if not found:
            _nothing([METRICS[one].name for one in hues])
            return
        if not lost:
            _few(sum(any(run.value(one) is not None for one in found) for run in trends.runs), trends)
        values = [trends.current.measured.values[one] for one in found]
        numbers = ", ".join(f"{each.metric.name} {value_in_words(each)}" for each in values)
        show_chart(
            lambda: line_figure(
                [run.run_id for run in trends.runs],
                [metric_line(trends, one, hues[one], view) for one in found],
                rules=rules(goals, {one: hues[one] for one in found}),
                palette=palette(),
                shown=trends.shown,
                form=form,
            ),
            name=name,
            alt=_alt(title, trends, numbers),
            table=lambda: line_table(trends, found, view, name=title),
            at_once=at_once,
        )


def _stack(
    trends: Trends,
    view: ViewState,
    name: str,
    title: str,
    about: Sequence[Piece],
    split: Split,
    counts: Callable[[], Sequence[Counts]],
    *,
    more: Callable[[], Sequence[Mapping[str, str]]] = tuple,
) -> None:
    found = counts()
    shown = [sum(each.get(value, 0) for value in split.looks) for each in found]
    term = "" if split is BY_STATE else f"term.{split.field}"
    has_value = [value for value in split.looks if any(each.get(value) for each in found)]
    with panel(name, title, about, term=term, also=filter(None, map(split.term, has_value))):
        if not any(shown):
            _nothing([title])
            return
        _few(sum(map(bool, shown)), trends)
        current = found[trends.shown]
        numbers = ", ".join(
            f"{current[value]:,} {split.names[value]}" for value in split.looks if current.get(value)
        )
        show_chart(
            lambda: stack_figure(
                [run.run_id for run in trends.runs],
                bands(trends, split, found, view, more=more()),
                palette=palette(),
                shown=trends.shown,
                height=TALL if split is BY_CAUSE else HEIGHT,
            ),
            name=name,
            alt=_alt(title, trends, numbers),
            table=lambda: band_table(trends, title, split, found, view),
            at_once=False,
        )


def _few(measured: int, trends: Trends) -> None:
    """Explain a chart that is empty for some of the runs."""
    if measured < len(trends.runs):
        without = counted(len(trends.runs) - measured, "run")
        markup.note(f"{without} of {len(trends.runs):,} without a value: nothing to count there.", "muted")


def _is_unavailable(run: RunTrend, metric_id: str) -> bool:
    """Return whether a number exists that cannot be counted here, for want of labels for instance."""
    value = run.measured.values.get(metric_id)
    return value is not None and value.value is None and missing_in_words(value) == NOT_AVAILABLE


def _alt(title: str, trends: Trends, numbers: str) -> str:
    """Return what a screen reader says of a figure: the numbers of the shown run."""
    return f"{title} over {counted(len(trends.runs), 'run')}; {trends.current.run_id}: {numbers}"


def _nothing(names: Sequence[str]) -> None:
    markup.note(f"No run has a value for {', '.join(names)}; All metrics gives the reason.")


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

    columns = tuple(
        Column(explained(METRICS[metric_id].name, f"metric.{metric_id}"), "end") for metric_id in metric_ids
    )
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


def rules(goals: Mapping[str, Goal], hues: Mapping[str, Hue]) -> tuple[Rule, ...]:
    """Return the goals of these metrics as lines in their colours: the passing bound, and the warning one.

    Of two goals at one place the first is drawn.
    """
    found: dict[float, Rule] = {}
    for metric_id, hue in hues.items():
        goal = goals.get(metric_id)
        for bound, is_goal in ((goal.passes, True), (goal.warns, False)) if goal else ():
            if bound is not None:
                found.setdefault(bound.value, Rule(bound.value, hue, is_goal))
    return tuple(found.values())


def goal_words(goals: Mapping[str, Goal], metric_ids: Iterable[str]) -> str:
    """Return ` Dashed: the goals, Citation match ≥ 95 %, Anchor coverage ≥ 0.70.`; "" without goals.

    A warning's bound is dotted.
    """
    found = [(METRICS[one], goals[one]) for one in metric_ids if one in goals]
    if not found:
        return ""
    words = ", ".join(f"{metric.name} {bound_words(metric, goal.passes)}" for metric, goal in found)
    warns = ", ".join(bound_words(metric, goal.warns) for metric, goal in found if goal.warns)
    dotted = f"; up to the dotted line, {warns}, only a warning" if warns else ""
    return f" Dashed: the goal{'s' * (len(found) > 1)}, {words}{dotted}."


def bound_words(metric: Metric, bound: Bound) -> str:
    """Return `≥ 70 %` of a share, `≤ 0.45` of other numbers: as the metric's values are written."""
    sign = {">=": "≥", "<=": "≤", "==": "="}.get(bound.comparison, bound.comparison)
    return f"{sign} {bound.limit(metric)}"


def form_of(metric_id: str) -> Form:
    """Return how a metric's numbers are written on an axis."""
    metric = METRICS[metric_id]
    return "percent" if metric.is_percent else "ms" if metric.unit == "ms" else "number"


def bands(
    trends: Trends,
    split: Split,
    counts: Sequence[Counts],
    view: ViewState,
    *,
    more: Sequence[Mapping[str, str]] = (),
) -> tuple[Line, ...]:
    """Return the values of each run's questions as shares of the questions that have any.

    `counts` has an entry per run, `more` a further line of the hover by run and value. A value that no run
    has is left out.
    """
    noun = _noun(split)
    drawn = []
    for value, look in split.looks.items():
        points = []
        for place, (run, found) in enumerate(zip(trends.runs, counts, strict=True)):
            count, whole = found.get(value, 0), sum(found.get(each, 0) for each in split.looks)
            about = f"{split.names[value]}: {count:,} of {whole:,}"
            about += f", {share_in_words(count, whole)}" if whole else ""
            before = more[place].get(value, "") if more else ""
            lines = (*filter(None, (_run_words(run), about, before)), f"A click lists the {noun}.")
            href = _band_address(view, run, split, value) if count else ""
            share = count / whole if whole else 0.0
            points.append(Point(share, lines=lines, target=href, label=f"{count:,}"))
        if any(point.value for point in points):
            drawn.append(Line(split.names[value], look, tuple(points)))
    return tuple(drawn)


def band_table(trends: Trends, title: str, split: Split, counts: Sequence[Counts], view: ViewState) -> Grid:
    """Return the same as a table: a row per run, a column per value, those that no run has included."""
    rows = []
    for run, found in zip(trends.runs, counts, strict=True):
        whole, cells = sum(found.get(value, 0) for value in split.looks), []
        for value, look in split.looks.items():
            if not (count := found.get(value, 0)):
                cells.append(Cell("0", look="quiet"))
                continue
            href = _band_address(view, run, split, value)
            spoken = f"{run.run_id}, {split.names[value]}: {count:,} of {whole:,} {_noun(split)}, list them"
            share = share_in_words(count, whole)
            cells.append(Cell(f"{count:,}", note=share, look=look, href=href, spoken=spoken))
        rows.append(Row(_head(run), (*cells, Cell(f"{found.get(None, 0):,}", look="quiet"))))
    columns = [
        Column(explained(split.names[value], split.term(value), tip=value), "end") for value in split.looks
    ]
    columns += [Column(Cell(split.none), "end")]
    return Grid(title, "Run", tuple(columns), tuple(rows), wide=False)


def _noun(split: Split) -> str:
    return "traces" if split is BY_STATE else "questions"


def _band_address(view: ViewState, run: RunTrend, split: Split, value: str) -> str:
    chosen = ((split.field, (value,)), ("all_variants", split is BY_STATE))
    return _list_address(view.with_nothing_chosen(), run.run_id, chosen)


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
