"""The metrics that Trends shows, as files: of the whole run, or of its slices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from proofspan.metrics.values import MetricValue
from proofspan.services.metrics_export import METRIC_EXPORTS, metric_rows
from proofspan.services.trends import RunTrend
from proofspan.ui.export import export_menu


def metrics_export(
    run: RunTrend, slices: Mapping[str, Mapping[str, MetricValue]] | None, *, name: str
) -> None:
    """A file of the whole run's metrics, or of each of the `slices`; `name` is the workspace's."""
    parts = len(run.measured.values) if slices is None else sum(map(len, slices.values()))
    export_menu(
        lambda: _rows(run, slices),
        matching=parts,
        name=f"{name} {run.run_id}",
        stem="metrics",
        exports=METRIC_EXPORTS,
    )


def _rows(run: RunTrend, slices: Mapping[str, Mapping[str, MetricValue]] | None) -> Iterator[pd.DataFrame]:
    measured = run.measured
    if slices is None:
        yield metric_rows(run.run_id, measured.values, goals=measured.goals, verdicts=measured.verdicts)
        return
    for name, values in slices.items():
        yield metric_rows(run.run_id, values, slice_name=name)
