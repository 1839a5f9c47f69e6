"""The running log: check-ins with the notes on them, checkpoints, and a search over every entry."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import groupby

import streamlit as st

from proofspan.journal.sprint import SprintEntry
from proofspan.ui.sprint.entries import Shown, reveal, show_entry
from proofspan.ui.sprint.load import authors, days
from proofspan.ui.sprint.words import KIND_NAMES, day_in_words, day_of
from proofspan.ui.visit.view_state import ViewState, change_view, toggle_view
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.controls import line, panel, search_field, select, toggle_button
from proofspan.ui.widgets.text import shortened
from proofspan.wording import counted

#: Entries on a page.
A_PAGE = 20


def log_panel(shown: Shown) -> None:
    """Draw the entries that the address asks for by day, the newest first, a page at a time."""
    sprint, view = shown.sprint, shown.view
    about = "Check-ins as they were given, notes on them, and checkpoints. The newest first, times in UTC."
    with panel("log", "Running log", about):
        if not sprint.entries:
            markup.note("Nothing is written yet.", role="line")
            return
        _filters(shown)
        found = sprint.logged(view)
        pages = max(1, -(-len(found) // A_PAGE))
        leaf = _leaf_of(found, view, pages)
        if not found:
            markup.note("No entry is like that.", role="line")
        for day, entries in groupby(found[(leaf - 1) * A_PAGE : leaf * A_PAGE], key=day_of):
            markup.note(day_in_words(day), "h3", role="heading")
            for entry in entries:
                show_entry(entry, shown, place="log")
        if (view.item or "").startswith("entry:"):
            reveal("opened", view.item or "")
        if pages > 1:
            _pages(leaf, pages, len(found))


def _leaf_of(found: Sequence[SprintEntry], view: ViewState, pages: int) -> int:
    """Return the page of the entries that is shown: the address's, or that of the open entry."""
    if view.leaf == 1:
        for number, entry in enumerate(found):
            if view.item == f"entry:{entry.entry_id}":
                return number // A_PAGE + 1
    return min(view.leaf, pages)


def _filters(shown: Shown) -> None:
    sprint, view = shown.sprint, shown.view
    entries = list(sprint.entries.values())
    with st.container(horizontal=True, vertical_alignment="center", key="log-filters"):
        search_field(
            "Search all entries",
            key="log-find",
            value=view.find,
            placeholder="Search all entries",
            width=240,
            on_search=lambda words: change_view(find=words.strip(), leaf=1),
        )
        names = {day: f"{day_in_words(day)} ({count:,})" for day, count in days(entries).items()}
        _choice("day", "Any day", names, view.day)
        wrote = authors(entries)
        if len(wrote) > 1 or view.author:
            _choice("author", "Anyone", {name: shortened(name, 40) for name in wrote}, view.author)
    kinds = [kind for kind in KIND_NAMES if any(entry.kind == kind for entry in entries)]
    if len(kinds) > 1:
        with line("kinds"):
            markup.note("Kind", "muted", width="content")
            for kind in kinds:
                toggle_button(
                    KIND_NAMES[kind],
                    key=f"kind-{kind}",
                    help="Without a choice: check-ins, notes and checkpoints; in a search, all",
                    is_on=kind in view.kind,
                    on_click=partial(toggle_view, "kind", kind, leaf=1),
                )


def _choice(field: str, words: str, names: dict[str, str], chosen: str | None) -> None:
    select(
        words,
        names,
        chosen if chosen in names else None,
        key=f"log-{field}",
        placeholder=words,
        is_clearable=True,
        width=230 if field == "day" else 170,
        on_choose=lambda value: change_view(**{field: value}, leaf=1),
    )


def _pages(leaf: int, pages: int, total: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="log-pages"):
        for title, to in (("← Newer", leaf - 1), ("Older →", leaf + 1)):
            st.button(
                title,
                key=f"log-page-{title}",
                disabled=not 1 <= to <= pages,
                on_click=change_view,
                kwargs={"leaf": to, "item": None},
            )
        words = f"Page {leaf:,} of {pages:,} · {counted(total, 'entry', 'entries')}"
        markup.note(words, "muted", width="content")
