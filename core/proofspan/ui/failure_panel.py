"""Where a run fails: a strip of the chosen document's pages, and the worst places in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from proofspan.contracts.chunk_ids import sha1_8
from proofspan.services.failures import Area, FailureMap, Sections, Titles, documents, failure_map
from proofspan.store.types import FailureCount
from proofspan.ui import safe
from proofspan.ui.failure_words import area_words, failure_strip, place_words
from proofspan.ui.inputs import feed
from proofspan.ui.safe import Piece
from proofspan.ui.state import ViewState, change_view
from proofspan.ui.strip import draw_strip
from proofspan.ui.words import counted

#: In the address: all documents, each a cell, instead of one.
ALL = "*"
#: So many of the worst places stand below the strip in words.
WORST = 4
#: So many documents can be chosen, those with the most failures.
OFFERED = 200

_HELP = (
    "Where the gold set knows a question, it fails when its gold passage is not cited, or when it is "
    "answered though the documents hold no answer; elsewhere by its label: a drift, or a suspect refusal. "
    "A question is about its gold sections, else about the section at rank 1."
)


@dataclass(frozen=True, slots=True)
class Failures:
    """What is known of a list's failures."""

    counts: Sequence[FailureCount]
    sections: Sections
    titles: Titles
    unpaged: frozenset[str] = frozenset()


def show_failures(known: Failures, view: ViewState) -> None:
    """The strip with its document, and the worst places below; nothing where no question can be judged."""
    failing = sum(count.failing for count in known.counts)
    judged = sum(count.judged for count in known.counts)
    if not judged:
        return
    asked = documents(known.counts, known.titles)
    where = chosen_document(asked, known.sections, view.where)
    with st.container(border=True, key="failures", gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", key="failures-head"):
            told = f"  {failing:,} of {counted(judged, 'question')}"
            heading = [Piece("Where it fails", "strong"), Piece(told, "muted", _HELP)]
            safe.show(safe.text(heading, role="line"), width="content")
            if len(asked) > 1:
                st.space("stretch")
                _choice(asked, where)
        shown = failure_map(
            known.counts, known.sections, doc_id=where, titles=known.titles, unpaged=known.unpaged
        )
        draw_strip(
            failure_strip(shown, about=_about(shown, known.titles)),
            key="failure-strip",
            on_go=partial(_open_cell, shown),
        )
        _worst(shown)


def chosen_document(asked: Sequence[Area], sections: Sections, where: str | None) -> str | None:
    """The document that the address names, else the one with the most failures; None means all of them.

    All as well where the worst one has no sections: there most documents are asked about once, and its pages
    would say little.
    """
    names = [area.place.doc_id for area in asked]
    if where in names:
        return where
    if where == ALL or not names:
        return None
    has_sections = any(doc_id == names[0] for doc_id, _ in sections)
    return names[0] if has_sections or len(names) == 1 else None


def _choice(asked: Sequence[Area], where: str | None) -> None:
    """Which document's strip is shown, those with the most failures first."""
    options: dict[str | None, str] = {ALL: f"All documents · {len(asked):,} asked about"}
    for area in asked[:OFFERED]:
        options[area.place.doc_id or ""] = f"{place_words(area)} · {area.failing:,} of {area.judged:,} fail"
    chosen = ALL if where is None else where
    # A browser keeps the words of what is chosen: where they change, so does the widget.
    key = f"failures-where:{sha1_8(repr(options))}"
    feed(key, chosen)
    st.selectbox(
        "Document",
        [*options, *([] if chosen in options else [chosen])],
        key=key,
        format_func=lambda value: safe.clean(options.get(value) or str(value)),
        label_visibility="collapsed",
        width=330,
        on_change=lambda: change_view(where=st.session_state[key]),
    )


def _about(shown: FailureMap, titles: Titles) -> str:
    """What the cells are, before any of them is looked at."""
    name = titles.get(shown.doc_id or "") or shown.doc_id
    if shown.doc_id is None:
        each = "a cell each" if shown.cells >= len(titles) else "some to a cell"
        return f"{counted(len(titles), 'document')}, {each}; the higher a bar, the more questions fail"
    what = "pages" if shown.firsts else "sections"
    return f"{what} of {name}; the higher a bar, the more questions fail there"


def _open_cell(shown: FailureMap, number: int) -> None:
    """Shows the questions that a cell counts."""
    if 0 <= number < len(shown.marked):
        cell = shown.marked[number]
        change_view(about=cell.values, fails=True if cell.failing else None)


def _worst(shown: FailureMap) -> None:
    """The worst places as buttons, so that nothing depends on a pointer."""
    failing = [area for area in shown.areas if area.failing]
    with st.container(key="failure-list", gap="xxsmall"):
        for number, area in enumerate(failing[:WORST]):
            st.button(
                safe.label(area_words(area), limit=140),
                key=f"failure-{number}",
                type="tertiary",
                on_click=change_view,
                kwargs={"about": (area.value,), "fails": True},
            )
    if not failing:
        safe.show(safe.text([Piece("No question of this list fails here.", "muted")], role="hint"))
