"""Files of records against the contract: every finding with its line, as the files are read.

Nothing is kept of a record but what others are compared with, so that a file may have any size and any number
of findings.
"""

from __future__ import annotations

import gc
import os
import signal
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Literal, NamedTuple

import orjson

from proofspan.contracts.chunk_ids.audit import id_findings
from proofspan.contracts.record_rules import RECORD_TYPES, ids_of, merged, record_findings, record_id_of
from proofspan.contracts.records.field_values import OFFSET_UNITS, first_of, id_of, index_of, text_of
from proofspan.contracts.records.records import Json, LineIssue, SourceLine
from proofspan.contracts.records.schemas import type_named
from proofspan.contracts.rules.catalogue import Severity, in_order, is_of_family, rule_of
from proofspan.contracts.rules.fast_path import is_clean_record
from proofspan.contracts.rules.finding import NO_CONTEXT, Context, Finding, shown
from proofspan.diagnosis.answers import refuses
from proofspan.diagnosis.labelling import declines, lowered
from proofspan.diagnosis.types import Profile, profile_from
from proofspan.errors import Fault, InputFault, Problem
from proofspan.manifest.load import load_manifest
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Artifact, Manifest, Run
from proofspan.store.files.columns import SEVERAL, offset_unit
from proofspan.store.index.plan import Range, cut
from proofspan.store.index.side_files import read_led_chunks
from proofspan.traces.contract import context_of, trace_findings
from proofspan.traces.lines.json_document import (
    QuickLook,
    byte_order_mark,
    crlf,
    exact_findings,
    is_whole_json,
    read_entries,
)
from proofspan.traces.lines.reader import (
    BOM,
    MAX_DEPTH,
    Block,
    RawLine,
    UnusableError,
    is_deeper,
    open_source,
    parse_line,
    read_blocks,
    unfinished_bytes,
)
from proofspan.traces.lines.sniff import foreign_file
from proofspan.traces.lines.unpack import plain_source
from proofspan.traces.lines.worker_process import end_with_parent, interrupts_held
from proofspan.traces.records.chunks import chunk_from, read_chunks
from proofspan.traces.records.redirects import former_ids
from proofspan.traces.records.trace_record import trace_from
from proofspan.traces.separate.log_lines import log_fields, log_line_of

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


# What is usual in a run: its state of memory, and its unit of offsets. A record that differs is a finding.
#
# Only the whole run tells what is usual, so one pass counts, and where something differs a second names it.

About = Literal["mem_rev", "mem_hash", "unit"]
_MEMORY: tuple[Literal["mem_rev", "mem_hash"], ...] = ("mem_rev", "mem_hash")
#: Where the units of records without a run's name are counted; there from the start.
UNNAMED_UNITS: tuple[About, str] = ("unit", "")
#: Record types with a list of citations that have offsets.
_CITING = frozenset({"trace", "auditable-answer"})
#: Record types that a run writes; what is written besides may well come from other states of memory.
_OF_RUNS = frozenset(
    {"envelope", "query", "retrieved", "rerank", "prompt-frame", "answer", "trace", "log", "rag-traces"}
)


def words_of(kind: str, obj: Mapping[str, Json]) -> Iterator[tuple[About, str]]:
    """The words of a record that are compared with those of its run, as far as it has them."""
    if kind in _OF_RUNS:
        for name in _MEMORY:
            if (state := text_of(obj.get(name))) is not None:
                yield name, state
    if (unit := unit_of(kind, obj)) is not None:
        yield "unit", unit


def unit_of(kind: str, obj: Mapping[str, Json]) -> str | None:
    """The unit of a record's offsets; None where it has none, or several, which its own rules tell."""
    if kind == "citation":
        offsets = obj.get("offsets")
        unit = offsets.get("unit", "char") if type(offsets) is dict else None
        return unit if type(unit) is str and unit in OFFSET_UNITS else None
    unit = offset_unit(obj) if kind in _CITING else None
    return None if unit == SEVERAL else unit


@dataclass(slots=True)
class Marks:
    """How many records of each run (its `run_id`, "" where they name none) have which word."""

    words: dict[tuple[About, str], dict[str, int]] = field(default_factory=lambda: {UNNAMED_UNITS: {}})

    def note(self, kind: str, obj: Mapping[str, Json]) -> None:
        """Count a record."""
        for about, word in words_of(kind, obj):
            words = self.words.setdefault((about, _run_of(obj)), {})
            words[word] = words.get(word, 0) + 1

    def add(self, other: Marks) -> None:
        """Count the records of the next lines as well."""
        for key, counts in other.words.items():
            words = self.words.setdefault(key, {})
            for word, number in counts.items():
                words[word] = words.get(word, 0) + number

    @property
    def differ(self) -> bool:
        """Whether some record is unlike the rest of its run."""
        return any(len(words) > 1 for words in self.words.values())

    def unusual(self, kind: str, obj: Mapping[str, Json]) -> Iterator[Finding]:
        """How a counted record is unlike most of its run; of equally many the first count as most."""
        for about, word in words_of(kind, obj):
            words = self.words[about, _run_of(obj)]
            most = max(words, key=words.__getitem__)
            if word == most:
                continue
            if about == "unit":
                place = "offsets.unit" if kind == "citation" else "citations"
                said = f"offsets are in {word} here, and mostly in {most}"
                yield Finding("mixed_offset_units", place, said)
            else:
                yield Finding("memory_desync", about, f"{about} is {shown(word)}, and mostly {shown(most)}")
                return


def _run_of(obj: Mapping[str, Json]) -> str:
    return text_of(obj["run_id"]) or "" if "run_id" in obj else ""


# The records of one file against the contract, one by one; in the validating process or in its workers.

#: The reading of an answer where nothing else is said.
USUAL = Profile()
#: Hears how many bytes of a file are done.
OnDone = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Job:
    """One file to be validated; goes to the workers once.

    `file` is its name in findings. `record_type` is what the caller says its records are, None where each
    names its type itself; `usual_type` is that of its first record, taken for those that name none. `profile`
    says which answers decline. `run_id` is the manifest's; separate records of one `group` belong together.
    `is_final`: the last line counts without its line end. `is_whole`: the file is one JSON value. `same_key`:
    whether keys that stand twice are looked for. `unreadable`: how many lines are declared to hold no record.
    """

    path: Path
    file: str
    record_type: str | None
    usual_type: str | None = None
    context: Context = NO_CONTEXT
    profile: Profile = USUAL
    run_id: str | None = None
    group: str = ""
    is_final: bool = True
    is_whole: bool = False
    same_key: bool = True
    unreadable: int = 0


class Judged(NamedTuple):
    """A record about which there is something to say. `facts` are for those that compare it with others.

    `is_unread`: the line becomes no record.
    """

    line: int
    record_id: str
    findings: tuple[Finding, ...]
    facts: Facts | None
    is_unread: bool = False


@dataclass(slots=True)
class Counts:
    """What is counted over the lines of a range."""

    records: int = 0
    crlf: int = 0
    first_crlf: int = 0
    marks: Marks = field(default_factory=Marks)

    def note_clean(self, payload: Mapping[str, Json]) -> None:
        """Count a payload in its plainest form."""
        self.records += 1
        words, unit = self.marks.words[UNNAMED_UNITS], payload["offsets"]["unit"]
        words[unit] = words.get(unit, 0) + 1

    def add(self, other: Counts) -> None:
        """Counts those of the next range as well."""
        self.records += other.records
        self.first_crlf = self.first_crlf or other.first_crlf
        self.crlf += other.crlf
        self.marks.add(other.marks)


def judge_lines(
    job: Job, counts: Counts, cut: Range | None = None, *, on_done: OnDone | None = None
) -> Iterator[Judged]:
    """The records of a file, or of a range of its lines, about which there is something to say."""
    judge = Judge(job)
    start, line, end = (0, 1, None) if cut is None else (cut.start, cut.line, cut.end)
    if start == 0 and _begins_marked(job.path):
        yield Judged(1, "", (byte_order_mark(),), None)
    if job.is_whole:
        yield from judge.entries(counts)
        return
    for block in read_blocks(job.path, offset=start, line=line, end=end, final=job.is_final):
        yield from judge.block(block, counts)
        if on_done is not None:
            on_done(block.end)


def objects(job: Job, *, holding: tuple[bytes, ...] = ()) -> Iterator[tuple[int, str, dict[str, Json]]]:
    """Line, type and object of each record that can be read; nothing is judged.

    Of lines only those with one of the texts in `holding`, where there are any.
    """
    judge = Judge(job)
    if job.is_whole:
        found = ((entry.line, entry.obj) for entry in read_entries(job.path, file=job.file))
    else:
        found = (
            (line, obj)
            for block in read_blocks(job.path, final=job.is_final)
            if block.overlong is None
            for line, data in enumerate(block.lines, block.line)
            if not holding or any(text in data for text in holding)
            if (obj := _parsed(data) or _logged(job, line, data)) is not None and not _is_deep(data, obj)
        )
    return ((line, judge.kind_of(obj), obj) for line, obj in found if obj is not None)


def _begins_marked(path: Path) -> bool:
    """Whether a file begins with a byte order mark."""
    with open_source(path) as file:
        return file.read(len(BOM)) == BOM


class Judge:
    """Judges the records of one job, one after the other."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._phrases = lowered(job.profile.refusal)

    def block(self, block: Block, counts: Counts) -> Iterator[Judged]:
        """The records of a block about which there is something to say."""
        if b"\r" in block.data:
            _count_crlf(block, counts)
        look, context = QuickLook(block.data, same_key=self._job.same_key), self._job.context
        is_payload = self._job.record_type == "citation"
        for line, data in enumerate(block.lines, block.line):
            obj = _parsed(data) if block.overlong is None else None
            if is_payload and obj and is_clean_record(obj, context) and look.is_sound(data, obj):
                counts.note_clean(obj)
                continue
            if obj is None or _is_deep(data, obj):
                judged = self._odd(block.overlong or RawLine(line, 0, len(data), data), counts)
            else:
                found = () if look.is_sound(data, obj) else exact_findings(data)
                judged = self.record(line, obj, counts, found)
            if judged is not None:
                yield judged

    def entries(self, counts: Counts) -> Iterator[Judged]:
        """The same of a file that is one JSON value."""
        for line, obj, found in read_entries(self._job.path, file=self._job.file):
            if obj is None:
                counts.records += 1
                yield Judged(line, "", found, None, is_unread=True)
            elif (judged := self.record(line, obj, counts, found)) is not None:
                yield judged

    def record(
        self, line: int, obj: Mapping[str, Json], counts: Counts, found: tuple[Finding, ...] = ()
    ) -> Judged | None:
        """A record with what its rules say, after what was `found` in its bytes."""
        counts.records += 1
        kind, context = self._job.record_type or self.kind_of(obj), self._job.context
        counts.marks.note(kind, obj)
        found += record_findings(kind, obj, context)
        is_unread = False
        if kind == "trace":
            of_trace, is_unread = self._of_trace(line, obj, {finding.code for finding in found})
            found += of_trace
        elif kind == "citation":
            found += _unknown_chunk(obj, context)
        elif kind == "chunk":
            found += _of_chunk_id(obj)
        elif kind == "answer" and refuses(str(obj.get("answer_text")).lower(), self._phrases):
            found = tuple(finding for finding in found if finding.code != "empty_citations")
        facts = facts_of(kind, obj)
        if not found and facts is None:
            return None
        return Judged(line, record_id_of(kind, obj), found, facts, is_unread)

    def _odd(self, raw: RawLine, counts: Counts) -> Judged | None:
        """A line that is no plain JSON object: blank, a line of a log, or none that can be read."""
        if len(raw.data) == raw.length and (not raw.data or raw.data.isspace()):
            return None
        try:
            if self._job.record_type == "log" and not raw.data.lstrip().startswith(b"{"):
                return self._log_line(raw, counts)
            parse_line(raw)
            code, reason = "not_an_object", "the line is JSON and no object"
        except UnusableError as why:
            code, reason = why.code, str(why)
        counts.records += 1
        return Judged(raw.line, "", (_of_line(code, reason),), None, is_unread=True)

    def _log_line(self, raw: RawLine, counts: Counts) -> Judged | None:
        """A line of a log as text: the rules read it under the names of its keys."""
        found = log_line_of(raw, file=self._job.file)
        if isinstance(found, LineIssue):
            counts.records += 1
            return Judged(raw.line, "", (_of_line(found.code, found.message),), None, is_unread=True)
        judged = self.record(raw.line, log_fields(found.record), counts)
        if judged is None:
            return Judged(raw.line, found.record.qid, found.findings, None) if found.findings else None
        return judged._replace(findings=merged(found.findings, judged.findings))

    def kind_of(self, obj: Mapping[str, Json]) -> str:
        """The record's type: what the caller says, what its `$schema` says, that of the file's first."""
        if self._job.record_type is not None:
            return self._job.record_type
        uri = obj.get("$schema")
        named = type_named(uri) if isinstance(uri, str) else None
        return named[0] if named else self._job.usual_type or ""

    def _of_trace(
        self, line: int, obj: Mapping[str, Json], said: set[str]
    ) -> tuple[tuple[Finding, ...], bool]:
        """What its citations and candidates break, or why it becomes no trace; whether it becomes none."""
        job = self._job
        trace = trace_from(obj, SourceLine(job.file, line, 0, 0), run_id=job.run_id)
        if isinstance(trace, LineIssue):
            is_said = trace.code in said or any(map(is_of_family, said))
            return () if is_said else (_of_line(trace.code, trace.message),), True
        found = trace_findings(trace, job.context, declines=declines(trace, job.profile))
        return tuple(finding for finding in found if finding.code not in said), False


def _of_line(code: str, reason: str) -> Finding:
    """Why a line is no record, in the contract's codes: a reader's `q_missing` is its `missing_q`."""
    for ending in ("missing", "wrong_type"):
        if field := code.removesuffix(f"_{ending}") if code.endswith(f"_{ending}") else "":
            return Finding(f"{ending}_{field}", field, reason)
    return Finding(code, "", reason)


def _of_chunk_id(obj: Mapping[str, Json]) -> tuple[Finding, ...]:
    """What a chunk's id says against it; of one that is no chunk its schema tells."""
    try:
        return id_findings(chunk_from(obj))
    except UnusableError:
        return ()


def _unknown_chunk(obj: Mapping[str, Json], context: Context) -> tuple[Finding, ...]:
    """The finding of a payload whose chunk the corpus does not have."""
    chunk_id = id_of(obj)
    if context.corpus is None or chunk_id is None or chunk_id in context.corpus:
        return ()
    return (Finding("not_in_corpus", "snippet_id", f"{shown(chunk_id)} is not in the chunk file"),)


def _parsed(data: bytes) -> dict[str, Json] | None:
    """The line's object; None where it is none."""
    try:
        obj = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    return obj if type(obj) is dict else None


def _logged(job: Job, line: int, data: bytes) -> dict[str, Json] | None:
    """The fields of a line of text in a log; None where it is no such line."""
    if job.record_type != "log" or not data.strip() or data.lstrip().startswith(b"{"):
        return None
    found = log_line_of(RawLine(line, 0, len(data), data), file=job.file)
    return None if isinstance(found, LineIssue) else log_fields(found.record)


def _is_deep(data: bytes, obj: dict[str, Json]) -> bool:
    """Whether the line's object is nested deeper than is read."""
    return data.count(b"{") + data.count(b"[") > MAX_DEPTH and is_deeper(obj, MAX_DEPTH)


def _count_crlf(block: Block, counts: Counts) -> None:
    ending = [line for line, data in enumerate(block.lines, block.line) if data.endswith(b"\r")]
    counts.crlf += len(ending)
    if ending and not counts.first_crlf:
        counts.first_crlf = ending[0]


# A large file on several processes: each judges a range of its lines; what comes of it stays in order.

#: A range has about so many bytes: what is found in it is held at once.
RANGE_BYTES = 512 << 10
#: Starting processes takes longer than to judge a file of fewer bytes.
WORTH_IT = 16 << 20


class Found(NamedTuple):
    """What came of a range."""

    judged: list[Judged]
    counts: Counts
    end: int


def judge_file(job: Job, counts: Counts, *, workers: int, on_done: OnDone | None = None) -> Iterator[Judged]:
    """The records of a JSONL file about which there is something to say, in the order of the file.

    InputFault where the file cannot be opened, or a worker died.
    """
    with open_source(job.path) as file:
        size = os.fstat(file.fileno()).st_size
    if workers <= 1 or size < WORTH_IT or job.is_whole:
        yield from judge_lines(job, counts, on_done=on_done)
        return
    ranges = cut(job.path, start=0, line=1, end=size, target=RANGE_BYTES, final=job.is_final)
    for found in _in_order(job, ranges, workers):
        counts.add(found.counts)
        yield from found.judged
        if on_done is not None:
            on_done(found.end)


def _in_order(job: Job, ranges: Iterator[Range], workers: int) -> Iterator[Found]:
    """The outcomes in the order of the ranges; a few more ranges than there are workers are under way."""
    pool = ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=_start_worker, initargs=(job,)
    )
    try:
        with interrupts_held():
            waiting = deque(pool.submit(_judge_range, each) for each in islice(ranges, workers + 1))
        while waiting:
            found = waiting.popleft().result()
            waiting.extend(pool.submit(_judge_range, each) for each in islice(ranges, 1))
            yield found
    except BrokenProcessPool as error:
        raise InputFault.of(
            "worker_died",
            "a process that read the file was ended, most likely for want of memory",
            where=job.file,
            fix="Run it again with --workers 1.",
        ) from error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


#: Set once in each worker process: its file.
_worker: Sequence[Job] = ()


def _start_worker(job: Job) -> None:
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, and ends its workers
    global _worker  # the only way to hand a process its corpus once
    _worker = (job,)
    gc.disable()  # as in `collector_paused`


def _judge_range(where: Range) -> Found:
    (job,) = _worker
    counts = Counts()
    return Found(list(judge_lines(job, counts, where)), counts, where.end)


# The rules that look at a record beside others: of its file, and of the files validated with it.

#: Record type → the field of its id, and what else tells two such records apart.
_IDENTITY: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "chunk": ("chunk_id", ()),
    "catalogue": ("attachment_id", ()),
    "redirect": ("old_id", ()),
    "gold": ("q_id", ()),
    "query": ("q_id", ("paraphrase", "seed", "run_id")),
    "retrieved": ("q_id", ("ranker", "paraphrase", "seed", "run_id")),
    "rerank": ("q_id", ("model", "paraphrase", "seed", "run_id")),
    "prompt-frame": ("q_id", ("paraphrase", "seed", "run_id")),
    "answer": ("q_id", ("paraphrase", "seed", "run_id")),
    "trace": ("q_id", ("paraphrase", "seed", "run_id")),
    "report": ("q_id", ("paraphrase", "seed", "run_id")),
    "log": ("qid", ("seg", "paraphrase", "seed", "run_id")),
    "rag-traces": ("qid", ("seg", "paraphrase", "seed", "run_id")),
}
#: Of these a second one answers a question again; of the others it takes an id that is taken.
_ANSWERING = frozenset({"answer", "trace"})
#: Record type → the field with the chunks that it names.
_NAMING: Mapping[str, str] = {
    "retrieved": "items",
    "rerank": "items",
    "answer": "cited_chunks",
    "prompt-frame": "citations",
    "log": "citations",
    "rag-traces": "citations",
}
#: Record types that say of themselves which question they belong to, and are none themselves.
_JOINED = frozenset({"retrieved", "rerank", "prompt-frame"})
_COUNTED = ("paraphrase", "seed")
#: The code of a chunk that was not retrieved, and what happened to it all the same.
_CITED, _RERANKED = ("cited_not_retrieved", "cited"), ("reranked_not_retrieved", "reranked")
#: Record types that say what was retrieved, and which questions there are.
RELATING = ("query", "retrieved", "answer", "log", "rag-traces")


class Facts(NamedTuple):
    """What of a record others are compared with. `identity` is "" where the record needs none.

    `ids` are the chunks that it names, None in the place of an entry without one.
    """

    kind: str
    identity: str
    q_id: str
    ids: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Related:
    """What the separate records of one invocation say together: chunks by question, and all questions."""

    retrieved: Mapping[str, frozenset[str]] = field(default_factory=dict)
    questions: frozenset[str] = frozenset()


def facts_of(kind: str, obj: Mapping[str, Json]) -> Facts | None:
    """The facts of a record; None for types that are compared with nothing."""
    if kind not in _IDENTITY and kind not in _NAMING:
        return None
    q_id = text_of(first_of(obj, ("q_id", "qid"))) or ""
    return Facts(kind, _identity(kind, obj), q_id, tuple(ids_of(obj.get(_NAMING.get(kind, "")))))


def _identity(kind: str, obj: Mapping[str, Json]) -> str:
    name, others = _IDENTITY.get(kind, ("", ()))
    own = id_of(obj) if kind == "chunk" else text_of(first_of(obj, (name, "q_id", "qid")))
    if not own:
        return ""
    told = [own]
    for other in others:
        value = index_of(obj.get(other)) or 0 if other in _COUNTED else text_of(obj.get(other))
        if value:
            told.append(f"{other} {value}")
    return ", ".join(told)


class Relating:
    """Gathers what records say together."""

    def __init__(self) -> None:
        self._retrieved: dict[str, set[str]] = defaultdict(set)
        self._questions: set[str] = set()

    def add(self, facts: Facts) -> None:
        """Note a record's chunks, or its question."""
        if facts.kind == "retrieved":
            self._retrieved[facts.q_id].update(filter(None, facts.ids))
        elif facts.kind in RELATING and facts.q_id:
            self._questions.add(facts.q_id)

    def related(self) -> Related:
        """All of it."""
        retrieved = {q_id: frozenset(ids) for q_id, ids in self._retrieved.items()}
        return Related(retrieved, frozenset(self._questions))


class Across:
    """Judges the records of a file in their order; of each id only eight bytes are kept."""

    def __init__(self, related: Related) -> None:
        self._related = related
        self._lines: dict[int, int] = {}

    def findings(self, line: int, facts: Facts) -> Iterator[Finding]:
        """What is wrong with the record on `line` beside those before it."""
        if facts.identity:
            yield from self._repeated(line, facts)
        if facts.kind in _JOINED and facts.q_id:
            yield from self._unjoined(facts)
        if facts.kind in _NAMING and facts.kind != "retrieved" and facts.q_id and self._related.retrieved:
            yield from self._unretrieved(facts)

    def _repeated(self, line: int, facts: Facts) -> Iterator[Finding]:
        told = f"{facts.kind}\n{facts.identity}".encode("utf-8", "replace")
        key = int.from_bytes(blake2b(told, digest_size=8).digest())
        first = self._lines.setdefault(key, line)
        if first != line:
            code = "duplicate_question" if facts.kind in _ANSWERING else "duplicate_id"
            said = f"{shown(facts.identity)} came before, on line {first:,}"
            yield Finding(code, _IDENTITY[facts.kind][0], said)

    def _unjoined(self, facts: Facts) -> Iterator[Finding]:
        known = self._related.questions
        if known and facts.q_id not in known:
            yield Finding(
                "unjoined_record", "q_id", f"no answer, query or log line has the id {shown(facts.q_id)}"
            )

    def _unretrieved(self, facts: Facts) -> Iterator[Finding]:
        retrieved = self._related.retrieved.get(facts.q_id, frozenset())
        code, verb = _RERANKED if facts.kind == "rerank" else _CITED
        for place, chunk_id in enumerate(facts.ids, start=1):
            if chunk_id is not None and chunk_id not in retrieved:
                among = f"not among the {len(retrieved):,}" if retrieved else "nothing was"
                said = f"{shown(chunk_id)} is {verb}, and {among} retrieved for {shown(facts.q_id)}"
                yield Finding(code, f"{_NAMING[facts.kind]}[{place}]", said)


# What there is to validate: bare files with their types, and the artifacts of workspaces.

#: A manifest may be named in place of its folder.
MANIFEST_SUFFIXES = (".yaml", ".yml")
#: Names of separate records in a manifest that are not the name of their type.
_OF_RECORDS: Mapping[str, str] = {"prompt": "prompt-frame", "rag_traces": "rag-traces"}


@dataclass(frozen=True, slots=True)
class Asked:
    """What the caller says besides the paths: the type of all records, and what they are held against.

    `refusal` None: the phrases of the manifest, of bare files those of the reference.
    """

    record_type: str | None = None
    context: Context = NO_CONTEXT
    refusal: tuple[str, ...] | None = None
    same_key: bool = True


def jobs_of(path: Path, asked: Asked, *, cache_dir: Path) -> Iterator[Job | Problem]:
    """The files that a path stands for, and why those of a workspace that cannot be used cannot.

    Of a workspace a type given by the caller chooses the artifacts. Fault where the path itself is unusable.
    """
    if path.is_dir() or path.suffix in MANIFEST_SUFFIXES:
        yield from _of_workspace(path, asked, cache_dir)
    else:
        yield _bare(path, asked, cache_dir)


def corpus_of(chunks: Path, *, cache_dir: Path) -> frozenset[str]:
    """The ids of a chunk file. InputFault where it is none."""
    found, _ = read_chunks(plain_source(chunks, cache_dir=cache_dir), file=str(chunks))
    return frozenset(found)


def _bare(path: Path, asked: Asked, cache_dir: Path) -> Job:
    plain = plain_source(path, cache_dir=cache_dir)
    job = Job(
        path=plain,
        file=str(path),
        record_type=asked.record_type,
        context=asked.context,
        profile=_profile(asked, USUAL),
        same_key=asked.same_key,
    )
    return _looked_into(job)


def _profile(asked: Asked, profile: Profile) -> Profile:
    return profile if asked.refusal is None else replace(profile, refusal=asked.refusal)


def _looked_into(job: Job) -> Job:
    """The job with what its file shows: how it is to be read, and the type of its first record.

    InputFault where it holds no records, or where nothing says of which type they are.
    """
    with open_source(job.path):
        pass
    if job.record_type != "log":  # its lines are text
        job = replace(job, is_whole=is_whole_json(job.path, file=job.file))
        foreign = None if job.is_whole else foreign_file(job.path, file=job.file)
        if foreign is not None:
            raise InputFault.of(foreign.code, foreign.message, where=job.file, fix=foreign.fix)
    if job.record_type is not None:
        return replace(job, usual_type=job.record_type)
    first = next((kind for _, kind, _ in objects(job)), None)
    if first == "":
        known = ", ".join(RECORD_TYPES)
        raise InputFault.of(
            "type_not_named",
            "nothing says what the records are: the first one has no $schema that is known",
            where=job.file,
            fix=f"name their type with --as: one of {known}",
        )
    return replace(job, usual_type=first)


def _of_workspace(path: Path, asked: Asked, cache_dir: Path) -> Iterator[Job | Problem]:
    """Every artifact of a workspace that holds records, in the order of its manifest."""
    manifest = load_manifest(path)
    folder = path if path.is_dir() else path.parent
    corpus, profile = _corpus(manifest, cache_dir), _profile(asked, profile_from(manifest.triage))
    for artifact, kind, run in _artifacts(manifest):
        if asked.record_type not in (None, kind):
            continue
        known = context_of(manifest, run if run is not None else Run("", None), corpus)
        job = Job(
            path=folder,
            file=str(folder / artifact.path),
            record_type=kind,
            context=_held_against(known, asked.context),
            same_key=asked.same_key,
            profile=profile,
            run_id=run.run_id if run is not None else None,
            group=run.run_id if run is not None else "",
            unreadable=artifact.unreadable_lines or 0,
        )
        try:
            yield _found(job, manifest, artifact, cache_dir)
        except Fault as fault:
            yield from fault.problems


def _found(job: Job, manifest: Manifest, artifact: Artifact, cache_dir: Path) -> Job:
    """The job with its file. Of traces that may still be written the last line waits for its line end."""
    file = artifact_path(manifest, artifact)
    plain = plain_source(file, cache_dir=cache_dir)
    return _looked_into(replace(job, path=plain, is_final=plain != file or job.record_type != "trace"))


def _artifacts(manifest: Manifest) -> Iterator[tuple[Artifact, str, Run | None]]:
    """The artifacts with records of the contract, the type of these, and their run.

    Bundles and journals have commands of their own.
    """
    named = {
        "chunk": manifest.chunks,
        "redirect": manifest.redirects,
        "gold": manifest.gold,
        "catalogue": manifest.catalogue,
    }
    yield from ((artifact, kind, None) for kind, artifact in named.items() if artifact is not None)
    for run in manifest.runs:
        records = {_OF_RECORDS.get(name, name): artifact for name, artifact in run.records.items()}
        of_run = {
            "trace": run.traces,
            **records,
            "report": run.report,
            "metrics": run.metrics,
        }
        yield from ((artifact, kind, run) for kind, artifact in of_run.items() if artifact is not None)


def _corpus(manifest: Manifest, cache_dir: Path) -> frozenset[str] | None:
    """The ids of the workspace's chunks, former ones too; None where there are none to compare with."""
    if manifest.chunks is None:
        return None
    try:
        file = artifact_path(manifest, manifest.chunks)
        known, _ = read_led_chunks(manifest, file, file=manifest.chunks.path, cache_dir=cache_dir)
    except Fault:
        return None  # said of the artifact itself
    return frozenset(known) | former_ids(known)


def _held_against(known: Context, given: Context) -> Context:
    """The workspace's context, with what the caller says in its place."""
    return replace(
        known,
        index_hash=given.index_hash or known.index_hash,
        embed_model=given.embed_model or known.embed_model,
        analyzer=given.analyzer or known.analyzer,
        revs={**known.revs, **given.revs},
        corpus=given.corpus if given.corpus is not None else known.corpus,
        allow_cross=given.allow_cross or known.allow_cross,
        cross_sections=known.cross_sections | given.cross_sections,
    )
