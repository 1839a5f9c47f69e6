"""The way to PDFs for everybody else: a pool of worker processes that may be killed.

Thread-safe. A request that runs too long, crashes its worker or exhausts its memory costs that request alone:
it is answered by an `EvidenceFault`, the worker is ended, and a spare one that is already warm takes over.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import orjson

from proofspan.contracts.records.records import Box, Json
from proofspan.errors import EvidenceFault, Problem
from proofspan.evidence.pdf import protocol
from proofspan.evidence.pdf.protocol import (
    ConnectionEndedError,
    DeadlineError,
    NotSendableError,
    receive_frame,
    send_frame,
)
from proofspan.evidence.types import DocumentInfo, FoundSpan, PageImage, PageInfo, Picture, SpanQuery

MEMORY_BYTES = 2 * 1024**3
#: A page for a screen: about as many pixels as a viewer beside a text has room for, some 730 across for an
#: upright page. One that zooms in asks for `detail`.
SHOWN_DPI, SHOWN_PIXELS, SHOWN_BYTES = 120, 700_000, 380_000
#: So many quotes go to a worker at once.
QUOTES_A_FRAME = 64


class PdfPool:
    """Answers about PDFs from at most `workers` requests at a time, each at most `timeout_s` seconds.

    A worker may use `memory_bytes` of address space and is replaced after `recycle_after` requests.
    Processes start with the first request, a spare one when it is answered; `close`, or the end of the
    program, ends them. Every method raises `EvidenceFault` with one of the codes `missing`, `not_a_pdf`,
    `locked`, `no_pages`, `page_out_of_range`, `page_unreadable`, `too_large`, `timed_out`, `crashed`,
    `not_sendable`.
    """

    def __init__(
        self,
        *,
        workers: int = 2,
        timeout_s: float = 10.0,
        recycle_after: int = 300,
        memory_bytes: int = MEMORY_BYTES,
    ) -> None:
        if workers < 1 or timeout_s <= 0 or recycle_after < 1:
            raise ValueError("workers, timeout_s and recycle_after are positive")
        self._workers = workers
        self._timeout_s = timeout_s
        self._recycle_after = recycle_after
        self._memory_bytes = memory_bytes
        self._free = threading.Condition()
        self._idle: list[Worker] = []
        self._at_work: set[Worker] = set()
        self._busy = 0
        self._is_closed = False
        atexit.register(self.close)

    def document(self, path: Path) -> DocumentInfo:
        """Page count and printed labels."""
        header, _ = self._ask(path, {"op": "document"})
        return protocol.document_from(header["document"])

    def page(self, path: Path, page_idx: int) -> PageInfo:
        """One page's size, rotation and printed label. `page_idx` counts from 0; -1 is refused."""
        header, _ = self._ask(path, {"op": "page", "page_idx": page_idx})
        return protocol.page_from(header["page"])

    def page_texts(self, path: Path, pages: range) -> list[str]:
        """The text of pages that follow each other; "" for one that cannot be read."""
        header, _ = self._ask(path, {"op": "texts", "first": pages.start, "end": pages.stop})
        return [str(text) for text in header["texts"]]

    def locate(self, path: Path, query: SpanQuery) -> FoundSpan:
        """Where a quote stands. Not finding it is an answer, no fault."""
        header, _ = self._ask(path, {"op": "locate", "query": query})
        return protocol.found_from(header["found"])

    def locate_many(self, path: Path, queries: Sequence[SpanQuery]) -> list[FoundSpan]:
        """Several quotes of one document, in order; the first fault ends it."""
        found: list[FoundSpan] = []
        while len(found) < len(queries):
            for answer in self.locate_each(path, queries[len(found) :]):
                if isinstance(answer, Problem):
                    raise EvidenceFault(answer)
                found.append(answer)
        return found

    def locate_each(self, path: Path, queries: Sequence[SpanQuery]) -> Iterator[FoundSpan | Problem]:
        """Places of several quotes of one document, in order and as they are found, in one request.

        At least one answer, and perhaps not all: the first quote that cannot be answered is answered by its
        problem and ends it, and so does a worker that has served enough. Ask again for the rest. Each quote
        has the whole time limit.
        """
        place = str(Path(path).absolute())
        steps, problem = _sendable(queries[:QUOTES_A_FRAME], place)
        if problem is not None and not steps:
            yield problem
            return
        try:
            for header, _ in self._answers(place, steps):
                yield (
                    Problem(**header["fault"]) if "fault" in header else protocol.found_from(header["found"])
                )
        except EvidenceFault as fault:
            yield fault.problems[0]

    def look(
        self, path: Path, queries: Sequence[SpanQuery], page_idx: int, *, with_words: bool = False
    ) -> tuple[list[FoundSpan], PageImage | None]:
        """As `locate_many` and then `show`, in one request: a way to and fro costs as much as a quote.

        The page is None where it cannot be drawn: `show` says why. A fault over a quote is raised.
        """
        early = max(0, len(queries) - QUOTES_A_FRAME)
        found = self.locate_many(path, queries[:early])
        place = str(Path(path).absolute())
        steps, problem = _sendable(queries[early:], place)
        if problem is not None:
            raise EvidenceFault(problem)
        image = None
        for header, body in self._answers(place, [*steps, _page_to_show(page_idx, with_words=with_words)]):
            if "found" in header:
                found.append(protocol.found_from(header["found"]))
            elif "to_pixels" in header:
                image = protocol.page_image_from(header, body)
            elif len(found) < len(queries):
                raise protocol.fault_from(header["fault"])
        return found + self.locate_many(path, queries[len(found) :]), image

    def render(
        self, path: Path, page_idx: int, *, dpi: float = 110, max_pixels: int = 25_000_000
    ) -> PageImage:
        """One page as a lossless RGB PNG; the dpi is lowered where it would have more than `max_pixels`.

        `page_idx` counts from 0; -1 is refused.
        """
        if not 1 <= dpi <= 1200 or max_pixels < 1:
            raise ValueError(f"dpi {dpi} is not in 1–1200, or max_pixels {max_pixels} below 1")
        return self._page_image(path, _page_request(page_idx, dpi=dpi, max_pixels=max_pixels))

    def show(self, path: Path, page_idx: int, *, with_words: bool = False) -> PageImage:
        """One page for a screen, of at most `SHOWN_BYTES` and `SHOWN_PIXELS`.

        Lossless while that is small enough; a page without colour as a grey PNG, one of photographs as a
        JPEG, and coarser where even that is too large. `with_words` brings the words of the page along.
        """
        return self._page_image(path, _page_to_show(page_idx, with_words=with_words))

    def clip(
        self, path: Path, page_idx: int, box: Box, *, dpi: float = 144, max_pixels: int = 4_000_000
    ) -> Picture:
        """A region of a page, upright as the page shows; `box` in points of the unrotated page.

        A lossless PNG. The dpi is lowered where it would have more than `max_pixels`. Further code:
        `box_off_page`.
        """
        request = {"op": "clip", "page_idx": page_idx, "box": box, "dpi": dpi}
        return self._picture(path, {**request, "max_pixels": max_pixels, "max_bytes": None})

    def detail(
        self,
        path: Path,
        page_idx: int,
        region: Box,
        width: int,
        *,
        max_pixels: int = 3_000_000,
        max_bytes: int = 400_000,
    ) -> Picture:
        """Exactly this part of a page, `width` pixels wide or fewer: PNG, or JPEG where that is too large.

        `region` is left, top, width and height in percent of the page as it shows.
        """
        request = {"op": "detail", "page_idx": page_idx, "region": region, "width": width}
        return self._picture(path, {**request, "max_pixels": max_pixels, "max_bytes": max_bytes})

    def picture(self, path: Path) -> Picture:
        """A picture file (PNG, JPEG, WEBP, GIF), decoded and written anew by a worker.

        Further codes: `not_a_file`, `unreadable`, `svg_not_drawn`, `not_a_picture`, `picture_broken`.
        """
        return self._picture(path, {"op": "picture"})

    def _page_image(self, path: Path, request: dict[str, Json]) -> PageImage:
        return protocol.page_image_from(*self._ask(path, request))

    def _picture(self, path: Path, request: dict[str, Json]) -> Picture:
        header, data = self._ask(path, request)
        return Picture(data, header["width"], header["height"], header["mime"])

    def process_ids(self) -> tuple[int, ...]:
        """The processes of all workers, those at work included."""
        with self._free:
            return tuple(sorted(worker.process.pid for worker in (*self._idle, *self._at_work)))

    def close(self) -> None:
        """End all workers; requests under way are answered by a fault. May be called twice."""
        atexit.unregister(self.close)
        with self._free:
            self._is_closed = True
            idle, self._idle = self._idle, []
            at_work = list(self._at_work)
            self._free.notify_all()
        for worker in at_work:
            worker.process.kill()  # the thread that waits for it sees the end, and reaps it
        for worker in idle:
            worker.end()

    def __enter__(self) -> PdfPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, path: Path, request: dict[str, Json]) -> tuple[dict[str, Any], bytes]:
        """One request to one worker; its fault, or its end, becomes an `EvidenceFault`."""
        place = str(Path(path).absolute())
        with self._at_work_on(place) as worker:
            worker.send({**request, "path": place}, self._timeout_s)
            header, body = worker.receive(self._timeout_s)
        if "fault" in header:
            raise protocol.fault_from(header["fault"])
        return header, body

    def _answers(
        self, place: str, steps: Sequence[dict[str, Json]]
    ) -> Iterator[tuple[dict[str, Any], bytes]]:
        """The answers to several steps. A caller that stops listening costs the worker: it talks on."""
        with self._at_work_on(place) as worker:
            worker.send({"op": "steps", "path": place, "steps": steps}, self._timeout_s, answers=len(steps))
            while not worker.has_answered:
                yield worker.receive(self._timeout_s)

    @contextmanager
    def _at_work_on(self, place: str) -> Iterator[Worker]:
        """A worker for this thread alone, given back when it has answered, ended otherwise.

        Its end, or its silence, becomes an `EvidenceFault`.
        """
        worker = self._check_out(place)
        try:
            yield worker
        except NotSendableError as error:
            raise _not_sendable(place, error) from error
        except DeadlineError:
            raise _timed_out(place, self._timeout_s) from None
        except ConnectionEndedError:
            raise _crashed(place) from None
        finally:
            self._check_in(worker, keep=worker.is_fit)

    def _check_out(self, place: str) -> Worker:
        """A warm worker for this thread alone, one that has the document open if there is one."""
        with self._free:
            if not self._free.wait_for(self._has_room, START_TIMEOUT_S):
                raise _timed_out(place, START_TIMEOUT_S)
            self._busy += 1
        try:
            return self._warm_worker(place)
        except BaseException:
            with self._free:
                self._busy -= 1
                self._free.notify()
            raise

    def _has_room(self) -> bool:
        return self._is_closed or self._busy < self._workers

    def _warm_worker(self, place: str) -> Worker:
        """An idle worker that answers, or a new one; those that died while idle are dropped."""
        for _ in range(self._workers + 2):
            worker = self._take(place)
            try:
                if worker.is_alive:
                    worker.warm_up()
                    return worker
            except (DeadlineError, ConnectionEndedError):
                pass  # it never came up: the next one may
            self._drop(worker)
        raise EvidenceFault(
            Problem(
                "crashed",
                "the PDF worker does not start",
                where=place,
                fix=f"run `{sys.executable} -m {WORKER_MODULE} 0 {MEMORY_BYTES}` to see why",
            )
        )

    def _started(self, place: str) -> Worker:
        """A new worker, still cold; a fault where the system starts no further process."""
        try:
            return Worker(self._memory_bytes)
        except OSError as error:
            message = f"no PDF worker can be started: {error.strerror or error}"
            fix = "close other programs, or raise the limit of processes and open files: ulimit -n 4096"
            raise EvidenceFault(Problem("crashed", message, where=place, fix=fix)) from error

    def _drop(self, worker: Worker) -> None:
        """End a worker that died while nobody used it."""
        with self._free:
            self._at_work.discard(worker)
        worker.end()

    def _take(self, place: str) -> Worker:
        """The best idle worker, or a new one, taken off the list."""
        with self._free:
            if self._is_closed:
                fix = "start the program again"
                raise EvidenceFault(Problem("crashed", "the PDF workers are shut down", place, fix))
            if not self._idle:
                self._idle.append(self._started(place))
            best = max(self._idle, key=lambda idle: (place in idle.documents, idle.is_warm, idle.served))
            self._idle.remove(best)
            self._at_work.add(best)
            return best

    def _check_in(self, worker: Worker, *, keep: bool) -> None:
        """Give a worker back; one that failed or served enough is ended. A spare one starts to warm up."""
        with self._free:
            self._at_work.discard(worker)
            keep = keep and worker.served < self._recycle_after and not self._is_closed
            if keep:
                self._idle.append(worker)
            self._busy -= 1
            self._free.notify()
            with suppress(EvidenceFault):  # the answer stands without a spare; the next request says why
                while not self._is_closed and len(self._idle) + self._busy < self._workers + 1:
                    self._idle.append(self._started(""))
        if not keep:
            worker.end()


def _sendable(queries: Sequence[SpanQuery], place: str) -> tuple[list[dict[str, Json]], Problem | None]:
    """A step for each quote up to the first that JSON cannot hold, and the problem of that one."""
    steps: list[dict[str, Json]] = []
    for query in queries:
        try:
            steps.append({"op": "locate", "query": orjson.Fragment(orjson.dumps(query))})
        except orjson.JSONEncodeError as error:
            return steps, _not_sendable(place, NotSendableError(str(error))).problems[0]
    return steps, None


def _page_request(
    page_idx: int, *, dpi: float, max_pixels: int, max_bytes: int | None = None, with_words: bool = False
) -> dict[str, Json]:
    """One page as a picture; lossless without `max_bytes`."""
    bounds = {"dpi": dpi, "max_pixels": max_pixels, "max_bytes": max_bytes}
    return {"op": "render", "page_idx": page_idx, "with_words": with_words, **bounds}


def _page_to_show(page_idx: int, *, with_words: bool) -> dict[str, Json]:
    return _page_request(
        page_idx, dpi=SHOWN_DPI, max_pixels=SHOWN_PIXELS, max_bytes=SHOWN_BYTES, with_words=with_words
    )


def _not_sendable(place: str, error: NotSendableError) -> EvidenceFault:
    return EvidenceFault(
        Problem(
            "not_sendable",
            f"the request cannot be passed to the PDF worker: {error}",
            where=place,
            fix="write quote and file name as UTF-8 text, and the page as a whole number below 2**53",
        )
    )


def _timed_out(place: str, limit_s: float) -> EvidenceFault:
    return EvidenceFault(
        Problem(
            "timed_out",
            f"the document gave no answer within {limit_s:g} s, so its worker was ended",
            where=place,
            fix="try again; if that does not help, replace the document: it is broken or hostile",
        )
    )


def _crashed(place: str) -> EvidenceFault:
    return EvidenceFault(
        Problem(
            "crashed",
            "the PDF worker crashed or ran out of memory on this document",
            where=place,
            fix="replace the document; others are not affected",
        )
    )


# One PDF worker as a process of its own, and the socket to it.

WORKER_MODULE = "proofspan.evidence.pdf.worker"
#: The folder that holds the `proofspan` package: a worker finds the same code wherever it is started.
CODE_FOLDER = str(Path(__file__).resolve().parents[3])
START_TIMEOUT_S = 60.0
KILL_TIMEOUT_S = 5.0
REMEMBERED_DOCUMENTS = 32


class Worker:
    """One worker process and the socket to it. Used by one thread at a time."""

    def __init__(self, memory_bytes: int) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", WORKER_MODULE, str(theirs.fileno()), str(memory_bytes)],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the client, which then closes the socket
                env={**os.environ, "PYTHONPATH": _python_path()},
            )
        self.connection = ours
        self.served = 0
        self.is_warm = False
        self._owed = 0
        self._retires = False
        self.documents: OrderedDict[str, None] = OrderedDict()

    def warm_up(self) -> None:
        """Wait until the worker has loaded its libraries. Raises as `receive_frame` does."""
        if not self.is_warm:
            receive_frame(self.connection, deadline=time.monotonic() + START_TIMEOUT_S)
            self.is_warm = True

    def send(self, header: dict[str, Json], limit_s: float, *, answers: int = 1) -> None:
        """Send one request that has so many `answers`; `limit_s` is the time for each of them."""
        deadline = time.monotonic() + limit_s
        self._owed = answers
        try:
            send_frame(self.connection, {**header, "limit_s": limit_s}, deadline=deadline)
        except NotSendableError:
            self._owed = 0  # it was not told of it
            raise
        self.served += 1
        self._remember(str(header["path"]))

    def receive(self, limit_s: float) -> tuple[dict[str, Any], bytes]:
        """Wait for the next answer, at most `limit_s` seconds. None comes after a fault or a retirement."""
        header, body = receive_frame(self.connection, deadline=time.monotonic() + limit_s)
        self._retires = self._retires or header["retire"]
        self._owed = 0 if "fault" in header or self._retires else self._owed - 1
        return header, body

    @property
    def has_answered(self) -> bool:
        """Whether no answer is outstanding."""
        return self._owed == 0

    @property
    def is_fit(self) -> bool:
        """Whether the next request may go to it: it has answered, and does not ask to be replaced."""
        return self.has_answered and not self._retires

    def _remember(self, path: str) -> None:
        self.documents[path] = None
        self.documents.move_to_end(path)
        while len(self.documents) > REMEMBERED_DOCUMENTS:
            self.documents.popitem(last=False)

    @property
    def is_alive(self) -> bool:
        """Whether the process still runs."""
        return self.process.poll() is None

    def end(self) -> None:
        """Kill the process and reap it."""
        self.connection.close()
        self.process.kill()
        try:
            self.process.wait(KILL_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return  # killed, and stuck in the kernel: nothing more can be done here


def _python_path() -> str:
    inherited = os.environ.get("PYTHONPATH")
    return os.pathsep.join((CODE_FOLDER, inherited)) if inherited else CODE_FOLDER
