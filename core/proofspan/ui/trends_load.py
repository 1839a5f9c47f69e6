"""What Trends works with, read once for each state of the indexes and the files beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from proofspan.errors import Fault
from proofspan.journal.cohorts import Cohort, read_cohorts
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Artifact, Manifest, Run
from proofspan.metrics.values import MetricValue
from proofspan.services.cohorts import Conversion, conversions
from proofspan.services.comparing import verdict_sentence
from proofspan.services.gating import GateReport, gate_run
from proofspan.services.measuring import metrics_by
from proofspan.services.ranks import Ranks
from proofspan.services.stability import Stability, run_stability
from proofspan.services.trends import HEADLINES, RunTrend, Trends, run_trend, trends
from proofspan.store.filters import Filter
from proofspan.store.measures import OUTCOMES
from proofspan.store.measuring import Slice
from proofspan.store.queries import Store
from proofspan.ui import session
from proofspan.ui.chunk_files import fingerprint
from proofspan.ui.compare_matrices import Transitions

#: Of each cohort what became of it, by run.
Converted = Mapping[str, Mapping[str, Conversion]]


def load(opened: session.Opened, store: Store) -> Trends:
    """All runs that have an index."""
    manifest, known, indexed = opened.manifest, session.identity(opened), store.runs()
    store.run_sums(indexed)  # of all at once, which the runs then take from memory

    def trend(run: Run) -> RunTrend:
        return _trend(store, manifest, run, *known, run.run_id, _stamp(store, run, manifest))

    return trends(manifest, indexed, shown=opened.view.run, vs=opened.view.vs, trend=trend)


def ranks(opened: session.Opened, store: Store, shown: Trends) -> Ranks:
    """The ranks of all judged questions in these runs."""
    runs = tuple(run.run_id for run in shown.runs)
    return _ranks(store, *session.identity(opened), runs, _stamps(store, shown))


def moves(opened: session.Opened, store: Store, shown: Trends) -> Transitions:
    """What buckets the shown run's questions had in the other run, and have; nothing without one."""
    if shown.other is None:
        return ()
    run_id, other = shown.current.run_id, shown.other.run_id
    stamps = f"{store.stamp(run_id)} {store.stamp(other)}"
    return _moves(store, *session.identity(opened), run_id, other, stamps)


def slices(opened: session.Opened, store: Store, by: Slice) -> Mapping[str, Mapping[str, MetricValue]]:
    """The shown run's metrics by slice."""
    run_id = opened.run.run_id
    return _slices(store, *session.identity(opened), run_id, by, str(store.stamp(run_id)))


def stability(opened: session.Opened, store: Store) -> Stability:
    """How steady the shown run's questions are over paraphrases and seeds."""
    run_id = opened.run.run_id
    return _stability(store, *session.identity(opened), run_id, str(store.stamp(run_id)))


def gate(opened: session.Opened, store: Store, shown: Trends) -> GateReport:
    """The gate of the shown run, as `proofspan gate` has it."""
    against = opened.view.vs if shown.other is not None and opened.view.vs == shown.other.run_id else None
    stamps = " ".join(_stamp(store, run.run, opened.manifest) for run in shown.runs)
    return _gate(store, opened.manifest, *session.identity(opened), opened.run.run_id, against, stamps)


def flips(opened: session.Opened, store: Store, shown: Trends) -> dict[str, str]:
    """Of each headline that two runs can be compared by: the sentence that decides."""
    if shown.other is None:
        return {}
    run_id, other = shown.current.run_id, shown.other.run_id
    stamps = f"{store.stamp(run_id)} {store.stamp(other)}"
    has_gold = opened.manifest.gold is not None
    return _flips(store, *session.identity(opened), run_id, other, has_gold, stamps)


def cohorts(opened: session.Opened, store: Store, shown: Trends) -> tuple[Sequence[Cohort], Converted]:
    """The workspace's cohorts, and what became of each in every run. A Fault where their file is lost."""
    known = read_cohorts(opened.manifest)
    stamps = f"{_print(opened.manifest, opened.manifest.cohorts)} {_stamps(store, shown)}"
    found = tuple(known.values())
    return found, _converted(store, opened.manifest, found, *session.identity(opened), stamps)


def _stamps(store: Store, shown: Trends) -> str:
    return " ".join(str(store.stamp(run.run_id)) for run in shown.runs)


def _stamp(store: Store, run: Run, manifest: Manifest) -> str:
    """Changes with all that a run's numbers are made of."""
    files = (_print(manifest, artifact) for artifact in (run.bundles, run.metrics))
    return f"{store.stamp(run.run_id)} {' '.join(files)}"


def _print(manifest: Manifest, artifact: Artifact | None) -> str:
    if artifact is None:
        return "-"
    try:
        return fingerprint(artifact_path(manifest, artifact))
    except Fault:  # what is wrong with it is among the run's problems
        return "refused"


@st.cache_resource(max_entries=200, show_spinner=False)
def _trend(
    _store: Store,
    _manifest: Manifest,
    _run: Run,
    folder: str,
    print_: str,
    profile: str,
    run_id: str,
    stamp: str,
) -> RunTrend:
    return run_trend(_store, _manifest, _run)


@st.cache_resource(max_entries=4, show_spinner=False)
def _ranks(
    _store: Store, folder: str, print_: str, profile: str, runs: tuple[str, ...], stamps: str
) -> Ranks:
    return Ranks.of(_store.ranks(runs))


@st.cache_resource(max_entries=16, show_spinner=False)
def _moves(
    _store: Store, folder: str, print_: str, profile: str, run: str, vs: str, stamps: str
) -> Transitions:
    return _store.transitions(Filter(run, vs=vs), "bucket")


@st.cache_resource(max_entries=16, show_spinner=False)
def _slices(
    _store: Store, folder: str, print_: str, profile: str, run_id: str, by: Slice, stamp: str
) -> Mapping[str, Mapping[str, MetricValue]]:
    return metrics_by(_store, run_id, by)


@st.cache_resource(max_entries=16, show_spinner=False)
def _stability(_store: Store, folder: str, print_: str, profile: str, run_id: str, stamp: str) -> Stability:
    return run_stability(_store, run_id)


@st.cache_resource(max_entries=4, show_spinner=False)
def _converted(
    _store: Store,
    _manifest: Manifest,
    _cohorts: Sequence[Cohort],
    folder: str,
    print_: str,
    profile: str,
    stamps: str,
) -> Converted:
    return {
        cohort.name: {each.run_id: each for each in conversions(_store, _manifest, cohort)}
        for cohort in _cohorts
    }


@st.cache_resource(max_entries=16, show_spinner=False)
def _gate(
    _store: Store,
    _manifest: Manifest,
    folder: str,
    print_: str,
    profile: str,
    run_id: str,
    against: str | None,
    stamps: str,
) -> GateReport:
    return gate_run(_store, _manifest, run_id, against=against)


@st.cache_resource(max_entries=64, show_spinner=False)
def _flips(
    _store: Store, folder: str, print_: str, profile: str, run: str, vs: str, has_gold: bool, stamps: str
) -> dict[str, str]:
    told = {}
    for outcome in (name for name in HEADLINES if name in OUTCOMES):
        found = _store.flips(Filter(run, vs=vs, outcome=outcome))
        told[outcome] = verdict_sentence(found, run=run, vs=vs, outcome=outcome, has_gold=has_gold)
    return told
