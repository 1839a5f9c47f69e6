"""The runs of a workspace in their order, each with its numbers and what its questions fall into."""

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

#: The shares that stand above everything else.
HEADLINES = ("section_match_at_1", "gt_in_top_20", "citation_match", "ok")


@dataclass(frozen=True, slots=True)
class RunTrend:
    """One run: its metrics, and how many of its questions have which label and bucket.

    None stands for the questions that have none. `refusals` counts the judged questions by (refused?, gold in
    the top 20?).
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
        """How many questions it holds."""
        return sum(self.labels.values())

    def value(self, metric_id: str) -> MetricValue | None:
        """The number of a metric; None where it is not counted at all."""
        found = self.measured.values.get(metric_id)
        return found if found is not None and found.value is not None else None


@dataclass(frozen=True, slots=True)
class Trends:
    """The runs that have an index, oldest first; `shown` is a place among them, `against` another or None.

    `missing` are the runs without an index.
    """

    runs: tuple[RunTrend, ...]
    shown: int
    against: int | None
    missing: tuple[str, ...] = ()

    @property
    def current(self) -> RunTrend:
        """The shown run."""
        return self.runs[self.shown]

    @property
    def other(self) -> RunTrend | None:
        """The run that it is compared with."""
        return None if self.against is None else self.runs[self.against]


def in_order(manifest: Manifest) -> tuple[Run, ...]:
    """The runs by time; those of the same time, or without one, as the manifest lists them."""
    return tuple(sorted(manifest.runs, key=lambda run: run.ts or ""))


def run_trend(store: Store, manifest: Manifest, run: Run) -> RunTrend:
    """What there is to tell of one run. StoreFault where it has no index."""
    shown = Filter(run=run.run_id)
    measured = run_metrics(store, manifest, run.run_id)
    return RunTrend(
        run,
        measured,
        {label: measured.values[label].numerator or 0 for label in LABELS}
        | {None: measured.values["ok"].left_out.get("no_label", 0)},
        store.bucket_counts(shown),
        store.refusal_table(shown),
    )


def trends(
    manifest: Manifest,
    indexed: Sequence[str],
    *,
    shown: str,
    vs: str | None,
    trend: Callable[[Run], RunTrend],
) -> Trends:
    """The runs of `indexed`, `shown` among them; `trend` reads a run, or remembers it.

    Compared with `vs`, else with the run's baseline or the one before it, where those have an index.
    """
    runs = tuple(run for run in in_order(manifest) if run.run_id in indexed)
    names = [run.run_id for run in runs]
    other = vs if vs in names and vs != shown else other_run(manifest, shown)
    against = other if other in names else None
    return Trends(
        tuple(map(trend, runs)),
        names.index(shown),
        None if against is None else names.index(against),
        tuple(run.run_id for run in manifest.runs if run.run_id not in indexed),
    )
