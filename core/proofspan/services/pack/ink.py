"""Text of others in a pack: redacted, without control characters, cut, and escaped."""

from __future__ import annotations

import html
from dataclasses import dataclass
from urllib.parse import quote

from proofspan.services.pack.redaction import Redaction
from proofspan.wording import Labels, no_labels, page_words, printed_on

#: Characters of one text that are shown.
MOST_TEXT = 20_000


@dataclass(frozen=True, slots=True)
class Ink:
    """Writes texts into HTML: all that a pack shows goes through here.

    `labels` return the printed numbers of a document's pages; those of `unpaged` are texts without pages.
    """

    redaction: Redaction
    labels: Labels = no_labels
    unpaged: frozenset[str] = frozenset()

    def text(self, text: str | None, most: int = MOST_TEXT) -> str:
        """Return a text for an element or a quoted attribute; one longer than `most` is cut and says so."""
        shown = self.redaction.clean(text or "")
        if len(shown) > most:
            shown = f"{shown[:most].rstrip()}… ({len(shown) - most:,} more characters)"
        return html.escape(shown)

    def page(self, doc_id: str | None, page_idx: int | None) -> str:
        """Return a page's name, not escaped yet; "" without one."""
        if page_idx is None or doc_id in self.unpaged:
            return ""
        return page_words(page_idx, printed_on(page_idx, self.labels(doc_id)))

    def place(self, doc_id: str | None, page_idx: int | None, chunk_id: str | None = None) -> str:
        """Return document, page and chunk, for HTML."""
        parts = (doc_id, self.page(doc_id, page_idx), chunk_id)
        return self.text(", ".join(filter(None, parts)) or "no place")

    def name(self, text: str) -> str:
        """Return a question's name for an `id`, and behind the `#` of an address."""
        return quote(self.redaction.clean(text), safe="")
