"""Put lines of Hebrew and Arabic into reading order.

A PDF has glyphs with positions. The order of a right-to-left line depends on the program that wrote it: the
letters of a word mostly come in order, but words, numbers and brackets do not. So only positions are used, by
the Unicode bidirectional algorithm (UAX #9) run backwards: its reversals for display are reversed (rule L2).
A library such as python-bidi only converts in the other direction.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from proofspan.contracts.records.records import Box

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


def in_reading_order(lines: Sequence[Sequence[Glyph]]) -> list[list[Glyph]]:
    """Return the lines of a block, with right-to-left text joined by line and in reading order."""
    letters = "".join(glyph.text for line in lines for glyph in line if glyph.text.isalpha())
    against = len(HAS_RIGHT_TO_LEFT.findall(letters))
    if not against:
        return [list(line) for line in lines]
    base = 1 if 2 * against >= len(letters) else 0
    return [
        _logical(line, base) if any(HAS_RIGHT_TO_LEFT.search(glyph.text) for glyph in line) else line
        for line in _joined(lines)
    ]


def _joined(lines: Sequence[Sequence[Glyph]]) -> list[list[Glyph]]:
    """The lines with those at the same height joined: MuPDF splits them where the direction changes."""
    joined: list[list[Glyph]] = []
    for line in lines:
        if joined and line and joined[-1]:
            one, other = joined[-1][-1].level, line[0].level
            shared = min(one[3], other[3]) - max(one[1], other[1])
            if shared > SAME_LINE * min(one[3] - one[1], other[3] - other[1]):
                joined[-1].extend(line)
                continue
        joined.append(list(line))
    return joined


def _logical(line: Sequence[Glyph], base: int) -> list[Glyph]:
    """A line's glyphs in reading order; `base` is 1 in a block that mostly runs to the left, else 0."""
    clusters = sorted(_clusters(line), key=lambda cluster: (cluster[0].level[0], cluster[0].level[2]))
    levels = _levels("".join(cluster[0].text[:1] or " " for cluster in clusters), base)
    ordered = [clusters[place] for place in _reversed_back(levels)]
    return [glyph for cluster in ordered for glyph in cluster]


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


def _reversed_back(levels: Sequence[int]) -> list[int]:
    """The positions in reading order: from the highest level down, runs at or above it are reversed (L2)."""
    order = list(range(len(levels)))
    for level in range(max(levels, default=0), 0, -1):
        start = 0
        while start < len(order):
            end = start
            while end < len(order) and levels[order[end]] >= level:
                end += 1
            order[start:end] = order[start:end][::-1]
            start = end + 1
    return order
