"""How addresses and people name a question of a run."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

from proofspan.contracts.records.chunk_id import sha1_8

_REPEATED = re.compile(r"(?s)(?P<q_id>.+)#(?P<repeat>[1-9][0-9]{0,8})")


def question_name(q_id: str, repeat: int = 1) -> str:
    """How a URL and a person name a question: `Q80`, and `Q80#2` for the second trace of that id.

    An id that itself ends like `#2` gets its repeat written out, so that reading is never in doubt.
    """
    if repeat == 1 and _REPEATED.fullmatch(q_id) is None:
        return q_id
    return f"{q_id}#{repeat}"


def parse_question_name(name: str) -> tuple[str, int]:
    """The inverse of `question_name`: (q_id, repeat)."""
    match = _REPEATED.fullmatch(name)
    return (match["q_id"], int(match["repeat"])) if match else (name, 1)


# Sections as their steps, so that "§ 5.4.2." of one producer is "5.4.2" of another.

SectionKey = tuple[str, ...]

_NAMED = re.compile(r"^(?:§+|(?:section|sect?)\b)[\s.]*")


@lru_cache(maxsize=1 << 14)
def section_key(section_id: str | None) -> SectionKey:
    """A section as its steps, however it was written: "§ 5.4.2.", "Section 5.4.2" and "5.4.2" are one.

    A section lies in another when that one's steps begin its own, so 4.20 is no part of 4.2. Empty for none.
    """
    text = " ".join(unicodedata.normalize("NFKC", section_id or "").casefold().split())
    steps = (step.strip() for step in _NAMED.sub("", text).split("."))
    return tuple(step for step in steps if step)


# The one normal form of a document's text, from which its revision is computed.
#
# The rules, in order:
#
# 1. Unicode is composed (NFC); CRLF and CR are line breaks; soft hyphens and byte order marks go.
# 2. Page headers and footers go: with three pages or more, a line among the first or last three of a page
# that is in the same place (first from the top, second from the bottom …) on at least half of the
# pages, and on three at least, numbers aside. "Page 3 of 9" and "Page 4 of 9" are the same line.
# 3. A word broken at a line's end is joined: letter, hyphen, line break, lower-case letter.
# 4. Every run of white space becomes one space; none is left at either end.
#
# Applying them twice changes nothing.

#: How many lines at the top and at the bottom of a page may be header or footer.
MARGIN_LINES = 3
#: With fewer pages than this nothing repeats often enough to be called a header.
FEWEST_PAGES = 3

_NUMBER = re.compile(r"\d+")
_BROKEN_WORD = re.compile(r"(?<=[^\W\d_])[-‐][^\S\n]*\n\s*(?=[^\W\d_])")
_DROPPED = re.compile("[\u00ad\ufeff]")

Position = tuple[str, int]


def normalize_text(text: str) -> str:
    """The normal form of a document's text, its pages parted by form feeds."""
    composed = unicodedata.normalize("NFC", _DROPPED.sub("", text)).replace("\r\n", "\n").replace("\r", "\n")
    lines = [[line for each in page.split("\n") if (line := each.strip())] for page in composed.split("\f")]

    def joint(hyphen: re.Match[str]) -> str:
        """Nothing, where the word goes on in lower case; else the hyphen stays as it is."""
        return "" if hyphen.string[hyphen.end()].islower() else hyphen[0]

    joined = _BROKEN_WORD.sub(joint, "\n".join(line for page in _without_margins(lines) for line in page))
    return " ".join(joined.split())


def revision(text: str) -> str:
    """The `rev8` of a document's text: it changes only when the normal form does."""
    return sha1_8(normalize_text(text))


def _without_margins(pages: list[list[str]]) -> list[list[str]]:
    if len(pages) < FEWEST_PAGES:
        return pages
    margins = [_margin_lines(page) for page in pages]
    pages_with = Counter(mark for margin in margins for mark in margin)
    enough = max(FEWEST_PAGES, (len(pages) + 1) // 2)
    kept = []
    for page, margin in zip(pages, margins, strict=True):
        dropped = {index for mark, index in margin.items() if pages_with[mark] >= enough}
        kept.append([line for index, line in enumerate(page) if index not in dropped])
    return kept


def _margin_lines(page: list[str]) -> dict[tuple[Position, str], int]:
    """The page's first and last lines: (place counted from its edge, form without numbers) → index."""
    reach = min(MARGIN_LINES, len(page))
    places = [(("top", depth), depth) for depth in range(reach)]
    places += [(("bottom", depth), len(page) - 1 - depth) for depth in range(reach)]
    forms = {index: " ".join(_NUMBER.sub("#", page[index].casefold()).split()) for _, index in places}
    return {(position, forms[index]): index for position, index in places}
