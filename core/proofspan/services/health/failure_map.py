"""Where a run fails: its questions by section, page and document, laid out as the cells of a strip.

Counted are the questions of a list, by what they are about (`proofspan.diagnosis.topic`), and of those that
can be judged, those that fail (`proofspan.store.query.filters.FAILS`). A number here is always the length
of the list that its places open: a question that is about two sections of one cell counts once in it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from proofspan.contracts.records.field_values import text_of
from proofspan.contracts.records.records import Chunk
from proofspan.diagnosis.topic import About, outer_sections, parse_about, section_of
from proofspan.services.page.strip_marks import cell_firsts, cell_of
from proofspan.store.files.types import FailureCount
from proofspan.traces.records.chunks import place_of

#: The most places that open together, as each is a part of the address.
MOST_PLACES = 50
#: The fewest questions per place, on average, for comparing places.
ENOUGH = 3
#: The length at which a section's title is cut.
MAX_TITLE = 60


@dataclass(slots=True)
class Section:
    """A section: its 0-based pages in order (none in a text), its title, its position in the file.

    `has_chunks` is False for one that only holds other sections.
    """

    pages: tuple[int, ...] = ()
    title: str = ""
    order: int = 0
    has_chunks: bool = True


#: A section that the chunk file does not have.
NOWHERE = Section()
#: Documents of the manifest in its order → their titles, "" where they have none.
Titles = Mapping[str, str]
#: (doc_id, section_id)
Place = tuple[str | None, str]
#: The sections as the chunk file has them.
Sections = Mapping[Place, Section]


@dataclass(frozen=True, slots=True)
class Area:
    """A place that questions are about: how many can be judged, and how many of them fail.

    `value` is the place as a filter names it. `pages` are 0-based.
    """

    place: About
    value: str
    judged: int
    failing: int
    title: str = ""
    pages: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of the strip with its areas, worst first, and what their list holds."""

    at: int
    areas: tuple[Area, ...]
    judged: int
    failing: int

    @property
    def values(self) -> tuple[str, ...]:
        """The places of its areas, as a filter names them."""
        return tuple(area.value for area in self.areas)


@dataclass(frozen=True, slots=True)
class FailureMap:
    """A strip of one document, or of all (`doc_id` None): its marked cells, and its areas, worst first.

    Cells show the narrowest places; `areas` are the chapters, where most of those were asked about but once.
    `firsts` is the first page of every cell and, last, the number of pages; empty where cells are no pages.
    """

    doc_id: str | None
    cells: int
    marked: tuple[Cell, ...]
    areas: tuple[Area, ...]
    firsts: tuple[int, ...] = ()


def section_map(chunks: Iterable[Chunk], *, unpaged: Container[str] = ()) -> dict[Place, Section]:
    """Every section of a chunk file and those that hold it, with their pages and the first title given.

    A page in an `unpaged` document means nothing.
    """
    found: dict[Place, Section] = {}
    pages: defaultdict[Place, set[int]] = defaultdict(set)
    for chunk in chunks:
        doc_id, _, page_idx = place = place_of(chunk)
        if not (own := section_of(place)):
            continue
        names = (own, *outer_sections(own))
        # A chunk gives its section a title, and those that hold it where it names one for each step.
        path = chunk.raw.get("title_path")
        steps = [text_of(step) or "" for step in path] if isinstance(path, list) else []
        titles = dict(zip(reversed(names), steps, strict=True)) if len(steps) == len(names) else {}
        titles[own] = text_of(chunk.raw.get("section_title")) or titles.get(own, "")
        for name in names:
            section = found.setdefault((doc_id, name), Section(order=len(found), has_chunks=False))
            section.has_chunks |= name == own
            section.title = section.title or titles.get(name, "")[:MAX_TITLE]
            if page_idx is not None and doc_id not in unpaged:
                pages[doc_id, name].add(page_idx)
    for key, each in pages.items():
        found[key].pages = tuple(sorted(each))
    return found


def failure_map(
    tally: Tally,
    sections: Sections,
    *,
    doc_id: str | None,
    titles: Titles,
    unpaged: Container[str] = (),
    by_document: Tally | None = None,
) -> FailureMap:
    """The strip of a document; of all documents in the order of `titles`, where `doc_id` is None or has none.

    `by_document` counts all documents where `tally` is of questions about this one alone. The strip's cells
    are the pages that the chunk file and the questions name; without pages, its sections in the order of the
    chunk file.
    """
    own = {key[1]: section for key, section in sections.items() if key[0] == doc_id}
    is_paged = doc_id not in unpaged
    areas = [
        _area(place, tally, own.get(place.section_id or "", NOWHERE))
        for place in tally.places()
        if place.doc_id == doc_id
        and (place.section_id is not None or (is_paged and place.page_idx is not None))
    ]
    last = None
    if doc_id is None or not areas:
        doc_id, tally = None, by_document or tally
        narrow = documents(tally, titles)
        worst = narrow
        places = [About(name) for name in titles]
    else:
        narrow = tuple(area for area in areas if area.value in tally.narrowest)
        worst = _at_one_level(areas, narrow)
        pages = [*(section.pages for section in own.values()), *(area.pages for area in areas)]
        last = max((page for some in pages for page in some), default=None)
        with_chunks = [name for name in own if own[name].has_chunks]
        places = [About(doc_id, name) for name in sorted(with_chunks, key=lambda name: own[name].order)]
    # The positions on the strip: pages, else one of each place, those that only the questions name last.
    names = dict.fromkeys([*(place.value for place in places), *(area.value for area in narrow)])
    slots: dict[str, tuple[int, ...]] = {value: (at,) for at, value in enumerate(names)}
    size = len(names)
    if last is not None:
        size, slots = last + 1, {area.value: area.pages for area in narrow}
    shared: dict[int, list[Area]] = defaultdict(list)
    for area in narrow:
        for at in {cell_of(slot, size) for slot in slots[area.value]}:
            shared[at].append(area)
    marked = []
    for at in sorted(shared):
        listed = tuple(sorted(shared[at], key=_worst_first)[:MOST_PLACES])
        marked.append(Cell(at, listed, *tally.of(area.value for area in listed)))
    firsts = cell_firsts(size)
    return FailureMap(doc_id, len(firsts) - 1, tuple(marked), worst, () if last is None else firsts)


def _at_one_level(areas: Sequence[Area], narrow: Sequence[Area]) -> tuple[Area, ...]:
    """Return the narrowest places with `ENOUGH` questions each on average, worst first.

    A level has the sections numbered with that many steps, and narrower places with fewer steps.
    """

    def depth(area: Area) -> int:
        return 1 + len(outer_sections(area.place.section_id or ""))

    for level in range(max(map(depth, narrow), default=1), 0, -1):
        chosen = [area for area in areas if depth(area) == level]
        chosen += [area for area in narrow if depth(area) < level]
        if level == 1 or sum(area.judged for area in chosen) >= ENOUGH * len(chosen):
            return tuple(sorted(chosen, key=_worst_first))
    return ()


def documents(tally: Tally, titles: Titles) -> tuple[Area, ...]:
    """Whole documents, those with the most failures first."""
    whole = (place for place in tally.places() if place.section_id is None and place.page_idx is None)
    found = (_area(place, tally, title=titles.get(place.doc_id or "", "")) for place in whole)
    return tuple(sorted(found, key=_worst_first))


def _area(place: About, tally: Tally, section: Section = NOWHERE, *, title: str = "") -> Area:
    value = place.value
    pages = section.pages if place.page_idx is None else (place.page_idx,)
    return Area(place, value, *tally.of([value]), title or section.title, pages)


def _worst_first(area: Area) -> tuple[int, int, bool, tuple[int, ...], str]:
    """Most failures first, of as many the larger share, then the earlier page; without one last."""
    return (-area.failing, area.judged, not area.pages, area.pages[:1], area.value)


class Tally:
    """Counts by place; places together count each question once."""

    def __init__(self, counts: Sequence[FailureCount]) -> None:
        self._counts = counts
        self._rows: dict[str, list[int]] = defaultdict(list)
        for row, count in enumerate(counts):
            for value in count.about:
                self._rows[value].append(row)
        #: The places that some question is about and that hold no other one that it is about.
        self.narrowest = {
            value for count in counts for value in set(count.about).difference(*map(_holding, count.about))
        }

    def places(self) -> Iterator[About]:
        """Every place that any question is about."""
        return (place for value in self._rows if (place := parse_about(value)))

    def of(self, values: Iterable[str]) -> tuple[int, int]:
        """Of the questions about any of these places: how many can be judged, how many fail."""
        rows = {row for value in values for row in self._rows.get(value, ())}
        return sum(self._counts[row].judged for row in rows), sum(self._counts[row].failing for row in rows)


@lru_cache(maxsize=1 << 14)
def _holding(value: str) -> tuple[str, ...]:
    place = parse_about(value)
    outer = outer_sections(place.section_id or "") if place else ()
    return tuple(About(place.doc_id, section).value for section in outer) if place else ()
