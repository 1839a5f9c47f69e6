"""Reads the manual's source text into blocks. The markup is a line prefix and a blank line between blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "title", "contents", "chapter", "heading", "paragraph",
    "warning", "caution", "note", "steps", "table", "figure",
]  # fmt: skip

SOFT_HYPHEN = "\u00ad"
#: What a reader types for what the page shows: the ligature is a matter of type, not of text.
LIGATURES = {"\ufb01": "fi", "\ufb02": "fl"}


@dataclass(frozen=True, slots=True)
class Block:
    """One unit of the manual. `lines` are a table's rows, a list's steps or a single text; `name` a figure's.

    `section` is the number printed in front of the heading above it ("" before the first one), `title`
    that heading's words.
    """

    kind: Kind
    lines: tuple[str, ...]
    section: str = ""
    title: str = ""
    name: str = ""

    @property
    def cells(self) -> tuple[tuple[str, ...], ...]:
        """A table's rows, its header first."""
        return tuple(tuple(cell.strip() for cell in line.split(" | ")) for line in self.lines)


def plain(text: str) -> str:
    """The text as a reader would type it: no soft hyphens, no ligatures."""
    for glyph, letters in LIGATURES.items():
        text = text.replace(glyph, letters)
    return text.replace(SOFT_HYPHEN, "")


def parse(source: str) -> list[Block]:
    """All blocks in order. Raises ValueError for a paragraph that looks like mistyped markup."""
    blocks: list[Block] = []
    section = title = ""
    for stanza in _stanzas(source.replace("\\-", SOFT_HYPHEN)):
        if stanza[0].startswith("## "):
            section, title = stanza[0][3:].split(" ", 1)
            blocks.append(Block("heading", (title,), section, title))
            stanza = stanza[1:]
        if stanza:
            blocks.append(_block(stanza, section, title))
    return blocks


def _stanzas(source: str) -> list[list[str]]:
    """Runs of lines between blank ones; a chapter line always stands alone."""
    stanzas: list[list[str]] = [[]]
    for line in source.splitlines():
        if line.startswith("# "):
            stanzas += [[line], []]
        elif line.strip():
            stanzas[-1].append(line.rstrip())
        else:
            stanzas.append([])
    return [stanza for stanza in stanzas if stanza]


def _block(stanza: list[str], section: str, title: str) -> Block:
    first, rest = stanza[0], tuple(stanza[1:])
    if first.startswith("= "):
        return Block("title", tuple(line[2:] for line in stanza))
    if first.startswith("% "):
        return Block("contents", (first[2:],))
    if first.startswith("# "):
        return Block("chapter", (first[2:],))
    if first.startswith("! "):
        return Block(_SIGNALS[first[2:]], (" ".join(rest),), section, title)
    if first.startswith("@ "):
        return Block("table", (first[2:], *rest), section, title)
    if first.startswith("~ "):
        name, caption = first[2:].split(" | ", 1)
        return Block("figure", (caption,), section, title, name)
    if first.startswith("1. "):
        return Block("steps", (first, *rest), section, title)
    if not re.match(r"\w", first):
        raise ValueError(f"not a paragraph and no known mark: {first!r}")
    return Block("paragraph", (" ".join(stanza),), section, title)


_SIGNALS: dict[str, Kind] = {"WARNING": "warning", "CAUTION": "caution", "NOTE": "note"}
