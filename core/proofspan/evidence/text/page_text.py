"""The words and tokens of a page, with boxes, and of a quote; a page's words in other reading orders.

Extractors disagree on the order of columns and of table cells, and a content stream may alternate between
two columns line by line. A quote that is not found in the order of the stream may be found row by row, or
column by column.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from statistics import median

from proofspan.contracts.records.records import Box
from proofspan.evidence.geometry import levelled, line_boxes, overlap_share, touches, union
from proofspan.evidence.text.tokens import HAS_CJK, TOKEN_CJK, Tokens, fold, tokenize

#: Direction on the unrotated page of lines that run to the right when it is displayed, by its rotation.
DISPLAYED_RIGHT = {0: (1.0, 0.0), 90: (0.0, -1.0), 180: (-1.0, 0.0), 270: (0.0, 1.0)}
#: Pages with more words are not reordered.
MAX_WORDS = 5_000
#: The narrowest gap between two columns, in median word heights.
COLUMN_GAP = 0.8
#: Pages whose orders are cached for the quotes that follow.
CACHED_PAGES = 32


@dataclass(frozen=True, slots=True)
class PageText:
    """A page's words in reading order, their boxes, and their tokens, which are made on first use.

    `touching[i]`: word `i` touches the one before it. `width` and `height` are the unrotated, cropped page's
    in points; `rotation` is applied when it is displayed, in degrees, clockwise. `letters` has a box for each
    character of words (by number) in scripts without spaces.
    """

    words: tuple[str, ...]
    boxes: tuple[Box, ...]
    touching: Sequence[bool]
    width: float = 0.0
    height: float = 0.0
    rotation: int = 0
    letters: Mapping[int, Sequence[Box]] = field(default_factory=dict)
    _tokens: list[Tokens] = field(default_factory=list, compare=False, repr=False)

    @property
    def tokens(self) -> Tokens:
        """The tokens of the words, cached: making them costs more than anything else on a page."""
        if not self._tokens:
            self._tokens.append(tokenize(self.words, touching=self.touching))
        return self._tokens[0]

    @classmethod
    def of(
        cls,
        words: Iterable[tuple[Box, str]],
        *,
        line_ids: Sequence[tuple[int, int]] | None = None,
        width: float = 0.0,
        height: float = 0.0,
        rotation: int = 0,
        letters: Mapping[int, Sequence[Box]] | None = None,
    ) -> PageText:
        """Build a page from its words with boxes.

        `line_ids` has the line of each word: words of two lines never touch, which boxes alone do not show
        where text runs down the page.
        """
        pairs = list(words)
        texts = tuple(text for _, text in pairs)
        boxes = tuple(box for box, _ in pairs)
        touching = _touching(boxes, line_ids)
        if rotation:
            turned = _touching([levelled(box, DISPLAYED_RIGHT[rotation % 360]) for box in boxes], line_ids)
            touching = [any(either) for either in zip(touching, turned, strict=True)]
        return cls(texts, boxes, touching, width, height, rotation, letters or {})

    def boxes_of(self, start: int, end: int) -> tuple[Box, ...]:
        """Return tight boxes around the tokens `start` to `end` (half open)."""
        first, last = self.tokens.first[start], self.tokens.last[end - 1]
        boxes = list(self.boxes[first : last + 1])
        for number in {first, last} & self.letters.keys():
            low, high = _cut(self.words[number], number, (start, end), self.tokens)
            boxes[number - first] = union(self.letters[number][low:high])
        # A dash or mark that fills a cell is not compared and gets no box.
        lines = line_boxes(boxes, rotation=self.rotation)
        pairs = zip(self.words[first : first + len(boxes)], boxes, strict=True)
        compared = [box for word, box in pairs if any(map(str.isalnum, word))]
        if len(compared) == len(boxes):
            return lines
        held = [line for line in lines if any(overlap_share(box, line) > 0 for box in compared)]
        return tuple(held) or lines

    def character(self, token: int) -> int:
        """Return the character of the page's text at which a token begins, words separated by spaces."""
        return sum(len(word) + 1 for word in self.words[: self.tokens.first[token]])


def _touching(boxes: Sequence[Box], line_ids: Sequence[tuple[int, int]] | None) -> list[bool]:
    return [False] * min(1, len(boxes)) + [
        touches(left, right) and (line_ids is None or line_ids[number] == line_ids[number + 1])
        for number, (left, right) in enumerate(pairwise(boxes))
    ]


def _cut(word: str, number: int, tokens: tuple[int, int], all_tokens: Tokens) -> tuple[int, int]:
    """The characters (half open) of a word that a range of tokens covers; the whole word where unclear."""
    begin, stop = bisect_left(all_tokens.first, number), bisect_right(all_tokens.first, number)
    # The character of the word that each character of the folded word came from, unless that is unclear.
    places = [place for place, character in enumerate(word) for _ in fold(character)]
    is_clear = "".join(map(fold, word)) == fold(word)
    found = [match.span() for match in TOKEN_CJK.finditer(fold(word))] if is_clear else []
    if len(found) != stop - begin or tokens[1] <= begin:
        return 0, len(word)
    low = places[found[tokens[0] - begin][0]] if tokens[0] > begin else 0
    high = places[found[tokens[1] - 1 - begin][1] - 1] + 1 if tokens[1] < stop else len(word)
    return low, high


@dataclass(frozen=True, slots=True)
class QuoteText:
    """A quote's words as written, and its tokens."""

    words: tuple[str, ...]
    tokens: Tokens

    @classmethod
    def of(cls, text: str) -> QuoteText:
        """Build a quote from its text."""
        words = tuple(text.split())
        return cls(words, tokenize(words))


def text_of(text: PageText | QuoteText, start: int, end: int) -> str:
    """Return the words of the tokens `start` to `end` (half open), cut in scripts without spaces."""
    tokens = text.tokens
    first, last = tokens.first[start], tokens.last[end - 1]
    pieces = list(text.words[first : last + 1])
    for number in {first, last}:
        if HAS_CJK.search(text.words[number]):
            low, high = _cut(text.words[number], number, (start, end), tokens)
            pieces[number - first] = text.words[number][low:high]
    return " ".join(pieces)


def other_orders(page: PageText) -> list[PageText]:
    """Return the page row by row and column by column, without its own order."""
    if not 1 < len(page.boxes) <= MAX_WORDS:
        return []
    return [
        replace(
            page,
            words=tuple(page.words[number] for number in order),
            boxes=tuple(page.boxes[number] for number in order),
            touching=[False] * len(order),
            _tokens=[tokens],
            letters={place: page.letters[each] for place, each in enumerate(order) if each in page.letters},
        )
        for order, tokens in _orders(page.words, page.boxes)
    ]


@lru_cache(maxsize=CACHED_PAGES)
def _orders(words: Sequence[str], boxes: Sequence[Box]) -> list[tuple[Sequence[int], Tokens]]:
    """The orders with their tokens. No words touch, since they were not neighbours in the stream."""
    own = tuple(range(len(boxes)))
    orders = dict.fromkeys((_by_rows(boxes, own), _by_columns(boxes)))
    apart = [False] * len(own)
    return [(each, tokenize([words[i] for i in each], touching=apart)) for each in orders if each != own]


def _by_rows(boxes: Sequence[Box], numbers: Sequence[int]) -> tuple[int, ...]:
    rows: list[list[int]] = []
    bottom = 0.0
    for middle, number in sorted(((boxes[each][1] + boxes[each][3]) / 2, each) for each in numbers):
        if not rows or middle > bottom:
            rows.append([])
            bottom = boxes[number][3]
        rows[-1].append(number)
    return tuple(number for row in rows for number in sorted(row, key=lambda each: (boxes[each][0], each)))


def _by_columns(boxes: Sequence[Box]) -> tuple[int, ...]:
    """Words column by column (recursive XY cut, Nagy & Seth 1984, vertical gaps first).

    A part without a vertical gap is cut at its widest horizontal one, so that a heading over two columns does
    not hide them; a part without gaps is one block.
    """
    usual = median(box[3] - box[1] for box in boxes)
    ordered: list[int] = []
    parts: list[tuple[int, ...]] = [tuple(range(len(boxes)))]
    while parts:
        part = parts.pop()
        cut = _parted(boxes, part, 0, COLUMN_GAP * usual) or _parted(boxes, part, 1, 0.0)
        if cut is None:
            ordered.extend(_by_rows(boxes, part))
        else:
            parts.extend(reversed(cut))
    return tuple(ordered)


def _parted(
    boxes: Sequence[Box], part: Sequence[int], axis: int, least: float
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The part before and after its widest gap along an axis (0 left to right, 1 down); None without one."""
    along = sorted(part, key=lambda number: (boxes[number][axis], number))
    widest, place, reached = least, 0, boxes[along[0]][axis + 2]
    for position, number in enumerate(along[1:], start=1):
        gap = boxes[number][axis] - reached
        if gap > widest:
            widest, place = gap, position
        reached = max(reached, boxes[number][axis + 2])
    return (tuple(along[:place]), tuple(along[place:])) if place else None
