"""What a browser says of the page viewer, checked: whatever else it may send is nothing. Pure."""

from __future__ import annotations

from core.ui.safe import clean
from core.ui.viewer_page import ViewerPage


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
