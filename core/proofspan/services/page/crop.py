"""The part of a page around a passage, with its boxes: a picture to look at without opening the page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from proofspan.errors import Fault
from proofspan.evidence.types import Picture
from proofspan.services.documents.document_cache import Placer
from proofspan.services.page.shapes import Layer, PageSpan, Percent
from proofspan.services.page.view import PageView
from proofspan.wording import page_words

#: Where a passage begins in its crop, as a share of the crop's height and of the page's width.
ABOVE, BEFORE = 0.28, 0.055
#: The most of a page's width that a crop grows to for a passage that is wider than its share.
MOST_ROOM = 0.68
#: Characters of a document without pages that are shown instead of a picture.
MOST_TEXT = 240


@dataclass(frozen=True, slots=True)
class CropBox:
    """A box over a crop, in percent of it; an `is_extent` is the passage that the box is a part of."""

    layer: Layer
    rect: Percent
    is_verified: bool = True
    is_extent: bool = False


@dataclass(frozen=True, slots=True)
class Crop:
    """A picture with its boxes, or `text` of a document without pages, or the reason for neither (`missing`).

    `place` names document and page.
    """

    place: str
    picture: Picture | None = None
    boxes: tuple[CropBox, ...] = ()
    text: str = ""
    missing: str = ""


def crop_of(view: PageView, placer: Placer, *, share: float, aspect: float, pixels: int) -> Crop:
    """Return the crop of a located page around its chosen passage, with the boxes that the page shows.

    `share` (0–1) of the page's width is shown, more for a wide passage, from its left; `aspect` is the crop's
    width divided by its height, and `pixels` its width. What cannot be drawn is `missing`, never a fault.
    """
    title = view.document.title or view.document.doc_id if view.document else view.target.doc_id or ""
    place = " · ".join(filter(None, (title, _page(view))))
    if view.problem is not None:
        return Crop(place, missing=view.problem.message)
    if view.text is not None:
        kind = view.target.kind
        lines = (
            "".join(run.text if kind in run.layers else " " for run in line.runs) for line in view.text.lines
        )
        text = " ".join(" ".join(lines).split()) or " ".join(view.target.query.quote.split())
        return Crop(place, text=text[:MOST_TEXT])
    image, path = view.image, view.path
    if image is None or path is None or view.page_idx is None:
        return Crop(place, missing="the page is not drawn")
    marked = [span for span in view.spans if span.chosen or span.layer == "gold"]
    chosen = next((span for span in view.spans if span.chosen), None)
    region = _region(chosen, share, aspect, image.width / image.height)
    try:
        picture = placer.detail(path, view.page_idx, region, pixels)
    except Fault as fault:
        return Crop(place, missing=fault.problems[0].message)
    boxes = tuple(box for span in marked for box in _boxes(span, region))
    return Crop(place, picture, boxes, missing="" if chosen else "the passage was not found on this page")


def _page(view: PageView) -> str:
    if view.page_idx is None or (view.document is not None and not view.document.paged):
        return ""
    return page_words(view.page_idx, view.printed)


def _region(chosen: PageSpan | None, share: float, aspect: float, page_aspect: float) -> Percent:
    """Return the crop in percent of the page, around the first box of the passage, inside the page."""
    rects = (chosen.rects or chosen.extent) if chosen else ()
    room = min(MOST_ROOM, rects[0][2] / 100 + 2 * BEFORE) if rects else 0.0
    width = 100 * min(max(share, room), 1.0)
    height = min(100.0, width * page_aspect / aspect)
    left, top = rects[0][:2] if rects else (0.0, 0.0)
    left = min(max(0.0, left - 100 * BEFORE), 100 - width)
    top = min(max(0.0, top - ABOVE * height), 100 - height)
    return round(left, 3), round(top, 3), round(width, 3), round(height, 3)


def _boxes(span: PageSpan, region: Percent) -> Iterator[CropBox]:
    """Yield the boxes of a span inside the crop, in percent of it."""
    left, top, width, height = region
    for rects, is_extent in ((span.extent, True), (span.rects, False)):
        for x, y, across, down in rects:
            x0, x1 = (min(max(each - left, 0.0), width) * 100 / width for each in (x, x + across))
            y0, y1 = (min(max(each - top, 0.0), height) * 100 / height for each in (y, y + down))
            if x1 > x0 and y1 > y0:
                yield CropBox(span.layer, (x0, y0, x1 - x0, y1 - y0), span.is_verified, is_extent)
