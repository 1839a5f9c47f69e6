"""The usual case, quickly: a quote that stands word for word on its cited page, and only once.

Nothing is decided here that `proofspan.evidence.locate` would decide otherwise: a test holds both against
each other. Whatever leaves room for doubt is None, and the whole search answers.
"""

from __future__ import annotations

import re

from proofspan.evidence.boxes import check_box
from proofspan.evidence.pagetext import PageText
from proofspan.evidence.types import FoundSpan, SpanQuery

#: Fewer words are too common to be claimed at once.
FEWEST_WORDS = 6
#: Latin letters and what is set between them. Other scripts may part words otherwise.
PLAIN = re.compile(r"[\x20-\x7e\u00a0-\u024f\u2010-\u2026]+")
#: Such words begin and end a quote: no sign, bracket or unit beside it reaches past them to a number in it.
LETTERS = re.compile(r"[A-Za-z]{2,}[.,;:]?")


def verbatim_on(query: SpanQuery, text: str, page_idx: int, page: PageText) -> FoundSpan | None:
    """The one place of `text` among the page's words, equal character by character; None where in doubt."""
    words = text.split()
    if len(words) < FEWEST_WORDS or not PLAIN.fullmatch(text) or page.letters or not page.boxes:
        return None
    if not (LETTERS.fullmatch(words[0]) and LETTERS.fullmatch(words[-1])):
        return None
    quote, whole = " ".join(words), " ".join(page.words)
    at = whole.find(quote)
    if at < 0 or whole.find(quote, at + 1) >= 0:
        return None
    first = whole.count(" ", 0, at)
    last = first + len(words) - 1
    if page.words[first : last + 1] != tuple(words):
        return None
    rects = page.lines(first, last)
    box = check_box(query, rects, page)
    return FoundSpan(
        status="exact",
        page_idx=page_idx,
        page_mismatch=False,
        agreement=1.0,
        rects=rects,
        note=box.note,
        box_agrees=box.agrees,
        unverified=box.unverified,
    )
