"""A document's canonical text, from which its revision is computed, and what has read it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Protocol

from proofspan.evidence.text_file import read_text
from proofspan.evidence.types import DocumentInfo

#: So many pages are read in one request, each of which has the whole time limit.
PAGES_A_REQUEST = 32
#: Parts the pages of a canonical text.
PAGE_BREAK = "\f"


class PageTexts(Protocol):
    """What reads PDFs; `proofspan.evidence.pdf.pool.PdfPool` does."""

    def document(self, path: Path) -> DocumentInfo: ...

    def page_texts(self, path: Path, pages: range) -> list[str]: ...


def document_text(path: Path, pool: PageTexts, *, paged: bool) -> str:
    """The canonical text: of a PDF its pages' text layer, parted by form feeds, else the text itself.

    EvidenceFault where the document cannot be read.
    """
    if not paged:
        return read_text(path).text
    count = pool.document(path).page_count
    steps = (range(first, first + PAGES_A_REQUEST) for first in range(0, count, PAGES_A_REQUEST))
    return PAGE_BREAK.join(text for pages in steps for text in pool.page_texts(path, pages))


@cache
def extractor(*, paged: bool) -> str:
    """What reads a document's text, with its version: another one may read another text."""
    from importlib.metadata import PackageNotFoundError, version  # slow to import, and seldom asked for

    names = ("PyMuPDF", "Proofspan") if paged else ("Proofspan",)
    found = []
    for name in names:
        try:
            found.append(f"{name} {version(name.lower())}")
        except PackageNotFoundError:
            found.append(name)
    return ", ".join(found)
