"""Use what a producer gives with a quote: its box, the text around the quote, and its offsets.

They choose between several matches on a page. The box is also checked against the text of the page where the
quote was found. On a page without text nothing can confirm it: there it is returned as it is, marked as
unverified.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import takewhile

from proofspan.contracts.records.records import Box
from proofspan.evidence.geometry import clipped, overlap_share, to_points
from proofspan.evidence.text.match import Match
from proofspan.evidence.text.page_text import PageText
from proofspan.evidence.text.tokens import tokenize
from proofspan.evidence.types import SpanQuery

#: A box holds text when this much of it, by area, lies in the box. The box may be larger: pipelines often
#: give that of a block.
HELD_SHARE = 0.5
#: Characters of the text under a box in a note.
MAX_SHOWN = 80
#: Words of context compared on either side.
CONTEXT_WORDS = 12
#: Offsets decide only within this many characters of a match, and if the next one is twice as far.
OFFSET_REACH = 400


#: Whether a box agrees, the box itself where nothing can confirm it, and a note; `FoundSpan` explains them.
BoxCheck = tuple[bool | None, tuple[Box, ...], str]
NO_BOX: BoxCheck = (None, (), "")


def check_box(query: SpanQuery, rects: Sequence[Box], page: PageText) -> BoxCheck:
    """Check the box on a page with `rects` of the found text; without any, the quote is not there."""
    if query.box is None:
        return NO_BOX
    if query.box_space is None:
        return None, (), "the box given with the quote has no unit, so it was not compared"
    box = _given_box(query, page)
    if box is None:
        return False if page.words else None, (), "the box given with the quote does not lie on the page"
    if not page.words:
        return None, (box,), ""
    if _held_share(rects, box) >= HELD_SHARE:
        return True, (), ""
    lines = sum(overlap_share(rect, box) >= HELD_SHARE for rect in rects)
    words = zip(page.words, page.boxes, strict=True)
    text = " ".join(word for word, own in words if overlap_share(own, box) >= HELD_SHARE)
    if lines:
        holds = f"{lines} of the {len(rects)} lines found"
    elif text:
        holds = f"other text: “{text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + '…'}”"
    else:
        holds = "no text"
    return False, (), f"the box given with the quote holds {holds}"


def _given_box(query: SpanQuery, page: PageText) -> Box | None:
    """The producer's box in points of a page, clipped to it."""
    if query.box is None or query.box_space is None or not all(map(math.isfinite, query.box)):
        return None
    size = {"width": page.width, "height": page.height}
    return clipped(to_points(query.box, query.box_space, **size, rotation=page.rotation), **size)


def _held_share(rects: Sequence[Box], box: Box) -> float:
    """How much of the found lines, by area, lies in the box, 0–1."""
    areas = [(rect[2] - rect[0]) * (rect[3] - rect[1]) for rect in rects]
    held = sum(area * overlap_share(rect, box) for area, rect in zip(areas, rects, strict=True))
    return held / sum(areas) if sum(areas) > 0 else 0.0


def settle(query: SpanQuery, matches: Sequence[Match], page: PageText) -> tuple[Match, list[Match]]:
    """Return the match that box, context or offsets single out, and those left open."""
    if len(matches) > 1:
        if (box := _given_box(query, page)) is not None:
            inside = [match for match in matches if _held_share(match.rects, box) >= HELD_SHARE]
            if len(inside) == 1:
                return inside[0], []
        single = _by_context(query, matches, page) or _by_offsets(query, matches, page)
        if single is not None:
            return single, []
    return matches[0], list(matches[1:])


def _by_context(query: SpanQuery, matches: Sequence[Match], page: PageText) -> Match | None:
    """The match with most neighbouring words, counted outwards, that agree; None if two have as many."""
    before, after = (tokenize(text.split()).keys for text in (query.before, query.after))
    if not before and not after:
        return None
    scores, keys = [], page.tokens.keys
    for match in matches:
        left = zip(before[: -CONTEXT_WORDS - 1 : -1], reversed(keys[: match.page[0]]), strict=False)
        right = zip(after[:CONTEXT_WORDS], keys[match.page[1] :], strict=False)
        agreeing = (list(takewhile(lambda pair: pair[0] == pair[1], pairs)) for pairs in (left, right))
        scores.append(sum(map(len, agreeing)))
    best = max(scores)
    return matches[scores.index(best)] if best > 0 and scores.count(best) == 1 else None


def _by_offsets(query: SpanQuery, matches: Sequence[Match], page: PageText) -> Match | None:
    """The only match that begins within the character offsets, counted from the top of the page.

    If none does, the match that is clearly nearest to their start.
    """
    offsets = query.offsets
    if offsets is None or offsets.unit != "char":
        return None
    characters = [page.character(match.page[0]) for match in matches]
    within = [number for number, place in enumerate(characters) if offsets.start <= place < offsets.end]
    if within:
        return matches[within[0]] if len(within) == 1 else None
    distances = sorted((abs(place - offsets.start), number) for number, place in enumerate(characters))
    (nearest, number), (second, _) = distances[:2]
    return matches[number] if nearest <= OFFSET_REACH and nearest * 2 < second else None
