"""The files of a run's separate records, read twice: first for what belongs to which question, then for it.

Only places are kept in between (offset, length, line), some dozens of bytes a record, so that a run of
100,000 questions needs hardly more memory than its question ids.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from proofspan.contracts.codes import rule_of
from proofspan.contracts.records import LineIssue, SourceLine
from proofspan.traces.fields import first_of
from proofspan.traces.identity import run_id_of
from proofspan.traces.joining import QUESTION_NAMES, Parts, Record, question_of
from proofspan.traces.logline import LogRecord
from proofspan.traces.reader import RawLine, UnusableError, issue_of, open_source, read_lines
from proofspan.traces.record_lines import (
    LOGGED,
    SEGMENTED,
    Identity,
    identity_of,
    log_record_of,
    print_of,
    record_of,
    refuse_uneven,
)
from proofspan.traces.sniff import foreign_file

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
            raise UnusableError("unjoined_record", said, rule_of("unjoined_record").next_step)
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
