"""Rows and columns whose cells follow one another in a quote, from their label or head on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from proofspan.evidence.tables.cell_match import CellMatch, box_of
from proofspan.evidence.tables.citations import has_digit
from proofspan.evidence.tables.grid import Grid, is_figure
from proofspan.evidence.tables.phrases import Budget, Phrase, Placed, Run, find
from proofspan.evidence.text.page_text import QuoteText


def sequences(quote: QuoteText, grid: Grid, *, is_text: bool) -> Iterator[CellMatch]:
    """Rows and columns that the quote lists from their label or head on.

    Words alone are a row or column only if nothing between them is left out: they may be a sentence's.
    """
    phrase = Phrase.of(quote.tokens, 0, len(quote.tokens))
    for run in (Run.ROW, Run.COLUMN):
        for placed in find(grid, phrase, Budget(), run):
            at = [placed.tokens.index(cell) for cell in placed.cells]
            if len(at) == 1 and run is Run.COLUMN:  # lines of text, which one cell could have as well
                at += _line_starts(grid, placed.tokens)
            first, *rest = (placed.tokens[start:end] for start, end in pairwise([*at, len(placed.tokens)]))
            if not rest or not all(_is_closed(grid, cell) for cell in (first, *rest)):
                continue
            figures = sum(_is_figure(grid, cell) for cell in rest)
            if 2 * figures < len(rest) and not (
                is_text and placed.is_whole and _is_complete(grid, placed, (first, *rest), run)
            ):
                continue
            labels, heads = ((first,), ()) if run is Run.ROW else ((), (first,))
            yield CellMatch(
                labels,
                heads,
                tuple(rest),
                1.0,
                placed.blemishes,
                distance=_extent(grid, placed.tokens, run, rest),
            )


def _is_figure(grid: Grid, cell: Sequence[int]) -> bool:
    return all(map(is_figure, map(grid.words.__getitem__, grid.words_of(cell))))


def _is_complete(grid: Grid, placed: Placed, cells: Sequence[Sequence[int]], run: Run) -> bool:
    """Whether no words lie between the cells of a row, or between the lines of a column."""
    own = {grid.of_token[token] for token in placed.tokens}
    if run is Run.COLUMN:
        starts = [0, *_line_starts(grid, placed.tokens), len(placed.tokens)]
        cells = [placed.tokens[start:end] for start, end in pairwise(starts)]
    for box, following in pairwise([box_of(grid, cell) for cell in cells]):
        if run is Run.ROW:
            between = (box[2], following[1], following[0], following[3])
        else:
            between = (min(box[0], following[0]), box[3], max(box[2], following[2]), following[1])
        for segment in grid.between(between[1], between[3]):
            x, y = (segment.box[0] + segment.box[2]) / 2, (segment.box[1] + segment.box[3]) / 2
            is_between = between[0] < x < between[2] and between[1] < y < between[3]
            if is_between and segment.number not in own and segment.tokens[0] < segment.tokens[1]:
                return False
    return True


def _line_starts(grid: Grid, tokens: Sequence[int]) -> list[int]:
    """The tokens that begin a line, by their number, without the first."""
    lines = [grid.segments[grid.of_token[token]].line for token in tokens]
    return [number for number, (one, other) in enumerate(pairwise(lines), start=1) if one != other]


def _extent(grid: Grid, tokens: Sequence[int], run: Run, values: Sequence[Sequence[int]]) -> float:
    """The length of a row or column, in points: of several that agree the shortest skips least.

    One value may be in several columns of its row. The last of them is taken: that is where totals and
    results are. The others are alternatives.
    """
    if run is Run.ROW and len(values) == 1:
        return -grid.token_boxes[values[0][0]][0]
    side = 0 if run is Run.ROW else 1
    boxes = [grid.token_boxes[token] for token in tokens]
    return max(box[side + 2] for box in boxes) - min(box[side] for box in boxes)


def _is_closed(grid: Grid, cell: Sequence[int]) -> bool:
    """Whether a cell's figure does not go on in its segment: 20 is not the cell 20 083."""
    following = cell[-1] + 1
    if following >= len(grid.pieces) or grid.of_token[following] != grid.of_token[cell[-1]]:
        return True
    return grid.tokens.is_footnote[following] or not (
        has_digit(grid.pieces[following]) and has_digit(grid.pieces[cell[-1]])
    )
