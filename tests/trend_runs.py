"""Runs with made-up numbers, for tests of what Trends shows."""

from __future__ import annotations

from collections.abc import Mapping

from proofspan.contracts.records.records import Label
from proofspan.manifest.types import Run
from proofspan.metrics.catalogue import METRICS
from proofspan.metrics.goals import DEFAULT_GOALS, judge
from proofspan.metrics.values import Tally, metric_value
from proofspan.services.metrics.run_metrics import RunMetrics, RunTrend, Trends

SECTION = "section_match_at_1"


def run_of(
    run_id: str,
    tallies: Mapping[str, Tally] | None = None,
    *,
    labels: Mapping[Label | None, int] | None = None,
    buckets: tuple[int, int, int, int] = (0, 0, 0, 0),
    states: Mapping[str | None, int] | None = None,
    refusals: Mapping[tuple[bool, bool], int] | None = None,
    title: str | None = None,
) -> RunTrend:
    """A run; `buckets` are hit, score_policy, retrieval_gap and not judged; all else is empty."""
    counted = {name: Tally(0, left_out={"no_gold": 3}) for name in METRICS} | dict(tallies or {})
    values = {name: metric_value(METRICS[name], tally) for name, tally in counted.items()}
    verdicts = {name: judge(goal, values[name]) for name, goal in DEFAULT_GOALS.items()}
    names = ("hit", "score_policy", "retrieval_gap", None)
    return RunTrend(
        Run(run_id=run_id, traces=None, title=title),
        RunMetrics(run_id, 37, values, DEFAULT_GOALS, verdicts, states or {None: 5}, {}),
        labels if labels is not None else {"ok": 37},
        dict(zip(names, buckets, strict=True)),
        {},
        refusals or {},
    )


def trends_of(*runs: RunTrend) -> Trends:
    """The runs with the last one shown."""
    return Trends(runs, len(runs) - 1)
