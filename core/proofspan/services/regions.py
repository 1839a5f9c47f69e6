"""Where on a shown page an attachment lies, so that it can be outlined and scrolled to."""

from __future__ import annotations

from proofspan.contracts.records import Attachment, Box
from proofspan.contracts.render_ref import PageRef, parse_render_ref
from proofspan.evidence.attachments import CatalogueIndex
from proofspan.services.places import Percent, shapes
from proofspan.services.spans import PageView


def attachment_on(view: PageView, catalogue: CatalogueIndex, attachment_id: str) -> Attachment | None:
    """The attachment of that id on the shown page, None where the page has none such."""
    if view.document is None or view.page_idx is None:
        return None
    entries = catalogue.by_page.get((view.document.doc_id, view.page_idx), ())
    on_page = (entry.attachment for entry in entries)
    return next((each for each in on_page if each.attachment_id == attachment_id), None)


def region_of(attachment: Attachment, view: PageView) -> Percent | None:
    """The attachment's box in percent of the shown picture; None where no box of this very page is known."""
    box = _box(attachment, view)
    if box is None or view.image is None:
        return None
    return next(iter(shapes([box], view.image)), None)


def _box(attachment: Attachment, view: PageView) -> Box | None:
    """What is drawn of it, else the place that its record gives, in points of the unrotated page."""
    ref = parse_render_ref(attachment.render_ref or "")
    doc_id = view.document.doc_id if view.document else None
    if isinstance(ref, PageRef) and (ref.doc_id, ref.page_idx) == (doc_id, view.page_idx):
        return ref.box
    is_here = (attachment.doc_id, attachment.page_idx) == (doc_id, view.page_idx)
    return attachment.box if is_here and attachment.box_space == "points" else None
