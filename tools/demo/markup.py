"""Reads the manual's source text into blocks. The markup is a line prefix and a blank line between blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal[
    "title", "contents", "index", "chapter", "heading", "paragraph", "warning", "caution", "note",
    "steps", "list", "table", "figure", "page", "columns",
]  # fmt: skip

SOFT_HYPHEN = "\u00ad"
#: What a reader types for what the page shows: the ligature is a matter of type, not of text.
LIGATURES = {"\ufb01": "fi", "\ufb02": "fl"}

_SIGNALS: dict[str, Kind] = {"WARNING": "warning", "CAUTION": "caution", "NOTE": "note"}
_HEADING = re.compile(r"(#{1,3}) (?:([0-9ivx]+(?:\.\d+)*) )?(\S.*)")
_PAGES = re.compile(r"page(?: (cropped|rotated|picture \w+))?")


@dataclass(frozen=True, slots=True)
class Block:
    """One unit of the manual. `lines` are a table's rows, a list's items or a single text.

    `name` is a figure's name, a table's caption ("Table 8-1. …"), a paragraph's script ("ja" or ""), or what
    a `page` or `columns` directive asks for. `section` is the number printed in front of the heading above
    it ("" where none is), `title` that heading's words, `path` the titles from the chapter down to it.
    `level` is a heading's: 1 for a section, 2 for a subsection.
    """

    kind: Kind
    lines: tuple[str, ...]
    section: str = ""
    title: str = ""
    name: str = ""
    level: int = 0
    path: tuple[str, ...] = ()

    @property
    def cells(self) -> tuple[tuple[str, ...], ...]:
        """A table's rows, its header first."""
        return tuple(tuple(cell.strip() for cell in line.split(" | ")) for line in self.lines)


@dataclass(frozen=True, slots=True)
class _Place:
    """The current place: the section's number and the titles from the chapter down."""

    section: str = ""
    path: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return self.path[-1] if self.path else ""


def plain(text: str) -> str:
    """The text as a reader would type it: no soft hyphens, no ligatures."""
    for glyph, letters in LIGATURES.items():
        text = text.replace(glyph, letters)
    return text.replace(SOFT_HYPHEN, "")


def read_manual(folder: Path) -> str:
    """The source texts of a folder, one after the other in the order of their names."""
    return "\n\n".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.txt")))


def parse(source: str) -> list[Block]:
    """All blocks in order. Raises ValueError for a stanza that looks like mistyped markup."""
    blocks: list[Block] = []
    place = _Place()
    for stanza in _stanzas(source.replace("\\-", SOFT_HYPHEN)):
        if stanza[0].startswith("#"):
            block, place = _heading(stanza[0], place)
        else:
            block = _block(stanza, place)
        blocks.append(block)
    return blocks


def _stanzas(source: str) -> Iterator[list[str]]:
    """Runs of lines between blank ones; a heading and a directive are always separate."""
    stanza: list[str] = []
    for line in [*source.splitlines(), ""]:
        alone = line.startswith(("#", "% "))
        if stanza and (alone or not line.strip()):
            yield stanza
            stanza = []
        if alone:
            yield [line.rstrip()]
        elif line.strip():
            stanza.append(line.rstrip())


def _heading(line: str, place: _Place) -> tuple[Block, _Place]:
    """A chapter's or section's heading and the place that begins with it."""
    match = _HEADING.fullmatch(line)
    if match is None:
        raise ValueError(f"not a heading: {line!r}")
    level, section, title = len(match[1]) - 1, match[2] or "", match[3]
    if level > len(place.path):
        raise ValueError(f"a heading without one above it: {line!r}")
    if level and not section:
        section = place.section
    place = _Place(section, (*place.path[:level], plain(title)))
    words = line.lstrip("#").strip() if level == 0 else title
    kind: Kind = "heading" if level else "chapter"
    return Block(kind, (words,), section, place.title, level=level, path=place.path), place


def _block(stanza: list[str], place: _Place) -> Block:
    kind, lines, name = _read(stanza)
    if kind in ("title", "contents", "index"):
        return Block(kind, lines)
    return Block(kind, lines, place.section, place.title, name, path=place.path)


def _read(stanza: list[str]) -> tuple[Kind, tuple[str, ...], str]:
    """Return a stanza's kind, lines and name."""
    first, rest = stanza[0], tuple(stanza[1:])
    if first.startswith("= "):
        return "title", tuple(line.removeprefix("= ") for line in stanza), ""
    if first.startswith("% "):
        return _directive(first[2:].strip())
    if first.startswith("! "):
        if first[2:] not in _SIGNALS or not rest or rest[0].startswith(("- ", "1. ")):
            raise ValueError(f"not a signal word with its text: {stanza!r}")
        return _SIGNALS[first[2:]], (" ".join(rest),), ""
    if first.startswith("@ "):
        return _table(first[2:], rest)
    if first.startswith("~ "):
        name, _, caption = first[2:].partition(" | ")
        return "figure", (" ".join((caption, *rest)).strip(),), name.strip()
    if first.startswith("- "):
        return "list", tuple(item[2:] for item in _items(stanza, r"- ")), ""
    if first.startswith("1. "):
        return "steps", _items(stanza, r"\d+\. "), ""
    if first.startswith("&ja "):
        return "paragraph", ("".join((first[4:], *rest)),), "ja"
    if not re.match(r"[\w\"'“‘«(<+−]", first):
        raise ValueError(f"not a paragraph and no known mark: {first!r}")
    return "paragraph", (" ".join(stanza),), ""


def _directive(words: str) -> tuple[Kind, tuple[str, ...], str]:
    if words in ("Contents", "Index"):
        return ("contents" if words == "Contents" else "index"), (words,), ""
    if words in ("columns 1", "columns 2"):
        return "columns", (words,), words[-1]
    match = _PAGES.fullmatch(words)
    if match is None:
        raise ValueError(f"not a directive: {words!r}")
    return "page", (words,), match[1] or ""


def _table(caption: str, rows: tuple[str, ...]) -> tuple[Kind, tuple[str, ...], str]:
    widths = {row.count(" | ") for row in rows}
    if len(rows) < 2 or len(widths) > 1:
        raise ValueError(f"not a table of one width with a header and rows: {caption!r}")
    return "table", rows, caption


def _items(stanza: list[str], mark: str) -> tuple[str, ...]:
    """One item a line; a line without the mark goes on with the item before it."""
    items: list[str] = []
    for line in stanza:
        if re.match(mark, line):
            items.append(line)
        else:
            items[-1] += " " + line.strip()
    return tuple(items)
