"""May a run ship? Every check that `proofspan gate` and the Trends page make, as one list."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, cast
from xml.etree import ElementTree as Xml

from proofspan.contracts.records.records import Label
from proofspan.contracts.rules.catalogue import rule_of
from proofspan.errors import InputFault, Problem, printable
from proofspan.manifest.types import Manifest, Run
from proofspan.metrics.gates import FlipRule, Gates, read_gates
from proofspan.metrics.goals import Goal, Verdict, judge, read_goals
from proofspan.metrics.ranked import Bucket
from proofspan.metrics.values import MetricValue, left_out_in_words, value_in_words
from proofspan.services.health.run_findings import run_lines
from proofspan.services.metrics.run_metrics import RunMetrics, run_metrics
from proofspan.services.workspace.links import absolute, list_address, question_address
from proofspan.services.workspace.open import chosen_run
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.metric_sql import MISSES
from proofspan.store.query.store import Store


@dataclass(frozen=True, slots=True)
class GateReport:
    """The checks of one run, against another where there is one; `questions` counts its headline ones."""

    run_id: str
    against: str | None
    questions: int
    checks: tuple[Check, ...]

    def counts(self) -> dict[Status, int]:
        """How many checks came out which way; every way is there."""
        statuses: tuple[Status, ...] = ("fail", "warn", "pass", "skipped")
        return {status: sum(check.status == status for check in self.checks) for status in statuses}

    def passes(self, *, strict: bool = False) -> bool:
        """Whether the run may ship; `strict`: a warning is enough to say no."""
        return not any(check.status == "fail" or (strict and check.status == "warn") for check in self.checks)

    def counts_in_words(self) -> str:
        """`9 of 10 checks pass, 1 warns, 2 skipped`."""
        count = self.counts()
        judged = len(self.checks) - count["skipped"]
        parts = [f"{count['pass']} of {judged} checks pass"]
        parts += [f"{count['fail']} fail{'s' * (count['fail'] == 1)}"] if count["fail"] else []
        parts += [f"{count['warn']} warn{'s' * (count['warn'] == 1)}"] if count["warn"] else []
        parts += [f"{count['skipped']} skipped"] if count["skipped"] else []
        return ", ".join(parts)


def gate_run(
    store: Store,
    manifest: Manifest,
    run_id: str,
    *,
    against: str | None = None,
    goals: Mapping[str, Goal] | None = None,
    allow: Collection[str] = (),
) -> GateReport:
    """Every check of an indexed run, in a fixed order.

    `against` is the run that flips are counted from, else the run's baseline in the manifest. `goals` stand
    for those of the manifest by metric; `allow` are questions that may flip, besides those that the manifest
    allows. InputFault where there is no such run, or it is compared with itself; StoreFault where it has no
    index.
    """
    run = chosen_run(manifest, run_id)
    other, why_none = _baseline(store, manifest, run_id, against)
    gates, misread = read_gates(manifest.gates)
    wanted, odd_goals = read_goals(manifest.goals)
    measured = run_metrics(store, manifest, run_id)
    judged = {**wanted, **_drift(gates), **(goals or {})}
    checks = [
        *index_checks(store, run_id, other),
        question_check(store, run_id, other),
        *flip_checks(store, gates.flips, run_id, other, allow=frozenset(allow), why_none=why_none),
        *suspicion_checks(store, gates.suspicions, run_id),
        *code_checks(store, gates.codes, run_id),
        line_check(store, manifest, run, most=gates.line_issues),
        *goal_checks(store, measured, judged),
        *pack_check(run, measured),
        *_misread("gates", "Gates", "fail", misread),
        *_misread("goals", "Goals", "warn", odd_goals),
        *_misread("files", "Files", "warn", measured.problems),
    ]
    return GateReport(run_id, other, measured.questions, tuple(checks))


def _baseline(store: Store, manifest: Manifest, run_id: str, against: str | None) -> tuple[str | None, str]:
    """The run that flips are counted from, else None and why there is none."""
    if against is not None:
        other = chosen_run(manifest, against).run_id
        if other == run_id:
            raise InputFault.of(
                "same_run",
                f"{run_id!r} would be compared with itself",
                where=str(manifest.folder),
                fix="name the earlier run with --against",
            )
        return other, ""
    baseline = chosen_run(manifest, run_id).baseline
    if baseline is None:
        return None, "the manifest names no baseline for this run, and no other run is named"
    if baseline == run_id or manifest.run(baseline) is None:
        return None, f"its baseline {baseline} is no other run of the manifest"
    if store.stamp(baseline) is None:
        return None, f"its baseline {baseline} has no index yet"
    return baseline, ""


def _drift(gates: Gates) -> dict[str, Goal]:
    return {gates.drift.metric_id: gates.drift} if gates.drift is not None else {}


def _misread(name: str, title: str, status: Status, problems: Collection[Problem]) -> Iterator[Check]:
    """A check for each thing in the manifest or beside the run that cannot be used."""
    for place, problem in enumerate(problems):
        numbered = f"{name}_{place + 1}" if len(problems) > 1 else name
        said = f"{problem.where}: {problem.message}" if problem.where else problem.message
        yield Check(numbered, title, status, "; ".join(filter(None, (said, problem.fix))))


# The single checks of a gate: each counts something, says it with its numbers, and names the questions.

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
            said = "; ".join(filter(None, (problem.message, problem.fix)))
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
    said += f"; allowed: {_joined_names(allowed)}" if allowed else ""
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


def _joined_names(q_ids: Sequence[str]) -> str:
    return ", ".join(q_ids[:NAMED]) + (f" and {len(q_ids) - NAMED:,} more" if len(q_ids) > NAMED else "")


# A gate's report as files: JUnit XML for a CI server, Markdown for a pull request, JSON for programs.
#
# Questions, run ids and paths come from elsewhere: no format lets them become markup, and the same report
# gives the same bytes.

#: So many questions of a check are listed in Markdown, where a comment has little room, and so many in XML.
SHOWN, SHOWN_IN_XML = 20, 1_000
#: So much of a question is shown.
CUT = 160
WORDS: dict[Status, str] = {"fail": "✗ fails", "warn": "! warns", "pass": "✓ passes", "skipped": "– skipped"}

#: What XML 1.0 has no way to write.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BACKTICKS = re.compile(r"`+")
_QUOTED = re.compile(r"`[^`]+`")
#: A word of these characters alone is nothing to Markdown, wherever it stands in a cell or a heading.
_PLAIN_WORD = re.compile(r"\(?(?:[^\W_]|[%–·≥≤=×…→]|(?<=\d)[.,](?=\d)|(?<=[^\W_])[-’'](?=[^\W_]))+[.,:;)]*")


def report_to_json(report: GateReport, *, strict: bool, base: str = "") -> dict[str, object]:
    """The report as plain data, with the questions of every check; `base` makes its links absolute."""
    return {
        "run_id": report.run_id,
        "against": report.against,
        "passes": report.passes(strict=strict),
        "strict": strict,
        "questions": report.questions,
        "counts": report.counts(),
        "checks": [_check_to_json(check, base) for check in report.checks],
    }


def junit_xml(report: GateReport, *, strict: bool) -> bytes:
    """One suite with a test case a check; a failure names its questions. Warnings fail where `strict`."""
    count = report.counts()
    failures = count["fail"] + (count["warn"] if strict else 0)
    totals = {"tests": len(report.checks), "failures": failures, "errors": 0, "skipped": count["skipped"]}
    numbers = {name: str(number) for name, number in totals.items()} | {"time": "0"}
    root = Xml.Element("testsuites", {"name": "proofspan gate", **numbers})
    suite = Xml.SubElement(root, "testsuite", {"name": _xml(_title(report)), **numbers})
    for check in report.checks:
        _test_case(suite, report, check, strict=strict)
    Xml.indent(root)
    written: bytes = Xml.tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def markdown(report: GateReport, *, strict: bool, base: str = "") -> str:
    """A heading, a table with a line a check, and the questions that speak against the run.

    With `base`, the address of a dashboard, each question and each list is a link that opens it.
    """
    lines = [
        f"## Gate: {_title(report, code)} {'passes' if report.passes(strict=strict) else 'fails'}",
        "",
        report.counts_in_words() + (" (warnings count)" if strict else ""),
        "",
        "| | check | result |",
        "|---|---|---|",
        *(
            f"| {WORDS[check.status]} | {prose(check.title)} | {prose(check.said)} |"
            for check in report.checks
        ),
    ]
    for check in report.checks:
        if check.asked:
            lines += ["", *_listed(report, check, base)]
    return "\n".join(lines) + "\n"


def question_line(each: Asked) -> str:
    """`Q80  ok → retrieval_drift: How do I …`, for one line of text."""
    change = f"{each.change}: " if each.change else ""
    return f"{one_line(each.q_id)}  {change}{one_line(each.q)}"


def one_line(text: str, *, cut: int | None = CUT) -> str:
    """The text on one line, cut, and with what acts on a screen as escapes."""
    plain = printable(" ".join(text.split()))
    return plain if cut is None or len(plain) <= cut else f"{plain[: cut - 1]}…"


def code(text: str) -> str:
    """A text of others as a code span: nothing in it is markup, and no name or address becomes a link."""
    plain = one_line(text) or " "
    fence = "`" * (max((len(run) for run in _BACKTICKS.findall(plain)), default=0) + 1)
    pad = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{fence}{pad}{plain}{pad}{fence}"


def prose(text: str) -> str:
    """A sentence of ours, in which every word that Markdown could take for more stands as a code span.

    For a cell, which a `|` would end whatever stands around it: it is shown as `¦`.
    """
    words = printable(" ".join(text.split())).replace("|", "¦").split(" ")
    return " ".join(word if _PLAIN_WORD.fullmatch(word) else _coded(word) for word in words)


def _coded(word: str) -> str:
    """The word as code, without the mark of the sentence that it ends with, nor backticks of our own."""
    body = word.rstrip(",;:.") or word
    bare = body[1:-1] if _QUOTED.fullmatch(body) else body
    return f"{code(bare)}{word[len(body) :]}"


def _title(report: GateReport, named: Callable[[str], str] = one_line) -> str:
    """`R005 against R004`."""
    against = f" against {named(report.against)}" if report.against is not None else ""
    return f"{named(report.run_id)}{against}"


def _check_to_json(check: Check, base: str) -> dict[str, object]:
    return {
        "name": check.name,
        "title": check.title,
        "status": check.status,
        "said": check.said,
        "numbers": dict(check.numbers),
        "questions": [
            {"q_id": each.q_id, "q": each.q, "was": each.was or None, "now": each.now or None}
            for each in check.asked
        ],
        "questions_count": check.count,
        "link": absolute(base, check.link) if base and check.link else check.link or None,
    }


def _test_case(suite: Xml.Element, report: GateReport, check: Check, *, strict: bool) -> None:
    named = {
        "classname": _xml(f"proofspan.gate.{one_line(report.run_id)}"),
        "name": _xml(check.name),
        "time": "0",
    }
    case = Xml.SubElement(suite, "testcase", named)
    said = _xml(one_line(check.said, cut=None))
    if check.status == "fail" or (strict and check.status == "warn"):
        failure = Xml.SubElement(case, "failure", {"message": said, "type": check.status})
        failure.text = _xml("\n".join([f"{one_line(check.title)}: {said}", *_in_lines(check)]))
    elif check.status == "skipped":
        Xml.SubElement(case, "skipped", {"message": said})
    else:
        warning = "warning: " if check.status == "warn" else ""
        Xml.SubElement(case, "system-out").text = _xml("\n".join([f"{warning}{said}", *_in_lines(check)]))


def _in_lines(check: Check) -> Iterator[str]:
    for each in check.asked[:SHOWN_IN_XML]:
        yield question_line(each)
    if check.count > SHOWN_IN_XML:
        yield f"… and {check.count - SHOWN_IN_XML:,} more"


def _listed(report: GateReport, check: Check, base: str) -> Iterator[str]:
    """The questions of a check under a heading: what changed with its text, what merely counts by name."""
    count = check.count
    yield f"### {prose(check.title)}: {count:,} question{'s' * (count != 1)}"
    yield ""
    more = f"… and {count - SHOWN:,} more" if count > SHOWN else ""
    if check.is_change:
        for each in check.asked[:SHOWN]:
            yield f"- {_linked_name(report, each, base)} {prose(each.change)}: {code(each.q)}"
        yield from [f"- {more}"] if more else []
    else:
        names = [_linked_name(report, each, base) for each in check.asked[:SHOWN]]
        yield ", ".join([*names, more] if more else names)
    if base and check.link:
        yield ""
        yield f"[All of them in Triage]({absolute(base, check.link)})"


def _linked_name(report: GateReport, each: Asked, base: str) -> str:
    """A question's id, with `base` as a link that opens it."""
    if not base:
        return code(each.q_id)
    vs = report.against if each.in_run == report.run_id else None
    return f"[{code(each.q_id)}]({absolute(base, question_address(each.in_run, each.q_id, vs=vs))})"


def _xml(text: str) -> str:
    """A text without what XML cannot hold; the writer escapes the rest."""
    return _NO_XML.sub("", text)
