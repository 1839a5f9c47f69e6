"""Sets the manual's blocks on A5 pages with PyMuPDF and says where each of them came to stand.

All lengths are points, origin top left, as everywhere else. Nothing here depends on the clock, on the
machine's fonts or on chance: the fonts are the ones that come with MuPDF.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise

import pymupdf

from tools.demo import figures
from tools.demo.markup import SOFT_HYPHEN, Block

WIDTH, HEIGHT = 420.0, 595.0
LEFT, RIGHT, TOP, BOTTOM = 44.0, 376.0, 64.0, 540.0
BODY, LEAD = 9.2, 12.6
#: A table row with a lamp is at least this high.
LAMP_ROW = 23.0

INK = (0.13, 0.14, 0.16)
GREY = (0.45, 0.47, 0.5)
ACCENT = (0.05, 0.33, 0.42)
RULE = (0.78, 0.8, 0.82)
SIGNAL = {
    "warning": ("WARNING", (0.93, 0.42, 0.05), (1.0, 0.953, 0.91)),
    "caution": ("CAUTION", (0.95, 0.77, 0.06), (1.0, 0.984, 0.89)),
    "note": ("NOTE", (0.3, 0.48, 0.66), (0.93, 0.955, 0.98)),
}
FONTS = {"regular": "helv", "bold": "hebo", "italic": "heit"}

Rgb = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Placed:
    """A block and where it stands. `bbox` encloses its text and frame, in points."""

    block: Block
    page_idx: int
    bbox: tuple[float, float, float, float]


@dataclass(slots=True)
class Sheet:
    """One page while it is being set: its chapter, and the text collected so far in reading order."""

    document: pymupdf.Document
    page_idx: int
    chapter: str
    runs: list[tuple[Rgb, pymupdf.TextWriter]] = field(default_factory=list)

    @property
    def page(self) -> pymupdf.Page:
        """Loaded anew each time: adding a page to a document orphans the page objects taken before."""
        return self.document[self.page_idx]

    def write(
        self, x: float, y: float, text: str, font: pymupdf.Font, size: float, colour: Rgb = INK
    ) -> float:
        """Puts text with its baseline at (x, y); gives the x where it ends."""
        if not self.runs or self.runs[-1][0] != colour:
            self.runs.append((colour, pymupdf.TextWriter(pymupdf.Rect(0, 0, WIDTH, HEIGHT))))
        _, end = self.runs[-1][1].append((x, y), text, font=font, fontsize=size)
        return float(end.x)

    def finish(self) -> None:
        """Writes what has been collected; called once, when the page is full."""
        for colour, writer in self.runs:
            writer.write_text(self.page, color=colour)


class Typesetter:
    """Flows blocks over pages, keeping frames, tables and headings with what belongs to them."""

    def __init__(self) -> None:
        self.document = pymupdf.open()
        self.fonts = {name: pymupdf.Font(code) for name, code in FONTS.items()}
        self.sheets: list[Sheet] = []
        self.placed: list[Placed] = []
        self.headings: list[tuple[Block, int]] = []
        self.y = TOP

    def set(self, blocks: Iterable[Block]) -> None:
        """Sets every block in order; a chapter opens a page of its own."""
        setters: dict[str, Callable[[Block], None]] = {
            "title": self._cover,
            "contents": self._chapter,
            "chapter": self._chapter,
            "heading": self._heading,
            "paragraph": self._paragraph,
            "steps": self._steps,
            "table": self._table,
            "figure": self._figure,
        }
        for block in blocks:
            setters.get(block.kind, self._signal)(block)

    # -- text -----------------------------------------------------------------------------------------

    def wrap(self, text: str, width: float, font: pymupdf.Font, size: float = BODY) -> list[list[str]]:
        """Words line by line. A word is broken only at its soft hyphens."""
        lines: list[list[str]] = [[]]
        for word in text.split():
            whole = word.replace(SOFT_HYPHEN, "")
            if self._fits([*lines[-1], whole], width, font, size):
                lines[-1].append(whole)
                continue
            head, _, tail = word.partition(SOFT_HYPHEN)
            if tail and self._fits([*lines[-1], head + "-"], width, font, size):
                lines[-1].append(head + "-")
                lines.append([tail])
            else:
                lines.append([whole])
        return [line for line in lines if line]

    @staticmethod
    def _fits(words: list[str], width: float, font: pymupdf.Font, size: float) -> bool:
        return bool(font.text_length(" ".join(words), size) <= width)

    def _lines(
        self, text: str, x: float, width: float, *, font: str = "regular", justify: bool = False
    ) -> None:
        """Writes wrapped text from the current y downwards."""
        face = self.fonts[font]
        lines = self.wrap(text, width, face)
        for number, words in enumerate(lines):
            gap = face.text_length(" ", BODY)
            if justify and len(words) > 1 and number < len(lines) - 1:
                slack = width - face.text_length(" ".join(words), BODY)
                gap += min(slack / (len(words) - 1), 3.0)
            self._line(words, x, gap, face)
            self.y += LEAD

    def _line(self, words: list[str], x: float, gap: float, face: pymupdf.Font) -> None:
        baseline = self.y + BODY
        for position, word in enumerate(words):
            text = word if position == len(words) - 1 else word + " "
            self.sheets[-1].write(x, baseline, text, face, BODY)
            x += face.text_length(word, BODY) + gap

    def _height(self, text: str, width: float, font: str = "regular") -> float:
        return len(self.wrap(text, width, self.fonts[font])) * LEAD

    # -- pages ----------------------------------------------------------------------------------------

    def _new_page(self, chapter: str) -> Sheet:
        self.document.new_page(width=WIDTH, height=HEIGHT)
        self.sheets.append(Sheet(self.document, len(self.sheets), chapter))
        self.y = TOP
        return self.sheets[-1]

    def _room(self, height: float) -> None:
        if self.y + height > BOTTOM:
            self._new_page(self.sheets[-1].chapter)

    def _keep(self, block: Block, top: float, x0: float = LEFT, x1: float = RIGHT) -> None:
        self.placed.append(Placed(block, len(self.sheets) - 1, (x0, round(top, 2), x1, round(self.y, 2))))

    # -- blocks ---------------------------------------------------------------------------------------

    def _cover(self, block: Block) -> None:
        sheet = self._new_page("")
        figures.cover(sheet.page)
        name, kind, year = block.lines
        sheet.write(LEFT, 150, name, self.fonts["bold"], 40, (1.0, 1.0, 1.0))
        sheet.write(LEFT, 182, kind, self.fonts["regular"], 18, (1.0, 1.0, 1.0))
        sheet.write(LEFT, 545, year, self.fonts["regular"], 11, GREY)

    def _chapter(self, block: Block) -> None:
        sheet = self._new_page(block.lines[0])
        self.headings.append((block, len(self.sheets) - 1))
        sheet.write(LEFT, TOP + 22, block.lines[0], self.fonts["bold"], 21, ACCENT)
        sheet.page.draw_line((LEFT, TOP + 32), (RIGHT, TOP + 32), color=ACCENT, width=1.4)
        self.y = TOP + 46

    def _heading(self, block: Block) -> None:
        self._room(70)
        if self.y > TOP + 50:
            self.y += 7
        self.headings.append((block, len(self.sheets) - 1))
        face = self.fonts["bold"]
        x = self.sheets[-1].write(LEFT, self.y + 12, block.section, face, 12.5, ACCENT)
        self.sheets[-1].write(x + 8, self.y + 12, block.lines[0], face, 12.5)
        self.y += 20

    def _paragraph(self, block: Block) -> None:
        self._room(self._height(block.lines[0], RIGHT - LEFT))
        top = self.y
        self._lines(block.lines[0], LEFT, RIGHT - LEFT, justify=True)
        self._keep(block, top)
        self.y += 5

    def _steps(self, block: Block) -> None:
        width = RIGHT - LEFT - 18
        self._room(sum(self._height(step.split(" ", 1)[1], width) for step in block.lines))
        top = self.y
        for step in block.lines:
            number, text = step.split(" ", 1)
            self.sheets[-1].write(LEFT, self.y + BODY, number, self.fonts["bold"], BODY, ACCENT)
            self._lines(text, LEFT + 18, width)
            self.y += 1.5
        self._keep(block, top)
        self.y += 5

    def _signal(self, block: Block) -> None:
        word, strong, pale = SIGNAL[block.kind]
        height = 25 + self._height(block.lines[0], RIGHT - LEFT - 20)
        self._room(height + 6)
        sheet, top = self.sheets[-1], self.y + 2
        page = sheet.page
        page.draw_rect((LEFT, top, RIGHT, top + height), color=strong, fill=pale, width=0.8)
        page.draw_rect((LEFT, top, RIGHT, top + 16), color=strong, fill=strong, width=0.8)
        colour = INK if block.kind == "caution" else (1.0, 1.0, 1.0)
        figures.signal(page, LEFT + 10, top + 8, colour, note=block.kind == "note")
        sheet.write(LEFT + 26, top + 11.6, word, self.fonts["bold"], 9.6, colour)
        self.y = top + 20
        self._lines(block.lines[0], LEFT + 10, RIGHT - LEFT - 20)
        self.y = top + height
        self._keep(block, top)
        self.y += 8

    def _table(self, block: Block) -> None:
        rows = block.cells
        columns = self._columns(rows)
        heights = [self._row_height(row, columns) for row in rows]
        self._room(sum(heights) + 8)
        top = self.y + 2
        self.y = top
        for number, (row, height) in enumerate(zip(rows, heights, strict=True)):
            self._row(row, columns, height, number)
        self._keep(block, top)
        self.y += 9

    def _columns(self, rows: tuple[tuple[str, ...], ...]) -> list[float]:
        """Left edges of the columns and the right edge: as wide as their text needs, the rest shared out."""
        face = self.fonts["bold"]
        wanted = [
            max(face.text_length(cell, BODY) for cell in column) + 16 for column in zip(*rows, strict=True)
        ]
        if rows[1][0].startswith("*"):
            wanted[0] = 42.0
        spare = (RIGHT - LEFT) - sum(wanted)
        if spare < 0:
            wanted[-1] += spare
        shares = [width + max(spare, 0.0) / len(wanted) for width in wanted]
        return [LEFT + sum(shares[:number]) for number in range(len(shares) + 1)]

    def _row_height(self, row: tuple[str, ...], columns: list[float]) -> float:
        lines = [self._cell(cell, edges) for cell, edges in zip(row, pairwise(columns), strict=True)]
        height = max(len(found) for found in lines) * LEAD + 6
        return max(height, LAMP_ROW) if row[0].startswith("*") else height

    def _cell(self, cell: str, edges: tuple[float, float], font: str = "regular") -> list[list[str]]:
        """A cell's lines; a lamp has none."""
        return [] if cell.startswith("*") else self.wrap(cell, edges[1] - edges[0] - 8, self.fonts[font])

    def _row(self, row: tuple[str, ...], columns: list[float], height: float, number: int) -> None:
        page, top = self.sheets[-1].page, self.y
        header = number == 0
        if header:
            page.draw_rect((LEFT, top, RIGHT, top + height), color=ACCENT, fill=ACCENT, width=0.5)
        elif number % 2 == 0:
            page.draw_rect((LEFT, top, RIGHT, top + height), color=None, fill=(0.955, 0.962, 0.968))
        page.draw_line((LEFT, top + height), (RIGHT, top + height), color=RULE, width=0.5)
        font, colour = ("bold", (1.0, 1.0, 1.0)) if header else ("regular", INK)
        for cell, edges in zip(row, pairwise(columns), strict=True):
            if cell.startswith("*"):
                figures.lamp(page, cell[1:], edges[0] + 18, top + height / 2, amber=row[1] == "Amber")
            lines = self._cell(cell, edges, font)
            baseline = top + (height - len(lines) * LEAD) / 2 + BODY
            for position, words in enumerate(lines):
                x, y = edges[0] + 5, baseline + position * LEAD
                self.sheets[-1].write(x, y, " ".join(words), self.fonts[font], BODY, colour)
        self.y = top + height

    def _figure(self, block: Block) -> None:
        draw, height = figures.DRAWINGS[block.name]
        self._room(height + LEAD + 10)
        top = self.y + 2
        page = self.sheets[-1].page
        page.draw_rect((LEFT, top, RIGHT, top + height), color=RULE, fill=(0.985, 0.987, 0.99), width=0.6)
        draw(page, self._label, LEFT, top, RIGHT - LEFT, height)
        self.y = top + height + 3
        caption = self.y
        self._lines(block.lines[0], LEFT, RIGHT - LEFT, font="italic")
        self._keep(block, caption)
        self.y += 6

    def _label(self, x: float, y: float, text: str, colour: Rgb = INK, size: float = 7.6) -> None:
        """Text centred on x inside a figure."""
        face = self.fonts["bold"]
        self.sheets[-1].write(x - face.text_length(text, size) / 2, y, text, face, size, colour)
