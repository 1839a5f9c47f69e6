"""The log line of the traceability contract (docs/requirements.md): one line for each question and segment.

    ts=2025-08-28 qid=Q001 seg=1 deltaS=0.37 lambda=convergent k=10 store=faiss index_hash=2f7d
    embed=bge-large-en-v1.5 citations=[hb24-0007,hb24-0008] scores=[0.8421,0.8034] kpos=[18,7] kfinal=[3,1]
    section_id=policies/security/keys rev=3b91f2a

(all in one line, or, as in the contract's own example, over several: a record then begins where a key
repeats or after a blank line). A name followed by `=` begins an entry only at the beginning of the line or
after white space, so `=` and `|` in chunk ids need no quoting, and a value may contain blanks. A value that
could be misread is written as a JSON string: one that is empty, contains white space, a control character or
a lone surrogate, or begins with `"` or `[`; in a list also one that contains `,`, `]` or `"`. An absent value
has no key; in a list of numbers it is `null`.

The `rag_traces` table has the same records, one a row.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import orjson

from proofspan.contracts.records.chunk_id import alias_of
from proofspan.contracts.records.field_values import (
    DELTA_S_NAMES,
    LAMBDA_NAMES,
    first_of,
    id_of,
    index_of,
    lambda_of,
    number_of,
    text_of,
)
from proofspan.contracts.records.records import Json, StageName, Trace
from proofspan.contracts.rules.catalogue import problem
from proofspan.contracts.rules.records import length_problems
from proofspan.errors import Problem
from proofspan.manifest.contents import HEAD
from proofspan.traces.lines.reader import (
    BOM,
    NOT_UTF8,
    RawLine,
    UnusableError,
    open_source,
    read_lines,
    refuse_overlong,
)
from proofspan.traces.records.trace_record import Measures, lengths, listed, measures, score_of

T = TypeVar("T")
#: Candidates by chunk id, each with its 1-based rank.
Ranked = Mapping[str, tuple[int, Mapping[str, Json]]]
NOTHING: Final[Mapping[str, Any]] = {}

#: The keys of a log line, in the order of writing; `analyzer` and `aliases` are additions to the contract.
KEYS: Final = (
    *("ts", "qid", "seg", "deltaS", "lambda", "k", "store", "index_hash", "embed", "analyzer"),
    *("citations", "scores", "kpos", "kfinal", "section_id", "rev", "aliases"),
)
#: The columns of `rag_traces`, in the contract's order.
COLUMNS: Final = (
    *("ts", "qid", "seg", "deltaS", "lambda_state", "store", "index_hash", "embed_model", "analyzer"),
    *("section_id", "rev", "citations", "scores", "kpos", "kfinal"),
)
LISTS: Final = frozenset({"citations", "scores", "kpos", "kfinal", "aliases"})
_WHOLE: Final = frozenset({"seg", "k", "kpos", "kfinal"})
_NUMBERS: Final = frozenset({"deltaS", "scores"})

#: How many times a line is scanned, in all, for lists that turn out not to be closed.
UNCLOSED_SCANS: Final = 8

_KEY = re.compile(r"(?:^|(?<=\s))(?P<key>[^\W\d][\w.-]*)=")
_KEY_BYTES = re.compile(rb"(?:^|(?<=\s))([A-Za-z_][\w.-]*)=")
_LINE_END = b"\r\n"
_NAME = re.compile(r"[^\W\d][\w.-]*")
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,15}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_ITEM_END = re.compile(r"[,\]]")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\[^\x00-\x1f])*"')
_SPACE = re.compile(r"\s+")
#: A payload's `faiss:2f7d` is the log line's `store=faiss index_hash=2f7d`.
_STORE = re.compile(r"(?P<store>[A-Za-z][\w.+-]*):(?P<hash>.+)", re.DOTALL)
_MISREAD = re.compile(r'[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]|\A["\[]|\A\Z')
_MISREAD_IN_LIST = re.compile(rf'{_MISREAD.pattern}|[,\]"]|\Anull\Z')
_TO_ESCAPE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class LogRecord:
    """The record of a log line; None where the line states nothing.

    `lambda_state` is the word for a sign, else the line's own word in lower case. The lists correspond place
    by place; a place without a number is None. `aliases` are those of the cited
    chunk ids. `others` are entries with unknown names, in order.
    """

    qid: str
    ts: str | None = None
    seg: int | None = None
    delta_s: float | None = None
    lambda_state: str | None = None
    k: int | None = None
    store: str | None = None
    index_hash: str | None = None
    embed: str | None = None
    analyzer: str | None = None
    citations: tuple[str, ...] | None = None
    scores: tuple[float | None, ...] | None = None
    kpos: tuple[int | None, ...] | None = None
    kfinal: tuple[int | None, ...] | None = None
    section_id: str | None = None
    rev: str | None = None
    aliases: tuple[str | None, ...] | None = None
    others: tuple[tuple[str, str], ...] = ()


#: The names of fields whose key in the line or column in the table is another.
_FIELDS: Final[Mapping[str, str]] = {"deltaS": "delta_s", "lambda": "lambda_state", "embed_model": "embed"}


def is_folded(path: Path) -> bool:
    """Return whether the records of a log go on over several lines: its second line goes on with the first.

    Raises InputFault if it cannot be read.
    """
    with open_source(path) as source:
        lines = source.read(HEAD).removeprefix(BOM).lstrip().split(b"\n")[:2]
    first, second = (_keys(line) for line in (*lines, b"")[:2])
    return bool(first and second) and b"qid" not in second and not first & second


def read_log(
    path: Path, *, offset: int = 0, line: int = 1, end: int | None = None, final: bool = False
) -> Iterator[RawLine]:
    """Yield the records of a log as `read_lines` yields its lines; one over several lines has their bytes."""
    lines = read_lines(path, offset=offset, line=line, end=end, final=final)
    if not is_folded(path):
        yield from lines
        return
    record: RawLine | None = None
    known: set[bytes] = set()
    last = 0
    for raw in lines:
        keys = _keys(raw.data)
        if record is not None:
            between = raw.offset - record.offset - record.length
            goes_on = raw.line == last + 1 and keys and not keys & known and between <= len(_LINE_END)
            if goes_on and len(record.data) == record.length:
                data = record.data + _LINE_END[-between:] + raw.data
                record = record._replace(length=raw.offset + raw.length - record.offset, data=data)
                known, last = known | keys, raw.line
                continue
            yield record
        record, known, last = raw, keys, raw.line
    if record is not None:
        yield record


def _keys(line: bytes) -> set[bytes]:
    """Return the keys of a line that begins with one; none of a line of JSON."""
    keys = {match[1] for match in _KEY_BYTES.finditer(line)}
    return keys if _KEY_BYTES.match(line.lstrip()) else set()


def read_log_line(raw: RawLine) -> tuple[LogRecord, tuple[Problem, ...]]:
    """Return the record of a line of a file and its findings, as `parse_log_line`. Raises UnusableError."""
    refuse_overlong(raw)
    try:
        text = raw.data.decode("utf-8")
    except UnicodeDecodeError as error:
        reason = f"byte {error.start + 1} of the line is not valid UTF-8"
        raise UnusableError("bad_utf8", reason, NOT_UTF8) from None
    return parse_log_line(text)


def parse_log_line(line: str) -> tuple[LogRecord, tuple[Problem, ...]]:
    """Return the record of a line and its findings. Raises UnusableError for a line without a question."""
    known: dict[str, Json] = {}
    others: list[tuple[str, str]] = []
    findings: list[Problem] = []
    for key, text, items in _entries(line):
        if key not in KEYS:
            others.append((key, text))
            message = f"{key}= is not a key of the log line; quote a value that contains it"
            if not key:
                message = f"{text[:80]!r} comes before the first entry and has no name"
            findings.append(problem("unknown_key", key, message))
        elif key in known:
            findings.append(problem("duplicate_key", key, f"duplicate key {key}; the first one counts"))
        elif key not in LISTS:
            known[key] = _value(key, text, key, findings)
        elif items is None:
            known[key] = None
            message = f"{key} is {text[:80]!r}, not a list in brackets"
            findings.append(problem(f"wrong_type_{key}", key, message))
        else:
            null = "null" if key == "citations" else None
            known[key] = tuple(
                null if item is None else _value(key, item, f"{key}[{place}]", findings)
                for place, item in enumerate(items, start=1)
            )
    if known.get("qid") is None:
        raise UnusableError(
            "qid_missing",
            "the line has no qid= and so belongs to no question",
            "Write one line for each question and segment, with qid=… in it.",
        )
    findings += length_problems(known)
    record = LogRecord(**{_FIELDS.get(key, key): value for key, value in known.items()}, others=tuple(others))
    return record, tuple(findings)


def format_log_line(record: LogRecord) -> str:
    """Return the line, without its line end. Raises ValueError if a name in `others` cannot be written."""
    entries = []
    for key in KEYS:
        value = getattr(record, _FIELDS.get(key, key))
        if isinstance(value, tuple):
            entries.append(f"{key}=[{','.join(_written(item, _MISREAD_IN_LIST) for item in value)}]")
        elif value is not None:
            entries.append(f"{key}={_written(value, _MISREAD)}")
    for name, text in record.others:
        if not _NAME.fullmatch(name) or name in KEYS:
            raise ValueError(f"{name!r} cannot be the name of an entry")
        entries.append(f"{name}={_written(text, _MISREAD)}")
    return " ".join(entries)


def log_fields(record: LogRecord) -> dict[str, Json]:
    """Return the record by the line's keys, lists as lists, without what is absent."""
    stated = {key: value for key, value in _named(record, KEYS).items() if value is not None}
    return {**dict(record.others), **stated}


def row_of(record: LogRecord) -> dict[str, Json]:
    """Return the record as a row of the table, lists as lists, None for NULL."""
    return _named(record, COLUMNS)


def _named(record: LogRecord, names: Iterable[str]) -> dict[str, Json]:
    values = {name: getattr(record, _FIELDS.get(name, name)) for name in names}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def _entries(text: str) -> Iterator[tuple[str, str, list[str | None] | None]]:
    """Yield name, text and, for a list in brackets, the items of each entry, in order.

    Text before the first entry has the name "".
    """
    match = _KEY.search(text)
    if before := text[: match.start() if match else len(text)].strip():
        yield "", before, None
    budget = UNCLOSED_SCANS * len(text)  # lists may begin inside an unclosed one: keeps the time linear
    while match:
        begin = end = match.end()
        value, items = None, None
        if (string := _string_at(text, begin)) is not None and _ends_at(text, string[1]):
            value, end = string
        elif text.startswith("[", begin) and budget >= 0:
            items, list_end = _list_at(text, begin)
            if items is None:
                budget -= list_end - begin
            else:
                value, end = text[begin:list_end], list_end
        following = _KEY.search(text, end)
        if value is None:
            value = text[begin : following.start() if following else len(text)].strip()
        yield match["key"], value, items
        match = following


def _string_at(text: str, begin: int) -> tuple[str, int] | None:
    """Return the JSON string at `begin` and its end."""
    if (match := _STRING.match(text, begin)) is None:
        return None
    try:
        value: str = json.loads(match.group())
    except json.JSONDecodeError:
        return None
    return value.encode("utf-8", "replace").decode(), match.end()


def _list_at(text: str, begin: int) -> tuple[list[str | None] | None, int]:
    """Return the items of the list that opens at `begin`, None if it is not closed, and its end.

    An item is None for a bare null.
    """
    items: list[str | None] = []
    place = _after_space(text, begin + 1)
    while items or not text.startswith("]", place):
        quoted = _string_at(text, place)
        end = _after_space(text, quoted[1]) if quoted else place
        if quoted and text.startswith((",", "]"), end):
            items.append(quoted[0])
        else:
            match = _ITEM_END.search(text, place)
            end = match.start() if match else len(text)
            item = text[place:end].strip()
            items.append(None if item == "null" else item)
        place = end
        if not text.startswith(",", end):
            break
        place = _after_space(text, end + 1)
    if not text.startswith("]", place) or not _ends_at(text, place + 1):
        return None, place
    return items, place + 1


def _after_space(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return match.end() if match else place


def _ends_at(text: str, place: int) -> bool:
    """Return whether a value may end there: the line ends, or another entry follows."""
    after = _after_space(text, place)
    return after == len(text) or (after > place and _KEY.match(text, after) is not None)


def _value(key: str, text: str, field: str, findings: list[Problem]) -> Json:
    """Return the value in the type of its key; None with a finding if it is not of that type."""
    if key == "lambda":
        return lambda_of(text)
    if key not in _WHOLE and key not in _NUMBERS:
        return text
    number: float | None
    if key in _WHOLE:
        number = int(text) if _WHOLE_NUMBER.fullmatch(text) else None
    else:
        number = float(text) if _NUMBER.fullmatch(text) else None
    if number is None or not math.isfinite(number):
        kind = "whole number" if key in _WHOLE else "number"
        findings.append(problem(f"wrong_type_{key}", field, f"{field} is {text[:80]!r}, not a {kind}"))
        return None
    return number


def _written(value: str | float | None, misread: re.Pattern[str]) -> str:
    """Return a value as it is written, a text in quotes if it could be misread."""
    if not isinstance(value, str):
        return "null" if value is None else repr(value)
    if not misread.search(value):
        return value
    text = json.dumps(value, ensure_ascii=False)
    return _TO_ESCAPE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def log_records(trace: Trace, *, pinned: Mapping[str, Any] = NOTHING) -> tuple[LogRecord, ...]:
    """Return one record for each segment of the trace's answer, one in all if it has no segments.

    Index, model and analyzer that the trace does not state are those that its run pins; scores and ranks
    that a citation does not have are those of the candidate of the same id.
    """
    parts = trace.raw.get("segments")
    segments = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    measured = measures(trace)
    ranked = _ranked(trace, "retrieved", "chunks"), _ranked(trace, "reranked", "fused")
    if not any(isinstance(part.get("citations"), list) for part in segments):
        segments = [{"citations": trace.payload or trace.ids_in_text}]
    if any(first_of(part, DELTA_S_NAMES) is not None for part in segments):
        measured = measured._replace(delta_s=None)  # that of one segment, not of all
    if any(first_of(part, LAMBDA_NAMES) is not None for part in segments):
        measured = measured._replace(lambda_state=None)
    return tuple(
        _record(trace, place, part, measured, pinned, ranked) for place, part in enumerate(segments, start=1)
    )


def record_of_row(obj: Mapping[str, Json]) -> LogRecord:
    """Return the record of a row; lists may be JSON text. Raises UnusableError for an unusable value."""
    qid = text_of(obj.get("qid"))
    if qid is None:
        raise UnusableError("qid_missing", "the row has no qid", "Write the question's id as qid.")
    return LogRecord(
        qid=qid,
        ts=text_of(obj.get("ts")),
        seg=index_of(obj.get("seg")),
        delta_s=number_of(first_of(obj, DELTA_S_NAMES)),
        lambda_state=lambda_of(first_of(obj, LAMBDA_NAMES)),
        k=index_of(obj.get("k")),
        store=text_of(obj.get("store")),
        index_hash=text_of(obj.get("index_hash")),
        embed=text_of(first_of(obj, ("embed_model", "embed"))),
        analyzer=text_of(obj.get("analyzer")),
        citations=_list(obj, "citations", lambda item: _id(item) or ""),
        scores=_list(obj, "scores", number_of),
        kpos=_list(obj, "kpos", index_of),
        kfinal=_list(obj, "kfinal", index_of),
        section_id=text_of(obj.get("section_id")),
        rev=text_of(obj.get("rev")),
    )


def payload_entries(record: LogRecord) -> list[dict[str, Json]]:
    """Return the citation payload that the record's lists make together."""
    index_hash = record.index_hash
    if index_hash is not None and record.store is not None:
        index_hash = f"{record.store}:{index_hash}"
    shared = {
        "section_id": record.section_id,
        "index_hash": index_hash,
        "embed_model": record.embed,
        "analyzer": record.analyzer,
        "rev": record.rev,
    }
    cited = record.citations or ()
    lists = {"score_raw": record.scores, "k_pos": record.kpos, "k_final": record.kfinal}
    # A list of another length is left out: nothing says which citation a value belongs to.
    even = {name: values for name, values in lists.items() if values and len(values) == len(cited)}
    entries = []
    for place, chunk_id in enumerate(cited):
        stated = {**shared, **{name: values[place] for name, values in even.items()}}
        stated = {name: value for name, value in stated.items() if value is not None}
        entries.append({"snippet_id": chunk_id, **stated})
    return entries


def _list(obj: Mapping[str, Json], name: str, read: Callable[[Json], T]) -> tuple[T, ...] | None:
    """Return a column of JSON, a list or its text. Raises UnusableError for anything else but null."""
    value = obj.get(name)
    if isinstance(value, str):
        with suppress(orjson.JSONDecodeError):
            value = orjson.loads(value)
    if value is None or isinstance(value, list):
        return None if value is None else tuple(map(read, value))
    reason = f"{name} is neither a list nor the JSON text of one"
    raise UnusableError(f"{name}_wrong_type", reason, f"Write {name} as a JSON list.")


def _ranked(trace: Trace, name: StageName, otherwise: StageName) -> Ranked:
    """Return the candidates of a stage by chunk id, of the other one if the trace does not have the first."""
    ranked: dict[str, tuple[int, Mapping[str, Json]]] = {}
    for rank, chunk_id, entry in listed(trace, name if name in lengths(trace) else otherwise):
        ranked.setdefault(chunk_id, (rank, entry))
    return ranked


def _record(
    trace: Trace,
    place: int,
    part: Mapping[str, Json],
    measured: Measures,
    pinned: Mapping[str, Any],
    ranked: tuple[Ranked, Ranked],
) -> LogRecord:
    """Build the record of a segment (`part`) and its citations; `ranked` is before and after reranking."""
    ids: list[str] = []
    items: list[Mapping[str, Json]] = []
    scores: list[float | None] = []
    kpos: list[int | None] = []
    kfinal: list[int | None] = []
    cited = part.get("citations")
    for each in cited if isinstance(cited, (list, tuple)) else ():
        if (chunk_id := _id(each)) is None:
            continue
        item: Mapping[str, Json] = each if isinstance(each, dict) else {}
        before, after = (lists.get(chunk_id) for lists in ranked)
        score, candidate = number_of(first_of(item, ("score_raw", "score_norm", "score"))), before or after
        pos, final = index_of(item.get("k_pos")), index_of(item.get("k_final"))
        ids.append(chunk_id)
        items.append(item)
        scores.append(score_of(candidate[1]) if score is None and candidate else score)
        kpos.append(before[0] if pos is None and before else pos)
        kfinal.append(after[0] if final is None and after else final)
    around = (part, trace.raw, pinned)
    index_hash, store = _agreed("index_hash", items, *around), _agreed("store", (), *around)
    if index_hash is not None and store is not None:
        index_hash = index_hash.removeprefix(f"{store}:")
    elif index_hash is not None and (match := _STORE.fullmatch(index_hash)):
        store, index_hash = match["store"], match["hash"]
    seg, delta_s = index_of(part.get("seg")), number_of(first_of(part, DELTA_S_NAMES))
    return LogRecord(
        qid=trace.q_id,
        ts=text_of(part.get("ts")) or text_of(trace.raw.get("ts")),
        seg=place if seg is None else seg,
        delta_s=measured.delta_s if delta_s is None else delta_s,
        lambda_state=lambda_of(first_of(part, LAMBDA_NAMES)) or measured.lambda_state,
        k=_k(*around),
        store=store,
        index_hash=index_hash,
        embed=_agreed("embed_model", items, *around),
        analyzer=_agreed("analyzer", items, *around),
        citations=tuple(ids),
        scores=tuple(scores) if any(value is not None for value in scores) else None,
        kpos=tuple(kpos) if any(value is not None for value in kpos) else None,
        kfinal=tuple(kfinal) if any(value is not None for value in kfinal) else None,
        section_id=_agreed("section_id", items, part),
        rev=_agreed("rev", items, part),
        aliases=tuple(aliases) if any(aliases := [alias_of(each) or None for each in ids]) else None,
    )


def _k(part: Mapping[str, Json], raw: Mapping[str, Json], pinned: Mapping[str, Any]) -> int | None:
    """Return how many candidates were asked for, by the first place that logs it.

    These are the segment, the trace, the retriever's record, its list where that is an object, and the pins.
    """
    stages = raw.get("stages")
    lists = [raw.get("retrieved"), stages.get("retrieved") if isinstance(stages, dict) else None]
    places = (part, raw, *(each for each in lists if isinstance(each, dict)), pinned)
    return next((k for place in places if (k := index_of(place.get("k"))) is not None), None)


def _id(item: Json) -> str | None:
    return id_of(item) if isinstance(item, dict) else text_of(item)


def _agreed(name: str, items: Iterable[Mapping[str, Json]], *others: Mapping[str, Json]) -> str | None:
    """Return the value of all citations, None if they differ; if none has one, that of the first other."""
    stated = {text for item in items if (text := text_of(item.get(name))) is not None}
    if stated:
        return stated.pop() if len(stated) == 1 else None
    return next((text for other in others if (text := text_of(other.get(name))) is not None), None)
