"""The runs of a workspace over time, with their metrics, labels and buckets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from proofspan.contracts.records.records import LABELS, Label
from proofspan.manifest.types import Manifest, Run
from proofspan.metrics.ranked import Bucket
from proofspan.metrics.values import MetricValue
from proofspan.services.compare import other_run
from proofspan.services.metrics.run_metrics import RunMetrics, run_metrics
from proofspan.store.query.filters import Filter
from proofspan.store.query.store import Store

#: The shares at the top of the page.
HEADLINES = ("section_match_at_1", "gt_in_top_20", "citation_match", "ok")


@dataclass(frozen=True, slots=True)
class RunTrend:
    """A run's metrics, and its questions by label and bucket, with None for those without.

    `refusals` counts the judged questions by (refused?, gold in the top 20?).
    """

    run: Run
    measured: RunMetrics
    labels: Mapping[Label | None, int]
    buckets: Mapping[Bucket | None, int]
    refusals: Mapping[tuple[bool, bool], int]

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.run.run_id

    @property
    def questions(self) -> int:
        """The number of its questions."""
        return sum(self.labels.values())

    def value(self, metric_id: str) -> MetricValue | None:
        """Return a metric's number, None if nothing is counted for it."""
        value = self.measured.values.get(metric_id)
        return value if value is not None and value.value is not None else None


@dataclass(frozen=True, slots=True)
class Trends:
    """The indexed runs, oldest first, with the index of the shown one, and the one that it is compared with.

    `missing` are the runs without an index.
    """

    runs: tuple[RunTrend, ...]
    shown: int
    other: RunTrend | None = None
    missing: tuple[str, ...] = ()

    @property
    def current(self) -> RunTrend:
        """The shown run."""
        return self.runs[self.shown]


def in_order(manifest: Manifest) -> tuple[Run, ...]:
    """Sort the runs by time; those without one, or with the same, keep the manifest's order."""
    return tuple(sorted(manifest.runs, key=lambda run: run.ts or ""))


def run_trend(store: Store, manifest: Manifest, run: Run) -> RunTrend:
    """Read a run's metrics and counts. Raises StoreFault if it has no index."""
    shown, measured = Filter(run=run.run_id), run_metrics(store, manifest, run.run_id)
    labels: dict[Label | None, int] = {label: measured.values[label].numerator or 0 for label in LABELS}
    labels[None] = measured.values["ok"].left_out.get("no_label", 0)
    return RunTrend(run, measured, labels, store.bucket_counts(shown), store.refusal_table(shown))


def trends(
    manifest: Manifest,
    indexed: Sequence[str],
    *,
    shown: str,
    vs: str | None,
    trend: Callable[[Run], RunTrend],
) -> Trends:
    """Return the `indexed` runs, with `shown` among them; `trend` reads a run.

    It is compared with `vs`, else with its baseline or the run before it, if those have an index.
    """
    runs = {run.run_id: trend(run) for run in in_order(manifest) if run.run_id in indexed}
    other = vs if vs in runs and vs != shown else other_run(manifest, shown)
    missing = tuple(run.run_id for run in manifest.runs if run.run_id not in indexed)
    return Trends(tuple(runs.values()), list(runs).index(shown), runs.get(other or ""), missing)
