"""Which cells are in one row or one column: by the lines that they share and the columns that are nearest."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from proofspan.contracts.records.records import Box
from proofspan.evidence.geometry import union
from proofspan.evidence.tables.grid import Grid, Segment, is_figure

#: A head that is not right above a value is at most this many line heights beside it.
BESIDE = 8.0
#: A row's line may be this share of a line height beside its label's lines.
SLACK = 0.3
#: Two heads that share this much of the lower one's height are beside one another.
ON_LINES = 0.4
#: Arabic and Hebrew are written from right to left: a label is then right of its values.
RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
YEAR = re.compile(r"\W*(?:19|20)\d\d\b")


def is_beside(label: Box, value: Box, height: float) -> bool:
    """Return whether a label is beside a value: on its line, or on one of the lines of either's cell."""
    if label[0] < value[2] and value[0] < label[2]:
        return False
    slack = SLACK * height
    middle, own = (value[1] + value[3]) / 2, (label[1] + label[3]) / 2
    return label[1] - slack < middle < label[3] + slack or value[1] < own < value[3]


def is_over(grid: Grid, lines: Sequence[Box], own: Collection[int], value: Box) -> bool:
    """Return whether a head is above a value and no other head beside it is nearer to the value's column.

    `lines` are the boxes of the head's lines, `own` its segments. A head that spans several columns may be
    right above none of them: it is at most `BESIDE` line heights away. Its last line is compared by itself as
    well: it may be the head of one column, below one that spans several.
    """
    head, last = union(lines), lines[-1]
    if head[3] > value[1] + SLACK * grid.height or _shared(head, value)[1] > BESIDE * grid.height:
        return False
    return all(_is_nearest(grid, box, own, value) for box in dict.fromkeys((head, last)))


def _is_nearest(grid: Grid, head: Box, own: Collection[int], value: Box) -> bool:
    """Whether no other segment on the lines of a head is nearer to a value's column."""
    shared, gap = _shared(head, value)
    for segment in grid.between(head[1], head[3]):
        is_head = segment.tokens[0] < segment.tokens[1] and segment.box[3] <= value[1] + SLACK * grid.height
        if segment.number not in own and is_head and _share_height(segment.box, head) > ON_LINES:
            other, other_gap = _shared(segment.box, value)
            if (other, -other_gap) > (shared, -gap):
                return False
    return True


def is_heading(grid: Grid, heading: Box, own: Collection[int], label: Box) -> bool:
    """Return whether a line without values above a label is the heading of its section.

    `own` are the segments of the label. No other heading at its indent, or further out, is between the two.
    """
    height = grid.height
    is_above = heading[3] <= label[1] + SLACK * height and heading[0] <= label[0] + height / 2
    if not is_above or label[0] - heading[0] > BESIDE * height or has_figures(grid, heading):
        return False
    for segment in grid.between(heading[3], label[1]):
        is_between = heading[3] <= (segment.box[1] + segment.box[3]) / 2 < label[1]
        is_other = is_between and segment.number not in own and segment.tokens[0] < segment.tokens[1]
        if is_other and segment.box[0] <= heading[0] + 1 and not has_figures(grid, segment.box):
            return False
    return True


def has_figures(grid: Grid, box: Box) -> bool:
    """Return whether a figure is a cell on the lines of a box."""
    return any(all(map(is_figure, grid.words[slice(*each.words)])) for each in segments_beside(grid, box))


def segments_beside(grid: Grid, box: Box) -> Iterator[Segment]:
    """Yield the segments with words on the lines of a box."""
    for segment in grid.between(box[1], box[3]):
        middle = (segment.box[1] + segment.box[3]) / 2
        is_on = box[1] < middle < box[3] or segment.box[1] < (box[1] + box[3]) / 2 < segment.box[3]
        if is_on and segment.tokens[0] < segment.tokens[1]:
            yield segment


def is_under(box: Box, cell: Box) -> bool:
    """Return whether a line below a cell is in its column."""
    return box[0] < cell[2] and box[2] > cell[0]


def goes_on(grid: Grid, segment: Segment, following: Segment) -> bool:
    """Return whether a segment below may be the next line of a cell: a figure is a cell of its own, except a
    year, which heads are wrapped before.
    """
    words, below = (grid.words[slice(*each.words)] for each in (segment, following))
    if not all(map(is_figure, below)):
        return True
    return bool(YEAR.match(below[0])) and not all(map(is_figure, words))


def _share_height(box: Box, other: Box) -> float:
    """How much of the lower one's height two boxes share."""
    shared = min(box[3], other[3]) - max(box[1], other[1])
    return shared / max(1e-6, min(box[3] - box[1], other[3] - other[1]))


def _shared(box: Box, other: Box) -> tuple[float, float]:
    """The width that two boxes share, and the gap between them across the page."""
    shared = min(box[2], other[2]) - max(box[0], other[0])
    return max(0.0, shared), max(0.0, -shared)
