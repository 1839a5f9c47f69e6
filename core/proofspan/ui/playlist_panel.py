"""The Playlist menu of the Walkthrough: which questions it goes through, chosen by filter or by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from proofspan.contracts.records import LABELS
from proofspan.evidence.bundles import Level
from proofspan.services.playlist import Playlist
from proofspan.services.stored_bundles import StoredBundles
from proofspan.ui import safe, words
from proofspan.ui.copying import show_copying
from proofspan.ui.inputs import begin, feed
from proofspan.ui.safe import Piece
from proofspan.ui.state import MAX_REPEATS, ViewState, question_name, read_view, write_view

#: The picker offers so many questions; of a longer list, narrow it by text first.
OFFERED = 500
FULL: tuple[Level, ...] = ("full",)


def playlist_menu(
    view: ViewState, playlist: Playlist, stored: StoredBundles, *, whole: Callable[[], Playlist]
) -> None:
    """The menu; its contents are made only while it is open. `whole` gives the run's whole list."""
    menu = st.popover("Playlist", key="playlist", on_change="rerun", type="tertiary")
    if not menu.open:
        return
    with menu:
        safe.show(safe.text([Piece(sentence(view, playlist))], role="line"))
        _by_filter(view, stored)
        _by_hand(view, whole())
        if view.ids or view.level or view.is_filtered:
            st.button("Back to the whole list", key="playlist-whole", on_click=_whole)
        show_copying("", name="", key="playlist-link")


def sentence(view: ViewState, playlist: Playlist) -> str:
    """What the list holds, in words."""
    count = words.counted(len(playlist), "question")
    if view.ids:
        return f"{count}, chosen by hand"
    described = view.filter.where().sentence
    full = "with full evidence" if view.level == FULL else " or ".join(view.level)
    return ", ".join(part for part in (count, described, full) if part)


def _by_filter(view: ViewState, stored: StoredBundles) -> None:
    st.pills(
        "Labels",
        LABELS,
        selection_mode="multi",
        default=begin("playlist-label", list(view.filter.label)),
        key="playlist-label",
        label_visibility="collapsed",
        on_change=_change_from,
        args=("playlist-label", "label"),
    )
    st.text_input(
        "Search questions and answers",
        begin("playlist-text", view.filter.text) or "",
        key="playlist-text",
        icon=":material/search:",
        placeholder="Search …",
        label_visibility="collapsed",
        on_change=_change_from,
        args=("playlist-text", "text"),
    )
    feed("playlist-full", view.level == FULL)
    st.toggle(
        "Only full evidence",
        key="playlist-full",
        disabled=not stored.levels and not view.level,
        help="Asks the run's stored bundles; without them build some: proofspan bundle build WORKSPACE",
        on_change=_choose_full,
    )


def _by_hand(view: ViewState, whole: Playlist) -> None:
    """Questions by name, in the order in which they are chosen."""
    titles = _titles(whole)
    chosen = [name for name in view.ids if name in titles]
    st.multiselect(
        "Questions",
        list(titles),
        begin("playlist-ids", chosen),
        key="playlist-ids",
        format_func=lambda name: safe.clean(titles.get(name, name)),
        placeholder="Or pick questions …",
        label_visibility="collapsed",
        max_selections=MAX_REPEATS,
        select_all=False,
        on_change=_pick,
    )


def _titles(whole: Playlist) -> Mapping[str, str]:
    """The name of each question that can be picked, and what stands for it in the picker."""
    titles = {}
    for place in range(min(len(whole), OFFERED)):
        stop = whole.at(place)
        name = question_name(stop.key.q_id, stop.key.repeat)
        titles[name] = f"{name[:24]} · {' '.join(stop.q.split())[:90]}"
    return titles


def _change_from(key: str, name: str) -> None:
    value = st.session_state[key]
    _go(read_view().change(**{name: tuple(value) if isinstance(value, list) else value}))


def _choose_full() -> None:
    change = FULL if st.session_state["playlist-full"] else ()
    _go(read_view().change(level=change, ids=()))


def _pick() -> None:
    _go(read_view().change(ids=tuple(st.session_state["playlist-ids"]), level=()))


def _whole() -> None:
    _go(read_view().without_filter())


def _go(view: ViewState) -> None:
    """The list from its first question on."""
    write_view(view.change(q=None, p=0, s=0, cite=None, chunk=None, page=None))
