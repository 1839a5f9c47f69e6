"""The page of a sentence of a chunk that runs over a page break."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import pymupdf

from tools.demo.corpus import Piece
from tools.demo.markup import plain
from tools.demo.pages import Part

#: Letters at the end of a part that a sentence must begin with to begin there.
BEGINNING = 12


class Places:
    """The set manual, asked for the words within a box."""

    def __init__(self, pdf: bytes) -> None:
        self._document = pymupdf.open(stream=pdf, filetype="pdf")
        self._letters = cache(self._read)

    def page_of(self, piece: Piece, start: int, end: int) -> int:
        """Return the page_idx of text[start:end] of the chunk, or of the larger part of it."""
        if len({part.page_idx for part in piece.parts}) < 2:
            return piece.page_idx
        wanted = letters(piece.text[start:end])
        held = [self._letters(part) for part in piece.parts]
        for part, text in zip(piece.parts, held, strict=True):
            if wanted in text:
                return part.page_idx
        for (part, after), text in zip(pairwise(piece.parts), held, strict=False):
            if (begun := _beginning(wanted, text)) >= BEGINNING:
                return part.page_idx if 2 * begun >= len(wanted) else after.page_idx
        return self._by_words(piece, start, end)

    def _by_words(self, piece: Piece, start: int, end: int) -> int:
        """The page whose part holds most of the words: a row whose cells have several lines."""
        words = [letters(word) for word in piece.text[start:end].split()]

        def held(part: Part) -> int:
            return sum(word in self._letters(part) for word in words)

        return max(piece.parts, key=lambda part: (held(part), -part.page_idx)).page_idx

    def _read(self, part: Part) -> str:
        x0, y0, x1, y1 = part.bbox
        box = pymupdf.Rect(x0 - 1, y0 - 1, x1 + 1, y1 + 1)
        return letters(
            " ".join(word[4] for word in self._document[part.page_idx].get_text("words", clip=box))
        )


def letters(text: str) -> str:
    """Letters, digits and signs without white space, hyphens and ligatures."""
    return "".join(plain(text).replace("-", "").split())


def _beginning(wanted: str, held: str) -> int:
    """How many of the first letters of `wanted` are the last of `held`."""
    return next((n for n in range(len(wanted) - 1, 0, -1) if held.endswith(wanted[:n])), 0)
