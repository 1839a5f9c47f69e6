"""The first digits of figures, by which most texts are known to have none that agrees with a claimed one.

Scales and percentages leave them as they are. To read a text for its digits takes a fraction of the time that
reading its figures takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from proofspan.diagnosis.claims.figures.index import sizes_of
from proofspan.diagnosis.claims.figures.number_words import ARTICLES, SCALES, WORDS
from proofspan.diagnosis.claims.figures.reading import Figure
from proofspan.diagnosis.claims.figures.units import CONVERTIBLE, Unit
from proofspan.diagnosis.numbers import CARDINALS, ORDINALS

#: A run of digits, and what goes on with it as one number may.
_RUN = re.compile(r"(\d+)(?:(?=([.,'’\s]\d)))?")
#: A fraction, or a decade without its century: their value has other digits.
_OTHER_DIGITS = re.compile(r"\d\s?[/⁄]\s?\d|[¼-¾⅐-⅞]|\d0s(?![^\W_])")
_LETTERS = re.compile(r"[^\W\d_]+")
#: ASCII letters as they are, all other characters as spaces.
_ASCII_LETTERS = bytes(code if chr(code).isalpha() else 32 for code in range(128)) + bytes([32]) * 128
#: Words that are a number by themselves; with those of any other number digits are not known.
_SMALL = {word: str(value) for value, word in enumerate(CARDINALS) if word != "twenty"}
_PARTS = (WORDS - _SMALL.keys() - frozenset(ORDINALS)) | {"third", "fifth", "tenth"}
_ONE = (SCALES | ARTICLES) - {"a"}

#: Sets of the first three digits of numbers, as bits; `ANY` is that of numbers whose digits are not known.
ANY = (1 << 1_000) - 1


class Digits(NamedTuple):
    """The first three digits of the numbers of a text, and how many runs of digits it has."""

    first: int
    runs: int


def digits_in(text: str) -> Digits:
    """Return the first digits of a text's numbers."""
    runs = _RUN.findall(text)
    lower = text.lower()
    if text.isascii():  # what the pattern finds, three times as fast
        words = frozenset(lower.encode().translate(_ASCII_LETTERS).decode().split())
    else:
        words = frozenset(_LETTERS.findall(lower))
    small = words & _SMALL.keys()
    may_be_other = "/" in text or "0s" in text or not text.isascii()
    if (
        not _PARTS.isdisjoint(words)
        or (small and not SCALES.isdisjoint(words))
        or (may_be_other and _OTHER_DIGITS.search(text))
    ):
        return Digits(ANY, len(runs))
    found = 0 if _ONE.isdisjoint(words) else _first("1", goes_on=False)
    for word in small:
        found |= _first(_SMALL[word], goes_on=False)
    for run, more in runs:
        found |= _first(run, goes_on=bool(more))
    return Digits(found, len(runs))


def _first(run: str, *, goes_on: bool) -> int:
    """Return the first three digits of a number that a run of digits begins, or is."""
    if not run.isascii():
        return ANY
    digits = run.lstrip("0")[:3]
    if not digits:
        return 0
    low = int(digits.ljust(3, "0"))
    count = 10 ** (3 - len(digits)) if goes_on else 1
    return ((1 << count) - 1) << low


def first_digits_of(claimed: Figure) -> int:
    """Return the first three digits that a printed figure can have that agrees with a claimed one."""
    is_known = claimed.kind in ("number", "year", "date") and all(
        date.year or date.day for date in claimed.dates
    )
    if not is_known or not all(claimed.readings):
        return ANY
    found = 0
    ranges = list(leading_ranges(claimed))
    if claimed.dates and claimed.kind == "year":
        ranges += leading_ranges(claimed._replace(dates=()))
    for low, high in ranges:
        first = max(int(low * 100) - 1, 0)  # by one more, as floats are
        found |= ((1 << int(high * 100) + 2 - first) - 1) << first
    return found & ANY


def leading_digits(value: str) -> float:
    """Return the digits of a number as one from 1 to 10, wherever its point is; 0 of zero and of 4.2.1."""
    digits = value.replace(".", "", 1).lstrip("0")[:16]
    return int(digits) / 10 ** (len(digits) - 1) if digits.isdecimal() else 0.0


def leading_ranges(figure: Figure) -> Iterator[tuple[float, float]]:
    """Yield the ranges of leading digits with which a figure can agree."""
    if figure.dates:
        for part in {
            part for date in figure.dates for part in (date.year, date.year % 100, date.day) if part
        }:
            yield leading_digits(str(part)) - 1e-9, leading_digits(str(part)) + 1e-9
    elif figure.kind == "time":
        hours = int(figure.value) // 60
        for hour in (hours, hours - 12, hours + 12):
            yield leading_digits(str(abs(hour))) - 1e-9, leading_digits(str(abs(hour))) + 1e-9
    elif figure.kind in ("number", "year"):
        yield from {
            leading
            for low, high in sizes_of(figure)
            for unit in (None, *CONVERTIBLE.get(figure.unit.dimension, ()))
            for leading in _leading_range(low, high, unit)
        }


def _leading_range(low: float, high: float, unit: Unit | None) -> Iterator[tuple[float, float]]:
    """Yield the leading digits of a range of magnitudes; of one in base units, in this unit."""
    if unit is not None:
        factor, offset = float(unit.factor), float(unit.offset)
        low, high = (low - offset) / factor, (high - offset) / factor
    if high <= 0:
        return
    low = max(low, high / 10)
    power = 10.0 ** int(f"{high:e}".partition("e")[2])
    low, high = round(low / power, 9), round(high / power, 9)
    yield low, high
    if low < 1:
        yield 10 * low, 10.0
