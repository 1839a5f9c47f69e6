"""Findings about a run as a whole: its lines, report, metrics pack, cited pages, pinned settings and bundles.

`rule_counts` counts the rules that single traces break. Each check here yields its finding with its text, and
`fix_first` puts findings and broken rules in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from proofspan.contracts.rules.catalogue import rule_of
from proofspan.errors import Problem
from proofspan.manifest.types import Manifest, Run
from proofspan.metrics.statistics import share_in_words
from proofspan.metrics.values import value_in_words
from proofspan.services.health.rule_counts import ON_THE_PAGE, HealthRow, HealthTable
from proofspan.services.metrics.run_metrics import BUNDLES, RunMetrics
from proofspan.services.page_base import CitedPages, Writer, fix, in_words, worth_saying, writer_of
from proofspan.services.pinning.findings import pin_problems
from proofspan.services.workspace.open import chosen_run
from proofspan.store.files.types import RunFacts
from proofspan.store.query.filters import Filter
from proofspan.store.query.store import Store
from proofspan.wording import counted

#: Pages of the dashboard by their addresses.
HEALTH, TRENDS, WALKTHROUGH = "health", "trends", "walkthrough"
_RANK: Mapping[str, int] = {"error": 0, "warning": 1, "note": 2}
#: The settings that a run can pin, with their names.
PINS = {"index_hash": "index hash", "embed_model": "embedding model", "analyzer": "analyzer"}


@dataclass(frozen=True, slots=True)
class RunFinding:
    """A problem of a run with a short title, and where to see it.

    `shown` filters the questions concerned, None without any. `page` is the address of the page with more
    about it, "" for Triage. `is_of_file`: the check of the workspace's files reports it too.
    """

    problem: Problem
    title: str
    shown: Filter | None = None
    page: str = ""
    is_of_file: bool = False


def run_findings(
    store: Store, manifest: Manifest, table: HealthTable, measured: RunMetrics, pages: CitedPages | None
) -> tuple[RunFinding, ...]:
    """Return all findings about the measured run, errors first and notes last; `table` shows that run.

    `pages` are the offsets of its cited pages, None while citations are not located. Raises StoreFault if the
    run has no index.
    """
    run = chosen_run(manifest, measured.run_id)
    return worst_first(
        [
            *index_findings(store, manifest, table),
            *measured_findings(run, measured),
            *record_findings(manifest, run),
            *(page_findings(pages, writer_of(manifest), run.run_id) if pages is not None else ()),
        ]
    )


def index_findings(store: Store, manifest: Manifest, table: HealthTable) -> tuple[RunFinding, ...]:
    """Return the findings of `run_findings` that the index alone gives, without reading a file."""
    run, facts = table.runs[table.shown], store.run_facts(table.run_id)
    stale = dict(store.options(run.run_id).get("suspicion", ())).get("report_stale", 0)
    return worst_first(
        [
            *_of_problems(facts.problems, is_of_file=True),
            *line_findings(run_lines(store, manifest, run), facts),
            *answer_findings(table, facts, stale=stale),
            *pin_findings(run),
        ]
    )


def worst_first(findings: Iterable[RunFinding]) -> tuple[RunFinding, ...]:
    """Sort findings: errors, warnings, notes."""
    return tuple(sorted(findings, key=lambda finding: _RANK[finding.problem.severity]))


def _of_problems(problems: Iterable[Problem], *, is_of_file: bool) -> Iterator[RunFinding]:
    for problem in problems:
        severity = "error" if problem.severity == "error" else "warning"
        shown = replace(problem, message=f"{as_sentence(problem.message)}.", severity=severity)
        yield RunFinding(shown, problem.code.replace("_", " "), is_of_file=is_of_file)


def line_findings(lines: RunLines, facts: RunFacts) -> Iterator[RunFinding]:
    """Yield findings about lines without a record, report rows without a trace, and an unfinished line."""
    shown = Filter(facts.run_id)
    if unread := max(0, lines.beyond - facts.unmatched):
        first, title = lines.undeclared.iloc[0], f"{counted(unread, 'line')} unreadable"
        place, step = f"{first['file']}:{first['line']}", str(first["remedy"])
        message = f"{counted(unread, 'line')} could not be read, the first at {place}."
        problem = Problem("lines_unreadable", message, fix=step)
        yield RunFinding(problem, title, shown, HEALTH, is_of_file=True)
    if declared := lines.declared:
        title = f"{counted(declared, 'line')} unreadable, as declared"
        message = f"{counted(declared, 'line')} could not be read, as the manifest declares."
        yield RunFinding(Problem("lines_unreadable_declared", message, severity="note"), title, shown, HEALTH)
    if facts.unmatched:
        title = f"{counted(facts.unmatched, 'report row')} without a trace"
        message = f"The stored report has {counted(facts.unmatched, 'row')} without a trace."
        step = "Make the report from the current traces: `proofspan triage`."
        problem = Problem("report_without_trace", message, fix=step, severity="warning")
        yield RunFinding(problem, title, shown, HEALTH)
    if facts.waiting_bytes:
        size, title = counted(facts.waiting_bytes, "byte"), "last line unfinished"
        message = f"The last line of the traces ({size}) has no line end and is not counted yet."
        step = "Wait while the pipeline is still writing; otherwise run that question again."
        problem = Problem("last_line_waits", message, fix=step, severity="warning")
        yield RunFinding(problem, title, shown, HEALTH)


def answer_findings(table: HealthTable, facts: RunFacts, *, stale: int) -> Iterator[RunFinding]:
    """Yield findings about labels, cited text and numbers.

    `stale` counts the questions with another label in the stored report.
    """
    run_id, total = facts.run_id, facts.questions
    if stale:
        title = f"stored report disagrees on {stale:,} of {total:,}"
        message = f"The stored report has another label on {share_of(stale, total)}."
        step = "Make it again from these traces and chunks: `proofspan triage TRACES CHUNKS -o REPORT`."
        shown = Filter(run_id, suspicion=("report_stale",))
        yield RunFinding(Problem("report_stale", message, fix=step), title, shown)
    if facts.suggestion is not None:  # the profile fits none of the run's answers
        title, message = "no answer follows the template", f"{as_sentence(facts.suggestion.reason)}."
        step = f"Read the run with the profile that fits: `{facts.suggestion.options}`."
        problem = Problem("template_absent", message, fix=step, severity="warning")
        yield RunFinding(problem, title, Filter(run_id))
    if facts.placed is None:
        message = "Its citations are not located on their pages yet."
        step = "Wait, or run `proofspan index WORKSPACE`."
        yield RunFinding(Problem("not_located", message, fix=step, severity="note"), "citations not located")
    for row in table.rows:
        if row.group == ON_THE_PAGE and (count := table.now(row).questions):
            yield replace(_of_row(table, row), title=f"{row.title} on {count:,} of {total:,}")


def pin_findings(run: Run) -> Iterator[RunFinding]:
    """Yield a finding if the run does not pin its settings."""
    if absent := unpinned(run):
        names = ", ".join(absent.values())
        message = f"Not pinned: {names}. The values that the traces log cannot be checked."
        keys = ", ".join(f"`{key}`" for key in absent)
        step = f"Write {keys} under the run's `pinned` in the manifest."
        problem = Problem("pins_missing", message, fix=step, severity="warning")
        yield RunFinding(problem, f"{names} not pinned")


#: The titles of problems of a pinning record.
_OF_RECORD = {
    "record_unusable": "pinning record not usable",
    "pin_contradicts": "pinning record contradicts the run",
    "not_deterministic": "runs differed",
    "pin_incomplete": "pinning record incomplete",
    "pin_unread": "pinning record read in part",
}


def record_findings(manifest: Manifest, run: Run) -> Iterator[RunFinding]:
    """Yield findings about the record that the run's pins name, one of each kind."""
    alike: dict[str, list[Problem]] = {}
    for problem in pin_problems(manifest, run):
        alike.setdefault(problem.code, []).append(problem)
    for code, problems in alike.items():
        first, others = problems[0], len(problems) - 1
        more = f", and {counted(others, 'other contradiction')}" if others else ""
        message = f"{run.record.path if run.record else 'The record'}: {first.message}{more}."
        yield RunFinding(replace(first, message=message), _OF_RECORD[code], is_of_file=True)


def unpinned(run: Run) -> dict[str, str]:
    """Return the settings that a run should pin and does not, with their names.

    A lexical index has no embedding model.
    """
    absent = {key: name for key, name in PINS.items() if not run.pinned.get(key)}
    if "index_hash" not in absent:
        absent.pop("embed_model", None)
    return absent


def measured_findings(run: Run, measured: RunMetrics) -> Iterator[RunFinding]:
    """Yield findings about a metrics pack that is missing, unreadable or outdated, and missing bundles."""
    shown = Filter(run.run_id)
    if run.metrics is None:
        rule = rule_of("metrics_pack_missing")
        problem = Problem(rule.code, rule.meaning, fix=rule.fix, severity=rule.severity)
        yield RunFinding(problem, rule.title, shown, TRENDS)
    errors = (replace(problem, severity="error") for problem in measured.problems)
    yield from _of_problems(errors, is_of_file=False)
    if measured.differences:
        first, others = measured.differences[0], len(measured.differences) - 1
        more = f", and {counted(others, 'other number')}" if others else ""
        message = f"The metrics pack differs from the current metrics: {first.in_words()}{more}."
        step = f"Write it again: `proofspan metrics WORKSPACE --run {run.run_id} --pack`."
        title = "metrics pack differs"
        yield RunFinding(Problem("metrics_pack_differs", message, fix=step), title, shown, TRENDS)
    covered = measured.values.get(BUNDLES)
    missing = covered.denominator - round(covered.numerator or 0) if covered is not None else 0
    if covered is not None and missing:
        title = f"{counted(missing, 'answer')} without a bundle"
        message = f"The stored bundles cover {value_in_words(covered)} of the answered questions."
        step = "Build them again: `proofspan bundle build WORKSPACE`; Walkthrough shows what each one lacks."
        problem = Problem("bundles_incomplete", message, fix=step, severity="warning")
        yield RunFinding(problem, title, shown, WALKTHROUGH)


def page_findings(pages: CitedPages, writer: Writer, run_id: str) -> Iterator[RunFinding]:
    """Yield a finding for each systematic offset of the cited pages."""
    for each in worth_saying(pages.findings):
        if each.is_systematic:
            message, step = (f"{as_sentence(text)}." for text in (in_words(each), fix(each, writer) or ""))
            shown = Filter(run_id, evidence=("page_mismatch",))
            yield RunFinding(Problem("page_base", message, fix=step), "cited pages are off", shown)


def share_of(count: int, total: int) -> str:
    """Return a count with its share and interval: `3 of 44 questions, 7 % (2–18 %)`."""
    return f"{count:,} of {counted(total, 'question')}, {share_in_words(count, total)}"


def as_sentence(words: str) -> str:
    """Return the words with a capital letter and without the full stop."""
    return words[:1].upper() + words[1:].rstrip(".")


@dataclass(frozen=True, slots=True)
class RunLines:
    """The lines of a run's files that could not be used.

    `found` counts them all, `beyond` those in excess of what their files declare. `undeclared` has the issues
    of the files with an excess, a row each in the order of `Store.line_issues`. Repeated ids do not count, as
    one record of each id is used.
    """

    found: int
    beyond: int
    undeclared: pd.DataFrame

    @property
    def declared(self) -> int:
        """The number of lines that the manifest declares."""
        return self.found - self.beyond


def run_lines(store: Store, manifest: Manifest, run: Run) -> RunLines:
    """Return the unusable lines of a run's files. Raises StoreFault if the run has no index."""
    issues = store.line_issues(run.run_id)
    issues = issues[~issues["code"].str.startswith("duplicate_")]
    found = Counter(issues["file"].tolist())
    files = (run.traces, *run.records.values(), run.report, manifest.chunks, manifest.gold)
    declared = {file.path: file.unreadable_lines or 0 for file in files if file is not None}
    over = {file for file, count in found.items() if count > declared.get(file, 0)}
    beyond = sum(found[file] - declared.get(file, 0) for file in over)
    return RunLines(found.total(), beyond, issues[issues["file"].isin(over)])


#: A rule that more than this share of the questions breaks comes before findings about single questions.
MOST = 0.5


def in_a_sentence(table: HealthTable, findings: Sequence[RunFinding]) -> str:
    """Sum up a run in a sentence that counts what `to_fix` lists, by severity.

    `R005: 9 errors and 5 warnings; rules broken on 39 of 39 questions.`
    """
    listed = Counter(finding.problem.severity for finding in to_fix(table, findings))
    of_files = sum(finding.is_of_file and finding.problem.severity == "error" for finding in findings)
    questions = counted(table.total, "question")
    parts = [" and ".join(counted(number, severity) for severity, number in listed.items())] if listed else []
    parts += [f"rules broken on {table.broken_on:,} of {questions}"] if table.broken_on else []
    parts += [f"{counted(of_files, 'error')} of its files"] if of_files else []
    return f"{table.run_id}: {'; '.join(parts) or f'No data-quality issues found in {questions}'}."


def fix_first(table: HealthTable, findings: Sequence[RunFinding]) -> tuple[RunFinding, ...]:
    """Return the errors of a run except those of its files, those with the widest effect first.

    The order: what keeps all questions from being judged, rules that most questions break, findings about the
    run as a whole, and rules that single questions break.
    """
    errors = [each for each in findings if each.problem.severity == "error" and not each.is_of_file]
    if any(each.problem.code == "page_base" for each in errors):  # it explains why pages differ
        errors = [each for each in errors if each.problem.code != "cited_page_differs"]
    broken = table.broken(is_folded=True)
    often = [row for row in broken if table.now(row).questions > MOST * table.total]
    return (
        *(each for each in errors if each.shown is None),
        *(_of_row(table, row) for row in often),
        *(each for each in errors if each.shown is not None),
        *(_of_row(table, row) for row in broken if row not in often),
    )


def to_fix(table: HealthTable, findings: Sequence[RunFinding]) -> tuple[RunFinding, ...]:
    """Return all that is to be fixed, each once: what `fix_first` gives, warnings, then what was noticed."""
    found = {each.problem.code: each for each in fix_first(table, findings)}
    for each in findings:
        if each.problem.severity == "warning" and not each.is_of_file:
            found.setdefault(each.problem.code, each)
    for row in sorted(table.rows, key=lambda row: -table.now(row).questions):
        if table.now(row).traces and not found.keys() & {row.problem.code, *row.codes}:
            found[row.problem.code] = _of_row(table, row)
    return tuple(found.values())


def _of_row(table: HealthTable, row: HealthRow) -> RunFinding:
    count = table.now(row)
    share = share_of(count.questions, table.total) if count.questions else counted(count.traces, "variant")
    problem = replace(row.problem, message=f"{row.problem.message} On {share}.")
    return RunFinding(problem, row.title, row.filter(table.run_id, count))
