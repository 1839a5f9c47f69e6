"""A pool of worker processes that read PDFs, and may be killed.

Thread-safe. A request that runs too long, crashes its worker or exhausts its memory fails with an
`EvidenceFault` without affecting others: the worker is killed, and a spare one, already warm, takes over.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import orjson

from proofspan.contracts.records.records import Box, Json
from proofspan.errors import EvidenceFault, Problem
from proofspan.evidence.drawing import Drawing
from proofspan.evidence.pdf.protocol import (
    ConnectionEndedError,
    DeadlineError,
    NotSendableError,
    receive_frame,
    record_from,
    send_frame,
)
from proofspan.evidence.text.page_record import page_of
from proofspan.evidence.text.page_text import PageText
from proofspan.evidence.types import DocumentInfo, FoundSpan, PageImage, PageInfo, Picture, SpanQuery

MEMORY_BYTES = 2 * 1024**3
#: Bounds of a page shown on a screen: some 730 pixels across if upright, which is what a viewer beside a text
#: has room for. Zooming in requests a `detail`.
SHOWN_DPI, SHOWN_PIXELS, SHOWN_BYTES = 120, 700_000, 380_000
DETAIL_PIXELS, DETAIL_BYTES = 3_000_000, 400_000
#: Quotes sent to a worker at once.
QUOTES_A_FRAME = 64


class PdfPool:
    """At most `workers` concurrent requests about PDFs, each at most `timeout_s` seconds long.

    A worker may use `memory_bytes` of address space and is replaced after `recycle_after` requests.
    Processes start with the first request, and a spare one when it is answered: there is one more than were
    at work at the same time. They end with `close` or the program. Every method raises `EvidenceFault` with
    one of the codes `missing`, `not_a_pdf`, `locked`, `no_pages`, `page_out_of_range`, `page_unreadable`,
    `too_large`, `timed_out`, `crashed`, `not_sendable`.
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
        self._most_at_work = 0
        self._is_closed = False
        atexit.register(self.close)

    def document(self, path: Path) -> DocumentInfo:
        """Return page count and printed labels."""
        document: DocumentInfo = self._request(path, {"op": "document"})
        return document

    def page(self, path: Path, page_idx: int) -> PageInfo:
        """Return one page's size, rotation and printed label. `page_idx` counts from 0; -1 is refused."""
        page: PageInfo = self._request(path, {"op": "page", "page_idx": page_idx})
        return page

    def page_texts(self, path: Path, pages: range) -> list[str]:
        """Return the text of consecutive pages; "" for one that cannot be read."""
        step: dict[str, Json] = {"op": "texts", "first": pages.start, "end": pages.stop}
        texts: list[str] = self._request(path, step)
        return texts

    def page_lines(self, path: Path, pages: Sequence[int]) -> list[str]:
        """Return the text of these pages in lines (see `page_lines`); "" for one without text."""
        texts: list[str] = self._request(path, {"op": "lines", "pages": list(pages)})
        return texts

    def pages_for(self, path: Path, claim: str, cited_page_idx: int | None) -> list[int]:
        """Return the few pages that hold most of a claim's words, best first."""
        step: dict[str, Json] = {"op": "pages_for", "claim": claim, "cited_page_idx": cited_page_idx}
        pages: list[int] = self._request(path, step)
        return pages

    def locate(self, path: Path, query: SpanQuery) -> FoundSpan:
        """Locate a quote. `not_found` is a result, not a fault."""
        (found,) = self.locate_many(path, [query])
        return found

    def locate_many(self, path: Path, queries: Sequence[SpanQuery]) -> list[FoundSpan]:
        """Locate several quotes of one document, in order; raise the first fault."""
        found: list[FoundSpan] = []
        while len(found) < len(queries):
            for answer in self.locate_each(path, queries[len(found) :]):
                if isinstance(answer, Problem):
                    raise EvidenceFault(answer)
                found.append(answer)
        return found

    def locate_each(self, path: Path, queries: Sequence[SpanQuery]) -> Iterator[FoundSpan | Problem]:
        """Locate several quotes of one document in one request, and yield results in order as they come.

        There is at least one result, perhaps not all: the first quote that fails yields its problem and ends
        the request, as does a worker due for replacement. Request the rest again. Each quote has the whole
        time limit.
        """
        steps, problem = _sendable(path, queries[:QUOTES_A_FRAME])
        if problem is not None and not steps:
            yield problem
            return
        try:
            yield from self._answers(path, steps)
        except EvidenceFault as fault:
            yield fault.problems[0]

    def words_each(self, path: Path, pages: Sequence[int]) -> Iterator[PageText | Problem]:
        """Read the words of these pages in one request, and yield them in order as they come.

        As with `locate_each` there is at least one result, up to the first problem, and each page has the
        whole time limit. A page that cannot be read has no words.
        """
        steps: list[dict[str, Json]] = [{"op": "words", "page_idx": n} for n in pages[:QUOTES_A_FRAME]]
        try:
            yield from self._answers(path, steps)
        except EvidenceFault as fault:
            yield fault.problems[0]

    def look(
        self, path: Path, queries: Sequence[SpanQuery], page_idx: int, *, with_words: bool = False
    ) -> tuple[list[FoundSpan], PageImage | None]:
        """Do `locate_many` and `show` in one request: a round trip costs as much as a quote.

        The page is None where it cannot be rendered; `show` raises the reason. A quote's fault is raised.
        """
        early = max(0, len(queries) - QUOTES_A_FRAME)
        found = self.locate_many(path, queries[:early])
        steps, problem = _sendable(path, queries[early:])
        if problem is not None:
            raise EvidenceFault(problem)
        image = None
        for answer in self._answers(path, [*steps, _page_to_show(page_idx, with_words)]):
            if isinstance(answer, FoundSpan):
                found.append(answer)
            elif isinstance(answer, PageImage):
                image = answer
            elif len(found) < len(queries):
                raise EvidenceFault(answer)
        return found + self.locate_many(path, queries[len(found) :]), image

    def render(
        self, path: Path, page_idx: int, *, dpi: float = 110, max_pixels: int = 25_000_000
    ) -> PageImage:
        """Render one page as a lossless RGB PNG, at a lower dpi where it would exceed `max_pixels`.

        `page_idx` counts from 0; -1 is refused.
        """
        if not 1 <= dpi <= 1200 or max_pixels < 1:
            raise ValueError(f"dpi {dpi} is not in 1–1200, or max_pixels {max_pixels} below 1")
        bounds = {"dpi": dpi, "max_pixels": max_pixels, "max_bytes": None}
        step = {"op": "render", "page_idx": page_idx, "with_words": False, **bounds}
        image: PageImage = self._request(path, step)
        return image

    def show(self, path: Path, page_idx: int, *, with_words: bool = False) -> PageImage:
        """Render one page for a screen, of at most `SHOWN_BYTES` and `SHOWN_PIXELS`.

        Lossless while that is small enough; a page without colour as a grey PNG, one of photographs as a
        JPEG, and coarser where even that is too large. `with_words` adds the words of the page.
        """
        image: PageImage = self._request(path, _page_to_show(page_idx, with_words))
        return image

    def clip(
        self, path: Path, page_idx: int, box: Box, *, dpi: float = 144, max_pixels: int = 4_000_000
    ) -> Picture:
        """Render a region of a page, upright as displayed; `box` in points of the unrotated page.

        A lossless PNG, at a lower dpi where it would exceed `max_pixels`. Further code: `box_off_page`.
        """
        request = {"op": "clip", "page_idx": page_idx, "box": box, "dpi": dpi}
        return self._picture(path, {**request, "max_pixels": max_pixels, "max_bytes": None})

    def detail(self, path: Path, page_idx: int, region: Box, width: int) -> Picture:
        """Render exactly this part of a page, at most `width` pixels wide: PNG, or JPEG if that is too large.

        `region` is left, top, width and height in percent of the page as displayed.
        """
        request = {"op": "detail", "page_idx": page_idx, "region": region, "width": width}
        return self._picture(path, {**request, "max_pixels": DETAIL_PIXELS, "max_bytes": DETAIL_BYTES})

    def picture(self, path: Path) -> Picture:
        """Decode a picture file (PNG, JPEG, WEBP, GIF) in a worker, which writes it again.

        Further codes: `not_a_file`, `unreadable`, `svg_not_drawn`, `not_a_picture`, `picture_broken`.
        """
        return self._picture(path, {"op": "picture"})

    def draw(self, drawing: Drawing, *, to: Literal["pdf", "png"], dpi: float = 144) -> Picture:
        """Draw a sheet of our own as a PDF of one page, or as a PNG at `dpi`; the bytes are its `data`."""
        step = {"op": "draw", "drawing": orjson.Fragment(orjson.dumps(drawing)), "to": to, "dpi": dpi}
        return self._picture(Path("drawing"), step)

    def _picture(self, path: Path, request: dict[str, Json]) -> Picture:
        picture: Picture = self._request(path, request)
        return picture

    def process_ids(self) -> tuple[int, ...]:
        """Return the process ids of all workers, busy ones included."""
        with self._free:
            return tuple(sorted(worker.process.pid for worker in (*self._idle, *self._at_work)))

    def close(self) -> None:
        """End all workers; running requests fail. May be called twice."""
        atexit.unregister(self.close)
        with self._free:
            self._is_closed = True
            idle, self._idle = self._idle, []
            at_work = list(self._at_work)
            self._free.notify_all()
        for worker in at_work:
            worker.process.kill()  # the waiting thread notices, and reaps it
        for worker in idle:
            worker.end()

    def __enter__(self) -> PdfPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _request(self, path: Path, step: dict[str, Json]) -> Any:
        (answer,) = self._answers(path, [step])
        if isinstance(answer, Problem):
            raise EvidenceFault(answer)
        return answer

    def _answers(self, path: Path, steps: Sequence[dict[str, Json]]) -> Iterator[Any]:
        """Yield what `_ANSWERS` reads in the answers to the steps of one request; a problem is the last.

        A caller that stops reading costs the worker. A crash or a timeout becomes an `EvidenceFault`, as does
        a frame that is no answer: the document may have taken its worker over.
        """
        place = _place(path)
        worker, is_fit = self._check_out(place), False
        try:
            worker.send({"path": place, "steps": steps}, self._timeout_s)
            for number, step in enumerate(steps, start=1):
                header, body = worker.receive(self._timeout_s)
                try:
                    retires = bool(header["retire"])
                    is_fault = "fault" in header
                    answer = Problem(**header["fault"]) if is_fault else _ANSWERS[step["op"]](header, body)
                except (LookupError, TypeError, ValueError, AttributeError) as error:
                    raise ConnectionEndedError(f"the frame is no answer: {error!r}") from error
                is_last = isinstance(answer, Problem) or retires or number == len(steps)
                is_fit = is_last and not retires
                yield answer
                if is_last:
                    return
        except NotSendableError as error:
            is_fit = True  # nothing was sent
            raise EvidenceFault(_not_sendable(place, error)) from error
        except DeadlineError:
            raise _timed_out(place, self._timeout_s) from None
        except ConnectionEndedError:
            message = "the PDF worker crashed or ran out of memory on this document"
            fix = "replace the document; others are not affected"
            raise EvidenceFault.of("crashed", message, where=place, fix=fix) from None
        finally:
            self._check_in(worker, keep=is_fit)

    def _check_out(self, place: str) -> Worker:
        """A warm worker for this thread alone; those that died while idle are discarded."""
        for _ in range(self._workers + 2):
            worker = self._take(place)
            try:
                worker.warm_up()
                return worker
            except BaseException as error:
                self._check_in(worker, keep=False)
                if not isinstance(error, DeadlineError | ConnectionEndedError):
                    raise  # otherwise it did not start; the next one may
        fix = f"run `{sys.executable} -m {WORKER_MODULE} 0 {MEMORY_BYTES}` to see why"
        raise EvidenceFault.of("crashed", "the PDF worker does not start", where=place, fix=fix)

    def _take(self, place: str) -> Worker:
        """The best idle worker, one that has the document open if there is one, or a new one."""
        with self._free:
            if not self._free.wait_for(
                lambda: self._is_closed or len(self._at_work) < self._workers, START_TIMEOUT_S
            ):
                raise _timed_out(place, START_TIMEOUT_S)
            if self._is_closed:
                message, fix = "the PDF workers are shut down", "start the program again"
                raise EvidenceFault.of("crashed", message, where=place, fix=fix)
            try:
                worker = max(
                    self._idle or [Worker(self._memory_bytes)],
                    key=lambda idle: (place in idle.documents, idle.is_warm, idle.served),
                )
            except OSError as error:
                message = f"no PDF worker can be started: {error.strerror or error}"
                fix = "close other programs, or raise the limit of processes and open files: ulimit -n 4096"
                raise EvidenceFault.of("crashed", message, where=place, fix=fix) from error
            self._idle = [idle for idle in self._idle if idle is not worker]
            self._at_work.add(worker)
            self._most_at_work = max(self._most_at_work, len(self._at_work))
            return worker

    def _check_in(self, worker: Worker, *, keep: bool) -> None:
        """Return a worker; one that failed or served enough is ended. A spare one starts to warm up."""
        with self._free:
            self._at_work.discard(worker)
            keep = keep and worker.served < self._recycle_after and not self._is_closed
            if keep:
                self._idle.append(worker)
            self._free.notify()
            with suppress(OSError):  # no spare is needed for this answer; the next request reports why
                while not self._is_closed and len(self._idle) + len(self._at_work) <= self._most_at_work:
                    self._idle.append(Worker(self._memory_bytes))
        if not keep:
            worker.end()


def _place(path: Path) -> str:
    return str(Path(path).absolute())


def _sendable(path: Path, queries: Sequence[SpanQuery]) -> tuple[list[dict[str, Json]], Problem | None]:
    """A step for each quote up to the first that JSON cannot encode, and that one's problem."""
    steps: list[dict[str, Json]] = []
    for query in queries:
        try:
            steps.append({"op": "locate", "query": orjson.Fragment(orjson.dumps(query))})
        except orjson.JSONEncodeError as error:
            return steps, _not_sendable(_place(path), error)
    return steps, None


def _page_to_show(page_idx: int, with_words: bool) -> dict[str, Json]:
    bounds = {"dpi": SHOWN_DPI, "max_pixels": SHOWN_PIXELS, "max_bytes": SHOWN_BYTES}
    return {"op": "render", "page_idx": page_idx, "with_words": with_words, **bounds}


def _page_image(header: Mapping[str, Any], data: bytes) -> PageImage:
    words = tuple(((x0, y0, x1, y1), word) for x0, y0, x1, y1, word in header.get("words", ()))
    page, matrix = record_from(PageInfo, header["page"]), tuple(header["to_pixels"])
    return PageImage(data, header["width"], header["height"], page, matrix, header["mime"], words)


def _picture(header: Mapping[str, Any], data: bytes) -> Picture:
    return Picture(data, header["width"], header["height"], header["mime"])


#: Operation → reader of the header and the body that answer it.
_ANSWERS: Mapping[Json, Callable[[Mapping[str, Any], bytes], object]] = {
    "document": lambda header, _: record_from(DocumentInfo, header["document"]),
    "page": lambda header, _: record_from(PageInfo, header["page"]),
    "texts": lambda header, _: [str(text) for text in header["texts"]],
    "lines": lambda header, _: [str(text) for text in header["texts"]],
    "pages_for": lambda header, _: [int(page) for page in header["pages"]],
    "words": lambda header, _: page_of(header["words"]),
    "locate": lambda header, _: record_from(FoundSpan, header["found"]),
    "render": _page_image,
    "clip": _picture,
    "detail": _picture,
    "picture": _picture,
    "draw": _picture,
}


def _not_sendable(place: str, error: Exception) -> Problem:
    message = f"the request cannot be passed to the PDF worker: {error}"
    fix = "write quote and file name as UTF-8 text, and the page as a whole number below 2**53"
    return Problem("not_sendable", message, place, fix)


def _timed_out(place: str, limit_s: float) -> EvidenceFault:
    message = f"the document gave no answer within {limit_s:g} s, so its worker was ended"
    fix = "try again; if that does not help, replace the document: it is broken or hostile"
    return EvidenceFault.of("timed_out", message, where=place, fix=fix)


WORKER_MODULE = "proofspan.evidence.pdf.worker"
#: The folder of the `proofspan` package, so that a worker runs the same code.
CODE_FOLDER = str(Path(__file__).resolve().parents[3])
START_TIMEOUT_S = 60.0
KILL_TIMEOUT_S = 5.0
REMEMBERED_DOCUMENTS = 32


class Worker:
    """A worker process and the socket to it. Used by one thread at a time."""

    def __init__(self, memory_bytes: int) -> None:
        ours, theirs = socket.socketpair()
        python_path = (CODE_FOLDER, os.environ.get("PYTHONPATH"))
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", WORKER_MODULE, str(theirs.fileno()), str(memory_bytes)],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the client, which then closes the socket
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, python_path))},
            )
        self.connection = ours
        self.served = 0
        self.is_warm = False
        #: The last documents requested, most of which it has open.
        self.documents: deque[str] = deque(maxlen=REMEMBERED_DOCUMENTS)

    def warm_up(self) -> None:
        """Wait until the worker has loaded its libraries. Raises as `receive_frame` does, also if it died."""
        if self.process.poll() is not None:
            raise ConnectionEndedError("the worker has died")
        if not self.is_warm:
            receive_frame(self.connection, deadline=time.monotonic() + START_TIMEOUT_S)
            self.is_warm = True

    def send(self, request: dict[str, Json], limit_s: float) -> None:
        """Send the `steps` of one request; `limit_s` is the time for each of them."""
        deadline = time.monotonic() + limit_s
        send_frame(self.connection, {**request, "limit_s": limit_s}, deadline=deadline)
        self.served += 1
        with suppress(ValueError):
            self.documents.remove(request["path"])
        self.documents.append(request["path"])

    def receive(self, limit_s: float) -> tuple[dict[str, Any], bytes]:
        """Wait for the next frame, at most `limit_s` seconds. A fault or a retirement is the last one."""
        return receive_frame(self.connection, deadline=time.monotonic() + limit_s)

    def end(self) -> None:
        """Kill the process and reap it."""
        self.connection.close()
        self.process.kill()
        with suppress(subprocess.TimeoutExpired):  # stuck in the kernel: nothing more can be done here
            self.process.wait(KILL_TIMEOUT_S)
