"""Build the words of a page from its glyphs, where MuPDF's words are not enough.

MuPDF's words have one box each and no typography. That is not enough in scripts without spaces (a "word" is a
line long), in right-to-left scripts (words come in the order in which the program wrote them), and where
small raised digits, footnote marks and exponents, follow a word without a space.

The order of a right-to-left line depends on the program that wrote the PDF: the letters of a word mostly come
in order, but words, numbers and brackets do not. So only positions are used, by the Unicode bidirectional
algorithm (UAX #9) run backwards: its reversals for display are reversed (rule L2). A library such as
python-bidi only converts in the other direction.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from proofspan.contracts.records.records import Box
from proofspan.evidence.geometry import levelled, union
from proofspan.evidence.text.page_text import PageText
from proofspan.evidence.text.tokens import HAS_CJK

#: Finds, in words on a line each, one that may have a raised digit: a word and a closing mark before one or
#: two digits, a power of ten, a year or a group of thousands and one more digit, a percentage before a digit.
MAY_BE_RAISED = re.compile(
    r"[^\W\d_]{3}[.,;:!?)\]\"'\u2019\u201d]{0,2}\(?\d{1,2}\W*$"
    r"|(?<![\d.,])(?:10[1-9]\d?|(?:19|20)\d{3})\W*$|,\d{4}\W*$|\d%\d",
    re.MULTILINE,
)
SUPERSCRIPT = 1
TO_RAISED = str.maketrans("0123456789()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁽⁾")
RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe"
HAS_RIGHT_TO_LEFT = re.compile(f"[{RIGHT_TO_LEFT}]")
#: Marks that belong to a number between two digits, and beside one.
WITHIN_NUMBER, BESIDE_NUMBER = ".,:/\u066b\u066c", "%\u066a+-\u2212$€£°"
#: Two lines are one when they share this much of the lower one's height.
SAME_LINE = 0.5


class Glyph(NamedTuple):
    """One character, its box in points of the unrotated page, and whether it is set small above the line.

    `level` is the box turned so that its line runs to the right.
    """

    text: str
    box: Box
    level: Box
    is_raised: bool


class Word(NamedTuple):
    """Glyphs without white space between them, with MuPDF's block and line."""

    glyphs: tuple[Glyph, ...]
    line_id: tuple[int, int]

    @property
    def text(self) -> str:
        """The characters; raised digits and parentheses after others become superscript characters."""
        text, follows = "", False
        for glyph in self.glyphs:
            text += glyph.text.translate(TO_RAISED) if glyph.is_raised and follows else glyph.text
            follows = follows or not glyph.is_raised
        return text

    @property
    def box(self) -> Box:
        """The box around the glyphs."""
        return union([glyph.box for glyph in self.glyphs])


def are_needed(words: Sequence[str], lines: Callable[[], Mapping[str, Any]]) -> bool:
    """Return whether a page with these words has to be read glyph by glyph, which takes three times as long.

    `lines` returns the page as PyMuPDF's `dict`; it is called only where the words do not decide it.
    """
    foreign = [word for word in words if not word.isascii()]
    if any(HAS_CJK.search(word) or HAS_RIGHT_TO_LEFT.search(word) for word in foreign):
        return True
    return MAY_BE_RAISED.search("\n".join(words)) is not None and any(
        span["flags"] & SUPERSCRIPT
        for block in lines()["blocks"]
        for line in block.get("lines", ())
        for span in line["spans"]
    )


def page_of(words: Sequence[Word], *, width: float, height: float, rotation: int) -> PageText:
    """Build a page from these words, with a box for each character in scripts without spaces."""
    return PageText.of(
        [(word.box, word.text) for word in words],
        line_ids=[word.line_id for word in words],
        width=width,
        height=height,
        rotation=rotation,
        letters={
            number: tuple(glyph.box for glyph in word.glyphs)
            for number, word in enumerate(words)
            if HAS_CJK.search(word.text)
        },
    )


def words_of(page: Mapping[str, Any]) -> list[Word]:
    """Return the words of a page, given as PyMuPDF's `rawdict`, in reading order."""
    return [
        Word(tuple(glyphs), (number, line_number))
        for number, block in enumerate(page["blocks"])
        for line_number, line in enumerate(_in_reading_order([*map(_glyphs, block.get("lines", ()))]))
        for is_space, glyphs in groupby(line, key=lambda glyph: glyph.text.isspace())
        if not is_space
    ]


def _glyphs(line: Mapping[str, Any]) -> list[Glyph]:
    """The glyphs of a line. Half of a surrogate pair, which only a broken font has, is not a character."""
    return [
        Glyph(
            "\ufffd" if "\ud800" <= each["c"] <= "\udfff" else each["c"],
            each["bbox"],
            levelled(each["bbox"], line["dir"]),
            bool(span["flags"] & SUPERSCRIPT),
        )
        for span in line["spans"]
        for each in span["chars"]
    ]


def _in_reading_order(lines: Sequence[Sequence[Glyph]]) -> list[list[Glyph]]:
    """Return the lines of a block, with right-to-left text joined by line and in reading order."""
    letters = "".join(glyph.text for line in lines for glyph in line if glyph.text.isalpha())
    against = len(HAS_RIGHT_TO_LEFT.findall(letters))
    if not against:
        return [list(line) for line in lines]
    joined: list[list[Glyph]] = []
    for line in lines:  # MuPDF splits those at the same height where the direction changes
        if joined and line and joined[-1]:
            one, other = joined[-1][-1].level, line[0].level
            shared = min(one[3], other[3]) - max(one[1], other[1])
            if shared > SAME_LINE * min(one[3] - one[1], other[3] - other[1]):
                joined[-1].extend(line)
                continue
        joined.append(list(line))
    base = 1 if 2 * against >= len(letters) else 0
    return [
        _logical(line, base) if any(HAS_RIGHT_TO_LEFT.search(glyph.text) for glyph in line) else line
        for line in joined
    ]


def _logical(line: Sequence[Glyph], base: int) -> list[Glyph]:
    """A line's glyphs in reading order; `base` is 1 in a block that mostly runs to the left, else 0."""
    clusters = sorted(_clusters(line), key=lambda cluster: (cluster[0].level[0], cluster[0].level[2]))
    levels = _levels("".join(cluster[0].text[:1] or " " for cluster in clusters), base)
    # From the highest level down, runs at or above it are reversed (L2).
    order = list(range(len(levels)))
    for level in range(max(levels, default=0), 0, -1):
        start = 0
        while start < len(order):
            end = start
            while end < len(order) and levels[order[end]] >= level:
                end += 1
            order[start:end] = order[start:end][::-1]
            start = end + 1
    return [glyph for place in order for glyph in clusters[place]]


def _clusters(line: Sequence[Glyph]) -> list[list[Glyph]]:
    """Glyphs with the zero-width ones drawn with them: a ligature's further letters, marks.

    MuPDF reverses words, so that the second letter of a ligature may come before the first.
    """
    clusters: list[list[Glyph]] = []
    waiting: list[Glyph] = []
    for glyph in line:
        if glyph.level[2] - glyph.level[0] > 0:
            clusters.append([glyph, *waiting])
            waiting = []
        elif clusters and not waiting and glyph.level[0] == clusters[-1][0].level[2]:
            clusters[-1].append(glyph)
        else:
            waiting.append(glyph)
    if clusters:
        clusters[-1].extend(waiting)
    return clusters


def _levels(text: str, base: int) -> list[int]:
    """The embedding level of every character of a displayed line, from left to right."""
    kinds = [_kind(text, place) for place in range(len(text))]
    levels = [base] * len(kinds)
    # Stretches from one character against the base to another without the other direction between them.
    against, level, own = ("L", 2, "R") if base else ("R", 1, "L")
    start: int | None = None
    for place, kind in enumerate(kinds):
        if kind == own:
            start = None
        elif kind == against:
            start = place if start is None else start
            levels[start : place + 1] = [level] * (place + 1 - start)
    return [2 if kind == "N" and level == 1 else level for kind, level in zip(kinds, levels, strict=True)]


def _kind(text: str, place: int) -> str:
    """R, L, N (part of a number), or a space for neutral characters."""
    character = text[place]
    if character.isdigit():
        return "N"
    around = text[max(0, place - 1) : place], text[place + 1 : place + 2]
    if character in WITHIN_NUMBER and all(each.isdigit() for each in around):
        return "N"
    if character in BESIDE_NUMBER and any(each.isdigit() for each in around):
        return "N"
    if HAS_RIGHT_TO_LEFT.match(character):
        return "R"
    return "L" if character.isalpha() else " "
