"""A document's canonical text, from which its revision is computed, and the version of its reader."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.text_file import read_text

#: Pages read in one request, which has the whole time limit.
PAGES_A_REQUEST = 32
#: Separates the pages of a canonical text.
PAGE_BREAK = "\f"


def document_text(path: Path, pool: PdfPool, *, paged: bool) -> str:
    """Return the canonical text: of a PDF its pages' text layer, separated by form feeds, else the text.

    Raises `EvidenceFault` where the document cannot be read.
    """
    if not paged:
        return read_text(path).text
    count = pool.document(path).page_count
    steps = (range(first, first + PAGES_A_REQUEST) for first in range(0, count, PAGES_A_REQUEST))
    return PAGE_BREAK.join(text for pages in steps for text in pool.page_texts(path, pages))


@cache
def extractor(*, paged: bool) -> str:
    """Return the programs that read a document's text with their versions; others may read another text."""
    from importlib.metadata import PackageNotFoundError, version  # slow to import, and rarely needed

    names = ("PyMuPDF", "Proofspan") if paged else ("Proofspan",)
    found = []
    for name in names:
        try:
            found.append(f"{name} {version(name.lower())}")
        except PackageNotFoundError:
            found.append(name)
    return ", ".join(found)
