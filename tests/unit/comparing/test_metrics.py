"""Two runs' metrics side by side: what the difference is, and whether it is clear."""

from __future__ import annotations

import numpy as np

from proofspan.metrics.catalogue import METRICS
from proofspan.metrics.values import Tally, metric_value
from proofspan.services.compare import MetricPair, metric_pairs, pair_in_words


def pairs(
    here: dict[str, Tally], there: dict[str, Tally], differences: dict[str, list[float]]
) -> dict[str, MetricPair]:
    now, then = (
        {metric_id: metric_value(METRICS[metric_id], tally) for metric_id, tally in tallies.items()}
        for tallies in (here, there)
    )
    found = metric_pairs(
        now, then, lambda names: {each: np.asarray(differences.get(each, []), float) for each in names}
    )
    return {pair.metric.metric_id: pair for pair in found}


def test_a_share_has_its_difference_an_interval_and_a_p() -> None:
    here, there = ({"section_match_at_1": Tally(37, part, part)} for part in (26.0, 21.0))
    differences = {"section_match_at_1": [1.0] * 6 + [-1.0] + [0.0] * 30}
    (pair,) = pairs(here, there, differences).values()
    assert pair.here is not None and (pair.here.numerator, pair.here.denominator) == (26, 37)
    assert pair.difference is not None and pair.difference.mean == 5 / 37
    assert pair.p == 0.125
    assert (pair.is_clear, pair.is_better) == (False, True)


def test_a_share_is_clear_by_its_p_where_the_interval_alone_would_say_so_too_soon() -> None:
    here, there = ({"gt_in_top_20": Tally(37, part, part)} for part in (35.0, 31.0))
    (pair,) = pairs(here, there, {"gt_in_top_20": [1.0] * 4 + [0.0] * 33}).values()
    assert pair.difference is not None and pair.difference.low > 0
    assert (pair.p, pair.is_clear) == (0.125, False)
    (clear,) = pairs(here, there, {"gt_in_top_20": [1.0] * 6 + [0.0] * 31}).values()
    assert (clear.p, clear.is_clear) == (0.03125, True)


def test_less_is_better_where_the_metric_says_so() -> None:
    here, there = {"delta_s_mean": Tally(4, 1.6, 0.64)}, {"delta_s_mean": Tally(4, 2.0, 1.0)}
    (pair,) = pairs(here, there, {"delta_s_mean": [-0.1] * 4}).values()
    assert (pair.is_clear, pair.is_better, pair.p) == (True, True, None)
    (worse,) = pairs(there, here, {"delta_s_mean": [0.1] * 4}).values()
    assert (worse.is_clear, worse.is_better) == (True, False)


def test_a_quantile_has_a_gap_without_an_interval() -> None:
    here, there = Tally(9, value=120.0, low=90.0, high=300.0), Tally(9, value=150.0, low=90.0, high=300.0)
    (pair,) = pairs({"latency_p50": here}, {"latency_p50": there}, {}).values()
    assert (pair.gap, pair.difference, pair.is_clear, pair.is_better) == (-30.0, None, False, True)


def test_without_a_question_of_both_runs_the_gap_says_that_it_is_not_paired() -> None:
    here, there = ({"ok": Tally(4, part, part)} for part in (3.0, 1.0))
    (pair,) = pairs(here, there, {}).values()
    assert (pair.gap, pair.difference, pair.is_clear) == (0.5, None, False)
    assert pair_in_words(pair) == "+50 pts, not paired"
    (paired,) = pairs(here, there, {"ok": [1.0, 0.0, 0.0, 1.0]}).values()
    assert (paired.gap, paired.difference is not None) == (None, True)
    assert pair_in_words(paired) == "+50 pts (0 to +100), paired over 4 questions"
    (equal,) = pairs(here, there, {"ok": [0.0] * 4}).values()
    assert pair_in_words(equal) == "no difference in any of 4 questions"
    (alone,) = pairs(here, {}, {}).values()
    assert pair_in_words(alone) == ""


def test_what_no_run_counts_is_left_out_and_what_one_counts_is_shown() -> None:
    found = pairs({"mrr": Tally(3, 1.5, 1.0), "ok": Tally(0)}, {"ok": Tally(0)}, {})
    assert list(found) == ["mrr"]
    pair = found["mrr"]
    assert (pair.there, pair.difference, pair.is_better) == (None, None, None)


def test_metrics_are_in_the_order_of_the_catalogue() -> None:
    tally = Tally(2, 1.0, 1.0)
    found = pairs({"ok": tally, "mrr": tally, "section_match_at_1": tally}, {}, {})
    assert list(found) == ["section_match_at_1", "mrr", "ok"]


def test_a_difference_that_is_no_number_counts_for_nothing() -> None:
    tally = {"mrr": Tally(3, 1.5, 1.0)}
    pair = pairs(tally, tally, {"mrr": [0.5, float("nan"), float("inf"), 0.5]})["mrr"]
    assert pair.difference is not None and pair.difference.pairs == 2


def test_a_share_whose_questions_count_more_than_once_has_no_p() -> None:
    tally = {"citation_overlap": Tally(8, 6.0, 6.0)}
    pair = pairs(tally, tally, {"citation_overlap": [0.5, -1.0, 0.0]})["citation_overlap"]
    assert pair.p is None and pair.difference is not None
