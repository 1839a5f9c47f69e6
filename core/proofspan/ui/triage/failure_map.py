"""Where a run fails: a strip of the chosen document's pages, and the worst places in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count, groupby

import streamlit as st

from proofspan.contracts.records.chunk_id import sha1_8
from proofspan.diagnosis.topic import About
from proofspan.services.health.failure_map import (
    Area,
    Cell,
    FailureMap,
    Sections,
    Tally,
    Titles,
    documents,
    failure_map,
)
from proofspan.store.files.types import FailureCount
from proofspan.ui.viewer.strip import Mark, Strip, draw_strip
from proofspan.ui.visit.view_state import ViewState, change_view
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.controls import select
from proofspan.wording import Labels, counted, page_words, with_printed

#: In the address: all documents, each a cell, instead of one.
ALL = "*"
#: How many of the worst places are listed below the strip.
WORST = 4
#: How many documents can be chosen, those with the most failures.
OFFERED = 200

_ABOUT = " A question is about its gold sections, else about the section at rank 1."
#: When a question fails: with verdicts, and before.
_BY_CAUSE = "A question fails when a cause of failure was found: any but “No failure found”."
_BY_LABEL = (
    "Where the gold set knows a question, it fails when its gold passage is not cited, or when it is "
    "answered though the documents hold no answer; elsewhere by its label: a drift, or a suspect refusal."
)


def show_failures(
    by_document: Sequence[FailureCount],
    view: ViewState,
    *,
    within: Callable[[str], Sequence[FailureCount]],
    sections: Sections,
    titles: Titles,
    unpaged: frozenset[str],
    is_judged: bool,
    labels: Labels,
) -> None:
    """Draw the strip with its document, and the worst places below; nothing without judged questions.

    `by_document` are the counts of a list's failures, by cause where it `is_judged`; `within` returns those
    about a document by section and page. The rest describes these places; `labels` name their pages.
    """
    failing, judged = sum(each.failing for each in by_document), sum(each.judged for each in by_document)
    if not judged:
        return
    whole = Tally(by_document)
    asked = documents(whole, titles)
    where = chosen_document(asked, sections, view.where)
    with st.container(border=True, key="failures", gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", key="failures-head"):
            message = f"  {failing:,} of {counted(judged, 'question')}"
            tip = (_BY_CAUSE if is_judged else _BY_LABEL) + _ABOUT
            markup.titled("Where it fails", message, tip=tip, width="content")
            if len(asked) > 1:
                st.space("stretch")
                options: dict[str | None, str] = {ALL: f"All documents · {len(asked):,} asked about"}
                for area in asked[:OFFERED]:
                    words = f"{place_words(area)} · {area.failing:,} of {area.judged:,} fail"
                    options[area.place.doc_id or ""] = words
                # A browser keeps the words of what is chosen: where they change, so does the widget.
                key, chosen = f"failures-where:{sha1_8(repr(options))}", ALL if where is None else where
                select(
                    "Document",
                    options if chosen in options else {**options, chosen: chosen},
                    chosen,
                    key=key,
                    width=330,
                    on_choose=lambda where: change_view(where=where),
                )
        tally = whole if where is None else Tally(within(About(where).value))
        shown = failure_map(tally, sections, doc_id=where, titles=titles, unpaged=unpaged, by_document=whole)

        def open_cell(number: int) -> None:
            if 0 <= number < len(shown.marked):
                cell = shown.marked[number]
                change_view(about=cell.values, fails=True if cell.failing else None)

        if where is None:
            each = "a cell each" if shown.cells >= len(titles) else "some to a cell"
            about = f"{counted(len(titles), 'document')}, {each}; the higher a bar, the more questions fail"
        else:
            name = titles.get(where) or where
            about = f"{'pages' if shown.firsts else 'sections'} of {name}; "
            about += "the higher a bar, the more questions fail there"
        draw_strip(
            failure_strip(shown, about=about, labels=labels(where)), key="failure-strip", on_go=open_cell
        )
        failed = [area for area in shown.areas if area.failing]
        with st.container(key="failure-list", gap="xxsmall"):  # so that nothing depends on a pointer
            for number, area in enumerate(failed[:WORST]):
                st.button(
                    markup.label(with_printed(area_words(area), labels(area.place.doc_id)), limit=140),
                    key=f"failure-{number}",
                    type="tertiary",
                    on_click=change_view,
                    kwargs={"about": (area.value,), "fails": True},
                )
        if not failed:
            markup.note("No question of this list fails here.", "muted")


def chosen_document(asked: Sequence[Area], sections: Sections, where: str | None) -> str | None:
    """Return the address's document, else the one with the most failures; None means all of them.

    All as well where the worst one has no sections: most documents are then asked about once, and a strip of
    one says little.
    """
    names = [area.place.doc_id for area in asked]
    if where in names:
        return where
    if where == ALL or not names:
        return None
    has_sections = any(doc_id == names[0] for doc_id, _ in sections)
    return names[0] if has_sections or len(names) == 1 else None


# Where it fails, in words: places, cells and the strip of a run. Pure; nothing here draws.

#: The most areas of a shared cell, and runs of pages of a section, that are named.
AREAS_NAMED = 3
RUNS_NAMED = 3


def place_words(area: Area) -> str:
    """Return `section 4.2 Charging · PDF pages 41–44`, or a document's name."""
    place = area.place
    if place.page_idx is not None:
        return page_words(place.page_idx)
    if place.section_id is None:
        return area.title or place.doc_id or "no document"
    return " · ".join([f"section {place.section_id} {area.title}".strip(), *_pages(area.pages)])


def area_words(area: Area) -> str:
    """Return `section 4.2 Charging · PDF pages 41–44 · fails on 7 of 9 questions`."""
    return f"{place_words(area)} · {fails_on(area.failing, area.judged)}"


def fails_on(failing: int, judged: int) -> str:
    """Return `fails on 7 of 9 questions`."""
    return f"fails on {failing:,} of {counted(judged, 'question')}"


def cell_words(cell: Cell, firsts: Sequence[int]) -> str:
    """Return the cell's only area, or its pages with the area of most of its failures."""
    if len(cell.areas) == 1:
        return area_words(cell.areas[0])
    message = fails_on(cell.failing, cell.judged)
    named = []
    for area in cell.areas[:AREAS_NAMED]:
        section = area.place.section_id
        place = f"section {section}" if section is not None else place_words(area)
        named.append(f"{place} ({area.failing:,} of {area.judged:,})")
    more = len(cell.areas) - AREAS_NAMED
    listed = ", ".join([*named, *([f"and {more:,} more"] if more > 0 else [])])
    pages = _pages(range(firsts[cell.at], firsts[cell.at + 1])) if firsts else []
    return " · ".join([*pages, f"{message}: {listed}"])


def failure_strip(shown: FailureMap, *, about: str, labels: Sequence[str] = ()) -> Strip:
    """Return the map as a strip; `about` says what its cells are, `labels` are the printed numbers of its
    document's pages. A cell sends its place among the marked ones.
    """
    most = max((cell.failing for cell in shown.marked), default=0)
    marks = tuple(
        Mark(
            at=cell.at,
            go=number,
            words=with_printed(cell_words(cell, shown.firsts), labels),
            heights={"fails": round(cell.failing / most, 3)} if cell.failing else {"fine": 1.0},
        )
        for number, cell in enumerate(shown.marked)
        if cell.judged
    )
    return Strip(f"Where it fails: {about}", about, shown.cells, marks, shown.firsts, labels=labels)


def _pages(pages: Sequence[int]) -> list[str]:
    """Return `PDF page 42`, `PDF pages 41–44`, `PDF pages 3, 41–44`; of many runs the ends."""
    if not pages:
        return []
    steps = count()
    neighbours = [list(run) for _, run in groupby(pages, key=lambda page: page - next(steps))]
    if len(neighbours) > RUNS_NAMED:
        return [f"PDF pages {pages[0] + 1:,} to {pages[-1] + 1:,}, in part"]
    words = [f"{run[0] + 1:,}" if len(run) == 1 else f"{run[0] + 1:,}–{run[-1] + 1:,}" for run in neighbours]
    return [f"PDF page{'' if len(pages) == 1 else 's'} {', '.join(words)}"]
