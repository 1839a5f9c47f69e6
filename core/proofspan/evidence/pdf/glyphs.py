"""The glyphs of a page where its words alone say too little, put together into words of our own.

MuPDF's words have one box each and no trace of how they were set. That is too little where a script has no
spaces (the "word" is a line long), where it runs from right to left (words come in the order in which the
program happened to write them), and where small raised digits, footnote marks and exponents, run into the
word before them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from proofspan.contracts.records.records import Box
from proofspan.evidence.geometry import levelled, union
from proofspan.evidence.pdf.bidi import HAS_RIGHT_TO_LEFT, in_reading_order
from proofspan.evidence.text.page_text import PageText
from proofspan.evidence.text.tokens import HAS_CJK

#: Among words, a line each, one that may hold a raised digit: a word and a closing mark before one or two
#: digits, a power of ten, a year or a group of thousands and one digit more, a percentage before a digit.
MAY_BE_RAISED = re.compile(
    r"[^\W\d_]{3}[.,;:!?)\]\"'\u2019\u201d]{0,2}\(?\d{1,2}\W*$"
    r"|(?<![\d.,])(?:10[1-9]\d?|(?:19|20)\d{3})\W*$|,\d{4}\W*$|\d%\d",
    re.MULTILINE,
)
SUPERSCRIPT = 1
TO_RAISED = str.maketrans("0123456789()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁽⁾")


class Glyph(NamedTuple):
    """One character, its box in points of the unrotated page, and whether it is set small above the line.

    `level` is the box turned so that its line runs to the right.
    """

    text: str
    box: Box
    level: Box
    is_raised: bool


class Word(NamedTuple):
    """Glyphs without white space between them, and the block and line that the PDF's reader put them in."""

    glyphs: tuple[Glyph, ...]
    line_id: tuple[int, int]

    @property
    def text(self) -> str:
        """Its characters; raised digits and parentheses behind others as the characters that look so."""
        text, behind = "", False
        for glyph in self.glyphs:
            text += glyph.text.translate(TO_RAISED) if glyph.is_raised and behind else glyph.text
            behind = behind or not glyph.is_raised
        return text

    @property
    def box(self) -> Box:
        """The box around all of them."""
        return union([glyph.box for glyph in self.glyphs])


def are_needed(words: Sequence[str], lines: Callable[[], Mapping[str, Any]]) -> bool:
    """Whether a page with these words has to be read glyph by glyph, which takes three times as long.

    `lines` gives the page as PyMuPDF's `dict`; it is asked for where only that can tell.
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
    """A page of these words; those without inner spaces keep a box for each character."""
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
    """The words of a page as PyMuPDF's `rawdict` has it, in reading order."""
    return [
        Word(glyphs, (number, line_number))
        for number, block in enumerate(page["blocks"])
        for line_number, line in enumerate(in_reading_order([*map(_glyphs, block.get("lines", ()))]))
        for glyphs in _split(line)
    ]


def _glyphs(line: Mapping[str, Any]) -> list[Glyph]:
    """The glyphs of a line. Half of a surrogate pair, which only a broken font names, is no character."""
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


def _split(line: Sequence[Glyph]) -> Iterator[tuple[Glyph, ...]]:
    """The glyphs between white space."""
    word: list[Glyph] = []
    for glyph in line:
        if not glyph.text.isspace():
            word.append(glyph)
        elif word:
            yield tuple(word)
            word = []
    if word:
        yield tuple(word)
