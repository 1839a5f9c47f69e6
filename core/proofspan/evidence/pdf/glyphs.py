"""Build the words of a page from its glyphs, where MuPDF's words are not enough.

MuPDF's words have one box each and no typography. That is not enough in scripts without spaces (a "word" is a
line long), in right-to-left scripts (words come in the order in which the program wrote them), and where
small raised digits, footnote marks and exponents, follow a word without a space.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from proofspan.contracts.records.records import Box
from proofspan.evidence.geometry import levelled, union
from proofspan.evidence.pdf.bidi import HAS_RIGHT_TO_LEFT, Glyph, in_reading_order
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
        for line_number, line in enumerate(in_reading_order([*map(_glyphs, block.get("lines", ()))]))
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
