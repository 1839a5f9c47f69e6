"""What a browser says of the page viewer, checked: whatever else it may send is nothing. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping

from proofspan.services.places import Percent
from proofspan.ui.safe import clean
from proofspan.ui.viewer_page import Asked, ViewerPage

#: A request's name is the picture's id, four numbers and a width.
MAX_NAME = 120
MAX_WIDTH = 8_192


def turned_to(sent: object, page: ViewerPage) -> int | None:
    """The page_idx to go to: another page of the document than the shown one."""
    if not isinstance(sent, int) or isinstance(sent, bool) or sent == page.image.page.page_idx:
        return None
    return sent if 0 <= sent < (page.page_count or 0) else None


def chosen_span(sent: object, page: ViewerPage) -> str | None:
    """The id of a span: of one on the page, or of one that the order goes through."""
    if not isinstance(sent, str):
        return None
    ids = {clean(span_id): span_id for span_id in (*page.order, *(span.id for span in page.spans))}
    return ids.get(sent)


def asked_for(sent: object, page: ViewerPage) -> Asked | None:
    """A part of the very page that is shown, in percent of it, and the pixels wanted across it."""
    if not isinstance(sent, Mapping) or sent.get("id") != page.picture_id:
        return None
    name, width, region = sent.get("asked"), sent.get("width"), _region(sent.get("region"))
    if not isinstance(name, str) or len(name) > MAX_NAME or region is None:
        return None
    if not isinstance(width, int) or isinstance(width, bool) or not 1 <= width <= MAX_WIDTH:
        return None
    return Asked(clean(name), page.picture_id, region, width)


def _region(sent: object) -> Percent | None:
    """Left, top, width and height within the page."""
    if not isinstance(sent, list) or len(sent) != 4:
        return None
    if not all(isinstance(side, int | float) and not isinstance(side, bool) for side in sent):
        return None
    left, top, width, height = (float(side) for side in sent)
    if not all(map(math.isfinite, (left, top, width, height))) or width <= 0 or height <= 0:
        return None
    is_inside = left >= 0 and top >= 0 and left + width <= 100.01 and top + height <= 100.01
    return (left, top, width, height) if is_inside else None
