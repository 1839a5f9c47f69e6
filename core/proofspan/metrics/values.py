"""The sums of a metric, and its number: value, denominator and interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite, sqrt

from proofspan.metrics.catalogue import LEFT_OUT, Metric
from proofspan.metrics.statistics import Z_95, percent, wilson


@dataclass(frozen=True, slots=True)
class Tally:
    """The sums of a metric over a list of questions.

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
    left_out: Mapping[str, int] = field(default_factory=dict)


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
    left_out: Mapping[str, int]


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
    if tally.of < 2:
        return MetricValue(metric, value, None, None, None, tally.of, tally.left_out)
    spread = max(0.0, tally.squares - tally.of * value * value) / (tally.of - 1)
    half = Z_95 * sqrt(spread / tally.of)
    low, high = value - half, value + half
    if metric.is_of_unit_range:
        low, high = max(0.0, low), min(1.0, high)
        if low == high and value in (0.0, 1.0):  # all alike: the interval of a share
            low, high = wilson(round(tally.total), tally.of)
    return MetricValue(metric, value, low, high, None, tally.of, tally.left_out)


# A metric's number as a person reads it: how large, of how many, how sure, and what was left out.


def number_in_words(metric: Metric, number: float | None) -> str:
    """Return `70 %` of a share or a mean of shares, `0.712` of a mean, `1,240 ms`; `–` without a number."""
    if number is None or not isfinite(number):
        return "–"
    if metric.is_percent:
        return percent(number)
    return f"{number:,.0f} ms" if metric.unit == "ms" else f"{number:.3f}"


def difference_in_words(metric: Metric, number: float, *, with_unit: bool = True) -> str:
    """`+14 pts` of a share (points of 100, `+0.3 pts` of few), `−0.031` of a mean, `+120 ms`; `–` of none."""
    if not isfinite(number):
        return "–"
    if metric.is_percent:
        points = 100 * number
        text, unit = f"{points:+.{1 if 0 < abs(points) < 1 else 0}f}", " pts"
    elif metric.unit == "ms":
        text, unit = f"{number:+,.0f}", " ms"
    else:
        text, unit = f"{number:+.3f}", ""
    if not text.strip("+-0.,"):
        text = text[1:]  # nothing has no sign
    return text.replace("-", "−") + (unit if with_unit else "")


def interval_in_words(value: MetricValue) -> str:
    """`54–83 %`, `0.381–0.452`, `800–1,240 ms`: the 95 % interval; "" where it is not known."""
    if value.low is None or value.high is None or not (isfinite(value.low) and isfinite(value.high)):
        return ""
    if value.metric.is_percent:
        return f"{round(100 * value.low)}–{round(100 * value.high)} %"
    if value.metric.unit == "ms":
        return f"{value.low:,.0f}–{value.high:,.0f} ms"
    return f"{value.low:.3f}–{value.high:.3f}"


def counted_in_words(value: MetricValue) -> str:
    """`26 of 37`, and where nothing is counted but averaged `37 questions` (`1`)."""
    if value.numerator is not None:
        return f"{value.numerator:,} of {value.denominator:,}"
    return "1" if value.denominator == 1 else f"{value.denominator:,} {value.metric.of}"


#: The words for a number that cannot be counted for these reasons, though there is something to count.
NOT_AVAILABLE = "not available"
_UNKNOWN = ("no_label", "not_checked", "no_corpus", "unplaced")


def missing_in_words(value: MetricValue) -> str:
    """`nothing to count`, or `not available` where what the number is counted from is missing."""
    return NOT_AVAILABLE if any(map(value.left_out.get, _UNKNOWN)) else "nothing to count"


def value_in_words(value: MetricValue) -> str:
    """`26 of 37, 70 % (54–83 %)`, `0.412 (0.381–0.452) over 37 questions`, `nothing to count`."""
    if value.value is None:
        return missing_in_words(value)
    number, interval = number_in_words(value.metric, value.value), interval_in_words(value)
    sure = f"{number} ({interval})" if interval else number
    counted = counted_in_words(value)
    return f"{counted}, {sure}" if value.numerator is not None else f"{sure} over {counted}"


def left_out_in_words(value: MetricValue) -> str:
    """`4 left out: no gold question (3), nothing is cited (1)`; "" where all questions count."""
    named = ", ".join(f"{LEFT_OUT[reason]} ({n:,})" for reason, n in value.left_out.items() if n)
    return f"{sum(value.left_out.values()):,} left out: {named}" if named else ""
