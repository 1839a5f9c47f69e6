"""Load what the Walkthrough page shows: playlist, bundles, one stop. Each is cached until a file changes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import streamlit as st

from proofspan.contracts.records.records import Chunk, TraceKey
from proofspan.errors import Fault
from proofspan.services.bundles.stored import StoredBundles
from proofspan.services.bundles.walkthrough import (
    Materials,
    Playlist,
    Scene,
    Slide,
    Stop,
    question_of,
    scene_of,
    slide_of,
)
from proofspan.services.documents.background import Done, Failed, Waiting
from proofspan.services.documents.document_cache import Recent
from proofspan.services.question.view import QuestionView
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
from proofspan.ui.question import load
from proofspan.ui.status import background, documents
from proofspan.ui.status.workspace_status import state_of
from proofspan.ui.visit import session
from proofspan.ui.visit.view_state import ViewState, parse_question_name, question_name, write_view

MOST_SLIDES = 256


@dataclass(frozen=True, slots=True)
class Walk:
    """A visit's walkthrough: its list, the inputs of its stops, and notes on what could not be used.

    `stamp` changes with every file that a stop depends on.
    """

    playlist: Playlist
    materials: Materials
    stamp: tuple[object, ...]
    notes: tuple[str, ...]


def walk(opened: session.Opened, store: Store) -> Walk:
    """Load the walkthrough of a run. What cannot be read becomes a note."""
    manifest, run = opened.manifest, opened.run
    stored, notes = StoredBundles(), []
    try:
        if (artifact := run.bundles) is not None:
            read = partial(StoredBundles.of, file=artifact.path, run_id=run.run_id)
            stored = session.read_file(opened, artifact, read)
    except Fault as fault:
        notes.append(f"The run's stored bundles can't be read: {fault.problems[0].message}.")
    chunks: Mapping[str, Chunk] = load.attempted(lambda: session.chunks(opened)[0], {}, [])
    materials = Materials(
        manifest=manifest,
        pool=session.pdf_pool(),
        placer=documents.placer(),
        chunks=chunks,
        catalogue=load.catalogue(opened),
        corpus=load.attempted(lambda: session.corpus_lender(opened), None, []) if chunks else None,
        stored=stored,
        traces=documents.plain_traces(opened) if run.has_traces else None,
        rows=session.report(opened)[0] if not run.has_traces else (),
    )
    files = (manifest.chunks, manifest.redirects, manifest.catalogue, run.bundles)
    artifacts = (*files, *(document.artifact for document in manifest.documents))
    states = (state_of(manifest, artifact) for artifact in artifacts if artifact is not None)
    stamp = (*session.identity(opened), run.run_id, store.stamp(run.run_id), *states)
    # The list of the URL: by its ids, else by its filter and the levels of stored bundles.
    view = opened.view

    def make() -> Playlist:
        if view.ids:
            everything = Playlist.of(store.places(Filter(view.run, all_variants=True), Sort()))
            names = {name: parse_question_name(name) for name in view.ids}
            return everything.picked(
                {name: TraceKey(view.run, q_id, repeat=repeat) for name, (q_id, repeat) in names.items()}
            )
        filtered = Playlist.of(store.places(view.filter, view.sort))
        if not view.level:
            return filtered
        return filtered.only({key for key, level in stored.levels.items() if level in view.level})

    key = (*stamp, store.placed_stamp(view.run), view.filter, view.sort, view.ids, view.level)
    playlist = session.cached("playlists", key, make, most=8)
    return Walk(playlist, materials, stamp, tuple(notes))


# The question and its position in the list, from the address.


def place(view: ViewState, playlist: Playlist, store: Store) -> tuple[ViewState, Stop | None, int]:
    """Return the state with a question, that question, and its position from 0 (-1: not in the list).

    Without a question, or with one that the run does not have, the first of the list is opened.
    """
    key = view.key
    position = playlist.places.get(key) if key is not None else None
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


def show_more(stop: Stop) -> None:
    """Show one further list of exhibits at this stop."""
    state = f"walk-more:{stop.key}"
    st.session_state[state] = int(st.session_state.get(state, 0)) + 1


# What is shown of a stop.


def whole(opened: session.Opened, store: Store, walk: Walk) -> Playlist:
    """Return the run's whole list, one trace per question, in the order of the URL."""
    run, sort = opened.run.run_id, opened.view.sort
    key = (*walk.stamp, sort)
    return session.cached("playlists", key, lambda: Playlist.of(store.places(Filter(run), sort)), most=8)


def scene(walk: Walk, stop: Stop, view: ViewState) -> tuple[Done[Scene] | Failed | Waiting, Hashable]:
    """Return what is shown of a stop, prepared in the background if slow, and the key of that task."""
    more = int(st.session_state.get(f"walk-more:{stop.key}", 0))
    key, make = _task(walk, stop, cite=view.cite, page=view.page, more=more)
    return background.ask(key, make), key


def _task(
    walk: Walk, stop: Stop, *, cite: int | None = None, page: int | None = None, more: int = 0
) -> tuple[Hashable, Callable[[], Scene]]:
    """Return the task of a citation, a page of its document and further lists of exhibits, with its key."""
    slides: Recent[Slide] = session.recent("slides", MOST_SLIDES)
    own = (*walk.stamp, stop.key)

    def make() -> Scene:  # in any thread, without Streamlit
        slide = slides.get_or_make(own, lambda: slide_of(stop, walk.materials))
        return scene_of(slide, walk.materials, cite=cite, page=page, more=more)

    return (*own, cite, page, more), make


def question(walk: Walk, stop: Stop) -> QuestionView | None:
    """Return the question while its documents are not ready; None if its record is lost."""
    # The scene fails with a lost record, and says so.
    return load.attempted(lambda: question_of(stop, walk.materials), None, [])


def ahead(walk: Walk, position: int) -> None:
    """Prefetch the next stop and the previous one."""
    for place in (position - 1, position + 1):
        if 0 <= place < len(walk.playlist):
            background.tasks().prefetch(*_task(walk, walk.playlist.at(place)))


def try_again(path: Path | None) -> None:
    """Forget the failures of a document, and everything made without it."""
    session.recent("slides", MOST_SLIDES).clear()
    documents.try_again(path)
