"""A file beside the traces that an index is made with, such as the gold file: which one, and its version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from proofspan.contracts.chunk_ids.redirects import Redirect
from proofspan.contracts.records.records import LABELS, Attachment, Chunk, GoldQuestion, LineIssue, SourceLine
from proofspan.diagnosis.gold import GoldTarget, gold_target
from proofspan.diagnosis.safety import KINDS, MOST_NOTICES, Notices
from proofspan.diagnosis.types import ReportRow, Signals
from proofspan.errors import Fault, InputFault, Problem
from proofspan.fingerprints import sha256_of
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Artifact, Manifest
from proofspan.store.files.columns import index_row, issue_table, row_table
from proofspan.store.files.run_file import Segment, issues_name
from proofspan.store.files.segment_files import write_segment, write_table
from proofspan.traces.lines.unpack import plain_source
from proofspan.traces.records.catalogue import read_catalogue
from proofspan.traces.records.chunks import read_chunks
from proofspan.traces.records.citations import cited_record
from proofspan.traces.records.gold import read_gold
from proofspan.traces.records.redirects import gold_of_today, read_redirects, with_redirects
from proofspan.traces.records.stored_reports import StoredRow, read_report, remembered


@dataclass(frozen=True, slots=True)
class SideFile:
    """A file as it is now. `path` is None where there is none to read; `problems` then says why.

    A packed file's `path` is its unpacked copy; `version` is the sha256 of the file as it lies there, or why
    there is none: a file that appears or changes makes another index.
    """

    path: Path | None = None
    file: str = ""
    version: str = "none"
    problems: tuple[Problem, ...] = ()


NO_FILE = SideFile()


@dataclass(frozen=True, slots=True)
class Loss:
    """What is missing without a file: the problem's code, the file by name, and what is then not known."""

    code: str
    file: str
    lost: str

    def of(self, artifact: Artifact, problem: Problem) -> Problem:
        """The problem for those who miss what the file is for; which file it is stands in `where`."""
        said = problem.message.removeprefix(f"`{artifact.key}`: ").removeprefix("the file ")
        return Problem(
            self.code,
            f"{self.file} {said}; {self.lost}",
            f"{artifact.key}: {problem.where or artifact.path}",
            problem.fix or "put the file back and run `proofspan index` again",
        )


def find_side_file(manifest: Manifest, artifact: Artifact | None, loss: Loss, *, cache_dir: Path) -> SideFile:
    """The named file as it is now, if any; one that is lost leaves the labels standing and is a problem."""
    if artifact is None:
        return NO_FILE
    try:
        path = artifact_path(manifest, artifact)
        return SideFile(plain_source(path, cache_dir=cache_dir), artifact.path, sha256_of(path))
    except Fault as fault:
        problems = tuple(loss.of(artifact, problem) for problem in fault.problems)
    except OSError as error:
        unreadable = Problem("unreadable", f"cannot be read: {error.strerror}", artifact.path)
        problems = (loss.of(artifact, unreadable),)
    return SideFile(None, artifact.path, "unusable", problems)


# The gold questions as an index needs them: what to look for, and what is lost without their file.


@dataclass(frozen=True, slots=True)
class GoldTargets:
    """What to look for, by q_id; questions without a target are left out. `questions` are all of them.

    `issues` are the lines that hold no gold question, `problems` say why the whole file could not be used.
    """

    by_question: Mapping[str, GoldTarget] = field(default_factory=dict)
    issues: tuple[LineIssue, ...] = ()
    problems: tuple[Problem, ...] = ()
    questions: Mapping[str, GoldQuestion] = field(default_factory=dict)

    def of_today(self, chunks: Mapping[str, Chunk]) -> GoldTargets:
        """The same with the ids of today's chunks in the place of former ones."""
        questions = gold_of_today(self.questions, chunks)
        if questions is self.questions:
            return self
        return replace(self, by_question=targets_of(questions), questions=questions)


NO_TARGETS = GoldTargets()
GOLD_LOSS = Loss("gold_unusable", "the gold file", "what became of the gold passages is not known")


def read_targets(gold: SideFile) -> GoldTargets:
    """Reads the gold file. One that is no gold file at all gives no targets and a problem."""
    if gold.path is None:
        return NO_TARGETS
    try:
        questions, issues = read_gold(gold.path, file=gold.file)
    except Fault as fault:
        return GoldTargets(problems=fault.problems)
    return GoldTargets(targets_of(questions), tuple(issues), questions=questions)


def targets_of(questions: Mapping[str, GoldQuestion]) -> dict[str, GoldTarget]:
    """What to look for in the traces of each question that says so."""
    return {q_id: target for q_id, known in questions.items() if (target := gold_target(known))}


# The catalogue as an index needs it: the notices to look for, and what is lost without the file.


@dataclass(frozen=True, slots=True)
class Catalogued:
    """The warnings and cautions of a catalogue; None where there is no file, or one without any attachment.

    `issues` are the lines that hold no attachment, `problems` say why the whole file could not be used.
    """

    notices: tuple[Attachment, ...] | None = None
    issues: tuple[LineIssue, ...] = ()
    problems: tuple[Problem, ...] = ()


NOT_CATALOGUED = Catalogued()
CATALOGUE_LOSS = Loss(
    "catalogue_unusable", "the catalogue", "which warnings the answers leave out is not known"
)


def read_notices(catalogue: SideFile) -> Catalogued:
    """Reads the catalogue's warnings and cautions. A file that is no catalogue at all gives a problem."""
    if catalogue.path is None:
        return NOT_CATALOGUED
    try:
        found, issues = read_catalogue(catalogue.path, file=catalogue.file)
    except Fault as fault:
        return Catalogued(problems=fault.problems)
    notices = tuple(attachment for attachment in found.values() if attachment.kind in KINDS)
    return Catalogued(notices if found else None, tuple(issues))


def crowded_problems(notices: Notices, *, file: str) -> tuple[Problem, ...]:
    """One problem for all sections with more notices than are looked for."""
    if not notices.crowded:
        return ()
    doc_id, section, count = notices.crowded[0]
    others = len(notices.crowded) - 1
    more = f", and so have {others:,} other sections" if others else ""
    message = (
        f"section {section[:80]} of {doc_id[:80] or 'no document'} has {count:,} warnings and cautions"
        f"{more}; only the first {MOST_NOTICES} of a section are looked for in the answers"
    )
    fix = "give each entry of the catalogue the narrowest section that it stands in"
    return (Problem("section_crowded", message, file, fix, severity="warning"),)


# The redirects of a workspace as an index and its pages need them, and what is lost without their file.


@dataclass(frozen=True, slots=True)
class Redirects:
    """Where old ids lead. `issues` are the lines that hold none, `problems` say why the file is of no use."""

    by_id: Mapping[str, Redirect] = field(default_factory=dict)
    issues: tuple[LineIssue, ...] = ()
    problems: tuple[Problem, ...] = ()


NO_REDIRECTS = Redirects()
REDIRECTS_LOSS = Loss("redirects_unusable", "the redirects file", "ids of earlier builds name no chunk")


def read_side_redirects(found: SideFile) -> Redirects:
    """Reads the file. One that is none at all gives no redirects and a problem."""
    if found.path is None:
        return NO_REDIRECTS
    try:
        by_id, issues = read_redirects(found.path, file=found.file)
    except Fault as fault:
        return Redirects(problems=fault.problems)
    return Redirects(by_id, tuple(issues))


def read_led_chunks(
    manifest: Manifest, path: Path, *, file: str, cache_dir: Path
) -> tuple[Mapping[str, Chunk], list[LineIssue]]:
    """The workspace's chunks, found by former ids too, and the bad lines of their file, which lies at `path`.

    Redirects that cannot be used lead nowhere; the index tells of them. InputFault where the chunks cannot.
    """
    chunks, issues = read_chunks(plain_source(path, cache_dir=cache_dir), file=file)
    found = find_side_file(manifest, manifest.redirects, REDIRECTS_LOSS, cache_dir=cache_dir)
    return with_redirects(chunks, read_side_redirects(found).by_id), issues


# A run that has a report and no traces: its rows are what the report holds.


def report_segment(folder: Path, prefix: str, path: Path, *, file: str, run_id: str) -> Segment:
    """Writes the one segment of such a run. A report that is none gives a segment with one line issue."""
    issues: list[LineIssue]
    try:
        stored, issues = read_report(path, file=file)
    except InputFault as fault:
        problem = fault.problems[0]
        stored, issues = [], [_file_issue(file, problem.code, problem.message, problem.fix)]
    rows = [
        index_row(remembered(row, run_id), _verdict_of(row), {}) | {"citations": _cited(row)}
        for row in stored
    ]
    size = path.stat().st_size
    name = f"{prefix}-{0:014d}-{size:014d}.parquet"
    write_segment(folder, name, row_table(rows))
    if issues:
        write_table(folder, issues_name(name), issue_table(issues))
    return Segment(name, 0, size, 1, len(stored), len(rows), len(issues))


def _cited(row: StoredRow) -> bytes | None:
    payload = [{"chunk_id": chunk_id} for chunk_id in row.citations_in_answer]
    return cited_record(replace(remembered(row, ""), payload=payload))


def _verdict_of(row: StoredRow) -> ReportRow | None:
    """The stored verdict; None where its label is none of ours."""
    if row.label not in LABELS:
        return None
    cited = row.citations_in_answer
    retrieved = sum(chunk_id in row.chunks for chunk_id in cited)
    signals = Signals(cited=len(cited), cited_retrieved=retrieved)
    return ReportRow(row.q, row.label, row.why, row.chunks, cited, signals)


def _file_issue(file: str, code: str, message: str, fix: str) -> LineIssue:
    return LineIssue.at(SourceLine(file, 1, 0, 0), code, message, fix)
