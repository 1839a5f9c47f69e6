"""The single checks of a gate: each counts something, says it with its numbers, and names the questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, cast

from proofspan.contracts.codes import rule_of
from proofspan.contracts.records import Label
from proofspan.manifest.types import Manifest, Run
from proofspan.metrics.gates import FlipRule
from proofspan.metrics.goals import Goal, Verdict, judge
from proofspan.metrics.ranked import Bucket
from proofspan.metrics.values import MetricValue
from proofspan.metrics.words import left_out_in_words, value_in_words
from proofspan.services.addresses import list_address
from proofspan.services.measuring import RunMetrics
from proofspan.services.run_lines import run_lines
from proofspan.store.filters import Filter, Sort
from proofspan.store.measures import MISSES
from proofspan.store.queries import Store

Status = Literal["pass", "warn", "fail", "skipped"]
_STATUS_OF: Mapping[str, Status] = {"pass": "pass", "warn": "warn", "fail": "fail", "unknown": "skipped"}
#: So many things are named where a sentence lists them, and so many questions that miss a goal.
NAMED, MOST_ASKED = 5, 1_000


Numbers = Mapping[str, float | int | str | None]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that speaks against a run: what it says, what it was in the baseline, what it is now.

    `in_run` is the run to open it in, the baseline for one that is missing. `was` and `now` are "" where
    nothing is compared.
    """

    q_id: str
    q: str
    in_run: str
    was: str = ""
    now: str = ""

    @property
    def change(self) -> str:
        """`ok → retrieval_drift`, `missing`; "" where nothing is compared."""
        return f"{self.was} → {self.now}" if self.was else self.now


@dataclass(frozen=True, slots=True)
class Check:
    """One line of a gate. `said` holds the numbers in words, `numbers` the same as data.

    `asked` are the questions that speak against the run, worst first, none where the check passes; of many
    that miss a goal or have a suspicion the first thousand, of `count` in all. `shown` is the list of Triage
    that has them.
    """

    name: str
    title: str
    status: Status
    said: str
    numbers: Numbers = field(default_factory=dict)
    asked: tuple[Asked, ...] = ()
    count: int = 0
    shown: Filter | None = None

    @property
    def questions(self) -> tuple[str, ...]:
        """The ids of the questions that speak against the run."""
        return tuple(each.q_id for each in self.asked)

    @property
    def is_change(self) -> bool:
        """Whether the questions speak against the run by what they became."""
        return any(each.change for each in self.asked)

    @property
    def link(self) -> str:
        """The relative address of the list that has them; "" where there is none."""
        return list_address(self.shown) if self.shown is not None else ""


def index_checks(store: Store, run_id: str, against: str | None) -> Iterator[Check]:
    """What keeps the run, or the other one, from being labelled as a whole, such as missing chunks."""
    for run, name in ((run_id, "index"), (against, "index_of_baseline")):
        problems = store.run_facts(run).problems if run is not None else ()
        for place, problem in enumerate(problems):
            status: Status = "fail" if problem.severity == "error" else "warn"
            numbered = f"{name}_{place + 1}" if len(problems) > 1 else name
            said = "; ".join(filter(None, (problem.message, problem.remedy)))
            yield Check(numbered, f"Index of {run}", status, said)


def question_check(store: Store, run_id: str, against: str | None) -> Check:
    """Whether there is anything to judge, and whether the other run's questions are all there."""
    total = store.total(run_id)
    if not total:
        said = f"{run_id} has no question: there is nothing to judge"
        return Check("questions", "Questions", "fail", said, {"questions": 0})
    if against is None:
        return Check("questions", "Questions", "pass", _questions(total), {"questions": total})
    beside = store.flips(Filter(run_id, vs=against))
    both, lost = total - beside.only_here, beside.only_there
    numbers = {"questions": total, "both": both, "only_here": beside.only_here, "only_there": lost}
    said = f"{_questions(total)}, {both:,} of them also in {against}"
    if not lost:
        return Check("questions", "Questions", "pass", said, numbers)
    said = f"{said}; {lost:,} of {against} {'is' if lost == 1 else 'are'} missing here"
    missing = tuple(_missing(store, run_id, against))
    return Check("questions", "Questions", "warn", said, numbers, missing, len(missing))


def _missing(store: Store, run_id: str, against: str) -> Iterator[Asked]:
    """The questions of the other run that this one does not have."""
    here = {each.q_id for each in _asked(store, Filter(run_id))}
    for each in _asked(store, Filter(against)):
        if each.q_id not in here:
            yield replace(each, now="missing")


def line_check(store: Store, manifest: Manifest, run: Run, *, most: int) -> Check:
    """Lines of the run's files that could not be read or belong to nothing, beyond the declared ones."""
    lines = run_lines(store, manifest, run)
    beyond = lines.beyond
    numbers = {"found": lines.found, "declared": lines.declared, "beyond": beyond, "most": most}
    said = f"{beyond:,} line{'s' * (beyond != 1)} could not be used" if beyond else "every line could be used"
    said += f", besides {lines.declared:,} declared" if lines.declared else ""
    if beyond <= most:
        return Check("line_issues", "Line issues", "pass", said, numbers)
    named = lines.undeclared.head(NAMED)
    places = ", ".join(f"{file}:{line}" for file, line in zip(named["file"], named["line"], strict=True))
    more = ", …" if beyond > NAMED else ""
    return Check(
        "line_issues", "Line issues", "fail", f"{said}, at most {most:,} may: {places}{more}", numbers
    )


def goal_checks(store: Store, measured: RunMetrics, goals: Mapping[str, Goal]) -> Iterator[Check]:
    """Each goal with the number that it is on; one that nothing can be counted for is skipped and says so."""
    chaotic = measured.states.get("chaotic", 0)
    for metric_id, value in measured.values.items():
        if metric_id in goals:
            yield _goal_check(store, measured.run_id, value, goals[metric_id], chaotic=chaotic)


def _goal_check(store: Store, run_id: str, value: MetricValue, goal: Goal, *, chaotic: int) -> Check:
    metric, verdict = value.metric, judge(goal, value, chaotic=chaotic)
    status = _STATUS_OF[verdict.status]
    numbers: dict[str, float | int | str | None] = {
        "value": value.value,
        "low": value.low,
        "high": value.high,
        "numerator": value.numerator,
        "denominator": value.denominator,
        "goal": str(goal),
    }
    said = _goal_said(value, goal, verdict)
    if status not in ("warn", "fail") or metric.metric_id not in MISSES:
        return Check(metric.metric_id, metric.name, status, said, numbers)
    shown = Filter(run_id, miss=metric.metric_id)
    asked = tuple(_asked(store, shown, most=MOST_ASKED))
    return Check(metric.metric_id, metric.name, status, said, numbers, asked, store.matching(shown), shown)


def _goal_said(value: MetricValue, goal: Goal, verdict: Verdict) -> str:
    if verdict.status == "unknown":
        return f"goal {goal.in_words()}; {verdict.why}"
    parts = [value_in_words(value), f"goal {goal.in_words()}: {verdict.why}", left_out_in_words(value)]
    return "; ".join(filter(None, parts))


def flip_checks(
    store: Store,
    rules: Sequence[FlipRule],
    run_id: str,
    against: str | None,
    *,
    allow: frozenset[str],
    why_none: str,
) -> Iterator[Check]:
    """Questions that went from what they were to what they may not become."""
    if against is None:
        yield from [Check("flips", "Flips", "skipped", f"nothing is compared: {why_none}")] if rules else []
        return
    for place, rule in enumerate(rules):
        name = f"flips_{place + 1}" if len(rules) > 1 else "flips"
        yield _flip_check(store, rule, run_id, against, name=name, allow=allow | rule.allow)


def _flip_check(
    store: Store, rule: FlipRule, run_id: str, against: str, *, name: str, allow: frozenset[str]
) -> Check:
    title = f"Flips from {rule.was}"
    steps = store.transitions(Filter(run_id, vs=against), rule.column)
    judged = [(was, count) for was, now, count in steps if was is not None and now is not None]
    if not judged:
        said = f"no question is judged in both {run_id} and {against}: nothing could be compared"
        return Check(name, title, "fail", said)
    flipped = [
        replace(each, was=rule.was, now=now)
        for now in rule.now
        for each in _asked(store, _flipped(rule, run_id, against, now))
    ]
    bad = tuple(each for each in flipped if each.q_id not in allow)
    allowed = [each.q_id for each in flipped if each.q_id in allow]
    were = sum(count for was, count in judged if was == rule.was)
    numbers = {"found": len(bad), "allowed": len(allowed), "of": were, "most": rule.most}
    is_over = len(bad) > rule.most
    said = f"{len(bad):,} of {were:,} that were {rule.was} in {against} became {' or '.join(rule.now)}"
    said += f"; at most {rule.most:,} may" if is_over or rule.most else ""
    said += f"; allowed: {_named(allowed)}" if allowed else ""
    if not is_over:
        return Check(name, title, "pass", said, numbers)
    shown = _flipped(rule, run_id, against, *rule.now)
    return Check(name, title, "fail", said, numbers, bad, len(bad), shown)


def _flipped(rule: FlipRule, run_id: str, against: str, *now: str) -> Filter:
    """The questions that were what the rule starts from and are one of `now`."""
    if rule.column == "label":
        return Filter(run_id, vs=against, was=(cast(Label, rule.was),), label=now)
    was, is_now = cast(Bucket, rule.was), cast(tuple[Bucket, ...], now)
    return Filter(run_id, vs=against, was_bucket=(was,), bucket=is_now)


def suspicion_checks(store: Store, suspicions: Mapping[str, int], run_id: str) -> Iterator[Check]:
    """Questions with a suspicion, against how many may have it."""
    for code, most in suspicions.items():
        shown = Filter(run_id, suspicion=(code,))
        yield _at_most(store, shown, most, name=f"suspicion_{code}", title=f"Suspicion {code}")


def code_checks(store: Store, codes: Mapping[str, int], run_id: str) -> Iterator[Check]:
    """Questions that break a rule of the contract, against how many may."""
    for code, most in codes.items():
        shown, told = Filter(run_id, code=(code,)), f"{rule_of(code).title}: "
        yield _at_most(store, shown, most, name=f"code_{code}", title=f"Rule {code}", told=told)


def _at_most(store: Store, shown: Filter, most: int, *, name: str, title: str, told: str = "") -> Check:
    """The check of a list in which at most so many questions may stand; `told` opens its sentence.

    A repeat, or a paraphrase, counts as its question: no headline trace is ever a `duplicate_question`.
    """
    total, every = store.total(shown.run), replace(shown, all_variants=True)
    asked = _asked_once(store, every) if store.matching(every) > store.matching(shown) else None
    found = store.matching(shown) if asked is None else len(asked)
    numbers = {"found": found, "of": total, "most": most}
    said = f"{told}{found:,} of {_questions(total)}"
    said += f"; at most {most:,} may" if found > most or most else ""
    if found <= most:
        return Check(name, title, "pass", said, numbers)
    if asked is None:
        worst = tuple(_asked(store, shown, most=MOST_ASKED))
        return Check(name, title, "fail", said, numbers, worst, found, shown)
    return Check(name, title, "fail", said, numbers, tuple(asked[:MOST_ASKED]), found, every)


def _asked_once(store: Store, shown: Filter) -> list[Asked]:
    """The questions of a list of traces, each where its first trace stands."""
    found: dict[str, Asked] = {}
    for each in _asked(store, shown):
        found.setdefault(each.q_id, each)
    return list(found.values())


def pack_check(run: Run, measured: RunMetrics) -> Iterator[Check]:
    """Whether the stored metrics pack says what is counted now; nothing where none is named."""
    if run.metrics is None or measured.pack is None:
        return
    numbers = {"differences": len(measured.differences)}
    if measured.differences:
        said = "; ".join(difference.in_words() for difference in measured.differences)
        yield Check("metrics_pack", "Metrics pack", "warn", said, numbers)
    else:
        yield Check("metrics_pack", "Metrics pack", "pass", "agrees with what is counted now", numbers)


def _asked(store: Store, shown: Filter, *, most: int | None = None) -> Iterator[Asked]:
    """The questions of a list, worst first; the first `most` of them."""
    rows = store.places(shown, Sort()) if most is None else store.page(shown, Sort(), limit=most, offset=0)
    for q_id, q in zip(rows["q_id"].tolist(), rows["q"].tolist(), strict=True):
        yield Asked(q_id, q, shown.run)


def _questions(count: int) -> str:
    return f"{count:,} question{'s' * (count != 1)}"


def _named(q_ids: Sequence[str]) -> str:
    return ", ".join(q_ids[:NAMED]) + (f" and {len(q_ids) - NAMED:,} more" if len(q_ids) > NAMED else "")
