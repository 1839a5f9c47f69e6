"""The dashboard's table: grids of numbers that are links, and lists whose rows are links or can be chosen.

A real HTML table, which can be read aloud, copied from, walked through with the arrow keys and printed;
`st.dataframe` draws a canvas and can do none of that. A colour repeats what a cell's text says and never
carries a meaning alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import orjson
import streamlit as st

from proofspan.ui.component import component
from proofspan.ui.widgets.markup import clean, keep_percent

Look = Literal["", "red", "violet", "yellow", "gray", "green", "orange", "blue", "accent", "quiet", "none"]
Align = Literal["start", "center", "end"]

#: CSS pixels of a row of one line, in a grid and in a list, and of a list's header and frame.
ROW_PIXELS, LIST_ROW_PIXELS, HEADER_PIXELS = 29, 34, 36
#: CSS pixels of a row of a list whose texts take more than two lines.
TALL_ROW_PIXELS = 60
#: The width of the column of boxes that choose rows, in rem (see table.css).
TICK_REM = 2.3
#: A table that is higher than its room by no more than this factor is shown whole (see table.js).
WHOLE = 1.1


@dataclass(frozen=True, slots=True)
class Chip:
    """A word or two on a ground of their colour, with the raw code as `tip`; `term` explains them."""

    text: str
    look: Look
    tip: str = ""
    term: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: `text` and `chips`, below them `note` in small print, `tip` where a pointer rests on it.

    `look` is a colour of the theme (`quiet` is small print's, `none` marks a missing value): a tint as strong
    as `tone` (0–1), or the colour of the text where `tone` is None. `href` is an address as `ViewState.link`
    makes it, and `spoken` that link's name for screen readers: the cell's row, column, number and what a
    click opens. Without `href`, `spoken` is read aloud after the text. `marks` are ranges of characters of
    `text` that are marked as differing, in order.

    `terms` are words of `text` in order, or of `note`, with the entries of the glossary that explain them
    (see `Piece.term`). Those of `text` are links to them where nothing else is a link or a button: not in a
    row of a list, nor with `href`, where Help has them (see help.js).
    """

    text: str = ""
    note: str = ""
    tip: str = ""
    tone: float | None = None
    look: Look = ""
    href: str | None = None
    spoken: str = ""
    chips: tuple[Chip, ...] = ()
    marks: tuple[tuple[int, int], ...] = ()
    terms: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if self.href is not None and not self.href.startswith("./"):
            raise ValueError(f"no address of this dashboard: {self.href[:80]!r}")
        if self.tone is not None and not 0 <= self.tone <= 1:
            raise ValueError(f"a tone lies in 0–1: {self.tone}")


NOTHING = Cell("–", look="none")


def explained(text: str, term: str, **more: Any) -> Cell:
    """Return a cell with a text that a term of the glossary explains; "" for none."""
    return Cell(text, terms=((text, term),) if term else (), **more)


@dataclass(frozen=True, slots=True)
class Folding:
    """In a list narrower than `below` rem, a column's text moves into the column `into`, under its text.

    `titled`: after the column's title. With `shown` it is shown there only in a list that is narrower still.
    """

    below: float
    into: str
    titled: bool = False
    shown: float | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A column's header, and how its cells are aligned: numbers to the end.

    The rest is for lists. `name` is an identifier; `width` is in rem, `narrow` that of a narrow list, and a
    column without a width takes what is left. The text of a cell takes up to `lines` lines. A click on a
    header that `sorts` asks for another order; `sorted` is its `aria-sort` where the list is in its order.
    """

    head: Cell
    align: Align = "center"
    name: str = ""
    width: float | None = None
    narrow: float | None = None
    lines: int = 1
    folds: Folding | None = None
    sorts: bool = False
    sorted: Literal["", "ascending", "descending", "other"] = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A row: its header, and a cell per column. `key` names a row of a list, `details` its small print with
    `details_tip` where a pointer rests on it."""

    head: Cell
    cells: tuple[Cell, ...]
    key: str = ""
    details: str = ""
    details_tip: str = ""


@dataclass(frozen=True, slots=True)
class Ticks:
    """How rows of a list are chosen by boxes. The browser keeps which, and the page runs for none of them.

    `of` says what the keys of rows belong to: the chosen ones of another are forgotten, and so are all when
    `cleared` becomes another text. Below the list are `hint` while none is chosen, else their number and the
    button `act`, which sends them. With `asks` they are sent also where they differ from `known`.
    """

    of: str
    act: str
    hint: str
    cleared: str = ""
    known: tuple[str, ...] = ()
    asks: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: `name` is what a screen reader calls it, `corner` the header of the first column.

    A grid that is not `wide` takes the width of its content. Taller than `height` CSS pixels, it shows the
    rows that have room and a button for the rest. `from_end`: wider than the page it begins at its last
    columns.

    With a `corner` that is a Column it is a list, in which every row is one link, or, where `choose` names a
    column, a button. `more` is the title of the button that shows the details of all rows.
    """

    name: str
    corner: str | Column
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    wide: bool = True
    height: int | None = None
    from_end: bool = False
    choose: str = ""
    more: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row.cells) != len(self.columns):
                raise ValueError(f"a row has {len(row.cells)} cells under {len(self.columns)} headers")

    @property
    def is_list(self) -> bool:
        """Return whether rows as a whole are links or buttons."""
        return isinstance(self.corner, Column)

    @property
    def is_tall(self) -> bool:
        """Return whether texts take more than two lines."""
        return any(column.lines > 2 for column in self.columns)


def show_grid(
    grid: Grid,
    *,
    key: str,
    chosen: str | None = None,
    on_sort: Callable[[str], None] | None = None,
    on_choose: Callable[[str], None] | None = None,
    of: str = "",
    ticks: Ticks | None = None,
    on_tick: Callable[[Sequence[str], bool], None] | None = None,
) -> None:
    """Draw the table, whose links open in place. The same `key` keeps the focus while cells change.

    `chosen` is the key of the row that is marked. `on_sort` gets a column's name, `on_choose` a row's key.
    `of` names what it is drawn for (see `markup.place`). With `ticks` rows have boxes; `on_tick` gets the
    keys of those chosen, on any page of the list, and whether the button was pressed.
    """
    names = {column.name for column in (grid.corner, *grid.columns) if isinstance(column, Column)}
    component("ui/widgets/table", scripts=("ui/visit/links.js",))(
        key=key,
        data=packed(grid, chosen=chosen, of=of, ticks=ticks),
        height=frame_height(grid),
        on_sort_change=lambda: _received(key, "sort", names, on_sort),
        on_choose_change=lambda: _received(key, "choose", {row.key for row in grid.rows}, on_choose),
        on_ticked_change=lambda: _ticked(key, on_tick),
    )


def _received(key: str, event: str, known: set[str], callback: Callable[[str], None] | None) -> None:
    """Pass on what the browser sent, which may be anything, if it names a row or a column of the table."""
    value = st.session_state[key].get(event)
    if callback is not None and isinstance(value, str) and value in known:
        callback(value)


def _ticked(key: str, callback: Callable[[Sequence[str], bool], None] | None) -> None:
    """Pass on the keys that the browser sent, which may be anything, if they are texts."""
    value = st.session_state[key].get("ticked")
    if callback is None or not isinstance(value, dict) or not isinstance(keys := value.get("keys"), list):
        return
    callback([each for each in keys if isinstance(each, str)], value.get("acts") is True)


def frame_height(grid: Grid) -> int | Literal["content"]:
    """Return the height to reserve from the start, so that what follows never jumps.

    Where the rows do not fill it, the height of the content: in a narrow window rows are higher.
    """
    pixels, header = (LIST_ROW_PIXELS, HEADER_PIXELS) if grid.is_list else (ROW_PIXELS, 0)
    pixels = TALL_ROW_PIXELS if grid.is_tall else pixels
    if grid.height is None or len(grid.rows) * pixels + header <= WHOLE * grid.height:
        return "content"
    return grid.height


def packed(grid: Grid, *, chosen: str | None = None, of: str = "", ticks: Ticks | None = None) -> bytes:
    """Return what the browser needs, as JSON in UTF-8; rows are objects by the names of the columns."""
    first = grid.corner if isinstance(grid.corner, Column) else Column(Cell(grid.corner), "start")
    named = {column.name or f"c{place}": column for place, column in enumerate((first, *grid.columns))}
    return orjson.dumps(
        {
            "table": clean(grid.name),
            "layout": "list" if grid.is_list else "wide" if grid.wide else "grid",
            "tall": grid.is_tall,
            "height": grid.height,
            "fromEnd": grid.from_end,
            "choose": grid.choose,
            "more": grid.more,
            "columns": [
                _stated(
                    **{part.name: getattr(column, part.name) for part in fields(Column)}
                    | {
                        "name": name,
                        "head": _packed(column.head),
                        "lines": column.lines if column.lines > 1 else 0,
                    },
                    arrow={"ascending": "↑", "descending": "↓"}.get(column.sorted),
                )
                for name, column in named.items()
            ],
            "rows": [
                _stated(
                    key=row.key,
                    details=clean(row.details),
                    detailsTip=clean(row.details_tip),
                    cells={
                        name: _packed(cell) for name, cell in zip(named, (row.head, *row.cells), strict=True)
                    },
                )
                for row in grid.rows
            ],
            "chosen": chosen,
            "of": of,
            "ticks": ticks,
        }
    )


def _stated(**fields: Any) -> dict[str, Any]:
    """Return the fields that are not empty; to the browser an absent one is the same."""
    return {name: value for name, value in fields.items() if value not in (None, "", False)}


def _packed(cell: Cell) -> dict[str, Any]:
    """Return a cell without the fields that are empty."""
    texts = {"text": keep_percent(cell.text), "note": keep_percent(cell.note), "tip": cell.tip}
    texts |= {"look": cell.look, "spoken": cell.spoken}
    kept: dict[str, Any] = {name: clean(text) for name, text in texts.items() if text}
    if cell.spoken and cell.spoken == cell.tip:
        kept["spoken"] = True  # the tip; as text it would be sent twice
    if cell.tone is not None:
        kept["tone"] = round(cell.tone, 3)
    if cell.href is not None:
        kept["href"] = cell.href
    if cell.marks:
        kept["marks"] = [[_units(cell.text[:start]), _units(cell.text[:end])] for start, end in cell.marks]
    if cell.terms:
        kept["terms"] = [*_places(cell)]
    if cell.chips:
        kept["chips"] = [
            {"text": clean(each.text), "look": each.look, "tip": clean(each.tip)}
            | ({"term": each.term} if each.term else {})
            for each in cell.chips
        ]
    return kept


def _places(cell: Cell) -> Iterator[tuple[int, int, str]]:
    """Yield where the words of `terms` are in a cell's text, as the browser counts, and their entries."""
    at = 0
    for words, term in cell.terms:
        start = cell.text.find(words, at)
        if start < 0:
            yield 0, 0, term
            continue
        at = start + len(words)
        yield _units(cell.text[:start]), _units(cell.text[:at]), term


def _units(text: str) -> int:
    """Return how long a text is in the browser, which counts UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
