"""The words and boxes of cited PDFs as Parquet, each PDF read once, by a worker that may be killed.

After this no task needs a PDF library.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from proofspan.errors import EvidenceFault, Problem
from proofspan.evidence.locate_bulk import MAX_FAULTS, OF_THE_DOCUMENT
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.text.page_text import PageText
from proofspan.evidence.text.word_file import write_words
from proofspan.evidence.types import DocumentInfo
from proofspan.services.passes.placed_rows import CitedDocument, cited_document
from proofspan.spark.labels import manifest_at
from proofspan.store.files.located import locator_version
from proofspan.store.files.run_file import new_file

#: The folder of the files of words, in that of the output.
WORDS = "words"
#: Seconds that a page may take, as a quote may locally.
TIMEOUT_S = 60.0
#: A document is given up after this many seconds, and so much more for each of its pages.
DOCUMENT_S, MORE_S = MAX_FAULTS * TIMEOUT_S, 0.1
#: Pages of a document that are read.
MOST_PAGES = 100_000
READ = pa.schema([("doc_id", pa.string()), ("words", pa.int64())])


def words_file(out: Path, document: CitedDocument) -> Path:
    """Return where the words of a PDF in this state are."""
    name = document.path.name if document.path is not None else ""
    identity = repr((locator_version(), name, document.fingerprint))
    return out / WORDS / f"{hashlib.sha256(identity.encode()).hexdigest()[:32]}.parquet"


@dataclass(frozen=True, slots=True)
class ReadDocuments:
    """Reads PDFs with a PDF worker of its own, and writes the file of each in one step."""

    manifest: Path
    out: Path

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches of `READ` for batches of document ids."""
        (self.out / WORDS).mkdir(exist_ok=True)
        with PdfPool(workers=1, timeout_s=TIMEOUT_S) as pool:
            for batch in batches:
                for doc_id in batch.column(0).to_pylist():
                    document = cited_document(manifest_at(self.manifest), doc_id)
                    words = 0
                    if document.path is not None and not document.is_text:
                        words = self._read(pool, document, document.path)
                    yield pa.record_batch([[doc_id], pa.array([words], pa.int64())], schema=READ)

    def _read(self, pool: PdfPool, document: CitedDocument, path: Path) -> int:
        file = words_file(self.out, document)
        if file.exists():
            return 0
        known: DocumentInfo | Problem
        try:
            known, count = pool.document(path), 0
            count = min(known.page_count, MOST_PAGES)
        except EvidenceFault as fault:
            known, count = fault.problems[0], 0
        with new_file(file.parent, file.name) as part:
            return write_words(part, known, pages_of(pool, path, count))


def pages_of(pool: PdfPool, path: Path, count: int) -> Iterator[PageText | Problem]:
    """Yield the first pages of a PDF; of one that is given up the last problem for all further pages."""
    given_up: Problem | None = None
    faults, page_idx, until = 0, 0, time.monotonic() + DOCUMENT_S + MORE_S * count
    while page_idx < count:
        if given_up is not None:
            yield given_up
            page_idx += 1
            continue
        for page in pool.words_each(path, range(page_idx, count)):
            page_idx += 1
            if isinstance(page, Problem):
                faults += 1
                if page.code in OF_THE_DOCUMENT or faults >= MAX_FAULTS:
                    given_up = page
            yield page
        if given_up is None and time.monotonic() > until:
            message = "the document took too long to read, so its other pages were left out"
            fix = "try again; if that does not help, replace the document: it is broken or hostile"
            given_up = Problem("timed_out", message, str(path), fix)
