"""Thresholds are read as they are written, and a verdict may be unknown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.metrics.catalogue import METRICS
from proofspan.metrics.goals import DEFAULT_GOALS, Bound, Goal, judge, read_goals
from proofspan.metrics.values import MetricValue, Tally, metric_value

AT_ONE = METRICS["section_match_at_1"]
DELTA_S = METRICS["delta_s_mean"]


def _share(part: int, whole: int, metric_id: str = "section_match_at_1") -> MetricValue:
    return metric_value(METRICS[metric_id], Tally(whole, float(part), float(part)))


def _mean(value: float, low: float | None, high: float | None, of: int = 37) -> MetricValue:
    return MetricValue(DELTA_S, value, low, high, None, of, {})


def test_the_targets_are_shown_where_there_is_nothing_else() -> None:
    goals, problems = read_goals({})
    assert goals == {name: DEFAULT_GOALS[name] for name in METRICS if name in DEFAULT_GOALS}
    assert not problems
    assert all(goal.from_default for goal in goals.values())
    assert {name: str(goal) for name, goal in goals.items()} == {
        "section_match_at_1": ">= 0.70",
        "gt_in_top_20": ">= 0.90",
        "section_coverage": ">= 0.70",
        "citation_match": ">= 0.95",
        "anchor_coverage": ">= 0.70",
        "delta_s_mean": "<= 0.45, warn < 0.60",
        "lambda_convergent": ">= 0.80",
        "bundle_coverage": ">= 0.95",
    }


def test_a_manifest_says_otherwise() -> None:
    goals, problems = read_goals(
        {
            "section_match_at_1": ">=0.8",
            "delta_s_mean": "<= 0.40 , warn<0.50",
            "latency_p95": "< 2000",
            "gt_in_top_20": "none",
        }
    )
    assert not problems
    assert goals["section_match_at_1"] == Goal("section_match_at_1", Bound(">=", "0.8"))
    assert goals["delta_s_mean"] == Goal("delta_s_mean", Bound("<=", "0.40"), Bound("<", "0.50"))
    assert goals["latency_p95"].in_words() == "less than 2000"
    assert "gt_in_top_20" not in goals
    assert list(goals) == [name for name in METRICS if name in goals]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("SectionMatch@1", "section_match_at_1"),
        ("section_match_at1", "section_match_at_1"),
        ("ΔS_mean", "delta_s_mean"),
        ("recall@50", "recall_at_50"),
        ("λ_convergent", "lambda_convergent"),
        ("citation_mach", "citation_match"),
    ],
)
def test_an_unknown_metric_is_answered_with_the_one_that_was_meant(name: str, meant: str) -> None:
    goals, (problem,) = read_goals({name: ">= 0.5", "mrr": ">= 0.5"}, where="m.yaml: goals")
    assert (problem.code, problem.severity) == ("unknown_metric", "warning")
    assert (problem.where, problem.fix) == (f"m.yaml: goals.{name}", f"write `{meant}`")
    assert "mrr" in goals


def test_what_is_like_no_metric_is_answered_with_all_of_them() -> None:
    _, (problem,) = read_goals({"zzzz": ">= 0.5"})
    assert problem.fix.startswith("name one of section_match_at_1, gt_in_top_20, ")


@pytest.mark.parametrize(
    "text",
    [
        *("", "0.70", ">= ", ">= 0,70", "≥ 0.70", ">= 70 %", ">= nan", ">= 1e3", "=> 0.7", ">= ٠.٧"),
        *(">= 70", ">= -0.1", ">= 0.70, warn >= 60", ">= 0.70, warn >= 0.80", ">= 0.70, warn <= 0.60"),
        *(">= 0.70, warn", "== 0.70, warn >= 0.60", None, 0.7, True, [">= 0.70"], {"at": 1}, "> " + "9" * 99),
    ],
    ids=repr,
)
def test_a_threshold_that_cannot_be_read_leaves_the_default(text: object) -> None:
    goals, (problem,) = read_goals({"section_match_at_1": text})
    assert goals["section_match_at_1"] == DEFAULT_GOALS["section_match_at_1"]
    assert (problem.code, problem.severity) == ("goal_unreadable", "warning")
    assert "the default >= 0.70 is used" in problem.message
    assert problem.fix


def test_without_a_default_there_is_no_goal_then() -> None:
    goals, (problem,) = read_goals({"mrr": "high"})
    assert "mrr" not in goals
    assert problem.message.endswith("it has no goal")


@pytest.mark.parametrize(
    ("part", "whole", "status", "why"),
    [
        (26, 37, "pass", "passes, but 37 questions can't exclude less than 70 %"),
        (25, 37, "fail", "fails, but 37 questions can't exclude 70 % or more"),
        (7, 10, "pass", "passes, but 10 questions can't exclude less than 70 %"),
        (37, 37, "pass", "passes"),
        (5, 37, "fail", "fails"),
        (1, 1, "pass", "passes, but one of the questions can't exclude less than 70 %"),
    ],
)
def test_a_share_is_judged_as_counted(part: int, whole: int, status: str, why: str) -> None:
    verdict = judge(DEFAULT_GOALS["section_match_at_1"], _share(part, whole))
    assert (verdict.status, verdict.why) == (status, why)


@pytest.mark.parametrize(
    ("value", "low", "high", "status", "why"),
    [
        (0.40, 0.36, 0.44, "pass", "passes"),
        (0.45, 0.41, 0.49, "pass", "passes, but 37 questions can't exclude more than 0.45"),
        (0.15 + 0.3, 0.44, 0.45, "pass", "passes"),
        (0.52, 0.48, 0.56, "warn", "not at most 0.45: a warning"),
        (
            0.52,
            0.42,
            0.62,
            "warn",
            "not at most 0.45: a warning, but 37 questions can't exclude 0.45 or less or 0.60 or more",
        ),
        (0.60, 0.56, 0.64, "fail", "fails"),
        (0.80, None, None, "fail", "fails"),
    ],
)
def test_a_mean_may_warn(value: float, low: float | None, high: float | None, status: str, why: str) -> None:
    verdict = judge(DEFAULT_GOALS["delta_s_mean"], _mean(value, low, high))
    assert (verdict.status, verdict.why) == (status, why)


def test_one_question_is_named_as_such() -> None:
    verdict = judge(DEFAULT_GOALS["delta_s_mean"], _mean(0.4, None, None, of=1))
    assert verdict.why == "passes, on one of the questions"


def test_what_was_not_counted_is_not_judged() -> None:
    nothing = metric_value(AT_ONE, Tally(0, left_out={"no_gold": 37, "no_candidates": 4, "unanswerable": 0}))
    verdict = judge(DEFAULT_GOALS["section_match_at_1"], nothing)
    assert verdict.status == "unknown"
    assert verdict.why == "not measured: no gold question (37), the trace lists no candidates (4)"
    assert judge(DEFAULT_GOALS["section_match_at_1"], _share(0, 0)).why == "not measured: no questions"
    assert judge(DEFAULT_GOALS["delta_s_mean"], _mean(float("nan"), None, None)).status == "unknown"


@pytest.mark.parametrize("value", [_share(30, 30, "lambda_convergent"), _share(0, 0, "lambda_convergent")])
def test_a_chaotic_state_fails_whatever_converges(value: MetricValue) -> None:
    goal = DEFAULT_GOALS["lambda_convergent"]
    assert judge(goal, value, chaotic=2).why == "fails: 2 traces log the state chaotic"
    assert judge(goal, value, chaotic=1).status == "fail"
    assert judge(DEFAULT_GOALS["gt_in_top_20"], _share(30, 30, "gt_in_top_20"), chaotic=1).status == "pass"


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_an_equality_and_its_doubt(counts: tuple[int, int]) -> None:
    part, whole = counts
    verdict = judge(Goal("section_match_at_1", Bound("==", "0.5")), _share(part, whole))
    assert (verdict.status == "pass") is (2 * part == whole)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 100))
def test_a_better_share_is_never_judged_worse(first: int, second: int, percent: int) -> None:
    worse, better = sorted((first, second))
    goal = Goal("section_match_at_1", Bound(">=", f"{percent / 100:.2f}"))
    rank = ("fail", "pass").index
    assert rank(judge(goal, _share(worse, 60)).status) <= rank(judge(goal, _share(better, 60)).status)
