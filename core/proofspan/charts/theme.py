"""The colours of figures, which are those of the pages, and what every figure has in common.

`.streamlit/config.toml` is the one place where a colour is chosen; a test holds the two together.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Hue = Literal["accent", "red", "violet", "yellow", "gray", "green", "orange", "blue"]

FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', 'Liberation Sans', sans-serif"
#: CSS pixels.
FONT_SIZE = 13
SMALL_SIZE = 12
#: Up to this many runs have their names below the axis; of more only some.
MOST_NAMES = 12


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of one scheme as `#rrggbb`: grounds, text, lines, and one for each name of the theme."""

    ground: str
    text: str
    small: str
    grid: str
    accent: str
    red: str
    violet: str
    yellow: str
    gray: str
    green: str
    orange: str
    blue: str

    def hue(self, name: Hue) -> str:
        """Return the colour of that name."""
        colour: str = getattr(self, name)
        return colour

    def ink(self, name: Hue) -> str:
        """Return white or nearly black, whichever can be read on that colour."""
        return max(("#ffffff", "#14171a"), key=lambda ink: contrast(ink, self.hue(name)))


LIGHT = Palette(
    ground="#fbfbf9",
    text="#1f2328",
    small="#5c6166",
    grid="#e0ded7",
    accent="#0f6157",
    red="#b4532a",
    violet="#5a62c8",
    yellow="#c9a227",
    gray="#7b8794",
    green="#2f8057",
    orange="#bf7a0a",
    blue="#3f6fb5",
)
DARK = Palette(
    ground="#16191c",
    text="#e4e6e3",
    small="#a3a9ae",
    grid="#343a40",
    accent="#5fb8a8",
    red="#e08a62",
    violet="#98a0f0",
    yellow="#dfbd4c",
    gray="#8c98a5",
    green="#67bd8d",
    orange="#e0a341",
    blue="#85abe3",
)


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two `#rrggbb` colours, 1–21. Source: WCAG 2.2, relative luminance."""

    def luminance(colour: str) -> float:
        parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
        linear = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def layout(
    palette: Palette, *, height: int, legend: Literal["above", "beside"] | None, **own: Any
) -> dict[str, Any]:
    """Return what every figure has: fonts, colours, quiet lines, a fixed height, a legend if it has one.

    `own` is what this figure has besides.
    """
    place = {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "traceorder": "normal"}
    if legend == "beside":  # in the order of the bars, from the top
        place = {"orientation": "v", "x": 1.01, "y": 1, "yanchor": "top", "traceorder": "reversed"}
    return {
        "height": height,
        "margin": {"l": 8, "r": 12, "t": 34 if legend == "above" else 12, "b": 8},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": FONT_SIZE, "color": palette.text},
        "showlegend": legend is not None,
        "legend": {
            **place,
            "xanchor": "left",
            "font": {"size": SMALL_SIZE, "color": palette.text},
            "itemclick": False,
            "itemdoubleclick": False,
        },
        "hoverlabel": {
            "bgcolor": palette.ground,
            "bordercolor": palette.small,
            "align": "left",
            "font": {"family": FONT, "size": SMALL_SIZE, "color": palette.text},
        },
        "hovermode": "closest",
        "dragmode": False,
        "clickmode": "event+select",
        **own,
    }


def run_axis(names: Sequence[str], palette: Palette, *, shown: int | None) -> dict[str, Any]:
    """Return the axis of runs: places 0, 1, … named by `names` (escaped already), the `shown` one in bold.

    Of many runs only some are named, the last one always.
    """
    step = -(-len(names) // MOST_NAMES)
    named = [place for place in range(len(names)) if (len(names) - 1 - place) % step == 0]
    return {
        "tickmode": "array",
        "tickvals": named,
        "ticktext": [f"<b>{names[place]}</b>" if place == shown else names[place] for place in named],
        "range": [-0.5, len(names) - 0.5],
        "fixedrange": True,
        "showgrid": False,
        "zeroline": False,
        "automargin": True,
        "tickfont": {"color": palette.text},
    }


def value_axis(palette: Palette, *, top: float, form: str, title: str = "") -> dict[str, Any]:
    """Return the axis of values from 0 to `top`: in the d3 format `form`, or of shares in "percent".

    `title` is our own words, such as the unit.
    """
    axis = {
        "range": [0, top],
        "tickformat": form,
        "nticks": 6,
        "fixedrange": True,
        "gridcolor": palette.grid,
        "gridwidth": 1,
        "zeroline": False,
        "automargin": True,
        "tickfont": {"color": palette.small},
        "title": {"text": title, "font": {"size": SMALL_SIZE, "color": palette.small}, "standoff": 6},
    }
    if form == "percent":
        steps = [place / 5 for place in range(6)]
        words = [f"{100 * step:.0f} %" for step in steps]
        axis |= {"tickformat": "", "tickmode": "array", "tickvals": steps, "ticktext": words}
    return axis


# Foreign text inside a figure.
#
# Plotly reads a subset of HTML in every label, name and hover: links, styles that fetch, line breaks. So
# a text enters a figure escaped, on one line, and without what could pose as other text. In a hover it is
# given as text and never as a template, which would fill in `%{…}`.

#: A run id longer than that would push the plot out of its frame.
MAX_CHARS = 40

_UNSHOWABLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)


def plain(text: str, *, limit: int = MAX_CHARS) -> str:
    """Return a text as one escaped line for a figure, cut to `limit` characters."""
    line = " ".join(_UNSHOWABLE.sub("\ufffd", " ".join(text.split())).split())
    if len(line) > limit:
        line = line[: limit - 1].rstrip() + "…"
    return html.escape(line, quote=True)


def hover(lines: Iterable[str]) -> str:
    """Return several escaped lines for a hover, with our own breaks between them."""
    return "<br>".join(plain(line, limit=3 * MAX_CHARS) for line in lines)
