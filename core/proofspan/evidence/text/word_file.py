"""A document's words and boxes in one Parquet file, in which quotes are located without a PDF library.

A row is a page, a row group a few pages, so that a quote reads the pages around the one that it cites.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from proofspan.errors import EvidenceFault, Problem
from proofspan.evidence.text.page_index import WordIndex
from proofspan.evidence.text.page_record import page_of, record_of
from proofspan.evidence.text.page_text import PageText
from proofspan.evidence.types import DocumentInfo

#: Pages of a row group, which are read together.
PAGES_A_GROUP = 16
#: Words kept of a document, about a kilobyte each with their tokens; the pages used last stay.
MOST_WORDS = 400_000
_NUMBERS = pa.list_(pa.float64())
#: The fields of `proofspan.evidence.text.page_record`; `problem` is JSON, of a page that could not be read in
#: time or crashed its reader.
PAGE_SCHEMA = pa.schema(
    [
        ("page_idx", pa.int32()),
        ("words", pa.list_(pa.string())),
        ("boxes", _NUMBERS),
        ("touching", pa.list_(pa.bool_())),
        ("width", pa.float64()),
        ("height", pa.float64()),
        ("rotation", pa.int32()),
        ("lettered", pa.list_(pa.int32())),
        ("characters", pa.list_(pa.int32())),
        ("letters", _NUMBERS),
        ("problem", pa.string()),
    ]
)
_INFO = b"proofspan.document"


def write_words(
    path: Path, document: DocumentInfo | Problem, pages: Iterable[PageText | Problem] = ()
) -> int:
    """Write the pages of a document, from the first on, and return the number of words.

    `document` is the problem of one that cannot be opened.
    """
    schema, words = PAGE_SCHEMA.with_metadata({_INFO: orjson.dumps(document)}), 0
    with pq.ParquetWriter(path, schema, compression="zstd", write_page_checksum=True) as file:
        numbered = enumerate(pages)
        while group := list(islice(numbered, PAGES_A_GROUP)):
            rows = []
            for page_idx, page in group:
                row: dict[str, Any] = {"page_idx": page_idx}
                if isinstance(page, Problem):
                    row["problem"] = orjson.dumps(page).decode()
                else:
                    row |= record_of(page)
                    words += len(page.words)
                rows.append(row)
            file.write_table(pa.Table.from_pylist(rows, schema))
    return words


class WordFile:
    """The pages of a document as `write_words` wrote them, for one thread; read when they are needed."""

    def __init__(self, path: Path) -> None:
        """Open a file. EvidenceFault with the problem of a document that could not be opened."""
        self._path = path
        self._file = pq.ParquetFile(path, page_checksum_verification=True)
        info = orjson.loads(self._file.schema_arrow.metadata[_INFO])
        if "code" in info:
            self._file.close()
            raise EvidenceFault(Problem(**info))
        self.page_count: int = info["page_count"]
        self.labels: Sequence[str] = tuple(info["labels"])
        self._groups: OrderedDict[int, list[PageText | Problem]] = OrderedDict()
        self._words = 0
        self._index: tuple[range, WordIndex] | None = None

    def page_text(self, page_idx: int) -> PageText:
        """Return the words of one page. EvidenceFault for one that could not be read."""
        if page_idx >= self._file.metadata.num_rows:
            known = f"{self._file.metadata.num_rows:,} of its {self.page_count:,} pages"
            message = f"the document is too large: only the first {known} were read"
            fix = "split it into several documents, each with its own doc_id"
            raise EvidenceFault.of("too_large", message, where=str(self._path), fix=fix)
        page = self._group(page_idx // PAGES_A_GROUP)[page_idx % PAGES_A_GROUP]
        if isinstance(page, Problem):
            raise EvidenceFault(page)
        return page

    def word_index(self, pages: range) -> WordIndex:
        """Return the index over these pages, which reads them all the first time."""
        if self._index is None or self._index[0] != pages:
            self._index = pages, WordIndex(map(self.page_text, pages), pages.start)
        return self._index[1]

    def _group(self, number: int) -> list[PageText | Problem]:
        pages = self._groups.pop(number, None)
        if pages is None:
            rows = self._file.read_row_group(number, use_threads=False).to_pylist()
            pages = [page_of(row) if row["problem"] is None else _problem(row["problem"]) for row in rows]
            self._words += _words_of(pages)
        self._groups[number] = pages
        while self._words > MOST_WORDS and len(self._groups) > 1:
            _, oldest = self._groups.popitem(last=False)
            self._words -= _words_of(oldest)
        return pages

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _problem(text: str) -> Problem:
    return Problem(**orjson.loads(text))


def _words_of(pages: Iterable[PageText | Problem]) -> int:
    return sum(len(page.words) for page in pages if isinstance(page, PageText))
