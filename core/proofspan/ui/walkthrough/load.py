"""Load what the Walkthrough page shows: playlist, bundles, one stop. Each is cached until a file changes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pandas as pd
import streamlit as st

from proofspan.contracts.records.records import Chunk, GoldQuestion, TraceKey
from proofspan.errors import Fault
from proofspan.evidence.types import Picture
from proofspan.recent import Recent
from proofspan.services.bundles.stored import StoredBundles
from proofspan.services.bundles.walkthrough import (
    KEY,
    Materials,
    Playlist,
    Scene,
    Slide,
    Stop,
    question_of,
    scene_of,
    slide_of,
    thumbnail_of,
)
from proofspan.services.bundles.walkthrough_best import Answer, Place, best_of, refusal_of
from proofspan.services.documents.background import Done, Failed, Waiting
from proofspan.services.question.view import QuestionView
from proofspan.services.rows import plain
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import FULL_COLUMNS, Store
from proofspan.ui.question import load
from proofspan.ui.status import background, documents
from proofspan.ui.status.workspace_status import state_of
from proofspan.ui.visit import session
from proofspan.ui.visit.view_state import ViewState, parse_question_name, question_name, write_view

MOST_SLIDES = 256
#: Where a list is from: our choice, the whole run, a filter, or a choice by hand.
Kind = Literal["best", "whole", "filtered", "chosen"]


@dataclass(frozen=True, slots=True)
class Walk:
    """A visit's walkthrough: its list and where that is from, the inputs of its stops, and notes.

    `stamp` changes with every file that a stop depends on.
    """

    playlist: Playlist
    kind: Kind
    materials: Materials
    stamp: tuple[object, ...]
    notes: tuple[str, ...]

    @property
    def slides(self) -> int:
        """Return how many slides there are: one per question, a title and an end."""
        return len(self.playlist) + 2


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
    made_of = (*stamp, store.placed_stamp(run.run_id), store.claims_stamp(run.run_id))
    playlist, kind = _listed(opened, store, stored, made_of)
    return Walk(playlist, kind, materials, stamp, tuple(notes))


def _listed(
    opened: session.Opened, store: Store, stored: StoredBundles, made_of: tuple[object, ...]
) -> tuple[Playlist, Kind]:
    """Return the list of the address: its ids, else its filter and levels of stored bundles, else the best.

    A question that is not among the best is shown in the whole list, and so is a run without any best.
    `made_of` changes with all that a list is made of.
    """
    view = opened.view
    if not view.has_playlist:
        best = _best_of_visit(opened, store, made_of)
        if len(best) and (view.key is None or view.key in best.places):
            return best, "best"

    def chosen() -> Playlist:
        every = store.places(Filter(view.run, all_variants=True), Sort(), with_verdicts=True)
        names = {name: parse_question_name(name) for name in view.ids}
        return Playlist.of(every).picked(
            {name: TraceKey(view.run, q_id, repeat=repeat) for name, (q_id, repeat) in names.items()}
        )

    def filtered() -> Playlist:
        listed = Playlist.of(store.places(view.filter, view.sort, with_verdicts=True))
        if not view.level:
            return listed
        return listed.only({key for key, level in stored.levels.items() if level in view.level})

    key = (*made_of, view.filter, view.sort, view.ids, view.level)
    playlist = session.cached("playlists", key, chosen if view.ids else filtered, most=8)
    kind: Kind = "filtered" if view.level or view.is_filtered else "whole"
    return playlist, "chosen" if view.ids else kind


def _best_of_visit(opened: session.Opened, store: Store, made_of: tuple[object, ...]) -> Playlist:
    """Return "Best of", from its title to its end the one that the visit began with.

    Claims that are checked and citations that are located meanwhile may change the choice.
    """
    view = opened.view
    best = session.cached("best", made_of, lambda: _best(opened, store), most=8)
    known = (*session.identity(opened), view.run)
    begun, keys = st.session_state.get("walk-best", (None, ()))
    if begun == known and (view.end or view.key in keys):
        if keys == tuple(best.places):
            return best
        whole = Filter(view.run)

        def again() -> Playlist:
            every = Playlist.of(store.places(whole, Sort(), with_verdicts=True))
            return every.picked({str(key): key for key in keys})

        return session.cached("playlists", (*made_of, keys), again, most=8)
    if view.key is None or view.key in best.places:
        st.session_state["walk-best"] = known, tuple(best.places)
    return best


#: Rows that "Best of" is chosen from: those of the best evidence, and of each kind of example.
MOST_PROOFS, MOST_EXAMPLES = 1_000, 50


def _best(opened: session.Opened, store: Store) -> Playlist:
    """Return the playlist "Best of" (see `proofspan.services.bundles.walkthrough_best`)."""
    run_id = opened.run.run_id

    def rows(shown: Filter, sort: Sort | None = None, most: int = MOST_EXAMPLES) -> pd.DataFrame:
        return store.page(shown, sort or Sort(), limit=most, offset=0)

    frames = [
        rows(Filter(run_id, fails=False), Sort("evidence", descending=True), MOST_PROOFS),
        rows(Filter(run_id, evidence=("numbers_differ",))),
        rows(Filter(run_id, contradictions=True)),
        rows(Filter(run_id, correct=("wrong",))),
        rows(Filter(run_id, gold=("declined",))),
    ]
    frame = pd.concat([each for each in frames if len(each)] or frames).drop_duplicates([*KEY])
    listed = Playlist.of(frame.reset_index(drop=True))
    places = _cited_places(opened, store, {key.q_id for key in listed.places})
    by_page = load.catalogue(opened).by_page
    answers = []
    for key, values in zip(listed.places, listed.frame.to_dict("records"), strict=True):
        row = {str(name): plain(value) for name, value in values.items()}
        place = places.get(key, (None, None))
        doc_id, page_idx = place
        on_page = by_page.get((doc_id, page_idx), ()) if doc_id and isinstance(page_idx, int) else ()
        answers.append(
            Answer(
                key,
                evidence=tuple(row["evidence"] or ()),
                **{name: row[name] for name in ("label", "grounded", "correct", "cause")},
                refusal=refusal_of(row),
                place=place,
                has_figure=any(each.attachment.kind == "image" for each in on_page),
            )
        )
    return listed.picked({str(key): key for key in best_of(answers)})


def _cited_places(opened: session.Opened, store: Store, q_ids: set[str]) -> dict[TraceKey, Place]:
    """Return where each headline answer cites first: document and page, or section where it has no page."""
    placed = session.placed(opened, store)
    if placed is None:
        return {}
    headline = (placed["paraphrase"] == 0) & (placed["seed"] == 0)
    part = placed[headline & placed["q_id"].isin(list(q_ids))].sort_values("number", kind="stable")
    names = ["q_id", "repeat", "doc_id", "page_idx", "section_id"]
    places: dict[TraceKey, Place] = {}
    for values in part[names].to_numpy(dtype=object):
        q_id, repeat, doc_id, page_idx, section = map(plain, values)
        key = TraceKey(opened.run.run_id, q_id, repeat=repeat)
        places.setdefault(key, (doc_id, section if page_idx is None else page_idx))
    return places


# The question and its position in the list, from the address.


def place(view: ViewState, walk: Walk, store: Store) -> tuple[ViewState, Stop | None, int]:
    """Return the state, its question, and the slide: 0 for the title, then the questions, then the end.

    The slide is -1 for a question that is not in the list. The title, and the end, have no question.
    """
    playlist, key = walk.playlist, view.key
    if walk.kind == "whole" and not view.has_playlist:  # so that the next step stays in this list
        view = view.change(whole=True)
        write_view(view)
    slide = slide_of_view(view, walk)
    if view.end or key is None:
        return view, None, slide
    if slide >= 0:
        return view, playlist.at(slide - 1), slide
    existing = store.find(key)
    if existing is not None:
        is_labelled = existing.row["label"] is not None
        return view, Stop(key, existing.source, str(existing.row["q"]), is_labelled), -1
    note = f"Run {view.run} has no such question."
    view = view.change(**_NOWHERE)
    write_view(view)
    return replace(view, notes=(*view.notes, note)), None, 0


def slide_of_view(view: ViewState, walk: Walk) -> int:
    """Return the slide of an address with a run: 0 for the title, -1 for a question that is not listed."""
    if view.end:
        return walk.slides - 1
    return 0 if view.key is None else walk.playlist.places.get(view.key, -2) + 1


#: What leaves the question that is shown.
_NOWHERE: dict[str, Any] = {
    **dict.fromkeys(("q", "cite", "chunk", "page")),
    "p": 0,
    "s": 0,
    "end": False,
}


def at(view: ViewState, walk: Walk, slide: int) -> ViewState:
    """Return the state on another slide of the same list."""
    if slide <= 0 or slide >= walk.slides - 1:
        return view.change(**{**_NOWHERE, "end": slide > 0})
    key = walk.playlist.at(slide - 1).key
    name = question_name(key.q_id, key.repeat)
    return view.change(**{**_NOWHERE, "q": name, "p": key.paraphrase, "s": key.seed})


def notes(view: ViewState, walk: Walk, slide: int) -> tuple[str, ...]:
    """Return notes on what of the address, and of the run's files, could not be used."""
    unknown = walk.playlist.unknown
    messages = list(view.notes)
    if unknown:
        names = ", ".join(name[:60] for name in unknown[:5])
        more = f" and {len(unknown) - 5:,} more" if len(unknown) > 5 else ""
        messages.append(f"Not in run {view.run}, and skipped: {names}{more}.")
    if slide < 0 and len(walk.playlist):
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
    return session.cached("whole lists", key, lambda: Playlist.of(store.places(Filter(run), sort)), most=8)


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


def ahead(walk: Walk, slide: int) -> None:
    """Prefetch the questions of the next slide and of the previous one."""
    for place in (slide - 2, slide):
        if 0 <= place < len(walk.playlist):
            background.tasks().prefetch(*_task(walk, walk.playlist.at(place)))


def row(store: Store, stop: Stop) -> Mapping[str, Any]:
    """Return the question's row of the index; of one that is lost meanwhile, nothing but nulls."""
    found = store.find(stop.key)
    return found.row if found is not None else dict.fromkeys(FULL_COLUMNS)


def expected(opened: session.Opened, stop: Stop) -> str:
    """Return the expected answer, "" where none is known."""
    none: Mapping[str, GoldQuestion] = {}
    gold = load.attempted(lambda: session.gold(opened)[0], none, []).get(stop.key.q_id)
    return (gold.answer or gold.anchor or "") if gold is not None else ""


#: Pictures of a playlist's pages: how many at most, and how wide in pixels.
MOST_THUMBNAILS, THUMBNAIL_PIXELS = 30, 256


def thumbnails(walk: Walk) -> tuple[list[Picture | None], list[Hashable]]:
    """Return the pages of the questions, small (None without a page), and the keys of unfinished tasks."""
    work, pictures = background.Several(), list[Picture | None]()
    for stop in (walk.playlist.at(place) for place in range(min(len(walk.playlist), MOST_THUMBNAILS))):
        key, make = _task(walk, stop)

        def small(make: Callable[[], Scene] = make) -> Picture | None:
            return thumbnail_of(make(), walk.materials.placer, width=THUMBNAIL_PIXELS)

        outcome = work.ask(("thumbnail", key), small)
        pictures.append(outcome.value if isinstance(outcome, Done) else None)
    return pictures, work.awaited


def try_again(path: Path | None) -> None:
    """Forget the failures of a document, and everything made without it."""
    session.recent("slides", MOST_SLIDES).clear()
    documents.try_again(path)
