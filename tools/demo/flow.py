"""Finds where pages end: of all allowed breaks, those that leave the least white and part the fewest things.

The method is the one of Knuth and Plass (Breaking Paragraphs into Lines, 1981), used for pages.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from tools.demo.markup import Block
from tools.demo.pages import Box, Sheet

NEVER = math.inf
#: How much a gap may grow or shrink so that a page ends at its foot, as a share of the gap.
STRETCH, SHRINK = 0.7, 0.3
#: What every page costs: rather one page less than a little more white.
FRAME = 25.0
#: What it costs that a block goes on behind a page that was put in between.
PARTED = 500.0
#: How much an empty foot of the last page weighs, against one of a page within the chapter.
SHORT = 0.6


@dataclass(frozen=True, slots=True)
class Insert:
    """A page put in between: a picture by its name, or items on a landscape page that is turned."""

    picture: str = ""
    items: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """Something that is never divided: a line, a step, a table's row, a signal box.

    `before` and `after` are the white it wants around it; the larger of two neighbours' counts, and none
    at the head of a page. `cost` is what a page break in front of it costs (NEVER forbids it), `sticky`
    forbids one behind it. `box` (and `art`) are relative to its place; `opening` is repeated above it
    where a page begins with it. `marks` are symbols: name, row, box. `insert` is a page of its own that
    follows the page of the item; `cropped` makes the item's page a cropped one.
    """

    block: Block
    height: float
    draw: Callable[[Sheet, float, float], None]
    box: Box | None = None
    before: float = 0.0
    after: float = 0.0
    cost: float = 0.0
    sticky: bool = False
    opening: Item | None = None
    art: Box | None = None
    marks: tuple[tuple[str, int, Box], ...] = ()
    insert: Insert | None = None
    cropped: bool = False


@dataclass(frozen=True, slots=True)
class Breaks:
    """Where frames begin (the last entry is the end) and what that costs in all."""

    starts: tuple[int, ...]
    cost: float


def gap(items: Sequence[Item], place: int, scale: float) -> float:
    """Return the white in front of an item that is not at the head of a frame.

    It grows with the scale, save below a heading.
    """
    white = max(items[place - 1].after, items[place].before)
    return white if items[place - 1].sticky else white * scale


def break_cost(items: Sequence[Item], place: int) -> float:
    """Return the cost of beginning a frame with this item."""
    return NEVER if items[place - 1].sticky else items[place].cost


class Lengths:
    """Heights and gaps of a run of items, summed once."""

    def __init__(self, items: Sequence[Item], scale: float) -> None:
        between = [0.0, *(gap(items, place, scale) for place in range(1, len(items)))]
        loose = [
            white if place and not items[place - 1].sticky else 0.0 for place, white in enumerate(between)
        ]
        self._items = items
        self._heights = [0.0, *accumulate(item.height for item in items)]
        self._gaps = [0.0, *accumulate(between)]
        self._loose = [0.0, *accumulate(loose)]

    def used(self, start: int, end: int) -> tuple[float, float]:
        """The height of items[start:end] in a frame of their own, and the gaps in it that may grow."""
        opening = self._items[start].opening
        gaps = self._gaps[end] - self._gaps[start + 1]
        heights = self._heights[end] - self._heights[start]
        return heights + gaps + (opening.height if opening else 0.0), self._loose[end] - self._loose[
            start + 1
        ]


def growth(filled: float, gaps: float, room: float, *, last: bool) -> float | None:
    """By what share every gap of a frame grows, or shrinks where it is below 0; None where nothing helps.

    The last frame is not stretched to its foot.
    """
    slack = room - filled
    if slack < -0.01:
        return slack / gaps if gaps and slack >= -SHRINK * gaps else None
    return 0.0 if last or not gaps else min(max(slack, 0.0) / gaps, STRETCH)


def _uneven(grown: float) -> float:
    """Return the cost of gaps that are not as wide as they should be."""
    return 10 * (grown / (STRETCH if grown > 0 else SHRINK)) ** 2


def _white(white: float, room: float, short: float) -> float:
    """Return the cost of white at a frame's foot; the last frame may be partly empty."""
    white = white if short == 1.0 else short * max(white - 0.2 * room, 0.0)
    return 3 * (max(white, 0.0) / 10) ** 2


def fill(
    items: Sequence[Item], height: Callable[[int], float], *, scale: float = 1.0, short: float = 0.0
) -> Breaks:
    """Divides the items over frames; `height` gives each frame's by its number.

    `short` weighs how empty the last frame may be: 0 for not at all. Where an item is higher than its frame
    or nothing may be broken, the cost is infinite.
    """
    # best[end] = (cost, number of frames, start of the last one)
    best: list[tuple[float, int, int]] = [(0.0, 0, 0)]
    lengths = Lengths(items, scale)
    inserts = [place for place, item in enumerate(items) if item.insert]
    for end in range(1, len(items) + 1):
        ending = break_cost(items, end) if end < len(items) else 0.0
        inside = end < len(items) and items[end].block is items[end - 1].block
        found = [(NEVER, 0, 0)]
        for start in range(end - 1, -1, -1):
            cost, frames, _ = best[start]
            filled, gaps = lengths.used(start, end)
            room = height(frames)
            if filled > 1.5 * room:
                break
            last = end == len(items)
            grown = growth(filled, gaps, room, last=last)
            if grown is None:
                continue
            ugly = _uneven(grown) + _white(room - filled - grown * gaps, room, short if last else 1.0)
            if inside and any(start <= place < end for place in inserts):
                ugly += PARTED
            found.append((cost + FRAME + ending + ugly, frames + 1, start))
        best.append(min(found))
    return Breaks(_starts(best, len(items)), best[-1][0])


def _starts(best: Sequence[tuple[float, int, int]], end: int) -> tuple[int, ...]:
    starts = [end]
    while starts[-1]:
        starts.append(best[starts[-1]][2])
    return tuple(reversed(starts))


def best_fill(
    items: Sequence[Item], height: float, scales: Sequence[float]
) -> tuple[list[Item], Breaks, float]:
    """The items in the order and with the white that suits pages of this height best: items, breaks, scale.

    Raises ValueError when they can't be divided at all.
    """
    found = []
    for scale in scales:
        order = swapped(items, lambda _: height, scale=scale)
        breaks = fill(order, lambda _: height, scale=scale, short=SHORT)
        found.append((breaks.cost + 40 * abs(scale - 1), scale, order, breaks))
    cost, scale, order, breaks = min(found, key=lambda each: each[0])
    if cost == NEVER:
        raise ValueError(f"this can't be divided over pages: {items[0].block.lines[0]!r} and what follows")
    return order, breaks, scale


def swapped(items: Sequence[Item], height: Callable[[int], float], *, scale: float) -> list[Item]:
    """The items with boxes that did not fit moved behind the paragraph after them, where that saves white."""
    best = list(items)
    breaks = fill(best, height, scale=scale, short=SHORT)
    for start in range(1, len(items)):
        trial = _moved(best, start)
        if trial is None or start not in breaks.starts:
            continue
        attempt = fill(trial, height, scale=scale, short=SHORT)
        if attempt.cost + 30 < breaks.cost:
            best, breaks = trial, attempt
    return best


def _moved(items: Sequence[Item], start: int) -> list[Item] | None:
    """Return the box that begins at `start` behind the next paragraph; None if there is something else."""
    block = items[start].block
    if items[start - 1].block is block or block.kind not in ("warning", "caution", "note", "figure", "table"):
        return None
    middle = _end_of(items, start)
    if middle == len(items) or items[middle].block.kind != "paragraph" or items[start - 1].sticky:
        return None
    end = _end_of(items, middle)
    if items[end - 1].sticky:
        return None
    return [*items[:start], *items[middle:end], *items[start:middle], *items[end:]]


def _end_of(items: Sequence[Item], start: int) -> int:
    end = start + 1
    while end < len(items) and items[end].block is items[start].block:
        end += 1
    return end
