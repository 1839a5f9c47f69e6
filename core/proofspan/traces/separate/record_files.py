"""The files of a run's separate records, grouped by question.

They are read twice: first to learn which record belongs to which question, then to join them. In between only
places are kept, some dozens of bytes a record, so that 100,000 questions need little memory.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson

from proofspan.contracts.records.field_values import first_of, text_of
from proofspan.contracts.records.records import GoldQuestion, Json, LineIssue, SourceLine
from proofspan.contracts.rules.catalogue import rule_of
from proofspan.errors import InputFault, Problem
from proofspan.traces.lines.reader import (
    ABSENT,
    RawLine,
    UnusableError,
    issue_of,
    open_source,
    parse_line,
    read_lines,
    wrong,
)
from proofspan.traces.lines.sniff import foreign_file
from proofspan.traces.records.identity import count_of, q_id_of, record_from, run_id_of
from proofspan.traces.records.trace_record import entry_ids
from proofspan.traces.separate.join_question import (
    ANSWER_NAMES,
    QUESTION_NAMES,
    Identity,
    Record,
    joined_trace,
)
from proofspan.traces.separate.log_lines import LogRecord, read_log, read_log_line, record_of_row

#: The record types, in the order of reading.
TYPES: Final = ("answer", "query", "log", "rag_traces", "retrieved", "rerank", "prompt")
#: The kinds of records that a line is joined from; a hybrid retrieval is `fused`.
KINDS: Final = ("answer", "query", "log", "rag_traces", "retrieved", "fused", "rerank", "prompt")
#: The number of facts that are kept of a record.
_FACTS: Final = 5
#: The types whose records each make a trace of their question; the others are joined to one.
FOUNDING: Final = frozenset({"answer", "query", "log", "rag_traces"})
#: The types of which a question may have several records, one for each segment.
SEGMENTED: Final = frozenset({"log", "rag_traces"})

#: The published schemas of types that have another name.
_SCHEMAS: Final[Mapping[str, str]] = {"prompt": "prompt-frame", "rag_traces": "rag-traces"}


@dataclass(frozen=True, slots=True)
class RecordFile:
    """A file of traces or of separate records, unpacked.

    `path` is None if it cannot be read; `problems` says why. `file` is the name in records and issues.
    `is_final` means that the last line counts without its line end and the file never grows. Of a file that
    separate records are joined into, `issues_file` has the line issues of joining; `is_pending` means that
    they are not joined yet.
    """

    path: Path | None
    file: str
    is_final: bool = False
    problems: tuple[Problem, ...] = ()
    issues_file: Path | None = None
    is_pending: bool = False

    @property
    def needed_path(self) -> Path:
        """Return the path. Raises InputFault if the file cannot be read."""
        if self.path is None:
            raise InputFault(*self.problems)
        return self.path

    @property
    def issues(self) -> tuple[LineIssue, ...]:
        """Return the lines of separate records that were not joined, in the order of their files."""
        if self.issues_file is None:
            return ()
        with open_source(self.issues_file) as source:
            records = orjson.loads(source.read())
        return tuple(
            LineIssue.at(
                SourceLine(**each["source"]), each["code"], each["reason"], each["fix"], each["excerpt"]
            )
            for each in records
        )


def unreadable(name: str, path: Path, *, file: str, final: bool) -> Iterator[LineIssue | None]:
    """Yield the issue of each line of a file of records of one type, None for a line without one.

    Joining is not checked. Raises InputFault if the file cannot be opened.
    """
    if name != "log" and (foreign := foreign_file(path, file=file)):
        yield foreign
        return
    for raw in (read_log if name == "log" else read_lines)(path, final=final):
        try:
            if name in SEGMENTED:
                _refuse_uneven(_log_record_of(name, raw))
            else:
                _identity_of(name, _record_of(name, raw))
        except UnusableError as error:
            yield _issue_of(error, raw, file)
        else:
            yield None


class Separate:
    """The records of one run by question. Making it reads every file once, or raises InputFault.

    `issues` are lines that hold no record, repeat one, or belong to no question.
    """

    def __init__(self, sources: Mapping[str, RecordFile], *, run_id: str) -> None:
        self.run_id, self.sources = run_id, sources
        self.issues: list[LineIssue] = []
        #: Each question's records, by their numbers; the last of several of a type and segment.
        self._questions: dict[Identity, list[int]] = {}
        #: Kind, segment, line, offset and length of each record, by its number.
        self._records = array("q")
        #: Hash of a query's text → its question, None for several.
        self._by_text: dict[bytes, Identity | None] = {}
        for name in TYPES:
            if name in sources:
                self._read(name, sources[name])
        self._by_text.clear()

    def lines(self, gold: Mapping[str, GoldQuestion]) -> Iterator[dict[str, Json]]:
        """Yield every question's trace: the answered ones in the order of the answers, then the others.

        `gold` are the gold questions by id. Raises UnusableError if a file has changed since the first
        reading.
        """
        with ExitStack() as stack:
            files = {
                name: stack.enter_context(open_source(source.needed_path))
                for name, source in self.sources.items()
            }
            for identity, kept in self._questions.items():
                records: dict[str, Record] = {}
                logs: dict[int, LogRecord] = {}
                origins: dict[str, Json] = {}
                log_origins: dict[str, list[str]] = {}
                facts = sorted(tuple(self._records[at * _FACTS : (at + 1) * _FACTS]) for at in kept)
                for number, seg, line, offset, length in facts:
                    kind = KINDS[number]
                    name = "retrieved" if kind == "fused" else kind
                    origin = f"{self.sources[name].file}:{line}"
                    files[name].seek(offset)
                    raw = RawLine(line, offset, length, files[name].read(length))
                    if name not in SEGMENTED:
                        records[kind], origins[kind] = _record_of(name, raw), origin
                    elif seg not in logs:  # a log line counts before a row of the same segment
                        logs[seg] = _log_record_of(name, raw)
                        log_origins.setdefault(name, []).append(origin)
                if "fused" in records and "retrieved" not in records:
                    records["retrieved"], origins["retrieved"] = records.pop("fused"), origins.pop("fused")
                yield joined_trace(
                    identity,
                    records,
                    [logs[seg] for seg in sorted(logs)],
                    {**origins, **log_origins},
                    run_id=self.run_id,
                    gold=gold.get(identity[0]),
                )

    def _read(self, name: str, source: RecordFile) -> None:
        if name != "log" and (foreign := foreign_file(source.needed_path, file=source.file)):
            self.issues.append(foreign)
            return
        read = read_log if name == "log" else read_lines
        for raw in read(source.needed_path, final=source.is_final):
            try:
                if name in SEGMENTED:
                    log = _log_record_of(name, raw)
                    seg = 1 if log.seg is None else log.seg
                    kept = self._questions.setdefault((log.qid, 0, 0), [])
                    self._keep(kept, raw, name, seg, f"segment {seg} of {log.qid!r}")
                    _refuse_uneven(log)
                else:
                    self._add(name, raw)
            except UnusableError as error:
                self.issues.append(_issue_of(error, raw, source.file))

    def _add(self, name: str, raw: RawLine) -> None:
        obj = _record_of(name, raw)
        run_id_of(obj.get("run_id"), self.run_id)
        identity = _identity_of(name, obj)
        what = f"the {name} record of {identity[0] if identity else 'this question'!r}"
        if name in FOUNDING and identity is not None:
            self._questions.setdefault(identity, [])
            if name == "query" and "prompt" in self.sources:
                text = _hash_of(str(first_of(obj, QUESTION_NAMES)))
                self._by_text[text] = identity if self._by_text.get(text, identity) == identity else None
        key = "question (it has no q_id)"
        if identity is not None:
            key = f"q_id {identity[0]!r}"
        elif isinstance(question := obj.get("question"), str):  # the only query with a prompt's question
            identity = self._by_text.get(_hash_of(question))
        if identity is None or identity not in self._questions:
            message = f"no answer, query or log line of the run has its {key}"
            raise UnusableError("unjoined_record", message, rule_of("unjoined_record").fix)
        is_fused = name == "retrieved" and obj.get("ranker") == "hybrid"
        self._keep(self._questions[identity], raw, "fused" if is_fused else name, 0, what)

    def _keep(self, kept: list[int], raw: RawLine, kind: str, seg: int, what: str) -> None:
        """Keep a record of a question. Raises UnusableError after keeping it if there was one before."""
        number, place = len(self._records) // _FACTS, (KINDS.index(kind), seg)
        self._records.extend((*place, raw.line, raw.offset, raw.length))
        for at, earlier in enumerate(kept):
            if tuple(self._records[earlier * _FACTS : earlier * _FACTS + 2]) == place:
                kept[at] = number
                message = f"{what} occurs before; the last one counts"
                fix = "Write one record of each type for a question and segment."
                raise UnusableError("duplicate_id", message, fix)
        kept.append(number)


def _issue_of(error: UnusableError, raw: RawLine, file: str) -> LineIssue:
    return issue_of(error, SourceLine(file, raw.line, raw.offset, raw.length), raw.data)


def _log_record_of(name: str, raw: RawLine) -> LogRecord:
    """Return the record of a log line or a `rag_traces` row. Raises UnusableError if it has no question."""
    return read_log_line(raw)[0] if name == "log" else record_of_row(_record_of(name, raw))


def _refuse_uneven(record: LogRecord) -> None:
    cited, lists = record.citations or (), (record.scores, record.kpos, record.kfinal)
    if any(each is not None and len(each) != len(cited) for each in lists):
        message = "scores, kpos or kfinal have not as many places as the citations; those lists are left out"
        fix = "Log one score and one rank for each citation, null where it has no such value."
        raise UnusableError("lists_differ", message, fix)


def _identity_of(name: str, obj: Record) -> Identity | None:
    """Return the question of a record; None for a prompt without an id. Raises UnusableError for others."""
    paraphrase, seed = count_of(obj, "paraphrase"), count_of(obj, "seed")
    if name == "prompt" and text_of(first_of(obj, ("q_id", "qid"))) is None:
        return None
    question = first_of(obj, QUESTION_NAMES) if name == "query" else None
    return q_id_of(obj, question), paraphrase, seed


def _hash_of(question: str) -> bytes:
    return hashlib.sha256(question.encode()).digest()[:16]


def _record_of(name: str, raw: RawLine) -> Record:
    """Return a line's object. Raises UnusableError if it cannot be a record of the type."""
    obj = record_from(_SCHEMAS.get(name, name), parse_line(raw))
    if name == "query":
        if not isinstance(question := first_of(obj, QUESTION_NAMES), str):
            raise wrong("text", ABSENT if question is None else question)
    elif name == "answer":
        named = next((each for each in ANSWER_NAMES if each in obj), None)
        if named is not None and not isinstance(obj[named], str):
            raise wrong(named, obj[named])
    elif name == "prompt":
        cited = obj.get("citations")
        if cited is not None and not isinstance(cited, list):
            raise wrong("citations", cited, wanted="a list of objects with an id")
        entry_ids("citations", [item for item in cited or () if not isinstance(item, str)])
    elif name in ("retrieved", "rerank"):
        items = obj.get("items", ABSENT)
        if not isinstance(items, list):
            raise wrong("items", items, wanted="a list of objects with a chunk_id")
        entry_ids("items", items)
    return obj
