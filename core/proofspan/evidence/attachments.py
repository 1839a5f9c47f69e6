"""The attachments of the catalogue that belong to a cited place: those of its section and near its page.

The rule reads places, never text: a warning on the cited page belongs to the answer even if none of its words
is quoted. Attachments are listed nearest first.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from proofspan.contracts.records.names import SectionKey, section_key
from proofspan.contracts.records.records import Attachment, AttachmentKind, Box
from proofspan.contracts.records.render_ref import PageRef, parse_render_ref

By = Literal["section", "page"]

#: Kinds of safety notices, the gravest first; the other kinds are media.
SAFETY_KINDS: tuple[AttachmentKind, ...] = ("warning", "caution", "note")
#: Pages between the cited page and an attachment of another section that still belongs to it.
NEIGHBOURS = 1


@dataclass(frozen=True, slots=True)
class CitedPlace:
    """The place of cited text: the page where it was found, else the cited page, and its boxes in points.

    `page_idx` is None in a document without pages, whose attachments belong by section only.
    """

    doc_id: str | None
    section_id: str | None = None
    page_idx: int | None = None
    rects: tuple[Box, ...] = ()


@dataclass(frozen=True, slots=True)
class Attached:
    """An attachment that belongs to a cited place, and why.

    `by` is "section" in the cited section, else "page". `pages_away` is the distance in pages, 0 on the cited
    page, None if either has no page.
    """

    attachment: Attachment
    by: By
    pages_away: int | None

    @property
    def is_beside(self) -> bool:
        """Return whether it only lies on a page next to the cited one."""
        return self.by == "page" and self.pages_away != 0

    @property
    def gravity(self) -> int:
        """Return the place of its kind in `SAFETY_KINDS`, behind all of them for media."""
        kind = self.attachment.kind
        return SAFETY_KINDS.index(kind) if kind in SAFETY_KINDS else len(SAFETY_KINDS)


@dataclass(frozen=True, slots=True)
class Entry:
    """An attachment and its place: `box` in points, None if it is not known in points."""

    attachment: Attachment
    section: SectionKey
    page_idx: int | None
    box: Box | None


@dataclass(frozen=True, slots=True)
class CatalogueIndex:
    """The catalogue by document and page, and by document and first part of the section number."""

    by_page: Mapping[tuple[str, int], Sequence[Entry]]
    by_chapter: Mapping[tuple[str, str], Sequence[Entry]]

    @classmethod
    def of(cls, attachments: Iterable[Attachment]) -> CatalogueIndex:
        """Build the index of attachments with distinct ids; those without a document are left out."""
        by_page: defaultdict[tuple[str, int], list[Entry]] = defaultdict(list)
        by_chapter: defaultdict[tuple[str, str], list[Entry]] = defaultdict(list)
        for attachment in attachments:
            # Its `render_ref` fills in what the record leaves out.
            ref = parse_render_ref(attachment.render_ref) if attachment.render_ref is not None else None
            region = ref if isinstance(ref, PageRef) and attachment.doc_id in (None, ref.doc_id) else None
            doc_id, page_idx = attachment.doc_id, attachment.page_idx
            if region is not None:
                doc_id = region.doc_id
                page_idx = region.page_idx if page_idx is None else page_idx
            if doc_id is None:
                continue
            box = attachment.box if attachment.box_space == "points" else None
            if box is None and region is not None and region.page_idx == page_idx:
                box = region.box
            entry = Entry(attachment, section_key(attachment.section_id), page_idx, box)
            if page_idx is not None:
                by_page[doc_id, page_idx].append(entry)
            if entry.section:
                by_chapter[doc_id, entry.section[0]].append(entry)
        return cls(dict(by_page), dict(by_chapter))


def attached(place: CitedPlace, catalogue: CatalogueIndex) -> tuple[Attached, ...]:
    """Return all attachments of a place, the nearest first.

    The cited page comes before its neighbours, and those before other pages of the section. On one page the
    vertical distance to the cited boxes decides, then reading order, then the id.
    """
    if place.doc_id is None:
        return ()
    entries: dict[str, tuple[Entry, By]] = {}
    if place.page_idx is not None:
        for page_idx in range(place.page_idx - NEIGHBOURS, place.page_idx + NEIGHBOURS + 1):
            for entry in catalogue.by_page.get((place.doc_id, page_idx), ()):
                entries[entry.attachment.attachment_id] = entry, "page"
    if section := section_key(place.section_id):
        for entry in catalogue.by_chapter.get((place.doc_id, section[0]), ()):
            if entry.section[: len(section)] == section:  # or a subsection
                entries[entry.attachment.attachment_id] = entry, "section"
    ordered = sorted(entries.values(), key=lambda item: _nearness(item[0], place))
    return tuple(Attached(entry.attachment, by, _pages_away(entry, place)) for entry, by in ordered)


def _pages_away(entry: Entry, place: CitedPlace) -> int | None:
    if entry.page_idx is None or place.page_idx is None:
        return None
    return abs(entry.page_idx - place.page_idx)


def _nearness(entry: Entry, place: CitedPlace) -> tuple[float | str, ...]:
    """Return the sort key: of two pages at one distance the earlier first, no page or no box last."""
    away, page_idx, box = _pages_away(entry, place), entry.page_idx, entry.box
    gap = 0.0  # points up or down to the nearest of the cited boxes
    if box is not None and away == 0:
        gaps = (max(0.0, rect[1] - box[3], box[1] - rect[3]) for rect in place.rects)
        gap = min(gaps, default=0.0)
    return (
        math.inf if away is None else away,
        math.inf if page_idx is None else page_idx,
        math.inf if box is None else gap,
        *((box[1], box[0]) if box is not None else (math.inf, math.inf)),
        entry.attachment.attachment_id,
    )
