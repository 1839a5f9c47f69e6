"""What speaks against a run as a whole: its lines, report, metrics pack, pages, figures, pins and bundles.

The codes of single traces are counted elsewhere (`Store.code_counts`); what stands here is true of the run,
or of what was committed beside it. Page, badge and commands read it from here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import pandas as pd

from proofspan.contracts.rules.catalogue import rule_of
from proofspan.errors import Fault, Problem
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Artifact, Manifest, Run
from proofspan.metrics.packs import Pack, read_pack
from proofspan.metrics.statistics import share_in_words
from proofspan.metrics.values import value_in_words
from proofspan.services.metrics.run_metrics import BUNDLES, RunMetrics
from proofspan.services.page_base import CitedPages, Writer, fix, in_words, worth_saying, writer_of
from proofspan.services.workspace.links import list_address
from proofspan.services.workspace.open import chosen_run
from proofspan.store.files.located import EvidenceState
from proofspan.store.files.types import RunFacts
from proofspan.store.query.filters import Filter
from proofspan.store.query.store import Store

Severity = Literal["error", "warning", "note"]
#: Pages of the dashboard by their addresses.
HEALTH, TRENDS, WALKTHROUGH = "health", "trends", "walkthrough"
_RANK: Mapping[str, int] = {"error": 0, "warning": 1, "note": 2}
#: What a run pins so that what is read can be held against what was written, with what it is called.
PINS: Mapping[str, str] = {
    "index_hash": "index hash",
    "embed_model": "embedding model",
    "analyzer": "analyzer",
}


@dataclass(frozen=True, slots=True)
class RunFinding:
    """One thing that is true of a run. `said` is a sentence without the run's name, with its numbers, `title`
    the same in a few words.

    `shown` are the questions that it is about, None where it is about none; `page` is the dashboard's page
    that shows more of it ("" is Triage). A note is no fault. `is_of_file`: a look at the files tells it too,
    so that who counts both counts it there.
    """

    code: str
    severity: Severity
    title: str
    said: str
    next_step: str = ""
    shown: Filter | None = None
    page: str = ""
    is_of_file: bool = False

    @property
    def address(self) -> str:
        """The relative address of the page that has it; "" where there is none."""
        return list_address(self.shown, self.page) if self.shown is not None else ""


def run_findings(
    store: Store, manifest: Manifest, measured: RunMetrics, pages: CitedPages | None
) -> tuple[RunFinding, ...]:
    """Everything that is true of the run that was measured, errors first, notes last.

    `pages` is what its citations tell of their pages, None while they are not located. StoreFault where the
    run has no index.
    """
    run = chosen_run(manifest, measured.run_id)
    found = [
        *index_findings(store, manifest, run.run_id),
        *pack_findings(run, measured, copied_from(manifest, run, measured.pack)),
        *bundle_findings(measured),
        *(page_findings(pages, writer_of(manifest), run.run_id) if pages is not None else ()),
    ]
    return worst_first(found)


def index_findings(store: Store, manifest: Manifest, run_id: str) -> tuple[RunFinding, ...]:
    """The part of `run_findings` that the index alone tells, which costs no look into a file."""
    run, facts = chosen_run(manifest, run_id), store.run_facts(run_id)
    stale = dict(store.options(run_id).get("suspicion", ())).get("report_stale", 0)
    shown, total = Filter(run_id), facts.questions
    return worst_first(
        [
            *_of_problems(facts.problems, is_of_file=True),
            *line_findings(run_lines(store, manifest, run), facts),
            *report_findings(run_id, stale, total),
            *template_findings(facts),
            *cited_findings(run_id, store.evidence_counts(shown), total, is_located=facts.placed is not None),
            *figure_findings(run_id, store.matching(Filter(run_id, unsupported=True)), total),
            *pin_findings(run),
        ]
    )


def worst_first(found: Iterable[RunFinding]) -> tuple[RunFinding, ...]:
    """Errors, then warnings, then notes; those of a kind as they come."""
    return tuple(sorted(found, key=lambda finding: _RANK[finding.severity]))


def _of_problems(problems: Iterable[Problem], *, is_of_file: bool) -> Iterator[RunFinding]:
    """What kept files from being read, as findings of the run."""
    for problem in problems:
        severity: Severity = "error" if problem.severity == "error" else "warning"
        said, title = f"{as_sentence(problem.message)}.", problem.code.replace("_", " ")
        yield RunFinding(problem.code, severity, title, said, problem.fix, is_of_file=is_of_file)


def line_findings(lines: RunLines, facts: RunFacts) -> Iterator[RunFinding]:
    """Lines that hold no record, rows of the report without a trace, and a last line that waits."""
    shown = Filter(facts.run_id)
    if unread := max(0, lines.beyond - facts.unmatched):
        first = lines.undeclared.iloc[0]
        said = f"{counted(unread, 'line')} could not be read; the first is {first['file']}:{first['line']}."
        title = f"{counted(unread, 'line')} unreadable"
        step = str(first["remedy"])
        yield RunFinding("lines_unreadable", "error", title, said, step, shown, HEALTH, is_of_file=True)
    if declared := lines.declared:
        said = f"{counted(declared, 'line')} could not be read, as the manifest declares."
        title = f"{counted(declared, 'line')} unreadable, as declared"
        yield RunFinding("lines_unreadable_declared", "note", title, said, "", shown, HEALTH)
    if facts.unmatched:
        said = f"The stored report has {counted(facts.unmatched, 'row')} without a trace."
        step = "Make the report from the traces that are there: `proofspan triage`."
        title = f"{counted(facts.unmatched, 'report row')} without a trace"
        yield RunFinding("report_without_trace", "warning", title, said, step, shown, HEALTH)
    if facts.waiting_bytes:
        size = counted(facts.waiting_bytes, "byte")
        said = f"The last line of the traces ({size}) has no line end: it waits, and is not counted."
        step = "Nothing while its writer is at work; else its end is lost, so run that question again."
        yield RunFinding("last_line_waits", "warning", "last line unfinished", said, step, shown, HEALTH)


def report_findings(run_id: str, stale: int, total: int) -> Iterator[RunFinding]:
    """A stored report whose labels are not those of the traces that lie beside it."""
    if stale:
        said = f"The stored report has another label on {share_of(stale, total)}."
        step = "Make it anew from these traces and chunks: `proofspan triage TRACES CHUNKS -o REPORT`."
        title = f"stored report disagrees on {stale:,} of {total:,}"
        shown = Filter(run_id, suspicion=("report_stale",))
        yield RunFinding("report_stale", "error", title, said, step, shown)


def template_findings(facts: RunFacts) -> Iterator[RunFinding]:
    """A profile that reads none of the run's answers."""
    if facts.suggestion is not None:
        step = f"Read it by the profile that would fit: `{facts.suggestion.options}`."
        said = f"{as_sentence(facts.suggestion.reason)}."
        title = "no answer follows the template"
        yield RunFinding(facts.suggestion.code, "warning", title, said, step, Filter(facts.run_id))


#: What of cited text is a finding of the run: code, title, what it says and what to do.
_CITED: Mapping[EvidenceState, tuple[str, str, str, str]] = {
    "numbers_differ": (
        "figures_differ",
        "figure differs from the page",
        "A cited figure is not the one on the page",
        "Let the answer copy figures from the chunk, and check these before they go out.",
    ),
    "not_found": (
        "cited_text_not_found",
        "cited text not found",
        "Cited text stands nowhere in its document",
        "Quote the chunk's own words, and check that traces and documents are of one edition.",
    ),
    "page_mismatch": (
        "cited_page_differs",
        "cited text on another page",
        "Cited text stands on another page than the cited one",
        "Look under cited pages for who writes them, and from which number on.",
    ),
}


def cited_findings(
    run_id: str, counts: Mapping[EvidenceState, int], total: int, *, is_located: bool
) -> Iterator[RunFinding]:
    """Cited text that does not stand where it is cited, question by question."""
    if not is_located:
        said = "Its citations are not located on their pages yet."
        yield RunFinding(
            "not_located", "note", "citations not located", said, "Wait, or run `proofspan index WORKSPACE`."
        )
    for state, (code, short, said, step) in _CITED.items():
        if count := counts.get(state, 0):
            told = f"{said} on {share_of(count, total)}."
            title = f"{short} on {count:,} of {total:,}"
            yield RunFinding(code, "error", title, told, step, Filter(run_id, evidence=(state,)))


def figure_findings(run_id: str, unsupported: int, total: int) -> Iterator[RunFinding]:
    """Answers with numbers that stand nowhere in what their answerer saw."""
    if unsupported:
        said = f"A number in the answer stands nowhere in the evidence on {share_of(unsupported, total)}."
        step = "Check these numbers against the page before the answers go out."
        title = f"number without evidence on {unsupported:,} of {total:,}"
        shown = Filter(run_id, unsupported=True)
        yield RunFinding("numbers_unsupported", "warning", title, said, step, shown)


def pin_findings(run: Run) -> Iterator[RunFinding]:
    """What the run does not pin, so that nothing can be held against it. A lexical index has no model."""
    absent = [key for key in PINS if not run.pinned.get(key)]
    if run.pinned.get("index_hash") and "embed_model" in absent:
        absent.remove("embed_model")
    if absent:
        named = ", ".join(PINS[key] for key in absent)
        said = f"Not pinned: {named}. What the traces log of it is held against nothing."
        step = f"Write {', '.join(f'`{key}`' for key in absent)} under the run's `pinned` in the manifest."
        yield RunFinding("pins_missing", "warning", f"{named} not pinned", said, step)


def pack_findings(run: Run, measured: RunMetrics, copied: str | None) -> Iterator[RunFinding]:
    """A metrics pack that is missing, cannot be read, or says what is not counted here."""
    shown = Filter(run.run_id)
    if run.metrics is None:
        rule = rule_of("metrics_pack_missing")
        yield RunFinding(rule.code, rule.severity, rule.title, rule.meaning, rule.next_step, shown, TRENDS)
    problems = (replace(problem, severity="error") for problem in measured.problems)
    yield from _of_problems(problems, is_of_file=False)
    if measured.differences:
        first, others = measured.differences[0], len(measured.differences) - 1
        more = f", and {counted(others, 'other number')}" if others else ""
        whose = f" Its numbers are those of {copied}: it was copied along." if copied else ""
        title = f"metrics pack is that of {copied}" if copied else "metrics pack differs"
        said = f"The metrics pack says what is not counted: {first.in_words()}{more}.{whose}"
        step = f"Write it again: `proofspan metrics WORKSPACE --run {run.run_id} --pack`."
        yield RunFinding("metrics_pack_differs", "error", title, said, step, shown, TRENDS)


def copied_from(manifest: Manifest, run: Run, pack: Pack | None) -> str | None:
    """The first other run whose metrics pack has the same numbers; None where none has, or there are none."""
    if pack is None or not any(number is not None for number in pack.numbers.values()):
        return None
    for other in manifest.runs:
        if other.run_id == run.run_id or other.metrics is None:
            continue
        try:
            stored, _ = read_pack(artifact_path(manifest, other.metrics), file=other.metrics.path)
        except Fault:  # what is wrong with it is said of that run
            continue
        if stored is not None and stored.numbers == pack.numbers:
            return other.run_id
    return None


def bundle_findings(measured: RunMetrics) -> Iterator[RunFinding]:
    """Stored bundles that leave out an answered question, or cannot place its citation."""
    covered = measured.values.get(BUNDLES)
    missing = covered.denominator - round(covered.numerator or 0) if covered is not None else 0
    if covered is not None and missing:
        said = f"The stored bundles cover {value_in_words(covered)} of the answered questions."
        step = "Build them anew: `proofspan bundle build WORKSPACE`; Walkthrough shows what each one lacks."
        title = f"{counted(missing, 'answer')} without a bundle"
        shown = Filter(measured.run_id)
        yield RunFinding("bundles_incomplete", "warning", title, said, step, shown, WALKTHROUGH)


def page_findings(pages: CitedPages, writer: Writer, run_id: str) -> Iterator[RunFinding]:
    """What is systematically wrong with the cited pages, as the page-base doctor says it."""
    for each in worth_saying(pages.findings):
        if each.is_systematic:
            said, step = (f"{as_sentence(told)}." for told in (in_words(each), fix(each, writer) or ""))
            shown = Filter(run_id, evidence=("page_mismatch",))
            yield RunFinding("page_base", "error", "cited pages are off", said, step, shown)


def share_of(count: int, total: int) -> str:
    """`3 of 44 questions, 7 % (2–18 %)`."""
    return f"{count:,} of {counted(total, 'question')}, {share_in_words(count, total)}"


def counted(number: int, noun: str) -> str:
    """`1 line`, `1,200 lines`."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def as_sentence(words: str) -> str:
    """The words with a capital, without the full stop."""
    return words[:1].upper() + words[1:].rstrip(".")


# The lines of a run's files that could not be used, against those that the manifest declares.


@dataclass(frozen=True, slots=True)
class RunLines:
    """`found` lines could not be read or belong to nothing, `beyond` of them more than their files declare.

    `undeclared` are the issues of the files that have more than they declare, one row each, in the order of
    `Store.line_issues`. Ids that come again are none of them: one record of each id counts.
    """

    found: int
    beyond: int
    undeclared: pd.DataFrame

    @property
    def declared(self) -> int:
        """How many are known to the manifest."""
        return self.found - self.beyond


def run_lines(store: Store, manifest: Manifest, run: Run) -> RunLines:
    """What of a run's own files, and of those that it is read with, holds no record. StoreFault where the run
    has no index."""
    issues = store.line_issues(run.run_id)
    issues = issues[~issues["code"].str.startswith("duplicate_")]
    found = Counter(issues["file"].tolist())
    declared = {artifact.path: artifact.unreadable_lines or 0 for artifact in _files(manifest, run)}
    over = {file for file, count in found.items() if count > declared.get(file, 0)}
    beyond = sum(found[file] - declared.get(file, 0) for file in over)
    return RunLines(found.total(), beyond, issues[issues["file"].isin(over)])


def _files(manifest: Manifest, run: Run) -> Iterator[Artifact]:
    named = (run.traces, *run.records.values(), run.report, manifest.chunks, manifest.gold)
    return (artifact for artifact in named if artifact is not None)
