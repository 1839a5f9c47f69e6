"""What was added up for a metric, and the number that it makes: value, of how many, how sure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import Literal

from proofspan.metrics.catalogue import Metric
from proofspan.metrics.intervals import Z_95, wilson

#: Why a question is not in a denominator, with the words that are shown.
LeftOut = Literal[
    "no_gold",
    "unanswerable",
    "answerable",
    "gold_unplaced",
    "no_candidates",
    "no_corpus",
    "short_list",
    "nothing_cited",
    "declined",
    "no_anchor",
    "no_label",
    "not_logged",
    "few_variants",
    "no_bundle",
]
LEFT_OUT: Mapping[LeftOut, str] = {
    "no_gold": "no gold question",
    "unanswerable": "the documents hold no answer",
    "answerable": "the documents hold an answer",
    "gold_unplaced": "the gold names no place",
    "no_candidates": "the trace lists no candidates",
    "no_corpus": "the chunks of the gold place are not known",
    "short_list": "the list is shorter",
    "nothing_cited": "nothing is cited",
    "declined": "the answer declines",
    "no_anchor": "the gold has no anchor",
    "no_label": "no label",
    "not_logged": "not logged",
    "few_variants": "fewer than 3 paraphrases × 2 seeds",
    "no_bundle": "no bundle",
}


@dataclass(frozen=True, slots=True)
class Tally:
    """What the index adds up for one metric over a list of questions.

    `of` counts what is in the denominator, `total` is the sum of their values (0 and 1 for a share),
    `squares` that of their squares. A quantile has its `value` and the values at the ends of its interval,
    all None without a question. `left_out` says how many questions are not in it, by reason.
    """

    of: int
    total: float = 0.0
    squares: float = 0.0
    value: float | None = None
    low: float | None = None
    high: float | None = None
    left_out: Mapping[LeftOut, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MetricValue:
    """A metric's number: `value` with its 95 % interval, None where nothing could be counted.

    `numerator` is the number of things counted by a share, else None. The interval of a mean over one
    question is not known (None); of a mean of numbers in 0–1 that are all 0, or all 1, it is that of a share.
    `left_out` as in the tally.
    """

    metric: Metric
    value: float | None
    low: float | None
    high: float | None
    numerator: int | None
    denominator: int
    left_out: Mapping[LeftOut, int]


def metric_value(metric: Metric, tally: Tally) -> MetricValue:
    """The number of what was added up. The same tally gives the same number wherever it is shown."""
    if metric.kind == "quantile":
        return MetricValue(metric, tally.value, tally.low, tally.high, None, tally.of, tally.left_out)
    if not tally.of:
        return MetricValue(metric, None, None, None, None, 0, tally.left_out)
    value = tally.total / tally.of
    if metric.kind == "share":
        part = round(tally.total)
        return MetricValue(metric, value, *wilson(part, tally.of), part, tally.of, tally.left_out)
    low, high = _interval(tally, value)
    if low is not None and high is not None and metric.is_of_unit_range:
        low, high = max(0.0, low), min(1.0, high)
        if low == high and value in (0.0, 1.0):  # all alike: as sure as a share of so many can be
            low, high = wilson(round(tally.total), tally.of)
    return MetricValue(metric, value, low, high, None, tally.of, tally.left_out)


def _interval(tally: Tally, mean: float) -> tuple[float | None, float | None]:
    """The normal interval of a mean, whatever its values can be."""
    if tally.of < 2:
        return None, None
    spread = max(0.0, tally.squares - tally.of * mean * mean) / (tally.of - 1)
    half = Z_95 * sqrt(spread / tally.of)
    return mean - half, mean + half
