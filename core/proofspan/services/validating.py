"""Files of records against the contract: every finding with its line, as the files are read.

Nothing is kept of a record but what others are compared with, so that a file may have any size and any number
of findings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from proofspan.contracts.codes import in_order, rule_of
from proofspan.contracts.context import NO_CONTEXT, Context
from proofspan.contracts.findings import Finding
from proofspan.contracts.record_rules import record_id_of
from proofspan.contracts.rule import Severity
from proofspan.errors import Fault, Problem
from proofspan.services.validating_across import RELATING, Across, Related, Relating, facts_of
from proofspan.services.validating_lines import Counts, Job, Judged, objects
from proofspan.services.validating_ranges import judge_file
from proofspan.services.validating_sources import Asked, corpus_of, jobs_of
from proofspan.traces.checks import crlf
from proofspan.traces.reader import unfinished_bytes

#: Called on the way: the file, the bytes of it that are done and those that it has.
OnProgress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class LocatedFinding:
    """One breach of the contract, with the file and the 1-based line where its record stands."""

    file: str
    line: int
    record_id: str
    code: str
    field: str
    message: str

    @property
    def severity(self) -> Severity:
        """Whether the record breaks what is required, or only what is recommended."""
        return rule_of(self.code).severity

    @property
    def next_step(self) -> str:
        """What to do about it, in one sentence."""
        return rule_of(self.code).next_step


@dataclass(slots=True)
class Tally:
    """What was counted over all files; `problems` are those that cannot be used, `notes` what is no finding.

    `findings` and `records` count by code: how often, and in how many records.
    """

    files: int = 0
    read: int = 0
    findings: Counter[str] = field(default_factory=Counter)
    records: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)
    _last: dict[str, tuple[str, int]] = field(default_factory=dict)

    def add(self, found: LocatedFinding) -> None:
        """Count a finding. Those of a record come one after the other."""
        self.findings[found.code] += 1
        where = found.file, found.line
        if self._last.get(found.code) != where:
            self.records[found.code] += 1
            self._last[found.code] = where

    @property
    def errors(self) -> int:
        """Findings that break what is required."""
        return sum(count for code, count in self.findings.items() if rule_of(code).severity == "error")

    @property
    def warnings(self) -> int:
        """Findings that break what is recommended."""
        return self.findings.total() - self.errors

    def by_code(self) -> list[tuple[str, int, int]]:
        """Code, findings, records; errors first."""
        return [(code, self.findings[code], self.records[code]) for code in in_order(self.findings)]


def validate(
    paths: Sequence[Path],
    record_type: str | None = None,
    *,
    cache_dir: Path,
    context: Context = NO_CONTEXT,
    chunks: Path | None = None,
    workers: int = 1,
    refusal: Sequence[str] | None = None,
    same_key: bool = True,
    tally: Tally | None = None,
    on_progress: OnProgress | None = None,
) -> Iterator[LocatedFinding]:
    """What breaks the contract in bare files and workspaces, file by file in the order of their lines.

    `record_type` is that of all records; None reads it from each record's `$schema`, and from the manifest.
    `context` and the ids of the `chunks` file are what records are held against; `refusal` are the phrases of
    answers that decline, None for the manifest's or the usual ones. What only a file as a whole tells comes
    after its lines. Packed files are unpacked below `cache_dir`. `tally` hears what could not be read at all.
    Fault where `chunks` cannot be used.
    """
    counted = tally if tally is not None else Tally()
    if chunks is not None:
        context = replace(context, corpus=corpus_of(chunks, cache_dir=cache_dir))
    asked = Asked(record_type, context, None if refusal is None else tuple(refusal), same_key)
    jobs = list(_jobs(paths, asked, cache_dir, counted))
    related = _related(jobs)
    for job in jobs:
        across = Across(related.get(job.group, Related()))
        for found in _of_file(job, across, counted, workers=workers, on_progress=on_progress):
            counted.add(found)
            yield found


def _jobs(paths: Sequence[Path], asked: Asked, cache_dir: Path, tally: Tally) -> Iterator[Job]:
    for path in paths:
        try:
            for found in jobs_of(path, asked, cache_dir=cache_dir):
                if isinstance(found, Problem):
                    tally.problems.append(found)
                else:
                    yield found
        except Fault as fault:
            tally.problems += fault.problems


def _related(jobs: Sequence[Job]) -> dict[str, Related]:
    """What the separate records of each group say together; of a single file of one type, nothing."""
    gathered: dict[str, Relating] = {}
    for job in jobs:
        if job.record_type is None or (job.record_type in RELATING and len(jobs) > 1):
            relating = gathered.setdefault(job.group, Relating())
            with suppress(Fault):  # told when the file is judged
                for _, kind, obj in objects(job, holding=_holding(job)):
                    if (facts := facts_of(kind, obj)) is not None:
                        relating.add(facts)
    return {group: relating.related() for group, relating in gathered.items()}


def _holding(job: Job) -> tuple[bytes, ...]:
    """What stands in every record of a file that says what belongs together."""
    if job.usual_type in RELATING:
        return ()
    return tuple(kind.encode() for kind in RELATING)


def _of_file(
    job: Job, across: Across, tally: Tally, *, workers: int, on_progress: OnProgress | None
) -> Iterator[LocatedFinding]:
    """The findings of one file; one that turns out unusable is a problem, and the next is read."""
    counts, size = Counts(), job.path.stat().st_size
    on_done = (lambda done: on_progress(job.file, done, size)) if on_progress is not None else None
    tally.files += 1
    try:
        told = judge_file(job, counts, workers=workers, on_done=on_done)
        for judged in _but_declared(job, told, tally) if job.unreadable else told:
            beside = across.findings(judged.line, judged.facts) if judged.facts is not None else ()
            for finding in (*judged.findings, *beside):
                yield _located(job, judged.line, judged.record_id, finding)
        yield from _of_whole_file(job, counts)
    except Fault as fault:
        tally.problems += fault.problems
    tally.read += counts.records
    if not job.is_final and (size := unfinished_bytes(job.path)):
        said = f"the last line ({size:,} bytes) has no line end yet: it waits, and was not read"
        tally.notes.append(Problem("last_line_waits", said, job.file, severity="note"))


def _but_declared(job: Job, told: Iterable[Judged], tally: Tally) -> Iterator[Judged]:
    """All but the lines that the manifest declares to hold no record, of which a note is made.

    Where there are more or fewer of them than declared, they are told after the others.
    """
    unread: list[Judged] = []
    for judged in told:
        if not judged.is_unread or len(unread) > job.unreadable:
            yield judged
        else:
            unread.append(judged)
    if len(unread) != job.unreadable:
        yield from unread
        return
    count = f"{len(unread):,} line{'s' * (len(unread) != 1)}"
    said = f"{count} could not be read, as declared; first: {unread[0].findings[0].message}"
    where = f"{job.file}:{unread[0].line}"
    tally.notes.append(Problem("lines_unreadable_declared", said, where, severity="note"))


def _of_whole_file(job: Job, counts: Counts) -> Iterator[LocatedFinding]:
    """What only the file as a whole tells: its line ends, and records that are unlike the rest."""
    if counts.crlf:
        yield _located(job, counts.first_crlf, "", crlf(counts.crlf))
    if counts.marks.differ:
        for line, kind, obj in objects(job):
            for finding in counts.marks.unusual(kind, obj):
                yield _located(job, line, record_id_of(kind, obj), finding)


def _located(job: Job, line: int, record_id: str, finding: Finding) -> LocatedFinding:
    named = finding.record_id or record_id
    return LocatedFinding(job.file, line, named, finding.code, finding.field, finding.message)
