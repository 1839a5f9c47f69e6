"""The resources of a visit: the workspace, its chunks and gold, its index and the PDF workers.

Everything costly is cached for all visits by the fingerprints of the files that it is made from: a file that
changes on disk is read again at the next script run, and nothing is ever stale.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
import streamlit as st

from proofspan.contracts.records.records import Attachment, Chunk, GoldQuestion, LineIssue
from proofspan.diagnosis.claims.check import Checker
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.types import Profile, profile_from
from proofspan.diagnosis.verdicts.gold_text import GoldTrails
from proofspan.errors import Fault, ManifestFault, Problem, StoreFault
from proofspan.evidence.attachments import CatalogueIndex
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.fingerprints import file_state
from proofspan.journal.annotations import Annotations, read_annotations
from proofspan.journal.cohorts import Cohort, read_cohorts
from proofspan.manifest.load import MANIFEST_NAME, load_manifest
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Artifact, Manifest, Run
from proofspan.recent import Recent
from proofspan.services.health.failure_map import Sections, section_map
from proofspan.services.opening.place import opened_folder
from proofspan.services.page_base import CitedPages, examine_run
from proofspan.services.passes.checking import is_checked
from proofspan.services.passes.locating import is_placed
from proofspan.services.workspace.index_job import SHORT_SECONDS, IndexJob, IndexJobs, index_command
from proofspan.services.workspace.open import chosen_folder, default_run, with_profile
from proofspan.store.files.cache_dir import CacheDir, default_cache_dir, writable_cache_dir
from proofspan.store.files.types import RunFacts
from proofspan.store.index.build import index_state
from proofspan.store.index.labelling import prepared_corpus, read_led_chunks
from proofspan.store.query.store import Store
from proofspan.traces.lines.unpack import artifact_source
from proofspan.traces.records.catalogue import read_catalogue
from proofspan.traces.records.chunks import place_of
from proofspan.traces.records.gold import read_gold
from proofspan.traces.records.redirects import gold_of_today, mapped
from proofspan.traces.records.stored_reports import StoredRow, read_report
from proofspan.ui.visit.files import states_of_run
from proofspan.ui.visit.view_state import ViewState, read_view

T = TypeVar("T")
#: How many bytes of chunks prepared for checking claims are kept for all visits.
CHECKER_BYTES = 100_000_000


@dataclass(frozen=True, slots=True)
class Opened:
    """The workspace of this visit: `manifest` with the URL's profile, `view` with a run that exists."""

    manifest: Manifest
    view: ViewState
    run: Run

    @property
    def profile(self) -> Profile:
        """Return how answers are read: by the URL's profile, else by the manifest's."""
        return profile_from(self.manifest.triage)


def current(*, needs_run: bool = True) -> Opened:
    """Return the workspace that the environment names, as the page's URL asks for it.

    Raises ManifestFault when the manifest cannot be used or lists no run. A page that needs none gets a run
    without files instead.
    """
    manifest, view = workspace(), read_view()
    first = default_run(manifest)
    if first is None and needs_run:
        raise ManifestFault(no_runs(manifest))
    if first is None:
        return Opened(manifest, view, Run(run_id="", traces=None))
    view = view.with_run([run.run_id for run in manifest.runs], first.run_id)
    return Opened(with_profile(manifest, view.profile), view, manifest.run(view.run) or first)


def no_runs(manifest: Manifest) -> Problem:
    """Return the problem of a workspace that lists no run."""
    return Problem(
        "no_runs",
        "this workspace lists no run yet",
        where=str(manifest.folder / MANIFEST_NAME),
        fix="add one under `runs:` with its `run_id` and `traces: {path: …}`",
    )


def workspace() -> Manifest:
    """Return the manifest of the chosen folder, or of what the address says was opened.

    It is read again whenever its file changes. Raises ManifestFault if it cannot be read.
    """
    key = read_view().opened
    folder = opened_folder(key, cache_dir().path) if key else chosen_folder()
    file = folder / MANIFEST_NAME if folder.is_dir() else folder
    return _manifest(str(folder), file_state(file))


def index(opened: Opened) -> tuple[Store | None, IndexJob | None]:
    """Return the index of the shown run, None before it is built, and the job that builds it or has failed.

    One that is missing or stale is built by a process of its own, and an older index is used meanwhile. Once
    the shown run is up to date, its claims are checked, its citations located and the other runs indexed.
    """
    manifest, run_id, known = opened.manifest, opened.run.run_id, identity(opened)
    store = store_of(opened)

    def is_fresh(name: str) -> bool:
        # An index is compared with its files again only when either has changed.
        key = (*run_state(opened, name), store.stamp(name))
        if not (was_fresh := recent("fresh", 64)).get(key):
            was_fresh.put(key, index_state(manifest, name, cache_dir().path) == "fresh")
        return bool(was_fresh.get(key))

    def index_others() -> list[str] | None:
        behind = [run.run_id for run in manifest.runs if not is_fresh(run.run_id)]
        return _command(opened, behind) if behind else None

    job, fresh = None, is_fresh(run_id)
    if not fresh:
        job = jobs().ensure((run_id, *known), lambda: _command(opened, [run_id]))
        if job is not None:
            job.wait(SHORT_SECONDS)
        fresh = is_fresh(run_id)
        job = job if job is not None and (job.is_running or job.failure) else None
    if fresh:
        jobs().once(("others", *known), index_others)
    if store.stamp(run_id) is None:
        return None, job
    if fresh:
        locating(opened, store)
    return store, job


#: Seconds after which a file that grew while it was shown counts as complete.
_GROWN_S = 60


@st.cache_resource(show_spinner=False)
def _sizes() -> dict[Path, tuple[int, float]]:
    """Return the size of each trace file when it was last looked at, and when it was seen to have grown."""
    return {}


def is_being_written(opened: Opened) -> bool:
    """Return whether the shown run's trace file was seen to grow in the last minute."""
    if opened.run.traces is None:
        return False
    try:
        path = artifact_path(opened.manifest, opened.run.traces)
        size, now = path.stat().st_size, time.monotonic()
    except (Fault, OSError):
        return False
    before, grown = _sizes().get(path, (size, -_GROWN_S))
    grown = now if size > before else grown
    _sizes()[path] = size, grown
    return now - grown < _GROWN_S


def locating(opened: Opened, store: Store) -> IndexJob | None:
    """Return the job that checks the shown run's claims and locates its citations, running or failed.

    None when that is done, and while only a part of the run is indexed. The other runs follow once their
    indexes are built.
    """
    manifest, run_id, known = opened.manifest, opened.run.run_id, identity(opened)
    if store.run_facts(run_id).unread_bytes:
        return None

    def locate_others() -> list[str] | None:
        cache = cache_dir().path
        behind = [
            run.run_id
            for run in manifest.runs
            if not (is_placed(manifest, run.run_id, cache) and is_checked(manifest, run.run_id, cache))
        ]
        return _command(opened, behind, locate=True) if behind else None

    if store.placed_stamp(run_id) is None or not store.are_claims_checked(run_id):
        return jobs().ensure(("locate", run_id, *known), lambda: _command(opened, [run_id], locate=True))
    if not others_are_indexed(opened):
        jobs().once(("locate others", *known), locate_others)
    return None


def _command(opened: Opened, run_ids: Sequence[str], *, locate: bool = False) -> list[str]:
    folder, cache = opened.manifest.folder, cache_dir().path
    return index_command(folder, runs=run_ids, profile=opened.view.profile, cache_dir=cache, locate=locate)


def others_are_indexed(opened: Opened) -> bool:
    """Return whether the other runs' indexes are being built."""
    return jobs().is_running(("others", *identity(opened)))


def options(opened: Opened, store: Store) -> Mapping[str, Sequence[tuple[str, int]]]:
    """Return the values that each filter offers for the shown run, with their numbers of questions."""
    run_id = opened.run.run_id
    return cached("options", indexes_key(opened, store, run_id), lambda: store.options(run_id))


def cited_pages(opened: Opened, store: Store, run_id: str) -> CitedPages | None:
    """Return whether a run's citations are on the cited pages; None while they are not located."""
    stamp = store.placed_stamp(run_id)
    if stamp is None:
        return None
    cache, document = cache_dir().path, pdf_pool().document
    key = (*identity(opened), run_id, stamp)
    return cached(
        "cited pages", key, lambda: examine_run(opened.manifest, run_id, cache_dir=cache, document=document)
    )


def cited_pages_of_runs(opened: Opened) -> dict[str, CitedPages]:
    """Return the same for every run whose citations are located."""
    store = store_of(opened)
    found = {run_id: cited_pages(opened, store, run_id) for run_id in store.runs()}
    return {run_id: cited for run_id, cited in found.items() if cited is not None}


def placed(opened: Opened, store: Store) -> pd.DataFrame | None:
    """Return the shown run's located citations; None while they are not located."""
    run_id = opened.run.run_id
    stamp = store.placed_stamp(run_id)
    key = (*identity(opened), run_id, stamp)
    return None if stamp is None else cached("citations", key, lambda: store.placed(run_id), most=2)


def run_facts(opened: Opened) -> tuple[dict[str, RunFacts], list[Problem]]:
    """Return the facts of every run that has an index, and the problems of indexes that cannot be read."""
    store, facts = store_of(opened), dict[str, RunFacts]()
    problems: list[Problem] = []
    for run_id in store.runs():
        try:
            facts[run_id] = store.run_facts(run_id)
        except StoreFault as fault:  # of one run; the others are shown
            problems += fault.problems
    return facts, problems


@st.cache_resource(show_spinner=False)
def cache_dir() -> CacheDir:
    """Return the folder of the index; a temporary one, with the reason, where that cannot be written."""
    return writable_cache_dir(default_cache_dir())


@st.cache_resource(show_spinner=False)
def pdf_pool() -> PdfPool:
    """Return the PDF workers, shared by all visits."""
    return PdfPool()


def chunks(opened: Opened) -> tuple[Mapping[str, Chunk], list[LineIssue]]:
    """Return the chunks by id, former ids too, and the lines without a chunk. Raises Fault without a file."""
    return _chunks(opened.manifest, *_chunk_file(opened.manifest))


def sections_or_none(opened: Opened) -> Sections:
    """Return the sections of the workspace's chunks; none without a chunk file that can be read."""
    try:
        return _sections(opened.manifest, *_chunk_file(opened.manifest), opened.manifest.unpaged)
    except Fault:  # a lost chunk file is among the run's own problems
        return {}


def _chunk_file(manifest: Manifest) -> tuple[str, str, str]:
    """Return the chunk file's path, its path in the manifest, and its fingerprint with its redirects'."""
    artifact = _named(manifest, manifest.chunks, "chunks")
    path = artifact_path(manifest, artifact)
    state = f"{file_state(path)} {artifact.fix_encoding}"
    if manifest.redirects is not None:
        with suppress(Fault):
            state += file_state(artifact_path(manifest, manifest.redirects))
            state += f" {manifest.redirects.fix_encoding}"
    return str(path), artifact.path, state


@st.cache_resource(max_entries=2, show_spinner="Reading the chunks …")
def _chunks(
    _manifest: Manifest, path: str, file: str, state: str
) -> tuple[Mapping[str, Chunk], list[LineIssue]]:
    artifact = _named(_manifest, _manifest.chunks, "chunks")
    return read_led_chunks(_manifest, artifact, cache_dir=cache_dir().path)


@st.cache_resource(max_entries=2, show_spinner=False)
def _sections(_manifest: Manifest, path: str, file: str, state: str, unpaged: frozenset[str]) -> Sections:
    return section_map(_chunks(_manifest, path, file, state)[0].values(), unpaged=unpaged)


@st.cache_resource(max_entries=2, show_spinner=False)
def _corpus(_manifest: Manifest, path: str, file: str, state: str) -> tuple[Corpus, threading.Lock]:
    known, _ = _chunks(_manifest, path, file, state)
    corpus = prepared_corpus(_manifest, cache_dir=cache_dir().path)
    if corpus is None or _chunk_file(_manifest)[2] != state:
        corpus = Corpus(mapped(known, lambda chunk: chunk.text))
    return corpus, threading.Lock()


@st.cache_resource(max_entries=2, show_spinner=False)
def _checker(
    _manifest: Manifest, path: str, file: str, state: str
) -> tuple[Checker, GoldTrails, threading.Lock]:
    known, _ = _chunks(_manifest, path, file, state)
    corpus, lock = _corpus(_manifest, path, file, state)
    with lock:
        survey = corpus.survey
    places = mapped(known, place_of)
    checker = Checker(corpus.texts, survey, places, cache_bytes=CHECKER_BYTES)
    return checker, GoldTrails(checker.texts, checker.places), threading.Lock()


def gold(opened: Opened) -> tuple[Mapping[str, GoldQuestion], list[LineIssue]]:
    """Return the gold questions by id, {} where the manifest names no file. Raises Fault without it."""
    if opened.manifest.gold is None:
        return {}, []
    artifact = opened.manifest.gold
    known, issues = read_file(opened, artifact, lambda source: read_gold(source, file=artifact.path))
    with suppress(Fault):  # a lost chunk file is among the run's own problems
        if opened.manifest.redirects is not None:
            return gold_of_today(known, chunks(opened)[0]), issues
    return known, issues


def cohorts(opened: Opened) -> Mapping[str, Cohort]:
    """Return the frozen cohorts by name; none where their file cannot be read."""
    try:
        return read_cohorts(opened.manifest)
    except Fault:  # `check` reports it
        return {}


def reviews(opened: Opened) -> Annotations:
    """Return what people say of the answers, read again when anybody adds a line.

    Raises Fault where the file cannot be read.
    """
    return read_annotations(opened.manifest)


def catalogue(opened: Opened) -> CatalogueIndex:
    """Return the attachments by place, empty where the manifest names no file.

    Raises Fault where the file is missing. Lines without an attachment are reported by `check`.
    """
    return _catalogue(opened)[1]


def attachments(opened: Opened) -> Mapping[str, Attachment]:
    """Return the attachments by id, as `catalogue` returns them by place."""
    return _catalogue(opened)[0]


def _catalogue(opened: Opened) -> tuple[Mapping[str, Attachment], CatalogueIndex]:
    if opened.manifest.catalogue is None:
        return {}, CatalogueIndex.of(())
    artifact = opened.manifest.catalogue

    def read(source: Path) -> tuple[Mapping[str, Attachment], CatalogueIndex]:
        known, _ = read_catalogue(source, file=artifact.path)
        return known, CatalogueIndex.of(known.values())

    return read_file(opened, artifact, read)


def report(opened: Opened) -> tuple[list[StoredRow], list[LineIssue]]:
    """Return the rows of the run's stored report, and lines without a row. Raises Fault without a file."""
    artifact = _named(opened.manifest, opened.run.report, f"runs[{opened.run.run_id}].report")
    return read_file(opened, artifact, lambda source: read_report(source, file=artifact.path))


def _named(manifest: Manifest, artifact: Artifact | None, key: str) -> Artifact:
    """Return the artifact. Raises Fault where the manifest names none."""
    if artifact is None:
        raise ManifestFault.of(
            "not_named",
            f"the manifest names no {key}",
            where=str(manifest.folder / MANIFEST_NAME),
            fix=f"add `{key}: {{path: …}}`",
        )
    return artifact


def read_file(opened: Opened, artifact: Artifact, read: Callable[[Path], T]) -> T:
    """Return what `read` makes of a file, unpacked where it is packed; read again when the file changes.

    Raises Fault where it is missing.
    """
    path = artifact_path(opened.manifest, artifact)
    key = (artifact.key, path, file_state(path), artifact.fix_encoding)

    def made() -> T:
        return read(artifact_source(opened.manifest, artifact, cache_dir=cache_dir().path))

    return cached("files", key, made, most=8)


def corpus_lender(opened: Opened) -> Callable[[], AbstractContextManager[Corpus]]:
    """Return a function that lends the chunks prepared for triage, in any thread, to one visit at a time.

    A `Corpus` serves a single thread. Raises Fault without a chunk file.
    """
    shared, lock = _corpus(opened.manifest, *_chunk_file(opened.manifest))

    @contextmanager
    def locked() -> Iterator[Corpus]:
        with lock:
            yield shared

    return locked


def checker_lender(opened: Opened) -> Callable[[], AbstractContextManager[Checker]]:
    """Return a function that lends the chunks prepared for checking claims, as `corpus_lender` does."""
    lender = judge_lender(opened)

    @contextmanager
    def locked() -> Iterator[Checker]:
        with lender() as (checker, _):
            yield checker

    return locked


def judge_lender(opened: Opened) -> Callable[[], AbstractContextManager[tuple[Checker, GoldTrails]]]:
    """Return a function that lends the same with what is known of where gold passages are in the chunks."""
    checker, trails, lock = _checker(opened.manifest, *_chunk_file(opened.manifest))

    @contextmanager
    def locked() -> Iterator[tuple[Checker, GoldTrails]]:
        with lock:
            yield checker, trails

    return locked


def cached(name: str, key: Hashable, make: Callable[[], T], *, most: int = 16) -> T:
    """Return what `make` returned for `key` before, in any visit; of each `name` the `most` recent are kept.

    The key has to change with everything that the value is made of.
    """
    value: T = recent(name, most).get_or_make(key, make)
    return value


@st.cache_resource(show_spinner=False)
def recent(name: str, most: int) -> Recent[Any]:
    """Return the `most` recent values that all visits keep under a name."""
    return Recent(most)


def identity(opened: Opened) -> tuple[str, str, str]:
    """Return what the index of a workspace depends on besides its files: the manifest and the profile."""
    file = opened.manifest.file or opened.manifest.folder / MANIFEST_NAME
    profile = opened.profile
    return str(opened.manifest.folder), file_state(file), repr((profile.template, profile.refusal))


def run_state(opened: Opened, run_id: str) -> tuple[str, ...]:
    """Return what changes whenever a file of a run does, or one that all runs share."""
    return *identity(opened), run_id, *states_of_run(opened.manifest, run_id)


def indexes_key(opened: Opened, store: Store, *run_ids: str) -> tuple[Hashable, ...]:
    """Return what changes with the indexes of these runs, and with their checked claims."""
    stamps = ((store.stamp(run_id), store.claims_stamp(run_id)) for run_id in run_ids)
    return *identity(opened), *run_ids, *stamps


def store_of(opened: Opened) -> Store:
    """Return the workspace's index as it is; `index` has it built where that is due."""
    return _store(opened.manifest, *identity(opened), str(cache_dir().path))


@st.cache_resource(show_spinner=False)
def jobs() -> IndexJobs:
    """Return the jobs of all visits; failed ones that are forgotten start again with the next `index`."""
    return IndexJobs()


@st.cache_resource(max_entries=4, show_spinner=False)
def _store(_manifest: Manifest, folder: str, fingerprint: str, profile: str, cache: str) -> Store:
    return Store(_manifest, Path(cache))


@st.cache_resource(max_entries=4, show_spinner=False)
def _manifest(folder: str, fingerprint: str) -> Manifest:
    return load_manifest(Path(folder))
