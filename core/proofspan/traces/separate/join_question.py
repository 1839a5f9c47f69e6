"""Join the separate records of one question into a native trace line.

The data contracts have a pipeline write a query, its retrieval result, the reranked one, the prompt frame and
the answer as records of their own; the traceability contract has it write log lines or rows of a table. The
records of one question become one line that reads like any other trace:

- the question is the query's `text`, else that of the answer or prompt, else the gold set's;
- `stages` are the lists of retrieved and reranked items; a hybrid list beside another one is `fused`;
- `chunks`, which the answerer saw, are the prompt's citations; without those, the reranked items that were
  `selected`, or else the first `k_out` of them; without reranking, the retrieved items;
- `citations` are the answer's own payload, else its `cited_chunks`, each with the log's values for it, else
  those of the log; several segments of a log become `segments`;
- ΔS, λ and latency are the answer's, else the log's.

`citations_from` names the source of citations that are no payload. The records' other keys are kept under
their types' names, and `joined_from` names their lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
from proofspan.contracts.records.records import GoldQuestion, Json
from proofspan.contracts.rules.envelope import ENVELOPE
from proofspan.traces.separate.log_lines import LogRecord, payload_entries

Record = Mapping[str, Json]
#: The identity of a question within its run: q_id, paraphrase, seed.
Identity = tuple[str, int, int]

#: The names of a query's question, of an answer's text and of the ids that it cites.
QUESTION_NAMES: Final = ("text", "q", "question")
ANSWER_NAMES: Final = ("answer_text", "answer")
CITED_NAMES: Final = ("citations", "cited_chunks")

_IDENTITY = frozenset({"$schema", "run_id", "q_id", "qid", "paraphrase", "seed"})
_OF_ANSWER = frozenset({"q", "question", *LAMBDA_NAMES, "ΔS", "deltaS", "latency_ms", "cited_chunks"})
#: The keys that an entry of a later list takes from the retrieved one of the same id.
_PLACE = ("doc_id", "section_id", "page_idx", "page", "text")
#: The keys of each record type that are part of the trace itself.
_MOVED: Final[Mapping[str, tuple[str, ...]]] = {
    "query": QUESTION_NAMES,
    "retrieved": ("items",),
    "fused": ("items",),
    "rerank": ("items",),
    "prompt": ("citations", "question"),
}


def joined_trace(
    identity: Identity,
    records: Mapping[str, Record],
    logs: Sequence[LogRecord],
    origins: Mapping[str, Json],
    *,
    run_id: str,
    gold: GoldQuestion | None = None,
) -> dict[str, Json]:
    """Return the trace line of one question, whose records by type, and logs by segment, have been checked.

    `origins` are their source lines: `{"answer": "runs/R1/answer.jsonl:7"}`. The keys of the answer's record
    keep their order, so that citations come before or after the text as they do there; those of a log come
    before it, since a log has no such order.
    """
    (q_id, paraphrase, seed), answer = identity, records.get("answer", {})
    places = [("query", QUESTION_NAMES), ("answer", QUESTION_NAMES[1:]), ("prompt", ("question",))]
    texts = (first_of(records.get(record_type, {}), names) for record_type, names in places)
    question = next((text for text in texts if isinstance(text, str) and text.strip()), None)
    origins = dict(origins)
    if question is None and gold is not None and paraphrase <= len(gold.paraphrases):
        question, origins["gold"] = (gold.q, *gold.paraphrases)[paraphrase], q_id
    head = records.get("answer", records.get("query", {}))
    line = {name: head[name] for name in ENVELOPE if name in head}
    if (ts := next((log.ts for log in logs if log.ts is not None), None)) is not None:
        line.setdefault("ts", ts)
    line |= {"run_id": run_id, "q_id": q_id, "q": question or "", "paraphrase": paraphrase, "seed": seed}
    retrieved, fused, rerank = (
        list(records[name]["items"]) if name in records else [] for name in ("retrieved", "fused", "rerank")
    )
    by_id = _by_id(retrieved)
    reranked = [_placed(item, by_id) for item in by_post_score(rerank)]
    lists: dict[str, Json] = {}
    if (chunks := _seen(records, retrieved, fused, reranked)) is not None:
        lists["chunks"] = chunks
    named = {"retrieved": retrieved, "fused": fused, "reranked": reranked}
    if stages := {name: items for name, items in named.items() if items}:
        lists["stages"] = stages
    line |= lists | _answered(answer, logs) | lists  # the records of retrieval decide
    line |= _measured(answer, logs)
    has_own_ks = _k_differs(logs) and "segments" in line and line.get("citations_from") == "log"
    for log in logs:  # the index and model of the answer: the first that is stated
        k = None if has_own_ks else log.k
        stated = {"k": k, "store": log.store, "index_hash": log.index_hash}
        stated = _stated(stated | {"embed_model": log.embed, "analyzer": log.analyzer})
        line |= {name: value for name, value in stated.items() if name not in line}
    for name, moved in _MOVED.items():
        left_out = _IDENTITY.union(moved)
        if rest := {key: each for key, each in records.get(name, {}).items() if key not in left_out}:
            line[name] = rest
    if rest := {name: value for log in reversed(logs) for name, value in log.others}:
        line["log"] = rest
    line["joined_from"] = origins
    return line


def by_post_score(items: Sequence[Record]) -> list[Record]:
    """Return reranked items, best first, ties by section and chunk id; unchanged if some have no score.

    Of several scores after reranking, the first that all items have counts.
    """
    named = [numbers_of(item.get("post_score")) for item in items]
    shared = next((name for name in (named[0] if named else ()) if all(name in each for each in named)), None)
    scores = [
        number_of(item.get("post_score")) if shared is None else each[shared]
        for item, each in zip(items, named, strict=True)
    ]
    known = [score for score in scores if score is not None]
    if len(known) < len(items):
        return list(items)
    ranked = sorted(
        zip(known, items, strict=True),
        key=lambda pair: (-pair[0], text_of(pair[1].get("section_id")) or "", id_of(pair[1]) or ""),
    )
    return [item for _, item in ranked]


def _seen(
    records: Mapping[str, Record], retrieved: list[Record], fused: list[Record], reranked: list[Record]
) -> list[Record] | None:
    """Return the chunks that the answerer saw; None if nothing states them."""
    if (shown := records.get("prompt", {}).get("citations")) is not None:
        by_id = {**_by_id(retrieved), **_by_id(reranked)}
        return [_placed(item if isinstance(item, dict) else {"id": item}, by_id) for item in shown]
    if "rerank" in records:
        if any(item.get("selected") is not None for item in reranked):
            return [item for item in reranked if item.get("selected") is True]
        k_out = index_of(records["rerank"].get("k_out"))
        return reranked if k_out is None or k_out < 0 else reranked[:k_out]
    if "retrieved" in records or "fused" in records:
        return fused or retrieved
    own = records.get("answer", {}).get("chunks")
    return own if isinstance(own, list) else None


def _by_id(items: Iterable[Record]) -> dict[str, Record]:
    """Return the items by chunk id, the first of several."""
    by_id: dict[str, Record] = {}
    for item in items:
        if chunk_id := id_of(item):
            by_id.setdefault(chunk_id, item)
    return by_id


def _placed(item: Record, by_id: Mapping[str, Record]) -> Record:
    """Return the item with the place and text of the same chunk in an earlier list."""
    other = by_id.get(id_of(item) or "")
    if other is None:
        return item
    missing = [name for name in _PLACE if item.get(name) is None and other.get(name) is not None]
    return {**item, **{name: other[name] for name in missing}}


def _answered(answer: Record, logs: Sequence[LogRecord]) -> dict[str, Json]:
    """Return the answer's text, citations and other keys, in the order of its record.

    `citations_from` marks citations that are no payload: the contract requires less of ids and log entries.
    """
    payloads = [payload_entries(log) for log in logs]
    logged = {id_of(entry): entry for payload in payloads for entry in payload}
    own = next((value for name in CITED_NAMES if isinstance(value := answer.get(name), list)), None)
    answered: dict[str, Json] = {}
    if own is not None:
        own = [logged.get(item, item) if isinstance(item, str) else item for item in own]
        if not isinstance(answer.get("citations"), list):
            answered["citations_from"] = "cited_chunks"
    elif isinstance(answer.get("segments"), list):
        pass  # the answer's own
    elif len(logs) > 1:
        has_own_ks = _k_differs(logs)
        answered["citations_from"] = "log"
        answered["segments"] = [
            _stated(
                {"seg": log.seg, "ts": log.ts, "section_id": log.section_id, "ΔS": log.delta_s}
                | {"λ": log.lambda_state, "rev": log.rev, "k": log.k if has_own_ks else None}
                | {"citations": payload}
            )
            for log, payload in zip(logs, payloads, strict=True)
        ]
    elif any(log.citations is not None for log in logs):
        answered["citations_from"] = "log"
        answered["citations"] = payloads[0]
    for name, value in answer.items():
        if name in ANSWER_NAMES:
            answered.setdefault("answer", value)
        elif name in CITED_NAMES and own is not None:
            answered.setdefault("citations", own)
        elif name not in _IDENTITY and name not in ENVELOPE and name not in _OF_ANSWER:
            answered.setdefault(name, value)
    return answered


def _k_differs(logs: Sequence[LogRecord]) -> bool:
    return len({log.k for log in logs}) > 1


def _measured(answer: Record, logs: Sequence[LogRecord]) -> dict[str, Json]:
    """Return ΔS, λ and latency: the answer's own, else the first of the logs."""
    nested = answer.get("metrics")
    places = [answer, nested if isinstance(nested, dict) else {}]

    def stated(names: Iterable[str]) -> Json:
        return next((value for place in places if (value := first_of(place, names)) is not None), None)

    delta_s, state = number_of(stated(DELTA_S_NAMES)), lambda_of(stated(LAMBDA_NAMES))
    if delta_s is None:
        delta_s = next((log.delta_s for log in logs if log.delta_s is not None), None)
    if state is None:
        state = next((log.lambda_state for log in logs if log.lambda_state is not None), None)
    return _stated({"ΔS": delta_s, "λ": state, "latency_ms": number_of(stated(("latency_ms",)))})


def _stated(values: Record) -> dict[str, Json]:
    return {name: value for name, value in values.items() if value is not None}
