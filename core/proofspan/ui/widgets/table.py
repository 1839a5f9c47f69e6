"""A small table of numbers that are links: a matrix, a heat map, a list of metrics.

A real table, which can be read aloud, copied from, walked through with the arrow keys and printed. A tint
repeats what a cell's text says and never carries a meaning alone. Its three parts are files beside this
module, handed over as inline strings, so that nothing is fetched.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import orjson
import pandas as pd
import streamlit as st
from streamlit.errors import StreamlitAPIException

from proofspan.resources import text_of
from proofspan.ui.visit.links import script
from proofspan.ui.widgets.markup import clean

Look = Literal["", "red", "violet", "yellow", "gray", "green", "orange", "blue", "accent", "quiet"]
Align = Literal["start", "center", "end"]

_NAME = "proofspan_grid"
#: CSS pixels of a row of one line.
ROW_PIXELS = 27


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: `text`, below it `note` in small print, `tip` where a pointer rests on it.

    `look` is a colour of the theme (`quiet` is small print's): a tint as strong as `tone` (0–1) says, the
    colour of the text where `tone` is None. `href` is an address as `ViewState.link` makes it, and `spoken`
    what a screen reader says of that link: the cell's row, column, number and what a click opens.
    """

    text: str
    note: str = ""
    tip: str = ""
    tone: float | None = None
    look: Look = ""
    href: str | None = None
    spoken: str = ""

    def __post_init__(self) -> None:
        if self.href is not None and not self.href.startswith("./"):
            raise ValueError(f"no address of this dashboard: {self.href[:80]!r}")
        if self.tone is not None and not 0 <= self.tone <= 1:
            raise ValueError(f"a tone lies in 0–1: {self.tone}")


@dataclass(frozen=True, slots=True)
class Column:
    """A column's header, and how its cells are aligned: numbers to the end."""

    head: Cell
    align: Align = "center"


@dataclass(frozen=True, slots=True)
class Row:
    """A row: its header, and a cell a column. A header with a `look` and a `tone` is a chip."""

    head: Cell
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """A whole table: `name` is what a screen reader calls it, `corner` the header of the headers' column.

    A grid that is not `wide` takes the width of its content. Taller than `height` CSS pixels it scrolls
    inside its frame, with its header in sight. `from_end`: wider than the page it begins at its last columns.
    """

    name: str
    corner: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    wide: bool = True
    height: int | None = None
    from_end: bool = False

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row.cells) != len(self.columns):
                raise ValueError(f"a row has {len(row.cells)} cells under {len(self.columns)} headers")


def show_grid(grid: Grid, *, key: str) -> None:
    """Draws the table; a click on one of its links goes there. Where the component cannot be mounted, the
    bare cells are shown. The same `key` keeps the focus while the cells change."""
    try:
        _component()(key=key, data=packed(grid), height=frame_height(grid))
    except (StreamlitAPIException, TypeError):
        st.caption("The table could not start; these are its cells without their links.")
        st.dataframe(bare(grid), hide_index=True)


def frame_height(grid: Grid) -> int | Literal["content"]:
    """What is kept free from the start, where the rows fill it, so that what follows never jumps."""
    if grid.height is None or len(grid.rows) * ROW_PIXELS < grid.height:
        return "content"
    return grid.height


def packed(grid: Grid) -> bytes:
    """What the browser needs, as JSON in UTF-8."""
    return orjson.dumps(
        {
            "grid": clean(grid.name),
            "corner": clean(grid.corner),
            "wide": grid.wide,
            "height": grid.height,
            "fromEnd": grid.from_end,
            "columns": [{"align": column.align, **_packed(column.head)} for column in grid.columns],
            "rows": [
                {"head": _packed(row.head), "cells": [_packed(cell) for cell in row.cells]}
                for row in grid.rows
            ],
        }
    )


def bare(grid: Grid) -> pd.DataFrame:
    """The cells as text; headers that are alike are told apart by their place."""
    names = [clean(grid.corner), *(clean(column.head.text) for column in grid.columns)]
    frame = pd.DataFrame(
        [[clean(cell.text) for cell in (row.head, *row.cells)] for row in grid.rows],
        columns=range(len(names)),
    )
    unlike = [name if names.count(name) == 1 else f"{name} {place}" for place, name in enumerate(names)]
    return frame.set_axis(unlike, axis=1)


def _packed(cell: Cell) -> dict[str, Any]:
    """A cell without what it does not have."""
    texts = {"text": cell.text, "note": cell.note, "tip": cell.tip, "look": cell.look, "spoken": cell.spoken}
    kept: dict[str, Any] = {name: clean(text) for name, text in texts.items() if text}
    if cell.tone is not None:
        kept["tone"] = round(cell.tone, 3)
    if cell.href is not None:
        kept["href"] = cell.href
    return kept


@cache
def _component() -> st.components.v2.types.ComponentRenderer:
    """Registered once a process; each part counts as inline because it holds line breaks."""
    html, css = (text_of(f"ui/widgets/table.{part}") for part in ("html", "css"))
    return st.components.v2.component(_NAME, html=html, css=css, js=script("ui/widgets/table.js"))
