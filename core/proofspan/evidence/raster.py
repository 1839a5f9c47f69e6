"""Which area of a page is drawn, and how finely. Pure: the bounds hold whatever a document says of itself."""

from __future__ import annotations

import math
from dataclasses import dataclass

from proofspan.contracts.records import Box
from proofspan.contracts.render_ref import lies_on
from proofspan.errors import EvidenceFault
from proofspan.evidence.geometry import Matrix, box_to_pixels

MAX_SIDE_POINTS = 14_400
POINTS_PER_INCH = 72
#: Points around a region that are drawn with it: a frame lies half outside of its box.
MARGIN = 1.5


@dataclass(frozen=True, slots=True)
class Sheet:
    """A page as it shows: its size in points after rotation, and the matrix there from unrotated points.

    `path` and `page_idx` say in a fault which page it is.
    """

    width: float
    height: float
    turned: Matrix
    path: str
    page_idx: int

    @property
    def unrotated(self) -> tuple[float, float]:
        """Width and height before rotation, in points."""
        is_upright = abs(self.turned[0]) > abs(self.turned[1])
        return (self.width, self.height) if is_upright else (self.height, self.width)


@dataclass(frozen=True, slots=True)
class Raster:
    """An area in points as the page shows, and the matrix that carries its points into pixels."""

    area: Box
    to_pixels: Matrix


def whole(sheet: Sheet, *, dpi: float, max_pixels: int) -> Raster:
    """The whole page, coarser where it would have more pixels. A page too large to draw is a fault."""
    _refuse_huge(sheet)
    return _raster((0.0, 0.0, sheet.width, sheet.height), dpi, max_pixels)


def _refuse_huge(sheet: Sheet) -> None:
    width, height = sheet.width, sheet.height
    if not (0 < width <= MAX_SIDE_POINTS and 0 < height <= MAX_SIDE_POINTS):
        raise EvidenceFault.of(
            "too_large",
            f"page_idx {sheet.page_idx} is {width:.0f} × {height:.0f} points; "
            f"at most {MAX_SIDE_POINTS} are drawn",
            where=sheet.path,
            remedy="save the document anew with smaller pages",
        )


def region(sheet: Sheet, box: Box, *, dpi: float, max_pixels: int) -> Raster:
    """A box of the unrotated page with a hair of what is around it, as far as the page reaches.

    A box that does not lie on the page is a fault: what is drawn instead would pose as the attachment.
    """
    across, down = sheet.unrotated
    if min(across, down) <= 0 or not lies_on(box, width=across, height=down):
        sides = ", ".join(f"{side:g}" for side in box)
        raise EvidenceFault.of(
            "box_off_page",
            f"the box {sides} does not lie on page_idx {sheet.page_idx}, "
            f"which is {across:g} × {down:g} points",
            where=sheet.path,
            remedy="give x0, y0, x1, y1 in points of the unrotated page, from its top left",
        )
    x0, y0, x1, y1 = box_to_pixels(sheet.turned, box)
    area = (
        max(x0 - MARGIN, 0.0),
        max(y0 - MARGIN, 0.0),
        min(x1 + MARGIN, sheet.width),
        min(y1 + MARGIN, sheet.height),
    )
    return _raster(area, dpi, max_pixels)


def part(sheet: Sheet, region: Box, *, width: int, max_pixels: int) -> Raster:
    """Left, top, width and height in percent of the page as it shows; whole pixels cover it exactly.

    `width` pixels wide, fewer where the picture would have more than `max_pixels`.
    """
    _refuse_huge(sheet)
    left, top = region[0] * sheet.width / 100, region[1] * sheet.height / 100
    across, down = region[2] * sheet.width / 100, region[3] * sheet.height / 100
    columns = max(1, min(width, math.floor(math.sqrt(max_pixels * across / down)), max_pixels))
    rows = max(1, min(round(columns * down / across), max_pixels // columns))
    x_scale, y_scale = columns / across, rows / down
    area = (left, top, left + across, top + down)
    return Raster(area, (x_scale, 0.0, 0.0, y_scale, -left * x_scale, -top * y_scale))


def _raster(area: Box, dpi: float, max_pixels: int) -> Raster:
    """At `dpi`, or as finely as `max_pixels` allow, sides rounded up."""
    width, height = area[2] - area[0], area[3] - area[1]
    scale = math.sqrt(max_pixels / (width * height))
    while math.ceil(width * scale) * math.ceil(height * scale) > max_pixels and scale > 0:
        scale *= 0.999
    scale = min(dpi / POINTS_PER_INCH, scale)
    return Raster(area, (scale, 0.0, 0.0, scale, 0.0, 0.0))
