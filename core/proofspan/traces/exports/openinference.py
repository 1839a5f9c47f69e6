"""OpenInference: a line is a span as Phoenix exports it; a question is a chain over its retrievers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import BinaryIO

import orjson

from proofspan.contracts.records.field_values import number_of
from proofspan.contracts.records.records import Json, StageName
from proofspan.journal.annotations import VERDICT_FIELDS
from proofspan.traces.exports.passages import metadata_of
from proofspan.traces.exports.types import ExportFormat, context_of, each_score
from proofspan.traces.formats.spans.attributes import COPIED
from proofspan.traces.formats.types import Asked, Passage

#: Fields that are parts of a span of their own.
_OF_SPAN = frozenset({"trace_id", "ts", "latency_ms"})
_STAGES: tuple[StageName, ...] = ("retrieved", "fused", "reranked")


def _write(asked: Iterable[Asked], _corpus: Iterable[Passage], sinks: Sequence[BinaryIO]) -> None:
    written: set[str] = set()
    for number, each in enumerate(asked):
        trace = each.fields.get("trace_id")
        if not isinstance(trace, str) or not trace or trace in written:
            trace = _made_id(32, str(number), each.run, each.q)
        written.add(trace)
        for span in _spans(each, trace):
            sinks[0].write(orjson.dumps(span, option=orjson.OPT_APPEND_NEWLINE))


def _spans(asked: Asked, trace: str) -> Iterator[dict[str, Json]]:
    """Yield the chain, then what it searched with, the outer before the inner."""
    start, end = _times(asked)

    def span(name: str, kind: str, parent: str | None, attributes: dict[str, Json], **more: Json) -> Json:
        return {
            "name": name,
            "span_kind": kind,
            "parent_id": parent,
            "start_time": start,
            "end_time": start if parent else end,
            "status_code": "OK",
            "status_message": "",
            "events": [],
            "context": {"trace_id": trace, "span_id": _made_id(16, trace, name)},
            "attributes": {"openinference.span.kind": kind, **attributes},
            **more,
        }

    root = span(
        "query", "CHAIN", None, _attributes(asked), annotations=[*_annotations(asked), *_review(asked)]
    )
    yield root
    parent, query = root["context"]["span_id"], {"input.value": asked.q, "input.mime_type": "text/plain"}
    name, documents = context_of(asked)
    earlier, _ = _pipeline(asked)
    if "reranked" in asked.lists:
        held = {"reranker.query": asked.q, "reranker.output_documents": _documents(documents)}
        yield span("rerank", "RERANKER", parent, held)
    elif name is not None:
        found = span("search", "RETRIEVER", parent, {**query, "retrieval.documents": _documents(documents)})
        yield found
        parent = found["context"]["span_id"]
    for stage in reversed(earlier):
        held = {**query, "retrieval.documents": _documents(asked.lists[stage])}
        found = span(f"search {stage}", "RETRIEVER", parent, held)
        yield found
        parent = found["context"]["span_id"]


def _pipeline(asked: Asked) -> tuple[list[StageName], StageName | None]:
    """Return the lists that have a span of their own, and the one whose span holds what the model saw."""
    listed = [stage for stage in _STAGES if asked.lists.get(stage)]
    if not listed:
        return [], None
    *earlier, last = listed
    if last == "retrieved" and "chunks" in asked.lists and asked.lists[last] != asked.lists["chunks"]:
        return listed, None
    return earlier, last


def _stages(asked: Asked) -> frozenset[str]:
    """Return the lists that are written whole beside what the model saw."""
    earlier, last = _pipeline(asked)
    whole = last is not None and asked.lists[last] == context_of(asked)[1]
    return frozenset({*earlier, *([last] if last and whole else [])})


def _attributes(asked: Asked) -> dict[str, Json]:
    attributes = {
        "input.value": asked.q,
        "input.mime_type": "text/plain",
        "output.value": asked.answer,
        "output.mime_type": None if asked.answer is None else "text/plain",
    }
    others: dict[str, Json] = {} if asked.q_id is None else {"q_id": asked.q_id}
    for name, value in asked.fields.items():
        if name in COPIED and name != "metadata":
            attributes[COPIED[name][0]] = value
        elif name not in _OF_SPAN and name != "metadata":
            others[name] = value
    metadata = asked.fields.get("metadata")
    if others:
        metadata = (
            metadata if isinstance(metadata, dict) else {"metadata": metadata} if metadata else {}
        ) | others
    attributes["metadata"] = orjson.dumps(metadata).decode() if isinstance(metadata, dict) else metadata
    return {name: value for name, value in attributes.items() if value is not None}


def _annotations(asked: Asked) -> Iterator[dict[str, Json]]:
    for name, value in each_score(asked.scores):
        if not isinstance(value, dict):
            value = {"label" if number_of(value) is None else "score": value}
        parts = {"annotator_kind" if part == "by" else part: each for part, each in value.items()}
        yield {"name": name, **parts}


def _review(asked: Asked) -> Iterator[dict[str, Json]]:
    """Yield each person's verdict and the values that it gives, then the notes."""
    for each in asked.review.get("verdicts", ()):
        verdict = {"label": "agrees" if each["agrees"] else "disagrees", "score": float(each["agrees"])}
        yield _by_person("review", each, verdict)
        for name in VERDICT_FIELDS:
            if name in each:
                yield _by_person(f"review.{name}", {**each, "note": None}, {"label": each[name]})
    for each in asked.review.get("notes", ()):
        yield _by_person("note", each, {})


def _by_person(name: str, each: Mapping[str, Json], verdict: dict[str, Json]) -> dict[str, Json]:
    about = {part: each[part] for part in ("at", "tags", "of_another_answer") if part in each}
    kind = {"annotator_kind": "HUMAN", "identifier": each["author"], "metadata": about}
    return {"name": name, **verdict, **({"explanation": each["note"]} if each.get("note") else {}), **kind}


def _documents(passages: Iterable[Passage]) -> list[dict[str, Json]]:
    return [_document(each) for each in passages]


def _document(passage: Passage) -> dict[str, Json]:
    mime_type = passage.more.get("mime_type")
    more = {name: value for name, value in passage.more.items() if name != "mime_type"}
    document = {
        "document.id": passage.id,
        "document.content": passage.text,
        "document.score": passage.score,
        "document.mime_type": mime_type,
        "document.metadata": metadata_of(replace(passage, more=more)) or None,
    }
    return {name: value for name, value in document.items() if value is not None}


def _times(asked: Asked) -> tuple[str | None, str | None]:
    """Return start and end of the chain as ISO 8601 texts, None where they are not known."""
    ts, latency = asked.fields.get("ts"), number_of(asked.fields.get("latency_ms"))
    start = None
    if isinstance(ts, str):
        with suppress(ValueError, OverflowError):
            start = datetime.fromisoformat(ts)
            start = start if start.tzinfo else start.replace(tzinfo=UTC)
    if start is None:
        return None, None
    end = None
    if latency is not None:
        with suppress(OverflowError):
            end = start + timedelta(milliseconds=latency)
    return start.isoformat(), None if end is None else end.isoformat()


def _made_id(digits: int, *parts: str) -> str:
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()
    return digest[:digits]


OPENINFERENCE = ExportFormat(
    name="openinference",
    title="OpenInference",
    suffix=".jsonl",
    holds=frozenset(
        {"q_id", "answer", "field", "review", "score.number", "score.text", "score.parts"}
        | {f"chunks.{part}" for part in ("text", "id", "document", "page", "place", "score", "more")}
    ),
    stages=_stages,
    documentation="A question is a chain with its retrievers and reranker; the last of them holds what the "
    "model saw. Scores are annotations, people's verdicts those of the kind HUMAN; the question's id and "
    "other fields are in `metadata`.",
    write=_write,
)
