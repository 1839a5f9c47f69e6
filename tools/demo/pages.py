"""Pages while they are being set, and the place of each block afterwards.

All boxes are points with the origin at the top left of the visible page before it is turned: what PyMuPDF's
`page.get_text("words")` answers in.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

import pymupdf

from tools.demo.faces import INK, Face, Rgb
from tools.demo.markup import Block

WIDTH, HEIGHT = 420.0, 595.0
LEFT, RIGHT, TOP, BOTTOM = 42.0, 378.0, 60.0, 546.0
#: What a cropped page has around its visible part: the strip that is cut off, with the printer's marks.
TRIM = 24.0

Box = tuple[float, float, float, float]
Form = Literal["plain", "cropped", "rotated"]


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a block on one page, or in one column of it."""

    page_idx: int
    bbox: Box


@dataclass(frozen=True, slots=True)
class Mark:
    """A symbol in a table; `row` is its row's index there (header = 0)."""

    name: str
    page_idx: int
    bbox: Box
    row: int


@dataclass(frozen=True, slots=True)
class Placed:
    """A block and its place.

    `parts` enclose its text and frame in reading order: for a table with its caption (and the repeated
    caption and header where it goes on), for a figure the caption alone. `art` is a figure's drawing.
    """

    block: Block
    parts: tuple[Part, ...]
    marks: tuple[Mark, ...] = ()
    art: Part | None = None

    @property
    def page_idx(self) -> int:
        """The page on which it begins."""
        return self.parts[0].page_idx

    @property
    def bbox(self) -> Box:
        """The box of its first part."""
        return self.parts[0].bbox


@dataclass(slots=True)
class Sheet:
    """One page while it is being set: its chapter, and the text collected so far in reading order.

    A rotated sheet is set upright on a landscape canvas and turned when it is finished.
    """

    document: pymupdf.Document
    page_idx: int
    chapter: str
    form: Form = "plain"
    bare: bool = False
    runs: list[tuple[Rgb, pymupdf.TextWriter]] = field(default_factory=list)

    @property
    def page(self) -> pymupdf.Page:
        """Load the page each time: adding a page to a document orphans the page objects taken before."""
        return self.document[self.page_idx]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the canvas that is set on."""
        return (HEIGHT, WIDTH) if self.form == "rotated" else (WIDTH, HEIGHT)

    @property
    def recto(self) -> bool:
        """Whether this is a right-hand page; the cover is one."""
        return self.page_idx % 2 == 0

    def write(self, x: float, y: float, text: str, face: Face, size: float, colour: Rgb = INK) -> float:
        """Puts text with its baseline at (x, y); gives the x where it ends."""
        if not self.runs or self.runs[-1][0] != colour:
            self.runs.append((colour, pymupdf.TextWriter(pymupdf.Rect(0, 0, *self.size))))
        writer = self.runs[-1][1]
        for font, part in face.runs(text):
            _, end = writer.append((x, y), part, font=font, fontsize=size)
            x = float(end.x)
        return x

    def box(self, x0: float, y0: float, x1: float, y1: float) -> Box:
        """A box of the canvas as it lies on the finished page, to a hundredth of a point."""
        if self.form == "rotated":
            x0, y0, x1, y1 = y0, HEIGHT - x1, y1, HEIGHT - x0
        return (round(x0, 2), round(y0, 2), round(x1, 2), round(y1, 2))

    def finish(self) -> None:
        """Writes what has been collected and gives the page its form; called once, at the very end."""
        for colour, writer in self.runs:
            writer.write_text(self.page, color=colour)
        if self.form == "rotated":
            _turn(self.page)
        elif self.form == "cropped":
            _crop(self.page)


def add_sheet(document: pymupdf.Document, chapter: str, form: Form = "plain", *, bare: bool = False) -> Sheet:
    """A new page at the document's end. A bare one gets neither running head nor page number."""
    sheet = Sheet(document, document.page_count, chapter, form, bare)
    document.new_page(width=sheet.size[0], height=sheet.size[1])
    return sheet


def union(boxes: Iterable[Box]) -> Box:
    """The smallest box around all of them."""
    x0, y0, x1, y1 = zip(*boxes, strict=True)
    return (min(x0), min(y0), max(x1), max(y1))


def _turn(page: pymupdf.Page) -> None:
    """Makes a landscape canvas a portrait page that /Rotate 90 shows as the canvas was."""
    _wrap(page, f"0 1 -1 0 {WIDTH:g} 0 cm")
    _set(page, MediaBox=f"[0 0 {WIDTH:g} {HEIGHT:g}]", Rotate="90")


def _crop(page: pymupdf.Page) -> None:
    """Puts a strip with cutting marks around the page; the crop box leaves the page as it was."""
    _wrap(page, f"1 0 0 1 {TRIM:g} {TRIM:g} cm", after=_cutting_marks())
    right, top = WIDTH + TRIM, HEIGHT + TRIM
    _set(
        page,
        MediaBox=f"[0 0 {right + TRIM:g} {top + TRIM:g}]",
        CropBox=f"[{TRIM:g} {TRIM:g} {right:g} {top:g}]",
    )


def _cutting_marks() -> str:
    """Hairlines beside the four corners and a bar of inks below, in PDF operators."""
    right, top = WIDTH + TRIM, HEIGHT + TRIM
    strokes = ["0.4 w 0 G"]
    for x in (TRIM, right):
        strokes += [f"{x:g} 2 m {x:g} 18 l S", f"{x:g} {top + 6:g} m {x:g} {top + 22:g} l S"]
    for y in (TRIM, top):
        strokes += [f"2 {y:g} m 18 {y:g} l S", f"{right + 6:g} {y:g} m {right + 22:g} {y:g} l S"]
    inks = ("1 0 0 0", "0 1 0 0", "0 0 1 0", "0 0 0 1")
    strokes += [f"{ink} k {60 + 16 * place} 5 12 12 re f" for place, ink in enumerate(inks)]
    return " ".join(strokes)


def _wrap(page: pymupdf.Page, before: str, after: str = "") -> None:
    """Puts operators around everything on the page."""
    first, *_ = page.get_contents()
    whole = b"q " + before.encode() + b"\n" + page.read_contents() + b"\nQ " + after.encode() + b"\n"
    page.parent.update_stream(first, whole)
    page.set_contents(first)


def _set(page: pymupdf.Page, **entries: str) -> None:
    for key, value in entries.items():
        page.parent.xref_set_key(page.xref, key, value)
