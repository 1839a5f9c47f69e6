"""What a run is to reach: thresholds on metrics, and the verdict on a number with what speaks against it.

A manifest's `goals` say `">= 0.70"`, or with a bound for warnings `"<= 0.45, warn < 0.60"`, or `"none"`; for
metrics that they do not name, the targets below count. A verdict is on the number as it was
counted; where its interval holds the threshold, the verdict says that so many questions can't tell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from math import isfinite
from operator import eq, ge, gt, le, lt
from typing import Literal, cast

from proofspan.errors import Problem
from proofspan.metrics.catalogue import LEFT_OUT, METRICS, Metric
from proofspan.metrics.values import MetricValue

Comparison = Literal[">=", "<=", ">", "<", "=="]
Status = Literal["pass", "warn", "fail", "unknown"]

NO_GOAL = "none"
#: Digits after which two numbers that are no counted share are the same.
DECIMALS = 12

_TESTS: Mapping[str, Callable[[Fraction, Fraction], bool]] = {">=": ge, "<=": le, ">": gt, "<": lt, "==": eq}
_WORDS: Mapping[Comparison, str] = {
    ">=": "at least",
    "<=": "at most",
    ">": "more than",
    "<": "less than",
    "==": "exactly",
}
#: What lies on the other side of a threshold, and what on its own.
_BEYOND: Mapping[Comparison, str] = {
    ">=": "less than {}",
    "<=": "more than {}",
    ">": "{} or less",
    "<": "{} or more",
    "==": "anything but {}",
}
_WITHIN: Mapping[Comparison, str] = {
    ">=": "{} or more",
    "<=": "{} or less",
    ">": "more than {}",
    "<": "less than {}",
    "==": "{}",
}
_BOUND = r"(>=|<=|>|<|==)\s*(-?\d{1,9}(?:\.\d{1,9})?)"
_GOAL = re.compile(rf"\s*{_BOUND}\s*(?:,\s*warn\s*{_BOUND}\s*)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Bound:
    """A comparison with a number; `number` is written as in the manifest, such as `0.70`."""

    comparison: Comparison
    number: str

    @property
    def value(self) -> float:
        """The number to draw a line at."""
        return float(self.number)

    def holds(self, number: Fraction) -> bool:
        """Whether a number passes, compared exactly."""
        return _TESTS[self.comparison](number, Fraction(self.number))

    def in_words(self) -> str:
        """`at least 0.70`."""
        return f"{_WORDS[self.comparison]} {self.number}"

    def __str__(self) -> str:
        return f"{self.comparison} {self.number}"


@dataclass(frozen=True, slots=True)
class Goal:
    """A number that meets `passes` is good; one that only meets `warns` is a warning, any other fails."""

    metric_id: str
    passes: Bound
    warns: Bound | None = None
    from_default: bool = False

    def in_words(self) -> str:
        """`at most 0.45, a warning less than 0.60`."""
        return self.passes.in_words() + (f", a warning {self.warns.in_words()}" if self.warns else "")

    def __str__(self) -> str:
        return f"{self.passes}, warn {self.warns}" if self.warns else str(self.passes)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a goal says of a number. `why` is a sentence without its full stop, in the words of a reader."""

    status: Status
    why: str


def _default(metric_id: str, passes: Bound, warns: Bound | None = None) -> Goal:
    return Goal(metric_id, passes, warns, from_default=True)


#: The targets of docs/requirements.md, where a manifest says nothing else. That of `lambda_convergent` is
#: met only by a run in which no trace logs the state chaotic: see `judge`.
DEFAULT_GOALS: Mapping[str, Goal] = {
    goal.metric_id: goal
    for goal in (
        _default("section_match_at_1", Bound(">=", "0.70")),
        _default("gt_in_top_20", Bound(">=", "0.90")),
        _default("citation_match", Bound(">=", "0.95")),
        _default("anchor_coverage", Bound(">=", "0.70")),
        _default("delta_s_mean", Bound("<=", "0.45"), Bound("<", "0.60")),
        _default("lambda_convergent", Bound(">=", "0.80")),
        _default("bundle_coverage", Bound(">=", "0.95")),
    )
}


def read_goals(
    given: Mapping[str, object], *, where: str = "goals"
) -> tuple[dict[str, Goal], tuple[Problem, ...]]:
    """The goals by metric, in the metrics' order: those of a manifest, and the defaults for all others.

    A metric that nobody knows and a threshold that can't be read are problems (warnings) that name what was
    probably meant; the rest of the goals stand. `where` names the place of `given`.
    """
    goals: dict[str, Goal] = dict(DEFAULT_GOALS)
    problems: list[Problem] = []
    for name, text in given.items():
        place = f"{where}.{name}"
        if name not in METRICS:
            problems.append(_unknown(name, place))
        elif str(text).strip() == NO_GOAL:
            goals.pop(name, None)
        elif isinstance(goal := _goal(name, text), Goal):
            goals[name] = goal
        else:
            stands = f"the default {goals[name]} stands" if name in goals else "it has no goal"
            problems.append(_problem("goal_unreadable", f"`{name}`: {goal}; {stands}", place, _HOW))
    return {name: goals[name] for name in METRICS if name in goals}, tuple(problems)


def judge(goal: Goal, value: MetricValue, *, chaotic: int = 0) -> Verdict:
    """What a goal says of a run's number, and why that may be luck.

    `chaotic` is the number of traces that log the state chaotic: with one of them λ fails, whatever its share
    of convergent questions.
    """
    if goal.metric_id == "lambda_convergent" and chaotic:
        return Verdict("fail", f"fails: {_traces(chaotic)} the state chaotic")
    if value.value is None or not isfinite(value.value):
        return Verdict("unknown", f"not measured: {_why_not(value)}")
    number = _exact(value)
    if goal.passes.holds(number):
        return Verdict("pass", _said("passes", value, _beyond(goal.passes, value)))
    if goal.warns is not None and goal.warns.holds(number):
        doubts = [*_within(goal.passes, value), *_beyond(goal.warns, value)]
        return Verdict("warn", _said(f"not {goal.passes.in_words()}: a warning", value, doubts))
    doubts = _within(goal.passes, value)
    return Verdict("fail", _said("fails", value, doubts))


_HOW = 'write a comparison and a number, such as ">= 0.70" or "<= 0.45, warn < 0.60", or "none"'


def _goal(name: str, text: object) -> Goal | str:
    """The goal that a text is, or what keeps it from being one."""
    if not isinstance(text, str) or not (match := _GOAL.fullmatch(text)):
        return f"{str(text)[:40]!r} is no threshold"
    comparison, number, warn_comparison, warn_number = match.groups()
    passes = Bound(cast(Comparison, comparison), number)
    warns = Bound(cast(Comparison, warn_comparison), warn_number) if warn_comparison else None
    bounds = [passes, warns] if warns else [passes]
    metric = METRICS[name]
    if metric.unit == "" and metric.kind == "share" and any(not 0 <= bound.value <= 1 for bound in bounds):
        return f"{text.strip()!r} is beyond a share, which lies in 0–1"
    if warns and not _is_wider(warns, passes):
        return f"{text.strip()!r} warns where it passes: the second bound has to be the wider one"
    return Goal(name, passes, warns)


def _is_wider(warns: Bound, passes: Bound) -> bool:
    if warns.comparison[0] != passes.comparison[0] or "==" in (warns.comparison, passes.comparison):
        return False
    return warns.value <= passes.value if passes.comparison[0] == ">" else warns.value >= passes.value


def _unknown(name: str, place: str) -> Problem:
    names = {_plain(text): metric.metric_id for metric in METRICS.values() for text in _names(metric)}
    near = get_close_matches(_plain(name), names, n=1, cutoff=0.6)
    fix = f"write `{names[near[0]]}`" if near else f"name one of {', '.join(METRICS)}"
    return _problem("unknown_metric", f"`{name[:80]}` is no metric that is counted here", place, fix)


def _names(metric: Metric) -> tuple[str, str]:
    return metric.metric_id, metric.name


def _plain(name: str) -> str:
    """A name as it is compared with others: letters and digits, Greek spelt out."""
    spelt = name.lower().replace("δ", "delta").replace("λ", "lambda").replace("@", "at")
    return "".join(char for char in spelt if char.isalnum())


def _problem(code: str, message: str, place: str, fix: str) -> Problem:
    return Problem(code, message, place, fix, severity="warning")


def _exact(value: MetricValue) -> Fraction:
    """The number to compare: a share exactly, what was added up from fractions to so many decimals."""
    if value.numerator is not None:
        return Fraction(value.numerator, value.denominator)
    return Fraction(f"{value.value:.{DECIMALS}f}")


def _said(verdict: str, value: MetricValue, doubts: list[str]) -> str:
    if doubts:
        return f"{verdict}, but {_counted(value)} can't exclude {' or '.join(doubts)}"
    if value.low is None and value.denominator == 1:
        return f"{verdict}, on {_counted(value)}"
    return verdict


def _counted(value: MetricValue) -> str:
    """`37 questions`; of one thing `one of the questions`, whatever its plural is."""
    if value.denominator == 1:
        return f"one of the {value.metric.of}"
    return f"{value.denominator:,} {value.metric.of}"


def _ends(value: MetricValue) -> Iterator[Fraction]:
    """Both ends of the interval, where it is known."""
    for end in (value.low, value.high):
        if end is not None and isfinite(end):
            yield Fraction(f"{end:.{DECIMALS}f}")


def _beyond(bound: Bound, value: MetricValue) -> list[str]:
    """What lies on the other side of a bound, where the interval reaches there."""
    reaches = any(not bound.holds(end) for end in _ends(value))
    return [_BEYOND[bound.comparison].format(bound.number)] if reaches else []


def _within(bound: Bound, value: MetricValue) -> list[str]:
    """What lies on the bound's own side, where the interval reaches there."""
    ends = list(_ends(value))
    reaches = any(bound.holds(end) for end in ends)
    if bound.comparison == "==" and ends:
        reaches = ends[0] <= Fraction(bound.number) <= ends[-1]
    return [_WITHIN[bound.comparison].format(bound.number)] if reaches else []


def _why_not(value: MetricValue) -> str:
    """`no gold question (37), not logged (4)`: why nothing could be counted."""
    reasons = [f"{LEFT_OUT[reason]} ({count:,})" for reason, count in value.left_out.items() if count]
    return ", ".join(reasons) or f"no {value.metric.of}"


def _traces(count: int) -> str:
    return "1 trace logs" if count == 1 else f"{count:,} traces log"
