"""The chunks that are relevant to a gold question, from the question and the places of all chunks.

*Where a candidate has to lie* to be the gold one: in a gold section. The sections are those that the
question names; where it names none, those of its gold chunks. A gold chunk without a section counts
by itself, and gold that names only spans by their pages. Sections are compared by their steps
(`proofspan.contracts.records.names`) and are equal or not: 5.4.1 is another section than 5.4. Only where
5.4 has no chunk of its own, being a title over 5.4.1 and 5.4.2, is everything in these in it. A section of
one document is not that of another: if a document of the gold's chunks or spans has the section, a
candidate has to lie there. Where the chunk file has none of the named sections, the gold chunks count
beside them, else the spans' pages.

*Which chunks are relevant*, for recall, nDCG and MRR: the gold chunks, else all chunks of the gold sections,
else all chunks on the gold pages. Gold sections (pages) that a chunk file with sections (pages) does not have
are missed by every trace. Only if the file has none at all, it is unknown how much there was to find.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from proofspan.contracts.records.names import SectionKey, section_key
from proofspan.contracts.records.records import GoldQuestion
from proofspan.diagnosis.topic import section_of
from proofspan.traces.records.chunks import Place, Places
from proofspan.traces.records.trace_record import place_by_id

#: Why the ranking metrics leave a trace out.
Unranked = Literal["no_gold", "unanswerable", "gold_unplaced", "no_candidates", "unplaced"]
#: A page of a document.
Page = tuple[str | None, int]
#: A section of a document, None where it may be any.
Section = tuple[str | None, SectionKey]
#: Section → the documents that it lies in.
Sections = Mapping[SectionKey, frozenset[str | None]]

NONE: frozenset[str] = frozenset()
NOWHERE: Mapping[Section, set[str]] = {}


@dataclass(frozen=True, slots=True)
class Relevance:
    """The gold to find in a trace's lists. A candidate is the gold one by its section, page or id.

    `unranked` says why there is nothing to look for. `relevant` are the relevant chunks, empty where none is
    known; `extent` are all chunks of the gold sections, else of the gold pages, empty where the chunk file
    has none. `grades` are the relevances of relevant chunks above 1. `is_absent`: it knows sections (pages)
    and none of these, so that who finds nothing missed it.
    """

    unranked: Unranked | None = None
    sections: Sections = field(default_factory=dict)
    pages: frozenset[Page] = frozenset()
    ids: frozenset[str] = NONE
    relevant: frozenset[str] = NONE
    extent: frozenset[str] = NONE
    is_absent: bool = False
    grades: Mapping[str, int] = field(default_factory=dict)

    @property
    def best_gains(self) -> tuple[int, ...]:
        """Return the grades of the relevant chunks, the best first; () where all are 1."""
        if not self.grades:
            return ()
        return tuple(sorted((self.grades.get(each, 1) for each in self.relevant), reverse=True))

    def has(self, chunk_id: str, place: Place) -> bool:
        """Whether a candidate is the gold one."""
        if place.section_id is not None and lies_in(
            self.sections, section_key(place.section_id), place.doc_id
        ):
            return True
        return chunk_id in self.ids or (place.doc_id, place.page_idx) in self.pages

    def rules_out(self, chunk_id: str, section_id: object) -> bool:
        """Return whether a candidate's own id and section rule it out as the gold one.

        This is the quickest check, and it is enough for most candidates.
        """
        if self.pages or chunk_id in self.ids or type(section_id) is not str or not section_id:
            return False
        return not self.sections or section_key(section_id) not in self.sections


def lies_in(sections: Sections, key: SectionKey, doc_id: str | None) -> bool:
    """Whether a section of a document is one of these."""
    docs = sections.get(key)
    return docs is not None and (doc_id in docs or None in docs)


class GoldCorpus:
    """Where the chunks lie that gold questions ask for: one pass over the places of the chunk file."""

    def __init__(self, questions: Collection[GoldQuestion], places: Places) -> None:
        self._places = places
        self._inside: dict[SectionKey, dict[Section, set[str]]] = {}
        self._on_page: dict[Page, set[str]] = {page: set() for gold in questions for page in _pages(gold)}
        wanted = {key for gold in questions for _, key in self._named(gold)}
        self._has_sections = any(map(section_of, places.values()))
        self._has_pages = any(place.page_idx is not None for place in places.values())
        lengths = sorted({len(key) for key in wanted})
        for chunk_id, place in places.items() if wanted or self._on_page else ():
            key = section_key(place.section_id)
            for length in lengths:
                if length <= len(key) and (outer := key[:length]) in wanted:
                    at = self._inside.setdefault(outer, defaultdict(set))
                    at[place.doc_id, key].add(chunk_id)
            if place.page_idx is not None and (page := (place.doc_id, place.page_idx)) in self._on_page:
                self._on_page[page].add(chunk_id)

    def relevance(self, gold: GoldQuestion) -> Relevance:
        """Return the relevance of a question."""
        found = self._ungraded(gold)
        grades = {each: grade for each, grade in gold.grades.items() if grade > 1 and each in found.relevant}
        return replace(found, grades=grades) if grades else found

    def _ungraded(self, gold: GoldQuestion) -> Relevance:
        if not gold.answerable:
            return Relevance("unanswerable")
        ids = frozenset(gold.chunks)
        if lying := self._named_lying(gold):
            sections = _sections(at for each in lying for at in each)
            extent = NONE.union(*(held for each in lying for held in each.values()))
            if extent:
                return Relevance(None, sections, relevant=ids or extent, extent=extent)
            return Relevance(None, sections, ids=ids, relevant=ids) if ids else self._by_pages(gold, sections)
        if not ids:
            return self._by_pages(gold, {})
        named = self._named(gold)
        extent = NONE.union(*(self._inside.get(at[1], NOWHERE).get(at, NONE) for at in named))
        bare = frozenset(chunk_id for chunk_id in ids if self._section_of(chunk_id) is None)
        return Relevance(None, _sections(named), ids=bare, relevant=ids, extent=extent)

    def named_sections(self, gold: GoldQuestion) -> list[Sections]:
        """Return each section that a question names, as the sections and documents where it lies."""
        return [_sections(lying) for lying in self._named_lying(gold)]

    def place(self, chunk_id: str) -> Place:
        """Return where a chunk lies, by its id if the chunk file does not have it."""
        return self._places.get(chunk_id) or place_by_id(chunk_id)

    def _named(self, gold: GoldQuestion) -> set[Section]:
        """Return the sections that a question names, else those of its chunks, with their documents."""
        found: set[Section] = {(None, key) for section in gold.sections if (key := section_key(section))}
        return found or {at for chunk_id in gold.chunks if (at := self._section_of(chunk_id))}

    def _section_of(self, chunk_id: str) -> Section | None:
        place = self.place(chunk_id)
        key = section_key(section_of(place))
        return (place.doc_id, key) if key else None

    def _by_pages(self, gold: GoldQuestion, sections: Sections) -> Relevance:
        pages = _pages(gold)
        if not (pages or sections):
            return Relevance("gold_unplaced")
        extent = NONE.union(*(self._on_page[page] for page in pages))
        is_absent = not extent and (self._has_pages if pages else self._has_sections)
        return Relevance(None, sections, pages, relevant=extent, extent=extent, is_absent=is_absent)

    def _named_lying(self, gold: GoldQuestion) -> list[Mapping[Section, set[str]]]:
        """Return where each named section lies, with its chunks; in the named documents if one has it."""
        docs = {span.doc_id for span in gold.spans} | {self.place(each).doc_id for each in gold.chunks}
        lying: list[Mapping[Section, set[str]]] = []
        for key in dict.fromkeys(filter(None, map(section_key, gold.sections))):
            held = self._inside.get(key, NOWHERE)
            here = {at: ids for at, ids in held.items() if at[0] in docs}
            near = here or held
            exact = {at: ids for at, ids in near.items() if at[1] == key} or near
            anywhere: dict[Section, set[str]] = defaultdict(set, {(None, key): set()} if not exact else {})
            for (_, inner), ids in exact.items():
                anywhere[None, inner] |= ids
            lying.append(exact if here else anywhere)
        return lying


def _pages(gold: GoldQuestion) -> frozenset[Page]:
    return frozenset((span.doc_id, span.page_idx) for span in gold.spans if span.page_idx is not None)


def _sections(places: Iterable[Section]) -> Sections:
    docs: dict[SectionKey, set[str | None]] = defaultdict(set)
    for doc_id, key in places:
        docs[key].add(doc_id)
    return {key: frozenset(each) for key, each in docs.items()}
