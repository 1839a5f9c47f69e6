"""Quotes with one number altered: a digit, its sign, decimal point, separators, percent, or the mark in it.

An altered quote must never be `exact` or `normalized`, and where it is located its number must be among the
differences. A number alone is too little to locate, and so are figures of one or two digits that fit several
places on the page.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymupdf

from proofspan.evidence.types import FoundSpan

Row = dict[str, Any]
Shape = Callable[[random.Random, str], "str | None"]
Change = Callable[[random.Random, str, str, str], "tuple[str, str, str] | None"]

#: A number as a reader sees it, not glued to letters.
NUMBER = re.compile(r"(?<![^\W_])(?<![\d.,])\d+(?:[.,]\d+)*(?![^\W_])(?![.,]\d)")
#: What a number may follow so that a minus before it is its sign.
OPEN = (" ", "\n", "$", "€", "(", "")
SHORT_WORDS = 5
#: Kinds of rows whose words are no longer those of the page before a number is altered.
DISTURBED = ("dropped", "ellipsis", "ocr3")
TRIES = 200
FIGURES = re.compile(r"(?:(?<=\s)[$(]*[\d.,]*\d[)%]*\s(?:[)%]+\s)*){3,}")


@dataclass(frozen=True, slots=True)
class Altered:
    """A quote with one altered number, the number as it now reads, and what was done to it."""

    row: Row
    quote: str
    number: str
    change: str
    shape: str

    @property
    def name(self) -> str:
        """Its shape, and whether its words were disturbed before."""
        return self.shape + (", disturbed" if self.row["kind"] in DISTURBED else "")

    @property
    def cited_page_idx(self) -> int:
        """A whole quote cites what its row does; of a few words only the right page is of use."""
        return int(self.row["cited_page_idx" if self.shape == "whole" else "page_idx"])


def is_listed(altered: Altered, found: FoundSpan) -> bool:
    """Whether the altered number is among the differences, as a number."""
    return any(each.kind == "number" and altered.number in each.quote for each in found.differences)


def another_digit(rng: random.Random, before: str, number: str, after: str) -> tuple[str, str, str]:
    place = rng.choice([place for place, character in enumerate(number) if character.isdigit()])
    digit = rng.choice([digit for digit in "0123456789" if digit != number[place]])
    return before, number[:place] + digit + number[place + 1 :], after


def minus(rng: random.Random, before: str, number: str, after: str) -> tuple[str, str, str] | None:
    """Drops the minus sign, or adds one."""
    if before.endswith("-") and before[-2:-1] in OPEN:
        return before[:-1], number, after
    return (before + "-", number, after) if before[-1:] in OPEN else None


def parentheses(rng: random.Random, before: str, number: str, after: str) -> tuple[str, str, str] | None:
    """Drops the parentheses of a negative amount, or adds them."""
    if before.endswith("(") and after.startswith(")"):
        return before[:-1], number, after[1:]
    return (before + "(", number, ")" + after) if before[-1:] in OPEN and before[-1:] != "(" else None


def point(rng: random.Random, before: str, number: str, after: str) -> tuple[str, str, str] | None:
    """Drops the decimal point, moves it, or adds one."""
    whole, dot, decimals = number.partition(".")
    if dot and "." not in decimals:
        moved = f"{whole}{decimals[0]}.{decimals[1:]}" if len(decimals) > 1 else whole + decimals
        return before, rng.choice((whole + decimals, moved)), after
    if dot or "," in number or len(number) < 2:
        return None
    place = rng.randrange(1, len(number))
    return before, f"{number[:place]}.{number[place:]}", after


def separators(rng: random.Random, before: str, number: str, after: str) -> tuple[str, str, str] | None:
    """Drops the thousands separators, or moves one: 1,234 as 1234 or 12,34."""
    if not re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", number):
        return None
    place = number.index(",")
    moved = number[:place] + number[place + 1] + "," + number[place + 2 :]
    return before, rng.choice((number.replace(",", ""), moved)), after


def percent(rng: random.Random, before: str, number: str, after: str) -> tuple[str, str, str]:
    """Drops the percent sign, or adds one."""
    dropped = re.sub(r"\A\s?%", "", after)
    return (before, number, dropped) if dropped != after else (before, number, "%" + after)


def mark(rng: random.Random, before: str, number: str, after: str) -> tuple[str, str, str] | None:
    """Swaps the mark between two numbers: 3/4 and 3-4."""
    swapped = {"/": "-", "-": "/", "–": "/", ":": "/"}.get(after[:1])
    return (before, number + swapped, after[1:]) if swapped and after[1:2].isdigit() else None


CHANGES: tuple[Change, ...] = (another_digit, minus, parentheses, point, separators, percent, mark)


def whole(rng: random.Random, quote: str) -> str | None:
    """The quote as it is."""
    return quote


def few_words(rng: random.Random, quote: str) -> str | None:
    """Some words around a number, with the percent sign that may follow; a number alone is no quote."""
    words = quote.split()
    places = [place for place, word in enumerate(words) if NUMBER.search(word)]
    if not places:
        return None
    start = max(0, rng.choice(places) - rng.randrange(SHORT_WORDS))
    end = start + SHORT_WORDS
    while end < len(words) and words[end][0] in "%)":
        end += 1
    found = " ".join(words[start:end])
    return found if re.search(r"[^\W\d_]", found) else None


def row_of_figures(rng: random.Random, quote: str) -> str | None:
    """The longest run of words that are figures, where there are three at least."""
    runs = [match.group().strip() for match in FIGURES.finditer(" " + " ".join(quote.split()) + " ")]
    return max(runs, key=len, default=None)


SHAPES: tuple[Shape, ...] = (whole, whole, few_words, row_of_figures)


class Texts:
    """The documents' texts, read without the code that is measured: lower case, single spaces."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._pages: dict[str, list[str]] = {}

    def pages(self, pdf: str) -> list[str]:
        """The text of each page."""
        if pdf not in self._pages:
            with pymupdf.open(self.root / pdf) as document:
                self._pages[pdf] = [_plain(page.get_text()) for page in document]
        return self._pages[pdf]

    def holds(self, quote: str, row: Row) -> bool:
        """True if a quote is on the row's page."""
        return _plain(quote) in self.pages(row["pdf"])[row["page_idx"]]

    def is_elsewhere(self, quote: str, row: Row) -> bool:
        """True if a quote is anywhere in the row's document."""
        return any(_plain(quote) in text for text in self.pages(row["pdf"]))


def _plain(text: str) -> str:
    return " ".join(text.split()).lower()


def altered_quotes(rows: Sequence[Row], count: int, *, seed: int, texts: Texts) -> list[Altered]:
    """`count` altered quotes, every change and every shape in turn; the rows hold quotes that are there.

    Changes that are rare in a shape, such as a fraction in a row of figures, are given up after some tries.
    """
    rng = random.Random(seed)
    found: list[Altered] = []
    turn = 0
    while len(found) < count:
        shape, change = SHAPES[turn % len(SHAPES)], CHANGES[turn // len(SHAPES) % len(CHANGES)]
        tries = (_altered(rng, rows, shape, change, texts) for _ in range(TRIES))
        found.extend([altered for altered in [next(filter(None, tries), None)] if altered])
        turn += 1
    return found


def _altered(
    rng: random.Random, rows: Sequence[Row], shape: Shape, change: Change, texts: Texts
) -> Altered | None:
    """Try once; None if the shape or the change is not possible, or the result is in the document too."""
    row = rng.choice(rows)
    quote = shape(rng, row["quote"])
    places = list(NUMBER.finditer(quote or ""))
    if quote is None or not places or (shape is not whole and not texts.holds(quote, row)):
        return None
    number = rng.choice(places)
    parts = change(rng, quote[: number.start()], number.group(), quote[number.end() :])
    if parts is None or texts.is_elsewhere("".join(parts), row):
        return None
    return Altered(row, "".join(parts), parts[1], change.__name__, shape.__name__)
