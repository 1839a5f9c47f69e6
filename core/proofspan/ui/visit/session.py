"""What a visit works with: the workspace, its chunks and gold, its index and the PDF workers.

Everything costly is made once for all visits and kept under the fingerprint of the files that it was made
from: a file that changes on disk is read anew at the next script run, and nothing is ever stale.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd
import streamlit as st

from proofspan.contracts.records.records import Chunk, GoldQuestion, LineIssue
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.types import Profile, profile_from
from proofspan.errors import Fault, ManifestFault, Problem
from proofspan.evidence.attachments import CatalogueIndex
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.journal.cohorts import Cohort, read_cohorts
from proofspan.manifest.load import MANIFEST_NAME, load_manifest
from proofspan.manifest.types import Manifest, Run
from proofspan.services.health.failure_map import Sections
from proofspan.services.locating import is_placed
from proofspan.services.page_base import CitedPages, examine_run
from proofspan.services.workspace.index_job import SHORT_SECONDS, IndexJob, IndexJobs, index_command
from proofspan.services.workspace.open import chosen_folder, default_run, with_profile
from proofspan.store.files.cache_dir import CacheDir, default_cache_dir, writable_cache_dir
from proofspan.store.files.types import IndexState, RunFacts
from proofspan.store.index.build import index_state
from proofspan.store.query.store import Store
from proofspan.traces.lines.unpack import plain_source
from proofspan.traces.records.catalogue import read_catalogue
from proofspan.traces.records.gold import read_gold
from proofspan.traces.records.redirects import gold_of_today
from proofspan.traces.records.stored_reports import StoredRow, read_report
from proofspan.ui.visit.chunk_cache import (
    chunk_file,
    chunks_in,
    corpus_in,
    fingerprint,
    located,
    sections_in,
)
from proofspan.ui.visit.view_state import ViewState, read_view

#: Filter name → values with the number of questions that have them, the most frequent first.
Choices = Mapping[str, Sequence[tuple[str, int]]]


@dataclass(frozen=True, slots=True)
class Opened:
    """The workspace of this visit: `manifest` with the URL's profile, `view` with a run that exists."""

    manifest: Manifest
    view: ViewState
    run: Run

    @property
    def profile(self) -> Profile:
        """How answers are read here: the URL's profile, else the manifest's."""
        return profile_from(self.manifest.triage)


@dataclass(frozen=True, slots=True)
class Standing:
    """The index of the shown run: `store` None where there is none yet, `job` what is at work or has failed.

    `cache_problem` says why the index does not lie where it should.
    """

    state: IndexState
    store: Store | None
    job: IndexJob | None
    cache_problem: Problem | None


def current() -> Opened:
    """The workspace that the environment names, as the page's URL asks for it.

    Raises ManifestFault when the manifest cannot be used or lists no run.
    """
    manifest = workspace()
    first = default_run(manifest)
    if first is None:
        raise ManifestFault(no_runs(manifest))
    view = read_view().with_run([run.run_id for run in manifest.runs], first.run_id)
    run = manifest.run(view.run) or first
    return Opened(with_profile(manifest, view.profile), view, run)


def no_runs(manifest: Manifest) -> Problem:
    """What to do about a workspace that has documents and chunks and nothing that was answered yet."""
    return Problem(
        "no_runs",
        "this workspace lists no run yet",
        where=str(manifest.folder / MANIFEST_NAME),
        fix="add one under `runs:` with its `run_id` and `traces: {path: …}`",
    )


def without_runs(manifest: Manifest) -> Opened:
    """A workspace that lists no run, for what needs none (`check`): its run is one without any file."""
    return Opened(manifest, read_view(), Run(run_id="", traces=None))


def workspace() -> Manifest:
    """The manifest of the chosen folder, read again whenever its file changes."""
    folder = chosen_folder()
    file = folder / MANIFEST_NAME if folder.is_dir() else folder
    return _manifest(str(folder), fingerprint(file))


def index(opened: Opened) -> Standing:
    """The index of the shown run; what is missing or stale is built by a process of its own.

    An older index serves meanwhile. Once the shown run is up to date, its citations are located and the
    other runs are seen to.
    """
    cache, manifest, run_id = cache_dir(), opened.manifest, opened.run.run_id
    state, job = index_state(manifest, run_id, cache.path), None
    if state.state != "fresh":
        job = _jobs().ensure(
            (run_id, *identity(opened)), lambda: _index_command(opened, [run_id], cache.path)
        )
        if job is not None:
            job.wait(SHORT_SECONDS)
        state = index_state(manifest, run_id, cache.path)
        job = job if job is not None and (job.is_running or job.failure) else None
    if state.state == "fresh":
        _jobs().once(("others", *identity(opened)), lambda: _other_runs_command(opened, cache.path))
    store = _store(manifest, *identity(opened), str(cache.path))
    has_index = store.stamp(run_id) is not None
    if state.state == "fresh" and has_index:
        locating(opened, store)
    return Standing(state, store if has_index else None, job, cache.problem)


def locating(opened: Opened, store: Store) -> IndexJob | None:
    """What looks for the shown run's citations: at work, or failed; None when they are located.

    Nobody waits for it. Those of the other runs come after, when their index is there.
    """
    run_id, known, jobs = opened.run.run_id, identity(opened), _jobs()
    if store.placed_stamp(run_id) is None:
        return jobs.ensure(("locate", run_id, *known), lambda: _locate_command(opened, [run_id]))
    if not others_are_indexed(opened):
        jobs.once(("locate others", *known), lambda: _locate_others_command(opened))
    return None


def others_are_indexed(opened: Opened) -> bool:
    """Whether the other runs' indexes are being built just now."""
    return _jobs().is_running(("others", *identity(opened)))


def build_again() -> None:
    """Forget what failed: the next `index` starts anew."""
    _jobs().forget()


def options(opened: Opened, store: Store) -> Choices:
    """What the shown run's list can be narrowed to; counted once for each state of its index."""
    return _options(store, *identity(opened), opened.run.run_id, str(store.stamp(opened.run.run_id)))


def cited_pages(opened: Opened, store: Store, run_id: str) -> CitedPages | None:
    """Whether a run's citations stand on the cited pages; None while they are not located."""
    stamp = store.placed_stamp(run_id)
    if stamp is None:
        return None
    return _cited_pages(opened.manifest, *identity(opened), run_id, stamp)


def cited_pages_of_runs(opened: Opened) -> dict[str, CitedPages]:
    """The same of every run whose citations are located."""
    store = _store(opened.manifest, *identity(opened), str(cache_dir().path))
    found = {run_id: cited_pages(opened, store, run_id) for run_id in store.runs()}
    return {run_id: cited for run_id, cited in found.items() if cited is not None}


def placed(opened: Opened, store: Store) -> pd.DataFrame | None:
    """Where the shown run's citations stand, as the index has it; None while they are not located."""
    run_id = opened.run.run_id
    stamp = store.placed_stamp(run_id)
    return None if stamp is None else _placed(store, *identity(opened), run_id, stamp)


def run_facts(opened: Opened) -> dict[str, RunFacts]:
    """What is known of every run that has an index."""
    store = _store(opened.manifest, *identity(opened), str(cache_dir().path))
    return {run_id: store.run_facts(run_id) for run_id in store.runs()}


def store_or_none(opened: Opened) -> Store | None:
    """The index of the shown run as it stands, None where there is none; nothing is built for it."""
    store = _store(opened.manifest, *identity(opened), str(cache_dir().path))
    return store if store.stamp(opened.run.run_id) is not None else None


@st.cache_resource(show_spinner=False)
def cache_dir() -> CacheDir:
    """Where the index lies; a temporary folder, and the reason, where that cannot be written."""
    return writable_cache_dir(default_cache_dir())


@st.cache_resource(show_spinner=False)
def pdf_pool() -> PdfPool:
    """The PDF workers, shared by all visits."""
    return PdfPool()


def chunks(opened: Opened) -> tuple[Mapping[str, Chunk], list[LineIssue]]:
    """The workspace's chunks by id, former ids too, and the lines that hold none; a Fault without a file."""
    return chunks_in(opened.manifest, chunk_file(opened.manifest, cache_dir().path))


def sections_or_none(opened: Opened) -> Sections:
    """Where the sections of the workspace's chunks stand; none without a chunk file that can be read."""
    try:
        return sections_in(opened.manifest, chunk_file(opened.manifest, cache_dir().path))
    except Fault:  # a lost chunk file is among the run's own problems
        return {}


def gold(opened: Opened) -> tuple[Mapping[str, GoldQuestion], list[LineIssue]]:
    """The workspace's gold questions by id; empty where the manifest names none, a Fault where it is lost."""
    if opened.manifest.gold is None:
        return {}, []
    path, file = located(opened.manifest, opened.manifest.gold, "gold")
    known, issues = _gold(str(path), file, fingerprint(path))
    with suppress(Fault):  # a lost chunk file is among the run's own problems
        if opened.manifest.redirects is not None:
            return gold_of_today(known, chunks(opened)[0]), issues
    return known, issues


def cohorts(opened: Opened) -> Mapping[str, Cohort]:
    """The frozen cohorts by name; none where their file cannot be read."""
    try:
        return read_cohorts(opened.manifest)
    except Fault:  # `check` tells what is wrong with it
        return {}


def catalogue(opened: Opened) -> CatalogueIndex:
    """The workspace's attachments by place; empty where the manifest names none, a Fault where it is lost.

    Lines that hold no attachment are told by `check`.
    """
    if opened.manifest.catalogue is None:
        return CatalogueIndex.of(())
    path, file = located(opened.manifest, opened.manifest.catalogue, "catalogue")
    return _catalogue(str(path), file, fingerprint(path))


def report(opened: Opened) -> tuple[list[StoredRow], list[LineIssue]]:
    """The rows of the shown run's stored report and the lines that hold none; a Fault where it is lost."""
    path, file = located(opened.manifest, opened.run.report, f"runs[{opened.run.run_id}].report")
    return _report(str(path), file, fingerprint(path))


def corpus(opened: Opened) -> AbstractContextManager[Corpus]:
    """The chunks prepared for triage, held by one visit at a time: a `Corpus` serves a single thread."""
    return corpus_lender(opened)()


def corpus_lender(opened: Opened) -> Callable[[], AbstractContextManager[Corpus]]:
    """What `corpus` gives, now and again, in any thread. A Fault where there is no chunk file."""
    shared, lock = corpus_in(opened.manifest, chunk_file(opened.manifest, cache_dir().path))
    return partial(_held, shared, lock)


@contextmanager
def _held(shared: Corpus, lock: threading.Lock) -> Iterator[Corpus]:
    with lock:
        yield shared


def identity(opened: Opened) -> tuple[str, str, str]:
    """What the index of a workspace depends on besides its files: the manifest as it is, and the profile."""
    file = opened.manifest.file or opened.manifest.folder / MANIFEST_NAME
    profile = opened.profile
    return str(opened.manifest.folder), fingerprint(file), repr((profile.template, profile.refusal))


def _index_command(opened: Opened, runs: list[str], cache: Path) -> list[str]:
    return index_command(opened.manifest.folder, runs=runs, profile=opened.view.profile, cache_dir=cache)


def _other_runs_command(opened: Opened, cache: Path) -> list[str] | None:
    """The command for what else is not up to date; None where everything is."""
    runs = [run.run_id for run in opened.manifest.runs]
    behind = [name for name in runs if index_state(opened.manifest, name, cache).state != "fresh"]
    return _index_command(opened, behind, cache) if behind else None


def _locate_command(opened: Opened, runs: list[str]) -> list[str]:
    folder, profile, cache = opened.manifest.folder, opened.view.profile, cache_dir().path
    return index_command(folder, runs=runs, profile=profile, cache_dir=cache, locate=True)


def _locate_others_command(opened: Opened) -> list[str] | None:
    """The command for what else is not located; None where everything is."""
    runs = [run.run_id for run in opened.manifest.runs]
    behind = [name for name in runs if not is_placed(opened.manifest, name, cache_dir().path)]
    return _locate_command(opened, behind) if behind else None


@st.cache_resource(show_spinner=False)
def _jobs() -> IndexJobs:
    return IndexJobs()


@st.cache_resource(max_entries=4, show_spinner=False)
def _store(_manifest: Manifest, folder: str, fingerprint: str, profile: str, cache: str) -> Store:
    return Store(_manifest, Path(cache))


@st.cache_resource(max_entries=2, show_spinner=False)
def _placed(
    _store: Store, folder: str, fingerprint: str, profile: str, run_id: str, stamp: str
) -> pd.DataFrame | None:
    return _store.placed(run_id)


@st.cache_resource(max_entries=16, show_spinner=False)
def _options(_store: Store, folder: str, fingerprint: str, profile: str, run_id: str, stamp: str) -> Choices:
    return _store.options(run_id)


@st.cache_resource(max_entries=16, show_spinner=False)
def _cited_pages(
    _manifest: Manifest, folder: str, fingerprint: str, profile: str, run_id: str, stamp: str
) -> CitedPages:
    return examine_run(_manifest, run_id, cache_dir=cache_dir().path, document=pdf_pool().document)


@st.cache_resource(max_entries=4, show_spinner=False)
def _manifest(folder: str, fingerprint: str) -> Manifest:
    return load_manifest(Path(folder))


@st.cache_resource(max_entries=2, show_spinner=False)
def _gold(path: str, file: str, fingerprint: str) -> tuple[Mapping[str, GoldQuestion], list[LineIssue]]:
    return read_gold(plain_source(Path(path), cache_dir=cache_dir().path), file=file)


@st.cache_resource(max_entries=2, show_spinner=False)
def _catalogue(path: str, file: str, fingerprint: str) -> CatalogueIndex:
    attachments, _ = read_catalogue(plain_source(Path(path), cache_dir=cache_dir().path), file=file)
    return CatalogueIndex.of(attachments.values())


@st.cache_resource(max_entries=2, show_spinner=False)
def _report(path: str, file: str, fingerprint: str) -> tuple[list[StoredRow], list[LineIssue]]:
    return read_report(plain_source(Path(path), cache_dir=cache_dir().path), file=file)
