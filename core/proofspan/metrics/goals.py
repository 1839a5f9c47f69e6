"""Goals of metrics and gates: thresholds, and the verdict on a number with the doubt of its interval.

A manifest's `goals` are `">= 0.70"`, with a bound for warnings `"<= 0.45, warn < 0.60"`, or `"none"`; other
metrics have the default goals below.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from fractions import Fraction
from math import ceil, floor, isfinite
from operator import eq, ge, gt, le, lt
from typing import Any, Literal, NamedTuple, cast

from proofspan.contracts.records.records import LABELS
from proofspan.contracts.rules.catalogue import RULES, is_known, rule_of
from proofspan.diagnosis.messages import SUSPICIONS
from proofspan.diagnosis.verdicts.types import CAUSES, CORRECT, Cause
from proofspan.errors import Problem
from proofspan.metrics.catalogue import LEFT_OUT, METRICS, Metric
from proofspan.metrics.ranked import BUCKETS
from proofspan.metrics.statistics import Z_95
from proofspan.metrics.values import MetricValue, difference_in_words, interval_in_words
from proofspan.wording import counted

Comparison = Literal[">=", "<=", ">", "<", "=="]
Status = Literal["pass", "warn", "fail", "unknown"]

NO_GOAL = "none"
#: Digits to which numbers other than shares are compared.
DECIMALS = 12


class _Words(NamedTuple):
    """The test of a comparison; the goal, the other side of the threshold and its own side in words."""

    test: Callable[[Fraction, Fraction], bool]
    goal: str
    beyond: str
    within: str


_COMPARISONS: Mapping[Comparison, _Words] = {
    ">=": _Words(ge, "at least {}", "less than {}", "{} or more"),
    "<=": _Words(le, "at most {}", "more than {}", "{} or less"),
    ">": _Words(gt, "more than {}", "{} or less", "more than {}"),
    "<": _Words(lt, "less than {}", "{} or more", "less than {}"),
    "==": _Words(eq, "exactly {}", "anything but {}", "{}"),
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
        return _COMPARISONS[self.comparison].test(number, Fraction(self.number))

    def in_words(self, metric: Metric) -> str:
        """`at least 70 %` of a share, `at most 0.45` of other numbers."""
        return _COMPARISONS[self.comparison].goal.format(self.limit(metric))

    def limit(self, metric: Metric) -> str:
        """Return the threshold as the metric's numbers are written: `70 %`, `0.45`."""
        return f"{100 * self.value:g} %" if metric.is_percent else self.number

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
        """`at most 0.45, a warning less than 0.60`, `at least 80 % (our own reading)`."""
        metric = METRICS[self.metric_id]
        words = self.passes.in_words(metric)
        words += f", a warning {self.warns.in_words(metric)}" if self.warns else ""
        return (
            f"{words} (our own reading)" if self.from_default and metric.metric_id in OWN_READINGS else words
        )

    def __str__(self) -> str:
        return f"{self.passes}, warn {self.warns}" if self.warns else str(self.passes)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a number; texts are sentences without their full stops.

    `open` says why the goal may be missed all the same, or is not measured; "" if that is certain. `change`
    says what would make the number pass, or decide it; "" if it passes for certain.
    """

    status: Status
    why: str
    open: str = ""
    change: str = ""


#: The targets of docs/requirements.md, which says which of them are our own readings. That of
#: `lambda_convergent` also fails for any chaotic trace.
DEFAULT_GOALS: Mapping[str, Goal] = {
    name: Goal(name, passes, warns, from_default=True)
    for name, (passes, warns) in {
        "section_match_at_1": (Bound(">=", "0.70"), None),
        "gt_in_top_20": (Bound(">=", "0.90"), None),
        "section_coverage": (Bound(">=", "0.70"), None),
        "citation_match": (Bound(">=", "0.95"), None),
        "anchor_coverage": (Bound(">=", "0.70"), None),
        "delta_s_mean": (Bound("<=", "0.45"), Bound("<", "0.60")),
        "lambda_convergent": (Bound(">=", "0.80"), None),
        "bundle_coverage": (Bound(">=", "0.95"), None),
    }.items()
}


#: The default goals that the requirements do not name, or not as what we count.
OWN_READINGS = ("anchor_coverage", "lambda_convergent", "bundle_coverage")


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
    is_outside = any(not 0 <= bound.value <= 1 for bound in (passes, warns) if bound)
    if is_outside and METRICS[name].is_percent:
        return f"{text.strip()!r} is outside a share, which lies in 0–1"
    if warns is not None:
        signs, gap = {comparison[0], warn_comparison[0]}, passes.value - warns.value
        if not (signs == {">"} and gap >= 0) and not (signs == {"<"} and gap <= 0):
            return f"{text.strip()!r} warns where it passes: the second bound must be the wider one"
    return Goal(name, passes, warns)


def _nearest_metric(name: str) -> str:
    def plain(name: str) -> str:  # letters and digits, with Greek letters spelt out
        spelt = name.lower().replace("δ", "delta").replace("λ", "lambda").replace("@", "at")
        return "".join(char for char in spelt if char.isalnum())

    names = {plain(text): each.metric_id for each in METRICS.values() for text in (each.metric_id, each.name)}
    near = get_close_matches(plain(name), names, n=1, cutoff=0.6)
    return f"write `{names[near[0]]}`" if near else f"name one of {', '.join(METRICS)}"


def judge(goal: Goal, value: MetricValue, *, chaotic: int = 0) -> Verdict:
    """Judge a run's number by a goal, with the doubt that its interval leaves.

    `chaotic` is the number of traces that log the state chaotic: any of them fails λ convergent.
    """
    if goal.metric_id == "lambda_convergent" and chaotic:
        logs, traces = "log" if chaotic > 1 else "logs", counted(chaotic, "trace")
        change = f"make the {traces} converge that {logs} the state chaotic"
        return Verdict("fail", f"fails: {traces} {logs} the state chaotic", change=change)
    if value.value is None or not isfinite(value.value):
        absent = {reason: count for reason, count in value.left_out.items() if count}
        reasons = [f"{LEFT_OUT[reason]} ({count:,})" for reason, count in absent.items()]
        why = f"not measured: {', '.join(reasons) or f'no {value.metric.of}'}"
        most = max(absent, key=absent.__getitem__, default="")
        return Verdict("unknown", why, f"not measured: {LEFT_OUT.get(most, why)}", _MEASURED_BY.get(most, ""))
    number = Fraction(f"{value.value:.{DECIMALS}f}")
    if value.numerator is not None:
        number = Fraction(value.numerator, value.denominator)
    # Both ends of the interval, if it is known: what they reach cannot be excluded.
    known = [end for end in (value.low, value.high) if end is not None and isfinite(end)]
    ends = [Fraction(f"{end:.{DECIMALS}f}") for end in known]
    passes, warns = goal.passes, goal.warns
    status: Status
    doubts: list[str] = []
    if passes.holds(number):
        status, verdict, beyond = "pass", "passes", passes
    else:
        is_within = any(map(passes.holds, ends))
        if passes.comparison == "==" and ends:
            is_within = ends[0] <= Fraction(passes.number) <= ends[-1]
        if is_within:
            doubts.append(_COMPARISONS[passes.comparison].within.format(passes.limit(value.metric)))
        status, verdict, beyond = "fail", "fails", None
        if warns is not None and warns.holds(number):
            status, verdict, beyond = "warn", f"not {passes.in_words(value.metric)}: a warning", warns
    is_open = beyond is not None and not all(map(beyond.holds, ends))
    if beyond is not None and is_open:
        doubts.append(_COMPARISONS[beyond.comparison].beyond.format(beyond.limit(value.metric)))
    one = f"one of the {value.metric.of}"
    sample = one if value.denominator == 1 else f"{value.denominator:,} {value.metric.of}"
    is_one = value.low is None and value.denominator == 1
    why = f"{verdict}, on {one}" if is_one and not doubts else verdict
    if doubts:
        why = f"{verdict}, but {sample} can't exclude {' or '.join(doubts)}"
    if beyond is not None and (is_open or is_one):
        limit, interval = beyond.limit(value.metric), interval_in_words(value)
        reason = f"the interval of {interval} includes the goal {limit}" if is_open else "too few to judge by"
        return Verdict(status, why, f"{sample}: {reason}", _would_decide(beyond, value))
    return Verdict(status, why, change="" if status == "pass" else _would_pass(passes, value))


#: What to do about a goal that is not measured, by why most questions are left out.
_MEASURED_BY: Mapping[str, str] = {
    "no_gold": "give the workspace gold questions",
    "gold_unplaced": "give the gold questions sections, chunks or pages",
    "no_candidates": "write the retrieved candidates into the traces",
    "unplaced": "name the chunk file",
    "no_corpus": "give the chunk file sections or pages",
    "no_anchor": "give the gold questions an anchor",
    "nothing_cited": "make the pipeline write its citations",
    "cited_in_text": "use template seed or none, which read the ids in the text",
    "cited_in_payload": "use template payload or none, which read the payload",
    "places_cited": "make the pipeline cite chunk ids",
    "declined": "ask questions that the pipeline answers",
    "not_checked": "check the claims: `proofspan index WORKSPACE`",
    "no_label": "name the chunk file, so that answers can be judged",
    "not_logged": "make the pipeline log it",
    "few_variants": "ask each question in 3 paraphrases with 2 seeds",
    "no_bundle": "build the bundles: `proofspan bundle build WORKSPACE`",
}


def _would_pass(bound: Bound, value: MetricValue) -> str:
    """Return what a number lacks to pass: `SectionMatch@1 needs 2 more of its 37 questions`, `ΔS mean has to
    fall by 0.048`.
    """
    metric, of = value.metric, value.denominator
    wanted = bound.in_words(metric)
    if bound.comparison == "==":
        return f"{metric.name} has to be {wanted}"
    exact, rises = Fraction(bound.number) * of, bound.comparison in (">=", ">")
    if value.numerator is None:
        gap = difference_in_words(metric, abs(bound.value - (value.value or 0.0))).removeprefix("+")
        if any(digit in gap for digit in "123456789"):
            return f"{metric.name} has to {'rise' if rises else 'fall'} by {gap}"
        return f"{metric.name} has to be {wanted}"
    if rises:
        needed = ceil(exact) if bound.comparison == ">=" else floor(exact) + 1
    else:
        needed = floor(exact) if bound.comparison == "<=" else ceil(exact) - 1
    if not 0 <= needed <= of:
        return f"{metric.name} can't be {wanted} with {of:,} {metric.of}"
    lacking, way = abs(needed - value.numerator), "more" if rises else "fewer"
    return f"{metric.name} needs {lacking:,} {way} of its {of:,} {metric.of} to be {wanted}"


#: More questions than these are no advice.
_MOST_ASKED = 100_000


def _would_decide(bound: Bound, value: MetricValue) -> str:
    """Return how many questions would leave the threshold outside of the interval, if nothing else changed.

    A Wilson interval excludes t where n (p - t)^2 > z^2 t (1 - t); that of a mean shrinks with the root of n.
    """
    metric, number, limit, low, high = value.metric, value.value or 0.0, bound.value, value.low, value.high
    gap, needed = abs(number - limit), 0.0
    if gap and value.numerator is not None:
        needed = floor(Z_95**2 * limit * (1 - limit) / gap**2) + 1
    elif gap and metric.kind == "mean" and low is not None and high is not None:
        needed = ceil(value.denominator * (max(number - low, high - number) / gap) ** 2)
    if value.denominator < needed <= _MOST_ASKED:
        return f"about {needed:,} {metric.of} would decide whether {metric.name} is {bound.in_words(metric)}"
    return f"{metric.name} needs more {metric.of}, or a number further from {bound.limit(metric)}"


# The release gates besides goals, the manifest's `gates`: flips, suspicions, broken rules, lines and drift. A
# gate that cannot be understood fails the run, as a misspelt name would let everything pass.

Column = Literal["label", "bucket", "correct"]

#: The codes of a run that read with another index, model or analyzer than it pins. The traceability contract
#: lets such a run fail fast, so no question may have one unless the manifest allows a number.
FAIL_FAST = ("analyzer_mismatch", "mismatch_index_hash", "embed_model_mismatch")
#: The code of an answer without citations. A profile without a template does not ask for any.
UNCITED_CODE = "empty_citations"

DRIFT = "generation_drift"
#: The suspicions of questions; `template_absent` is one of a whole run.
OF_QUESTIONS = tuple(name for name in SUSPICIONS if name != "template_absent")
#: The causes that are failures, most harmful first.
FAILURES: tuple[Cause, ...] = tuple(name for name in CAUSES if name != "none")
#: The causes that somebody has to read before a release, unless the manifest allows a number: an answer that
#: says what is false or leaves out a danger.
HARMFUL: tuple[Cause, ...] = ("unsafe_omission", "contradicted", "wrong_source", "answered_unanswerable")
#: The states of a question in a run by column.
STATES: Mapping[Column, tuple[str, ...]] = {"label": LABELS, "bucket": BUCKETS, "correct": CORRECT}
_KEYS = (
    "flips",
    "suspicions",
    "causes",
    "codes",
    "line_issues",
    DRIFT,
    "stop_rule",
    "pinning",
    "determinism",
)


@dataclass(frozen=True, slots=True)
class FlipRule:
    """A rule that at most `most` questions may change from `was` in the baseline to one of `now`.

    `allow` are questions that may change. `was` and `now` are values of `column`.
    """

    was: str
    now: tuple[str, ...]
    allow: frozenset[str] = frozenset()
    most: int = 0
    column: Column = "label"


#: The rules of a manifest without `flips`.
DEFAULT_FLIPS = (FlipRule("ok", ("retrieval_drift", DRIFT)),)


@dataclass(frozen=True, slots=True)
class Gates:
    """The gates of a workspace.

    `suspicions`, `causes` and `codes` map each to the number of questions that may have it, `line_issues` is
    the number of lines that may be unreadable beyond the declared ones, `drift` a threshold on
    generation_drift. `stop_rule` is the outcome of a run that raises the stop rule. `pinning` and
    `determinism` are what the pinning record has to be, None for anything.
    """

    flips: tuple[FlipRule, ...] = DEFAULT_FLIPS
    suspicions: Mapping[str, int] = field(default_factory=dict)
    causes: Mapping[Cause, int] = field(default_factory=dict)
    codes: Mapping[str, int] = field(default_factory=dict)
    line_issues: int = 0
    drift: Goal | None = None
    stop_rule: Literal["warn", "fail"] = "warn"
    pinning: Literal["required", "complete"] | None = None
    determinism: Literal["required"] | None = None


def read_gates(given: Mapping[str, Any]) -> tuple[Gates, tuple[Problem, ...]]:
    """Read the gates of a manifest that its schema accepts; return them and the problems of the rest."""
    where = "gates"
    goals, problems = ({}, ()) if DRIFT not in given else read_goals({DRIFT: given[DRIFT]}, where=where)
    rules, suspicions, codes = given.get("flips"), given.get("suspicions", {}), given.get("codes", {})
    unknown = [_unknown("gate", name, _KEYS, where) for name in given if name not in _KEYS]
    flips = []
    for number, entry in enumerate(rules or ()):
        rule = _rule(entry, f"{where}.flips[{number}]")
        if isinstance(rule, FlipRule):
            flips.append(rule)
        else:
            unknown += rule
    unknown += [
        _unknown("suspicion", name, OF_QUESTIONS, f"{where}.suspicions")
        for name in suspicions
        if name not in OF_QUESTIONS
    ]
    causes = given.get("causes", {})
    unknown += [
        _unknown("cause", name, FAILURES, f"{where}.causes") for name in causes if name not in FAILURES
    ]
    counted_codes: dict[str, int] = {}
    for code, most in codes.items():  # rules of chunks or of a file's bytes are no question's
        message = f"`{code}` is not a rule for questions, so the gate would always pass"
        fix = "check the files with `proofspan validate`"
        if not is_known(code):
            message = f"`{code[:80]}` is not a code of the contract"
            near = _nearest(code, tuple(RULES))
            fix = near or "name one that Health shows, or `missing_` and a field's name"
        elif rule_of(code).group not in ("chunk", "reading"):
            counted_codes[code] = int(most)
            continue
        unknown.append(Problem("unknown_code", message, f"{where}.codes", fix))
    gates = Gates(
        flips=DEFAULT_FLIPS if rules is None else tuple(flips),
        suspicions={name: int(most) for name, most in suspicions.items() if name in OF_QUESTIONS},
        causes={name: int(causes[name]) for name in FAILURES if name in causes},
        codes=counted_codes,
        line_issues=int(given.get("line_issues", 0)),
        drift=goals.get(DRIFT),
        stop_rule="fail" if given.get("stop_rule") == "fail" else "warn",
        pinning=given.get("pinning"),
        determinism=given.get("determinism"),
    )
    return gates, (*problems, *unknown)


def _rule(entry: Mapping[str, Any], where: str) -> FlipRule | list[Problem]:
    """Return a rule, or its problems: its states have to be all labels, all buckets or all of correctness."""
    now, states = tuple(dict.fromkeys(entry["to"])), dict.fromkeys([entry["from"], *entry["to"]])
    for column, known in STATES.items():
        if states.keys() <= set(known):
            return FlipRule(
                entry["from"], now, frozenset(entry.get("allow", ())), int(entry.get("most", 0)), column
            )
    known_states = tuple(each for known in STATES.values() for each in known)
    message = f"`{entry['from']}` → `{', '.join(entry['to'])}` mixes labels, buckets and correctness"
    mixed = Problem("gate_mixed", message, where, "write one rule for labels and one for each of the others")
    absent = [each for each in states if each not in known_states]
    return [_unknown("label, bucket or correctness", each, known_states, where) for each in absent] or [mixed]


def _unknown(kind: str, name: str, known: Sequence[str], where: str) -> Problem:
    fix = _nearest(name, known) or f"name one of {', '.join(known)}"
    return Problem(f"unknown_{kind.split()[0].rstrip(',')}", f"`{name[:80]}` is not a {kind}", where, fix)


def _nearest(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name, known, n=1, cutoff=0.6)
    return f"write `{near[0]}`" if near else ""
