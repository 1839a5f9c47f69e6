"""The files of a run's separate records, grouped by question.

They are read twice: first to learn which record belongs to which question, then to join them. In between only
places are kept (offset, length, line), some dozens of bytes a record, so that 100,000 questions need little
memory.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from proofspan.contracts.records.field_values import ID_NAMES, first_of, id_of, text_of
from proofspan.contracts.records.records import GoldQuestion, Json, LineIssue, SourceLine
from proofspan.contracts.rules.catalogue import rule_of
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
from proofspan.traces.separate.join_question import ANSWER_NAMES, QUESTION_NAMES, Parts, Record, question_of
from proofspan.traces.separate.log_lines import LogRecord, read_log_line, record_of_row

#: The record types, in the order of reading.
TYPES: Final = ("answer", "query", "log", "rag_traces", "retrieved", "rerank", "prompt")
#: The types whose records each make a trace of their question; the others are joined to one.
FOUNDING: Final = frozenset({"answer", "query", "log", "rag_traces"})
#: The types of which a question may have several records, one for each segment.
SEGMENTED: Final = frozenset({"log", "rag_traces"})

#: The identity of a question within its run: q_id, paraphrase, seed.
Identity = tuple[str, int, int]

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
    if name != "log" and (foreign := foreign_file(path, file=file)):
        yield foreign
        return
    for raw in read_lines(path, final=final):
        try:
            if name in SEGMENTED:
                _refuse_uneven(_log_record_of(name, raw))
            else:
                _identity_of(name, _record_of(name, raw))
        except UnusableError as error:
            yield _issue_of(error, raw, file)
        else:
            yield None


@dataclass(slots=True)
class _Places:
    """The places of one type's records, and which of them belong to which question, by its number.

    `places` has line, offset and length of each record. `segments` are a question's records by segment;
    types without segments have `single` records.
    """

    source: RecordSource
    places: array[int] = field(default_factory=lambda: array("q"))
    single: dict[int, int] = field(default_factory=dict)
    segments: dict[int, dict[int, int]] = field(default_factory=dict)

    def keep(self, raw: RawLine, question: int, seg: int | None) -> bool:
        """Keep the place of a record, the last of several; return whether there was one before."""
        kept = self.single if seg is None else self.segments.setdefault(question, {})
        key = question if seg is None else seg
        is_repeat = key in kept
        kept[key] = len(self.places)
        self.places.extend((raw.line, raw.offset, raw.length))
        return is_repeat

    def read(self, file: BinaryIO, at: int) -> tuple[RawLine, str]:
        """Read the line of a kept place, and return its origin as well."""
        line, offset, length = self.places[at : at + 3]
        file.seek(offset)
        return RawLine(line, offset, length, file.read(length)), f"{self.source.file}:{line}"


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

    def parts(self, gold: Mapping[str, GoldQuestion]) -> Iterator[Parts]:
        """Yield every question's records: the answered ones in the order of the answers, then the others.

        `gold` are the gold questions by id. Raises UnusableError if a file has changed since the first
        reading.
        """
        with ExitStack() as stack:
            files = {
                name: stack.enter_context(open_source(places.source.path))
                for name, places in self._places.items()
            }
            for identity, number in self._numbers.items():
                parts = self._parts(identity, number, files)
                if question_of(parts) is None and (known := gold.get(parts.q_id)) is not None:
                    wordings = (known.q, *known.paraphrases)
                    if parts.paraphrase < len(wordings):
                        origins = {**parts.origins, "gold": parts.q_id}
                        parts = replace(parts, gold=wordings[parts.paraphrase], origins=origins)
                yield parts

    def _read(self, name: str, source: RecordSource) -> None:
        places = self._places.setdefault(name, _Places(source))
        if name == "retrieved":
            self._places["fused"] = _Places(source)
        if name != "log" and (foreign := foreign_file(source.path, file=source.file)):
            self.issues.append(foreign)
            return
        for raw in read_lines(source.path, final=source.is_final):
            try:
                if name in SEGMENTED:
                    log = _log_record_of(name, raw)
                    seg = 1 if log.seg is None else log.seg
                    if places.keep(raw, self._founded((log.qid, 0, 0)), seg):
                        raise _repeated(f"segment {seg} of {log.qid!r}")
                    _refuse_uneven(log)
                else:
                    self._add(name, raw)
            except UnusableError as error:
                self.issues.append(_issue_of(error, raw, source.file))

    def _add(self, name: str, raw: RawLine) -> None:
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
        is_fused = name == "retrieved" and obj.get("ranker") == "hybrid"
        if self._places["fused" if is_fused else name].keep(raw, number, None):
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

    def _parts(self, identity: Identity, number: int, files: Mapping[str, BinaryIO]) -> Parts:
        records: dict[str, Record] = {}
        logs: dict[int, LogRecord] = {}
        origins: dict[str, str] = {}
        log_origins: dict[str, list[str]] = {}
        for name, places in self._places.items():
            if (at := places.single.get(number)) is not None:
                raw, origins[name] = places.read(files[name], at)
                records[name] = _record_of(name, raw)
            for seg, at in sorted(places.segments.get(number, {}).items()):
                if seg not in logs:  # a log line counts before a row of the same segment
                    raw, origin = places.read(files[name], at)
                    logs[seg] = _log_record_of(name, raw)
                    log_origins.setdefault(name, []).append(origin)
        if "fused" in records and "retrieved" not in records:
            records["retrieved"], origins["retrieved"] = records.pop("fused"), origins.pop("fused")
        ordered = [logs[seg] for seg in sorted(logs)]
        return Parts(*identity, records, ordered, origins={**origins, **log_origins})


def _issue_of(error: UnusableError, raw: RawLine, file: str) -> LineIssue:
    return issue_of(error, SourceLine(file, raw.line, raw.offset, raw.length), raw.data)


def _log_record_of(name: str, raw: RawLine) -> LogRecord:
    """Return the record of a log line or a `rag_traces` row. Raises UnusableError if it has no question."""
    return read_log_line(raw)[0] if name == "log" else record_of_row(_record_of(name, raw))


def _refuse_uneven(record: LogRecord) -> None:
    cited, lists = record.citations or (), (record.scores, record.kpos, record.kfinal)
    if any(each is not None and len(each) != len(cited) for each in lists):
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
        _check_entries("citations", [item for item in cited or () if not isinstance(item, str)])
    elif name in ("retrieved", "rerank"):
        items = obj.get("items", ABSENT)
        if not isinstance(items, list):
            raise wrong("items", items, wanted="a list of objects with a chunk_id")
        _check_entries("items", items)
    return obj


def _check_entries(name: str, entries: Sequence[Json]) -> None:
    """Refuse entries with an invalid id, which would cost the whole trace; no id is accepted."""
    for place, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict):
            raise wrong(f"entry {place} of {name}", entry, wanted="an object with an id")
        if id_of(entry) is None and (named := next((each for each in ID_NAMES if each in entry), None)):
            raise wrong(f"the {named} of entry {place} of {name}", entry[named])


def _repeated(what: str) -> UnusableError:
    message = f"{what} occurs before; the last one counts"
    return UnusableError("duplicate_id", message, "Write one record of each type for a question and segment.")
