"""A PDF worker: `python -m proofspan.evidence.pdf.worker FD BYTES` answers frames until its socket closes.

MuPDF parses hostile files in C, may run forever, take all memory or crash, and is not thread-safe. So it runs
in a process that may be killed: this module and `draw` are the only ones that import it. The kernel enforces
the limits: an address space of BYTES, no core dump, and an alarm that ends a request after its time limit.
"""

from __future__ import annotations

import math
import os
import resource
import shlex
import signal
import socket
import sys
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import zip_longest
from operator import itemgetter
from pathlib import Path
from typing import Any

import pymupdf
from pymupdf.utils import construct_label

from proofspan.contracts.records.records import Json
from proofspan.errors import EvidenceFault, Problem
from proofspan.evidence.pdf import protocol
from proofspan.evidence.pdf.files import FileKey, file_key, head_of, not_a_pdf
from proofspan.evidence.pdf.glyphs import are_needed, page_of, words_of
from proofspan.evidence.pdf.locate_quote import located
from proofspan.evidence.pdf.png import encode_png
from proofspan.evidence.pdf.protocol import ConnectionEndedError, receive_frame, send_frame
from proofspan.evidence.pdf.render import Sheet, encode, region, whole, zoomed
from proofspan.evidence.text.page_index import WordIndex, searched
from proofspan.evidence.text.page_lines import text_in_lines
from proofspan.evidence.text.page_record import record_of
from proofspan.evidence.text.page_text import PageText, QuoteText
from proofspan.evidence.types import DocumentInfo, Mime, PageInfo, SpanQuery

Answer = tuple[dict[str, Json], bytes]

MUPDF: Any = pymupdf  # its Python half carries no types
#: What MuPDF and its bindings raise on a broken file.
BROKEN: tuple[type[Exception], ...] = (
    RuntimeError, ValueError, TypeError, LookupError, AttributeError, pymupdf.mupdf.FzErrorBase,
)  # fmt: skip
UNREADABLE: tuple[type[Exception], ...] = (EvidenceFault, *BROKEN)
#: Shares of the memory limit: above the first an answer is void, above the second its worker is replaced.
EXHAUSTED, SWOLLEN = 0.9, 0.5
#: Seconds beyond a request's own limit after which the kernel kills the worker: the client may be gone.
GRACE_S = 2
MAX_DOCUMENTS = 32
#: Words cached over all open documents, some 250 bytes each.
MAX_WORDS = 1_500_000
#: Words of a page sent with its picture; no page that a person reads has as many.
MAX_WORDS_SENT = 20_000
#: Pages that may support a claim hold at least this share of its words: it may have words of its own.
CLAIM_SHARE = 0.1
#: A coarser picture aims this far below its bound in bytes, since bytes shrink less than pixels.
AIM = 0.85
#: The fix for a broken document.
SAVE_AGAIN = "download it again, or save it again from the program that made it"
#: Bounds of printed labels, which come from a stranger's file: characters of a prefix, and numbers.
MAX_PREFIX, MAX_NUMBER = 40, 1_000_000
#: Roman numerals end here, and letters ("AAAAAAAA" is 208); beyond them a label is decimal.
MAX_IN_STYLE = {"R": 4_999, "r": 4_999, "A": 208, "a": 208}


class Document:
    """An open document with a cache of its pages' words. A page that cannot be read has no words."""

    def __init__(self, pdf: Any, path: str) -> None:
        self.pdf = pdf
        self.path = path
        self.page_count: int = pdf.page_count
        self.word_count = 0
        self._texts: dict[int, PageText] = {}
        self._index: tuple[range, WordIndex] | None = None
        self.drawn: tuple[int, Any, Any] | None = None

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Printed labels by page, empty where the document has none that can be read."""
        try:
            return page_labels(self.pdf.get_page_labels(), self.page_count)
        except BROKEN:
            return ()  # pages can be shown although the label tree is broken

    def page(self, page_idx: int) -> Any:
        """Return one page; the index is checked here, since -1 is the last page to MuPDF."""
        if not 0 <= page_idx < self.page_count:
            pages = f"{self.page_count} pages, page_idx 0 to {self.page_count - 1}"
            message = f"page_idx {page_idx} is not in the document, which has {pages}"
            fix = "check the page base of the file that cites it: page_idx counts from 0"
            raise EvidenceFault.of("page_out_of_range", message, where=self.path, fix=fix)
        try:
            return self.pdf.load_page(page_idx)
        except BROKEN as error:
            raise _unreadable(self.path, page_idx, error) from error

    def drawing(self, page_idx: int) -> tuple[Any, Any]:
        """Return a page and its display list, interpreted once for its words and its picture."""
        if self.drawn is None or self.drawn[0] != page_idx:
            page = self.page(page_idx)
            try:
                self.drawn = page_idx, page, page.get_displaylist()
            except BROKEN as error:
                raise _unreadable(self.path, page_idx, error) from error
        return self.drawn[1], self.drawn[2]

    def page_text(self, page_idx: int) -> PageText:
        """Return the words of one page, cached."""
        text = self._texts.get(page_idx)
        if text is None:
            text = self._texts[page_idx] = self._read(page_idx)
            self.word_count += len(text.words)
        return text

    def plain_text(self, page_idx: int) -> str:
        """Return one page as text, in the order of its content stream; "" for one that cannot be read."""
        try:
            text: str = _text_page(*self.drawing(page_idx)).extractTEXT()
            return text.encode("utf-8", "replace").decode()
        except UNREADABLE:
            return ""

    def word_index(self, pages: range) -> WordIndex:
        """Return the index over these pages, which reads them all the first time."""
        if self._index is None or self._index[0] != pages:
            self._index = pages, WordIndex(map(self.page_text, pages), pages.start)
        return self._index[1]

    def _read(self, page_idx: int) -> PageText:
        try:
            page, display_list = self.drawing(page_idx)
            text = _text_page(page, display_list)
            found = text.extractWORDS()
            is_plain = not are_needed([word[4] for word in found], text.extractDICT)
            glyphs = None if is_plain else words_of(text.extractRAWDICT())
            width, height = page.rect.width, page.rect.height
            if page.rotation % 180:
                width, height = height, width
        except UNREADABLE:
            return PageText.of(())
        size = {"width": width, "height": height, "rotation": page.rotation}
        if glyphs is not None:
            return page_of(glyphs, **size)
        words = [(tuple(word[:4]), word[4]) for word in found]
        return PageText.of(words, line_ids=[tuple(word[5:7]) for word in found], **size)

    def forget_words(self) -> None:
        """Free the words; they are read again when needed."""
        self._texts.clear()
        self._index = None
        self.word_count = 0


class Documents:
    """A cache of open documents, least recently used first to go; a changed file is opened again."""

    def __init__(self) -> None:
        self._open: OrderedDict[FileKey, Document] = OrderedDict()

    def get(self, path: str) -> Document:
        """Return the open document of this file as it is now."""
        key = file_key(path)
        document = self._open.pop(key, None) or Document(_open_pdf(path), path)
        self._open[key] = document
        while len(self._open) > MAX_DOCUMENTS:
            _, oldest = self._open.popitem(last=False)
            oldest.pdf.close()
        return document

    def trim(self) -> None:
        """Keep one display list, and free the words of the least recently used documents until they fit."""
        documents = list(self._open.values())
        total = sum(document.word_count for document in documents)
        for document in documents:
            if document is not documents[-1]:
                document.drawn = None
            if total > MAX_WORDS:
                total -= document.word_count
                document.forget_words()


def page_labels(rules: Sequence[Mapping[str, Any]], page_count: int) -> tuple[str, ...]:
    """Return the printed label of every page, "" where no rule applies; empty without rules.

    A rule (ISO 32000-1, 12.4.2) has `startpage` (0-based), `prefix`, `style` (D, R, r, A, a or "") and
    `firstpagenum`.
    """
    usable = [rule for rule in rules if isinstance(rule.get("startpage"), int)]
    usable.sort(key=itemgetter("startpage"))
    labels = [""] * (page_count if usable else 0)
    for rule, following in zip_longest(usable, usable[1:]):
        end = following["startpage"] if following else page_count
        first, wanted = rule.get("firstpagenum", 1), str(rule.get("style") or "")
        prefix = "".join(c for c in str(rule.get("prefix") or "")[:MAX_PREFIX] if c.isprintable())
        for page_idx in range(max(0, rule["startpage"]), min(end, page_count)):
            number = page_idx - rule["startpage"] + (first if isinstance(first, int) else 1)
            style = "D" if number > MAX_IN_STYLE.get(wanted, MAX_NUMBER) else wanted
            labels[page_idx] = prefix
            if 1 <= number <= MAX_NUMBER:
                labels[page_idx] = construct_label(style, prefix, number - (style in ("A", "a")))
    return tuple(labels)


def _open_pdf(path: str) -> Any:
    head = head_of(path)
    try:
        pdf = MUPDF.open(path, filetype="pdf")
        page_count = pdf.page_count if pdf.is_pdf and not pdf.needs_pass else 0
    except BROKEN as error:
        message = "the PDF is broken and cannot be opened"
        raise EvidenceFault.of("not_a_pdf", message, where=path, fix=SAVE_AGAIN) from error
    if not pdf.is_pdf:
        raise not_a_pdf(head, path)
    if pdf.needs_pass:
        fix = f"put a copy without it there: qpdf --password=… --decrypt {shlex.quote(path)} COPY.pdf"
        raise EvidenceFault.of("locked", "the document is locked with a password", where=path, fix=fix)
    if page_count < 1:
        message = "the document has no pages: it may have been cut short"
        raise EvidenceFault.of("no_pages", message, where=path, fix="download it again")
    return pdf


def _unreadable(path: str, page_idx: int, error: Exception) -> EvidenceFault:
    message = f"page_idx {page_idx} cannot be read: {_first_line(error)}"
    fix = f"look at its other pages, or {SAVE_AGAIN}"
    return EvidenceFault.of("page_unreadable", message, where=path, fix=fix)


def _first_line(error: Exception) -> str:
    """Short and printable: messages of MuPDF quote the hostile file."""
    line = str(error).partition("\n")[0][:200]
    return "".join(c if c.isprintable() else " " for c in line) or type(error).__name__


def _text_page(page: Any, display_list: Any) -> Any:
    """MuPDF's text in points of the unrotated page, in which a display list is only without rotation."""
    if page.rotation:
        return page.get_textpage(flags=MUPDF.TEXTFLAGS_WORDS)
    text = display_list.get_textpage(MUPDF.TEXTFLAGS_WORDS)
    return text if isinstance(text, MUPDF.TextPage) else MUPDF.TextPage(text)


def _page_info(document: Document, page: Any, page_idx: int) -> PageInfo:
    width, height = round(page.rect.width, 2), round(page.rect.height, 2)
    label = (document.labels[page_idx] or None) if document.labels else None
    return PageInfo(page_idx, width, height, page.rotation, label)


def _rendered(document: Document, step: Mapping[str, Any]) -> Answer:
    """A page, a region of one ("clip") or a part that was zoomed into ("detail"), within its bounds.

    Without a bound in bytes it is a lossless RGB PNG.
    """
    page_idx, op = int(step["page_idx"]), step["op"]
    max_pixels, max_bytes = step["max_pixels"], step["max_bytes"]
    page, display_list = document.drawing(page_idx)
    sheet = Sheet(page.rect.width, page.rect.height, tuple(page.rotation_matrix), document.path, page_idx)
    while True:
        if op == "clip":
            area = region(sheet, tuple(step["box"]), dpi=step["dpi"], max_pixels=max_pixels)
        elif op == "detail":
            area = zoomed(sheet, tuple(step["region"]), width=step["width"], max_pixels=max_pixels)
        else:
            area = whole(sheet, dpi=step["dpi"], max_pixels=max_pixels)
        matrix = MUPDF.Matrix(*area.to_pixels)
        try:
            pixels = display_list.get_pixmap(matrix, colorspace=MUPDF.csRGB, alpha=0, clip=area.area)
        except BROKEN as error:
            raise _unreadable(document.path, page_idx, error) from error
        mime: Mime = "image/png"
        if max_bytes is None:
            body = encode_png(pixels.samples_mv, pixels.width, pixels.height)
            break
        body, mime = encode(pixels.samples, pixels.width, pixels.height, max_bytes=max_bytes)
        count = pixels.width * pixels.height
        if len(body) <= max_bytes or count == 1:
            break
        max_pixels = max(1, int(min(count, max_pixels) * AIM * max_bytes / len(body)))
    header: dict[str, Json] = {"width": pixels.width, "height": pixels.height, "mime": mime}
    if op == "render":
        header["to_pixels"] = [side * area.to_pixels[0] for side in sheet.turned]
        header["page"] = _page_info(document, page, page_idx)
        if step["with_words"]:
            text = document.page_text(page_idx)
            # Half a character, which only a broken font has, is replaced: JSON cannot encode it.
            header["words"] = [
                [*box, word.encode("utf-8", "replace").decode()]
                for box, word in zip(text.boxes[:MAX_WORDS_SENT], text.words, strict=False)
            ]
    return header, body


def _in_lines(page: PageText) -> str:
    return text_in_lines(tuple(zip(page.boxes, page.words, strict=True)), rotation=page.rotation)[0]


def _done(document: Document, step: Mapping[str, Any]) -> Answer:
    match step["op"]:
        case "document":
            return {"document": DocumentInfo(document.page_count, document.labels)}, b""
        case "page":
            page_idx = int(step["page_idx"])
            return {"page": _page_info(document, document.page(page_idx), page_idx)}, b""
        case "texts":
            pages = range(int(step["first"]), min(int(step["end"]), document.page_count))
            return {"texts": list(map(document.plain_text, pages))}, b""
        case "lines":
            known = range(document.page_count)
            texts = [
                _in_lines(document.page_text(int(each))) if each in known else "" for each in step["pages"]
            ]
            # Half a character, which only a broken font has, is replaced: JSON cannot encode it.
            return {"texts": [text.encode("utf-8", "replace").decode() for text in texts]}, b""
        case "pages_for":
            index = document.word_index(searched(document.page_count, step["cited_page_idx"]))
            tokens = QuoteText.of(step["claim"]).tokens
            return {"pages": index.with_words(tokens, share=CLAIM_SHARE) if tokens else []}, b""
        case "words":
            return {"words": record_of(document.page_text(int(step["page_idx"])))}, b""
        case "locate":
            return {"found": located(protocol.record_from(SpanQuery, step["query"]), document)}, b""
    return _rendered(document, step)


def answer(documents: Documents, path: str, step: Mapping[str, Any], memory_bytes: int) -> Answer:
    """Return the reply to one step; a fault is sent as data. `retire` requests the end of this worker.

    The answer is void where memory ran short: MuPDF leaves out what it found no room for.
    """
    try:
        if step["op"] == "picture":
            from proofspan.evidence.pdf import pictures  # loads Pillow, which most workers never need

            picture = pictures.decode(Path(path))
            header: dict[str, Json] = {"width": picture.width, "height": picture.height, "mime": picture.mime}
            body = picture.data
        elif step["op"] == "draw":
            from proofspan.evidence.pdf import draw  # a sheet of our own, which few requests are for

            header, body = draw.drawn(step)
        else:
            header, body = _done(documents.get(path), step)
            documents.trim()
    except EvidenceFault as fault:
        header, body = {"fault": fault.problems[0]}, b""
    except (MemoryError, RecursionError):
        return _too_large(path, memory_bytes)
    except BROKEN as error:
        message = f"the document cannot be read: {_first_line(error)}"
        broken = Problem("page_unreadable", message, where=path, fix=SAVE_AGAIN)
        header, body = {"fault": broken, "retire": True}, b""
    peak = 0  # the address space of this process in bytes, where the system reports it (Linux)
    with suppress(OSError), open("/proc/self/status", "rb") as status:  # noqa: PTH123 - read once a request
        peak = 1024 * next((int(line.split()[1]) for line in status if line.startswith(b"VmPeak:")), 0)
    if peak > EXHAUSTED * memory_bytes:
        return _too_large(path, memory_bytes)
    return {**header, "retire": header.get("retire", False) or peak > SWOLLEN * memory_bytes}, body


def _too_large(path: str, memory_bytes: int) -> Answer:
    message = f"the document needs more than the {memory_bytes // 1024**2:,} MiB of memory that it may take"
    fix = "replace the document by a smaller one; others are not affected"
    return {"fault": Problem("too_large", message, where=path, fix=fix), "retire": True}, b""


def serve(connection: socket.socket, memory_bytes: int) -> None:
    """Answer requests until the other side closes; the first frame reports that the worker is warm.

    A request has steps on one document. Each has the whole time limit and is answered by a frame of its own;
    a fault ends them.
    """
    documents = Documents()
    send_frame(connection, {"ready": os.getpid()})
    while True:
        request, _ = receive_frame(connection)
        for step in request["steps"]:
            signal.alarm(math.ceil(float(request["limit_s"])) + GRACE_S)
            header, body = answer(documents, str(request["path"]), step, memory_bytes)
            signal.alarm(0)
            send_frame(connection, header, body)
            if "fault" in header or header["retire"]:
                break


def main() -> None:
    """Serve until the client is gone."""
    memory_bytes = int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    MUPDF.TOOLS.mupdf_display_errors(False)  # they would go to the client's stdout
    MUPDF.TOOLS.mupdf_display_warnings(False)
    MUPDF.TOOLS.set_small_glyph_heights(True)
    with socket.socket(fileno=int(sys.argv[1])) as connection, suppress(ConnectionEndedError):
        serve(connection, memory_bytes)


if __name__ == "__main__":
    main()
