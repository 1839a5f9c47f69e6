"""The metrics of two runs side by side, each with the difference and how sure it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from proofspan.metrics.catalogue import METRICS, Metric
from proofspan.metrics.paired import LEVEL, Mean, mcnemar, mean_difference
from proofspan.metrics.values import MetricValue


@dataclass(frozen=True, slots=True)
class MetricPair:
    """One metric in both runs: `here` in the newer one, `there` in the other; None where it is not known.

    `difference` is the mean of the differences question by question, over the questions that count in both
    runs; None for a quantile, whose `gap` (newer − other) has no interval. `p` is McNemar's of a share whose
    questions count as 0 or 1.
    """

    metric: Metric
    here: MetricValue | None
    there: MetricValue | None
    difference: Mean | None = None
    gap: float | None = None
    p: float | None = None

    @property
    def is_clear(self) -> bool:
        """Whether the difference is evidence: by McNemar's p where there is one, else by its interval."""
        if self.p is not None:
            return self.p < LEVEL
        mean = self.difference
        return mean is not None and (mean.low > 0 or mean.high < 0)

    @property
    def is_better(self) -> bool | None:
        """Whether the newer run does better; None where nothing says so, or neither way is better."""
        change = self.difference.mean if self.difference is not None else self.gap
        if not change or self.metric.better is None:
            return None
        return (change > 0) == (self.metric.better == "higher")


def metric_pairs(
    here: Mapping[str, MetricValue],
    there: Mapping[str, MetricValue],
    paired: Callable[[str], np.ndarray],
) -> tuple[MetricPair, ...]:
    """Every metric that one of the runs has, in the order of the catalogue.

    `paired` gives the differences of a metric, newer − other, over the questions that count in both.
    """
    both = [(metric, here.get(metric_id), there.get(metric_id)) for metric_id, metric in METRICS.items()]
    return tuple(
        _pair(metric, now, then, paired)
        for metric, now, then in both
        if any(value is not None and value.denominator for value in (now, then))
    )


def _pair(
    metric: Metric,
    now: MetricValue | None,
    then: MetricValue | None,
    paired: Callable[[str], np.ndarray],
) -> MetricPair:
    if now is None or then is None or now.value is None or then.value is None:
        return MetricPair(metric, now, then)
    if metric.kind == "quantile":
        return MetricPair(metric, now, then, gap=now.value - then.value)
    differences = paired(metric.metric_id)
    known = differences[np.isfinite(differences)]
    return MetricPair(metric, now, then, mean_difference(known.tolist()), p=_p(metric, known))


def _p(metric: Metric, differences: np.ndarray) -> float | None:
    """Whether a share flips more one way than the other; None where questions count as more than 0 or 1."""
    if metric.kind != "share" or not len(differences) or not np.isin(differences, (-1, 0, 1)).all():
        return None
    return mcnemar(int((differences > 0).sum()), int((differences < 0).sum()))
