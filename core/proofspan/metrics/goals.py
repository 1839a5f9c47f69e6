"""Goals of metrics: thresholds, and the verdict on a number with the doubt that its interval leaves.

A manifest's `goals` are `">= 0.70"`, with a bound for warnings `"<= 0.45, warn < 0.60"`, or `"none"`; other
metrics have the default goals below.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from math import isfinite
from operator import eq, ge, gt, le, lt
from typing import Literal, cast

from proofspan.errors import Problem
from proofspan.metrics.catalogue import LEFT_OUT, METRICS
from proofspan.metrics.values import MetricValue
from proofspan.wording import counted

Comparison = Literal[">=", "<=", ">", "<", "=="]
Status = Literal["pass", "warn", "fail", "unknown"]

NO_GOAL = "none"
#: Digits to which numbers other than shares are compared.
DECIMALS = 12

_TESTS: Mapping[str, Callable[[Fraction, Fraction], bool]] = {">=": ge, "<=": le, ">": gt, "<": lt, "==": eq}
_WORDS: Mapping[Comparison, str] = {
    ">=": "at least",
    "<=": "at most",
    ">": "more than",
    "<": "less than",
    "==": "exactly",
}
#: The other side of a threshold, and its own side, in words.
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
    """A comparison with a number, which is written as in the manifest, such as `0.70`."""

    comparison: Comparison
    number: str

    @property
    def value(self) -> float:
        """The threshold as a number."""
        return float(self.number)

    def holds(self, number: Fraction) -> bool:
        """Return whether a number passes, compared exactly."""
        return _TESTS[self.comparison](number, Fraction(self.number))

    def in_words(self) -> str:
        """`at least 0.70`."""
        return f"{_WORDS[self.comparison]} {self.number}"

    def __str__(self) -> str:
        return f"{self.comparison} {self.number}"


@dataclass(frozen=True, slots=True)
class Goal:
    """A threshold: a number passes by `passes`, warns by `warns`, and fails otherwise."""

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
    """The verdict on a number; `why` is a sentence without its full stop."""

    status: Status
    why: str


#: The targets of docs/requirements.md. That of `lambda_convergent` also fails for any chaotic trace.
DEFAULT_GOALS: Mapping[str, Goal] = {
    name: Goal(name, passes, warns, from_default=True)
    for name, (passes, warns) in {
        "section_match_at_1": (Bound(">=", "0.70"), None),
        "gt_in_top_20": (Bound(">=", "0.90"), None),
        "citation_match": (Bound(">=", "0.95"), None),
        "anchor_coverage": (Bound(">=", "0.70"), None),
        "delta_s_mean": (Bound("<=", "0.45"), Bound("<", "0.60")),
        "lambda_convergent": (Bound(">=", "0.80"), None),
        "bundle_coverage": (Bound(">=", "0.95"), None),
    }.items()
}


def read_goals(
    given: Mapping[str, object], *, where: str = "goals"
) -> tuple[dict[str, Goal], tuple[Problem, ...]]:
    """Return the goals by metric, in the catalogue's order: those of a manifest, else the defaults.

    An unknown metric and an unreadable threshold are warnings, and the metric keeps its default. `where`
    names the place of `given`.
    """
    goals: dict[str, Goal] = dict(DEFAULT_GOALS)
    problems: list[Problem] = []
    for name, text in given.items():
        place = f"{where}.{name}"
        if name not in METRICS:
            message, fix = f"`{name[:80]}` is not a metric", _nearest_metric(name)
            problems.append(Problem("unknown_metric", message, place, fix, severity="warning"))
        elif str(text).strip() == NO_GOAL:
            goals.pop(name, None)
        elif isinstance(goal := _goal(name, text), Goal):
            goals[name] = goal
        else:
            used = f"the default {goals[name]} is used" if name in goals else "it has no goal"
            message = f"`{name}`: {goal}; {used}"
            problems.append(Problem("goal_unreadable", message, place, _HOW, severity="warning"))
    return {name: goals[name] for name in METRICS if name in goals}, tuple(problems)


_HOW = 'write a comparison and a number, such as ">= 0.70" or "<= 0.45, warn < 0.60", or "none"'


def _goal(name: str, text: object) -> Goal | str:
    """Parse a goal, or return why it cannot be parsed."""
    if not isinstance(text, str) or not (match := _GOAL.fullmatch(text)):
        return f"{str(text)[:40]!r} is not a threshold"
    comparison, number, warn_comparison, warn_number = match.groups()
    passes = Bound(cast(Comparison, comparison), number)
    warns = Bound(cast(Comparison, warn_comparison), warn_number) if warn_comparison else None
    bounds = [passes, warns] if warns else [passes]
    metric = METRICS[name]
    if metric.unit == "" and metric.kind == "share" and any(not 0 <= bound.value <= 1 for bound in bounds):
        return f"{text.strip()!r} is outside a share, which lies in 0–1"
    if warns and not _is_wider(warns, passes):
        return f"{text.strip()!r} warns where it passes: the second bound must be the wider one"
    return Goal(name, passes, warns)


def _is_wider(warns: Bound, passes: Bound) -> bool:
    if warns.comparison[0] != passes.comparison[0] or "==" in (warns.comparison, passes.comparison):
        return False
    return warns.value <= passes.value if passes.comparison[0] == ">" else warns.value >= passes.value


def _nearest_metric(name: str) -> str:
    names = {
        _plain(text): metric.metric_id
        for metric in METRICS.values()
        for text in (metric.metric_id, metric.name)
    }
    near = get_close_matches(_plain(name), names, n=1, cutoff=0.6)
    return f"write `{names[near[0]]}`" if near else f"name one of {', '.join(METRICS)}"


def _plain(name: str) -> str:
    """Return the letters and digits of a name, with Greek letters spelt out."""
    spelt = name.lower().replace("δ", "delta").replace("λ", "lambda").replace("@", "at")
    return "".join(char for char in spelt if char.isalnum())


def judge(goal: Goal, value: MetricValue, *, chaotic: int = 0) -> Verdict:
    """Judge a run's number by a goal, with the doubt that its interval leaves.

    `chaotic` is the number of traces that log the state chaotic: any of them fails λ convergent.
    """
    if goal.metric_id == "lambda_convergent" and chaotic:
        logs = "log" if chaotic > 1 else "logs"
        return Verdict("fail", f"fails: {counted(chaotic, 'trace')} {logs} the state chaotic")
    if value.value is None or not isfinite(value.value):
        reasons = [f"{LEFT_OUT[reason]} ({count:,})" for reason, count in value.left_out.items() if count]
        return Verdict("unknown", f"not measured: {', '.join(reasons) or f'no {value.metric.of}'}")
    number = Fraction(f"{value.value:.{DECIMALS}f}")
    if value.numerator is not None:
        number = Fraction(value.numerator, value.denominator)
    if goal.passes.holds(number):
        return Verdict("pass", _with_doubts("passes", value, _beyond(goal.passes, value)))
    doubts = _within(goal.passes, value)
    if goal.warns is not None and goal.warns.holds(number):
        doubts += _beyond(goal.warns, value)
        return Verdict("warn", _with_doubts(f"not {goal.passes.in_words()}: a warning", value, doubts))
    return Verdict("fail", _with_doubts("fails", value, doubts))


def _with_doubts(verdict: str, value: MetricValue, doubts: list[str]) -> str:
    one = f"one of the {value.metric.of}"
    sample = one if value.denominator == 1 else f"{value.denominator:,} {value.metric.of}"
    if doubts:
        return f"{verdict}, but {sample} can't exclude {' or '.join(doubts)}"
    return f"{verdict}, on {one}" if value.low is None and value.denominator == 1 else verdict


def _ends(value: MetricValue) -> list[Fraction]:
    """Return both ends of the interval, if it is known."""
    ends = (end for end in (value.low, value.high) if end is not None and isfinite(end))
    return [Fraction(f"{end:.{DECIMALS}f}") for end in ends]


def _beyond(bound: Bound, value: MetricValue) -> list[str]:
    """Describe the other side of a bound, if the interval reaches there."""
    reaches = any(not bound.holds(end) for end in _ends(value))
    return [_BEYOND[bound.comparison].format(bound.number)] if reaches else []


def _within(bound: Bound, value: MetricValue) -> list[str]:
    """Describe the bound's own side, if the interval reaches there."""
    ends = _ends(value)
    reaches = any(bound.holds(end) for end in ends)
    if bound.comparison == "==" and ends:
        reaches = ends[0] <= Fraction(bound.number) <= ends[-1]
    return [_WITHIN[bound.comparison].format(bound.number)] if reaches else []
