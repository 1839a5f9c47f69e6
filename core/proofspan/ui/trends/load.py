"""The numbers of Trends, cached by the state of the indexes and files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proofspan.journal.cohorts import Cohort, read_cohorts
from proofspan.manifest.types import Run
from proofspan.metrics.values import MetricValue
from proofspan.services.compare import MetricPair
from proofspan.services.metrics.cohorts import Conversion, Ranks, conversions
from proofspan.services.metrics.run_metrics import (
    RunTrend,
    Trends,
    metrics_by,
    paired_metrics,
    run_trend,
    trends,
)
from proofspan.services.question.variants import Stability, run_stability
from proofspan.store.query.filters import Filter
from proofspan.store.query.metrics import Slice
from proofspan.store.query.store import Store
from proofspan.ui.status.workspace_status import state_of
from proofspan.ui.visit import session

#: Cohort → run → its conversion.
Converted = Mapping[str, Mapping[str, Conversion]]


def load(opened: session.Opened, store: Store) -> Trends:
    """Return the numbers of all runs that have an index."""
    manifest, indexed = opened.manifest, store.runs()
    store.run_sums(indexed)  # of all at once, which the runs then take from memory

    def trend(run: Run) -> RunTrend:
        key = _run_key(opened, store, run)
        return session.cached("trend", key, lambda: run_trend(store, manifest, run), most=200)

    return trends(manifest, indexed, shown=opened.view.run, vs=opened.view.vs, trend=trend)


def ranks(opened: session.Opened, store: Store, shown: Trends) -> Ranks:
    """Return the ranks of all judged questions in these runs."""
    runs = tuple(run.run_id for run in shown.runs)
    key = session.indexes_key(opened, store, *runs)
    return session.cached("ranks", key, lambda: Ranks.of(store.ranks(runs)), most=4)


def pairs(opened: session.Opened, store: Store, shown: Trends) -> Mapping[str, MetricPair]:
    """Return each metric of the shown run beside the other run's, by id, as Compare shows them."""
    run, other = shown.current, shown.other
    if other is None:
        return {}
    both = Filter(run.run_id, vs=other.run_id)
    found = session.cached(
        "paired metrics",
        (both, *_run_key(opened, store, run.run), *_run_key(opened, store, other.run)),
        lambda: paired_metrics(store, both, run.measured, other.measured),
    )
    return {pair.metric.metric_id: pair for pair in found}


def slices(opened: session.Opened, store: Store, by: Slice) -> Mapping[str, Mapping[str, MetricValue]]:
    """Return the shown run's metrics by slice."""
    run_id = opened.run.run_id
    key = (by, *session.indexes_key(opened, store, run_id))
    return session.cached("slices", key, lambda: metrics_by(store, run_id, by))


def stability(opened: session.Opened, store: Store) -> Stability:
    """Return how steady the shown run's questions are over paraphrases and seeds."""
    run_id = opened.run.run_id
    key = session.indexes_key(opened, store, run_id)
    return session.cached("stability", key, lambda: run_stability(store, run_id))


def cohorts(opened: session.Opened, store: Store, shown: Trends) -> tuple[Sequence[Cohort], Converted]:
    """Return the workspace's cohorts, and how many of each converted in every run.

    Raises Fault where their file cannot be read.
    """
    manifest, known = opened.manifest, tuple(read_cohorts(opened.manifest).values())
    indexes = session.indexes_key(opened, store, *(run.run_id for run in shown.runs))
    return known, session.cached(
        "cohorts",
        (state_of(manifest, manifest.cohorts), *indexes),
        lambda: {
            cohort.name: {each.run_id: each for each in conversions(store, manifest, cohort)}
            for cohort in known
        },
        most=4,
    )


def _run_key(opened: session.Opened, store: Store, run: Run) -> tuple[object, ...]:
    """Return what changes with all that a run's numbers are made of."""
    files = (state_of(opened.manifest, artifact) for artifact in (run.bundles, run.metrics))
    return *session.indexes_key(opened, store, run.run_id), *files
