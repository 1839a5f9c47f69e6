"""A producer's own box against the text of the page: does it hold what was found, and if not, what?

The box is taken on the page where the quote was found. On a page without text nothing can confirm it: there
it is handed on as it is, marked as unverified.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from proofspan.contracts.records.records import Box
from proofspan.evidence.geometry import clipped, overlap_share, to_points
from proofspan.evidence.text.page_text import PageText
from proofspan.evidence.types import SpanQuery

#: A box holds what was found when this much of the found lines, by area, lies in it; a word or a line, the
#: same way. A box may be larger: pipelines give that of a block.
HELD_SHARE = 0.5
#: How many characters of the text under a box are told.
TOLD_CHARACTERS = 80
NO_SPACE = "the box given with the quote does not say what it is measured in, so it was not compared"
NO_AREA = "the box given with the quote does not lie on the page"


@dataclass(frozen=True, slots=True)
class BoxCheck:
    """What became of the producer's box; see `FoundSpan` for `agrees` and `unverified`."""

    agrees: bool | None = None
    unverified: tuple[Box, ...] = ()
    note: str = ""


def given_box(query: SpanQuery, page: PageText) -> Box | None:
    """The producer's box in points of a page, cut at its edges; None where it gave none that lies on it."""
    if query.box is None or query.box_space is None or not all(map(math.isfinite, query.box)):
        return None
    size = {"width": page.width, "height": page.height}
    return clipped(to_points(query.box, query.box_space, **size, rotation=page.rotation), **size)


def held_share(rects: Sequence[Box], box: Box) -> float:
    """How much of the found lines, by area, lies in the box, 0–1."""
    areas = [(rect[2] - rect[0]) * (rect[3] - rect[1]) for rect in rects]
    held = sum(area * overlap_share(rect, box) for area, rect in zip(areas, rects, strict=True))
    return held / sum(areas) if sum(areas) > 0 else 0.0


def check_box(query: SpanQuery, rects: Sequence[Box], page: PageText) -> BoxCheck:
    """The producer's box on a page with `rects` of the found text; without any, the quote is not there."""
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
    return BoxCheck(agrees=False, note=_what_else(rects, box, page))


def _what_else(rects: Sequence[Box], box: Box, page: PageText) -> str:
    """What the box holds in place of the quote, or how little of it."""
    lines = sum(overlap_share(rect, box) >= HELD_SHARE for rect in rects)
    if lines:
        return f"the box given with the quote holds {lines} of the {len(rects)} lines found"
    text = page.text_in(box, share=HELD_SHARE)
    if not text:
        return "the box given with the quote holds no text"
    told = text if len(text) <= TOLD_CHARACTERS else text[: TOLD_CHARACTERS - 1] + "…"
    return f"the box given with the quote holds other text: “{told}”"
