"""A trace as log records, one a segment, and `rag_traces` rows: the same records under a table's names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, TypeVar

import orjson

from proofspan.contracts.records import Json, StageName, Trace
from proofspan.traces.canonical import Measures, lengths, listed, measures, score_of
from proofspan.traces.citations import citation_ids_in_text, payload_of
from proofspan.traces.fields import (
    DELTA_S_NAMES,
    LAMBDA_NAMES,
    first_of,
    id_of,
    index_of,
    lambda_of,
    number_of,
    text_of,
)
from proofspan.traces.logline import LogRecord
from proofspan.traces.reader import UnusableError

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
class _Lists:
    """A trace's candidates by chunk id with their ranks: as the store had them, and after reranking."""

    first: Ranked
    last: Ranked

    def score(self, chunk_id: str) -> float | None:
        found = self.first.get(chunk_id) or self.last.get(chunk_id)
        return score_of(found[1]) if found else None


def _lists(trace: Trace) -> _Lists:
    def by_id(names: Iterable[StageName]) -> Ranked:
        found: dict[str, tuple[int, Mapping[str, Json]]] = {}
        for rank, chunk_id, entry in chain.from_iterable(listed(trace, name) for name in names):
            found.setdefault(chunk_id, (rank, entry))
        return found

    lengths_of = lengths(trace)
    first: StageName = "retrieved" if "retrieved" in lengths_of else "chunks"
    last: StageName = "reranked" if "reranked" in lengths_of else "fused"
    return _Lists(by_id([first]), by_id([last]))


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
