"""Choose how pages and parts of pages are rendered: which area, at which resolution, in which encoding.

Text on white is small as PNG, and smaller in grey. A photograph becomes a JPEG.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from io import BytesIO

from proofspan.contracts.records.records import Box
from proofspan.contracts.records.render_ref import lies_on
from proofspan.errors import EvidenceFault
from proofspan.evidence.geometry import Matrix, box_to_pixels
from proofspan.evidence.pdf.png import CHANNELS, encode_png
from proofspan.evidence.types import Mime

MAX_SIDE_POINTS = 14_400
POINTS_PER_INCH = 72
#: Points around a region that are rendered with it: a frame lies half outside of its box.
MARGIN = 1.5
#: Every 17th pixel is checked for colour first: where there is colour, they mostly show it.
SAMPLE = 17
#: JPEG qualities, down to the lowest that still reads well.
QUALITIES = (85, 75, 60)


@dataclass(frozen=True, slots=True)
class Sheet:
    """A page as displayed: its size in points after rotation, and the matrix from unrotated points to it.

    `path` and `page_idx` identify the page in a fault.
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
    """An area in points of the displayed page, and the matrix from its points to pixels."""

    area: Box
    to_pixels: Matrix


def whole(sheet: Sheet, *, dpi: float, max_pixels: int) -> Raster:
    """Return the raster of the whole page, at most `dpi`. A page too large to render is a fault."""
    _refuse_huge(sheet)
    return _raster((0.0, 0.0, sheet.width, sheet.height), dpi, max_pixels)


def _refuse_huge(sheet: Sheet) -> None:
    width, height = sheet.width, sheet.height
    if not (0 < width <= MAX_SIDE_POINTS and 0 < height <= MAX_SIDE_POINTS):
        size = f"{width:.0f} × {height:.0f} points; at most {MAX_SIDE_POINTS} are drawn"
        fix = "save the document again with smaller pages"
        raise EvidenceFault.of("too_large", f"page_idx {sheet.page_idx} is {size}", where=sheet.path, fix=fix)


def region(sheet: Sheet, box: Box, *, dpi: float, max_pixels: int) -> Raster:
    """Return the raster of a box of the unrotated page with a small margin, clipped to the page.

    A box that does not lie on the page is a fault: anything else would be shown as the attachment.
    """
    across, down = sheet.unrotated
    if min(across, down) <= 0 or not lies_on(box, width=across, height=down):
        sides = ", ".join(f"{side:g}" for side in box)
        page = f"page_idx {sheet.page_idx}, which is {across:g} × {down:g} points"
        fix = "give x0, y0, x1, y1 in points of the unrotated page, from its top left"
        message = f"the box {sides} does not lie on {page}"
        raise EvidenceFault.of("box_off_page", message, where=sheet.path, fix=fix)
    x0, y0, x1, y1 = box_to_pixels(sheet.turned, box)
    left, top = max(x0 - MARGIN, 0.0), max(y0 - MARGIN, 0.0)
    right, bottom = min(x1 + MARGIN, sheet.width), min(y1 + MARGIN, sheet.height)
    return _raster((left, top, right, bottom), dpi, max_pixels)


def zoomed(sheet: Sheet, region: Box, *, width: int, max_pixels: int) -> Raster:
    """Return the raster of a region (left, top, width, height in percent of the displayed page).

    Whole pixels cover it exactly: `width` across, fewer where it would have more than `max_pixels`.
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
    """At `dpi`, or less where `max_pixels` require it, sides rounded up."""
    width, height = area[2] - area[0], area[3] - area[1]
    scale = math.sqrt(max_pixels / (width * height))
    while math.ceil(width * scale) * math.ceil(height * scale) > max_pixels and scale > 0:
        scale *= 0.999
    scale = min(dpi / POINTS_PER_INCH, scale)
    return Raster(area, (scale, 0.0, 0.0, scale, 0.0, 0.0))


def grey_of(pixels: bytes) -> bytes | None:
    """Return an RGB picture in grey, one byte a pixel, None if it has colour."""
    step = SAMPLE * CHANNELS
    if not pixels[::step] == pixels[1::step] == pixels[2::step]:
        return None
    red = pixels[::CHANNELS]
    return red if red == pixels[1::CHANNELS] == pixels[2::CHANNELS] else None


def encode(pixels: bytes, width: int, height: int, *, max_bytes: int) -> tuple[bytes, Mime]:
    """Encode an RGB picture (3 bytes a pixel, rows from the top) within `max_bytes`.

    PNG, grey where the picture is, else JPEG; the smallest JPEG if none is within the bound, so that the
    caller uses fewer pixels.
    """
    grey = grey_of(pixels)
    mode, samples = ("L", grey) if grey is not None else ("RGB", pixels)
    data = encode_png(samples, width, height, channels=len(mode))
    if len(data) <= max_bytes:
        return data, "image/png"
    from PIL import Image  # most workers never need it

    image = Image.frombuffer(mode, (width, height), samples, "raw", mode, 0, 1)
    for quality in QUALITIES:
        jpeg = BytesIO()
        image.save(jpeg, "JPEG", quality=quality)
        if jpeg.tell() <= max_bytes:
            break
    return jpeg.getvalue(), "image/jpeg"
