"""One line of a file of separate records: is it one that can be joined, and to which question?"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from proofspan.contracts.records import Json, LineIssue, SourceLine
from proofspan.contracts.versions import refusal
from proofspan.traces.fields import ID_NAMES, first_of, id_of, text_of
from proofspan.traces.identity import count_of, q_id_of
from proofspan.traces.joining import ANSWER_NAMES, QUESTION_NAMES, Record
from proofspan.traces.log_records import is_even, record_of_row
from proofspan.traces.logline import LogRecord, decoded, parse_log_line
from proofspan.traces.reader import (
    ABSENT,
    RawLine,
    UnusableError,
    issue_of,
    kind_of,
    parse_line,
    read_lines,
    refuse_overlong,
    wrong,
)
from proofspan.traces.sniff import foreign_file

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
        raise UnusableError(other.code, other.message, other.next_step)
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
