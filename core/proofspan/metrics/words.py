"""A metric's number as a person reads it: how large, of how many, how sure, and what was left out."""

from __future__ import annotations

from math import isfinite

from proofspan.metrics.catalogue import Metric
from proofspan.metrics.intervals import percent
from proofspan.metrics.values import LEFT_OUT, MetricValue


def number_in_words(metric: Metric, number: float | None) -> str:
    """`70 %` of a share, `0.712` of a mean, `1,240 ms`; `–` where there is none."""
    if number is None or not isfinite(number):
        return "–"
    if metric.kind == "share":
        return percent(number)
    return f"{number:,.0f} ms" if metric.unit == "ms" else f"{number:.3f}"


def difference_in_words(metric: Metric, number: float, *, with_unit: bool = True) -> str:
    """`+14 pts` of a share (points of 100, `+0.3 pts` of few), `−0.031` of a mean, `+120 ms`; `–` of none."""
    if not isfinite(number):
        return "–"
    if metric.kind == "share":
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
    if value.metric.kind == "share":
        return f"{round(100 * value.low)}–{round(100 * value.high)} %"
    if value.metric.unit == "ms":
        return f"{value.low:,.0f}–{value.high:,.0f} ms"
    return f"{value.low:.3f}–{value.high:.3f}"


def counted_in_words(value: MetricValue) -> str:
    """`26 of 37`, and where nothing is counted but averaged `37 questions` (`1`)."""
    if value.numerator is not None:
        return f"{value.numerator:,} of {value.denominator:,}"
    return "1" if value.denominator == 1 else f"{value.denominator:,} {value.metric.of}"


def value_in_words(value: MetricValue) -> str:
    """`26 of 37, 70 % (54–83 %)`, `0.412 (0.381–0.452) over 37 questions`, `nothing to count`."""
    if value.value is None:
        return "nothing to count"
    number, interval = number_in_words(value.metric, value.value), interval_in_words(value)
    sure = f"{number} ({interval})" if interval else number
    counted = counted_in_words(value)
    return f"{counted}, {sure}" if value.numerator is not None else f"{sure} over {counted}"


def left_out_in_words(value: MetricValue) -> str:
    """`4 left out: no gold question (3), nothing is cited (1)`; "" where all questions count."""
    reasons = [(LEFT_OUT[reason], count) for reason, count in value.left_out.items() if count]
    if not reasons:
        return ""
    named = ", ".join(f"{words} ({count:,})" for words, count in reasons)
    return f"{sum(count for _, count in reasons):,} left out: {named}"
