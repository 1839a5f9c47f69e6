"""Contents and index: both are made once the page of each heading is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from tools.demo.faces import ACCENT, GREY, INK, faces, wrap
from tools.demo.galley import Galley, heading_words
from tools.demo.keywords import Keyword, labels_of
from tools.demo.markup import Block
from tools.demo.pages import BOTTOM, LEFT, RIGHT, TOP, Sheet
from tools.demo.passages import COLUMN, FULL
from tools.demo.typeset import Typesetter

#: A contents line by its heading's level: lead before it, size, indent.
CONTENTS = {0: (14.6, 9.0, 0.0), 1: (11.2, 8.6, 14.0), 2: (9.4, 7.4, 36.0)}
#: Where the first line is below a page's top, with the word Contents or without it.
UNDER_TITLE = 38.0
INDEX_SIZE, INDEX_LEAD = 8.0, 10.4
#: Indent of a sub-entry of the index.
SUB_INDENT = 9.0


def contents_pages(blocks: Iterable[Block]) -> int:
    """How many pages the contents will need; it is known before any page is."""
    return len(_contents_split([block for block in blocks if block.kind in _LISTED]))


_LISTED = ("chapter", "heading", "index")


def _contents_split(entries: Sequence[Block]) -> list[list[Block]]:
    """The entries page by page, evenly filled; no chapter or section comes last before its own entries."""
    groups = [list(found) for _, found in groupby(entries, _Counter())]
    heights = [sum(CONTENTS[block.level][0] for block in group) for group in groups]
    room = BOTTOM - TOP
    count = len(_dealt(groups, heights, room))
    aim = sum(heights) / count
    while len(_dealt(groups, heights, aim)) > count:
        aim += 5.0
    return _dealt(groups, heights, aim)


def _dealt(groups: Sequence[list[Block]], heights: Sequence[float], room: float) -> list[list[Block]]:
    """The groups page by page, none of them higher than the room; the first page has its title besides."""
    pages: list[list[Block]] = [[]]
    used = UNDER_TITLE
    for group, height in zip(groups, heights, strict=True):
        if pages[-1] and used + height > room:
            pages.append([])
            used = 0.0
        pages[-1] += group
        used += height
    return pages


class _Counter:
    """Numbers the groups of entries that stay together: a chapter's line with its first section."""

    def __init__(self) -> None:
        self._group = 0
        self._after_chapter = False

    def __call__(self, block: Block) -> int:
        if block.level == 0 or (block.level == 1 and not self._after_chapter):
            self._group += 1
        self._after_chapter = block.level == 0
        return self._group


def set_contents(setter: Typesetter, labels: Sequence[str]) -> None:
    """Fills the pages that were left open, with dotted leaders up to the printed page labels."""
    at = next(page for block, page in setter.headings if block.kind == "contents")
    page_of = {id(block): page for block, page in setter.headings}
    entries = [block for block, _ in setter.headings if block.kind in _LISTED]
    for number, page in enumerate(_contents_split(entries)):
        sheet = setter.sheets[at + number]
        y = TOP + UNDER_TITLE
        if number == 0:
            for item in Galley(FULL).items(Block("chapter", ("Contents",))):
                item.draw(sheet, LEFT, TOP)
        else:
            y = TOP - 6
        for block in page:
            y += CONTENTS[block.level][0]
            _contents_line(sheet, block, y, labels[page_of[id(block)]])


def _contents_line(sheet: Sheet, block: Block, y: float, label: str) -> None:
    _, size, indent = CONTENTS[block.level]
    face = faces()["bold" if block.level == 0 else "regular"]
    colour = ACCENT if block.level == 0 else INK
    end = sheet.write(LEFT + indent, y, heading_words(block), face, size, colour)
    width = face.length(label, size)
    sheet.write(RIGHT - width, y, label, face, size)
    sheet.page.draw_line((end + 6, y), (RIGHT - width - 6, y), color=GREY, width=0.6, dashes="[0.6 3] 0")


def set_index(
    setter: Typesetter, label: Callable[[int], str], keywords: Sequence[tuple[Keyword, ...]]
) -> None:
    """Sets the keywords at the end of the book, in two columns of lines with leaders."""
    found = [page for block, page in setter.headings if block.kind == "index"]
    if not found:
        return
    if found[0] != len(setter.sheets):
        raise ValueError("the index is the last thing in the book")
    lines = _index_lines(keywords, _section_pages(setter), label)
    top = TOP + UNDER_TITLE + 6
    columns = _index_columns(lines, BOTTOM - top, BOTTOM - TOP)
    for number, column in enumerate(columns):
        if number % 2 == 0:
            sheet = setter.new_sheet("Index")
        if number == 0:
            for item in Galley(FULL).items(Block("chapter", ("Index",))):
                item.draw(sheet, LEFT, TOP)
        x = LEFT + (number % 2) * (FULL - COLUMN)
        y = top if number < 2 else TOP
        for place, line in enumerate(column):
            y += line.lead if place else INDEX_LEAD
            line.draw(sheet, x, y)


def _section_pages(setter: Typesetter) -> dict[str, int]:
    """The page on which each numbered section begins."""
    return {block.section: page for block, page in setter.headings if block.kind == "heading"}


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of the index: a letter, or words with a leader to the page where the entry ends."""

    words: str
    lead: float = INDEX_LEAD
    label: str = ""
    indent: float = 0.0
    first: bool = True
    letter: bool = False

    def draw(self, sheet: Sheet, x: float, y: float) -> None:
        """Puts the line with its baseline at y."""
        face = faces()["bold" if self.letter else "regular"]
        size = 10.5 if self.letter else INDEX_SIZE
        end = sheet.write(x + self.indent, y, self.words, face, size, ACCENT if self.letter else INK)
        if self.label:
            left = x + COLUMN - face.length(self.label, size)
            sheet.write(left, y, self.label, face, size)
            if left - end > 10:
                ends = ((end + 4, y), (left - 4, y))
                sheet.page.draw_line(*ends, color=GREY, width=0.5, dashes="[0.5 2.5] 0")


def _index_lines(
    keywords: Sequence[tuple[Keyword, ...]], pages: Mapping[str, int], label: Callable[[int], str]
) -> list[_Line]:
    """The lines under their letters."""
    lines: list[_Line] = []
    for letter, group in groupby(keywords, lambda entry: entry[0].initial):
        lines.append(_Line(letter, lead=20.0, letter=True))
        for number, entry in enumerate(group):
            for keyword in entry:
                first = number > 0 and not keyword.sub
                lines += _keyword_lines(keyword, labels_of(keyword, pages, label), first=first)
    return lines


def _keyword_lines(keyword: Keyword, label: str, *, first: bool) -> list[_Line]:
    """A keyword's lines; what does not fit into the first is indented further."""
    face = faces()["regular"]
    indent = SUB_INDENT if keyword.sub else 0.0
    found = wrap(keyword.words, COLUMN - face.length(label, INDEX_SIZE) - 16 - indent, face, INDEX_SIZE)
    return [
        _Line(
            " ".join(line),
            INDEX_LEAD,
            label if number == len(found) - 1 else "",
            indent + (SUB_INDENT * 2 if number else 0.0),
            first and number == 0,
        )
        for number, line in enumerate(found)
    ]


def _index_columns(lines: Sequence[_Line], first: float, full: float) -> list[list[_Line]]:
    """The lines column by column; a letter stays with its first entry, an entry is not divided.

    The last page's columns end level.
    """
    columns = _poured(lines, first, full, full)
    pages = math.ceil(len(columns) / 2)
    last = 60.0
    while last < full:
        trial = _poured(lines, first, full, last, until=2 * (pages - 1))
        if len(trial) <= 2 * pages:
            return trial
        last += 4.0
    return columns


def _poured(
    lines: Sequence[_Line], first: float, full: float, last: float, until: int = 0
) -> list[list[_Line]]:
    columns: list[list[_Line]] = [[]]
    used = 0.0
    for place, line in enumerate(lines):
        number = len(columns) - 1
        room = first if number < 2 else full
        if number >= until:
            room = min(room, last)
        unit = line.lead + sum(found.lead for found in _tail(lines, place))
        if columns[-1] and line.first and used + unit > room:
            columns.append([])
            used = 0.0
        columns[-1].append(line)
        used += line.lead
    return columns


def _tail(lines: Sequence[_Line], place: int) -> list[_Line]:
    """The lines behind this one that must not begin a column."""
    end = place + 1
    while end < len(lines) and not lines[end].first:
        end += 1
    return list(lines[place + 1 : end])
