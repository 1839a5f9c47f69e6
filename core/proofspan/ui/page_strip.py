"""All pages of the document below the shown one: where the answer cites, what is gold, what was retrieved."""

from __future__ import annotations

from collections.abc import Sequence

from proofspan.errors import Fault
from proofspan.services.marks import page_marks
from proofspan.services.spans import PageView, Target
from proofspan.ui import documents
from proofspan.ui.state import change_view
from proofspan.ui.strip import show_strip


def show_pages(shown: PageView, targets: Sequence[Target]) -> None:
    """The strip of the shown page's document; nothing where it has no pages. A cell goes to its page."""
    if shown.document is None or not shown.page_count or shown.page_idx is None:
        return
    asked = {target.id: target for target in (*targets, shown.target)}
    show_strip(
        page_marks(asked.values(), shown.found, shown.document.doc_id),
        page_count=shown.page_count,
        page_idx=shown.page_idx,
        key="pages",
        on_go=lambda page_idx: change_view(page=page_idx),
        labels=_labels(shown),
    )


def _labels(shown: PageView) -> Sequence[str]:
    """The document's printed labels, which opening it has read; none while it cannot be asked for them."""
    if shown.path is None:
        return ()
    try:
        return documents.placer().document(shown.path).labels
    except Fault:  # the page itself says what is wrong
        return ()
