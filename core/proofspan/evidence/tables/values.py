"""Compare a cited value with a cell by what both amount to: $7.2 million is 7,244 in a table in thousands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rapidfuzz.distance import Hamming

from proofspan.evidence.tables.grid import Grid
from proofspan.evidence.text.match import digits_of
from proofspan.evidence.text.page_text import QuoteText
from proofspan.evidence.text.tokens import Tokens

if TYPE_CHECKING:
    from proofspan.diagnosis.claims.figures import Figure, Scale

#: The scale of a table is looked for in this many lines above a cell.
MAX_LINES = 80


def figures_in(quote: QuoteText) -> list[tuple[tuple[int, int], Figure]]:
    """Return the figures of a quote with the tokens (half open) that each covers, with its scale and unit."""
    from proofspan.diagnosis.claims.figures import figures_of  # slow to import, and seldom needed

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

    A cell of several figures, such as a range, has no single value.
    """
    from proofspan.diagnosis.claims.figures import agrees, figures_of  # slow to import, and seldom needed

    row = grid.text(grid.words_of(label))
    text = f"{row} {grid.text(grid.words_of(cell))}"
    printed = [f for f in figures_of(text, scale=_scale_above(grid, cell[0])) if f.start >= len(row)]
    if len(printed) != 1:
        return False
    return agrees(claimed, printed[0]) and (claimed.value < 0) == (printed[0].value < 0)


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
    from proofspan.diagnosis.claims.figures import scale_of  # slow to import, and seldom needed

    number = grid.of_token[token]
    line = grid.segments[number].line
    lowest, end = line - MAX_LINES, number
    while number > 0 and grid.segments[number].line > lowest:
        while number > 0 and grid.segments[number - 1].line == line:
            number -= 1
        words = range(grid.segments[number].words[0], grid.segments[end].words[1])
        if scale := scale_of(grid.text(words)):
            return scale
        end = number - 1
        number = end
        if end < 0:
            return None
        line = grid.segments[end].line
    return None
