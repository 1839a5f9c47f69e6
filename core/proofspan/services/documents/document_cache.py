"""Placed spans and drawn pages, remembered for as long as their file stays the same.

A click reruns a whole page script; what it showed before must not cost a worker's time again. Keys hold the
file's size and time of change, so that a replaced document is read anew.
"""

from __future__ import annotations

import shlex
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from proofspan.contracts.records.records import Box
from proofspan.errors import EvidenceFault, Problem
from proofspan.evidence.text.text_document import TextDocument, locate_in_text
from proofspan.evidence.text_file import read_text
from proofspan.evidence.types import DocumentInfo, FoundSpan, PageImage, Picture, SpanQuery

T = TypeVar("T")
V = TypeVar("V")
Fingerprint = tuple[str, int, int]

#: Faults that cost a worker, and up to its whole time limit.
COSTLY = frozenset({"timed_out", "crashed"})
REMEMBERED_FAULTS = 256
REMEMBERED_SPANS = 4_096
REMEMBERED_PAGES = 64
#: Bytes of drawn regions and picture files: a region has some 20 kB, a picture file up to 7 MB.
REMEMBERED_PICTURES = 64 * 1024 * 1024
#: A text of the largest size takes 150 MB with its words.
REMEMBERED_TEXTS = 3


class PageSource(Protocol):
    """What opens documents; `proofspan.evidence.pdf.pool.PdfPool` does."""

    def document(self, path: Path) -> DocumentInfo: ...

    def locate_many(self, path: Path, queries: Sequence[SpanQuery]) -> list[FoundSpan]: ...

    def look(
        self, path: Path, queries: Sequence[SpanQuery], page_idx: int, *, with_words: bool
    ) -> tuple[list[FoundSpan], PageImage | None]: ...

    def show(self, path: Path, page_idx: int, *, with_words: bool) -> PageImage: ...

    def clip(self, path: Path, page_idx: int, box: Box) -> Picture: ...

    def picture(self, path: Path) -> Picture: ...

    def detail(self, path: Path, page_idx: int, region: Box, width: int) -> Picture: ...


class Recent(Generic[V]):
    """The values asked for last, of a weight of at most `limit` together. Safe to share between threads.

    Every value weighs 1, so that `limit` is their number, unless `weigh` says otherwise.
    """

    def __init__(self, limit: int, *, weigh: Callable[[V], int] = lambda value: 1) -> None:
        self._limit = limit
        self._weigh = weigh
        self._weight = 0
        self._values: OrderedDict[Hashable, V] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> V | None:
        """The value kept under `key`, None when there is none (any more)."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: Hashable, value: V) -> None:
        """Keeps `value`; the one not asked for longest makes room."""
        with self._lock:
            if (replaced := self._values.pop(key, None)) is not None:
                self._weight -= self._weigh(replaced)
            self._values[key] = value
            self._weight += self._weigh(value)
            while self._weight > self._limit:
                _, oldest = self._values.popitem(last=False)
                self._weight -= self._weigh(oldest)

    def forget(self, key: Hashable) -> None:
        """Keep nothing under `key` any more."""
        with self._lock:
            if (dropped := self._values.pop(key, None)) is not None:
                self._weight -= self._weigh(dropped)

    def clear(self) -> None:
        """Keep nothing any more."""
        with self._lock:
            self._values.clear()
            self._weight = 0

    def get_or_make(self, key: Hashable, make: Callable[[], V]) -> V:
        """The value under `key`, made first where it is missing. Two threads may both make it."""
        found = self.get(key)
        if found is None:
            found = make()
            self.put(key, found)
        return found


class Placer:
    """A `PageSource` with a memory, which also reads documents without pages.

    What cost a worker, by ending it or by keeping it until it was ended, is not asked again before `forget`:
    a page, or the words of a document, whatever the quote. Whoever asks gets the same fault at once. Other
    faults are not remembered, the next look asks again.
    """

    def __init__(self, source: PageSource) -> None:
        self._source = source
        self._documents: Recent[DocumentInfo] = Recent(REMEMBERED_PAGES)
        self._pages: Recent[PageImage] = Recent(REMEMBERED_PAGES)
        self._texts: Recent[TextDocument] = Recent(REMEMBERED_TEXTS)
        self._pictures: Recent[Picture] = Recent(REMEMBERED_PICTURES, weigh=lambda picture: len(picture.data))
        self._spans: Recent[FoundSpan] = Recent(REMEMBERED_SPANS)
        self._refused: Recent[dict[object, Problem]] = Recent(REMEMBERED_FAULTS)

    def forget(self, path: Path) -> None:
        """Ask again what was given up of a file."""
        self._refused.forget(fingerprint(path))

    def document(self, path: Path) -> DocumentInfo:
        """How many pages, and their printed labels. Raises `EvidenceFault`."""
        return self._documents.get_or_make(
            fingerprint(path), lambda: self._asked(path, "pages", lambda: self._source.document(path))
        )

    def page(self, path: Path, page_idx: int) -> PageImage:
        """One page as a picture, with its words. Raises `EvidenceFault`."""
        key = _page_key(path, page_idx)
        return self._pages.get_or_make(
            key,
            lambda: self._asked(path, page_idx, lambda: self._source.show(path, page_idx, with_words=True)),
        )

    def clip(self, path: Path, page_idx: int, box: Box) -> Picture:
        """A region of a page as a picture. Raises `EvidenceFault`."""
        key = (fingerprint(path), page_idx, box)
        return self._pictures.get_or_make(
            key, lambda: self._asked(path, page_idx, lambda: self._source.clip(path, page_idx, box))
        )

    def detail(self, path: Path, page_idx: int, region: Box, width: int) -> Picture:
        """A part of a page, `PdfPool.detail` has the units. Raises `EvidenceFault`."""
        key = (fingerprint(path), page_idx, "detail", region, width)
        return self._pictures.get_or_make(
            key,
            lambda: self._asked(path, page_idx, lambda: self._source.detail(path, page_idx, region, width)),
        )

    def picture(self, path: Path) -> Picture:
        """A picture file, decoded. Raises `EvidenceFault`."""
        return self._pictures.get_or_make(
            fingerprint(path), lambda: self._asked(path, "picture", lambda: self._source.picture(path))
        )

    def locate(
        self, path: Path, queries: Sequence[SpanQuery], *, likely_page: int | None = None
    ) -> list[FoundSpan]:
        """The queries' places, in their order; only those not yet known are looked for.

        `likely_page` is the page that will probably be asked for next: it is drawn in the same request.
        """

        def locate(missing: Sequence[SpanQuery]) -> list[FoundSpan]:
            if likely_page is None or self._pages.get(_page_key(path, likely_page)) is not None:
                return self._asked(path, "words", lambda: self._source.locate_many(path, missing))
            found, image = self._asked(
                path, "words", lambda: self._source.look(path, missing, likely_page, with_words=True)
            )
            if image is not None:
                self._pages.put(_page_key(path, likely_page), image)
            return found

        return self._located(path, queries, locate)

    def text(self, path: Path) -> TextDocument:
        """A document without pages. Raises `EvidenceFault` where the file is no text."""
        return self._texts.get_or_make(fingerprint(path), lambda: read_text(path))

    def locate_in_text(self, path: Path, queries: Sequence[SpanQuery]) -> list[FoundSpan]:
        """The queries' places in such a document, as `locate` has them for pages."""
        text = self.text(path)
        return self._located(
            path, queries, lambda missing: [locate_in_text(query, text) for query in missing]
        )

    def _asked(self, path: Path, what: object, ask: Callable[[], T]) -> T:
        """What the source says, unless this of the file was given up."""
        refused = self._refused.get_or_make(fingerprint(path), dict)
        if (problem := refused.get(what)) is not None:
            raise EvidenceFault(problem)
        try:
            return ask()
        except EvidenceFault as fault:
            if fault.problems[0].code in COSTLY:
                refused[what] = fault.problems[0]
            raise

    def _located(
        self,
        path: Path,
        queries: Sequence[SpanQuery],
        locate: Callable[[Sequence[SpanQuery]], list[FoundSpan]],
    ) -> list[FoundSpan]:
        stamp = fingerprint(path)
        found: dict[SpanQuery, FoundSpan] = {}
        for query in queries:
            if (known := self._spans.get((stamp, query))) is not None:
                found[query] = known
        missing = [query for query in dict.fromkeys(queries) if query not in found]
        if missing:
            fresh = locate(missing)
            found.update(zip(missing, fresh, strict=True))
            for query in missing:
                self._spans.put((stamp, query), found[query])
        return [found[query] for query in queries]


def _page_key(path: Path, page_idx: int) -> Hashable:
    return fingerprint(path), page_idx


def fingerprint(path: Path) -> Fingerprint:
    """Path, size and time of change. Raises `EvidenceFault` for a file that is not there."""
    try:
        stat = path.stat()
    except OSError as error:
        raise EvidenceFault.of(
            "missing",
            f"the document cannot be read: {error.strerror}",
            where=str(path),
            fix=f"correct its path, or put it there: cp FILE {shlex.quote(str(path))}",
        ) from error
    return str(path), stat.st_size, stat.st_mtime_ns
