"""When a found span is a hit: the right page, and boxes that lie on the quote's words and on little else.

Points are taken along the middle of each box. 0.8 of those found must lie on the truth (precision) and 0.7 of
the truth on those found (recall), 0.5 where the quote has a gap, which the truth spans.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from proofspan.contracts.records.records import Box
from proofspan.evidence.types import FoundSpan

Row = dict[str, Any]

STEP = 2.0
MIN_PRECISION, MIN_RECALL, MIN_RECALL_WITH_GAP = 0.8, 0.7, 0.5
#: How far a point may lie outside of a box, in points across and down.
AROUND_TRUTH, AROUND_FOUND = (2.0, 3.0), (1.0, 1.0)


@dataclass(slots=True)
class Score:
    """Counts over a set of quotes. `off_by_one` are quotes found on another page than the one they cite."""

    hits: Counter[str] = field(default_factory=Counter)
    total: Counter[str] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)
    absent: int = 0
    false: int = 0
    off_by_one: int = 0
    flagged: int = 0
    twice: list[str] = field(default_factory=list)

    @property
    def hit_rate(self) -> float:
        """Hits among the quotes that are there."""
        return self.hits.total() / self.total.total()


def points(boxes: Iterable[Sequence[float]]) -> list[tuple[float, float]]:
    """Points along the middle of each box."""
    return [
        (x0 + (x1 - x0) * step / steps, (y0 + y1) / 2)
        for x0, y0, x1, y1 in boxes
        for steps in [max(1, int((x1 - x0) / STEP))]
        for step in range(steps + 1)
    ]


def covered(boxes: Sequence[Box], by: Sequence[Box], around: tuple[float, float]) -> float:
    """The share of the boxes' middle lines that lies in other boxes, grown by a margin."""
    dx, dy = around
    inside = [
        any(x0 - dx <= x <= x1 + dx and y0 - dy <= y <= y1 + dy for x0, y0, x1, y1 in by)
        for x, y in points(boxes)
    ]
    return sum(inside) / max(1, len(inside))


def is_hit(row: Row, found: FoundSpan) -> bool:
    """True if a quote was located where it is."""
    if found.page_idx != row["page_idx"]:
        return False
    recall = MIN_RECALL_WITH_GAP if row["kind"] == "ellipsis" else MIN_RECALL
    return (
        covered(found.rects, row["rects"], AROUND_TRUTH) >= MIN_PRECISION
        and covered(row["rects"], found.rects, AROUND_FOUND) >= recall
    )


def score(spans: Iterable[tuple[Row, FoundSpan]]) -> Score:
    """Count hits. A quote that occurs twice on its page is left out if the other occurrence was found.

    A quote that occurs undisturbed on the page it cites is right there, even if it was cut from the next
    page: it counts as missed, and `twice` names it instead of the pages to be flagged.
    """
    counts = Score()
    for row, found in spans:
        if row["kind"] == "absent":
            counts.absent += 1
            counts.false += found.page_idx is not None
            continue
        hit = is_hit(row, found)
        if not hit and found.page_idx == row["page_idx"] and row["times_on_page"] > 1:
            continue
        counts.total[row["kind"]] += 1
        counts.hits[row["kind"]] += hit
        if not hit:
            counts.missed.append(row["id"])
        if row["cited_page_idx"] == row["page_idx"]:
            continue
        if found.status == "exact" and found.page_idx == row["cited_page_idx"]:
            counts.twice.append(row["id"])
            continue
        counts.off_by_one += 1
        counts.flagged += hit and found.page_mismatch
    return counts
