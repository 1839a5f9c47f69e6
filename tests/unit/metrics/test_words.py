"""Metrics in words: every number says of how many, and how sure."""

from __future__ import annotations

import pytest

from proofspan.metrics.catalogue import METRICS
from proofspan.metrics.values import (
    MetricValue,
    Tally,
    counted_in_words,
    difference_in_words,
    left_out_in_words,
    metric_value,
    number_in_words,
    value_in_words,
)


def value(metric_id: str, tally: Tally) -> MetricValue:
    return metric_value(METRICS[metric_id], tally)


@pytest.mark.parametrize(
    ("metric_id", "tally", "expected"),
    [
        ("section_match_at_1", Tally(37, 26), "26 of 37, 70 % (54–83 %)"),
        ("section_match_at_1", Tally(1_200, 1_199), "1,199 of 1,200, >99 % (100–100 %)"),
        ("section_match_at_1", Tally(0), "nothing to count"),
        ("citation_overlap", Tally(4, 4), "4 of 4, 100 % (51–100 %)"),
        ("ndcg_at_10", Tally(4, 2, 1.5), "0.500 (0.100–0.900) over 4 questions"),
        ("ndcg_at_10", Tally(1, 0.5, 0.25), "0.500 over 1"),
        (
            "latency_p95",
            Tally(40, value=1_240.4, low=900, high=2_000),
            "1,240 ms (900–2,000 ms) over 40 questions",
        ),
    ],
)
def test_a_number_says_how_large_of_how_many_and_how_sure(
    metric_id: str, tally: Tally, expected: str
) -> None:
    assert value_in_words(value(metric_id, tally)) == expected


def test_what_is_no_number_is_a_dash() -> None:
    assert number_in_words(METRICS["mrr"], None) == "–"
    assert number_in_words(METRICS["delta_s_mean"], float("nan")) == "–"
    assert counted_in_words(value("mrr", Tally(0))) == "0 questions"


@pytest.mark.parametrize(
    ("metric_id", "number", "expected"),
    [
        ("section_match_at_1", 0.138, "+14 pts"),
        ("section_match_at_1", -0.0031, "−0.3 pts"),
        ("section_match_at_1", -0.0001, "0.0 pts"),
        ("section_match_at_1", 0.0, "0 pts"),
        ("mrr", -0.0312, "−0.031"),
        ("latency_p95", 1_240.4, "+1,240 ms"),
        ("latency_p95", -0.2, "0 ms"),
        ("mrr", float("nan"), "–"),
    ],
)
def test_a_difference_has_its_sign_and_unit(metric_id: str, number: float, expected: str) -> None:
    assert difference_in_words(METRICS[metric_id], number) == expected
    bare = difference_in_words(METRICS[metric_id], number, with_unit=False)
    assert expected.startswith(bare) and not bare.endswith(("pts", "ms"))


def test_what_is_left_out_is_reported_with_its_reasons() -> None:
    shown = value("mrr", Tally(30, 10, left_out={"no_gold": 3, "no_candidates": 1, "unanswerable": 0}))
    assert left_out_in_words(shown) == "4 left out: no gold question (3), the trace lists no candidates (1)"
    assert left_out_in_words(value("mrr", Tally(30, 10))) == ""
