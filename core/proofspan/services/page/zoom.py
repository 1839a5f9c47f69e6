"""Render a detail of a page for a viewer that has zoomed in, so that its letters are sharp.

The requested region is rounded to a coarse grid, so that the next notch of the wheel finds it cached.
"""

from __future__ import annotations

import math

from proofspan.errors import Fault
from proofspan.evidence.types import Picture
from proofspan.services.documents.document_cache import Placer
from proofspan.services.page.shapes import Percent
from proofspan.services.page.view import PageView

#: Regions begin and end at multiples of this, in percent of the page.
GRID = 5.0
#: Widths in pixels are multiples of this, at most the last.
WIDTH_STEP, MAX_WIDTH = 256, 4_096


def snapped(region: Percent) -> Percent:
    """Return the smallest region of the grid that contains `region`, within the page."""
    left, top = (min(math.floor(max(side, 0.0) / GRID) * GRID, 100.0 - GRID) for side in region[:2])
    right, bottom = (
        max(min(math.ceil((start + length) / GRID) * GRID, 100.0), least + GRID)
        for start, length, least in zip(region[:2], region[2:], (left, top), strict=True)
    )
    return left, top, right - left, bottom - top


def detail_of(placer: Placer, shown: PageView, region: Percent, width: int) -> Picture | None:
    """Render a region (left, top, width, height in percent of the displayed page) about `width` pixels wide.

    The picture covers exactly that region: pass it `snapped`, so that it is rendered once. Coarser where it
    would have too many pixels or bytes. None where there is no page or it cannot be rendered.
    """
    left, top, across, down = region
    is_on_page = left >= 0 and top >= 0 and 0 < across <= 100 - left and 0 < down <= 100 - top
    if shown.path is None or shown.image is None or not is_on_page:
        return None
    pixels = min(math.ceil(max(width, 1) / WIDTH_STEP) * WIDTH_STEP, MAX_WIDTH)
    try:
        return placer.detail(shown.path, shown.image.page.page_idx, region, pixels)
    except Fault:
        return None
