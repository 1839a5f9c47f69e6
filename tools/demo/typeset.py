"""Set the manual's blocks on A5 pages with PyMuPDF, and return the place of each.

All lengths are points, origin top left, as everywhere else. Nothing here depends on the clock, on the
machine's fonts or on chance: the fonts are the ones that come with MuPDF.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import pymupdf

from tools.demo import figures
from tools.demo.columns import balanced
from tools.demo.faces import GREY, RULE, WHITE, faces
from tools.demo.flow import Insert, Item, Lengths, best_fill, gap, growth
from tools.demo.galley import SIGNAL
from tools.demo.markup import Block
from tools.demo.pages import (
    BOTTOM,
    LEFT,
    TOP,
    Box,
    Form,
    Mark,
    Part,
    Placed,
    Sheet,
    add_sheet,
    union,
)
from tools.demo.passages import COLUMN, FULL, LANDSCAPE, Passage, passages

__all__ = ["SIGNAL", "Mark", "Part", "Placed", "Typesetter"]

#: How loosely a chapter may be set, so that its pages come out full: a factor of the white between blocks.
SCALES = (1.0, 0.85, 1.15, 1.3)


@dataclass(slots=True)
class _Trace:
    """The result of drawing a block: boxes by frame (a page or a column of it), symbols, a drawing."""

    block: Block
    boxes: dict[int, tuple[int, list[Box]]] = field(default_factory=dict)
    marks: list[Mark] = field(default_factory=list)
    art: Part | None = None

    def placed(self) -> Placed:
        parts = tuple(Part(page_idx, union(boxes)) for page_idx, boxes in self.boxes.values())
        return Placed(self.block, parts, tuple(self.marks), self.art)


class Typesetter:
    """Flows passages over pages and keeps account of what it has put where."""

    def __init__(self, *, contents_pages: int) -> None:
        self.document = pymupdf.open()
        self.sheets: list[Sheet] = []
        #: every heading and the first page of each special block, in order: for contents, outline, index
        self.headings: list[tuple[Block, int]] = []
        self._contents_pages = contents_pages
        self._traces: dict[int, _Trace] = {}
        self._frame = 0

    def set(self, blocks: Iterable[Block]) -> None:
        """Sets every block in order. Of the index, which comes last, only the page is noted."""
        for passage in passages(blocks):
            if passage.special:
                self._special(passage.special, passage.chapter)
            elif passage.columns == 2:
                self._two_columns(passage)
            else:
                self._one_column(passage)

    @property
    def placed(self) -> tuple[Placed, ...]:
        """Every block of text with its place, in the order in which the pages are read."""
        return tuple(trace.placed() for trace in self._traces.values() if trace.boxes)

    def new_sheet(self, chapter: str, form: Form = "plain", *, bare: bool = False) -> Sheet:
        """A new page at the end of the book."""
        self.sheets.append(add_sheet(self.document, chapter, form, bare=bare))
        return self.sheets[-1]

    # -- passages -------------------------------------------------------------------------------------

    def _special(self, block: Block, chapter: str) -> None:
        if block.kind == "title":
            self._cover(block)
            return
        self.headings.append((block, len(self.sheets)))
        if block.kind == "contents":
            for _ in range(self._contents_pages):
                self.new_sheet(chapter)

    def _cover(self, block: Block) -> None:
        sheet = self.new_sheet("", bare=True)
        figures.cover(sheet.page)
        name, kind, year = block.lines
        sheet.write(LEFT, 150, name, faces()["bold"], 40, WHITE)
        sheet.write(LEFT, 182, kind, faces()["regular"], 18, WHITE)
        sheet.write(LEFT, 545, year, faces()["regular"], 11, GREY)

    def _one_column(self, passage: Passage) -> None:
        height = BOTTOM - TOP
        items, breaks, scale = best_fill([*passage.spanning, *passage.items], height, SCALES)
        for start, end in pairwise(breaks.starts):
            sheet = self.new_sheet(passage.chapter, _form(items[start:end]))
            last = end == len(items)
            self._frame_of(sheet, items[start:end], LEFT, TOP, room=height, scale=scale, last=last)
            self._inserts(items[start:end], passage.chapter)

    def _two_columns(self, passage: Passage) -> None:
        """Both columns of a page, the left one to its end before the right one; a hairline between them."""
        over = Lengths(passage.spanning, 1.0).used(0, len(passage.spanning))[0] if passage.spanning else 0.0
        over += passage.spanning[-1].after if passage.spanning else 0.0
        found = balanced(passage.items, BOTTOM - TOP - over, BOTTOM - TOP)
        starts = found.breaks.starts
        for column, (start, end) in enumerate(pairwise(starts)):
            top = TOP + (over if column < 2 else 0.0)
            if column % 2 == 0:
                sheet = self.new_sheet(passage.chapter)
                if column == 0 and passage.spanning:
                    self._frame_of(sheet, passage.spanning, LEFT, TOP)
                x, foot = LEFT + FULL / 2, top + found.heights[column]
                sheet.page.draw_line((x, top + 4), (x, foot), color=RULE, width=0.5)
            left = LEFT + (column % 2) * (FULL - COLUMN)
            last = column >= len(found.heights) - 2
            self._frame_of(sheet, passage.items[start:end], left, top, room=found.heights[column], last=last)

    def _inserts(self, items: Sequence[Item], chapter: str) -> None:
        for insert in (item.insert for item in items if item.insert):
            if insert.picture:
                sheet = self.new_sheet(chapter, bare=True)
                sheet.page.insert_image(sheet.page.rect, stream=figures.picture(insert.picture))
            else:
                self._turned(insert, chapter)

    def _turned(self, insert: Insert, chapter: str) -> None:
        sheet = self.new_sheet(chapter, "rotated")
        width, height = sheet.size
        high, _ = Lengths(insert.items, 1.0).used(0, len(insert.items))
        if high > height - 2 * TOP + 10:
            raise ValueError(f"too high for a turned page: {insert.items[-1].block.name!r}")
        self._frame_of(sheet, insert.items, (width - LANDSCAPE) / 2, TOP)

    # -- items ----------------------------------------------------------------------------------------

    def _frame_of(
        self,
        sheet: Sheet,
        items: Sequence[Item],
        x: float,
        y: float,
        *,
        room: float = math.inf,
        scale: float = 1.0,
        last: bool = True,
    ) -> None:
        """Draws items downwards from (x, y); `room` is the height that gaps grow or shrink to fill."""
        filled, gaps = Lengths(items, scale).used(0, len(items))
        scale *= 1 + (growth(filled, gaps, room, last=last) or 0.0)
        self._frame += 1
        for place, item in enumerate(items):
            y += gap(items, place, scale) if place else 0.0
            if place == 0 and item.opening:
                self._draw(sheet, item.opening, x, y)
                y += item.opening.height
            self._draw(sheet, item, x, y)
            y += item.height

    def _draw(self, sheet: Sheet, item: Item, x: float, y: float) -> None:
        item.draw(sheet, x, y)
        block, page_idx = item.block, sheet.page_idx
        if block.kind in ("chapter", "heading"):
            self.headings.append((block, page_idx))
        trace = self._traces.setdefault(id(block), _Trace(block))

        def moved(box: Box) -> Box:
            return sheet.box(x + box[0], y + box[1], x + box[2], y + box[3])

        if item.box:
            trace.boxes.setdefault(self._frame, (page_idx, []))[1].append(moved(item.box))
        if item.art:
            trace.art = Part(page_idx, moved(item.art))
        trace.marks += [Mark(name, page_idx, moved(box), row) for name, row, box in item.marks]


def _form(items: Sequence[Item]) -> Form:
    return "cropped" if any(item.cropped for item in items) else "plain"
