"""Pieces of Markdown, written so that the same text is read back: lines, texts, list items, table cells.

Text of others is written as it is, except where it could become structure: there a backslash comes before
it, as CommonMark has it, and is taken away again when the piece is read. Fenced code that is closed within a
text stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

#: Blanks at the ends of lines; other white space belongs to the text.
BLANKS: Final = " \t"
INDENT: Final = "  "
#: The line below which everything up to the next heading was made from the record, and is not read back.
DERIVED: Final = "_Made from the record and the manifest:_"

_BULLETS = r"(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*"
_FENCE = re.compile(rf"[ \t]*{_BULLETS}(`{{3,}}(?=[^`]*$)|~{{3,}})")
_CLOSING = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*$")
#: A list item: a bullet or a number, and its first line.
ITEM = re.compile(r"(?:[-*+]|\d{1,3}[.)])[ \t]+(.*)", re.DOTALL)
_TAG = re.compile(r"(?<!\\)(\\*)<(?=[A-Za-z/!?])")
_KEPT_TAG = re.compile(r"(?<!\\)(\\+)<(?=[A-Za-z/!?])")
_LINE = re.compile(r"([ \t]*)(\\*)(.*)", re.DOTALL)
_ALWAYS = rf"(?:=+|(?:[-*_][ \t]*)+|End\.)[ \t]*$|{_BULLETS}(?:`{{3}}|~{{3}})|{re.escape(DERIVED)}"


#: What has a meaning at the beginning of a line in some part of a file, which texts must not have there.
Guard = re.Pattern[str]


def guard(level: int, *others: str) -> Guard:
    """Return the guard of texts below which headings up to `level` and `others` have a meaning."""
    return re.compile("|".join((rf"\#{{1,{level}}}(?:[ \t]|$)", _ALWAYS, *others)))


def fenced(lines: Sequence[str]) -> list[int]:
    """Return of each line the number of the fenced code that it belongs to, fences among it; 0 for none.

    Code that is never closed is not fenced.
    """
    closings = [_CLOSING.match(line) for line in lines]
    # The longest fence that can close from each line on: without one, nothing needs to be looked for.
    longest = {
        char: list(accumulate(reversed(_lengths(closings, char)), max, initial=0))[::-1] for char in "`~"
    }
    inside = [0] * len(lines)
    at = number = 0
    while at < len(lines):
        opening = _FENCE.match(lines[at])
        if opening is None or longest[opening[1][0]][at + 1] < len(opening[1]):
            at += 1
            continue
        fence, end = opening[1], at + 1
        while not ((closing := closings[end]) and closing[1].startswith(fence)):
            end += 1
        number += 1
        inside[at : end + 1] = [number] * (end + 1 - at)
        at = end + 1
    return inside


def _lengths(closings: Iterable[re.Match[str] | None], char: str) -> list[int]:
    return [len(match[1]) if match is not None and match[1][0] == char else 0 for match in closings]


def safe(text: str) -> str:
    """Return text on one line in which nothing opens a tag."""
    return _TAG.sub(lambda match: f"{match[1] * 2}\\<", text)


def plain(text: str) -> str:
    """Return the text that `safe` was given."""
    return _KEPT_TAG.sub(lambda match: match[0] if len(match[1]) % 2 == 0 else f"{match[1][1::2]}<", text)


def _is_code(lines: Sequence[str], kept: Guard) -> list[bool]:
    """Return which lines are code. Where bullets have a meaning, code beside one is text."""
    inside = fenced(lines)
    if kept.match("- x") is not None:
        beside = {
            number for line, number in zip(lines, inside, strict=True) if ITEM.match(line.lstrip(BLANKS))
        }
        inside = [0 if number in beside else number for number in inside]
    return [number > 0 for number in inside]


def written(text: str, kept: Guard) -> list[str]:
    """Return the lines of a text, without anything that has a meaning there."""
    lines = text.split("\n")
    return [
        line if is_code else _guarded(safe(line), kept)
        for line, is_code in zip(lines, _is_code(lines, kept), strict=True)
    ]


def _guarded(line: str, kept: Guard) -> str:
    match = _LINE.match(line)
    if match is None or kept.match(match[3]) is None:
        return line
    return f"{match[1]}\\{match[2]}{match[3]}"


def read(lines: Sequence[str], kept: Guard) -> str:
    """Return the text of lines that `written` gave, or of others; blank lines around it go."""
    found = [
        line if is_code else plain(_unguarded(line, kept))
        for line, is_code in zip(lines, _is_code(lines, kept), strict=True)
    ]
    return "\n".join(found).strip(f"{BLANKS}\n")


def _unguarded(line: str, kept: Guard) -> str:
    match = _LINE.match(line)
    if match is None or not match[2] or kept.match(match[3]) is None:
        return line
    return f"{match[1]}{match[2][1:]}{match[3]}"


def item(text: str, kept: Guard) -> list[str]:
    """Return the lines of a list item; those after the first are indented."""
    first, *rest = written(text, kept)
    return [f"- {first}", *indented(rest)]


def indented(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines as part of the list item above them."""
    yield from (f"{INDENT}{line}" if line else "" for line in lines)


class Block(NamedTuple):
    """Lines that belong together: those of a list item, without bullet and indentation, or others.

    `line` is the number of the first in the file, `mark` the bullet or number of an item with its blanks.
    """

    lines: list[str]
    line: int
    mark: str = ""

    @property
    def is_item(self) -> bool:
        """Return whether it is a list item."""
        return bool(self.mark)

    @property
    def whole(self) -> list[str]:
        """The lines as they are in the file, less deep."""
        return [f"{self.mark}{self.lines[0]}", *indented(self.lines[1:])] if self.mark else self.lines


def items_of(lines: Sequence[str], first: int) -> Iterator[Block]:
    """Yield the list items among lines, and the paragraphs between them; `first` is the first line's number.

    A line without indentation right below an item belongs to it.
    """
    inside = fenced(lines)
    open_block: Block | None = None
    for at, line in enumerate(lines):
        match = None if at and inside[at] and inside[at] == inside[at - 1] else ITEM.match(line)
        is_blank = not line.strip(BLANKS)
        is_lazy = at > 0 and bool(lines[at - 1].strip(BLANKS))
        continues = open_block is not None and (
            not open_block.is_item or is_blank or line.startswith((INDENT, "\t")) or is_lazy
        )
        if match is not None:
            if open_block is not None:
                yield open_block
            open_block = Block([match[1]], first + at, line[: match.start(1)])
        elif open_block is not None and continues:
            open_block.lines.append(_dedented(line) if open_block.is_item else line)
        elif not is_blank or open_block is not None:
            if open_block is not None:
                yield open_block
            open_block = Block([line], first + at)
    if open_block is not None:
        yield open_block


def _dedented(line: str) -> str:
    return line[len(INDENT) :] if line.startswith(INDENT) else line.removeprefix("\t")


# Tables: a row is one line, so a line feed is `<br>` and a pipe has a backslash.

_PIPE = re.compile(r"(?<!\\)(\\*)\|")
_KEPT_PIPE = re.compile(r"(?<!\\)(\\+)\|")
_SPLIT = re.compile(r"((?:[^|\\]|\\.|\\$)*)(?:\||$)", re.DOTALL)
_BREAK = " <br> "
_KEPT_BREAK = re.compile(r"(?: |(?<!\\))<br> ?")
_BULLET = "• "
_POINT = re.compile(r"(?m)^(\\*)(?=• )")
_KEPT_POINT = re.compile(r"(?m)^(\\+)(?=• )")
_SPANS = re.compile(r"`[^`]+`(?:, `[^`]+`)*")


def cell(text: str) -> str:
    """Return a text as a cell."""
    return _PIPE.sub(lambda match: f"{match[1] * 2}\\|", safe(text).replace("\n", _BREAK))


def of_cell(written_cell: str) -> str:
    """Return the text of a cell."""
    found = _KEPT_PIPE.sub(
        lambda match: match[0] if len(match[1]) % 2 == 0 else f"{match[1][1::2]}|", written_cell
    )
    return plain(_KEPT_BREAK.sub("\n", found.strip(BLANKS)))


def list_cell(texts: Sequence[str]) -> str:
    """Return a list as a cell: names in code, other texts below each other."""
    if texts and not any(set(text) & set("`\n") or text != text.strip(BLANKS) for text in texts):
        return cell(", ".join(f"`{text}`" for text in texts))
    return cell("\n".join(_BULLET + _POINT.sub(r"\1\\", text) for text in texts))


def of_list_cell(written_cell: str) -> list[str]:
    """Return the list in a cell; one text without marks is a list of one."""
    text = of_cell(written_cell)
    if _SPANS.fullmatch(text):
        return text[1:-1].split("`, `")
    if not text.startswith(_BULLET):
        return [text] if text else []
    parts = re.split(r"(?m)^• ", text)[1:]
    return [_KEPT_POINT.sub(lambda match: match[1][1:], part.removesuffix("\n")) for part in parts]


def cells_of(line: str) -> list[str]:
    """Return the cells of a table's row, not yet read."""
    inner = line.strip(BLANKS).removeprefix("|")
    found = [match[1] for match in _SPLIT.finditer(inner)]
    while found and not found[-1].strip(BLANKS):
        found.pop()
    return [each.strip(BLANKS) for each in found]


def is_rule_row(line: str) -> bool:
    """Return whether a line separates a table's head from its rows."""
    cells = cells_of(line)
    return bool(cells) and all(re.fullmatch(r":?-+:?", each) for each in cells)
