"""Locate a quote in the pages of a PDF: the page of its label first, then the quote, then cells of tables.

Pure, so that it runs in the worker, which has the PDF open, as on words that were read before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from proofspan.evidence.pdf.page_labels import MAX_SHOWN, with_page
from proofspan.evidence.tables.locate_cells import locate_cells
from proofspan.evidence.text.locate import locate
from proofspan.evidence.text.page_index import Pages
from proofspan.evidence.types import FoundSpan, SpanQuery


class LabelledPages(Pages, Protocol):
    """The pages of a PDF with their printed labels."""

    @property
    def labels(self) -> Sequence[str]:
        """Printed labels by page, empty where the document has none."""


def located(query: SpanQuery, document: LabelledPages) -> FoundSpan:
    """Locate a quote; `not_found` is a result. Raises what the document raises of a page."""
    note = ""
    if query.cited_label is not None:
        query, note = with_page(query, document.labels)
    found = locate_cells(query, document, locate(query, document))
    if found.page_mismatch and query.cited_label is not None and not note:
        note = f"“{query.cited_label[:MAX_SHOWN]}” is printed on page_idx {query.cited_page_idx}"
    return replace(found, note="; ".join(filter(None, (note, found.note))))
