"""Coordinates: points of the unrotated, cropped page, and pixels of a picture. Only this file converts them.

A `Box` is `(x0, y0, x1, y1)` in points, origin top left of the visible page, before rotation. A `Matrix` is
PDF's `(a, b, c, d, e, f)`: `x' = a·x + c·y + e`, `y' = b·x + d·y + f`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from proofspan.contracts.records.records import Box, BoxSpace

Matrix = tuple[float, float, float, float, float, float]

#: Two words of a line share a box while the gap between them is at most this many line heights wide. A space
#: is about 0.3 line heights; the gap between two cells of a table is more.
MAX_GAP_IN_HEIGHTS = 1.0
MIN_SHARED_HEIGHT = 0.5
#: A word this many times as high as wide is vertical text; a lone digit is less than twice as high as wide.
UPRIGHT_RATIO = 2.2
#: Words touch while the gap between them, or their overlap, is at most this many line heights wide: kerning
#: or a thin space. The narrowest space between two words is 0.25 (in Times).
TOUCHING_GAP = 0.2
#: Largest shift of touching words at top and bottom, in line heights: less than a raised digit's.
TOUCHING_SHIFT = 0.15


def box_to_pixels(matrix: Matrix, box: Box) -> Box:
    """Convert a box of the unrotated page to pixels of the picture that `matrix` belongs to.

    Its corners are in order again: a rotation swaps them.
    """
    a, b, c, d, e, f = matrix
    x0, y0 = a * box[0] + c * box[1] + e, b * box[0] + d * box[1] + f
    x1, y1 = a * box[2] + c * box[3] + e, b * box[2] + d * box[3] + f
    return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)


def to_points(box: Box, space: BoxSpace, *, width: float, height: float, rotation: int) -> Box:
    """Convert a producer's box to points; `width` and `height` are the unrotated page's, in points.

    Points are those of the visible page before rotation. Shares of the page (0–1, 0–1000) are measured on the
    displayed page, which is turned by `rotation` degrees (clockwise: 0, 90, 180 or 270), since a pipeline
    measures them on a picture of it. All refer to the crop box, which is what is displayed.
    """
    if space == "points":
        return box
    divisor = 1.0 if space == "unit" else 1000.0
    x0, y0, x1, y1 = (side / divisor for side in box)
    if rotation == 90:
        x0, y0, x1, y1 = y0, 1 - x1, y1, 1 - x0
    elif rotation == 180:
        x0, y0, x1, y1 = 1 - x1, 1 - y1, 1 - x0, 1 - y0
    elif rotation == 270:
        x0, y0, x1, y1 = 1 - y1, x0, 1 - y0, x1
    return x0 * width, y0 * height, x1 * width, y1 * height


def clipped(box: Box, *, width: float, height: float) -> Box | None:
    """Return the part of a box that lies on the page, rounded to 0.01 pt, or None."""
    x0, y0 = round(max(box[0], 0.0), 2), round(max(box[1], 0.0), 2)
    x1, y1 = round(min(box[2], width), 2), round(min(box[3], height), 2)
    return (x0, y0, x1, y1) if x0 < x1 and y0 < y1 else None


def levelled(box: Box, direction: tuple[float, float]) -> Box:
    """Turn a box so that a line of this direction (cosine, sine) runs to the right; quarter turns only."""
    x0, y0, x1, y1 = box
    along, down = round(direction[0]), round(direction[1])
    if down:
        return (y0, -x1, y1, -x0) if down > 0 else (-y1, x0, -y0, x1)
    return (-x1, -y1, -x0, -y0) if along < 0 else box


def union(boxes: Sequence[Box]) -> Box:
    """Return the smallest box around one or more boxes."""
    return (
        min(box[0] for box in boxes),
        min(box[1] for box in boxes),
        max(box[2] for box in boxes),
        max(box[3] for box in boxes),
    )


def overlap_share(box: Box, other: Box) -> float:
    """Return how much of `box` lies in `other`, 0–1; 0 for a box without area."""
    width = min(box[2], other[2]) - max(box[0], other[0])
    height = min(box[3], other[3]) - max(box[1], other[1])
    area = (box[2] - box[0]) * (box[3] - box[1])
    return width * height / area if width > 0 and height > 0 and area > 0 else 0.0


def line_boxes(words: Iterable[Box], *, rotation: int = 0) -> tuple[Box, ...]:
    """Return one tight box for each text line from word boxes in reading order, split at wide gaps.

    Where a long word shows that text may run up or down the page, or where the page is turned by a quarter
    (`rotation`), words are joined along that axis if this leaves fewer boxes: short words do not show it.
    Rounded to 0.01 pt, so that output bytes stay equal.
    """
    boxes = [word for word in words if word[2] > word[0] and word[3] > word[1]]
    lines = _joined(boxes)
    if rotation % 180 or any(box[3] - box[1] > UPRIGHT_RATIO * (box[2] - box[0]) for box in boxes):
        turned = _joined((box[1], box[0], box[3], box[2]) for box in boxes)
        lines = min(lines, [(box[1], box[0], box[3], box[2]) for box in turned], key=len)
    return tuple((round(b[0], 2), round(b[1], 2), round(b[2], 2), round(b[3], 2)) for b in lines)


def _joined(words: Iterable[Box]) -> list[Box]:
    """The words, with those joined that follow one another on a line."""
    lines: list[Box] = []
    for word in words:
        if lines:
            line = lines[-1]
            heights = (line[3] - line[1], word[3] - word[1])
            shared = min(line[3], word[3]) - max(line[1], word[1])
            gap = max(line[0], word[0]) - min(line[2], word[2])
            if shared >= MIN_SHARED_HEIGHT * max(heights) and gap <= MAX_GAP_IN_HEIGHTS * min(heights):
                lines[-1] = union((line, word))
                continue
        lines.append(word)
    return lines


def share_line(box: Box, other: Box) -> bool:
    """Return whether two boxes share at least half of the lower one's height."""
    shared = min(box[3], other[3]) - max(box[1], other[1])
    return shared >= MIN_SHARED_HEIGHT * min(box[3] - box[1], other[3] - other[1])


def touches(left: Box, right: Box) -> bool:
    """Return whether `right` continues `left` as one word: on its line, as high, with next to no gap."""
    height = min(left[3] - left[1], right[3] - right[1])
    shift = max(abs(left[1] - right[1]), abs(left[3] - right[3]))
    return abs(right[0] - left[2]) <= TOUCHING_GAP * height and shift <= TOUCHING_SHIFT * height
