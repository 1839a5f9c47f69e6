"""The words of one page with their boxes, and of a quote: what locating works on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

from core.contracts.records import Box
from core.evidence.geometry import line_boxes, overlap_share, touches
from core.evidence.tokens import Tokens, tokenize

if TYPE_CHECKING:
    from core.evidence.search import WordIndex


@dataclass(frozen=True, slots=True)
class PageText:
    """A page's words in reading order, their boxes, and the tokens made of them.

    `width` and `height` are the unrotated, cropped page's in points; `rotation` is what it is turned by when
    it is displayed, in degrees, clockwise.
    """

    words: tuple[str, ...]
    boxes: tuple[Box, ...]
    tokens: Tokens
    width: float = 0.0
    height: float = 0.0
    rotation: int = 0

    @classmethod
    def of(
        cls,
        words: Iterable[tuple[Box, str]],
        *,
        line_ids: Sequence[tuple[int, int]] | None = None,
        width: float = 0.0,
        height: float = 0.0,
        rotation: int = 0,
    ) -> PageText:
        """A page from its words with boxes.

        `line_ids` holds for each word the line that the PDF's reader put it in: words of two lines never
        touch, which boxes alone cannot tell where text runs down the page.
        """
        pairs = list(words)
        texts = tuple(text for _, text in pairs)
        boxes = tuple(box for box, _ in pairs)
        tokens = tokenize(texts, touching=_touching(boxes, line_ids))
        return cls(texts, boxes, tokens, width, height, rotation)

    def text(self, first: int, last: int) -> str:
        """The words `first` to `last` (inclusive), a space between two."""
        return " ".join(self.words[first : last + 1])

    def text_in(self, box: Box, *, share: float) -> str:
        """The words that lie in a box by at least `share` of their own area, in reading order."""
        pairs = zip(self.words, self.boxes, strict=True)
        return " ".join(word for word, own in pairs if overlap_share(own, box) >= share)

    def lines(self, first: int, last: int) -> tuple[Box, ...]:
        """Tight boxes around the words `first` to `last` (inclusive)."""
        return line_boxes(self.boxes[first : last + 1])

    def boxes_of(self, start: int, end: int) -> tuple[Box, ...]:
        """Boxes around the tokens `start` to `end` (half open)."""
        return self.lines(self.tokens.first[start], self.tokens.last[end - 1])

    def character(self, token: int) -> int:
        """Where a token begins in the page's text, in characters, one for the space between two words."""
        return sum(len(word) + 1 for word in self.words[: self.tokens.first[token]])


def _touching(boxes: Sequence[Box], line_ids: Sequence[tuple[int, int]] | None) -> list[bool]:
    """For each word whether it touches the one before it, in the same line."""
    pairs = enumerate(pairwise(boxes), start=1)
    return [False] * min(1, len(boxes)) + [
        touches(left, right) and (line_ids is None or line_ids[number - 1] == line_ids[number])
        for number, (left, right) in pairs
    ]


@dataclass(frozen=True, slots=True)
class QuoteText:
    """A quote's words as written, and its tokens."""

    words: tuple[str, ...]
    tokens: Tokens

    @classmethod
    def of(cls, text: str) -> QuoteText:
        """A quote from its text."""
        words = tuple(text.split())
        return cls(words, tokenize(words))

    def text(self, first: int, last: int) -> str:
        """The words `first` to `last` (inclusive), a space between two."""
        return " ".join(self.words[first : last + 1])


class Pages(Protocol):
    """A document as locating sees it. A page that can't be read has no words."""

    @property
    def page_count(self) -> int:
        """How many pages the document has."""

    def page_text(self, page_idx: int) -> PageText:
        """The words of one page; `page_idx` lies in the document."""

    def word_index(self) -> WordIndex:
        """The index over all pages, made when it is first asked for."""
