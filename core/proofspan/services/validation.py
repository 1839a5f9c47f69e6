"""Validate files of records against the contract: every finding with its line, as the files are read.

Only what other records are compared with is kept of a record, so that a file may have any size and any number
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

from proofspan.contracts.record_rules import RECORD_TYPES, merged, record_id_of, record_problems
from proofspan.contracts.records.field_values import OFFSET_UNITS, first_of, id_of, index_of, text_of
from proofspan.contracts.records.records import Json, LineIssue, SourceLine
from proofspan.contracts.records.schemas import type_named
from proofspan.contracts.rules.catalogue import (
    Finding,
    finding,
    in_order,
    is_known,
    is_of_family,
    problem,
    rule_of,
)
from proofspan.contracts.rules.chunks import id_problems
from proofspan.contracts.rules.context import NO_CONTEXT, Context, shown
from proofspan.contracts.rules.records import named_chunks
from proofspan.contracts.rules.run import MEMORY, memory_problem, retrieval_problems, usual
from proofspan.diagnosis.answers import refuses
from proofspan.diagnosis.labelling import declines, lowered
from proofspan.diagnosis.types import Profile, profile_from
from proofspan.errors import Fault, InputFault, Problem
from proofspan.journal.named import path_to_read
from proofspan.manifest.load import MANIFEST_SUFFIXES, load_manifest
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Artifact, Run
from proofspan.store.files.columns import SEVERAL, offset_unit
from proofspan.store.index.labelling import read_led_chunks
from proofspan.store.index.plan import Range, cut
from proofspan.traces.contract import context_of, trace_problems
from proofspan.traces.lines.json_document import (
    Entry,
    byte_order_mark,
    crlf_problem,
    damage_problems,
    exact_problems,
    is_exact,
    is_whole_json,
    read_entries,
)
from proofspan.traces.lines.reader import (
    BOM,
    UnusableError,
    open_source,
    parse_line,
    read_lines,
    unfinished_bytes,
)
from proofspan.traces.lines.sniff import content, foreign_file
from proofspan.traces.lines.unpack import is_packed, plain_source
from proofspan.traces.lines.worker_process import end_with_parent, interrupts_held
from proofspan.traces.records.chunks import chunk_from, read_chunks
from proofspan.traces.records.citations import line_payload
from proofspan.traces.records.redirects import redirects_of
from proofspan.traces.records.trace_record import trace_from
from proofspan.traces.separate.log_lines import is_folded, log_fields, read_log, read_log_line

#: Called with the file, the bytes of it that are done, and its size.
OnProgress = Callable[[str, int, int], None]

#: Called with the number of bytes of a file that are done.
OnDone = Callable[[int], None]

#: Names of separate records in a manifest that are not the name of their type.
_OF_RECORDS: Mapping[str, str] = {"prompt": "prompt-frame", "rag_traces": "rag-traces"}
#: After how many lines progress is reported.
REPORTED = 1_000
#: How many bytes a worker process validates at once; it holds what it finds in them.
RANGE_BYTES = 512 << 10
#: Files of fewer bytes are validated faster than processes start.
WORTH_IT = 16 << 20


@dataclass(slots=True)
class Tally:
    """Counts over all files. `problems` are files that cannot be used, `notes` are not findings.

    `findings` and `records` count by code: how often it was found, and in how many records.
    """

    files: int = 0
    read: int = 0
    findings: Counter[str] = field(default_factory=Counter)
    records: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)
    _last: dict[str, tuple[str, int]] = field(default_factory=dict)

    def add(self, each: Finding) -> None:
        """Count a finding. Those of a record come one after the other."""
        self.findings[each.code] += 1
        where = each.file, each.line
        if self._last.get(each.code) != where:
            self.records[each.code] += 1
            self._last[each.code] = where

    @property
    def errors(self) -> int:
        """How many findings break what is required."""
        return sum(count for code, count in self.findings.items() if rule_of(code).severity == "error")

    @property
    def warnings(self) -> int:
        """How many findings break what is recommended."""
        return self.findings.total() - self.errors

    def by_code(self) -> list[tuple[str, int, int]]:
        """Return code, findings and records; errors first."""
        return [(code, self.findings[code], self.records[code]) for code in in_order(self.findings)]


@dataclass(frozen=True, slots=True)
class Job:
    """One file to be validated.

    `file` is its name in findings. `record_type` is the type that the caller names, None if each record names
    its own; `usual_type` is that of the first record, used for records that name none. `profile` decides
    which answers decline. `run_id` is the manifest's; separate records of one `group` belong together.
    `is_final`: the last line counts without its line end. `is_whole`: the file is one JSON value;
    `is_folded`: a log with records over several lines.
    `unreadable`: how many lines are declared to hold no record. `fix_encoding`: it is read repaired.
    """

    path: Path
    file: str
    record_type: str | None
    usual_type: str | None = None
    context: Context = NO_CONTEXT
    profile: Profile = field(default_factory=Profile)
    run_id: str | None = None
    group: str = ""
    is_final: bool = True
    is_whole: bool = False
    is_folded: bool = False
    unreadable: int = 0
    fix_encoding: bool = False


class Checked(NamedTuple):
    """A record with its problems, and the facts that other records are compared with.

    `identity` is "" if the record needs none. `chunks` are those that it names, each with its place in the
    record. `is_unread`: the line is no record.
    """

    line: int
    kind: str
    record_id: str
    problems: tuple[Problem, ...]
    identity: str = ""
    q_id: str = ""
    chunks: Sequence[tuple[str, str | None]] = ()
    is_unread: bool = False


About = Literal["mem_rev", "mem_hash", "unit"]


@dataclass(slots=True)
class Counts:
    """The counts over the lines of a range.

    `words` counts the words that a whole run should share, in the order of first occurrence, by what they are
    about and the run (its `run_id`, "" if a record names none).
    """

    records: int = 0
    words: dict[tuple[About, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))


@dataclass(slots=True)
class Related:
    """The retrieved chunks by question, and all questions, of separate records together."""

    retrieved: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    questions: set[str] = field(default_factory=set)


def validate(
    paths: Sequence[Path],
    record_type: str | None = None,
    *,
    cache_dir: Path,
    context: Context = NO_CONTEXT,
    chunks: Path | None = None,
    fix_encoding: bool = False,
    workers: int = 1,
    refusal: Sequence[str] | None = None,
    tally: Tally | None = None,
    on_progress: OnProgress | None = None,
) -> Iterator[Finding]:
    """Yield the breaches of the contract in bare files and workspaces, by file and line.

    `record_type` is the type of all records; None reads it from each record's `$schema`, and from the
    manifest. Records are compared with `context` and the ids of the `chunks` file; `refusal` are the phrases
    of answers that decline, None for the manifest's or the default ones. Findings about a file as a whole
    come after those of its lines. Packed files are unpacked below `cache_dir`; with `fix_encoding` all files
    are repaired there. `tally` receives counts and
    what could not be read. Fault if `chunks` cannot be used.
    """
    counted = tally if tally is not None else Tally()
    if chunks is not None:
        plain = plain_source(chunks, cache_dir=cache_dir, fix_encoding=fix_encoding)
        known, _ = read_chunks(plain, file=str(chunks))
        context = replace(context, corpus=frozenset(known))
    given = Job(Path(), "", record_type, context=context, fix_encoding=fix_encoding)
    jobs = list(_jobs(paths, given, cache_dir, counted))
    if refusal is not None:
        jobs = [replace(job, profile=replace(job.profile, refusal=tuple(refusal))) for job in jobs]
    related = _related(jobs)
    for job in jobs:
        for each in _of_file(job, related[job.group], counted, workers, on_progress):
            counted.add(each)
            yield each


def _jobs(paths: Sequence[Path], given: Job, cache_dir: Path, tally: Tally) -> Iterator[Job]:
    """Yield the files of all paths, as `given` by the caller; the problems of unusable ones go to `tally`."""
    for path in paths:
        try:
            if path.is_dir() or path.suffix in MANIFEST_SUFFIXES:
                yield from _of_workspace(path, given, cache_dir, tally)
            else:
                yield _looked_into(replace(given, path=path, file=str(path)), cache_dir)
        except Fault as fault:
            tally.problems += fault.problems


def _of_workspace(path: Path, given: Job, cache_dir: Path, tally: Tally) -> Iterator[Job]:
    """Yield the files with records of the contract; bundles and journals have commands of their own.

    A type given by the caller selects among them, and its context overrides the workspace's.
    """
    manifest = load_manifest(path)
    folder = path if path.is_dir() else path.parent
    corpus: frozenset[str] | None = None
    if manifest.chunks is not None:
        with suppress(Fault):  # reported for the chunk file itself
            known, _ = read_led_chunks(manifest, manifest.chunks, cache_dir=cache_dir)
            corpus = frozenset((*known, *redirects_of(known)))
    artifacts: list[tuple[str, Artifact | None, Run | None]] = [
        ("chunk", manifest.chunks, None),
        ("redirect", manifest.redirects, None),
        ("gold", manifest.gold, None),
        ("catalogue", manifest.catalogue, None),
    ]
    written = manifest.annotations
    if written is not None and path_to_read(manifest, written) is not None:  # else nobody wrote one yet
        artifacts.append(("annotation", written, None))
    for run in manifest.runs:
        artifacts += [("trace", run.traces, run)]
        artifacts += [(_OF_RECORDS.get(name, name), artifact, run) for name, artifact in run.records.items()]
        artifacts += [("report", run.report, run), ("metrics", run.metrics, run)]
    stated = given.context
    for kind, artifact, of_run in artifacts:
        if artifact is None or given.record_type not in (None, kind):
            continue
        pinned = context_of(manifest, of_run if of_run is not None else Run("", None), corpus)
        run_id = of_run.run_id if of_run is not None else None
        context = Context(
            index_hash=stated.index_hash or pinned.index_hash,
            embed_model=stated.embed_model or pinned.embed_model,
            analyzer=stated.analyzer or pinned.analyzer,
            revs={**pinned.revs, **stated.revs},
            corpus=stated.corpus if stated.corpus is not None else pinned.corpus,
            allow_cross=stated.allow_cross or pinned.allow_cross,
            cross_sections=pinned.cross_sections | stated.cross_sections,
        )
        try:
            job = replace(
                given,
                path=artifact_path(manifest, artifact),
                file=str(folder / artifact.path),
                record_type=kind,
                context=context,
                profile=profile_from(manifest.triage),
                run_id=run_id,
                group=run_id or "",
                is_final=kind != "trace",  # the last line of traces may still be written
                unreadable=artifact.unreadable_lines or 0,
                fix_encoding=given.fix_encoding or artifact.fix_encoding,
            )
            yield _looked_into(job, cache_dir)
        except Fault as fault:
            tally.problems += fault.problems


def _looked_into(job: Job, cache_dir: Path) -> Job:
    """Complete a job by what its file shows: whether it is one JSON value, and the type of its first record.

    InputFault if it holds no records, or if nothing says of which type they are.
    """
    plain = plain_source(job.path, cache_dir=cache_dir, fix_encoding=job.fix_encoding)
    job = replace(job, path=plain, is_final=job.is_final or is_packed(job.path))
    found = content(job.path)
    if job.record_type is None and found.code == "is_log":
        job = replace(job, record_type="log")
    if job.record_type == "log":  # its lines are text
        job = replace(job, is_folded=is_folded(job.path))
    else:
        job = replace(job, is_whole=is_whole_json(found))
        if not job.is_whole and (foreign := foreign_file(job.path, file=job.file)) is not None:
            raise InputFault(foreign)
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


def _related(jobs: Sequence[Job]) -> Mapping[str, Related]:
    """Read what the separate records of each group say together; a single file of one type says nothing."""
    groups: dict[str, Related] = defaultdict(Related)
    for job in jobs:
        if job.record_type is None or (job.record_type in RELATING and len(jobs) > 1):
            holding = () if job.usual_type in RELATING else tuple(kind.encode() for kind in RELATING)
            related = groups[job.group]
            with suppress(Fault):  # reported when the file is validated
                for _, kind, obj in objects(job, holding=holding):
                    q_id = text_of(first_of(obj, _QUESTION)) or ""
                    if kind == "retrieved":
                        related.retrieved[q_id].update(each for _, each in named_chunks(kind, obj) if each)
                    elif kind in RELATING and q_id:
                        related.questions.add(q_id)
    return groups


def _of_file(
    job: Job, related: Related, tally: Tally, workers: int, on_progress: OnProgress | None
) -> Iterator[Finding]:
    counts, size = Counts(), job.path.stat().st_size
    on_done = (lambda done: on_progress(job.file, done, size)) if on_progress is not None else None
    seen: dict[int, int] = {}
    tally.files += 1
    try:
        with open_source(job.path) as file:
            is_marked = file.read(len(BOM)) == BOM
        if is_marked:
            yield finding(byte_order_mark(), "", job.file, 1)
        checked = check_file(job, counts, workers=workers, on_done=on_done)
        for each in _but_declared(job, checked, tally) if job.unreadable else checked:
            for breach in (*each.problems, *_across_problems(each, related, seen)):
                yield finding(breach, each.record_id, job.file, each.line)
        lines, first = (0, 0) if job.is_whole else _crlf_lines(job.path)
        if lines:
            yield finding(crlf_problem(lines), "", job.file, first)
        if any(len(words) > 1 for words in counts.words.values()):
            for line, kind, obj in objects(job):
                for breach in _unusual_problems(kind, obj, counts):
                    yield finding(breach, record_id_of(kind, obj), job.file, line)
    except Fault as fault:
        tally.problems += fault.problems
    tally.read += counts.records
    if not job.is_final and (size := unfinished_bytes(job.path)):
        message = f"the last line ({size:,} bytes) has no line end yet and was not read"
        tally.notes.append(Problem("last_line_waits", message, job.file, severity="note"))


def _but_declared(job: Job, checked: Iterable[Checked], tally: Tally) -> Iterator[Checked]:
    """Leave out the lines that the manifest declares to hold no record, with a note.

    If there are more or fewer of them than declared, they come after the others.
    """
    unread: list[Checked] = []
    for each in checked:
        if not each.is_unread or len(unread) > job.unreadable:
            yield each
        else:
            unread.append(each)
    if len(unread) != job.unreadable:
        yield from unread
        return
    first = unread[0]
    message = f"{len(unread):,} line{'s' * (len(unread) != 1)} could not be read, as declared; first: "
    where = f"{job.file}:{first.line}"
    note = Problem("lines_unreadable_declared", message + first.problems[0].message, where, severity="note")
    tally.notes.append(note)


def _crlf_lines(path: Path) -> tuple[int, int]:
    """Return how many lines end with CR LF, and the number of the first."""
    count = done = first_at = 0
    before = b""
    with open_source(path) as file:
        while data := file.read(1 << 20):
            if before or b"\r" in data:
                data = before + data
                found = data.count(b"\r\n")
                if found and not count:
                    first_at = done + data.index(b"\r\n")
                count += found
            before = b"\r" if data.endswith(b"\r") else b""
            done += len(data) - len(before)
        file.seek(0)
        first, left = 1, first_at if count else 0
        while left:
            data = file.read(min(left, 1 << 20))
            first, left = first + data.count(b"\n"), left - len(data)
    return (count, first) if count else (0, 0)


#: Record types that a run writes; what is written besides may well come from other states of memory.
_OF_RUNS = frozenset(
    {"envelope", "query", "retrieved", "rerank", "prompt-frame", "answer", "trace", "log", "rag-traces"}
)


def _words_of(kind: str, obj: Mapping[str, Json]) -> Iterator[tuple[tuple[About, str], str]]:
    """Yield the words of a record that its whole run should share: states of memory, the unit of offsets."""
    run = text_of(obj["run_id"]) or "" if "run_id" in obj else ""
    if kind in _OF_RUNS:
        for name in MEMORY:
            if (state := text_of(obj.get(name))) is not None:
                yield (name, run), state
    if kind == "citation":
        offsets = obj.get("offsets")
        unit = offsets.get("unit", "char") if type(offsets) is dict else None
        if type(unit) is str and unit in OFFSET_UNITS:
            yield ("unit", run), unit
    elif kind in ("trace", "auditable-answer") and (several := offset_unit(line_payload(obj))) not in (
        None,
        SEVERAL,
    ):
        yield ("unit", run), str(several)


def _unusual_problems(kind: str, obj: Mapping[str, Json], counts: Counts) -> Iterator[Problem]:
    """Find words of a record that differ from those of most of its run."""
    for key, word in _words_of(kind, obj):
        about, most = key[0], usual(counts.words[key])
        if about == "unit" and word != most:
            place = "offsets.unit" if kind == "citation" else "citations"
            message = f"offsets are in {word} here, and mostly in {most}"
            yield problem("mixed_offset_units", place, message)
        elif word != most:
            yield memory_problem(about, word, most)
            return


def objects(job: Job, *, holding: tuple[bytes, ...] = ()) -> Iterator[tuple[int, str, dict[str, Json]]]:
    """Yield line, type and object of each record that can be read, without checking it.

    Lines that hold none of the texts in `holding` are skipped, if there are any.
    """
    for line, obj, _ in _entries(job, holding=holding, is_checked=False):
        if obj is not None:
            yield line, _kind_of(job, obj), obj


def _entries(
    job: Job,
    lines: Range | None = None,
    *,
    holding: tuple[bytes, ...] = (),
    is_checked: bool = True,
    on_done: OnDone | None = None,
) -> Iterator[Entry]:
    """Yield the entries of a range of lines, or of the whole file, with the problems of their text.

    Without `is_checked` the text is not searched for repeated keys and long integers, which takes time.
    """
    if job.is_whole:
        yield from read_entries(job.path, file=job.file)
        return
    start, line, end = (0, 1, None) if lines is None else (lines.start, lines.line, lines.end)
    read = read_log if job.record_type == "log" else read_lines
    for number, raw in enumerate(
        read(job.path, offset=start, line=line, end=end, final=job.is_final), start=1
    ):
        if not holding or any(text in raw.data for text in holding):
            try:  # a line of JSON, or of a log as text, under the names of its keys
                if job.record_type == "log" and not raw.data.lstrip().startswith(b"{"):
                    record, findings = read_log_line(raw)
                    fields = log_fields(record)
                    findings += damage_problems(raw.data, fields) if is_checked else ()
                    yield Entry(raw.line, fields, findings)
                elif type(obj := parse_line(raw)) is not dict:
                    raise UnusableError("not_an_object", "the line is JSON and no object", "")
                else:
                    of_text: tuple[Problem, ...] = ()
                    if is_checked:
                        of_text = () if is_exact(raw.data, obj) else exact_problems(raw.data)
                        of_text += damage_problems(raw.data, obj)
                    yield Entry(raw.line, obj, of_text)
            except UnusableError as why:
                yield Entry(raw.line, None, (_of_line(why.code, why.message),))
        if on_done is not None and number % REPORTED == 0:
            on_done(raw.offset + raw.length)


def _kind_of(job: Job, obj: Mapping[str, Json]) -> str:
    """Return a record's type: the caller's, that of its `$schema`, else that of the file's first record."""
    if job.record_type is not None:
        return job.record_type
    uri = obj.get("$schema")
    named = type_named(uri) if isinstance(uri, str) else None
    return named[0] if named else job.usual_type or ""


def check_file(job: Job, counts: Counts, *, workers: int, on_done: OnDone | None = None) -> Iterator[Checked]:
    """Yield the records of a file that have problems, or are compared with others, in order.

    Large files are checked on several processes. InputFault if the file cannot be opened, or a worker died.
    """
    with open_source(job.path) as file:
        size = os.fstat(file.fileno()).st_size
    if workers <= 1 or size < WORTH_IT or job.is_whole or job.is_folded:
        yield from _check_entries(job, counts, on_done=on_done)
        return
    ranges = cut(job.path, start=0, line=1, end=size, target=RANGE_BYTES, final=job.is_final)
    pool = ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=_start_worker, initargs=(job,)
    )
    try:
        with interrupts_held():
            waiting = deque(pool.submit(_check_range, each) for each in islice(ranges, workers + 1))
        while waiting:
            checked, of_range, end = waiting.popleft().result()
            waiting.extend(pool.submit(_check_range, each) for each in islice(ranges, 1))
            counts.records += of_range.records
            for key, words in of_range.words.items():
                counts.words[key].update(words)
            yield from checked
            if on_done is not None:
                on_done(end)
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
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles it, and ends its workers
    global _worker  # the only way to hand a process its corpus once
    _worker = (job,)
    gc.disable()  # as in `collector_paused`


def _check_range(lines: Range) -> tuple[list[Checked], Counts, int]:
    (job,) = _worker
    counts = Counts()
    return list(_check_entries(job, counts, lines)), counts, lines.end


def _check_entries(
    job: Job, counts: Counts, lines: Range | None = None, on_done: OnDone | None = None
) -> Iterator[Checked]:
    """Yield the records of a range of lines, or of the whole file, that `check_file` yields."""
    for line, obj, of_text in _entries(job, lines, on_done=on_done):
        counts.records += 1
        if obj is None:
            yield Checked(line, "", "", of_text, is_unread=True)
            continue
        kind = _kind_of(job, obj)
        for key, word in _words_of(kind, obj):
            counts.words[key][word] += 1
        problems = record_problems(kind, obj, job.context)
        problems = merged(of_text, problems) if kind == "log" else (*of_text, *problems)
        is_unread = False
        if kind == "trace":
            reported = {breach.code for breach in problems}
            trace = trace_from(obj, SourceLine(job.file, line, 0, 0), run_id=job.run_id)
            if is_unread := isinstance(trace, LineIssue):
                if trace.code not in reported and not any(map(is_of_family, reported)):
                    problems += (_of_line(trace.code, trace.message),)
            else:
                of_trace = trace_problems(trace, job.context, declines=declines(trace, job.profile))
                problems += tuple(breach for breach in of_trace if breach.code not in reported)
        elif kind == "chunk":
            with suppress(UnusableError):  # its schema reports why it is no chunk
                problems += tuple(id_problems(chunk_from(obj)))
        elif kind == "answer" and refuses(str(obj.get("answer_text")).lower(), lowered(job.profile.refusal)):
            problems = tuple(breach for breach in problems if breach.code != "empty_citations")
        if problems or kind in _IDENTITY:
            chunks = named_chunks(kind, obj) if kind in _RETRIEVED else ()
            q_id, identity = text_of(first_of(obj, _QUESTION)) or "", _identity(kind, obj)
            yield Checked(line, kind, record_id_of(kind, obj), problems, identity, q_id, chunks, is_unread)


def _of_line(code: str, message: str) -> Problem:
    """Return why a line is no record, in the contract's codes: a reader's `q_missing` is `missing_q`."""
    for ending in ("missing", "wrong_type"):
        if code.endswith(f"_{ending}"):
            field = code.removesuffix(f"_{ending}")
            return problem(f"{ending}_{field}", field, message)
    return problem(code if is_known(code) else "bad_record", "", message)


#: The names of the question that a record belongs to.
_QUESTION = ("q_id", "qid")
_VARIANT = ("paraphrase", "seed", "run_id")
#: Record type → the field of its id, and what else distinguishes two such records.
_IDENTITY: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "chunk": ("chunk_id", ()),
    "catalogue": ("attachment_id", ()),
    "redirect": ("old_id", ()),
    "sprint": ("entry_id", ()),
    "gold": ("q_id", ()),
    "retrieved": ("q_id", ("ranker", *_VARIANT)),
    "rerank": ("q_id", ("model", *_VARIANT)),
    **dict.fromkeys(("query", "prompt-frame", "answer", "trace", "report"), ("q_id", _VARIANT)),
    **dict.fromkeys(("log", "rag-traces"), ("qid", ("seg", *_VARIANT))),
}
#: Record types whose chunks have to be among those that were retrieved.
_RETRIEVED = frozenset({"rerank", "answer", "prompt-frame", "log", "rag-traces"})
#: Record types that say what was retrieved, and which questions there are.
RELATING = ("query", "retrieved", "answer", "log", "rag-traces")


def _identity(kind: str, obj: Mapping[str, Json]) -> str:
    if kind == "gold" and isinstance(obj.get("revised"), dict):
        return ""  # it is meant to replace an earlier one
    name, others = _IDENTITY.get(kind, ("", ()))
    own = id_of(obj) if kind == "chunk" else text_of(first_of(obj, (name, *_QUESTION))) if name else None
    parts = [own or ""]
    for other in others if own else ():
        value = index_of(obj.get(other)) or 0 if other in ("paraphrase", "seed") else text_of(obj.get(other))
        if value:
            parts.append(f"{other} {value}")
    return ", ".join(parts)


def _across_problems(checked: Checked, related: Related, seen: dict[int, int]) -> Iterator[Problem]:
    """Check a record beside those before it in the file, and beside the separate records.

    `seen` gets the line of each identity, of which it keeps eight bytes.
    """
    line, kind, q_id = checked.line, checked.kind, checked.q_id
    if checked.identity:
        identity = f"{kind}\n{checked.identity}".encode("utf-8", "replace")
        key = int.from_bytes(blake2b(identity, digest_size=8).digest())
        if (first := seen.setdefault(key, line)) != line:
            code = "duplicate_question" if kind in ("answer", "trace") else "duplicate_id"
            message = f"{shown(checked.identity)} came before, on line {first:,}"
            yield problem(code, _IDENTITY[kind][0], message)
    is_joined = kind in ("retrieved", "rerank", "prompt-frame") and q_id
    if is_joined and related.questions and q_id not in related.questions:
        yield problem("unjoined_record", "q_id", f"no answer, query or log line has the id {shown(q_id)}")
    if checked.chunks and q_id and related.retrieved:
        retrieved = related.retrieved.get(q_id, ())
        yield from retrieval_problems(checked.chunks, retrieved, reranked=kind == "rerank")
