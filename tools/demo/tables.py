"""Sets tables: caption, header and rows, with symbols, repeated headers and columns as wide as they need."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from tools.demo import figures
from tools.demo.faces import ACCENT, INK, RISE, RULE, WHITE, faces, wrap
from tools.demo.flow import NEVER, Item
from tools.demo.markup import SOFT_HYPHEN, Block, plain
from tools.demo.pages import Box, Sheet

#: The size of a table's text and its lead.
SIZE, LEAD = 8.2, 10.6
#: A row with a symbol is at least this high; a column of symbols is this wide.
SYMBOL_ROW, SYMBOL_COLUMN = 23.0, 38.0
#: The white at the left and right of a cell's text, and above and below it.
ASIDE, ABOVE = 5.0, 2.7
#: How far column edges are moved, to find where the table is lowest.
STEP = 8.0
#: The most white above a cell's text.
AIRY = 12.0
#: A table with fewer rows than SHORT is never divided, one that is less HIGH hardly ever.
SHORT, HIGH, TOGETHER = 8, 230.0, 3
ZEBRA = (0.955, 0.962, 0.968)
_CAPTION = re.compile(r"(Table [\w-]+\.) (.*)")
_SYMBOL = re.compile(r"\*([a-z_]+)")

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table's column edges, from 0 to its width, and its rows, with so much white above a cell's text."""

    block: Block
    edges: tuple[float, ...]
    above: float = ABOVE

    @property
    def width(self) -> float:
        return self.edges[-1]

    @property
    def total(self) -> float:
        """How high all rows are together."""
        return sum(self.height(row) for row in range(len(self.block.cells)))

    def lines(self, row: int) -> list[list[list[str]]]:
        """The wrapped words of each cell; a symbol has none."""
        face = faces()["bold" if row == 0 else "regular"]
        cells = zip(self.block.cells[row], pairwise(self.edges), strict=True)
        return [
            [] if symbol(cell) else wrap(cell, x1 - x0 - 2 * ASIDE, face, SIZE) for cell, (x0, x1) in cells
        ]

    def height(self, row: int) -> float:
        """How high the row is with its fullest cell."""
        height = max(1, *(len(lines) for lines in self.lines(row))) * LEAD + 2 * self.above
        return max(height, SYMBOL_ROW) if self.symbols(row) else height

    def symbols(self, row: int) -> list[tuple[str, float]]:
        """The symbols of a row, each with the x of its middle."""
        cells = zip(self.block.cells[row], pairwise(self.edges), strict=True)
        return [(symbol(cell), (x0 + x1) / 2) for cell, (x0, x1) in cells if symbol(cell)]

    def colour(self, row: int) -> str:
        """The colour in which a row's symbols light up: what its column "Colour" says."""
        header = self.block.cells[0]
        if "Colour" not in header:
            raise ValueError(f"a table with symbols needs a column Colour: {self.block.name!r}")
        return self.block.cells[row][header.index("Colour")]


def symbol(cell: str) -> str:
    """Return the name of a cell's symbol; "" for text."""
    match = _SYMBOL.fullmatch(plain(cell))
    return match[1] if match else ""


def table_items(block: Block, width: float, *, fill: float = 0.0) -> list[Item]:
    """The caption with the header, then the rows: a page that goes on with the table repeats the former.

    `fill` is the height over which the rows are spread, as far as that looks well.
    """
    grid = _grid(block, width)
    if fill:
        grid = replace(grid, above=min(ABOVE + (fill - grid.total) / (2 * len(block.cells)), AIRY))
    head, again = _head(grid, ""), _head(grid, " (continued)")
    last = len(block.cells) - 1
    rows = [_row(grid, row, opening=again, cost=_cost(grid, row)) for row in range(1, last + 1)]
    rows[-1] = replace(rows[-1], after=11.0)
    return [head, *rows]


def _grid(block: Block, width: float) -> Grid:
    """The grid whose columns make the table lowest: none narrower than its longest word."""
    columns = list(zip(*block.cells, strict=True))
    least = [_least(column) for column in columns]
    wanted = [max(_wanted(column), low) for column, low in zip(columns, least, strict=True)]
    unbroken = [max(_wanted(column[1:], 1), low) for column, low in zip(columns, least, strict=True)]
    if sum(wanted) <= width:
        free = [0.0 if symbol(column[-1]) else 1.0 for column in columns]
        spare = (width - sum(wanted)) / sum(free)
        ways = [[want + spare * part for want, part in zip(wanted, free, strict=True)]]
    elif sum(unbroken) <= width:
        ways = [_shared(unbroken, wanted, width)]
    else:
        ways = [_shared(least, unbroken, width), *_served_in_turn(least, unbroken, width)]
    grids = [Grid(block, (0.0, *accumulate(way[:-1]), width)) for way in ways]
    return _lowered(min(grids, key=lambda grid: grid.total), least)


def _lowered(grid: Grid, least: Sequence[float]) -> Grid:
    """The grid with room moved from one column to another as long as that makes the table lower."""
    places = range(1, len(grid.edges) - 1)
    trials = [
        trial for place in places for step in (-STEP, STEP) for trial in [_shifted(grid, place, step)]
        if all(x1 - x0 >= low for (x0, x1), low in zip(pairwise(trial.edges), least, strict=True))
    ]  # fmt: skip
    best = min(trials, key=lambda trial: trial.total, default=grid)
    return _lowered(best, least) if best.total < grid.total else grid


def _shifted(grid: Grid, place: int, step: float) -> Grid:
    """The grid with one inner edge moved."""
    moved = grid.edges[place] + step
    return replace(grid, edges=(*grid.edges[:place], moved, *grid.edges[place + 1 :]))


def _shared(least: Sequence[float], wanted: Sequence[float], width: float) -> list[float]:
    """Every column gets its least, and the same part of what it wants beyond that."""
    part = max(width - sum(least), 0.0) / max(sum(wanted) - sum(least), 1.0)
    return [low + (want - low) * part for low, want in zip(least, wanted, strict=True)]


def _served_in_turn(least: Sequence[float], wanted: Sequence[float], width: float) -> Iterator[list[float]]:
    """Columns get all they want in turn, the narrow ones first; one column after the other has to wait."""
    for last in range(len(least)):
        widths = list(least)
        order = sorted(range(len(least)), key=lambda column: (column == last, wanted[column]))
        for column in order:
            spare = max(width - sum(widths), 0.0)
            widths[column] += min(wanted[column] - least[column], spare)
        yield widths


def _least(column: Sequence[str]) -> float:
    """The width of the longest piece that can't be broken."""
    if symbol(column[-1]):
        return max(SYMBOL_COLUMN, _length(column[0], 0) + 2 * ASIDE)
    pieces = [
        (number, piece) for number, cell in enumerate(column)
        for word in cell.split() for piece in word.split(SOFT_HYPHEN)
    ]  # fmt: skip
    return max(_length(piece, number) for number, piece in pieces) + 2 * ASIDE + 1


def _wanted(column: Sequence[str], first: int = 0) -> float:
    """The width at which no cell needs a second line; `first` is the row of the first one."""
    if symbol(column[-1]):
        return _least(column)
    texts = [cell.replace(SOFT_HYPHEN, "") for cell in column]
    return max(_length(text, number) for number, text in enumerate(texts, first)) + 2 * ASIDE + 1


def _length(text: str, row: int) -> float:
    return 0.0 if symbol(text) else faces()["bold" if row == 0 else "regular"].length(text, SIZE)


def _cost(grid: Grid, row: int) -> float:
    """A few rows stay together at either end; a short table stays whole, one in between if it can."""
    last = len(grid.block.cells) - 1
    if row <= TOGETHER or row > last + 1 - TOGETHER or last < SHORT:
        return NEVER
    return 15.0 if grid.total >= HIGH else 70.0


def _head(grid: Grid, more: str) -> Item:
    """The caption above the header."""
    match = _CAPTION.fullmatch(grid.block.name)
    number, words = match.groups() if match else ("", grid.block.name)
    bold, regular = faces()["bold"], faces()["regular"]
    indent = bold.length(number + " ", SIZE) if number else 0.0
    lines = wrap(words + more, grid.width - indent, regular, SIZE)
    top = LEAD * len(lines) + 2.5
    height = top + grid.height(0)

    def draw(sheet: Sheet, x: float, y: float) -> None:
        sheet.write(x, y + 9, number, bold, SIZE, ACCENT)
        for place, found in enumerate(lines):
            sheet.write(x + indent, y + 9 + place * LEAD, " ".join(found), regular, SIZE)
        box = (x, y + top, x + grid.width, y + height)
        sheet.page.draw_rect(box, color=ACCENT, fill=ACCENT, width=0.5)
        _cells(sheet, grid, 0, x, y + top)

    box = (0.0, 0.0, grid.width, height)
    return Item(grid.block, height, draw, box, before=9, cost=15.0, sticky=True)


def _row(grid: Grid, row: int, *, opening: Item, cost: float) -> Item:
    height = grid.height(row)
    middle = height / 2
    marks: list[tuple[str, int, Box]] = [
        (name, row, (x - figures.ACROSS, middle - figures.DOWN, x + figures.ACROSS, middle + figures.DOWN))
        for name, x in grid.symbols(row)
    ]

    def draw(sheet: Sheet, x: float, y: float) -> None:
        page, right = sheet.page, x + grid.width
        if row % 2 == 0:
            page.draw_rect((x, y, right, y + height), color=None, fill=ZEBRA)
        page.draw_line((x, y + height), (right, y + height), color=RULE, width=0.5)
        for name, at in grid.symbols(row):
            figures.lamp(page, name, x + at, y + middle, colour=grid.colour(row))
        _cells(sheet, grid, row, x, y)

    box = (0.0, 0.0, grid.width, height)
    return Item(grid.block, height, draw, box, opening=opening, cost=cost, marks=tuple(marks))


def _cells(sheet: Sheet, grid: Grid, row: int, x: float, y: float) -> None:
    """The words of a row's cells, each centred over its row's height."""
    face, colour = (faces()["bold"], WHITE) if row == 0 else (faces()["regular"], INK)
    height = grid.height(row)
    for lines, left in zip(grid.lines(row), grid.edges, strict=False):
        baseline = y + (height - len(lines) * LEAD) / 2 + SIZE * RISE
        for place, words in enumerate(lines):
            sheet.write(x + left + ASIDE, baseline + place * LEAD, " ".join(words), face, SIZE, colour)
