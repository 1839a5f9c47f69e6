"""The state of a walkthrough: the question and its position in the list, from the URL, and its changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from proofspan.contracts.records.records import TraceKey
from proofspan.services.bundles.walkthrough import Playlist, Scene, Stop
from proofspan.store.query.store import Store
from proofspan.ui.visit.view_state import ViewState, question_name, read_view, write_view
from proofspan.ui.walkthrough.bar import Action
from proofspan.ui.walkthrough.load import SceneRequest, Walk
from proofspan.ui.walkthrough.panels import chosen_number, numbers
from proofspan.ui.widgets import markup


def place(view: ViewState, playlist: Playlist, store: Store) -> tuple[ViewState, Stop | None, int]:
    """Return the state with a question, that question, and its position from 0 (-1: not in the list).

    Without a question, or with one that the run does not have, the first of the list is opened.
    """
    key = view.key
    position = playlist.place(key) if key is not None else None
    if position is not None:
        return view, playlist.at(position), position
    existing = store.find(key) if key is not None else None
    if existing is not None and key is not None:
        is_labelled = existing.row["label"] is not None
        return view, Stop(key, existing.source, str(existing.row["q"]), is_labelled), -1
    if not len(playlist):
        return view, None, -1
    first = playlist.at(0)
    state = at(view, first.key)
    write_view(state)
    if view.q is not None:
        note = f"Run {view.run} has no such question: the first one is shown."
        state = replace(state, notes=(*state.notes, note))
    return state, first, 0


def at(view: ViewState, key: TraceKey) -> ViewState:
    """Return the state on another question of the same list."""
    name = question_name(key.q_id, key.repeat)
    return view.change(q=name, p=key.paraphrase, s=key.seed, cite=None, chunk=None, page=None)


def request(view: ViewState, stop: Stop) -> SceneRequest:
    """Return what the URL requests of a stop."""
    return SceneRequest(stop, view.cite, view.page, int(st.session_state.get(_more_key(stop), 0)))


def notes(view: ViewState, walk: Walk, position: int) -> tuple[str, ...]:
    """Return notes on what of the address, and of the run's files, could not be used."""
    unknown = walk.playlist.unknown
    messages = list(view.notes)
    if unknown:
        names = ", ".join(name[:60] for name in unknown[:5])
        more = f" and {len(unknown) - 5:,} more" if len(unknown) > 5 else ""
        messages.append(f"Not in run {view.run}, and skipped: {names}{more}.")
    if position < 0 and len(walk.playlist):
        messages.append("This question is not in the playlist; the arrows lead into it.")
    return (*messages, *walk.notes)


def acting(playlist: Playlist, scene: Scene | None, position: int) -> Callable[[Action], None]:
    """Return the handler of the bar: another bundle, another citation, presenting or not."""
    cites = numbers(scene) if scene else ()
    shown = chosen_number(scene) if scene else None

    def act(action: Action) -> None:
        view = read_view().change(present=action.present)
        if action.to != position and action.to >= 0:
            view = at(view, playlist.at(action.to).key)
        elif action.cite != shown and action.cite in cites:
            view = view.change(cite=action.cite, chunk=None, page=None)
        write_view(view)

    return act


def presenting(state: ViewState) -> None:
    """Hide everything but the evidence while the page is presented."""
    if state.present:
        markup.stylesheet("ui/walkthrough/presenting.css")


def show_more(stop: Stop) -> None:
    """Show one further list of exhibits at this stop."""
    st.session_state[_more_key(stop)] = int(st.session_state.get(_more_key(stop), 0)) + 1


def _more_key(stop: Stop) -> str:
    return f"walk-more:{stop.key}"
