"""The release checks of a run, and their verdict as JUnit XML, Markdown and JSON.

Each check counts something and names the questions concerned. No text of others becomes markup, and the same
verdict gives the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal
from xml.etree import ElementTree as Xml

from proofspan.contracts.rules.catalogue import rule_of
from proofspan.diagnosis.types import profile_from
from proofspan.diagnosis.verdicts.types import Cause
from proofspan.display_names import CAUSE_NAMES, ISSUE_NAMES
from proofspan.errors import InputFault, Problem
from proofspan.manifest.types import Manifest, Run
from proofspan.metrics.goals import (
    FAIL_FAST,
    HARMFUL,
    UNCITED_CODE,
    FlipRule,
    Goal,
    judge,
    read_gates,
    read_goals,
)
from proofspan.metrics.values import left_out_in_words, value_in_words
from proofspan.services.compare import other_run
from proofspan.services.health.parity import ParityRow, logged_of_run, parity_rows
from proofspan.services.health.run_findings import run_lines, unpinned
from proofspan.services.markdown_text import code_span, one_line, prose
from proofspan.services.metrics.run_metrics import RunMetrics, run_metrics
from proofspan.services.pin_checks import pin_checks
from proofspan.services.release import Affected, Check, Outcome, Reason, ReleaseVerdict, Status, Subject
from proofspan.services.rows import markdown_head, markdown_line
from proofspan.services.stop_rule import IN_A_ROW, class_lifts
from proofspan.services.workspace.links import absolute, question_address
from proofspan.services.workspace.open import chosen_run
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.metric_sql import MISSES
from proofspan.store.query.store import Store
from proofspan.wording import counted

#: The most names in a sentence, and the most questions kept of a goal or a suspicion.
NAMED, MOST_LISTED = 5, 1_000
#: The subjects of goals by the group of their metric, and of rules by theirs.
_SUBJECTS: Mapping[str, Subject] = {
    "ranking": "ranking",
    "citations": "citations",
    "evidence": "citations",
    "claims": "answers",
    "refusals": "answers",
    "labels": "answers",
    "parity": "settings",
    "citation": "citations",
    "answer": "answers",
}


def release_verdict(
    store: Store,
    manifest: Manifest,
    run_id: str,
    *,
    against: str | None = None,
    goals: Mapping[str, Goal] | None = None,
    allow: Collection[str] = (),
    strict: bool = False,
) -> ReleaseVerdict:
    """Return the verdict on an indexed run, with all its checks in a fixed order.

    `against` is the run to compare with, by default the run's baseline, else the run before it. `goals`
    replace those of the manifest by metric; `allow` are questions that may flip besides those that the
    manifest allows. Raises InputFault for an unknown run or a run compared with itself, StoreFault if it has
    no index.
    """
    run = chosen_run(manifest, run_id)
    other, why_none = _compared_with(store, manifest, run, against)
    gates, misread = read_gates(manifest.gates)
    wanted, odd_goals = read_goals(manifest.goals)
    wanted |= {gates.drift.metric_id: gates.drift} if gates.drift is not None else {}
    wanted |= goals or {}
    measured = run_metrics(store, manifest, run_id)
    # Problems such as missing chunks keep a run from being labelled as a whole.
    checks = [*_of_problems("index", f"Index of {run_id}", store.run_facts(run_id).problems)]
    if other is not None:
        problems = store.run_facts(other).problems
        checks += _of_problems("index_of_baseline", f"Index of {other}", problems)
    total = store.total(run_id)
    checks.append(_question_check(store, run_id, other, total))
    if other is not None:
        checks += _flip_checks(store, gates.flips, run_id, other, allow=frozenset(allow))
    elif gates.flips:
        message, open_ = f"not compared: {why_none}", f"nothing to compare with: {why_none}"
        change = f"name a `baseline` for {run_id} in the manifest, or a run with --against"
        checks.append(Check("flips", "Flips", "skipped", message, open=open_, change=change))
    suspected = _occurrences(store, run_id, "suspicions") if gates.suspicions else {}
    for code, most in gates.suspicions.items():
        shown = Filter(run_id, suspicion=(code,))
        subject: Subject = "citations" if "cit" in code else "other"
        title = f"{ISSUE_NAMES.get(code, code)} ({code})"
        found = suspected.get(code, (0, 0))
        check = _at_most(store, shown, most, found, total, name=f"suspicion_{code}", title=title)
        checks.append(replace(check, subject=subject))
    asked = FAIL_FAST if profile_from(manifest.triage).template == "none" else (*FAIL_FAST, UNCITED_CODE)
    settings = {row.code: row for row in parity_rows(manifest, run, logged_of_run(store, run_id))}
    broken = _occurrences(store, run_id, "codes")
    for code in dict.fromkeys((*asked, *gates.codes)):
        most_of, found = gates.codes.get(code), broken.get(code, (0, 0))
        checks += _code_check(store, run, code, most_of, found, total, settings.get(code))
    checks.append(_line_check(store, manifest, run, most=gates.line_issues))
    checks += _cause_checks(store, run_id, gates.causes, total)
    checks += _goal_checks(store, measured, wanted)
    checks += _stop_check(store, manifest, run, when_raised=gates.stop_rule)
    checks += pin_checks(manifest, run, pinning=gates.pinning, determinism=gates.determinism)
    if measured.pack is not None:
        differing = [difference.in_words() for difference in measured.differences]
        message = "; ".join(differing) or "agrees with the current metrics"
        status: Status = "warn" if differing else "pass"
        change = f"write it again: `proofspan metrics WORKSPACE --run {run_id} --pack`" if differing else ""
        numbers = {"differences": len(differing)}
        checks.append(Check("metrics_pack", "Metrics pack", status, message, numbers, change=change))
    checks += _of_problems("gates", "Gates", misread, "fail")
    checks += _of_problems("goals", "Goals", odd_goals, "warn")
    checks += _of_problems("files", "Files", measured.problems, "warn")
    return ReleaseVerdict(run_id, other, measured.questions, tuple(checks), strict)


def _compared_with(store: Store, manifest: Manifest, run: Run, against: str | None) -> tuple[str | None, str]:
    """Return the run to compare with, or None and the reason."""
    if against is not None and chosen_run(manifest, against) == run:
        raise InputFault.of(
            "same_run",
            f"{run.run_id!r} cannot be compared with itself",
            where=str(manifest.folder),
            fix="name the earlier run with --against",
        )
    baseline, other = run.baseline, against or other_run(manifest, run.run_id)
    if other is not None:
        return (other, "") if store.stamp(other) is not None else (None, f"{other} has no index yet")
    if baseline is not None:
        return None, f"its baseline {baseline} is not another run of the manifest"
    return None, "the manifest names no baseline for this run, and no run precedes it"


def _of_problems(
    name: str, title: str, problems: Collection[Problem], status: Status | None = None
) -> Iterator[Check]:
    """Yield a check per problem, numbered if there are several; without a `status`, by severity."""
    for number, problem in enumerate(problems, start=1):
        code = f"{name}_{number}" if len(problems) > 1 else name
        place = f"{problem.where}: " if status and problem.where else ""
        message = "; ".join(filter(None, (f"{place}{problem.message}", problem.fix)))
        found = status or ("fail" if problem.severity == "error" else "warn")
        subject: Subject = "unusable" if found == "fail" else "other"
        yield Check(code, title, found, message, subject=subject, change=problem.fix)


def _question_check(store: Store, run_id: str, against: str | None, total: int) -> Check:
    lost = 0
    if not total:
        message = f"{run_id} has no question, so there is nothing to judge"
        change = f"run the pipeline again: {run_id} needs questions"
        none = {"questions": 0}
        return Check("questions", "Questions", "fail", message, none, subject="unusable", change=change)
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
    change = f"ask the {counted(lost, 'missing question')} in {run_id}" if lost else ""
    return Check("questions", "Questions", status, message, numbers, missing, len(missing), change=change)


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
    status: Status = "fail" if is_over else "pass"
    change = f"write the {counted(beyond, 'line')} again, or declare them" if is_over else ""
    return Check("line_issues", "Line issues", status, message, numbers, change=change)


def _code_check(
    store: Store,
    run: Run,
    code: str,
    most: int | None,
    found: tuple[int, int],
    total: int,
    setting: ParityRow | None,
) -> Iterator[Check]:
    """Check that at most `most` questions break a rule; None is the default of none.

    A rule about a setting finds nothing where the run does not pin it. That is no pass if the traces log it;
    where they do not either, a default check is left out.
    """
    rule, shown = rule_of(code), Filter(run.run_id, code=(code,))
    title = f"{rule.title[:1].upper()}{rule.title[1:]} ({code})"
    check = _at_most(store, shown, most or 0, found, total, name=f"code_{code}", title=title)
    check = replace(check, subject=_SUBJECTS.get(rule.group, "other"))
    if check.status == "fail":
        yield replace(check, change=f"{rule.fix.rstrip('.')} ({counted(check.count, 'question')})")
    elif code not in FAIL_FAST or (setting is not None and setting.is_same is not None):
        yield check
    elif setting is not None and setting.read and setting.name in unpinned(run).values():
        why = f"cannot be compared: the traces log the {setting.name}, and the run pins none"
        change = f"pin the {setting.name} of {run.run_id} in the manifest"
        yield replace(check, status="skipped", message=why, open=why, change=change)
    elif most is not None:
        yield check


def _cause_checks(store: Store, run_id: str, causes: Mapping[Cause, int], total: int) -> Iterator[Check]:
    """Check that at most as many answers have a cause as the manifest allows.

    The harmful causes that it does not name are our own check. Rules may be wrong about an answer, so that
    check does not fail: it asks for somebody to read it.
    """
    name, title = "causes", "Harmful answers"
    if not store.are_claims_checked(run_id):
        why, change = "the claims of the answers are not checked yet", "run `proofspan index WORKSPACE`"
        yield Check(name, title, "skipped", why, subject="answers", open=why, change=change)
        return
    for cause, most in causes.items():
        shown, named = Filter(run_id, cause=(cause,)), f"{CAUSE_NAMES[cause]} ({cause})"
        found = store.matching(shown), store.matching(replace(shown, all_variants=True))
        check = _at_most(store, shown, most, found, total, name=f"cause_{cause}", title=named)
        yield replace(check, subject="answers")
    asked = tuple(cause for cause in HARMFUL if cause not in causes)
    occurring = store.verdict_counts(Filter(run_id), "cause")
    counts: dict[str, int] = {cause: occurring[cause] for cause in asked if cause in occurring}
    if not asked:
        return
    count, answers = sum(counts.values()), counted(total, "answer")
    if not count:
        yield Check(name, title, "pass", f"0 of {answers}", subject="answers")
        return
    which = ", ".join(f"{CAUSE_NAMES[cause].lower()} ({number:,})" for cause, number in counts.items())
    shown = Filter(run_id, cause=tuple(cause for cause in asked if cause in occurring))
    message = f"{count:,} of {answers}: {which}"
    affected = tuple(_listed(store, shown, most=MOST_LISTED))
    why, change = f"{message}, by rules alone", f"read the {counted(count, 'answer')}, and fix or allow them"
    yield Check(name, title, "warn", message, {**counts}, affected, count, shown, "answers", why, change)


def _goal_checks(store: Store, measured: RunMetrics, goals: Mapping[str, Goal]) -> Iterator[Check]:
    for metric_id, value in measured.values.items():
        if metric_id not in goals:
            continue
        goal, name = goals[metric_id], value.metric.name
        verdict = judge(goal, value, chaotic=measured.states.get("chaotic", 0))
        fields = ("value", "low", "high", "numerator", "denominator")
        numbers = {each: getattr(value, each) for each in fields} | {"goal": str(goal)}
        subject = _SUBJECTS.get(value.metric.group, "other")
        if verdict.status == "unknown":
            message = f"goal {goal.in_words()}; {verdict.why}"
            status: Status = "skipped"
        else:
            reached = f"{value_in_words(value)}, goal {goal.in_words()}"
            message = "; ".join(filter(None, (reached, verdict.why, left_out_in_words(value))))
            status = verdict.status
        check = Check(metric_id, name, status, message, numbers, subject=subject)
        check = replace(check, open=verdict.open, change=verdict.change)
        if status in ("fail", "warn") and metric_id in MISSES:
            shown = Filter(measured.run_id, miss=metric_id)
            missed = tuple(_listed(store, shown, most=MOST_LISTED))
            check = replace(check, affected=missed, count=store.matching(shown), shown=shown)
        yield check


def _stop_check(store: Store, manifest: Manifest, run: Run, *, when_raised: Status) -> Iterator[Check]:
    """Check the stop rule for a run and those of its class before it, once there are two to compare."""
    if run.kind is None:
        return
    found = class_lifts(store, manifest, run.kind, until=run.run_id)
    if len(found.lifts) < IN_A_ROW:
        return
    numbers = {"without_lift": len(found.idle), "runs": len(found.lifts), "most": IN_A_ROW - 1}
    status: Status = when_raised if found.is_raised else "pass"
    change = f"try a change of another class than {run.kind}" if found.is_raised else ""
    message, title = found.sentence, f"Stop rule of class {run.kind}"
    yield Check("stop_rule", title, status, message, numbers, subject="ranking", change=change)


def _flip_checks(
    store: Store, rules: Sequence[FlipRule], run_id: str, against: str, *, allow: frozenset[str]
) -> Iterator[Check]:
    for number, rule in enumerate(rules, start=1):
        name, title = f"flips_{number}" if len(rules) > 1 else "flips", f"Flips from {rule.was}"
        if rule.column == "correct" and not all(map(store.are_claims_checked, (run_id, against))):
            why, change = (
                f"claims of {run_id} or {against} are not checked yet",
                "run `proofspan index WORKSPACE`",
            )
            yield Check(name, title, "skipped", why, subject="regressions", open=why, change=change)
            continue
        steps = store.transitions(Filter(run_id, vs=against), rule.column)
        judged = [(then, count) for then, now, count in steps if then is not None and now is not None]
        if not judged:
            message = f"no question is judged in both {run_id} and {against}, so nothing could be compared"
            change = f"compare {run_id} with a run of the same questions"
            yield Check(name, title, "fail", message, subject="unusable", change=change)
            continue
        was, is_now = "was" if rule.column == "label" else f"was_{rule.column}", rule.column
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
            message += f"; allowed: {_named(allowed)}"
        if is_over:
            change = f"fix or allow {counted(len(bad) - rule.most, 'flip')}: {_named([b.q_id for b in bad])}"
            check = Check(name, title, "fail", message, numbers, bad, len(bad), shown, "regressions")
            yield replace(check, change=change)
        else:
            yield Check(name, title, "pass", message, numbers)


def _named(q_ids: Sequence[str]) -> str:
    more = f" and {len(q_ids) - NAMED:,} more" if len(q_ids) > NAMED else ""
    return f"{', '.join(q_ids[:NAMED])}{more}"


def _occurrences(
    store: Store, run_id: str, column: Literal["codes", "suspicions"]
) -> dict[str, tuple[int, int]]:
    """Return how many questions, and how many of all traces, have each code that occurs in a run."""
    frame = store.code_counts([run_id], column)
    columns = (frame[name].tolist() for name in ("code", "questions", "traces"))
    return {code: (questions, traces) for code, questions, traces in zip(*columns, strict=True)}


def _at_most(
    store: Store, shown: Filter, most: int, found: tuple[int, int], total: int, *, name: str, title: str
) -> Check:
    """Check that a list has at most `most` of the run's questions; it has `found` questions and traces.

    A repeat or paraphrase counts as its question, as no headline trace is ever a `duplicate_question`.
    """
    count, traces = found
    affected: list[Affected] = []
    if traces > count:
        shown = replace(shown, all_variants=True)
        by_question: dict[str, Affected] = {}
        for each in _listed(store, shown):
            by_question.setdefault(each.q_id, each)
        affected, count = list(by_question.values())[:MOST_LISTED], len(by_question)
    elif count > most:
        affected = list(_listed(store, shown, most=MOST_LISTED))
    numbers = {"found": count, "of": total, "most": most}
    message = f"{count:,} of {counted(total, 'question')}"
    message += f"; at most {most:,} may" if count > most or most else ""
    if count <= most:
        return Check(name, title, "pass", message, numbers)
    change = f"fix {counted(count - most, 'question')}, or allow them in the manifest's gates"
    return Check(name, title, "fail", message, numbers, tuple(affected), count, shown, change=change)


def _listed(store: Store, shown: Filter, *, most: int | None = None) -> Iterator[Affected]:
    rows = store.places(shown, Sort(), limit=most)
    columns = (rows[name].tolist() for name in ("q_id", "q", "file", "line"))
    for q_id, q, file, line in zip(*columns, strict=True):
        yield Affected(q_id, q, shown.run, file=file, line=line)


#: The most questions of a check in Markdown, where a comment has little room, and in XML.
SHOWN, SHOWN_IN_XML = 20, 1_000
WORDS: dict[Outcome, str] = {
    "fail": "✗ fails",
    "open": "? open",
    "warn": "! warning",
    "pass": "✓ passes",
    "skipped": "– skipped",
}

#: Characters that XML 1.0 cannot represent.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def report_to_json(report: ReleaseVerdict, *, base: str = "") -> dict[str, object]:
    """Return the verdict as plain data with the questions of each check; `base` makes its links absolute."""

    def link(each: Check | Reason) -> str | None:
        return absolute(base, each.link) if base and each.link else each.link or None

    return {
        "run_id": report.run_id,
        "against": report.against,
        "state": report.state,
        "verdict": report.words,
        "passes": report.passes(),
        "strict": report.strict,
        "questions": report.questions,
        "counts": report.counts(),
        "reasons": [
            {
                "status": reason.status,
                "sentence": reason.sentence,
                "change": reason.change or None,
                "questions_count": reason.count,
                "link": link(reason),
            }
            for reason in report.reasons
        ],
        "changes": list(report.changes),
        "checks": [
            {
                "name": check.name,
                "title": check.title,
                "status": check.status,
                "outcome": check.outcome,
                "fails": report.fails(check),
                "message": check.message,
                "open": check.open or None,
                "numbers": dict(check.numbers),
                "questions": [
                    {
                        "q_id": each.q_id,
                        "q": each.q,
                        "was": each.was or None,
                        "now": each.now or None,
                        "file": each.file or None,
                        "line": each.line or None,
                    }
                    for each in check.affected
                ],
                "questions_count": check.count,
                "link": link(check),
            }
            for check in report.checks
        ],
    }


def junit_xml(report: ReleaseVerdict) -> bytes:
    """Write a suite with a test case per check; failures name their questions, and properties the verdict.

    A strict verdict fails warnings and missing evidence.
    """
    failures = sum(map(report.fails, report.checks))
    skipped = sum(check.status == "skipped" and not report.fails(check) for check in report.checks)
    totals = {"tests": len(report.checks), "failures": failures, "errors": 0, "skipped": skipped}
    numbers = {name: str(number) for name, number in totals.items()} | {"time": "0"}
    root = Xml.Element("testsuites", {"name": "proofspan gate", **numbers})
    suite = Xml.SubElement(root, "testsuite", {"name": _xml(_title(report)), **numbers})
    properties = Xml.SubElement(suite, "properties")
    reasons = [("reason", reason.sentence) for reason in report.reasons]
    for name, value in (("verdict", report.words), *reasons, *(("change", each) for each in report.changes)):
        line = _xml(one_line(value, cut=None))
        Xml.SubElement(properties, "property", {"name": f"release.{name}", "value": line})
    classname = _xml(f"proofspan.gate.{one_line(report.run_id)}")
    for check in report.checks:
        names = {"classname": classname, "name": _xml(check.name), "time": "0"}
        case = Xml.SubElement(suite, "testcase", names)
        message = _xml(one_line(check.message, cut=None))
        questions = list(map(question_line, check.affected[:SHOWN_IN_XML]))
        if check.count > SHOWN_IN_XML:
            questions.append(f"… and {check.count - SHOWN_IN_XML:,} more")
        if report.fails(check):
            failure = Xml.SubElement(case, "failure", {"message": message, "type": check.outcome})
            failure.text = _xml("\n".join([f"{one_line(check.title)}: {message}", *questions]))
        elif check.status == "skipped":
            Xml.SubElement(case, "skipped", {"message": message})
        else:
            warning = "warning: " if check.status == "warn" else ""
            lacking = [f"evidence is missing: {one_line(check.open, cut=None)}"] if check.open else []
            lines = [f"{warning}{message}", *lacking, *questions]
            Xml.SubElement(case, "system-out").text = _xml("\n".join(lines))
    Xml.indent(root)
    written: bytes = Xml.tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def markdown(report: ReleaseVerdict, *, base: str = "") -> str:
    """Write the verdict with its reasons and what would change it; its checks and their questions folded.

    With `base`, the address of a dashboard, questions and lists are links.
    """
    rows = ((WORDS[check.outcome], prose(check.title), prose(check.message)) for check in report.checks)
    reasons, changes = report.reasons, report.changes
    asked = [check for check in report.checks if check.affected]
    questions = (line for check in asked for line in _section(report, check, base))
    lines = [
        f"## Release check of {_title(report, code_span)}: {report.words}\n\n",
        f"{report.counts_in_words()}{' (strict)' if report.strict else ''}\n\n",
        *(f"- {WORDS[reason.status][0]} {prose(reason.sentence)}\n" for reason in reasons),
        "\n" if reasons else "",
        "What would change it:\n\n" if changes else "",
        *(f"- {prose(change)}\n" for change in changes),
        "\n" if changes else "",
        *_folded(
            counted(len(report.checks), "check"),
            markdown_head(("", "check", "result"), ("---",) * 3),
            *map(markdown_line, rows),
        ),
        *(_folded(f"Questions of {counted(len(asked), 'check')}", *questions) if asked else ()),
    ]
    return "".join(lines)


def _folded(summary: str, *lines: str) -> Iterator[str]:
    """Yield a part that a forge shows folded; the empty lines let its Markdown be read."""
    yield f"<details>\n<summary>{summary}</summary>\n\n"
    yield from lines
    yield "\n</details>\n\n"


def _section(report: ReleaseVerdict, check: Check, base: str) -> Iterator[str]:
    """Yield a heading with the questions of a check: with their texts if they changed, else by id."""

    def name(each: Affected) -> str:
        if not base:
            return code_span(each.q_id)
        vs = report.against if each.in_run == report.run_id else None
        return f"[{code_span(each.q_id)}]({absolute(base, question_address(each.in_run, each.q_id, vs=vs))})"

    shown, count = check.affected[:SHOWN], check.count
    more = [f"… and {count - SHOWN:,} more"] if count > SHOWN else []
    yield f"### {prose(check.title)}: {counted(count, 'question')}\n\n"
    if any(each.change for each in shown):
        changes = [f"{name(each)} {prose(each.change)}: {code_span(each.q)}" for each in shown]
        yield from (f"- {line}\n" for line in [*changes, *more])
    else:
        yield ", ".join([*map(name, shown), *more]) + "\n"
    if base and check.link:
        yield f"\n[All of them in Triage]({absolute(base, check.link)})\n"
    yield "\n"


def question_line(each: Affected) -> str:
    """`Q80  ok → retrieval_drift: How do I …`, for one line of text."""
    change = f"{each.change}: " if each.change else ""
    return f"{one_line(each.q_id)}  {change}{one_line(each.q)}"


def _title(report: ReleaseVerdict, named: Callable[[str], str] = one_line) -> str:
    compared = f", compared with {named(report.against)}" if report.against is not None else ""
    return f"{named(report.run_id)}{compared}"


def _xml(text: str) -> str:
    return _NO_XML.sub("", text)
