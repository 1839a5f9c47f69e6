"""Locate many quotes in many documents on a few workers.

A document stays with one lane, and so with one worker, which opens and reads it once. A lane without
documents left helps with one that has many quotes left. The cost of a hostile document is bounded: quotes
that hang or crash result in a problem, and after a few of those the document is given up.
"""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Protocol

from proofspan.errors import EvidenceFault, Problem
from proofspan.evidence.text.text_document import TextDocument, locate_in_text
from proofspan.evidence.text_file import read_text
from proofspan.evidence.types import FoundSpan, SpanQuery

Answer = FoundSpan | Problem
OnDone = Callable[[int, int], None]
InText = Callable[[SpanQuery, TextDocument], FoundSpan]
#: Documents given up because they cost time, each with the reason.
GivenUp = dict[Path, Problem]

#: Quotes taken from a document at once.
BATCH = 32
#: A document with this many quotes left is worth opening by a second worker.
WORTH_SHARING = 128
#: A document is given up after this many faults.
MAX_FAULTS = 5
#: Faults of the document itself, whatever the quote; and of the quote, whatever the document.
OF_THE_DOCUMENT = frozenset({"missing", "not_a_pdf", "locked", "no_pages"})
OF_THE_QUOTE = frozenset({"not_sendable"})
#: Faults that may not occur again, and that cost up to the time limit each time.
TEMPORARY = frozenset({"timed_out", "crashed"})
#: Seconds. A wait without end misses a Ctrl-C that another thread received, or that came just before.
POLL_S = 0.2


@dataclass(frozen=True, slots=True)
class Ask:
    """A quote and the file to search; `is_text` for a document without pages."""

    path: Path
    query: SpanQuery
    is_text: bool = False


class Locator(Protocol):
    """Locates quotes in PDFs, like `proofspan.evidence.pdf.pool.PdfPool`."""

    def locate_each(self, path: Path, queries: Sequence[SpanQuery]) -> Iterator[Answer]:
        """Yield at least one result, in order, up to the first problem."""
        ...


def locate_bulk(
    asks: Sequence[Ask],
    locator: Locator,
    *,
    workers: int,
    on_done: OnDone | None = None,
    given_up: GivenUp | None = None,
    in_text: InText = locate_in_text,
) -> list[Answer]:
    """Locate every quote, and return spans or problems in order; equal quotes are located once.

    The results do not depend on `workers`, unless a document is given up. `on_done` is called in this thread
    with the number of results and of all. An interrupt leaves running requests to whoever closes the
    `locator`. `in_text` locates in a document without pages. Pass the same `given_up` to several calls, so
    that a document that hangs costs its time once.
    """
    given_up = {} if given_up is None else given_up
    same: dict[Ask, list[int]] = defaultdict(list)
    for number, ask in enumerate(asks):
        same[ask].append(number)
    finished: SimpleQueue[tuple[Ask, Answer] | None] = SimpleQueue()
    work = _Work(same, given_up)
    results: dict[int, Answer] = {}
    lanes = ThreadPoolExecutor(workers, thread_name_prefix="locate")
    try:
        running = [lanes.submit(_lane, work, locator, in_text, finished) for _ in range(workers)]
        at_work = workers
        while at_work:
            try:
                item = finished.get(timeout=POLL_S)
            except Empty:
                continue
            if item is None:
                at_work -= 1
                continue
            ask, answer = item
            results |= dict.fromkeys(same[ask], answer)
            if on_done is not None:
                on_done(len(results), len(asks))
        for lane in running:
            lane.result()
    finally:
        work.is_stopped.set()
        lanes.shutdown(wait=False, cancel_futures=True)
    given_up |= work.given_up()
    return [results[number] for number in range(len(asks))]


@dataclass(eq=False, slots=True)
class _Document:
    """A document's remaining quotes, the number of its faults, and why it was given up, if it was."""

    path: Path
    is_text: bool
    rest: deque[Ask]
    given_up: Problem | None = None
    faults: int = 0


class _Work:
    """The remaining work, shared by all lanes."""

    def __init__(self, asks: Iterable[Ask], given_up: Mapping[Path, Problem]) -> None:
        by_document: dict[tuple[Path, bool], deque[Ask]] = defaultdict(deque)
        for ask in asks:
            by_document[ask.path, ask.is_text].append(ask)
        documents = [_Document(*key, rest, given_up.get(key[0])) for key, rest in by_document.items()]
        #: The one with most quotes first, so that the lanes end together.
        self._waiting = deque(sorted(documents, key=lambda document: -len(document.rest)))
        self._begun: list[_Document] = []
        self._lock = threading.Lock()
        self.is_stopped = threading.Event()

    def take(self, own: _Document | None) -> tuple[_Document, list[Ask]] | None:
        """Take the next quotes of a lane's own document, a new one or another lane's; None when done."""
        with self._lock:
            document = own if own is not None and own.rest else None
            if document is None and self._waiting:
                document = self._waiting.popleft()
                self._begun.append(document)
            if document is None:
                long = [each for each in self._begun if len(each.rest) >= WORTH_SHARING]
                shared = (each for each in long if not each.is_text)
                document = max(shared, key=lambda each: len(each.rest), default=None)
            if document is None or self.is_stopped.is_set():
                return None
            count = len(document.rest) if document.is_text else min(BATCH, len(document.rest))
            return document, [document.rest.popleft() for _ in range(count)]

    def given_up(self) -> GivenUp:
        """Return the documents that should not be tried again for now."""
        reasons = ((document.path, document.given_up) for document in self._begun)
        return {path: reason for path, reason in reasons if reason is not None and reason.code in TEMPORARY}


def _lane(
    work: _Work, locator: Locator, in_text: InText, finished: SimpleQueue[tuple[Ask, Answer] | None]
) -> None:
    document: _Document | None = None
    try:
        while taken := work.take(document):
            document, asks = taken
            for item in zip(asks, _answers(document, asks, locator, in_text), strict=True):
                finished.put(item)
                if work.is_stopped.is_set():
                    return
    finally:
        finished.put(None)


def _answers(document: _Document, asks: Sequence[Ask], locator: Locator, in_text: InText) -> Iterator[Answer]:
    if document.is_text:  # all are taken at once, so that it is read once and not kept
        try:
            text = read_text(document.path)
        except EvidenceFault as fault:
            yield from [fault.problems[0]] * len(asks)
            return
        for ask in asks:
            yield in_text(ask.query, text)
        return
    done = 0
    while done < len(asks):
        if document.given_up is not None:
            yield from [document.given_up] * (len(asks) - done)
            return
        for answer in locator.locate_each(document.path, [ask.query for ask in asks[done:]]):
            done += 1
            if isinstance(answer, Problem) and answer.code not in OF_THE_QUOTE:
                document.faults += 1
                if answer.code in OF_THE_DOCUMENT or document.faults >= MAX_FAULTS:
                    document.given_up = document.given_up or answer
            yield answer
