"""Quotes to locate, and located spans, pages and pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from proofspan.contracts.records.records import Box, BoxSpace, Offsets

Status = Literal["exact", "normalized", "fuzzy", "partial", "not_found"]
Mime = Literal["image/png", "image/jpeg"]


@dataclass(frozen=True, slots=True)
class SpanQuery:
    """A quote to locate. `cited_page_idx` is 0-based, None if no page was cited.

    `last_cited_page_idx` is the last page of a citation over several. `cited_label` is the label printed on
    the cited page ("iv", "41"), for a producer without page indices. `before` and `after` are the text around
    the quote. `claim` is a statement to check instead of a quote.
    """

    quote: str
    cited_page_idx: int | None = None
    offsets: Offsets | None = None
    box: Box | None = None
    box_space: BoxSpace | None = None
    before: str = ""
    after: str = ""
    cited_label: str | None = None
    claim: str = ""
    last_cited_page_idx: int | None = None

    @property
    def cited_pages(self) -> range:
        """Return the cited pages, from 0; none if no page was cited."""
        first, last = self.cited_page_idx, self.last_cited_page_idx
        return range(0) if first is None else range(first, max(first, first if last is None else last) + 1)


@dataclass(frozen=True, slots=True)
class Difference:
    """Words that differ between quote and page; either side may be empty."""

    quote: str
    page: str
    kind: Literal["number", "word"]


@dataclass(frozen=True, slots=True)
class TextRange:
    """Characters of a document without pages, `start < end` half open, and their lines, counted from 1."""

    start: int
    end: int
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class Place:
    """Another place of the same quote: boxes on a page, or `ranges` of a text (`page_idx` is 0)."""

    page_idx: int
    rects: tuple[Box, ...]
    ranges: tuple[TextRange, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundSpan:
    """A located quote. `agreement` in 0–1; `rects` has one box for each line of text, none if not found.

    `alternatives` are other places that agree equally well, `continues` the rest of a quote that runs over
    the edge of the page. `box_agrees`: the producer's own box holds at least half of the found lines, by
    area, on their page (None without a box or anything to compare it with); `unverified` is that box, in
    points of the cited page, where the page has no text to confirm it. In a document without pages `page_idx`
    is None, `rects` is empty and `ranges` has the quote's characters, in order and without overlap;
    `unverified_ranges` are the characters that offsets name and no quote confirms. Of a citation of a table
    `row` has the label and `column` the head of the cells, as printed, "" where they are not known.
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
    row: str = ""
    column: str = ""

    @property
    def numbers_differ(self) -> bool:
        """Return whether a number of the quote is another one in the document."""
        return any(difference.kind == "number" for difference in self.differences)


@dataclass(frozen=True, slots=True)
class IndexedSpan(FoundSpan):
    """A located quote as the index records it: whether numbers differ, but not which, and no boxes."""

    numbers_differ: bool = False


@dataclass(frozen=True, slots=True)
class PageInfo:
    """A page: visible size in points after rotation, rotation in degrees, printed label if any."""

    page_idx: int
    width: float
    height: float
    rotation: int
    label: str | None


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document; `labels` has the printed labels by page_idx, empty where it has none."""

    page_count: int
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PageImage:
    """A rendered page: the picture's bytes, its size in pixels, and the page.

    `to_pixels` is the affine matrix (a, b, c, d, e, f) from unrotated points to pixels of this picture.
    `words` are the page's words in reading order with boxes in unrotated points, if they were requested.
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
    """A rendered region or a decoded picture file, with its size in pixels."""

    data: bytes
    width: int
    height: int
    mime: Mime = "image/png"
