"""Tables and rows that a citation writes with separators: Markdown, or cells between tabs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proofspan.contracts.records.records import Box
from proofspan.evidence.geometry import union
from proofspan.evidence.tables.cell_match import CellMatch, is_head
from proofspan.evidence.tables.citations import TableCitation, has_digit
from proofspan.evidence.tables.grid import Grid
from proofspan.evidence.tables.phrases import Budget, Phrase, Placed, find
from proofspan.evidence.tables.relations import SLACK, is_beside, segments_beside
from proofspan.evidence.tables.values import alike, is_near
from proofspan.evidence.text.page_text import QuoteText
from proofspan.evidence.types import Difference

#: Of a cited table this share of the cells is on the page, or it is not this table.
MOST_CELLS = 0.7
#: Places that are compared for one citation on one page.
MAX_COMPARED = 200_000
#: Places of a table's first row that are tried.
MAX_CANDIDATES = 30


@dataclass(frozen=True, slots=True)
class _Row:
    """A cited row on the page: the place of each cell that was found, by its column, and the others."""

    cells: dict[int, Placed]
    missing: tuple[int, ...]

    @property
    def merit(self) -> tuple[int, int]:
        return len(self.cells), -sum(cell.blemishes for cell in self.cells.values())

    @property
    def box(self) -> Box:
        return union([cell.box for cell in self.cells.values()])


def tables(citation: TableCitation, grid: Grid) -> Iterator[CellMatch]:
    """The places of a cited table: its rows below one another, its heads above them."""
    places = _Places(grid)
    first, *rest = citation.rows
    wanted = [[QuoteText.of(cell) for cell in row] for row in (citation.heads, *citation.rows)]
    for candidate in _rows(first, places)[:MAX_CANDIDATES]:
        rows = [candidate]
        for cells in rest:
            below = [row for row in _rows(cells, places) if row.box[1] > rows[-1].box[1]]
            if below:
                rows.append(min(below, key=lambda row: row.box[1]))
        heads = {
            column: head
            for column, text in enumerate(citation.heads)
            if (head := _head(text, column, rows, places)) is not None
        }
        match = _table(wanted, grid, rows, heads)
        if match is not None:
            yield match


def _table(
    wanted: Sequence[Sequence[QuoteText]], grid: Grid, rows: Sequence[_Row], heads: dict[int, Placed]
) -> CellMatch | None:
    count = sum(bool(cell.tokens) for row in wanted for cell in row)
    placed = len(heads) + sum(len(row.cells) for row in rows)
    differences: list[Difference] = []
    misquoted = 0
    values: list[tuple[int, ...]] = []
    labels: list[tuple[int, ...]] = []
    for cells, row in zip(wanted[1:], rows, strict=False):
        for column in sorted(row.cells):
            (labels if column == 0 else values).append(row.cells[column].tokens)
        for column in row.missing:
            own = _between(grid, row, column, cells[column])
            text = " ".join(cells[column].words)
            if own:
                values.append(own)
                misquoted += bool(row.cells.get(0)) and all(cell.is_whole for cell in row.cells.values())
            there = grid.text(grid.words_of(own)) if own else ""
            is_number = any(map(has_digit, cells[column].tokens.keys))
            differences.append(Difference(text, there, "number" if is_number else "word"))
    for cells in wanted[1 + len(rows) :]:
        differences.append(Difference(" | ".join(" ".join(cell.words) for cell in cells), "", "word"))
    for column, cell in enumerate(wanted[0]):
        if cell.tokens and column not in heads:
            differences.append(Difference(" ".join(cell.words), "", "word"))
    if placed + misquoted < MOST_CELLS * count or placed < max(2, misquoted):
        return None
    blemishes = sum(cell.blemishes for row in rows for cell in row.cells.values())
    blemishes += sum(head.blemishes for head in heads.values())
    return CellMatch(
        tuple(labels),
        tuple(dict.fromkeys(heads[column].tokens for column in sorted(heads))),
        tuple(values),
        placed / count,
        blemishes,
        tuple(differences),
        distance=sum(rows[0].box[1] - head.box[3] for head in heads.values()),
    )


class _Places:
    """The places of cells' texts on a page, each looked up once, within a number of comparisons."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self.left = MAX_COMPARED
        self.budget = Budget()
        self._known: dict[str, list[Placed]] = {}

    def of(self, text: str) -> list[Placed]:
        """Return the places of a text; none once there were too many comparisons."""
        if text not in self._known:
            tokens = QuoteText.of(text).tokens
            found = find(self.grid, Phrase.of(tokens, 0, len(tokens)), self.budget) if tokens else []
            self._known[text] = found
        self.left -= 1 + len(self._known[text])
        return self._known[text] if self.left > 0 else []


def _rows(cells: Sequence[str], places: _Places) -> list[_Row]:
    """The best places of a row, from the top down."""
    wanted = [column for column, cell in enumerate(cells) if QuoteText.of(cell).tokens]
    found: list[_Row] = []
    # The longest cells are the rarest; if the first of them is misquoted, the second shows the row.
    for anchor in sorted(wanted, key=lambda column: (-len(cells[column]), column))[:2]:
        for placed in places.of(cells[anchor]):
            rows = [_row_at(cells, wanted, anchor, placed, places, step) for step in (1, -1)]
            found.append(max(rows, key=lambda row: row.merit))
    if not found:
        return []
    best = max(row.merit for row in found)
    kept: dict[tuple[float, ...], _Row] = {}
    for row in sorted((row for row in found if row.merit == best), key=lambda row: row.box[1]):
        kept.setdefault(row.box, row)
    return list(kept.values())


def _row_at(
    cells: Sequence[str],
    wanted: Sequence[int],
    anchor: int,
    placed: Placed,
    places: _Places,
    step: int,
) -> _Row:
    """The row that has its anchor at a place; `step` is -1 where columns run from right to left."""
    own = {anchor: placed}
    right, left = [c for c in wanted if c > anchor], [c for c in wanted[::-1] if c < anchor]
    for columns, side in ((right, step), (left, -step)):
        edge = placed.box
        for column in columns:
            beside = [
                each
                for each in places.of(cells[column])
                if (each.box[0] >= edge[2] - 1 if side > 0 else each.box[2] <= edge[0] + 1)
                and is_beside(placed.box, each.box, places.grid.height)
            ]
            if beside:
                nearest = min(beside, key=lambda each: (each.blemishes, abs(each.box[0] - edge[0])))
                own[column] = nearest
                edge = nearest.box
    return _Row(own, tuple(column for column in wanted if column not in own))


def _between(grid: Grid, row: _Row, column: int, quote: QuoteText) -> tuple[int, ...]:
    """The cell of a row on the page where a cited one was not found: between its neighbours.

    Of several the one with nearly the same figure.
    """
    before = [row.cells[c].box[2] for c in row.cells if c < column]
    after = [row.cells[c].box[0] for c in row.cells if c > column]
    if not before:
        return ()
    low, high = max(before), min(after, default=float("inf"))
    anchor = row.cells[max(c for c in row.cells if c < column)]
    inside = [
        tuple(range(*segment.tokens))
        for segment in sorted(segments_beside(grid, anchor.box), key=lambda segment: segment.box[0])
        if segment.box[0] >= low - 1 and segment.box[2] <= high + 1
    ]
    own = 0, len(quote.tokens)
    near = [cell for cell in inside if is_near(quote.tokens, own, grid, cell)]
    return next(iter((*near, *alike(grid, inside, quote.tokens.keys))), ())


def _head(text: str, column: int, rows: Sequence[_Row], places: _Places) -> Placed | None:
    """The place of a head above its column, the nearest one."""
    value = rows[0].cells.get(column)
    top = rows[0].box[1] + SLACK * places.grid.height
    above = [each for each in places.of(text) if each.box[3] <= top]
    if column == 0:  # the label's head may be at the far end of its column
        right = [cell.box[0] for number, cell in rows[0].cells.items() if number]
        above, value = [each for each in above if not right or each.box[2] <= min(right)], None
    if value is not None:
        above = [each for each in above if is_head(places.grid, each.tokens, value.box)]
    return min(above, key=lambda each: (each.blemishes, top - each.box[3]), default=None)
