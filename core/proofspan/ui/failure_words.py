"""Where it fails, in words: places, cells and the strip of a run. Pure; nothing here draws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, groupby

from proofspan.services.failures import Area, Cell, FailureMap
from proofspan.ui.strip import Mark, Strip
from proofspan.ui.words import counted

#: So many areas of a shared cell are named, and so many runs of pages of a section.
AREAS_NAMED = 3
RUNS_NAMED = 3


def place_words(area: Area) -> str:
    """`section 4.2 Charging · PDF pages 41–44`; a document has its own name."""
    place = area.place
    if place.page_idx is not None:
        return f"PDF page {place.page_idx + 1:,}"
    if place.section_id is None:
        return area.title or place.doc_id or "no document"
    return " · ".join([f"section {place.section_id} {area.title}".strip(), *_pages(area.pages)])


def area_words(area: Area) -> str:
    """`section 4.2 Charging · PDF pages 41–44 · fails on 7 of 9 questions`."""
    return f"{place_words(area)} · {fails_on(area.failing, area.judged)}"


def fails_on(failing: int, judged: int) -> str:
    """`fails on 7 of 9 questions`."""
    return f"fails on {failing:,} of {counted(judged, 'question')}"


def cell_words(cell: Cell, firsts: Sequence[int]) -> str:
    """The cell's only area, or its pages with what most of its failures are about."""
    if len(cell.areas) == 1:
        return area_words(cell.areas[0])
    told = fails_on(cell.failing, cell.judged)
    named = [f"{_short(area)} ({area.failing:,} of {area.judged:,})" for area in cell.areas[:AREAS_NAMED]]
    more = len(cell.areas) - AREAS_NAMED
    listed = ", ".join([*named, *([f"and {more:,} more"] if more > 0 else [])])
    pages = _pages(range(firsts[cell.at], firsts[cell.at + 1])) if firsts else []
    return " · ".join([*pages, f"{told}: {listed}"])


def failure_strip(shown: FailureMap, *, about: str) -> Strip:
    """The map as a strip; `about` says what its cells are. A cell sends its place among the marked ones."""
    most = max((cell.failing for cell in shown.marked), default=0)
    marks = tuple(
        Mark(
            at=cell.at,
            go=number,
            words=cell_words(cell, shown.firsts),
            heights={"fails": round(cell.failing / most, 3)} if cell.failing else {"fine": 1.0},
        )
        for number, cell in enumerate(shown.marked)
        if cell.judged
    )
    return Strip(f"Where it fails: {about}", about, shown.cells, marks, shown.firsts)


def _short(area: Area) -> str:
    place = area.place
    return f"section {place.section_id}" if place.section_id is not None else place_words(area)


def _pages(pages: Sequence[int]) -> list[str]:
    """`PDF page 42`, `PDF pages 41–44`, `PDF pages 3, 41–44`; of many runs the ends."""
    if not pages:
        return []
    runs = list(_runs(pages))
    if len(runs) > RUNS_NAMED:
        return [f"PDF pages {pages[0] + 1:,} to {pages[-1] + 1:,}, in part"]
    told = [f"{first + 1:,}" if first == last else f"{first + 1:,}–{last + 1:,}" for first, last in runs]
    return [f"PDF page{'' if len(pages) == 1 else 's'} {', '.join(told)}"]


def _runs(pages: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and last of each run of neighbouring pages."""
    steps = count()
    for _, run in groupby(pages, key=lambda page: page - next(steps)):
        found = list(run)
        yield found[0], found[-1]
