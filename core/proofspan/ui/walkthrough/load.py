"""What the Walkthrough page loads: playlist, bundles, one stop; each is kept until a file changes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import streamlit as st

from proofspan.contracts.records.records import Chunk, TraceKey
from proofspan.errors import Fault
from proofspan.evidence.attachments import CatalogueIndex
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Artifact
from proofspan.services.bundles.stored import StoredBundles
from proofspan.services.bundles.walkthrough import (
    Materials,
    Playlist,
    Scene,
    Slide,
    Stop,
    is_current,
    prints_now,
    question_of,
    scene_of,
    slide_of,
)
from proofspan.services.documents.background import Done, Failed, Waiting
from proofspan.services.documents.document_cache import Recent
from proofspan.services.question.view import QuestionView
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
from proofspan.traces.lines.unpack import plain_source
from proofspan.traces.records.stored_reports import StoredRow
from proofspan.ui.question import load
from proofspan.ui.status import background, documents
from proofspan.ui.visit import session
from proofspan.ui.visit.chunk_cache import fingerprint
from proofspan.ui.visit.view_state import ViewState, parse_question_name


@dataclass(frozen=True, slots=True)
class Walk:
    """A visit's walkthrough: the list, what its stops are made from, and what could not be used.

    `stamp` changes with every file that a stop depends on, the documents aside.
    """

    playlist: Playlist
    materials: Materials
    stamp: tuple[object, ...]
    told: tuple[str, ...]


def walk(opened: session.Opened, store: Store) -> Walk:
    """Everything that the page goes through. What of it is lost is told, and the rest goes on."""
    told: list[str] = []
    stored, print_of_bundles = _stored_bundles(opened, told)
    chunks: Mapping[str, Chunk] = load.attempted(lambda: session.chunks(opened)[0], {}, [])
    lender = load.attempted(lambda: session.corpus_lender(opened), None, []) if chunks else None
    catalogue = load.attempted(lambda: session.catalogue(opened), CatalogueIndex.of(()), [])
    materials = Materials(
        manifest=opened.manifest,
        pool=session.pdf_pool(),
        placer=documents.placer(),
        chunks=chunks,
        catalogue=catalogue,
        corpus=lender,
        stored=stored,
        traces=documents.plain_traces(opened) if opened.run.has_traces else None,
        row=_rows(opened),
    )
    manifest, run_id = opened.manifest, opened.run.run_id
    states = [
        _state(opened, artifact) for artifact in (manifest.chunks, manifest.redirects, manifest.catalogue)
    ]
    stamp = (*session.identity(opened), run_id, store.stamp(run_id), print_of_bundles, *states)
    return Walk(_playlist(opened, store, stored, stamp), materials, stamp, tuple(told))


def whole(opened: session.Opened, store: Store, walk: Walk) -> Playlist:
    """The run's whole list, one trace a question, in the order of the URL."""
    run, sort = opened.run.run_id, opened.view.sort
    return _playlists().get_or_make((*walk.stamp, sort), lambda: Playlist.of(store.places(Filter(run), sort)))


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be shown of a stop: a citation by its number, a page of its document, further exhibits."""

    stop: Stop
    cite: int | None = None
    page: int | None = None
    more: int = 0


def scene(walk: Walk, asked: Asked) -> tuple[Done[Scene] | Failed | Waiting, Hashable]:
    """What is shown of a stop, made in the background where that takes long, and the key of that work.

    Whatever is remembered is shown only while the documents that it was made from lie there as they did.
    """
    key, make = _key(walk, asked), partial(_made_scene, _slides(), walk, asked)
    outcome = background.ask(key, make)
    if isinstance(outcome, Done) and not is_current(outcome.value.slide, walk.materials.manifest):
        key = (*key, *prints_now(outcome.value.slide, walk.materials.manifest).items())
        outcome = background.ask(key, make)
    return outcome, key


def question(walk: Walk, stop: Stop) -> QuestionView | None:
    """The question without its documents, while those are waited for; None where its record is lost."""
    try:
        return question_of(stop, walk.materials)[0]
    except Fault:  # that is what the scene fails with, too
        return None


def ahead(walk: Walk, position: int) -> None:
    """Make what is likely to be shown next: the stop behind this one, and the one before."""
    slides, tasks = _slides(), background.tasks()
    for place in (position - 1, position + 1):
        if 0 <= place < len(walk.playlist):
            asked = Asked(walk.playlist.at(place))
            tasks.prefetch(_key(walk, asked), partial(_made_scene, slides, walk, asked))


def try_again(path: Path | None) -> None:
    """Forget what could not be shown of a document, and what was made without it."""
    if path is not None:
        documents.placer().forget(path)
    _slides().clear()
    background.tasks().forget()


def _key(walk: Walk, asked: Asked) -> tuple[object, ...]:
    return (*walk.stamp, asked.stop.key, asked.cite, asked.page, asked.more)


def _made_scene(slides: Recent[Slide], walk: Walk, asked: Asked) -> Scene:
    """Runs in any thread, and asks Streamlit for nothing."""
    key = (*walk.stamp, asked.stop.key)
    slide = slides.get(key)
    if slide is None or not is_current(slide, walk.materials.manifest):
        slide = slide_of(asked.stop, walk.materials)
        slides.put(key, slide)
    return scene_of(slide, walk.materials, cite=asked.cite, page=asked.page, more=asked.more)


def _playlist(
    opened: session.Opened, store: Store, stored: StoredBundles, stamp: tuple[object, ...]
) -> Playlist:
    """The list of the URL: by its ids, else by its filter and the levels of stored bundles."""
    view = opened.view
    key = (*stamp, store.placed_stamp(view.run), view.filter, view.sort, view.ids, view.level)
    return _playlists().get_or_make(key, lambda: _made(store, view, stored))


def _made(store: Store, view: ViewState, stored: StoredBundles) -> Playlist:
    if view.ids:
        everything = Playlist.of(store.places(Filter(view.run, all_variants=True), Sort()))
        named = {name: TraceKey(view.run, *_identity(name)) for name in view.ids}
        return everything.picked(named)
    whole = Playlist.of(store.places(view.filter, view.sort))
    if not view.level:
        return whole
    return whole.only({key for key, level in stored.levels.items() if level in view.level})


def _identity(name: str) -> tuple[str, int, int, int]:
    q_id, repeat = parse_question_name(name)
    return q_id, 0, 0, repeat


def _rows(opened: session.Opened) -> Callable[[Stop], StoredRow]:
    """What gives a stop's row of the run's report, where that is all there is."""
    rows = session.report(opened)[0] if not opened.run.has_traces else []
    return lambda stop: load.stored_row(rows, stop.source, folder=opened.manifest.folder)


def _state(opened: session.Opened, artifact: Artifact | None) -> str:
    """Changes when a file does, also when it goes or comes."""
    try:
        return fingerprint(artifact_path(opened.manifest, artifact)) if artifact else ""
    except Fault as fault:
        return fault.problems[0].code


def _stored_bundles(opened: session.Opened, told: list[str]) -> tuple[StoredBundles, str]:
    """The run's file of bundles and its state; none where the manifest names none, or where it is lost."""
    artifact = opened.run.bundles
    if artifact is None:
        return StoredBundles(), ""
    try:
        path = artifact_path(opened.manifest, artifact)
        state = fingerprint(path)
        return _stored(str(path), artifact.path, opened.run.run_id, state), state
    except Fault as fault:
        told.append(f"The run's stored bundles can't be read: {fault.problems[0].message}.")
        return StoredBundles(), "lost"


@st.cache_resource(max_entries=4, show_spinner=False)
def _stored(path: str, file: str, run_id: str, fingerprint: str) -> StoredBundles:
    plain = plain_source(Path(path), cache_dir=session.cache_dir().path)
    return StoredBundles.of(plain, file=file, run_id=run_id)


@st.cache_resource(show_spinner=False)
def _slides() -> Recent[Slide]:
    return Recent(256)


@st.cache_resource(show_spinner=False)
def _playlists() -> Recent[Playlist]:
    return Recent(8)
