"""Sets items in two columns that end level on the last page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tools.demo.flow import NEVER, Breaks, Item, Lengths, fill


@dataclass(frozen=True, slots=True)
class Balanced:
    """Where columns begin, and how high they are: two a page, in the order in which they are read."""

    breaks: Breaks
    heights: tuple[float, ...]


def balanced(items: Sequence[Item], first: float, full: float) -> Balanced:
    """Columns of the first page's height and full ones; those of the last page as low as they can be.

    Raises ValueError when the items can't be divided at all.
    """
    loose = fill(items, lambda column: first if column < 2 else full)
    if loose.cost == NEVER:
        raise ValueError(f"this can't be set in two columns: {items[0].block.lines[0]!r} and what follows")
    pages = math.ceil((len(loose.starts) - 1) / 2)
    low = first if pages == 1 else full
    whole, _ = Lengths(items, 1.0).used(0, len(items))
    before = 2 * (first + full * (pages - 2)) if pages > 1 else 0.0
    high = min(max((whole - before) / 2 - 40, 60.0), low)
    while high < low:
        attempt = _attempt(items, first, full, pages, high)
        if attempt is not None:
            return attempt
        high += 3.0
    heights = tuple(_heights(first, full, pages, low)(column) for column in range(2 * pages))
    return Balanced(loose, heights)


def _attempt(items: Sequence[Item], first: float, full: float, pages: int, last: float) -> Balanced | None:
    height = _heights(first, full, pages, last)
    breaks = fill(items, height)
    if breaks.cost == NEVER or len(breaks.starts) - 1 > 2 * pages:
        return None
    return Balanced(breaks, tuple(height(column) for column in range(2 * pages)))


def _heights(first: float, full: float, pages: int, last: float) -> Callable[[int], float]:
    def height(column: int) -> float:
        if column >= 2 * (pages - 1):
            return last
        return first if column < 2 else full

    return height
