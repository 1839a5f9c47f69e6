"""Faces, their measures, and the breaking of text into lines. All lengths are points."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import pymupdf

from tools.demo.markup import SOFT_HYPHEN

BODY, LEAD = 8.8, 11.5
#: How far below a line's top its baseline is, by its size: below the ascender, so that words stay inside it.
RISE = 1.078
#: How far the box of a line's words reaches below the line: it is set tighter than its letters are high.
BELOW = 0.7

INK = (0.13, 0.14, 0.16)
WHITE = (1.0, 1.0, 1.0)
GREY = (0.45, 0.47, 0.5)
ACCENT = (0.05, 0.33, 0.42)
RULE = (0.78, 0.8, 0.82)

Rgb = tuple[float, float, float]

#: Only lines at least this wide have room for keeping a figure with its unit.
TIES_FROM = 140.0
#: Japanese marks that must not begin a line, and those that must not end one.
_NOT_FIRST = frozenset("、。，．・：；？！」』）】〕ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ％℃")
_NOT_LAST = frozenset("「『（【〔")


class Face:
    """A font of the Helvetica family that borrows what it lacks from Droid Sans Fallback (Apache-2.0).

    Both come with MuPDF, so that nothing depends on the machine's fonts.
    """

    def __init__(self, code: str, fallback: pymupdf.Font) -> None:
        self._own, self._fallback = pymupdf.Font(code), fallback
        self._font_of: dict[str, pymupdf.Font] = {}
        self._advances: dict[str, float] = {}
        self._lengths: dict[str, float] = {}

    def runs(self, text: str) -> Iterator[tuple[pymupdf.Font, str]]:
        """The text in stretches of one font each."""
        begin = 0
        for place in range(1, len(text) + 1):
            if place == len(text) or self._font(text[place]) is not self._font(text[begin]):
                yield self._font(text[begin]), text[begin:place]
                begin = place

    def length(self, text: str, size: float = BODY) -> float:
        """How wide the text is set."""
        if text not in self._lengths:
            parts = (sum(map(self._advance, part)) for _, part in self.runs(text))
            self._lengths[text] = sum(parts)
        return self._lengths[text] * size

    def _advance(self, char: str) -> float:
        if char not in self._advances:
            self._advances[char] = self._font(char).text_length(char, 1.0)
        return self._advances[char]

    def _font(self, char: str) -> pymupdf.Font:
        if char not in self._font_of:
            font = self._own if self._own.has_glyph(ord(char)) else self._fallback
            if not font.has_glyph(ord(char)):
                raise ValueError(f"no font has the character {char!r}")
            self._font_of[char] = font
        return self._font_of[char]


@cache
def faces() -> dict[str, Face]:
    """The faces of the book, by name."""
    fallback = pymupdf.Font("cjk")
    return {
        name: Face(code, fallback)
        for name, code in {"regular": "helv", "bold": "hebo", "italic": "heit"}.items()
    }


def wrap(text: str, width: float, face: Face, size: float = BODY) -> list[list[str]]:
    """Words line by line. A word is broken only at its soft hyphens, Japanese between its characters."""
    return [list(line) for line in _wrapped(text, width, face, size)]


@cache  # the columns of a table are tried in many widths, its cells again and again in the same one
def _wrapped(text: str, width: float, face: Face, size: float) -> tuple[tuple[str, ...], ...]:
    gap = face.length(" ", size)
    lines: list[list[str]] = [[]]
    used = 0.0
    for atom, glued in _atoms(_tied(text) if width > TIES_FROM else text):
        glued = glued and bool(lines[-1])
        before = used + (gap if lines[-1] and not glued else 0.0)
        for piece, ends in _pieces(atom.replace("\u00a0", " "), width - before, width, face, size):
            if piece and glued:
                lines[-1][-1] += piece
            elif piece:
                lines[-1].append(piece)
            used = before + face.length(piece, size)
            if ends:
                lines.append([])
                before, glued = 0.0, False
    return tuple(tuple(line) for line in lines if line)


def _pieces(word: str, room: float, width: float, face: Face, size: float) -> Iterator[tuple[str, bool]]:
    """The word in the pieces that fit into what is left of the line and the lines after it.

    An empty piece ends the line before the word.
    """
    while True:
        whole = word.replace(SOFT_HYPHEN, "")
        if face.length(whole, size) <= room:
            yield whole, False
            return
        head, tail = _broken(word, room, face, size)
        if head:
            yield head, True
        elif room < width:
            yield "", True
        else:
            yield whole, False
            return
        word, room = tail, width


def _broken(word: str, room: float, face: Face, size: float) -> tuple[str, str]:
    """The word's longest beginning that fits, with its hyphen, and what is left; ("", word) if none does."""
    parts = word.split(SOFT_HYPHEN)
    for count in range(len(parts) - 1, 0, -1):
        head = "".join(parts[:count]) + "-"
        if face.length(head, size) <= room:
            return head, SOFT_HYPHEN.join(parts[count:])
    return "", word


#: What should not end a line: a figure before its unit, "section" before its number.
_UNITS = r"°C|%|bar|km/h|km|m|mm|cm|l|litres?|ml|kg|g|N|Nm|V|A|Ah|kW|PS|RON|months|years|seconds|minutes"
_TIED = re.compile(rf"(\d) (?=(?:{_UNITS})(?:\W|$))|((?:[Ss]ections?|[Cc]hapters?|Table|Figure)) (?=[\di])")


def _tied(text: str) -> str:
    """The text with a no-break space where a line should not end."""
    return _TIED.sub(lambda match: (match[1] or match[2]) + "\u00a0", text)


def _atoms(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the unbreakable parts, each with whether it follows the one before without a space."""
    for word in re.split(r"[ \n\t]+", text.strip()):
        begin = 0
        for place in range(1, len(word) + 1):
            if place == len(word) or _may_break(word[place - 1], word[place]):
                yield word[begin:place], begin > 0
                begin = place


def _may_break(before: str, after: str) -> bool:
    wide = before >= "\u2e80" or after >= "\u2e80"
    ligature = "\ufb00" <= before <= "\ufb06" or "\ufb00" <= after <= "\ufb06"
    return wide and not ligature and after not in _NOT_FIRST and before not in _NOT_LAST
