"""The filter of a list by what people did with its answers, and how far a person is with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import streamlit as st

from proofspan.display_names import FILTER_NAMES
from proofspan.journal.annotations import Annotations
from proofspan.store.query.filters import REVIEWS, Filter
from proofspan.ui.triage.filters import WIDTH_CHOSEN
from proofspan.ui.visit.author import author
from proofspan.ui.visit.view_state import ViewState, change_view
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.controls import select
from proofspan.ui.widgets.text import sentence_start

MENU = "facet-review"


def is_open() -> bool:
    """Return whether the menu is open: it asks for the rows that are chosen."""
    return bool(st.session_state.get(MENU))


def review_menu(
    view: ViewState, known: Annotations, *, matching: Callable[[Filter], int], bulk: Callable[[], None]
) -> None:
    """Draw the menu: which answers, by whom they were looked at, and to whom they are assigned.

    `matching` counts the answers of a filter, `bulk` draws what can be saved for all of them.
    """
    shown = view.filter
    chosen = [REVIEWS[shown.review]] if shown.review else []
    chosen += [f"assigned to {shown.assigned}"] if shown.assigned else []
    title = FILTER_NAMES["review"]
    if chosen:
        title = f"{title}: **{markup.label(', '.join(chosen), limit=40)}**"
    menu = st.popover(title, key=MENU, on_change="rerun", width="content")
    if not menu.open:
        return
    base = replace(shown, review="")
    with menu:
        names: dict[str, str] = {
            each: f"{sentence_start(words)} · {matching(replace(base, review=each)):,}"
            for each, words in REVIEWS.items()
        }
        _one_of("review", "Answers", names, shown.review, reviewer=shown.reviewer or author())
        people = dict.fromkeys(filter(None, (author(), *known.authors, shown.reviewer)))
        if shown.review not in ("", "disputed"):
            _one_of("reviewer", "Looked at by", {each: each for each in people}, shown.reviewer)
        assignees = dict.fromkeys(filter(None, (*sorted({*known.assignees.values()}), shown.assigned)))
        if assignees:
            _one_of("assigned", "Assigned to", {each: each for each in assignees}, shown.assigned)
        bulk()


def progress_line(view: ViewState, *, matching: Callable[[Filter], int]) -> None:
    """Draw how many of the list's answers this person has looked at; nothing before there is a name."""
    if not author():
        return
    base = replace(view.filter, review="", reviewer=author())
    seen, whole = matching(replace(base, review="seen")), matching(base)
    markup.note(f"{seen:,} of {whole:,} looked at by you", "muted", width="content")


def _one_of(name: str, title: str, names: Mapping[str, str], chosen: str, **more: str) -> None:
    """Draw a choice of one value or none; choosing one sets `more` as well."""

    def choose(value: str | None) -> None:
        st.session_state[MENU] = True  # its button names what is chosen, which makes it another one
        change_view(**{name: value or ""}, **(more if value else {}))

    select(
        title,
        names,
        chosen or None,
        key=f"filter-{name}",
        placeholder="any" if name != "reviewer" else "anybody",
        is_clearable=True,
        shows_words=True,
        width=WIDTH_CHOSEN,
        on_choose=choose,
    )
