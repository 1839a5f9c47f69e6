"""Convert spans to shapes over a page's picture, in percent of it.

The worker returns unrotated points, one box for each line of text. The picture's matrix converts each box to
pixels, and lines that belong together become blocks. Percentages follow the picture at any size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from proofspan.contracts.records.records import Box
from proofspan.evidence.geometry import box_to_pixels, share_line, union
from proofspan.evidence.types import PageImage

Layer = Literal["cited", "gold", "retrieved", "claim"]
Percent = tuple[float, float, float, float]  # left, top, width, height; 0–100 of the picture

#: A line follows another while the gap between them is at most this many line heights.
MAX_LEADING = 1.2


@dataclass(frozen=True, slots=True)
class PageSpan:
    """One span as the viewer draws it; `id` is that of its target.

    `tags` name the spans that begin at the same place, with their layers; empty where another span has the
    tags. A span that is not verified is a producer's box on a page whose text cannot confirm it. `extent` is
    the passage that the span is a part of, or that nothing in particular is meant of: a thin outline.
    """

    id: str
    layer: Layer
    tags: tuple[tuple[Layer, str], ...]
    rects: tuple[Percent, ...]
    chosen: bool = False
    is_verified: bool = True
    extent: tuple[Percent, ...] = ()


def shapes(rects: Sequence[Box], image: PageImage, *, as_region: bool = False) -> tuple[Percent, ...]:
    """Return the boxes of one span as blocks over the picture, clipped to it.

    `as_region` joins the cells of a table's row: fewer boxes, which also cover the room between the words.
    """
    lines = [box_to_pixels(image.to_pixels, box) for box in rects]
    pixels = blocks(rows(lines) if as_region else lines)
    clipped = (_percent(box, image.width, image.height) for box in pixels)
    return tuple(box for box in clipped if box[2] > 0 and box[3] > 0)


def rows(boxes: Sequence[Box]) -> list[Box]:
    """Join boxes that follow one another on the same line of text, from left to right."""
    joined: list[Box] = []
    for box in boxes:
        if joined and share_line(joined[-1], box):
            height = min(joined[-1][3] - joined[-1][1], box[3] - box[1])
            if box[0] >= joined[-1][2] - height:
                joined[-1] = union((joined[-1], box))
                continue
        joined.append(box)
    return joined


def blocks(lines: Sequence[Box]) -> list[Box]:
    """Join the lines of a paragraph, so that a span looks like a region and not like a ladder.

    A first line that begins inside its line, and a last one that ends there, remain boxes of their own: a
    block never covers other words. Neighbours are extended until they touch.
    """
    joined: list[Box] = []
    for index, line in enumerate(lines):
        if not joined or not _follows(lines[index - 1], line):
            joined.append(line)
            continue
        above = joined[-1]
        is_last = index + 1 == len(lines) or not _follows(line, lines[index + 1])
        slack = line[3] - line[1]
        if abs(line[0] - above[0]) <= slack and (not is_last or line[2] >= above[2] - slack):
            joined[-1] = union((above, line))
        else:
            seam = (above[3] + line[1]) / 2
            joined[-1] = (above[0], above[1], above[2], seam)
            joined.append((line[0], seam, line[2], line[3]))
    return joined


def _follows(above: Box, line: Box) -> bool:
    height = min(above[3] - above[1], line[3] - line[1])
    return line[1] > above[1] + height / 2 and line[1] - above[3] <= MAX_LEADING * height


def _percent(box: Box, width: int, height: int) -> Percent:
    x0, x1 = (min(max(x, 0.0), width) * 100 / width for x in (box[0], box[2]))
    y0, y1 = (min(max(y, 0.0), height) * 100 / height for y in (box[1], box[3]))
    return round(x0, 3), round(y0, 3), round(x1 - x0, 3), round(y1 - y0, 3)
