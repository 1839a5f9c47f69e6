"""The records of one file against the contract, one by one; in the validating process or in its workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import orjson

from proofspan.contracts.chunk_rules import id_findings
from proofspan.contracts.clean_payload import is_clean_record
from proofspan.contracts.codes import is_of_family
from proofspan.contracts.context import NO_CONTEXT, Context
from proofspan.contracts.findings import Finding, shown
from proofspan.contracts.record_rules import merged, record_findings, record_id_of
from proofspan.contracts.records import Json, LineIssue, SourceLine
from proofspan.contracts.schemas import type_named
from proofspan.contracts.values import id_of
from proofspan.diagnosis.answers import refuses
from proofspan.diagnosis.reflect import declines, lowered
from proofspan.diagnosis.types import Profile
from proofspan.services.validating_across import Facts, facts_of
from proofspan.services.validating_usual import UNNAMED_UNITS, Marks
from proofspan.store.segments import Range
from proofspan.traces.blocks import BOM, Block, read_blocks
from proofspan.traces.canonical import trace_from
from proofspan.traces.checks import QuickLook, byte_order_mark, exact_findings
from proofspan.traces.chunks import chunk_from
from proofspan.traces.contract import trace_findings
from proofspan.traces.logline import log_fields, log_line_of
from proofspan.traces.reader import MAX_DEPTH, RawLine, UnusableError, is_deeper, open_source, parse_line
from proofspan.traces.whole import read_entries

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
            return Judged(raw.line, "", (_of_line(found.code, found.reason),), None, is_unread=True)
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
            return () if is_said else (_of_line(trace.code, trace.reason),), True
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
