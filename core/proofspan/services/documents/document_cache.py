"""A cache of located spans and rendered pages, valid while their file stays the same.

A click reruns a whole page script; what it showed before must not cost a worker's time again. Keys hold the
file's fingerprint, so that a replaced document is read again.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from proofspan.contracts.records.records import Box
from proofspan.errors import EvidenceFault, Fault, Problem
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.text.text_document import TextDocument, locate_in_text
from proofspan.evidence.text_file import read_text
from proofspan.evidence.types import DocumentInfo, FoundSpan, PageImage, Picture, SpanQuery
from proofspan.fingerprints import ABSENT, file_state
from proofspan.recent import Recent

T = TypeVar("T")
V = TypeVar("V")
Fingerprint = tuple[str, str]

#: Faults that cost a worker, and up to its whole time limit.
COSTLY = frozenset({"timed_out", "crashed"})
CACHED_FAULTS = 256
CACHED_SPANS = 4_096
CACHED_PAGES = 64
#: Bytes of rendered regions and picture files: a region has some 20 kB, a picture file up to 7 MB.
CACHED_PICTURE_BYTES = 64 * 1024 * 1024
#: A text of the largest size takes 150 MB with its words.
CACHED_TEXTS = 3


class Placer:
    """A `PdfPool` with a cache, which also reads documents without pages. Methods raise `EvidenceFault`.

    A fault that cost a worker, by crashing it or by running into its time limit, is cached until `forget`:
    for a page, or for locating any quote of a document. Other faults are not cached.
    """

    def __init__(self, source: PdfPool) -> None:
        self._source = source
        self._documents: Recent[DocumentInfo] = Recent(CACHED_PAGES)
        self._pages: Recent[PageImage] = Recent(CACHED_PAGES)
        self._texts: Recent[TextDocument] = Recent(CACHED_TEXTS)
        self._pictures: Recent[Picture] = Recent(
            CACHED_PICTURE_BYTES, weigh=lambda picture: len(picture.data)
        )
        self._spans: Recent[FoundSpan] = Recent(CACHED_SPANS)
        self._refused: Recent[dict[object, Problem]] = Recent(CACHED_FAULTS)

    def forget(self, path: Path) -> None:
        """Clear the cached faults of a file."""
        self._refused.forget(fingerprint(path))

    def document(self, path: Path) -> DocumentInfo:
        """Return page count and printed labels."""
        return self._cached(self._documents, "pages", self._source.document, path)

    def known_document(self, path: Path) -> DocumentInfo | None:
        """Return the same where it is cached, without opening the file."""
        return self._documents.get((fingerprint(path),))

    def page(self, path: Path, page_idx: int) -> PageImage:
        """Render one page, with its words."""
        return self._cached(
            self._pages, page_idx, partial(self._source.show, with_words=True), path, page_idx
        )

    def clip(self, path: Path, page_idx: int, box: Box) -> Picture:
        """Render a region of a page; `PdfPool.clip` has the units."""
        return self._cached(self._pictures, page_idx, self._source.clip, path, page_idx, box)

    def detail(self, path: Path, page_idx: int, region: Box, width: int) -> Picture:
        """Render a part of a page; `PdfPool.detail` has the units."""
        return self._cached(self._pictures, page_idx, self._source.detail, path, page_idx, region, width)

    def picture(self, path: Path) -> Picture:
        """Decode a picture file."""
        return self._cached(self._pictures, "picture", self._source.picture, path)

    def locate(
        self, path: Path, queries: Sequence[SpanQuery], *, likely_page: int | None = None
    ) -> list[FoundSpan]:
        """Locate the queries, in order; only those not cached are searched for.

        `likely_page` is the page that will probably be requested next: it is rendered in the same request.
        """
        key = (fingerprint(path), likely_page)

        def search(missing: Sequence[SpanQuery]) -> list[FoundSpan]:
            if likely_page is None or self._pages.get(key) is not None:
                return self._source.locate_many(path, missing)
            found, image = self._source.look(path, missing, likely_page, with_words=True)
            if image is not None:
                self._pages.put(key, image)
            return found

        return self._located(
            path, queries, lambda missing: self._requested(path, "words", lambda: search(missing))
        )

    def locate_each(self, path: Path, queries: Sequence[SpanQuery]) -> Iterator[FoundSpan | Problem]:
        """Yield at least one result, in order, up to the first problem."""
        for query in queries:
            try:
                yield self.locate(path, [query])[0]
            except Fault as fault:
                yield fault.problems[0]
                return

    def text(self, path: Path) -> TextDocument:
        """Return a document without pages."""
        return self._texts.get_or_make(fingerprint(path), lambda: read_text(path))

    def locate_in_text(self, path: Path, queries: Sequence[SpanQuery]) -> list[FoundSpan]:
        """Locate the queries, in order, in a document without pages."""
        text = self.text(path)
        return self._located(path, queries, lambda missing: [locate_in_text(each, text) for each in missing])

    def _cached(
        self, cache: Recent[V], subject: object, request: Callable[..., V], path: Path, *args: Hashable
    ) -> V:
        key = (fingerprint(path), *args)
        return cache.get_or_make(key, lambda: self._requested(path, subject, partial(request, path, *args)))

    def _requested(self, path: Path, subject: object, request: Callable[[], T]) -> T:
        """The result of a request, unless this `subject` of the file cost a worker before."""
        refused = self._refused.get_or_make(fingerprint(path), dict)
        if (problem := refused.get(subject)) is not None:
            raise EvidenceFault(problem)
        try:
            return request()
        except EvidenceFault as fault:
            if fault.problems[0].code in COSTLY:
                refused[subject] = fault.problems[0]
            raise

    def _located(
        self,
        path: Path,
        queries: Sequence[SpanQuery],
        search: Callable[[Sequence[SpanQuery]], list[FoundSpan]],
    ) -> list[FoundSpan]:
        stamp = fingerprint(path)
        found = {query: self._spans.get((stamp, query)) for query in queries}
        missing = [query for query, span in found.items() if span is None]
        for query, fresh in zip(missing, search(missing) if missing else (), strict=True):
            found[query] = fresh
            self._spans.put((stamp, query), fresh)
        return [span for query in queries if (span := found[query]) is not None]


def fingerprint(path: Path) -> Fingerprint:
    """Return path, size and time of the last change. EvidenceFault where there is no file."""
    state = file_state(path)
    if state == ABSENT:
        message = "the file of the document does not exist or cannot be reached"
        fix = f"correct its path, or put it there: cp FILE {shlex.quote(str(path))}"
        raise EvidenceFault.of("missing", message, where=str(path), fix=fix)
    return str(path), state
