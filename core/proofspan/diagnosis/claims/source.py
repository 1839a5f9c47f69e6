"""A chunk's text prepared once for many claims: its sentences, list items and table rows, and their words.

PDFs break lines anywhere and put table cells on lines of their own, Markdown puts them between bars; both
become rows, each with the characters that it occupies.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from proofspan.diagnosis.claims.figures import Figure, figures_of
from proofspan.diagnosis.claims.sentences import sentences
from proofspan.diagnosis.claims.word_forms import forms_in, language_of

#: Characters and units of one chunk that are looked at.
MOST_TEXT = 200_000
MOST_UNITS = 4_000

_LINE = re.compile(r"[^\r\n\u2028\u2029]+")
_ITEM = re.compile(r"\s*(?:[-*+•‣◦▪–—]\s+|\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4})[.)]\s+)")
_BARRED = re.compile(r"\s*\|.*\|\s*$")
_BAR_RULE = re.compile(r"[\s|:-]+$")
#: A line of a table that a PDF's text has spread over lines: no letter, but a digit, a dash or a currency.
_CELL = re.compile(r"\s*(?=\S*[\d$€£¥%—–-])[^\w]*(?:\d[\d.,\s]*[^\w]*)*$")
#: A line that ends with two or more figures: a row in one line.
_ROW_LINE = re.compile(r"\s*\S[^\n]*?(?:[\s.…$€£]+(?:[-–—(]?\d[\d.,]*\)?\s?%?|[—–-])){2,}\s*$")
_LABEL_MOST = 160
_HYPHENED_BREAK = re.compile(r"(?<=[^\W\d_])[-‐\u00ad]\s*\n\s*(?=[^\W\d_])")
_ENDS_SENTENCE = re.compile(r"[.!?:;。！？…][\"'”’»)\]]*\s*$")
#: A line this much shorter than the widest of its paragraph ends there by intent, not for want of space.
_SHORT_LINE = 0.6


class Unit(NamedTuple):
    """A sentence, list item or table row, `text[start:end]` of its chunk; `header` is its head's place."""

    start: int
    end: int
    header: tuple[int, int] | None = None


class SourceText:
    """A text's units and the places of its words' forms.

    `index` has for every form a number whose bit i says whether unit i has it. `line` has all forms in order
    between spaces, units between line ends, to look for runs of words; unit i begins there at `places[i]`,
    and with word number `offsets[i]`, of which there are `length`.
    """

    __slots__ = (
        *("_figures", "index", "language", "length", "line", "note", "offsets", "places", "text", "units"),
    )

    def __init__(self, text: str) -> None:
        self.text = text
        self.note = ""
        self._figures: Sequence[Figure] | None = None
        self.language = language_of(text)
        self.units: list[Unit] = []
        self.index: dict[str, int] = {}
        lines: list[str] = []
        length = 0
        self.places = array("L")
        self.offsets = array("L")
        self.length = 0
        for unit in units_of(text[:MOST_TEXT]):
            written = text[unit.start : unit.end]
            if "-\n" in written or not written.isascii():
                written = _HYPHENED_BREAK.sub("", written)
            found = forms_in(written, self.language)
            if not found:
                continue
            if len(self.units) == MOST_UNITS:
                self.note = f"only the first {MOST_UNITS:,} sentences of a passage were compared"
                break
            bit = 1 << len(self.units)
            self.units.append(unit)
            index = self.index
            for form in set(found):
                index[form] = index.get(form, 0) | bit
            lines.append(f" {' '.join(found)} ")
            self.places.append(length)
            self.offsets.append(self.length)
            self.length += len(found)
            length += len(lines[-1]) + 1
        self.line = "\n".join(lines)
        if len(text) > MOST_TEXT:
            self.note = f"only the first {MOST_TEXT:,} characters of a passage were compared"

    @property
    def figures(self) -> Sequence[Figure]:
        """Return the figures of the text, by the scales of its captions."""
        if self._figures is None:
            self._figures = figures_of(self.text[:MOST_TEXT], language=self.language or "")
        return self._figures

    @property
    def cost(self) -> int:
        """Return the approximate bytes of what is kept beside the text."""
        return 900 + len(self.line) + 60 * len(self.index) + 130 * len(self.units)

    def unit_at(self, place: int) -> int:
        """Return the number of the unit that has a place of `line`."""
        return bisect_right(self.places, place) - 1

    def forms_of(self, first: int, last: int) -> str:
        """Return the part of `line` with the units from a first to a last, both included."""
        end = self.places[last + 1] if last + 1 < len(self.places) else len(self.line)
        return self.line[self.places[first] : end]

    def text_of(self, number: int) -> str:
        """Return a unit as the chunk has it."""
        unit = self.units[number]
        return self.text[unit.start : unit.end]


def units_of(text: str) -> Iterator[Unit]:
    """Yield the sentences, list items and table rows of a text, in order, without the space around them."""
    if "\n" not in text and "\r" not in text:
        yield from _sentences(text, 0, len(text))
        return
    lines = [match.span() for match in _LINE.finditer(text) if not match[0].isspace()]
    header: tuple[int, int] | None = None
    paragraph: tuple[int, int] | None = None
    place = 0
    while place < len(lines):
        start, end = lines[place]
        line = text[start:end]
        place += 1
        unit: Unit | None = None
        if _BARRED.match(line):
            if _BAR_RULE.match(line):
                continue
            unit = Unit(*_trimmed(text, start, end), header)
            header = header or (unit.start, unit.end)
        elif _ROW_LINE.match(line) and not _ENDS_SENTENCE.search(line):
            unit = Unit(*_trimmed(text, start, end))
        else:
            header = None
            last = place
            while last < len(lines) and _CELL.match(text[slice(*lines[last])]):
                last += 1
            cells = last - place
            stands_alone = paragraph is None or _is_apart(text, lines[place - 2][1], start)
            if cells and (cells > 1 or stands_alone) and end - start <= _LABEL_MOST:
                unit = Unit(*_trimmed(text, start, lines[last - 1][1]))
                place = last
        if unit is not None:
            if paragraph is not None:
                yield from _sentences(text, *paragraph)
            paragraph = None
            yield unit
        elif paragraph is None:
            paragraph = start, end
        elif _ITEM.match(line) or _breaks(text, paragraph, start, end):
            yield from _sentences(text, *paragraph)
            paragraph = start, end
        else:
            paragraph = paragraph[0], end
    if paragraph is not None:
        yield from _sentences(text, *paragraph)


def _breaks(text: str, paragraph: tuple[int, int], start: int, end: int) -> bool:
    """Return whether a line begins a paragraph of its own behind the one so far."""
    if _is_apart(text, paragraph[1], start):
        return True
    before = text[max(text.rfind("\n", paragraph[0], paragraph[1]) + 1, paragraph[0]) : paragraph[1]]
    if text[start:end].lstrip()[:1].islower():
        return False
    widest = max(map(len, text[paragraph[0] : end].splitlines()))
    return bool(_ENDS_SENTENCE.search(before)) or len(before) < _SHORT_LINE * widest


def _is_apart(text: str, end: int, start: int) -> bool:
    """Return whether an empty line lies between."""
    return text.count("\n", end, start) > 1


def _sentences(text: str, start: int, end: int) -> Iterator[Unit]:
    for first, last in sentences(text[start:end]):
        first, last = _trimmed(text, start + first, start + last)
        if first < last:
            yield Unit(first, last)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
