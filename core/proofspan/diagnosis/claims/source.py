"""A passage's text prepared once for many claims: its units, and the places of its words and figures."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from operator import attrgetter
from typing import NamedTuple

from proofspan.diagnosis.claims.figures import Figure, FigureIndex, figures_of
from proofspan.diagnosis.claims.figures.first_digits import Digits, digits_in
from proofspan.diagnosis.claims.units import Unit, units_of
from proofspan.diagnosis.claims.word_forms import forms_in, forms_of_each, language_of, stop_forms

#: Characters and units of one chunk that are looked at.
MOST_TEXT = 200_000
MOST_UNITS = 4_000

_HYPHENED_BREAK = re.compile(r"(?<=[^\W\d_])[-‐\u00ad]\s*\n\s*(?=[^\W\d_])")
#: Labels before a table's rows that count as its head.
_MOST_HEADS = 8


class TableRow(NamedTuple):
    """A row: all its words, its label as written, and the label's words that say something."""

    words: frozenset[str]
    written: str
    label: frozenset[str]


class SourceText:
    """A text's units and the places of its words' forms.

    `index` has for every form a number whose bit i says whether unit i has it. `line` has all forms in order
    between spaces, units between line ends, to look for runs of words; unit i begins there at `places[i]`,
    and with word number `offsets[i]`, of which there are `length`. `tables` has for each table the units of
    its head and its rows as bits. All but `text` is made on first use: of most retrieved passages nobody
    asks, as a claim is mostly found word for word in one of the first.
    """

    __slots__ = (
        *(
            "_digits",
            "_figure_index",
            "_figures",
            "_labels",
            "_starts",
            "index",
            "language",
            "length",
            "line",
            "note",
        ),
        *("offsets", "places", "rows", "tables", "text", "units"),
    )
    index: dict[str, int]
    language: str | None
    length: int
    line: str
    note: str
    offsets: array[int]
    places: array[int]
    rows: dict[tuple[int, str | None], TableRow]
    tables: list[tuple[int, int]]
    units: list[Unit]

    def __init__(self, text: str) -> None:
        self.text = text
        self._figures: Sequence[Figure] | None = None
        self._figure_index: FigureIndex | None = None
        self._digits: Digits | None = None
        self._starts: array[int] | None = None
        self._labels: dict[int, frozenset[str]] | None = None
        self.rows = {}
        if len(text) < 2 * MOST_UNITS:  # too short for more
            self.note = ""

    def __getattr__(self, name: str) -> object:
        """Prepare the text: the first attribute is asked for that is not there yet."""
        if name not in self.__slots__:
            raise AttributeError(name)
        self._prepare()
        return getattr(self, name)

    def _prepare(self) -> None:
        text = self.text
        self.note = ""
        self.language = language_of(text)
        self.units = []
        self.index = index = dict[str, int]()
        lines: list[str] = []
        length = 0
        self.places = array("L")
        self.offsets = array("L")
        self.length = 0
        index_of = self.index.get
        units = list(units_of(text[:MOST_TEXT]))
        written = [text[start:end] for start, end, _ in units]
        if "-\n" in text or not text.isascii():
            written = list(map(_joined, written))
        for unit, found in zip(units, forms_of_each(written, self.language), strict=True):
            if not found:
                continue
            if len(self.units) == MOST_UNITS:
                self.note = f"only the first {MOST_UNITS:,} sentences of a passage were compared"
                break
            bit = 1 << len(self.units)
            self.units.append(unit)
            for form in found:
                index[form] = index_of(form, 0) | bit
            lines.append(f" {' '.join(found)} ")
            self.places.append(length)
            self.offsets.append(self.length)
            self.length += len(found)
            length += len(lines[-1]) + 1
        self.line = "\n".join(lines)
        self.tables = _tables(text, self.units)
        if len(text) > MOST_TEXT:
            self.note = f"only the first {MOST_TEXT:,} characters of a passage were compared"

    @property
    def figures(self) -> Sequence[Figure]:
        """Return the figures of the text, by the scales of its captions."""
        if self._figures is None:
            self._figures = figures_of(self.text[:MOST_TEXT], language=self.language or "")
        return self._figures

    @property
    def digits(self) -> Digits:
        """Return the first digits of the text's numbers, by which its figures need not be read."""
        if self._digits is None:
            self._digits = digits_in(self.text[:MOST_TEXT])
        return self._digits

    @property
    def figure_index(self) -> FigureIndex:
        """Return the figures by value, numbered as `figures` has them."""
        if self._figure_index is None:
            self._figure_index = FigureIndex(self.figures)
        return self._figure_index

    def figures_in(self, number: int) -> Sequence[Figure]:
        """Return the figures that begin within a unit."""
        figures, unit = self.figures, self.units[number]
        if self._starts is None:
            self._starts = array("L", [each.start for each in figures])
        return figures[bisect_left(self._starts, unit.start) : bisect_left(self._starts, unit.end)]

    @property
    def cost(self) -> int:
        """Return the approximate bytes of what is kept beside the text, once it is made."""
        return 1_000 + 9 * min(len(self.text), MOST_TEXT)

    def unit_at(self, place: int) -> int:
        """Return the number of the unit that has a place of `line`."""
        return bisect_right(self.places, place) - 1

    def unit_of(self, char: int) -> int:
        """Return the number of the unit that has a character of the text, or of the last before it."""
        return max(bisect_right(self.units, char, key=attrgetter("start")) - 1, 0)

    def forms_of(self, number: int) -> list[str]:
        """Return the forms of a unit's words in order."""
        end = self.places[number + 1] if number + 1 < len(self.places) else len(self.line)
        return self.line[self.places[number] : end].split()

    def label_of(self, number: int) -> frozenset[str]:
        """Return what names a row: the words before its first figure, else the code there, else all words."""
        if self._labels is None:
            self._labels = {}
        if number not in self._labels:
            self._labels[number] = self._label(number)
        return self._labels[number]

    def _label(self, number: int) -> frozenset[str]:
        figures = self.figures_in(number)
        before = self.text[self.units[number].start : figures[0].start] if figures else ""
        ahead, stops = forms_in(before, self.language), stop_forms(self.language)
        words = frozenset(form for form in ahead if len(form) > 1 and not form[0].isdigit())
        if ahead:
            return words - stops or frozenset(ahead)
        return frozenset(form for form in self.forms_of(number) if len(form) > 1 and form.isalpha()) - stops

    def text_of(self, number: int) -> str:
        """Return a unit as the chunk has it."""
        unit = self.units[number]
        return self.text[unit.start : unit.end]


def _joined(written: str) -> str:
    """Return a unit without the hyphens at the ends of its lines."""
    return _HYPHENED_BREAK.sub("", written) if "-\n" in written or not written.isascii() else written


def _tables(text: str, units: Sequence[Unit]) -> list[tuple[int, int]]:
    """Return the heads and the rows of tables as bits.

    The head are the labels right before rows, and the sentence before them that ends with a colon.
    """
    tables: list[tuple[int, int]] = []
    heads: list[int] = []
    rows = 0
    for number, unit in enumerate(units):
        if unit.role == "row":
            rows |= 1 << number
            continue
        if rows and heads:
            tables.append((sum(1 << head for head in heads[-_MOST_HEADS:]), rows))
        if rows or unit.role == "sentence":
            heads = []
        rows = 0
        if unit.role in ("label", "key") or text[unit.end - 1] == ":":
            heads.append(number)
    if rows and heads:
        tables.append((sum(1 << head for head in heads[-_MOST_HEADS:]), rows))
    return tables
