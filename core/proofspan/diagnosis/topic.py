"""The topic of a question: places of documents, so that failures can be counted by place.

*About* means the places that the gold set names for the question: its sections, else its chunks' places, else
its spans' pages. Where the gold set does not know the question, or names no place for it (as where the
documents hold no answer), it means the place of the candidate at rank 1. A place is a section where one is
known, else a page, else a whole document. Every place comes with those that hold it, so that chapters and
whole documents can be counted by the same column: a section numbered 5.4.1 lies in 5.4, 5 and its document.

A place is one text, which an address and a list can carry: `manual#section=4.2`, `manual#page_idx=41` or just
`manual`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

from proofspan.contracts.records.chunk_id import section_path
from proofspan.contracts.records.records import GoldQuestion
from proofspan.traces.records.chunks import Place, Places
from proofspan.traces.records.trace_record import NOWHERE, place_by_id

#: A longer place fits no address, and is left out.
MAX_CHARS = 1_000
#: The most places that a sentence names.
NAMED = 3

_SECTION, _PAGE = "#section=", "#page_idx="
#: A section that is numbered by steps; of other names nothing says what they lie in.
_NUMBERED = re.compile(r"[^\s.]{1,8}(?:\.[^\s.]{1,8}){1,9}")
_RESERVED = re.compile(r"[%#\x00-\x1f\x7f]")
_VALUE = re.compile(r"(?s)(?P<doc>[^#]*)(?:#section=(?P<section>[^#]+)|#page_idx=(?P<page>[0-9]{1,9}))?")


@dataclass(frozen=True, slots=True)
class About:
    """A place: a section or a 0-based page of a document, or the document alone."""

    doc_id: str | None
    section_id: str | None = None
    page_idx: int | None = None

    @property
    def value(self) -> str:
        """The place as one text; `parse_about` takes it apart again."""
        doc = _escaped(self.doc_id or "")
        if self.section_id is not None:
            return f"{doc}{_SECTION}{_escaped(self.section_id)}"
        return doc if self.page_idx is None else f"{doc}{_PAGE}{self.page_idx}"

    @property
    def words(self) -> str:
        """`section 4.2 of manual`, `PDF page 42 of manual`, `manual`."""
        if self.section_id is None and self.page_idx is None:
            return self.doc_id or "no document"
        of = f" of {self.doc_id}" if self.doc_id else ""
        own = f"section {self.section_id}" if self.page_idx is None else f"PDF page {self.page_idx + 1:,}"
        return own + of


@lru_cache(maxsize=1 << 14)
def outer_sections(section_id: str) -> tuple[str, ...]:
    """Return the sections that contain a section: `5.4` and `5` for `5.4.1`."""
    if _NUMBERED.fullmatch(section_id) is None:
        return ()
    steps = section_id.split(".")
    return tuple(".".join(steps[:depth]) for depth in range(len(steps) - 1, 0, -1))


@lru_cache(maxsize=1 << 14)
def parse_about(value: str) -> About | None:
    """Parse a place, None for another text."""
    match = _VALUE.fullmatch(value)
    if match is None or not value:
        return None
    doc, section, page = match["doc"], match["section"], match["page"]
    return About(
        unquote(doc) or None,
        None if section is None else unquote(section),
        None if page is None else int(page),
    )


def in_words(values: Sequence[str]) -> str:
    """Return places for a sentence: the first few, and how many more."""
    named = [place.words if (place := parse_about(value)) else value for value in values[:NAMED]]
    more = len(values) - NAMED
    return " or ".join([*named, *([f"{more:,} more places"] if more > 0 else [])])


def section_of(place: Place) -> str:
    """Return the section of a place; "" without one, and for a `p042` that only repeats its page."""
    section = (place.section_id or "").strip()
    is_page = place.page_idx is not None and section == section_path(None, place.page_idx + 1)
    return "" if is_page else section


@lru_cache(maxsize=1 << 14)
def about_place(place: Place) -> tuple[str, ...]:
    """Return a place and those that contain it as texts, narrowest first; empty if no place is known.

    A section that only repeats its page is that page.
    """
    doc_id, section = place.doc_id, section_of(place)
    if section:
        found = [About(doc_id, section_id=each) for each in (section, *outer_sections(section))]
    else:
        found = [About(doc_id, page_idx=place.page_idx)]
    values = dict.fromkeys((*(each.value for each in found), _escaped(doc_id or "")))
    return tuple(value for value in values if value and len(value) <= MAX_CHARS)


class GoldPlaces:
    """The places of chunks, and the documents of each section, to find what gold questions are about."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._documents: dict[str, dict[str | None, None]] = {}
        for place in places.values():
            if place.section_id:
                self._documents.setdefault(place.section_id.strip(), {})[place.doc_id] = None

    def about(self, gold: GoldQuestion) -> tuple[str, ...]:
        """Return the places that a gold question is about, empty if it names none.

        A section is in those of the named documents that have it, else in all named ones.
        """
        placed = (self._places.get(chunk_id) or place_by_id(chunk_id) for chunk_id in gold.chunks)
        chunks = [place for place in placed if place is not NOWHERE]
        spans = [Place(span.doc_id, None, span.page_idx) for span in gold.spans]
        named = dict.fromkeys(place.doc_id for place in (*chunks, *spans))
        found: list[Place] = []
        for section in filter(None, map(str.strip, gold.sections)):
            having = self._documents.get(section, {})
            docs = [doc for doc in named if doc in having] or named or having or (None,)
            found += (Place(doc_id, section, None) for doc_id in docs)
        return tuple(
            dict.fromkeys(value for place in found or chunks or spans for value in about_place(place))
        )


def _escaped(text: str) -> str:
    return _RESERVED.sub(lambda found: f"%{ord(found[0]):02X}", text)
