"""The cells of a page that a citation names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from proofspan.contracts.records.records import Box
from proofspan.evidence.geometry import union
from proofspan.evidence.tables.grid import Grid
from proofspan.evidence.tables.relations import is_over
from proofspan.evidence.types import Difference


@dataclass(frozen=True, slots=True)
class CellMatch:
    """Cells of a page that a citation names, as tokens of the page's grid.

    `labels`, `heads` and `values` have the tokens of one cell each. `explained` is the share of the quote's
    letters that they have, 0–1; `blemishes` count cells that are part of a segment only.
    """

    labels: tuple[tuple[int, ...], ...]
    heads: tuple[tuple[int, ...], ...]
    values: tuple[tuple[int, ...], ...]
    explained: float
    blemishes: int = 0
    differences: tuple[Difference, ...] = ()
    distance: float = 0.0

    @property
    def cells(self) -> tuple[tuple[int, ...], ...]:
        """Return all cells, labels first."""
        return (*self.labels, *self.heads, *self.values)

    @property
    def merit(self) -> tuple[bool, float, int, float]:
        """The key that matches are ranked by."""
        return not self.differences, self.explained, -self.blemishes, -round(self.distance, -1)


def box_of(grid: Grid, cell: Sequence[int]) -> Box:
    """Return the box around a cell's tokens on the levelled page."""
    return union([grid.token_boxes[token] for token in cell])


def lines_of(grid: Grid, tokens: Sequence[int]) -> list[Box]:
    """Return the boxes around the lines of a cell, from the top down."""
    by_line: dict[int, list[int]] = {}
    for token in tokens:
        by_line.setdefault(grid.segments[grid.of_token[token]].line, []).append(token)
    return [box_of(grid, line) for _, line in sorted(by_line.items())]


def is_head(grid: Grid, tokens: Sequence[int], value: Box) -> bool:
    """Return whether a cell is a head over a value."""
    return is_over(grid, lines_of(grid, tokens), {grid.of_token[token] for token in tokens}, value)


def without_overlap(match: CellMatch) -> CellMatch:
    """Return a match in which no token is in two cells."""
    seen: set[int] = set()
    kept: list[tuple[tuple[int, ...], ...]] = []
    for group in (match.labels, match.heads, match.values):
        own = []
        for cell in group:
            if seen.isdisjoint(cell):
                own.append(cell)
                seen.update(cell)
        kept.append(tuple(own))
    return replace(match, labels=kept[0], heads=kept[1], values=kept[2])
