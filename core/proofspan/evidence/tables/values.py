"""Compare a cited value with a cell by what both amount to: $7.2 million is 7,244 in a table in thousands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby, islice
from typing import TYPE_CHECKING

from rapidfuzz.distance import Hamming

from proofspan.evidence.tables.grid import Grid
from proofspan.evidence.text.match import digits_of
from proofspan.evidence.text.page_text import QuoteText
from proofspan.evidence.text.tokens import Tokens

if TYPE_CHECKING:
    from proofspan.diagnosis.claims.figures import Figure, Scale

#: Powers of ten that tables are counted in.
POWERS = (3, 6, 9)
#: The scale of a table is looked for in this many lines above a cell.
MAX_LINES = 80


def figures_in(quote: QuoteText) -> list[tuple[tuple[int, int], Figure]]:
    """Return the figures of a quote with the tokens (half open) that each covers, with its scale and unit."""
    from proofspan.diagnosis.claims.figures import figures_of  # slow, and seldom needed

    starts: list[int] = []
    at = 0
    for word in quote.words:
        starts.append(at)
        at += len(word) + 1
    found = []
    for figure in figures_of(" ".join(quote.words)):
        covered = [
            token
            for token, (first, last) in enumerate(zip(quote.tokens.first, quote.tokens.last, strict=True))
            if starts[first] < figure.end and starts[last] + len(quote.words[last]) > figure.start
        ]
        if covered:
            found.append(((covered[0], covered[-1] + 1), figure))
    return found


def amounts_to(claimed: Figure, grid: Grid, label: Sequence[int], cell: Sequence[int]) -> bool:
    """Return whether a cell's value is the claimed one, rounded as that is, in the scale of its table.

    A table that names no scale may have any. A cell of several figures, such as a range, has no single value.
    """
    from proofspan.diagnosis.claims.figures import Scale, agrees, figures_of  # slow, and seldom needed

    row = grid.text(grid.words_of(label))
    text = f"{row} {grid.text(grid.words_of(cell))}"
    named = _scale_above(grid, cell[0])
    scales = [named] if named or not claimed.scaled else [None, *map(Scale, POWERS)]
    for scale in scales:
        printed = [figure for figure in figures_of(text, scale=scale) if figure.start >= len(row)]
        if len(printed) != 1:
            return False
        if agrees(claimed, printed[0]) and (claimed.value < 0) == (printed[0].value < 0):
            return True
    return False


def is_near(quote: Tokens, own: tuple[int, int], grid: Grid, cell: Sequence[int]) -> bool:
    """Return whether a cell has the value but for one digit, or its sign or separators."""
    ours = "".join(quote.keys[slice(*own)])
    theirs = "".join(grid.tokens.keys[token] for token in cell)
    if digits_of(ours) == digits_of(theirs):
        return True
    return len(ours) == len(theirs) and Hamming.distance(ours, theirs) == 1


def alike(grid: Grid, cells: Iterable[tuple[int, ...]], keys: Sequence[str]) -> list[tuple[int, ...]]:
    """Return the cells that are shares if a value is one, and amounts if it is not; all if none are."""
    each_once = list(dict.fromkeys(cells))
    is_share = any("%" in key for key in keys)
    own = [cell for cell in each_once if ("%" in grid.text(grid.words_of(cell))) == is_share]
    return own or each_once


def _scale_above(grid: Grid, token: int) -> Scale | None:
    """The scale that the nearest line above a cell names, such as "(in thousands)"."""
    from proofspan.diagnosis.claims.figures import scale_of  # slow, and seldom needed

    own = grid.segments[grid.of_token[token]]
    above = groupby(reversed(grid.segments[: own.number + 1]), key=lambda segment: segment.line)
    for _, line in islice(above, MAX_LINES):
        words = [word for segment in line for word in range(*segment.words)]
        if scale := scale_of(grid.text(sorted(words))):
            return scale
    return None
