"""The files of a run's separate records, read twice: first for what belongs to which question, then for it.

Only places are kept in between (offset, length, line), some dozens of bytes a record, so that a run of
100,000 questions needs hardly more memory than its question ids.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from proofspan.contracts.records.field_values import ID_NAMES, first_of, id_of, text_of
from proofspan.contracts.records.records import Json, LineIssue, SourceLine
from proofspan.contracts.rules.catalogue import rule_of
from proofspan.contracts.rules.envelope import refusal
from proofspan.traces.lines.reader import (
    ABSENT,
    RawLine,
    UnusableError,
    issue_of,
    kind_of,
    open_source,
    parse_line,
    read_lines,
    refuse_overlong,
    wrong,
)
from proofspan.traces.lines.sniff import foreign_file
from proofspan.traces.records.identity import count_of, q_id_of, run_id_of
from proofspan.traces.separate.join_question import ANSWER_NAMES, QUESTION_NAMES, Parts, Record, question_of
from proofspan.traces.separate.log_lines import LogRecord, decoded, is_even, parse_log_line, record_of_row

# One line of a file of separate records: is it one that can be joined, and to which question?

#: The types of which a question may have several records, one a segment.
SEGMENTED: Final = frozenset({"log", "rag_traces"})
#: The type whose lines are no JSON.
LOGGED: Final = frozenset({"log"})

#: What a question goes by within its run: q_id, paraphrase, seed.
Identity = tuple[str, int, int]

#: The types whose published schemas go by another name.
_SCHEMAS: Final[Mapping[str, str]] = {"prompt": "prompt-frame", "rag_traces": "rag-traces"}


def unreadable(name: str, path: Path, *, file: str, final: bool) -> Iterator[LineIssue | None]:
    """The issue of every line of a file of records of one type, None for a line that is one.

    What belongs to what is not looked at. InputFault where the file cannot be opened.
    """
    if name not in LOGGED and (foreign := foreign_file(path, file=file)):
        yield foreign
        return
    for raw in read_lines(path, final=final):
        try:
            _read(name, raw)
        except UnusableError as why:
            yield issue_of(why, SourceLine(file, raw.line, raw.offset, raw.length), raw.data)
        else:
            yield None


def _read(name: str, raw: RawLine) -> None:
    if name in SEGMENTED:
        refuse_uneven(log_record_of(name, raw))
    else:
        identity_of(name, record_of(name, raw))


def record_of(name: str, raw: RawLine) -> Record:
    """The record of that type on a line. UnusableError where it is none, or nothing could be made of it."""
    obj = parse_line(raw)
    if not isinstance(obj, dict):
        raise UnusableError(
            "not_an_object", f"the line holds {kind_of(obj)}", "Write one JSON object a line."
        )
    if (other := refusal(_SCHEMAS.get(name, name), obj)) is not None:
        raise UnusableError(other.code, other.message, other.fix)
    if (check := _CHECKS.get(name)) is not None:
        check(obj)
    return obj


def log_record_of(name: str, raw: RawLine) -> LogRecord:
    """The record of a log line, or of a row of `rag_traces`. UnusableError where it names no question."""
    if name not in LOGGED:
        return record_of_row(record_of(name, raw))
    refuse_overlong(raw)
    return parse_log_line(decoded(raw.data))[0]


def refuse_uneven(record: LogRecord) -> None:
    """UnusableError for a log record whose lists do not belong together place by place."""
    if not is_even(record):
        raise UnusableError(
            "lists_differ",
            "scores, kpos or kfinal are not as many as the citations; those that differ are left out",
            "Log one score and one rank for each citation, null where there is none.",
        )


def identity_of(name: str, obj: Record) -> Identity | None:
    """The question of a record; None for a prompt that names no id. UnusableError for other records."""
    paraphrase, seed = count_of(obj, "paraphrase"), count_of(obj, "seed")
    if name == "prompt" and text_of(first_of(obj, ("q_id", "qid"))) is None:
        return None
    asked = first_of(obj, QUESTION_NAMES) if name == "query" else None
    return q_id_of(obj, asked), paraphrase, seed


def print_of(question: str) -> bytes:
    """Tells the texts of questions apart in 16 bytes."""
    return hashlib.sha256(question.encode()).digest()[:16]


def _check_query(obj: Record) -> None:
    if not isinstance(asked := first_of(obj, QUESTION_NAMES), str):
        raise wrong("text", ABSENT if asked is None else asked)


def _check_answer(obj: Record) -> None:
    name = next((name for name in ANSWER_NAMES if name in obj), None)
    if name is not None and not isinstance(obj[name], str):
        raise wrong(name, obj[name])


def _check_items(obj: Record) -> None:
    items = obj.get("items", ABSENT)
    if not isinstance(items, list):
        raise wrong("items", items, wanted="a list of objects with a chunk_id")
    _check_entries("items", items)


def _check_prompt(obj: Record) -> None:
    cited = obj.get("citations")
    if cited is not None and not isinstance(cited, list):
        raise wrong("citations", cited, wanted="a list of objects with an id")
    _check_entries("citations", [item for item in cited or () if not isinstance(item, str)])


def _check_entries(name: str, entries: Sequence[Json]) -> None:
    """A trace's list takes an entry without an id; one whose id is no name would cost the whole trace."""
    for place, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict):
            raise wrong(f"entry {place} of {name}", entry, wanted="an object with an id")
        if id_of(entry) is None and (named := next((each for each in ID_NAMES if each in entry), None)):
            raise wrong(f"the {named} of entry {place} of {name}", entry[named])


_CHECKS: Final[Mapping[str, Callable[[Record], None]]] = {
    "query": _check_query,
    "retrieved": _check_items,
    "rerank": _check_items,
    "prompt": _check_prompt,
    "answer": _check_answer,
}


#: The types in the order in which they are read.
TYPES: Final = ("answer", "query", "log", "rag_traces", "retrieved", "rerank", "prompt")
#: Those of which each makes a trace of its question; the others join one.
FOUNDING: Final = frozenset({"answer", "query", "log", "rag_traces"})

#: Gives the gold set's question of an identity.
Gold = Callable[[Identity], str | None]


class RecordSource(NamedTuple):
    """A file of records: where it lies unpacked, its name in the manifest, whether its last line counts."""

    path: Path
    file: str
    is_final: bool


@dataclass(slots=True)
class _Lines:
    """Where the records of one type stand, and which of them each question has, by its number.

    `segments` are those of a question by their number; of a type without segments it is unused.
    """

    source: RecordSource
    offsets: array[int] = field(default_factory=lambda: array("q"))
    lengths: array[int] = field(default_factory=lambda: array("q"))
    numbers: array[int] = field(default_factory=lambda: array("q"))
    single: dict[int, int] = field(default_factory=dict)
    segments: dict[int, dict[int, int]] = field(default_factory=dict)

    def keep(self, raw: RawLine, question: int, seg: int | None) -> bool:
        """Keeps the place of a record, of several the last; whether one came before."""
        kept = self.single if seg is None else self.segments.setdefault(question, {})
        key = question if seg is None else seg
        came_before = key in kept
        kept[key] = len(self.offsets)
        self.offsets.append(raw.offset)
        self.lengths.append(raw.length)
        self.numbers.append(raw.line)
        return came_before

    def place(self, at: int) -> SourceLine:
        return SourceLine(self.source.file, self.numbers[at], self.offsets[at], self.lengths[at])


class Separate:
    """The records of one run by question.

    `issues` are lines that are no record, that repeat one, or that belong to no question. Making it reads
    every file once; InputFault where one cannot be opened.
    """

    def __init__(self, sources: Mapping[str, RecordSource], *, run_id: str) -> None:
        self.run_id = run_id
        self.issues: list[LineIssue] = []
        self._numbers: dict[Identity, int] = {}
        self._asked: dict[bytes, int] = {}
        self._lines: dict[str, _Lines] = {}
        self._has_prompts = "prompt" in sources
        for name in TYPES:
            if name in sources:
                self._read(name, sources[name])
        self._asked.clear()

    def __len__(self) -> int:
        """How many questions are known so far."""
        return len(self._numbers)

    def parts(self, gold: Gold) -> Iterator[Parts]:
        """Every question's records: in the order of the answers, then of what comes without one.

        UnusableError where a file is no longer what it was.
        """
        with ExitStack() as stack:
            files = {
                name: stack.enter_context(open_source(lines.source.path))
                for name, lines in self._lines.items()
            }
            for identity, number in self._numbers.items():
                yield self._parts(identity, number, files, gold)

    def _read(self, name: str, source: RecordSource) -> None:
        lines = self._lines.setdefault(name, _Lines(source))
        if name == "retrieved":
            self._lines["fused"] = _Lines(source)
        if name not in LOGGED and (foreign := foreign_file(source.path, file=source.file)):
            self.issues.append(foreign)
            return
        note = self._note_log if name in SEGMENTED else self._note
        for raw in read_lines(source.path, final=source.is_final):
            try:
                note(name, lines, raw)
            except UnusableError as why:
                place = SourceLine(source.file, raw.line, raw.offset, raw.length)
                self.issues.append(issue_of(why, place, raw.data))

    def _note_log(self, name: str, lines: _Lines, raw: RawLine) -> None:
        record = log_record_of(name, raw)
        identity = (record.qid, 0, 0)
        seg = 1 if record.seg is None else record.seg
        if lines.keep(raw, self._founded(identity), seg):
            raise _repeated(f"segment {seg} of {record.qid!r}")
        refuse_uneven(record)

    def _note(self, name: str, lines: _Lines, raw: RawLine) -> None:
        obj = record_of(name, raw)
        run_id_of(obj.get("run_id"), self.run_id)
        identity = identity_of(name, obj)
        if name in FOUNDING and identity is not None:
            number = self._founded(identity)
            if name == "query" and self._has_prompts:
                asked = print_of(str(first_of(obj, QUESTION_NAMES)))
                self._asked[asked] = number if self._asked.get(asked, number) == number else -1
        else:
            number = self._joined(obj, identity)
        if name == "retrieved" and obj.get("ranker") == "hybrid":
            lines = self._lines["fused"]
        if lines.keep(raw, number, None):
            raise _repeated(f"the {name} record of {identity[0] if identity else 'this question'!r}")

    def _founded(self, identity: Identity) -> int:
        return self._numbers.setdefault(identity, len(self._numbers))

    def _joined(self, obj: Record, identity: Identity | None) -> int:
        """The number of the question that a record belongs to. UnusableError where there is none such.

        A prompt frame without an id goes by its question, if one query alone asks it.
        """
        if identity is not None:
            number = self._numbers.get(identity, -1)
            named = f"its q_id {identity[0]!r}"
        else:
            question = obj.get("question")
            number = self._asked.get(print_of(question), -1) if isinstance(question, str) else -1
            named = "its question, and it has no q_id"
        if number < 0:
            said = f"no answer, query or log line of the run has {named}"
            raise UnusableError("unjoined_record", said, rule_of("unjoined_record").fix)
        return number

    def _parts(self, identity: Identity, number: int, files: Mapping[str, BinaryIO], gold: Gold) -> Parts:
        records: dict[str, Record] = {}
        origins: dict[str, str | list[str]] = {}
        for name, lines in self._lines.items():
            if (at := lines.single.get(number)) is not None:
                records[name] = record_of(name, _raw(files[name], lines, at))
                origins[name] = f"{lines.source.file}:{lines.numbers[at]}"
        if "fused" in records and "retrieved" not in records:
            records["retrieved"], origins["retrieved"] = records.pop("fused"), origins.pop("fused")
        logs, log_origins = self._logs(number, files)
        q_id, paraphrase, seed = identity
        found = Parts(
            q_id=q_id,
            paraphrase=paraphrase,
            seed=seed,
            query=records.get("query"),
            retrieved=records.get("retrieved"),
            fused=records.get("fused"),
            rerank=records.get("rerank"),
            prompt=records.get("prompt"),
            answer=records.get("answer"),
            logs=logs,
            origins={**origins, **log_origins},
        )
        return found if question_of(found) is not None else _with_gold(found, gold(identity))

    def _logs(
        self, number: int, files: Mapping[str, BinaryIO]
    ) -> tuple[list[LogRecord], dict[str, list[str]]]:
        """The question's log records by segment, a log line before a row of the same one; their lines."""
        found: dict[int, LogRecord] = {}
        origins: dict[str, list[str]] = {}
        for name in (name for name in TYPES if name in SEGMENTED and name in self._lines):
            lines = self._lines[name]
            for seg, at in sorted(lines.segments.get(number, {}).items()):
                if seg not in found:
                    found[seg] = log_record_of(name, _raw(files[name], lines, at))
                    origins.setdefault(name, []).append(f"{lines.source.file}:{lines.numbers[at]}")
        return [found[seg] for seg in sorted(found)], origins


def _with_gold(parts: Parts, question: str | None) -> Parts:
    """The parts with the gold set's question, where it has one."""
    if question is None:
        return parts
    return replace(parts, gold=question, origins={**parts.origins, "gold": parts.q_id})


def _raw(file: BinaryIO, lines: _Lines, at: int) -> RawLine:
    """The line of a place that was kept."""
    offset, length = lines.offsets[at], lines.lengths[at]
    file.seek(offset)
    return RawLine(lines.numbers[at], offset, length, file.read(length))


def _repeated(what: str) -> UnusableError:
    reason = f"{what} came before; the last one counts"
    return UnusableError("duplicate_id", reason, "Write one record of each type a question and segment.")
