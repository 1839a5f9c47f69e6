"""The separate records of one question → one native trace line.

The data contracts have a pipeline write a query, its retrieval result, the reranked one, the prompt frame and
the answer as records of their own; the traceability contract has it write log lines or rows of a table. What
belongs to one question becomes one line that reads like any other trace:

- the question is the query's `text`, else what answer or prompt say, else the gold set's;
- `stages` are the lists of retrieved and reranked items; a hybrid list beside another one is `fused`;
- `chunks`, what the answerer saw, are the prompt's citations; where no prompt names any, the reranked items
  that were `selected`, where none says so the first `k_out` of them; without reranking those retrieved;
- `citations` are the answer's own payload, else its `cited_chunks`, each with what the log says of it, else
  those of the log; several segments of a log become `segments`;
- ΔS, λ and latency are the answer's, else the log's.

`citations_from` says where citations come from that are no payload. What else the records say is kept under
their types' names, and `joined_from` names their lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from proofspan.contracts.records.field_values import (
    DELTA_S_NAMES,
    LAMBDA_NAMES,
    first_of,
    id_of,
    index_of,
    lambda_of,
    number_of,
    numbers_of,
    text_of,
)
from proofspan.contracts.records.records import Json
from proofspan.traces.separate.log_lines import LogRecord, payload_entries

Record = Mapping[str, Json]

#: The names of what a query asks, of an answer's text and of the ids that it cites.
QUESTION_NAMES: Final = ("text", "q", "question")
ANSWER_NAMES: Final = ("answer_text", "answer")
CITED_NAMES: Final = ("citations", "cited_chunks")

_ENVELOPE = ("schema_version", "event", "ts", "trace_id", "agent_id", "mem_rev", "mem_hash")
_JOINED_BY = frozenset({"$schema", "run_id", "q_id", "qid", "paraphrase", "seed"})
_OF_ANSWER = frozenset({"q", "question", *LAMBDA_NAMES, "ΔS", "deltaS", "latency_ms", "cited_chunks"})
#: Keys that the records of retrieval decide on where there are any.
_LISTS = ("chunks", "stages")
#: What an entry of a later list takes from the retrieved one of the same id where it does not say it itself.
_PLACE = ("doc_id", "section_id", "page_idx", "page", "text")


@dataclass(frozen=True, slots=True)
class Parts:
    """The records of one question. `gold` is the gold set's question; `logs` are in the order of segments.

    `origins` says where each part comes from: `{"answer": "runs/R1/answer.jsonl:7"}`.
    """

    q_id: str
    paraphrase: int = 0
    seed: int = 0
    query: Record | None = None
    retrieved: Record | None = None
    fused: Record | None = None
    rerank: Record | None = None
    prompt: Record | None = None
    answer: Record | None = None
    logs: Sequence[LogRecord] = ()
    gold: str | None = None
    origins: Mapping[str, Json] = field(default_factory=dict)


def joined_trace(parts: Parts, *, run_id: str) -> dict[str, Json]:
    """The trace line of one question; its parts have been checked (`proofspan.traces.separate.record_files`).

    The keys of the answer's record keep their order, so that citations stand before its text or behind it as
    they did there; those that only a log names stand before it, for a log tells nothing of that.
    """
    answer = parts.answer or {}
    line: dict[str, Json] = _envelope(parts)
    line |= {"run_id": run_id, "q_id": parts.q_id, "q": question_of(parts) or ""}
    line |= {"paraphrase": parts.paraphrase, "seed": parts.seed}
    retrieved = _items(parts.retrieved)
    known = _by_id(retrieved)
    reranked = [_placed(item, known) for item in by_post_score(_items(parts.rerank))]
    chunks = _seen(parts, retrieved, reranked)
    if chunks is not None:
        line["chunks"] = chunks
    lists = {"retrieved": retrieved, "fused": _items(parts.fused), "reranked": reranked}
    if stages := {name: items for name, items in lists.items() if items}:
        line["stages"] = stages
    line = {**line, **_answered(answer, parts.logs), **{name: line[name] for name in _LISTS if name in line}}
    line |= _measured(answer, parts.logs)
    line |= {name: value for name, value in _logged(parts.logs).items() if name not in line}
    line |= {name: kept for name, kept in _kept(parts) if kept}
    line["joined_from"] = dict(parts.origins)
    return line


def question_of(parts: Parts) -> str | None:
    """What was asked; None where neither a record nor the gold set says."""
    asked = [(parts.query, QUESTION_NAMES), (parts.answer, QUESTION_NAMES[1:]), (parts.prompt, ("question",))]
    for record, names in asked:
        if record is not None and isinstance(text := first_of(record, names), str) and text.strip():
            return text
    return parts.gold


def by_post_score(items: Sequence[Record]) -> list[Record]:
    """Reranked items, best first, ties by section and chunk id; as they stand where not all have a score.

    Of several scores after reranking the first that all items name counts.
    """
    scores = [numbers_of(item.get("post_score")) for item in items]
    shared = [name for name in (scores[0] if scores else ()) if all(name in each for each in scores)]
    if not shared:
        single = [number_of(item.get("post_score")) for item in items]
        if not items or any(score is None for score in single):
            return list(items)
        ranked = [(-(score or 0.0), item) for score, item in zip(single, items, strict=True)]
    else:
        ranked = [(-each[shared[0]], item) for each, item in zip(scores, items, strict=True)]
    return [item for _, item in sorted(ranked, key=lambda pair: (pair[0], *_tie(pair[1])))]


def _tie(item: Record) -> tuple[str, str]:
    return text_of(item.get("section_id")) or "", id_of(item) or ""


def _seen(parts: Parts, retrieved: Sequence[Record], reranked: Sequence[Record]) -> list[Record] | None:
    """What the answerer saw; None where nothing tells."""
    if parts.prompt is not None and (shown := parts.prompt.get("citations")) is not None:
        known = {**_by_id(retrieved), **_by_id(reranked)}
        return [_placed(item if isinstance(item, dict) else {"id": item}, known) for item in shown]
    if parts.rerank is not None:
        if any(item.get("selected") is not None for item in reranked):
            return [item for item in reranked if item.get("selected") is True]
        k_out = index_of(parts.rerank.get("k_out"))
        return list(reranked if k_out is None or k_out < 0 else reranked[:k_out])
    if parts.retrieved is not None or parts.fused is not None:
        return list(_items(parts.fused) or retrieved)
    own = (parts.answer or {}).get("chunks")
    return own if isinstance(own, list) else None


def _by_id(items: Iterable[Record]) -> dict[str, Record]:
    """The items by chunk id; of several with one id the first counts."""
    found: dict[str, Record] = {}
    for item in items:
        if chunk_id := id_of(item):
            found.setdefault(chunk_id, item)
    return found


def _placed(item: Record, known: Mapping[str, Record]) -> Record:
    """The item with its place and text as the same chunk has them in a list before."""
    other = known.get(id_of(item) or "")
    if other is None:
        return item
    missing = [name for name in _PLACE if item.get(name) is None and other.get(name) is not None]
    return {**item, **{name: other[name] for name in missing}}


def _items(record: Record | None) -> list[Record]:
    return list(record["items"]) if record is not None else []


def _envelope(parts: Parts) -> dict[str, Json]:
    """The answer's envelope, without an answer the query's; a log knows its time."""
    record = parts.answer if parts.answer is not None else parts.query or {}
    found = {name: record[name] for name in _ENVELOPE if name in record}
    ts = next((log.ts for log in parts.logs if log.ts is not None), None)
    return found if "ts" in found or ts is None else {**found, "ts": ts}


def _answered(answer: Record, logs: Sequence[LogRecord]) -> dict[str, Json]:
    """The answer's text and citations, and whatever else its record says, in the order of its record.

    `citations_from` says of citations that they are no payload of the answer's: the contract asks less of
    ids and of what a log has of them.
    """
    payloads = [payload_entries(log) for log in logs]
    entries = [entry for payload in payloads for entry in payload]
    cited = _cited(answer, entries)
    found: dict[str, Json] = {}
    if cited is None and isinstance(answer.get("segments"), list):
        pass  # the answer's own
    elif cited is None and len(logs) > 1:
        found["citations_from"] = "log"
        found["segments"] = [_segment(log, payload) for log, payload in zip(logs, payloads, strict=True)]
    elif cited is None and any(log.citations is not None for log in logs):
        found["citations_from"] = "log"
        found["citations"] = entries
    elif cited is not None and not isinstance(answer.get("citations"), list):
        found["citations_from"] = "cited_chunks"
    for name, value in answer.items():
        if name in ANSWER_NAMES:
            found.setdefault("answer", value)
        elif name in CITED_NAMES and cited is not None:
            found.setdefault("citations", cited)
        elif name not in _JOINED_BY and name not in _ENVELOPE and name not in _OF_ANSWER:
            found.setdefault(name, value)
    return found


def _cited(answer: Record, entries: Sequence[Record]) -> list[Json] | None:
    """What the answer's record says that it cites; None where it says nothing.

    An id alone is given what a log says of the same chunk.
    """
    named = next((value for name in CITED_NAMES if isinstance(value := answer.get(name), list)), None)
    if named is None:
        return None
    logged = {id_of(entry): entry for entry in entries}
    return [logged.get(item, item) if isinstance(item, str) else item for item in named]


def _segment(log: LogRecord, payload: Sequence[Record]) -> dict[str, Json]:
    said = {"seg": log.seg, "ts": log.ts, "section_id": log.section_id, "ΔS": log.delta_s}
    said |= {"λ": log.lambda_state, "rev": log.rev}
    return {**{name: value for name, value in said.items() if value is not None}, "citations": payload}


def _measured(answer: Record, logs: Sequence[LogRecord]) -> dict[str, Json]:
    """ΔS, λ and latency: the answer's own, else the first that a log names."""
    nested = answer.get("metrics")
    places = [answer, nested if isinstance(nested, dict) else {}]
    delta_s = number_of(_of(places, DELTA_S_NAMES))
    state = lambda_of(_of(places, LAMBDA_NAMES))
    if delta_s is None:
        delta_s = next((log.delta_s for log in logs if log.delta_s is not None), None)
    if state is None:
        state = next((log.lambda_state for log in logs if log.lambda_state is not None), None)
    said = {"ΔS": delta_s, "λ": state, "latency_ms": number_of(_of(places, ("latency_ms",)))}
    return {name: value for name, value in said.items() if value is not None}


def _of(places: Iterable[Record], names: Iterable[str]) -> Json:
    return next((value for place in places if (value := first_of(place, names)) is not None), None)


def _kept(parts: Parts) -> Iterator[tuple[str, dict[str, Json]]]:
    """What of the records has no place in a trace, under their types' names."""
    moved = {
        "query": (parts.query, QUESTION_NAMES),
        "retrieved": (parts.retrieved, ("items",)),
        "fused": (parts.fused, ("items",)),
        "rerank": (parts.rerank, ("items",)),
        "prompt": (parts.prompt, ("citations", "question")),
    }
    for name, (record, without) in moved.items():
        left_out = _JOINED_BY.union(without)
        yield name, {key: value for key, value in (record or {}).items() if key not in left_out}
    others = {name: value for log in reversed(parts.logs) for name, value in log.others}
    yield "log", others


def _logged(logs: Sequence[LogRecord]) -> dict[str, Json]:
    """What the question was answered with, as the first of its log lines says that says it."""
    found: dict[str, Json] = {}
    for log in logs:
        said = {"k": log.k, "store": log.store, "index_hash": log.index_hash}
        said |= {"embed_model": log.embed, "analyzer": log.analyzer}
        found |= {name: value for name, value in said.items() if value is not None and name not in found}
    return found
