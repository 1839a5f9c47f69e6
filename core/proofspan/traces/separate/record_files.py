"""The files of a run's separate records, grouped by question.

They are read twice: first to learn which record belongs to which question, then to join them. In between only
places are kept (offset, length, line), some dozens of bytes a record, so that 100,000 questions need little
memory.
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

#: The record types, in the order of reading.
TYPES: Final = ("answer", "query", "log", "rag_traces", "retrieved", "rerank", "prompt")
#: The types whose records each make a trace of their question; the others are joined to one.
FOUNDING: Final = frozenset({"answer", "query", "log", "rag_traces"})
#: The types of which a question may have several records, one for each segment.
SEGMENTED: Final = frozenset({"log", "rag_traces"})
#: The type whose lines are not JSON.
LOGGED: Final = frozenset({"log"})

#: The identity of a question within its run: q_id, paraphrase, seed.
Identity = tuple[str, int, int]
#: Returns the gold set's question of an identity.
Gold = Callable[[Identity], str | None]

#: The published schemas of types that have another name.
_SCHEMAS: Final[Mapping[str, str]] = {"prompt": "prompt-frame", "rag_traces": "rag-traces"}


class RecordSource(NamedTuple):
    """A file of records: its unpacked path, its name in the manifest, whether its last line counts."""

    path: Path
    file: str
    is_final: bool


def unreadable(name: str, path: Path, *, file: str, final: bool) -> Iterator[LineIssue | None]:
    """Yield the issue of each line of a file of records of one type, None for a line without one.

    Joining is not checked. Raises InputFault if the file cannot be opened.
    """
    if name not in LOGGED and (foreign := foreign_file(path, file=file)):
        yield foreign
        return
    for raw in read_lines(path, final=final):
        try:
            if name in SEGMENTED:
                _refuse_uneven(_log_record_of(name, raw))
            else:
                _identity_of(name, _record_of(name, raw))
        except UnusableError as error:
            yield issue_of(error, SourceLine(file, raw.line, raw.offset, raw.length), raw.data)
        else:
            yield None


@dataclass(slots=True)
class _Places:
    """The places of one type's records, and which of them belong to which question, by its number.

    `segments` are a question's records by segment; types without segments have `single` records.
    """

    source: RecordSource
    offsets: array[int] = field(default_factory=lambda: array("q"))
    lengths: array[int] = field(default_factory=lambda: array("q"))
    lines: array[int] = field(default_factory=lambda: array("q"))
    single: dict[int, int] = field(default_factory=dict)
    segments: dict[int, dict[int, int]] = field(default_factory=dict)

    def keep(self, raw: RawLine, question: int, seg: int | None) -> bool:
        """Keep the place of a record, the last of several; return whether there was one before."""
        kept = self.single if seg is None else self.segments.setdefault(question, {})
        key = question if seg is None else seg
        is_repeat = key in kept
        kept[key] = len(self.offsets)
        self.offsets.append(raw.offset)
        self.lengths.append(raw.length)
        self.lines.append(raw.line)
        return is_repeat

    def read(self, file: BinaryIO, at: int) -> RawLine:
        """Read the line of a kept place."""
        file.seek(self.offsets[at])
        data = file.read(self.lengths[at])
        return RawLine(self.lines[at], self.offsets[at], self.lengths[at], data)

    def origin(self, at: int) -> str:
        return f"{self.source.file}:{self.lines[at]}"


class Separate:
    """The records of one run by question. Making it reads every file once, or raises InputFault.

    `issues` are lines that hold no record, repeat one, or belong to no question.
    """

    def __init__(self, sources: Mapping[str, RecordSource], *, run_id: str) -> None:
        self.run_id = run_id
        self.issues: list[LineIssue] = []
        self._numbers: dict[Identity, int] = {}
        self._by_text: dict[bytes, int] = {}  # hash of a query's text → its number, -1 for several
        self._places: dict[str, _Places] = {}
        self._has_prompts = "prompt" in sources
        for name in TYPES:
            if name in sources:
                self._read(name, sources[name])
        self._by_text.clear()

    def __len__(self) -> int:
        """Return the number of questions."""
        return len(self._numbers)

    def parts(self, gold: Gold) -> Iterator[Parts]:
        """Yield every question's records: the answered ones in the order of the answers, then the others.

        Raises UnusableError if a file has changed since the first reading.
        """
        with ExitStack() as stack:
            files = {
                name: stack.enter_context(open_source(places.source.path))
                for name, places in self._places.items()
            }
            for identity, number in self._numbers.items():
                yield self._parts(identity, number, files, gold)

    def _read(self, name: str, source: RecordSource) -> None:
        places = self._places.setdefault(name, _Places(source))
        if name == "retrieved":
            self._places["fused"] = _Places(source)
        if name not in LOGGED and (foreign := foreign_file(source.path, file=source.file)):
            self.issues.append(foreign)
            return
        add = self._add_log if name in SEGMENTED else self._add
        for raw in read_lines(source.path, final=source.is_final):
            try:
                add(name, places, raw)
            except UnusableError as error:
                line = SourceLine(source.file, raw.line, raw.offset, raw.length)
                self.issues.append(issue_of(error, line, raw.data))

    def _add_log(self, name: str, places: _Places, raw: RawLine) -> None:
        record = _log_record_of(name, raw)
        seg = 1 if record.seg is None else record.seg
        if places.keep(raw, self._founded((record.qid, 0, 0)), seg):
            raise _repeated(f"segment {seg} of {record.qid!r}")
        _refuse_uneven(record)

    def _add(self, name: str, places: _Places, raw: RawLine) -> None:
        obj = _record_of(name, raw)
        run_id_of(obj.get("run_id"), self.run_id)
        identity = _identity_of(name, obj)
        if name in FOUNDING and identity is not None:
            number = self._founded(identity)
            if name == "query" and self._has_prompts:
                text = _hash_of(str(first_of(obj, QUESTION_NAMES)))
                self._by_text[text] = number if self._by_text.get(text, number) == number else -1
        else:
            number = self._joined(obj, identity)
        if name == "retrieved" and obj.get("ranker") == "hybrid":
            places = self._places["fused"]
        if places.keep(raw, number, None):
            raise _repeated(f"the {name} record of {identity[0] if identity else 'this question'!r}")

    def _founded(self, identity: Identity) -> int:
        return self._numbers.setdefault(identity, len(self._numbers))

    def _joined(self, obj: Record, identity: Identity | None) -> int:
        """Return the number of a record's question. Raises UnusableError without one.

        A prompt frame without an id belongs to the only query with its question.
        """
        if identity is not None:
            number = self._numbers.get(identity, -1)
            key = f"q_id {identity[0]!r}"
        else:
            question = obj.get("question")
            number = self._by_text.get(_hash_of(question), -1) if isinstance(question, str) else -1
            key = "question (it has no q_id)"
        if number < 0:
            message = f"no answer, query or log line of the run has its {key}"
            raise UnusableError("unjoined_record", message, rule_of("unjoined_record").fix)
        return number

    def _parts(self, identity: Identity, number: int, files: Mapping[str, BinaryIO], gold: Gold) -> Parts:
        records: dict[str, Record] = {}
        logs: dict[int, LogRecord] = {}
        origins: dict[str, str] = {}
        log_origins: dict[str, list[str]] = {}
        for name, places in self._places.items():
            if (at := places.single.get(number)) is not None:
                records[name] = _record_of(name, places.read(files[name], at))
                origins[name] = places.origin(at)
            for seg, at in sorted(places.segments.get(number, {}).items()):
                if seg not in logs:  # a log line counts before a row of the same segment
                    logs[seg] = _log_record_of(name, places.read(files[name], at))
                    log_origins.setdefault(name, []).append(places.origin(at))
        if "fused" in records and "retrieved" not in records:
            records["retrieved"], origins["retrieved"] = records.pop("fused"), origins.pop("fused")
        ordered = [logs[seg] for seg in sorted(logs)]
        parts = Parts(*identity, records, ordered, origins={**origins, **log_origins})
        if question_of(parts) is not None or (question := gold(identity)) is None:
            return parts
        return replace(parts, gold=question, origins={**parts.origins, "gold": parts.q_id})


def _record_of(name: str, raw: RawLine) -> Record:
    obj = parse_line(raw)
    if not isinstance(obj, dict):
        message = f"the line holds {kind_of(obj)}"
        raise UnusableError("not_an_object", message, "Write one JSON object a line.")
    if (other := refusal(_SCHEMAS.get(name, name), obj)) is not None:
        raise UnusableError(other.code, other.message, other.fix)
    if (check := _CHECKS.get(name)) is not None:
        check(obj)
    return obj


def _log_record_of(name: str, raw: RawLine) -> LogRecord:
    """Return the record of a log line or a `rag_traces` row. Raises UnusableError if it has no question."""
    if name not in LOGGED:
        return record_of_row(_record_of(name, raw))
    refuse_overlong(raw)
    return parse_log_line(decoded(raw.data))[0]


def _refuse_uneven(record: LogRecord) -> None:
    if not is_even(record):
        raise UnusableError(
            "lists_differ",
            "scores, kpos or kfinal have not as many places as the citations; those lists are left out",
            "Log one score and one rank for each citation, null where it has no such value.",
        )


def _identity_of(name: str, obj: Record) -> Identity | None:
    """Return the question of a record; None for a prompt without an id. Raises UnusableError for others."""
    paraphrase, seed = count_of(obj, "paraphrase"), count_of(obj, "seed")
    if name == "prompt" and text_of(first_of(obj, ("q_id", "qid"))) is None:
        return None
    question = first_of(obj, QUESTION_NAMES) if name == "query" else None
    return q_id_of(obj, question), paraphrase, seed


def _hash_of(question: str) -> bytes:
    return hashlib.sha256(question.encode()).digest()[:16]


def _check_query(obj: Record) -> None:
    if not isinstance(question := first_of(obj, QUESTION_NAMES), str):
        raise wrong("text", ABSENT if question is None else question)


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
    """Refuse entries with an invalid id, which would cost the whole trace; no id is accepted."""
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


def _repeated(what: str) -> UnusableError:
    message = f"{what} occurs before; the last one counts"
    return UnusableError("duplicate_id", message, "Write one record of each type for a question and segment.")
