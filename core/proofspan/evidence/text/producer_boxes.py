"""Check a producer's own box against the text of the page where the quote was found.

On a page without text nothing can confirm it: there it is returned as it is, marked as unverified.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from proofspan.contracts.records.records import Box
from proofspan.evidence.geometry import clipped, overlap_share, to_points
from proofspan.evidence.text.page_text import PageText
from proofspan.evidence.types import SpanQuery

#: A box holds text when this much of it, by area, lies in the box. The box may be larger: pipelines often
#: give that of a block.
HELD_SHARE = 0.5
#: Characters of the text under a box in a note.
MAX_SHOWN = 80
NO_SPACE = "the box given with the quote has no unit, so it was not compared"
NO_AREA = "the box given with the quote does not lie on the page"


@dataclass(frozen=True, slots=True)
class BoxCheck:
    """The result of checking the producer's box; `FoundSpan` explains `agrees` and `unverified`."""

    agrees: bool | None = None
    unverified: tuple[Box, ...] = ()
    note: str = ""


def given_box(query: SpanQuery, page: PageText) -> Box | None:
    """Return the producer's box in points of a page, clipped to it, or None."""
    if query.box is None or query.box_space is None or not all(map(math.isfinite, query.box)):
        return None
    size = {"width": page.width, "height": page.height}
    return clipped(to_points(query.box, query.box_space, **size, rotation=page.rotation), **size)


def held_share(rects: Sequence[Box], box: Box) -> float:
    """Return how much of the found lines, by area, lies in the box, 0–1."""
    areas = [(rect[2] - rect[0]) * (rect[3] - rect[1]) for rect in rects]
    held = sum(area * overlap_share(rect, box) for area, rect in zip(areas, rects, strict=True))
    return held / sum(areas) if sum(areas) > 0 else 0.0


def check_box(query: SpanQuery, rects: Sequence[Box], page: PageText) -> BoxCheck:
    """Check the box on a page with `rects` of the found text; without any, the quote is not there."""
    if query.box is None:
        return BoxCheck()
    if query.box_space is None:
        return BoxCheck(note=NO_SPACE)
    box = given_box(query, page)
    if box is None:
        return BoxCheck(agrees=False if page.words else None, note=NO_AREA)
    if not page.words:
        return BoxCheck(unverified=(box,))
    if held_share(rects, box) >= HELD_SHARE:
        return BoxCheck(agrees=True)
    return BoxCheck(agrees=False, note=_disagreement(rects, box, page))


def _disagreement(rects: Sequence[Box], box: Box, page: PageText) -> str:
    lines = sum(overlap_share(rect, box) >= HELD_SHARE for rect in rects)
    if lines:
        return f"the box given with the quote holds {lines} of the {len(rects)} lines found"
    text = page.text_in(box, share=HELD_SHARE)
    if not text:
        return "the box given with the quote holds no text"
    shown = text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"
    return f"the box given with the quote holds other text: “{shown}”"
