"""Highlights composed over a page's raster: tinted like a marker pen, with a frame, the ink stays readable.

The document itself is never painted on: an annotation would change later renders.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from proofspan.contracts.records import Box
from proofspan.evidence.geometry import box_to_pixels
from proofspan.evidence.png import CHANNELS, decode_rgb, encode_rgb
from proofspan.evidence.types import PageImage

Pixels = npt.NDArray[np.uint8]
#: Cited is amber. White paper turns into the tint, black ink stays black; the frame is there without colour.
TINT = (255, 214, 102)
FRAME = (178, 106, 0)
FRAME_PIXELS = 1
MARGIN_PIXELS = 1


def with_highlights(image: PageImage, boxes: Sequence[Box]) -> bytes:
    """The page's picture as PNG with these boxes (points of the unrotated page) highlighted.

    Each channel is darkened by the tint (multiply), once where boxes overlap: ink stays as dark as it was.
    """
    pixels = np.frombuffer(decode_rgb(image.data), dtype=np.uint8)
    pixels = pixels.reshape(image.height, image.width, CHANNELS).copy()
    areas = [_area(box_to_pixels(image.to_pixels, box), image) for box in boxes]
    for area in areas:
        _frame(pixels, area)
    marked = np.zeros((image.height, image.width), dtype=bool)
    for left, top, right, bottom in areas:
        marked[top:bottom, left:right] = True
    pixels[marked] = pixels[marked].astype(np.uint16) * np.array(TINT, dtype=np.uint16) // 255
    return encode_rgb(pixels.tobytes(), image.width, image.height)


def _area(box: Box, image: PageImage) -> tuple[int, int, int, int]:
    """Whole pixels around a box with a small margin, inside the picture: left, top, right, bottom."""
    left, top = int(box[0]) - MARGIN_PIXELS, int(box[1]) - MARGIN_PIXELS
    right, bottom = int(box[2]) + 1 + MARGIN_PIXELS, int(box[3]) + 1 + MARGIN_PIXELS
    return max(0, left), max(0, top), min(image.width, right), min(image.height, bottom)


def _frame(pixels: Pixels, area: tuple[int, int, int, int]) -> None:
    """A thin line around the area, outside of it as far as the picture reaches."""
    left, top, right, bottom = area
    outer_left, outer_top = max(0, left - FRAME_PIXELS), max(0, top - FRAME_PIXELS)
    inside = pixels[top:bottom, left:right].copy()
    pixels[outer_top : bottom + FRAME_PIXELS, outer_left : right + FRAME_PIXELS] = FRAME
    pixels[top:bottom, left:right] = inside
