"""Bars of 100 % of the questions of each run, by the value that they have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from proofspan.charts.theme import Hue, Palette, hover, layout, plain, run_axis, share_axis

HEIGHT = 250
#: Narrower parts do not hold their number.
LEAST_WITH_TEXT = 0.06


@dataclass(frozen=True, slots=True)
class Part:
    """A run's share of one band: `count` of `of`, with the lines of its hover; a click sends `target`."""

    count: int
    of: int
    lines: tuple[str, ...] = ()
    target: str = ""

    @property
    def share(self) -> float:
        """Return the share in 0–1; 0 of nothing."""
        return self.count / self.of if self.of else 0.0


@dataclass(frozen=True, slots=True)
class Band:
    """One value over the runs: a part per run. The first band is at the bottom."""

    name: str
    hue: Hue
    parts: tuple[Part, ...]


def stack_figure(
    runs: Sequence[str],
    bands: Sequence[Band],
    *,
    palette: Palette,
    shown: int | None = None,
    height: int = HEIGHT,
) -> go.Figure:
    """Build a bar per run, its parts with their counts in them. `customdata` of a part holds its target
    alone.
    """
    figure = go.Figure(
        data=[_trace(band, palette, is_crowded=len(runs) > 15) for band in bands],
        layout=layout(palette, height=height, legend=True),
    )
    figure.update_layout(
        barmode="stack",
        xaxis=run_axis([plain(run) for run in runs], palette, shown=shown),
        yaxis=share_axis(palette),
        uniformtext={"minsize": 10, "mode": "hide"},
    )
    return figure


def _trace(band: Band, palette: Palette, *, is_crowded: bool) -> go.Bar:
    return go.Bar(
        name=plain(band.name),
        x=list(range(len(band.parts))),
        width=0.72 * min(1.0, len(band.parts) / 4),
        y=[part.share for part in band.parts],
        marker={"color": palette.hue(band.hue), "line": {"color": palette.ground, "width": 1}},
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
        text=["" if is_crowded or part.share < LEAST_WITH_TEXT else f"{part.count:,}" for part in band.parts],
        textposition="inside",
        insidetextanchor="middle",
        insidetextfont={"color": palette.ink(band.hue)},
        textangle=0,
        hoverinfo="text",
        hovertext=[hover(part.lines) for part in band.parts],
        customdata=[[part.target] for part in band.parts],
    )
