"""The release checks of a run: `proofspan gate` and the Trends page show the same list.

Each check counts something and names the questions concerned. A report can be written as JUnit XML, Markdown
and JSON; no text of others becomes markup, and the same report gives the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args
from xml.etree import ElementTree as Xml

from proofspan.contracts.rules.catalogue import rule_of
from proofspan.errors import InputFault, Problem, printable
from proofspan.manifest.types import Manifest, Run
from proofspan.metrics.goals import FlipRule, Goal, judge, read_gates, read_goals
from proofspan.metrics.values import left_out_in_words, value_in_words
from proofspan.services.health.run_findings import run_lines
from proofspan.services.metrics.run_metrics import RunMetrics, run_metrics
from proofspan.services.rows import markdown_head, markdown_line
from proofspan.services.workspace.links import absolute, list_address, question_address
from proofspan.services.workspace.open import chosen_run
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.metric_sql import MISSES
from proofspan.store.query.store import Store
from proofspan.wording import counted

Status = Literal["fail", "warn", "pass", "skipped"]
#: The most names in a sentence, and the most questions kept of a goal or a suspicion.
NAMED, MOST_LISTED = 5, 1_000


@dataclass(frozen=True, slots=True)
class Affected:
    """A question that a check is about, with what it was in the baseline and what it is now.

    `in_run` is the run that has it, the baseline for a missing question. `was` and `now` are "" without a
    comparison.
    """

    q_id: str
    q: str
    in_run: str
    was: str = ""
    now: str = ""

    @property
    def change(self) -> str:
        """`ok → retrieval_drift`, `missing`; "" without a comparison."""
        return f"{self.was} → {self.now}" if self.was else self.now


@dataclass(frozen=True, slots=True)
class Check:
    """A release check. `message` has its numbers in a sentence, `numbers` has them as data.

    `affected` are the questions concerned, worst first, at most `MOST_LISTED` of `count` for goals and
    suspicions. `shown` is the list of Triage with all of them.
    """

    name: str
    title: str
    status: Status
    message: str
    numbers: Mapping[str, float | str | None] = field(default_factory=dict)
    affected: tuple[Affected, ...] = ()
    count: int = 0
    shown: Filter | None = None

    @property
    def link(self) -> str:
        """The relative address of the list of questions, "" without one."""
        return list_address(self.shown) if self.shown is not None else ""


@dataclass(frozen=True, slots=True)
class GateReport:
    """The checks of a run, compared with another one if there is one; `questions` counts headline ones."""

    run_id: str
    against: str | None
    questions: int
    checks: tuple[Check, ...]

    def counts(self) -> dict[Status, int]:
        """Return how many checks have each status."""
        return {status: sum(check.status == status for check in self.checks) for status in get_args(Status)}

    def passes(self, *, strict: bool = False) -> bool:
        """Return whether the run is ready for release; with `strict`, warnings fail as well."""
        count = self.counts()
        return not (count["fail"] or (strict and count["warn"]))

    def counts_in_words(self) -> str:
        """`9 of 10 checks pass, 1 warns, 2 skipped`."""
        count = self.counts()
        parts = [f"{count['pass']} of {len(self.checks) - count['skipped']} checks pass"]
        for status in ("fail", "warn"):
            if number := count[status]:
                parts.append(f"{number} {status}{'s' * (number == 1)}")
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
    """Return all checks of an indexed run, in a fixed order.

    `against` is the run to compare with, by default the run's baseline in the manifest. `goals` replace those
    of the manifest by metric; `allow` are questions that may flip besides those that the manifest allows.
    Raises InputFault for an unknown run or a run compared with itself, StoreFault if it has no index.
    """
    run = chosen_run(manifest, run_id)
    other, why_none = _baseline(store, manifest, run, against)
    gates, misread = read_gates(manifest.gates)
    wanted, odd_goals = read_goals(manifest.goals)
    measured = run_metrics(store, manifest, run_id)
    drift = {gates.drift.metric_id: gates.drift} if gates.drift is not None else {}
    # Problems such as missing chunks keep a run from being labelled as a whole.
    checks = [*_of_problems("index", f"Index of {run_id}", store.run_facts(run_id).problems)]
    if other is not None:
        problems = store.run_facts(other).problems
        checks += _of_problems("index_of_baseline", f"Index of {other}", problems)
    checks.append(_question_check(store, run_id, other))
    if other is not None:
        checks += _flip_checks(store, gates.flips, run_id, other, allow=frozenset(allow))
    elif gates.flips:
        checks.append(Check("flips", "Flips", "skipped", f"not compared: {why_none}"))
    for code, most in gates.suspicions.items():
        shown = Filter(run_id, suspicion=(code,))
        checks.append(_at_most(store, shown, most, name=f"suspicion_{code}", title=f"Suspicion {code}"))
    for code, most in gates.codes.items():
        shown, start = Filter(run_id, code=(code,)), f"{rule_of(code).title}: "
        checks.append(_at_most(store, shown, most, name=f"code_{code}", title=f"Rule {code}", start=start))
    checks.append(_line_check(store, manifest, run, most=gates.line_issues))
    checks += _goal_checks(store, measured, {**wanted, **drift, **(goals or {})})
    if measured.pack is not None:
        differing = [difference.in_words() for difference in measured.differences]
        message = "; ".join(differing) or "agrees with the current metrics"
        status: Status = "warn" if differing else "pass"
        checks.append(Check("metrics_pack", "Metrics pack", status, message, {"differences": len(differing)}))
    checks += _of_problems("gates", "Gates", misread, "fail")
    checks += _of_problems("goals", "Goals", odd_goals, "warn")
    checks += _of_problems("files", "Files", measured.problems, "warn")
    return GateReport(run_id, other, measured.questions, tuple(checks))


def _baseline(store: Store, manifest: Manifest, run: Run, against: str | None) -> tuple[str | None, str]:
    """Return the run to compare with, or None and the reason."""
    if against is not None:
        if chosen_run(manifest, against) == run:
            raise InputFault.of(
                "same_run",
                f"{run.run_id!r} cannot be compared with itself",
                where=str(manifest.folder),
                fix="name the earlier run with --against",
            )
        return against, ""
    baseline = run.baseline
    if baseline is None:
        return None, "the manifest names no baseline for this run, and no other run is named"
    if baseline == run.run_id or manifest.run(baseline) is None:
        return None, f"its baseline {baseline} is not another run of the manifest"
    if store.stamp(baseline) is None:
        return None, f"its baseline {baseline} has no index yet"
    return baseline, ""


def _of_problems(
    name: str, title: str, problems: Collection[Problem], status: Status | None = None
) -> Iterator[Check]:
    """Yield a check per problem, numbered if there are several; without a `status`, by severity."""
    for number, problem in enumerate(problems, start=1):
        code = f"{name}_{number}" if len(problems) > 1 else name
        place = f"{problem.where}: " if status and problem.where else ""
        message = "; ".join(filter(None, (f"{place}{problem.message}", problem.fix)))
        yield Check(code, title, status or ("fail" if problem.severity == "error" else "warn"), message)


def _question_check(store: Store, run_id: str, against: str | None) -> Check:
    total, lost = store.total(run_id), 0
    if not total:
        message = f"{run_id} has no question, so there is nothing to judge"
        return Check("questions", "Questions", "fail", message, {"questions": 0})
    message, numbers = counted(total, "question"), {"questions": total}
    missing: tuple[Affected, ...] = ()
    if against is not None:
        flips = store.flips(Filter(run_id, vs=against))
        both, lost = total - flips.only_here, flips.only_there
        numbers |= {"both": both, "only_here": flips.only_here, "only_there": lost}
        message += f", {both:,} of them also in {against}"
    if against is not None and lost:
        message += f"; {lost:,} of {against} {'is' if lost == 1 else 'are'} missing here"
        here = {each.q_id for each in _listed(store, Filter(run_id))}
        listed = (each for each in _listed(store, Filter(against)) if each.q_id not in here)
        missing = tuple(replace(each, now="missing") for each in listed)
    status: Status = "warn" if lost else "pass"
    return Check("questions", "Questions", status, message, numbers, missing, len(missing))


def _line_check(store: Store, manifest: Manifest, run: Run, *, most: int) -> Check:
    """Check that at most `most` lines, besides those declared, are unreadable or belong to nothing."""
    lines = run_lines(store, manifest, run)
    beyond, is_over = lines.beyond, lines.beyond > most
    message = f"{counted(beyond, 'line')} could not be used" if beyond else "every line could be used"
    message += f", besides {lines.declared:,} declared" if lines.declared else ""
    if is_over:
        first = lines.undeclared.head(NAMED)
        places = ", ".join(f"{file}:{line}" for file, line in zip(first["file"], first["line"], strict=True))
        message += f", at most {most:,} may: {places}{', …' if beyond > NAMED else ''}"
    numbers = {"found": lines.found, "declared": lines.declared, "beyond": beyond, "most": most}
    return Check("line_issues", "Line issues", "fail" if is_over else "pass", message, numbers)


def _goal_checks(store: Store, measured: RunMetrics, goals: Mapping[str, Goal]) -> Iterator[Check]:
    for metric_id, value in measured.values.items():
        if metric_id not in goals:
            continue
        goal, name = goals[metric_id], value.metric.name
        verdict = judge(goal, value, chaotic=measured.states.get("chaotic", 0))
        fields = ("value", "low", "high", "numerator", "denominator")
        numbers = {each: getattr(value, each) for each in fields} | {"goal": str(goal)}
        if verdict.status == "unknown":
            message = f"goal {goal.in_words()}; {verdict.why}"
            yield Check(metric_id, name, "skipped", message, numbers)
            continue
        parts = (value_in_words(value), f"goal {goal.in_words()}: {verdict.why}", left_out_in_words(value))
        message = "; ".join(filter(None, parts))
        if verdict.status == "pass" or metric_id not in MISSES:
            yield Check(metric_id, name, verdict.status, message, numbers)
            continue
        shown = Filter(measured.run_id, miss=metric_id)
        missed = tuple(_listed(store, shown, most=MOST_LISTED))
        yield Check(metric_id, name, verdict.status, message, numbers, missed, store.matching(shown), shown)


def _flip_checks(
    store: Store, rules: Sequence[FlipRule], run_id: str, against: str, *, allow: frozenset[str]
) -> Iterator[Check]:
    for number, rule in enumerate(rules, start=1):
        name, title = f"flips_{number}" if len(rules) > 1 else "flips", f"Flips from {rule.was}"
        steps = store.transitions(Filter(run_id, vs=against), rule.column)
        judged = [(then, count) for then, now, count in steps if then is not None and now is not None]
        if not judged:
            message = f"no question is judged in both {run_id} and {against}, so nothing could be compared"
            yield Check(name, title, "fail", message)
            continue
        was, is_now = ("was", "label") if rule.column == "label" else ("was_bucket", "bucket")
        states: dict[str, Any] = {was: (rule.was,), is_now: rule.now}
        shown = Filter(run_id, vs=against, **states)
        flipped = [
            replace(each, was=rule.was, now=now)
            for now in rule.now
            for each in _listed(store, Filter(run_id, vs=against, **{**states, is_now: (now,)}))
        ]
        may = allow | rule.allow
        bad = tuple(each for each in flipped if each.q_id not in may)
        allowed = [each.q_id for each in flipped if each.q_id in may]
        were = sum(count for then, count in judged if then == rule.was)
        numbers = {"found": len(bad), "allowed": len(allowed), "of": were, "most": rule.most}
        is_over = len(bad) > rule.most
        message = f"{len(bad):,} of {were:,} that were {rule.was} in {against} became {' or '.join(rule.now)}"
        message += f"; at most {rule.most:,} may" if is_over or rule.most else ""
        if allowed:
            more = f" and {len(allowed) - NAMED:,} more" if len(allowed) > NAMED else ""
            message += f"; allowed: {', '.join(allowed[:NAMED])}{more}"
        if is_over:
            yield Check(name, title, "fail", message, numbers, bad, len(bad), shown)
        else:
            yield Check(name, title, "pass", message, numbers)


def _at_most(store: Store, shown: Filter, most: int, *, name: str, title: str, start: str = "") -> Check:
    """Check that a list has at most `most` questions; `start` begins the message.

    A repeat or paraphrase counts as its question, as no headline trace is ever a `duplicate_question`.
    """
    total, count, variants = store.total(shown.run), store.matching(shown), replace(shown, all_variants=True)
    if store.matching(variants) > count:
        by_question: dict[str, Affected] = {}
        for each in _listed(store, variants):
            by_question.setdefault(each.q_id, each)
        affected, count, shown = list(by_question.values())[:MOST_LISTED], len(by_question), variants
    else:
        affected = list(_listed(store, shown, most=MOST_LISTED))
    numbers = {"found": count, "of": total, "most": most}
    message = f"{start}{count:,} of {counted(total, 'question')}"
    message += f"; at most {most:,} may" if count > most or most else ""
    if count <= most:
        return Check(name, title, "pass", message, numbers)
    return Check(name, title, "fail", message, numbers, tuple(affected), count, shown)


def _listed(store: Store, shown: Filter, *, most: int | None = None) -> Iterator[Affected]:
    rows = store.places(shown, Sort()) if most is None else store.page(shown, Sort(), limit=most, offset=0)
    for q_id, q in zip(rows["q_id"].tolist(), rows["q"].tolist(), strict=True):
        yield Affected(q_id, q, shown.run)


#: The most questions of a check in Markdown, where a comment has little room, and in XML.
SHOWN, SHOWN_IN_XML = 20, 1_000
#: The length at which a question's text is cut.
CUT = 160
WORDS: dict[Status, str] = {"fail": "✗ fails", "warn": "! warns", "pass": "✓ passes", "skipped": "– skipped"}

#: Characters that XML 1.0 cannot represent.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BACKTICKS = re.compile(r"`+")
_QUOTED = re.compile(r"`[^`]+`")
#: Words that are plain text to Markdown anywhere in a cell or heading.
_PLAIN_WORD = re.compile(r"\(?(?:[^\W_]|[%–·≥≤=×…→]|(?<=\d)[.,](?=\d)|(?<=[^\W_])[-’'](?=[^\W_]))+[.,:;)]*")


def report_to_json(report: GateReport, *, strict: bool, base: str = "") -> dict[str, object]:
    """Return the report as plain data with the questions of each check; `base` makes its links absolute."""
    return {
        "run_id": report.run_id,
        "against": report.against,
        "passes": report.passes(strict=strict),
        "strict": strict,
        "questions": report.questions,
        "counts": report.counts(),
        "checks": [
            {
                "name": check.name,
                "title": check.title,
                "status": check.status,
                "message": check.message,
                "numbers": dict(check.numbers),
                "questions": [
                    {"q_id": each.q_id, "q": each.q, "was": each.was or None, "now": each.now or None}
                    for each in check.affected
                ],
                "questions_count": check.count,
                "link": absolute(base, check.link) if base and check.link else check.link or None,
            }
            for check in report.checks
        ],
    }


def junit_xml(report: GateReport, *, strict: bool) -> bytes:
    """Write a suite with a test case per check; failures name their questions. `strict` fails warnings."""
    count = report.counts()
    failures = count["fail"] + (count["warn"] if strict else 0)
    totals = {"tests": len(report.checks), "failures": failures, "errors": 0, "skipped": count["skipped"]}
    numbers = {name: str(number) for name, number in totals.items()} | {"time": "0"}
    root = Xml.Element("testsuites", {"name": "proofspan gate", **numbers})
    suite = Xml.SubElement(root, "testsuite", {"name": _xml(_title(report)), **numbers})
    classname = _xml(f"proofspan.gate.{one_line(report.run_id)}")
    for check in report.checks:
        names = {"classname": classname, "name": _xml(check.name), "time": "0"}
        case = Xml.SubElement(suite, "testcase", names)
        message = _xml(one_line(check.message, cut=None))
        questions = list(map(question_line, check.affected[:SHOWN_IN_XML]))
        if check.count > SHOWN_IN_XML:
            questions.append(f"… and {check.count - SHOWN_IN_XML:,} more")
        if check.status == "fail" or (strict and check.status == "warn"):
            failure = Xml.SubElement(case, "failure", {"message": message, "type": check.status})
            failure.text = _xml("\n".join([f"{one_line(check.title)}: {message}", *questions]))
        elif check.status == "skipped":
            Xml.SubElement(case, "skipped", {"message": message})
        else:
            warning = "warning: " if check.status == "warn" else ""
            Xml.SubElement(case, "system-out").text = _xml("\n".join([f"{warning}{message}", *questions]))
    Xml.indent(root)
    written: bytes = Xml.tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def markdown(report: GateReport, *, strict: bool, base: str = "") -> str:
    """Write a heading, a table with a line per check, and the questions of the checks.

    With `base`, the address of a dashboard, questions and lists are links.
    """
    rows = ((WORDS[check.status], prose(check.title), prose(check.message)) for check in report.checks)
    ready = "ready" if report.passes(strict=strict) else "not ready"
    lines = [
        f"## Release check of {_title(report, code)}: {ready}\n\n",
        f"{report.counts_in_words()}{' (warnings count)' if strict else ''}\n\n",
        markdown_head(("", "check", "result"), ("---",) * 3),
        *map(markdown_line, rows),
        *(line for check in report.checks if check.affected for line in _section(report, check, base)),
    ]
    return "".join(lines)


def _section(report: GateReport, check: Check, base: str) -> Iterator[str]:
    """Yield a heading with the questions of a check: with their texts if they changed, else by id."""

    def name(each: Affected) -> str:
        if not base:
            return code(each.q_id)
        vs = report.against if each.in_run == report.run_id else None
        return f"[{code(each.q_id)}]({absolute(base, question_address(each.in_run, each.q_id, vs=vs))})"

    shown, count = check.affected[:SHOWN], check.count
    more = [f"… and {count - SHOWN:,} more"] if count > SHOWN else []
    yield f"\n### {prose(check.title)}: {counted(count, 'question')}\n\n"
    if any(each.change for each in shown):
        changes = [f"{name(each)} {prose(each.change)}: {code(each.q)}" for each in shown]
        yield from (f"- {line}\n" for line in [*changes, *more])
    else:
        yield ", ".join([*map(name, shown), *more]) + "\n"
    if base and check.link:
        yield f"\n[All of them in Triage]({absolute(base, check.link)})\n"


def question_line(each: Affected) -> str:
    """`Q80  ok → retrieval_drift: How do I …`, for one line of text."""
    change = f"{each.change}: " if each.change else ""
    return f"{one_line(each.q_id)}  {change}{one_line(each.q)}"


def one_line(text: str, *, cut: int | None = CUT) -> str:
    """Return text on one line, cut, with control characters escaped."""
    plain = printable(" ".join(text.split()))
    return plain if cut is None or len(plain) <= cut else f"{plain[: cut - 1]}…"


def code(text: str) -> str:
    """Return foreign text as a code span, so that nothing in it is markup or becomes a link."""
    plain = one_line(text) or " "
    fence = "`" * (max((len(run) for run in _BACKTICKS.findall(plain)), default=0) + 1)
    pad = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{fence}{pad}{plain}{pad}{fence}"


def prose(text: str) -> str:
    """Return a sentence for a cell, with code spans around words that Markdown would interpret.

    A `|` would end the cell even in a code span, so it becomes `¦`.
    """
    words = printable(" ".join(text.split())).replace("|", "¦").split(" ")
    for place, word in enumerate(words):
        if not _PLAIN_WORD.fullmatch(word):
            body = word.rstrip(",;:.") or word
            bare = body[1:-1] if _QUOTED.fullmatch(body) else body
            words[place] = f"{code(bare)}{word[len(body) :]}"
    return " ".join(words)


def _title(report: GateReport, named: Callable[[str], str] = one_line) -> str:
    against = f" against {named(report.against)}" if report.against is not None else ""
    return f"{named(report.run_id)}{against}"


def _xml(text: str) -> str:
    return _NO_XML.sub("", text)
