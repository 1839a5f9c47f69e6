"""A metric over the values of one setting, with its interval as a band and the differences beyond chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10

import plotly.graph_objects as go

from proofspan.charts.theme import SMALL_SIZE, Hue, Palette, hover, layout, plain, value_axis

HEIGHT = 330
#: From this ratio of the largest to the smallest value on, an axis is logarithmic.
LOG_RATIO = 20
#: The colour of the metric, and of a difference beyond chance by whether it is better; None where neither is.
HUE: Hue = "accent"
_BEYOND: dict[bool | None, tuple[str, Hue]] = {
    True: ("better", "green"),
    False: ("worse", "red"),
    None: ("differs", "violet"),
}


@dataclass(frozen=True, slots=True)
class SweepMark:
    """A tried value `x`: the metric `y` with its interval (None: nothing to count), the `lines` of its hover.

    `is_clear` where the difference from the logged run is larger than chance, `is_better` its direction. A
    click sends `target`.
    """

    x: float
    y: float | None
    low: float | None
    high: float | None
    lines: tuple[str, ...]
    target: str
    is_clear: bool = False
    is_better: bool | None = None


def sweep_figure(
    marks: Sequence[SweepMark],
    *,
    palette: Palette,
    x_title: str,
    y_title: str,
    is_share: bool,
    logged: float | None = None,
    now: float | None = None,
) -> go.Figure:
    """Build the line with its band; vertical lines at the `logged` value and at the one that is set `now`.

    Points beyond chance are larger diamonds with a word at the first of each row of them.
    """
    xs = [mark.x for mark in marks]
    is_log = min(xs, default=0) > 0 and max(xs) / min(xs) >= LOG_RATIO
    known = [mark for mark in marks if mark.y is not None]
    colour = palette.hue(HUE)
    figure = go.Figure(layout=layout(palette, height=HEIGHT, legend="above"))
    band = [mark for mark in known if mark.low is not None and mark.high is not None]
    if band:
        figure.add_scatter(
            name="95 % interval",
            x=[*(mark.x for mark in band), *(mark.x for mark in reversed(band))],
            y=[*(mark.high for mark in band), *(mark.low for mark in reversed(band))],
            fill="toself",
            fillcolor=_faint(colour),
            line={"width": 0},
            mode="lines",
            hoverinfo="skip",
        )
    figure.add_scatter(
        name=plain(y_title.partition(",")[0]),
        x=xs,
        y=[mark.y for mark in marks],
        mode="lines+markers",
        line={"color": colour, "width": 2},
        marker={"color": colour, "size": 8, "symbol": "circle"},
        unselected={"marker": {"opacity": 1}},
        connectgaps=False,
        hoverinfo="text",
        hovertext=[hover(mark.lines) for mark in marks],
        customdata=[[mark.target] for mark in marks],
    )
    for is_better, (word, hue) in _BEYOND.items():
        _add_clear(figure, marks, palette, is_better=is_better, word=word, hue=hue)
    lines = [(logged, f"logged {logged:.12g}", "dash")] if logged is not None else []
    lines += [(now, f"now {now:.12g}", "dot")] if now is not None and now != logged else []
    figure.update_layout(
        margin={"l": 8, "r": 16, "t": 58, "b": 8},
        legend_y=1.08,
        xaxis=_x_axis(xs, palette, title=x_title, is_log=is_log),
        yaxis=_y_axis(known, palette, title=y_title, is_share=is_share),
        shapes=[
            {
                "type": "line",
                "yref": "paper",
                "x0": x,
                "x1": x,
                "y0": 0,
                "y1": 1,
                "layer": "below",
                "line": {"color": palette.small, "width": 1.5, "dash": dash},
            }
            for x, _, dash in lines
        ],
        annotations=[
            {
                "x": log10(x) if is_log else x,  # of a logarithmic axis unlike a shape's
                "yref": "paper",
                "y": 1,
                "yanchor": "bottom",
                "text": plain(words),
                "showarrow": False,
                "font": {"size": SMALL_SIZE, "color": palette.small},
            }
            for x, words, _ in lines
        ],
    )
    return figure


def _add_clear(
    figure: go.Figure,
    marks: Sequence[SweepMark],
    palette: Palette,
    *,
    is_better: bool | None,
    word: str,
    hue: Hue,
) -> None:
    found = [
        (mark, place == 0 or not (marks[place - 1].is_clear and marks[place - 1].is_better == is_better))
        for place, mark in enumerate(marks)
        if mark.is_clear and mark.is_better == is_better and mark.y is not None
    ]
    if not found:
        return
    figure.add_scatter(
        name=f"{word}, beyond chance",
        x=[mark.x for mark, _ in found],
        y=[mark.y for mark, _ in found],
        mode="markers+text",
        marker={
            "color": palette.hue(hue),
            "size": 14,
            "symbol": "diamond",
            "line": {"color": palette.text, "width": 1.5},
        },
        unselected={"marker": {"opacity": 1}},
        text=[word if is_first else "" for _, is_first in found],
        textposition="top center",
        textfont={"size": SMALL_SIZE, "color": palette.text},
        hoverinfo="text",
        hovertext=[hover(mark.lines) for mark, _ in found],
        customdata=[[mark.target] for mark, _ in found],
    )


def _x_axis(xs: Sequence[float], palette: Palette, *, title: str, is_log: bool) -> dict[str, object]:
    axis: dict[str, object] = {
        "title": {"text": plain(title, limit=120), "font": {"size": SMALL_SIZE, "color": palette.small}},
        "fixedrange": True,
        "showgrid": False,
        "zeroline": False,
        "automargin": True,
        "tickfont": {"color": palette.text},
    }
    if is_log:
        ticks = [x for x in xs if f"{x:e}"[0] in "125" and x == float(f"{x:.0e}")] or list(xs)
        axis |= {"type": "log", "tickmode": "array", "tickvals": ticks}
        axis |= {"ticktext": [f"{x:.12g}" for x in ticks]}
    return axis


def _y_axis(known: Sequence[SweepMark], palette: Palette, *, title: str, is_share: bool) -> dict[str, object]:
    if is_share:
        axis = value_axis(palette, top=1.04, form="percent")
    else:
        ends = [end for mark in known for end in (mark.y, mark.high) if end is not None]
        axis = value_axis(palette, top=1.12 * max(ends, default=1.0) or 1.0, form="~g")
    return axis | {
        "title": {"text": plain(title, limit=120), "font": {"size": SMALL_SIZE, "color": palette.small}}
    }


def _faint(colour: str) -> str:
    """Return a `#rrggbb` colour as the faint ground of a band."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.16)"
