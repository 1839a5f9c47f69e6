"""`render_ref`: the picture of an attachment, a file or a region of a PDF page.

`file:media/engine.png` is relative to the attachments folder; `pdf:DOC_ID#page_idx=41&bbox=72,140,320,260` is
a box in points of the unrotated page. It comes from a foreign file: any other text is not a reference, and
a path that could leave its folder is never read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from proofspan.contracts.records.records import Box
from proofspan.manifest.paths import refusal_of

#: No reference is longer, in characters.
MAX_LENGTH = 1_500
#: A box may reach this many points over the edge of its page: producers round.
TOLERANCE = 0.5

_SIDE = r"[0-9]{1,6}(?:\.[0-9]{1,6})?"
_PDF = re.compile(
    rf"pdf:(?P<doc_id>[^\x00-\x1f\x7f-\x9f]+)#page_idx=(?P<page_idx>[0-9]{{1,7}})"
    rf"&bbox=(?P<box>{_SIDE},{_SIDE},{_SIDE},{_SIDE})"
)


@dataclass(frozen=True, slots=True)
class FileRef:
    """A file below the attachments folder; the path is relative, with `/` between its segments."""

    path: str


@dataclass(frozen=True, slots=True)
class PageRef:
    """A region of a page: `box` in points, not empty, as far as the page itself reaches."""

    doc_id: str
    page_idx: int
    box: Box


RenderRef = FileRef | PageRef


def parse_render_ref(text: str) -> RenderRef | None:
    """Return the reference that a text gives; None for any other text, or a path that leaves its folder."""
    if len(text) > MAX_LENGTH:
        return None
    if text.startswith("file:"):
        path = text.removeprefix("file:")
        return None if refusal_of(path) else FileRef(path)
    found = _PDF.fullmatch(text)
    if found is None:
        return None
    x0, y0, x1, y1 = map(float, found["box"].split(","))
    if x0 >= x1 or y0 >= y1:
        return None
    return PageRef(found["doc_id"], int(found["page_idx"]), (x0, y0, x1, y1))


def lies_on(box: Box, *, width: float, height: float) -> bool:
    """Whether a box is one, and lies on an unrotated page of this size, all in points."""
    x0, y0, x1, y1 = box
    return -TOLERANCE <= x0 < x1 <= width + TOLERANCE and -TOLERANCE <= y0 < y1 <= height + TOLERANCE
