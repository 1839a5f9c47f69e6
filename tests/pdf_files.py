"""PDFs made for tests: handmade ones byte by byte, and pages with text at known places."""

from __future__ import annotations

import zlib
from pathlib import Path

import pymupdf

from proofspan.contracts.records.records import Box
from proofspan.evidence.text.page_index import WordIndex
from proofspan.evidence.text.page_text import PageText, QuoteText

LINE = 12.0
CHARACTER = 6.0


def handmade(objects: list[bytes]) -> bytes:
    """A PDF of these objects; the first is the catalog."""
    out, offsets = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    tail = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, len(out))
    return out + head + table + tail


def one_page(
    content: bytes, *, box: bytes = b"0 0 200 200", resources: bytes = b"", more: tuple[bytes, ...] = ()
) -> bytes:
    """A PDF of one page with this content stream, compressed; `more` are objects from number 5 on."""
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[%s]/Contents 4 0 R/Resources<<%s>>>>" % (box, resources)
    tree = (b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>", page)
    return handmade([*tree, stream(zlib.compress(content), b"/Filter/FlateDecode"), *more])


def stream(data: bytes, entries: bytes = b"") -> bytes:
    """A stream object."""
    return b"<</Length %d%s>>stream\n%s\nendstream" % (len(data), entries, data)


def form_bomb(levels: int = 14) -> bytes:
    """A page of forms that each draw the next ten times: a few kB that take for ever."""
    kind = b"/Type/XObject/Subtype/Form/BBox[0 0 200 200]"
    forms = [
        stream(b"/N Do " * 10, kind + b"/Resources<</XObject<</N %d 0 R>>>>" % (6 + level))
        for level in range(levels)
    ]
    leaf = stream(b"0 0 9 9 re f", kind)
    return one_page(b"/X Do", resources=b"/XObject<</X 5 0 R>>", more=(*forms, leaf))


def text_bomb(repeats: int) -> bytes:
    """A page of very many words that compress well."""
    font = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
    words = b"BT /F 10 Tf 10 10 Td (aaaa bbbb) Tj ET " * 10_000
    return one_page(words * repeats, resources=b"/Font<</F 5 0 R>>", more=(font,))


def write_pages(
    path: Path, pages: list[list[str]], *, rotation: int = 0, crop: Box | None = None, size: float = 11
) -> Path:
    """A PDF of 400 × 300 points with these lines of text a page, 20 points apart from (50, 60) on."""
    document = pymupdf.open()
    for lines in pages:
        page = document.new_page(width=400, height=300)
        for number, line in enumerate(lines):
            page.insert_text((50, 60 + 20 * number), line, fontsize=size)
        if crop is not None:
            page.set_cropbox(pymupdf.Rect(crop))
        page.set_rotation(rotation)
    document.save(path)
    document.close()
    return path


def page_text(*lines: str) -> PageText:
    """Add a page whose words are placed as by a typewriter: 6 points a character, 12 a line.

    A thin space parts two words that touch, as where kerning splits a number.
    """
    words: list[tuple[Box, str]] = []
    for row, line in enumerate(lines):
        column = 0
        for word in line.split(" "):
            for piece in word.split("\u2009"):
                left, top = column * CHARACTER, row * LINE
                if piece:
                    words.append(((left, top, left + len(piece) * CHARACTER, top + LINE - 2), piece))
                column += len(piece)
            column += 1
    return PageText.of(words, width=612.0, height=792.0)


def quote_text(text: str) -> QuoteText:
    """A quote."""
    return QuoteText.of(text)


class MadeDocument:
    """Pages in memory, as locating sees a document; `read` notes which were asked for."""

    def __init__(self, *pages: PageText) -> None:
        self.pages = pages
        self.read: list[int] = []

    @property
    def page_count(self) -> int:
        return len(self.pages)

    def page_text(self, page_idx: int) -> PageText:
        self.read.append(page_idx)
        return self.pages[page_idx]

    def word_index(self, pages: range) -> WordIndex:
        return WordIndex(map(self.page_text, pages), pages.start)
