"""A page's words in other reading orders, computed from their boxes.

Extractors disagree on the order of columns and of table cells, and a content stream may alternate between
two columns line by line. A quote that is not found in the order of the stream may be found row by row, or
column by column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from statistics import median

from proofspan.contracts.records.records import Box
from proofspan.evidence.text.page_text import PageText
from proofspan.evidence.text.tokens import Tokens, tokenize

#: Pages with more words are not reordered.
MAX_WORDS = 5_000
#: The narrowest gap between two columns, in median word heights.
COLUMN_GAP = 0.8
#: Pages whose orders are cached for the quotes that follow.
CACHED_PAGES = 32


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
        cut = _cut(boxes, part, 0, COLUMN_GAP * usual) or _cut(boxes, part, 1, 0.0)
        if cut is None:
            ordered.extend(_by_rows(boxes, part))
        else:
            parts.extend(reversed(cut))
    return tuple(ordered)


def _cut(
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
