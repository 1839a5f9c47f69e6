"""What the evidence room takes and gives: quotes in, placed spans and page pictures out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from proofspan.contracts.records.records import Box, BoxSpace, Offsets

Status = Literal["exact", "normalized", "fuzzy", "partial", "not_found"]
#: What a picture's bytes are.
Mime = Literal["image/png", "image/jpeg"]


@dataclass(frozen=True, slots=True)
class SpanQuery:
    """A quote to be placed. `cited_page_idx` is 0-based; None means that no page was cited.

    `cited_label` is the label printed on the cited page ("iv", "41"), for a producer that knows no index.
    """

    quote: str
    cited_page_idx: int | None = None
    offsets: Offsets | None = None
    box: Box | None = None
    box_space: BoxSpace | None = None
    before: str = ""
    after: str = ""
    cited_label: str | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """Words that differ between the quote and the page; either side may be empty."""

    quote: str
    page: str
    kind: Literal["number", "word"]


@dataclass(frozen=True, slots=True)
class TextRange:
    """Characters of a document without pages, `start < end` half open, and the lines they lie on.

    Lines count from 1; `last_line` holds the last of the characters.
    """

    start: int
    end: int
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class Place:
    """Another place where the same quote stands: boxes on a page, or `ranges` of a text (`page_idx` is 0)."""

    page_idx: int
    rects: tuple[Box, ...]
    ranges: tuple[TextRange, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundSpan:
    """Where a quote stands. `agreement` in 0–1; `rects` one box a line of text, empty when not found.

    `alternatives` are other places that agree as well; `continues` where the rest of the quote stands when it
    runs over the edge of the page. `box_agrees` tells whether the producer's own box holds at least half of
    the found lines, by area, on the page where they were found (None: there is no box, or nothing to compare
    it with); `unverified` is that box, in points of the cited page, where the page has no text that could
    confirm it. In a document without pages `page_idx` is None, `rects` is empty, and `ranges` say where the
    quote stands, in order and without overlap;
    `unverified_ranges` are the characters that offsets name where no quote confirms them.
    """

    status: Status
    page_idx: int | None
    page_mismatch: bool
    agreement: float
    rects: tuple[Box, ...] = ()
    differences: tuple[Difference, ...] = ()
    alternatives: tuple[Place, ...] = ()
    continues: tuple[Place, ...] = ()
    note: str = ""
    ranges: tuple[TextRange, ...] = ()
    box_agrees: bool | None = None
    unverified: tuple[Box, ...] = ()
    unverified_ranges: tuple[TextRange, ...] = ()


@dataclass(frozen=True, slots=True)
class PageInfo:
    """One page: visible size in points after rotation, the rotation in degrees, the printed label if any."""

    page_idx: int
    width: float
    height: float
    rotation: int
    label: str | None


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document as a whole; `labels` holds printed labels by page_idx, empty where it carries none."""

    page_count: int
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PageImage:
    """A rendered page: its picture's bytes and their kind, its size in pixels, and the page drawn.

    `to_pixels` is the affine matrix (a, b, c, d, e, f) from unrotated points to pixels of this picture.
    `words` are the page's, with their boxes in unrotated points, in its order, where they were asked for.
    """

    data: bytes
    width: int
    height: int
    page: PageInfo
    to_pixels: tuple[float, float, float, float, float, float]
    mime: Mime = "image/png"
    words: tuple[tuple[Box, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawn region or a decoded picture file: bytes of ours, their kind, and their size in pixels."""

    data: bytes
    width: int
    height: int
    mime: Mime = "image/png"
