"""Figures over the runs: lines of a number with its intervals and goals, and bars of shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import plotly.graph_objects as go

from proofspan.charts.theme import (
    Hue,
    Palette,
    hover,
    layout,
    plain,
    run_axis,
    value_axis,
)

#: How a value is written on its axis: in whole percent, as a number of 0–1, in milliseconds.
Form = Literal["percent", "number", "ms"]
_FORMS = {"number": ".2f", "ms": ",.0f"}
_TITLES: dict[Form, str] = {"percent": "share", "number": "0 to 1", "ms": "ms"}
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross")
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
HEIGHT = 250
#: That of bars with many parts, which a column of names is beside.
TALL = 290
#: Up to this many points are drawn large.
MOST_LARGE = 15
#: Up to this many lines have intervals, each a little beside the other's.
MOST_WITH_INTERVALS, APART = 2, 0.09
#: A longer legend is a column beside the bars: above them it would take their room.
MOST_ABOVE = 4


@dataclass(frozen=True, slots=True)
class Point:
    """A run's number: `value` with its interval, None where it has none, and the `lines` of its hover.

    A click on the point sends `target`. In a bar, `value` is a share in 0–1 and `label` the text inside.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    lines: tuple[str, ...] = ()
    target: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One number over the runs: a point per run. Of bars, the first line is at the bottom."""

    name: str
    hue: Hue
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A line over all runs at `value`: a goal, or dotted the bound of a warning."""

    value: float
    hue: Hue = "gray"
    is_goal: bool = True


def line_figure(
    runs: Sequence[str],
    lines: Sequence[Line],
    *,
    palette: Palette,
    rules: Sequence[Rule] = (),
    shown: int | None = None,
    form: Form = "percent",
) -> go.Figure:
    """Build the lines over the runs; they differ in dash and symbol as well as in colour.

    `customdata` of a point holds its target alone. A run without a number leaves a gap.
    """
    if form == "percent":
        axis = value_axis(palette, top=1.04, form="percent", title=_TITLES[form])
    else:  # from 0 to a little above the largest number and goal
        ends = [end for line in lines for point in line.points for end in (point.value, point.high) if end]
        top = 1.12 * max([*ends, *(rule.value for rule in rules)], default=1.0)
        axis = value_axis(palette, top=top, form=_FORMS[form], title=_TITLES[form])
    return go.Figure(
        data=[_trace(line, place, palette, of=len(lines)) for place, line in enumerate(lines)],
        layout=layout(
            palette,
            height=HEIGHT,
            legend="above" if len(lines) > 1 else None,
            xaxis=run_axis([plain(run) for run in runs], palette, shown=shown),
            yaxis=axis,
            shapes=[
                {
                    "type": "line",
                    "xref": "paper",
                    "x0": 0,
                    "x1": 1,
                    "y0": rule.value,
                    "y1": rule.value,
                    "layer": "below",
                    "line": {
                        "color": palette.hue(rule.hue),
                        "width": 1.5,
                        "dash": "dash" if rule.is_goal else "dot",
                    },
                }
                for rule in rules
            ],
        ),
    )


def _trace(line: Line, place: int, palette: Palette, *, of: int) -> go.Scatter:
    colour, points = palette.hue(line.hue), line.points
    aside = APART * (place - (of - 1) / 2) if of <= MOST_WITH_INTERVALS else 0.0
    ends = [
        (point.value - point.low, point.high - point.value)
        if point.value is not None and point.low is not None and point.high is not None
        else (0.0, 0.0)
        for point in points
    ]
    intervals = {
        "type": "data",
        "symmetric": False,
        "array": [above for _, above in ends],
        "arrayminus": [below for below, _ in ends],
        "color": colour,
        "thickness": 1.2,
        "width": 5,
    }
    return go.Scatter(
        name=plain(line.name),
        x=[at + aside for at in range(len(points))],
        y=[point.value for point in points],
        error_y=intervals if of <= MOST_WITH_INTERVALS and any(map(any, ends)) else None,
        mode="lines+markers",
        line={"color": colour, "width": 2, "dash": _DASHES[place % len(_DASHES)]},
        marker={
            "color": colour,
            "size": 9 if len(points) <= MOST_LARGE else 6,
            "symbol": _SYMBOLS[place % len(_SYMBOLS)],
        },
        unselected={"marker": {"opacity": 1}},
        connectgaps=False,
        hoverinfo="text",
        hovertext=[hover(point.lines) for point in points],
        customdata=[[point.target] for point in points],
    )


#: Narrower parts do not hold their number.
LEAST_WITH_TEXT = 0.06


def stack_figure(
    runs: Sequence[str],
    bands: Sequence[Line],
    *,
    palette: Palette,
    shown: int | None = None,
    height: int = HEIGHT,
) -> go.Figure:
    """Build a bar of 100 % per run, its parts with their counts in them.

    `customdata` of a part holds its target alone.
    """
    is_crowded, width = len(runs) > 15, 0.72 * min(1.0, len(runs) / 4)
    return go.Figure(
        data=[
            go.Bar(
                name=plain(band.name),
                x=list(range(len(band.points))),
                width=width,
                y=[part.value for part in band.points],
                marker={"color": palette.hue(band.hue), "line": {"color": palette.ground, "width": 1}},
                selected={"marker": {"opacity": 1}},
                unselected={"marker": {"opacity": 1}},
                text=[
                    "" if is_crowded or (part.value or 0) < LEAST_WITH_TEXT else part.label
                    for part in band.points
                ],
                textposition="inside",
                insidetextanchor="middle",
                insidetextfont={"color": palette.ink(band.hue)},
                textangle=0,
                hoverinfo="text",
                hovertext=[hover(part.lines) for part in band.points],
                customdata=[[part.target] for part in band.points],
            )
            for band in bands
        ],
        layout=layout(
            palette,
            height=height,
            legend="beside" if len(bands) > MOST_ABOVE else "above",
            barmode="stack",
            xaxis=run_axis([plain(run) for run in runs], palette, shown=shown),
            yaxis=value_axis(palette, top=1.0, form="percent", title=_TITLES["percent"]),
            uniformtext={"minsize": 10, "mode": "hide"},
        ),
    )
