"""Where a walkthrough is: which question of which list, in the URL's words, and what a press changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from proofspan.contracts.records.records import TraceKey
from proofspan.services.bundles.walkthrough import Playlist, Scene, Stop
from proofspan.store.query.store import Store
from proofspan.ui.visit import session
from proofspan.ui.visit.view_state import ViewState, change_view, question_name, read_view, write_view
from proofspan.ui.walkthrough.bar import Wanted
from proofspan.ui.walkthrough.load import Asked, Walk
from proofspan.ui.walkthrough.panels import chosen_number, numbers


def place(view: ViewState, playlist: Playlist, store: Store) -> tuple[ViewState, Stop | None, int]:
    """The state with a question, that question, and its position in the list from 0 (-1: not in it).

    Without a question the first of the list is opened; one that the run does not hold is left out.
    """
    key = view.key
    position = playlist.place(key) if key is not None else None
    if position is not None:
        return view, playlist.at(position), position
    found = store.find(key) if key is not None else None
    if found is not None and key is not None:
        return view, Stop(key, found.source, str(found.row["q"]), found.row["label"] is not None), -1
    if not len(playlist):
        return view, None, -1
    first = playlist.at(0)
    state = at(view, first.key)
    write_view(state)
    if view.q is not None:
        state = replace(
            state, notes=(*state.notes, f"Run {view.run} has no such question: the first is shown.")
        )
    return state, first, 0


def at(view: ViewState, key: TraceKey) -> ViewState:
    """The state on another question of the same list, at the beginning of its bundle."""
    name = question_name(key.q_id, key.repeat)
    return view.change(q=name, p=key.paraphrase, s=key.seed, cite=None, chunk=None, page=None)


def asked(view: ViewState, stop: Stop) -> Asked:
    """What the URL wants to see of a stop."""
    return Asked(stop, view.cite, view.page, lists_shown(stop))


def notes(asked: ViewState, walk: Walk, position: int) -> tuple[str, ...]:
    """What of the address could not be used, and what of the run's files."""
    unknown = walk.playlist.unknown
    told = list(asked.notes)
    if unknown:
        names = ", ".join(name[:60] for name in unknown[:5])
        more = f" and {len(unknown) - 5:,} more" if len(unknown) > 5 else ""
        told.append(f"Not in run {asked.run}, and skipped: {names}{more}.")
    if position < 0 and len(walk.playlist):
        told.append("This question is not in the playlist; the arrows lead into it.")
    return (*told, *walk.told)


def about(opened: session.Opened) -> str:
    """`Proofspan · Owner's manual · R006`."""
    return f"Proofspan · {opened.manifest.name} · {opened.run.run_id}"


def choose(number: int) -> None:
    """The URL says which citation; its own page is turned to."""
    change_view(cite=number, chunk=None, page=None)


def acting(playlist: Playlist, scene: Scene | None, position: int) -> Callable[[Wanted], None]:
    """What happens when the bar asks for something: another bundle, another citation, presenting or not."""
    cites = numbers(scene) if scene else ()
    shown = chosen_number(scene) if scene else None

    def act(wanted: Wanted) -> None:
        view = read_view().change(present=wanted.present)
        if wanted.to != position and wanted.to >= 0:
            view = at(view, playlist.at(wanted.to).key)
        elif wanted.cite != shown and wanted.cite in cites:
            view = view.change(cite=wanted.cite, chunk=None, page=None)
        write_view(view)

    return act


def presenting(state: ViewState) -> None:
    """The mark by which the style sheet knows that somebody presents."""
    if state.present:
        with st.container(key="walk-presenting"):
            st.empty()


def lists_shown(stop: Stop) -> int:
    """How many further lists of exhibits somebody has asked for at this stop."""
    return int(st.session_state.get(_more_key(stop), 0))


def show_more(stop: Stop) -> None:
    """One list of exhibits more."""
    st.session_state[_more_key(stop)] = lists_shown(stop) + 1


def _more_key(stop: Stop) -> str:
    return f"walk-more:{stop.key}"
