"""The log line of the traceability contract (docs/requirements.md): one physical line a question and segment.

    ts=2025-08-28 qid=Q001 seg=1 deltaS=0.37 lambda=convergent k=10 store=faiss index_hash=2f7d
    embed=bge-large-en-v1.5 citations=[hb24-0007,hb24-0008] scores=[0.8421,0.8034] kpos=[18,7] kfinal=[3,1]
    section_id=policies/security/keys rev=3b91f2a

(all in one line). A name with `=` behind it begins an entry only at the line's beginning or after white
space, so the `=` and `|` of chunk ids are left alone, and a value may hold blanks. The quoting rule: a value
that could be misread is written as a JSON string. That is one that is empty, holds white space, a control
character or half of one, or begins with `"` or `[`; in a list also one that holds `,`, `]` or `"`. An absent
value leaves its key out; in a list of numbers it is `null`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, NamedTuple, TypeVar

import orjson

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
from proofspan.contracts.records.records import Json, LineIssue, SourceLine, StageName, Trace
from proofspan.contracts.rules.catalogue import problem
from proofspan.contracts.rules.records import length_problems
from proofspan.errors import Problem
from proofspan.traces.lines.reader import RawLine, UnusableError, issue_of, refuse_overlong
from proofspan.traces.records.citations import citation_ids_in_text, payload_of
from proofspan.traces.records.trace_record import Measures, lengths, listed, measures, score_of

#: The keys of a log line, in the order in which they are written; `analyzer` is not the contract's own.
KEYS: Final = (
    *("ts", "qid", "seg", "deltaS", "lambda", "k", "store", "index_hash", "embed", "analyzer"),
    *("citations", "scores", "kpos", "kfinal", "section_id", "rev"),
)
LISTS: Final = frozenset({"citations", "scores", "kpos", "kfinal"})
_WHOLE: Final = frozenset({"seg", "k", "kpos", "kfinal"})
_NUMBERS: Final = frozenset({"deltaS", "scores"})

_KEY = re.compile(r"(?:^|(?<=\s))(?P<key>[^\W\d][\w.-]*)=")
_NAME = re.compile(r"[^\W\d][\w.-]*")
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,15}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_ITEM_END = re.compile(r"[,\]]")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\[^\x00-\x1f])*"')
_SPACE = re.compile(r"\s+")
_MISREAD = re.compile(r'[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]|\A["\[]|\A\Z')
_MISREAD_IN_LIST = re.compile(r'[,\]"]')
_TO_ESCAPE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class LogRecord:
    """What a log line says; None where it says nothing.

    `lambda_state` is the word for a sign, else the line's own word in lower case. The lists belong together
    place by place; those of numbers hold None where a place has none. `others` are entries with names that
    are not known, in order.
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
    others: tuple[tuple[str, str], ...] = ()


class LogLine(NamedTuple):
    """A record, where it stands, and what is wrong with it."""

    source: SourceLine
    record: LogRecord
    findings: tuple[Problem, ...]


class _Value(NamedTuple):
    """The value of one entry: a text or a list of texts; `is_quoted` tells of a JSON string."""

    text: str
    items: tuple[str | None, ...] | None = None


_FIELDS: Final[Mapping[str, str]] = {"deltaS": "delta_s", "lambda": "lambda_state"}


def parse_log_line(text: str) -> tuple[LogRecord, tuple[Problem, ...]]:
    """The record of a line and what is wrong with it. UnusableError for a line that names no question."""
    found: dict[str, Json] = {}
    others: list[tuple[str, str]] = []
    findings: list[Problem] = []
    for key, value in _entries(text):
        if key not in KEYS:
            others.append((key, value.text))
            findings.append(_unknown(key, value.text))
        elif key in found:
            findings.append(problem("duplicate_key", key, f"{key} is there twice; the first counts"))
        else:
            found[key] = _typed(key, value, findings)
    if found.get("qid") is None:
        raise UnusableError(
            "qid_missing",
            "the line has no qid= and so belongs to no question; a record is one physical line",
            "Write one line a question and segment, with qid=… in it.",
        )
    findings += length_problems(found)
    named = {_FIELDS.get(key, key): value for key, value in found.items()}
    return LogRecord(**named, others=tuple(others)), tuple(findings)


def format_log_line(record: LogRecord) -> str:
    """The line, without its line end. ValueError for a name among `others` that no line can hold."""
    entries = [
        f"{key}={_written(value)}"
        for key in KEYS
        if (value := getattr(record, _FIELDS.get(key, key))) is not None
    ]
    for name, text in record.others:
        if not _NAME.fullmatch(name) or name in KEYS:
            raise ValueError(f"{name!r} cannot be the name of an entry")
        entries.append(f"{name}={_text(text)}")
    return " ".join(entries)


def log_fields(record: LogRecord) -> dict[str, Json]:
    """The record under the names of the line's keys, lists as lists; what is absent is left out."""
    named = {key: getattr(record, _FIELDS.get(key, key)) for key in KEYS}
    known = {key: list(value) if key in LISTS else value for key, value in named.items() if value is not None}
    return {**dict(record.others), **known}


def log_line_of(raw: RawLine, *, file: str) -> LogLine | LineIssue:
    """The record of one line, or its issue."""
    source = SourceLine(file, raw.line, raw.offset, raw.length)
    try:
        refuse_overlong(raw)
        return LogLine(source, *parse_log_line(decoded(raw.data)))
    except UnusableError as why:
        return issue_of(why, source, raw.data)


def decoded(data: bytes) -> str:
    """The text of a line. UnusableError where it is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        reason = f"byte {error.start + 1} of the line is not valid UTF-8"
        raise UnusableError("bad_utf8", reason, "Write the file as UTF-8.") from None


def _entries(text: str) -> Iterator[tuple[str, _Value]]:
    """The entries of a line in order; text before the first comes under no name."""
    lists = _Lists(text)
    found = _KEY.search(text)
    if before := text[: found.start() if found else len(text)].strip():
        yield "", _Value(before)
    while found:
        begin = found.end()
        value, end = lists.at(begin) or _string_at(text, begin) or (None, begin)
        following = _KEY.search(text, end)
        if value is None:
            value = _Value(text[begin : following.start() if following else len(text)].strip())
        yield found["key"], value
        found = following


def _string_at(text: str, begin: int) -> tuple[_Value, int] | None:
    """The JSON string there and its end, if white space or another entry follows."""
    if (found := _decoded_string(text, begin)) is None or not _ends_at(text, found[1]):
        return None
    return _Value(found[0]), found[1]


def _decoded_string(text: str, begin: int) -> tuple[str, int] | None:
    if (found := _STRING.match(text, begin)) is None:
        return None
    try:
        value: str = json.loads(found.group())
    except json.JSONDecodeError:
        return None
    return value.encode("utf-8", "replace").decode(), found.end()


class _Lists:
    """The lists of one line.

    What was learned of one that is not closed is kept: the items of another that begins inside it may be the
    same ones, and reading them once for each would take quadratic time.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._lost = bytearray()  # 1 where an item begins whose list is not closed
        self._searched = (0, -1)  # from the first of these places on, the second is the first end of an item

    def at(self, begin: int) -> tuple[_Value, int] | None:
        """The list there and its end; None where none begins, or where it is not closed."""
        text = self._text
        if not text.startswith("[", begin):
            return None
        starts: list[int] = []
        items: list[str | None] = []
        end = _after_space(text, begin + 1)
        if not text.startswith("]", end):
            while True:
                if end < len(self._lost) and self._lost[end]:
                    self._lose(starts)
                    return None
                starts.append(end)
                item, end = self._item(end)
                items.append(item)
                if not text.startswith(",", end):
                    break
                end = _after_space(text, end + 1)
        if not text.startswith("]", end) or not _ends_at(text, end + 1):
            self._lose(starts)
            return None
        return _Value(text[begin : end + 1], tuple(items)), end + 1

    def _lose(self, starts: Iterable[int]) -> None:
        self._lost = self._lost or bytearray(len(self._text) + 1)
        for start in starts:
            self._lost[start] = 1

    def _item(self, begin: int) -> tuple[str | None, int]:
        """One item of a list and where it ends; None for a bare null."""
        text = self._text
        if (quoted := _decoded_string(text, begin)) is not None:
            end = _after_space(text, quoted[1])
            if text.startswith((",", "]"), end):
                return quoted[0], end
        end = self._item_end(begin)
        item = text[begin:end].strip()
        return None if item == "null" else item, end

    def _item_end(self, begin: int) -> int:
        first, end = self._searched
        if not first <= begin <= end:
            found = _ITEM_END.search(self._text, begin)
            end = found.start() if found else len(self._text)
            self._searched = (begin, end)
        return end


def _after_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place


def _ends_at(text: str, place: int) -> bool:
    """Whether a value may end there: nothing follows that belongs to it."""
    after = _after_space(text, place)
    return after == len(text) or (after > place and _KEY.match(text, after) is not None)


def _typed(key: str, value: _Value, findings: list[Problem]) -> Json:
    """The value as the type of its key; None with a finding where it is not of that type."""
    if key not in LISTS:
        return _single(key, value.text, key, findings)
    if value.items is None:
        said = f"{key} is {value.text[:80]!r}, no list in brackets"
        findings.append(problem(f"wrong_type_{key}", key, said))
        return None
    items = [("null" if key == "citations" else None) if item is None else item for item in value.items]
    return tuple(
        None if item is None else _single(key, item, f"{key}[{place}]", findings)
        for place, item in enumerate(items, start=1)
    )


def _single(key: str, text: str, field: str, findings: list[Problem]) -> Json:
    if key == "lambda":
        return lambda_of(text)
    if key not in _WHOLE and key not in _NUMBERS:
        return text
    number = _whole(text) if key in _WHOLE else _real(text)
    if number is None:
        kind = "whole number" if key in _WHOLE else "number"
        findings.append(problem(f"wrong_type_{key}", field, f"{field} is {text[:80]!r}, no {kind}"))
    return number


def _whole(text: str) -> int | None:
    return int(text) if _WHOLE_NUMBER.fullmatch(text) else None


def _real(text: str) -> float | None:
    number = float(text) if _NUMBER.fullmatch(text) else math.inf
    return number if math.isfinite(number) else None


def _unknown(key: str, text: str) -> Problem:
    if not key:
        return problem("unknown_key", "", f"{text[:80]!r} comes before the first entry and has no name")
    said = f"{key}= is no key of the log line; a value that holds it has to be quoted"
    return problem("unknown_key", key, said)


def _written(value: Json) -> str:
    if isinstance(value, tuple):
        return f"[{','.join(map(_item, value))}]"
    return _text(value) if isinstance(value, str) else repr(value)


def _item(value: str | float | None) -> str:
    if value is None:
        return "null"
    if not isinstance(value, str):
        return repr(value)
    return _quoted(value) if _MISREAD_IN_LIST.search(value) or value == "null" else _text(value)


def _text(value: str) -> str:
    return _quoted(value) if _MISREAD.search(value) else value


def _quoted(value: str) -> str:
    """A JSON string without a line end of any kind, so that it stays in its line."""
    text = json.dumps(value, ensure_ascii=False)
    return _TO_ESCAPE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


# A trace as log records, one a segment, and `rag_traces` rows: the same records under a table's names.

T = TypeVar("T")
NOTHING: Final[Mapping[str, Any]] = {}

#: The columns of the table, in the contract's order, and the fields of a log record that they hold.
COLUMNS: Final[Mapping[str, str]] = {
    "ts": "ts",
    "qid": "qid",
    "seg": "seg",
    "deltaS": "delta_s",
    "lambda_state": "lambda_state",
    "store": "store",
    "index_hash": "index_hash",
    "embed_model": "embed",
    "analyzer": "analyzer",
    "section_id": "section_id",
    "rev": "rev",
    "citations": "citations",
    "scores": "scores",
    "kpos": "kpos",
    "kfinal": "kfinal",
}
#: Candidates by chunk id, each with its 1-based rank.
Ranked = Mapping[str, tuple[int, Mapping[str, Json]]]

_STORE = re.compile(r"(?P<store>[A-Za-z][\w.+-]*):(?P<hash>.+)", re.DOTALL)


def log_records(trace: Trace, *, pinned: Mapping[str, Any] = NOTHING) -> tuple[LogRecord, ...]:
    """One record a segment of the trace's answer, one in all where it names no segments.

    What the trace does not say of index, model and analyzer is taken from what its run pins; scores and ranks
    that a citation does not carry from the candidate of the same id.
    """
    parts = trace.raw.get("segments")
    segments = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    said = measures(trace)
    if not any(isinstance(part.get("citations"), list) for part in segments):
        cited: Sequence[Json] = payload_of(trace.raw) or citation_ids_in_text(trace.answer)
        return (_record(trace, 1, {}, cited, said, pinned),)
    if any(first_of(part, DELTA_S_NAMES) is not None for part in segments):
        said = said._replace(delta_s=None)  # it is that of one segment, not of all
    if any(first_of(part, LAMBDA_NAMES) is not None for part in segments):
        said = said._replace(lambda_state=None)
    return tuple(
        _record(trace, _seg(part, place), part, _cited(part), said, pinned)
        for place, part in enumerate(segments, start=1)
    )


def row_of(record: LogRecord) -> dict[str, Json]:
    """The record as a row of the table, lists as lists; None for NULL."""
    named = {column: getattr(record, field) for column, field in COLUMNS.items()}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in named.items()}


def record_of_row(obj: Json) -> LogRecord:
    """The log record of a row, lists as JSON or as its text. UnusableError where a value is of no use."""
    if not isinstance(obj, dict):
        raise UnusableError("not_an_object", "the row is no JSON object", "Write one object a line.")
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
        citations=_texts(_list(obj, "citations")),
        scores=_each(_list(obj, "scores"), number_of),
        kpos=_each(_list(obj, "kpos"), index_of),
        kfinal=_each(_list(obj, "kfinal"), index_of),
        section_id=text_of(obj.get("section_id")),
        rev=text_of(obj.get("rev")),
    )


def payload_entries(record: LogRecord) -> list[dict[str, Json]]:
    """The citation payload that a log record's lists make together, entry by entry."""
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
    lists = {"score_raw": record.scores, "k_pos": record.kpos, "k_final": record.kfinal}
    entries = []
    for place, chunk_id in enumerate(record.citations or ()):
        own = {name: _at(values, place, record) for name, values in lists.items()}
        filled = {name: value for name, value in {**shared, **own}.items() if value is not None}
        entries.append({"snippet_id": chunk_id, **filled})
    return entries


def is_even(record: LogRecord) -> bool:
    """Whether its lists belong together place by place: each that is there is as long as the citations."""
    cited = len(record.citations or ())
    return all(len(each) == cited for each in (record.scores, record.kpos, record.kfinal) if each is not None)


def _at(values: Sequence[Json] | None, place: int, record: LogRecord) -> Json:
    """A place of a list, None where the list is not as long as the citations: it may belong to any."""
    return values[place] if values is not None and len(values) == len(record.citations or ()) else None


def _texts(values: list[Json] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(str(_id(value) or "") for value in values)


def _each(values: list[Json] | None, of: Callable[[Json], T | None]) -> tuple[T | None, ...] | None:
    return None if values is None else tuple(of(value) for value in values)


def _list(obj: Mapping[str, Json], name: str) -> list[Json] | None:
    """A column of JSON: a list, or the text of one. UnusableError for anything else but null."""
    value = obj.get(name)
    if isinstance(value, str):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            value = obj[name]
    if value is None or isinstance(value, list):
        return value
    reason = f"{name} is neither a list nor the JSON text of one"
    raise UnusableError(f"{name}_wrong_type", reason, f"Write {name} as a JSON list.")


@dataclass(frozen=True, slots=True)
class _RankedIds:
    """A trace's candidates by chunk id with their ranks: as the store had them, and after reranking."""

    first: Ranked
    last: Ranked

    def score(self, chunk_id: str) -> float | None:
        found = self.first.get(chunk_id) or self.last.get(chunk_id)
        return score_of(found[1]) if found else None


def _lists(trace: Trace) -> _RankedIds:
    def by_id(names: Iterable[StageName]) -> Ranked:
        found: dict[str, tuple[int, Mapping[str, Json]]] = {}
        for rank, chunk_id, entry in chain.from_iterable(listed(trace, name) for name in names):
            found.setdefault(chunk_id, (rank, entry))
        return found

    lengths_of = lengths(trace)
    first: StageName = "retrieved" if "retrieved" in lengths_of else "chunks"
    last: StageName = "reranked" if "reranked" in lengths_of else "fused"
    return _RankedIds(by_id([first]), by_id([last]))


def _record(
    trace: Trace,
    seg: int,
    part: Mapping[str, Json],
    cited: Iterable[Json],
    said: Measures,
    pinned: Mapping[str, Any],
) -> LogRecord:
    named = [(chunk_id, item) for item in cited if (chunk_id := _id(item)) is not None]
    items: list[Mapping[str, Json]] = [item if isinstance(item, dict) else {} for _, item in named]
    ids, lists = [chunk_id for chunk_id, _ in named], _lists(trace)
    around = (part, trace.raw, pinned)
    index = _store_and_hash(_agreed("index_hash", items, *around), _agreed("store", (), *around))
    delta_s = number_of(first_of(part, DELTA_S_NAMES))
    return LogRecord(
        qid=trace.q_id,
        ts=text_of(part.get("ts")) or text_of(trace.raw.get("ts")),
        seg=seg,
        delta_s=said.delta_s if delta_s is None else delta_s,
        lambda_state=lambda_of(first_of(part, LAMBDA_NAMES)) or said.lambda_state,
        k=index_of(next((record["k"] for record in around if "k" in record), None)),
        store=index[0],
        index_hash=index[1],
        embed=_agreed("embed_model", items, *around),
        analyzer=_agreed("analyzer", items, *around),
        citations=tuple(ids),
        scores=_known(_score(item, lists.score(each)) for each, item in zip(ids, items, strict=True)),
        kpos=_known(
            _rank(item, "k_pos", lists.first.get(each)) for each, item in zip(ids, items, strict=True)
        ),
        kfinal=_known(
            _rank(item, "k_final", lists.last.get(each)) for each, item in zip(ids, items, strict=True)
        ),
        section_id=_agreed("section_id", items, part),
        rev=_agreed("rev", items, part),
    )


def _cited(part: Mapping[str, Json]) -> list[Json]:
    cited = part.get("citations")
    return cited if isinstance(cited, list) else []


def _id(item: Json) -> str | None:
    return id_of(item) if isinstance(item, dict) else text_of(item)


def _seg(part: Mapping[str, Json], place: int) -> int:
    seg = index_of(part.get("seg"))
    return place if seg is None else seg


def _score(item: Mapping[str, Json], otherwise: float | None) -> float | None:
    score = number_of(first_of(item, ("score_raw", "score_norm", "score")))
    return otherwise if score is None else score


def _rank(item: Mapping[str, Json], name: str, ranked: tuple[int, Mapping[str, Json]] | None) -> int | None:
    rank = index_of(item.get(name))
    return rank if rank is not None or ranked is None else ranked[0]


def _known(values: Iterable[T | None]) -> tuple[T | None, ...] | None:
    """The list, None where none of its places is known."""
    found = tuple(values)
    return found if any(value is not None for value in found) else None


def _agreed(name: str, items: Iterable[Mapping[str, Json]], *others: Mapping[str, Json]) -> str | None:
    """What the citations say in one voice, None where they differ; where none says it, the first other."""
    said = {text for item in items if (text := text_of(item.get(name))) is not None}
    if said:
        return said.pop() if len(said) == 1 else None
    return next((text for other in others if (text := text_of(other.get(name))) is not None), None)


def _store_and_hash(index_hash: str | None, store: str | None) -> tuple[str | None, str | None]:
    """`faiss:2f7d` of a payload as the two that a log line has: `store=faiss index_hash=2f7d`."""
    if index_hash is None:
        return store, None
    if store is not None:
        return store, index_hash.removeprefix(f"{store}:")
    found = _STORE.fullmatch(index_hash)
    return (found["store"], found["hash"]) if found else (None, index_hash)
