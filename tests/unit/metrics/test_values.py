"""Sums become numbers with intervals; the catalogue has words for each."""

from __future__ import annotations

from statistics import NormalDist, mean, stdev
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.metrics.catalogue import GROUPS, LEFT_OUT, METRICS, Group, Metric
from proofspan.metrics.statistics import wilson
from proofspan.metrics.values import Tally, metric_value

SHARE = METRICS["section_match_at_1"]
MEAN = METRICS["delta_s_mean"]
P95 = METRICS["latency_p95"]


def test_a_share_has_its_counts_and_the_wilson_interval() -> None:
    made = metric_value(SHARE, Tally(37, 26.0, 26.0, left_out={"no_gold": 3}))
    assert (made.value, made.numerator, made.denominator) == (26 / 37, 26, 37)
    assert (made.low, made.high) == wilson(26, 37)
    assert made.left_out == {"no_gold": 3}


@given(st.lists(st.floats(0, 1), min_size=2, max_size=40))
def test_a_mean_has_the_normal_interval_of_its_sample(values: list[float]) -> None:
    made = metric_value(MEAN, Tally(len(values), sum(values), sum(value * value for value in values)))
    half = NormalDist().inv_cdf(0.975) * stdev(values) / len(values) ** 0.5
    assert made.value == pytest.approx(mean(values))
    assert (made.low, made.high) == pytest.approx((mean(values) - half, mean(values) + half), abs=1e-6)
    assert (made.numerator, made.denominator) == (None, len(values))


def test_the_interval_of_what_lies_in_0_to_1_lies_there_too() -> None:
    made = metric_value(METRICS["recall_at_20"], Tally(3, 2.9, 2.81))
    assert made.low is not None and made.low < 1
    assert made.high == 1.0
    assert metric_value(METRICS["recall_at_20"], Tally(3, 0.1, 0.01)).low == 0.0


@pytest.mark.parametrize("part", [0, 6])
def test_numbers_that_are_all_alike_are_no_certainty(part: int) -> None:
    made = metric_value(METRICS["citation_recall"], Tally(6, float(part), float(part)))
    assert (made.low, made.high) == wilson(part, 6)
    logged = metric_value(MEAN, Tally(6, 0.0, 0.0))
    assert (logged.low, logged.high) == (0.0, 0.0)


def test_of_one_question_a_mean_has_no_interval() -> None:
    made = metric_value(MEAN, Tally(1, 0.4, 0.16))
    assert (made.value, made.low, made.high) == (0.4, None, None)


def test_a_quantile_is_what_the_index_found() -> None:
    made = metric_value(P95, Tally(40, value=1800.0, low=1500.0, high=2100.0, left_out={"not_logged": 2}))
    assert (made.value, made.low, made.high, made.denominator) == (1800.0, 1500.0, 2100.0, 40)
    assert (made.numerator, made.left_out) == (None, {"not_logged": 2})


@pytest.mark.parametrize("metric", [SHARE, MEAN, P95], ids=lambda metric: metric.kind)
def test_of_no_questions_there_is_no_number(metric: Metric) -> None:
    made = metric_value(metric, Tally(0, left_out={"no_gold": 5}))
    assert (made.value, made.low, made.high, made.numerator) == (None, None, None, None)
    assert (made.denominator, made.left_out) == (0, {"no_gold": 5})


def test_every_metric_is_named_counted_and_sourced() -> None:
    assert len({metric.name for metric in METRICS.values()}) == len(METRICS)
    for metric_id, metric in METRICS.items():
        assert metric.metric_id == metric_id
        assert metric.group in GROUPS
        assert metric.counted.endswith(".")
        assert metric.source
        assert (metric.quantile is not None) == (metric.kind == "quantile")


def test_every_reason_and_group_has_its_words() -> None:
    measures = [metric.measure for metric in METRICS.values() if metric.measure is not None]
    assert {reason for measure in measures for reason in measure.reasons} <= LEFT_OUT.keys()
    assert list(GROUPS) == list(get_args(Group))
