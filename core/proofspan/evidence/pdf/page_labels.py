"""Pages by their printed labels ("iv", "A-3")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from proofspan.evidence.types import SpanQuery

#: Characters of a label, and pages that bear it, in a note.
MAX_SHOWN, MAX_LISTED = 40, 5


def with_page(query: SpanQuery, labels: Sequence[str]) -> tuple[SpanQuery, str]:
    """Return the query with the page that its printed label names, and a note on that label.

    A label names a page only where exactly one bears it; it is never converted to an index. A cited
    `page_idx` takes precedence.
    """
    label = query.cited_label
    if label is None:
        return query, ""
    pages = pages_labelled(label, labels)
    listed = ", ".join(map(str, pages[:MAX_LISTED])) + (", …" if len(pages) > MAX_LISTED else "")
    shown = f"“{label[:MAX_SHOWN]}”"
    if query.cited_page_idx is not None:
        if not pages or query.cited_page_idx in pages:
            return query, ""
        return query, f"{shown} is printed on page_idx {listed}, not on the cited page_idx"
    if len(pages) == 1:
        return replace(query, cited_page_idx=pages[0]), ""
    if pages:
        return query, f"{shown} is printed on page_idx {listed}: all pages were searched"
    if not any(labels):
        return query, f"the document has no page labels to find {shown} by: all pages were searched"
    return query, f"no page is labelled {shown}: all pages were searched"


def pages_labelled(label: str, labels: Sequence[str]) -> list[int]:
    """Return the pages that bear a label as printed; if none does, those that differ from it only in case."""
    label = label.strip()
    exact = [page_idx for page_idx, printed in enumerate(labels) if printed and printed.strip() == label]
    folded = label.casefold()
    return exact or [idx for idx, printed in enumerate(labels) if printed and printed.casefold() == folded]
