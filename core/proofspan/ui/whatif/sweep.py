"""A sweep: one metric over the values of one setting, as a figure and as a table."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import streamlit as st

from proofspan.charts.sweep import SweepMark, sweep_figure
from proofspan.metrics.catalogue import METRICS, Metric
from proofspan.metrics.values import (
    counted_in_words,
    difference_in_words,
    interval_in_words,
    number_in_words,
    value_in_words,
)
from proofspan.services.compare import p_words
from proofspan.services.whatif.lists import Lists
from proofspan.services.whatif.params import RANGES
from proofspan.services.whatif.sweep import with_value
from proofspan.services.whatif.types import Logged, Settings, Sweep, SweepPoint, Swept, WhatIf
from proofspan.ui.visit.view_state import ViewState
from proofspan.ui.whatif import load
from proofspan.ui.whatif.asked import Asked, change_asked, logged_weight
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.chart import palette, show_chart
from proofspan.ui.widgets.controls import feed, select
from proofspan.ui.widgets.markup import Piece
from proofspan.ui.widgets.table import Cell, Column, Grid, Look, Row
from proofspan.ui.wording.whatif import number

#: The most values of a sweep.
MOST_VALUES = 20
#: The usual range of each setting; that of ranks ends at the longest logged list.
_RANGES: dict[Swept, tuple[float, float]] = {
    "k": (1, 200),
    "weight": (0, 3),
    "depth": (1, 200),
    "top": (1, 50),
    "rerank": (0, 3),
    "prompt": (1, 20),
    "support": (0.1, 0.9),
}
_STEPS = (1, 2, 3, 5, 8)
#: What settings after the ranking change.
_METRICS: Mapping[Swept, str] = {"prompt": "ok", "support": "grounded_answers"}
#: The settings that count something.
_WHOLE = tuple(name for name, within in RANGES.items() if within.is_whole)


def titles(logged: Logged, settings: Settings, *, is_checked: bool) -> dict[tuple[Swept, str], str]:
    """Return the settings of a run that can be swept, by setting and list, with their titles.

    The weight of a score matters only beside others that have one.
    """
    found: dict[tuple[Swept, str], str] = {}
    if len(logged.lists) > 1:
        found |= {("k", ""): "RRF k"}
        found |= {("weight", each.name): f"Weight of {each.name}" for each in logged.lists}
        found |= {("depth", ""): "Depth of each list", ("top", ""): "Candidates kept"}
    for each in logged.features:
        if any(weight for name, weight in settings.rerank if name != each.name):
            found[("rerank", each.name)] = f"Weight of the score {each.name}"
    found |= {("prompt", ""): "Chunks in the prompt"}
    return found | ({("support", ""): "Least support"} if is_checked else {})


def _axis(swept: Swept, title: str) -> str:
    units: dict[Swept, str] = {
        "k": "the constant of 1 / (k + rank)",
        "weight": "1 is the usual weight",
        "depth": "ranks",
        "top": "candidates",
        "rerank": "in the sum of normalised scores",
        "prompt": "chunks",
        "support": "0 to 1",
    }
    return f"{title} ({units[swept]})"


def values_of(
    swept: Swept, low: float, high: float, besides: Sequence[float | None] = ()
) -> tuple[float, ...]:
    """Return at most 20 values from `low` to `high`, and those of `besides` that lie in the range.

    Few whole numbers are all tried; k and long ranges of ranks go by 1, 2, 3, 5, 8, 10, the others evenly.
    """
    if swept in _WHOLE and high - low < MOST_VALUES:
        found = {float(value) for value in range(int(low), int(high) + 1)}
    elif swept == "k" or swept in _WHOLE:
        steps = (step * 10.0**power for power in range(-1, 7) for step in _STEPS)
        found = {low, high, *(step for step in steps if low < step < high)}
    else:
        count = 12
        found = {round(low + (high - low) * place / count, 4) for place in range(count + 1)}
    found |= {float(value) for value in besides if value is not None and low <= value <= high}
    return tuple(sorted(round(value) if swept in _WHOLE else value for value in found))


def own_value(swept: Swept, of: str, settings: Settings) -> float | None:
    """Return the value of a setting, None where it is not known or not set."""
    if swept == "weight":
        return dict(settings.weights).get(of)
    if swept == "rerank":
        return dict(settings.rerank).get(of)
    value: float | None = getattr(settings, swept)
    return value


def logged_value(swept: Swept, of: str, logged: Logged) -> float | None:
    """Return the value that a run logs, where it is known."""
    if swept == "weight":
        return logged_weight(logged.settings, of)
    return own_value(swept, of, logged.settings)


def panel(key: Hashable, found: Lists, result: WhatIf, asked: Asked, view: ViewState) -> None:
    """Draw the choice of setting, range and metric, the figure, and what its points come to."""
    logged = result.logged
    offered = titles(logged, result.settings, is_checked=found.is_checked)
    metrics = {pair.metric.metric_id: pair.metric.name for pair in result.pairs}
    with st.container(border=True, key="figure-sweep"):
        markup.show(
            markup.text([Piece("Sweep", "h2")], role="line"),
            markup.text(
                [Piece("One setting over a range, the others as they are set.", "muted")], role="hint"
            ),
        )
        if not metrics:
            markup.note("There is no metric to draw.", "muted")
            return
        chosen: tuple[Swept, str] | None = (asked.swept, asked.of) if asked.swept else None
        if chosen is not None and chosen not in offered:
            markup.note(
                f"This sweep does not apply to {view.run} with these settings: {asked.swept} {asked.of}.",
                "muted",
            )
            chosen = None
        if chosen is None and logged.questions <= load.SWEPT_AT_ONCE:
            chosen = next(iter(offered))
        metric = METRICS[asked.metric if asked.metric in metrics else _usual_metric(chosen, metrics)]
        ends = _range(asked, chosen[0], logged) if chosen else (0.0, 0.0)
        _choices(asked, offered, chosen, ends, metrics, metric)
        if chosen is None:
            markup.note("Choose a setting to try its values.", "muted")
            return
        swept, of = chosen
        now = own_value(swept, of, result.settings)
        own = logged_value(swept, of, logged)
        values = values_of(swept, *ends, (own, now))
        drawn = load.sweep(key, found, result.settings, swept, of, values, metric.metric_id)
        if drawn is not None:
            _draw(
                drawn,
                metric,
                offered[chosen],
                asked,
                view,
                own=own,
                now=now,
                is_reranked=load.is_reranked(found),
            )


def _usual_metric(chosen: tuple[Swept, str] | None, known: Mapping[str, str]) -> str:
    """Return the metric that a setting is tried for: its own, else SectionMatch@1, else the first."""
    wanted = [*([_METRICS.get(chosen[0], "")] if chosen else []), "section_match_at_1"]
    return next((name for name in wanted if name in known), next(iter(known)))


def _range(asked: Asked, swept: Swept, logged: Logged) -> tuple[float, float]:
    """Return the range that is asked for, else the usual one; the ends in order, and above 0 where 0 has no
    meaning.
    """
    low, high = _RANGES[swept]
    if swept in ("depth", "top"):
        longest = max((each.longest for each in (*logged.lists, *logged.features)), default=0)
        high = longest or high
    low = asked.low if asked.low is not None else low
    high = asked.high if asked.high is not None else high
    low, high = min(low, high), max(low, high)
    if swept in _WHOLE:
        low, high = max(1, round(low)), max(1, round(high))
    elif swept == "k":
        low = max(low, 0.1)
    return min(low, RANGES[swept].high), min(high, RANGES[swept].high)


def _choices(
    asked: Asked,
    offered: dict[tuple[Swept, str], str],
    chosen: tuple[Swept, str] | None,
    ends: tuple[float, float],
    metrics: dict[str, str],
    metric: Metric,
) -> None:
    def choose(named: tuple[Swept, str]) -> None:
        change_asked(asked.now().change(swept=named[0], of=named[1], low=None, high=None))

    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="sweep-choices"):
        select(
            "Setting",
            offered,
            chosen,
            key="sweep-setting",
            width=230,
            placeholder="Choose a setting …",
            is_clearable=chosen is None,
            shows_words=True,
            on_choose=lambda named: choose(named) if named else None,
        )
        if chosen is not None:
            _end(asked, chosen[0], "low", "From", ends[0])
            _end(asked, chosen[0], "high", "To", ends[1])
        select(
            "Metric",
            metrics,
            metric.metric_id,
            key="sweep-metric",
            width=210,
            shows_words=True,
            on_choose=lambda name: change_asked(asked.now().change(metric=name)),
        )


def _end(asked: Asked, swept: Swept, name: str, title: str, value: float) -> None:
    """Draw the field of one end of the range."""
    key, kind = f"sweep-{name}-{swept}", int if swept in _WHOLE else float
    feed(key, kind(value))
    st.number_input(
        title,
        min_value=kind(1 if swept in _WHOLE else 0),
        max_value=kind(RANGES[swept].high),
        step=kind(1 if swept in ("k", *_WHOLE) else 0.1),
        format=None if swept in _WHOLE else "%g",
        key=key,
        width=112,
        on_change=lambda: change_asked(asked.now().change(**{name: float(st.session_state[key])})),
    )


#: The settings that decide nothing at rank 1 while a reranker orders the fused list.
_BEFORE_RERANKING: tuple[Swept, ...] = ("k", "weight", "depth", "top")


def _draw(
    drawn: Sweep,
    metric: Metric,
    title: str,
    asked: Asked,
    view: ViewState,
    *,
    own: float | None,
    now: float | None,
    is_reranked: bool,
) -> None:
    """Draw the figure, how many settings were tried, and which of them differ by more than chance."""
    if all(point.metric.value is None for point in drawn.points):
        markup.note(f"{metric.name} has nothing to count in this run.", role="line")
        return
    denominators = {point.metric.denominator for point in drawn.points}
    of = f"{max(denominators):,} {metric.of}" if len(denominators) == 1 else metric.of
    unit = " in ms" if metric.unit == "ms" else ""
    figure = sweep_figure(
        [_mark(drawn, point, asked, view, title) for point in drawn.points],
        palette=palette(),
        x_title=_axis(drawn.swept, title),
        y_title=f"{metric.name}{unit}, of {of}",
        is_share=metric.is_percent,
        logged=own,
        now=now,
    )
    best = _best(drawn, metric)
    show_chart(
        lambda: figure,
        name="sweep",
        alt=f"{metric.name} by {title}. {best}",
        table=lambda: _table(drawn, title, asked, view),
    )
    markup.note(f"{best} {drawn.sentence}", role="line")
    if (
        is_reranked
        and drawn.swept in _BEFORE_RERANKING
        and not (asked.settings.rerank or asked.settings.is_unranked)
    ):
        markup.note(
            "The logged reranker orders what fusion keeps. Switch it off under Rerank to see the fused order."
        )
    markup.note("The band is the 95 % interval of each number. A click on a point takes its value.", "muted")


def _best(drawn: Sweep, metric: Metric) -> str:
    """Return which value gives the best number, the first of equal ones."""
    known = [point for point in drawn.points if point.metric.value is not None]
    if metric.better is None or not known:
        return ""
    ends = [point.metric.value or 0.0 for point in known]
    end = max(ends) if metric.better == "higher" else min(ends)
    places = [place for place, value in enumerate(ends) if value == end]
    words, values = number_in_words(metric, end), [number(known[place].value) for place in places]
    if len(places) == len(known):
        return f"{metric.name} is {words} at every value."
    if len(places) < 4:
        listed = " and ".join([*filter(None, [", ".join(values[:-1])]), values[-1]])
        return f"Best: {words} at {listed}."
    if places[-1] - places[0] + 1 == len(places):
        return f"Best: {words} at all values from {values[0]} to {values[-1]}."
    return f"Best: {words} at {len(places)} of {len(known)} values, first at {values[0]}."


def _mark(drawn: Sweep, point: SweepPoint, asked: Asked, view: ViewState, title: str) -> SweepMark:
    metric = point.metric.metric
    lines = (
        f"{title}: {number(point.value)}{', as logged' if point.is_logged else ''}",
        f"{metric.name}: {value_in_words(point.metric)}",
        _difference(point),
        "A click takes this value.",
    )
    return SweepMark(
        point.value,
        point.metric.value,
        point.metric.low,
        point.metric.high,
        tuple(filter(None, lines)),
        _address(drawn, point, asked, view),
        point.is_clear,
        _is_better(point),
    )


def _is_better(point: SweepPoint) -> bool | None:
    mean, metric = point.difference, point.metric.metric
    if mean is None or not mean.mean or metric.better is None:
        return None
    return (mean.mean > 0) == (metric.better == "higher")


def _difference(point: SweepPoint) -> str:
    """Return `+5 pts (−3 to +14), p = 0.125, within chance`; "" for the logged value."""
    mean, metric = point.difference, point.metric.metric
    if mean is None or point.is_logged:
        return ""
    ends = (difference_in_words(metric, end, with_unit=False) for end in (mean.low, mean.high))
    p = f", {p_words(point.p)}" if point.p is not None else ""
    chance = "beyond chance" if point.is_clear else "within chance"
    return f"{difference_in_words(metric, mean.mean)} ({' to '.join(ends)}){p}, {chance}"


def _address(drawn: Sweep, point: SweepPoint, asked: Asked, view: ViewState) -> str:
    """Return the address of this page with the value of a point set."""
    if point.is_logged:
        return view.change(what_if=_as_logged(drawn, asked).params()).link("whatif")
    settings = with_value(asked.settings, drawn.swept, drawn.name, point.value)
    taken = asked.change(settings=settings, saved="")
    return view.change(what_if=taken.params()).link("whatif")


def _as_logged(drawn: Sweep, asked: Asked) -> Asked:
    if drawn.swept == "weight":
        return asked.change(weights=tuple(each for each in asked.settings.weights if each[0] != drawn.name))
    return asked.without(drawn.swept)


def _table(drawn: Sweep, title: str, asked: Asked, view: ViewState) -> Grid:
    """Return the points as rows; a value is a link that takes it."""
    rows = []
    for point in drawn.points:
        words = f"{number(point.value)}{' (logged)' if point.is_logged else ''}"
        clear = _is_better(point)
        look: Look = "" if not point.is_clear or clear is None else "green" if clear else "red"
        head = Cell(
            words, href=_address(drawn, point, asked, view), spoken=f"{title} {words}: take this value"
        )
        value = Cell(
            number_in_words(point.metric.metric, point.metric.value),
            note=" · ".join(filter(None, (counted_in_words(point.metric), interval_in_words(point.metric)))),
        )
        rows.append(Row(head, (value, Cell(_difference(point) or "–", look=look))))
    metric = METRICS[drawn.metric_id]
    columns = (Column(Cell(metric.name), "end"), Column(Cell("Difference from the logged run"), "start"))
    return Grid(f"{metric.name} by {title}", title, columns, tuple(rows), wide=False)
