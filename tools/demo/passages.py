"""Divides the manual into passages: what is set in one go, in one column or two, from a new page on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from tools.demo.flow import Insert, Item
from tools.demo.galley import Galley
from tools.demo.markup import Block
from tools.demo.pages import BOTTOM, LEFT, RIGHT, TOP, WIDTH

#: The width of a line in points: over the page, in one of two columns, on a turned page.
FULL, COLUMN, LANDSCAPE = RIGHT - LEFT, (RIGHT - LEFT - 20) / 2, BOTTOM - TOP + 20
#: The height of a table with a turned page to itself, without caption and headings.
ALONE = WIDTH - 2 * TOP - 50
_HEADINGS = ("chapter", "heading")
#: Blocks that are a passage by themselves and set in a way of their own.
SPECIAL = ("title", "contents", "index")


@dataclass(slots=True)
class Passage:
    """Items that begin on a new page; `spanning` go over both columns. `special` is set by itself."""

    chapter: str
    columns: int = 1
    spanning: list[Item] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    special: Block | None = None


def passages(blocks: Iterable[Block]) -> list[Passage]:
    """All passages of the book in order."""
    reader = _Reader()
    for block in blocks:
        reader.take(block)
    return [passage for passage in reader.found if passage.items or passage.spanning or passage.special]


class _Reader:
    """Collects blocks into the passage that is open."""

    def __init__(self) -> None:
        self.found = [Passage("")]
        self._cropped = False
        self._rotated = False
        self._insert: Insert | None = None

    def take(self, block: Block) -> None:
        if block.kind in SPECIAL:
            name = "" if block.kind == "title" else block.lines[0]
            self.found += [Passage(name, special=block), Passage(name)]
        elif block.kind == "columns":
            self._columns(int(block.name))
        elif block.kind == "page":
            self._page(block.name)
        else:
            self._text(block)

    @property
    def _open(self) -> Passage:
        return self.found[-1]

    def _columns(self, count: int) -> None:
        """Begin a passage; headings that come last move into it, so that none is left behind."""
        headings: list[Item] = []
        while self._open.items and self._open.items[-1].block.kind in _HEADINGS:
            headings.insert(0, self._open.items.pop())
        spanning, items = (headings, []) if count == 2 else ([], headings)
        self.found.append(Passage(self._open.chapter, count, spanning, items))

    def _page(self, form: str) -> None:
        if form == "cropped":
            self._cropped = True
        elif form == "rotated":
            self._rotated = True
        elif form:
            self._put_in(Insert(picture=form.removeprefix("picture ")))
        else:
            self.found.append(Passage(self._open.chapter, self._open.columns))

    def _text(self, block: Block) -> None:
        if block.kind == "chapter":
            fresh = not self._open.items and not self._open.spanning
            self.found.append(Passage(block.lines[0], self._open.columns if fresh else 1))
        if self._rotated:
            self._turn(block)
            return
        spans = self._open.columns == 2 and not self._open.items and block.kind in _HEADINGS
        width = FULL if spans or self._open.columns == 1 else COLUMN
        items = Galley(width).items(block)
        items[0] = replace(items[0], cropped=self._cropped)
        if self._insert is not None:
            items[-1] = replace(items[-1], insert=self._insert)
        self._cropped, self._insert = False, None
        (self._open.spanning if spans else self._open.items).extend(items)

    def _turn(self, block: Block) -> None:
        """The block, with the headings right above it, goes on a turned page of its own."""
        galley = Galley(LANDSCAPE, fill=ALONE)
        items: list[Item] = []
        while self._open.items and self._open.items[-1].block.kind == "heading":
            items[:0] = galley.items(self._open.items.pop().block)
        items += galley.items(block)
        self._rotated = False
        self._put_in(Insert(items=tuple(items)))

    def _put_in(self, insert: Insert) -> None:
        """A page that follows the one on which the text before it ends."""
        items = self._open.items
        if items and items[-1].insert is None:
            items[-1] = replace(items[-1], insert=insert)
        elif self._insert is None:
            self._insert = insert
        else:
            raise ValueError("two pages put in at the same place")
