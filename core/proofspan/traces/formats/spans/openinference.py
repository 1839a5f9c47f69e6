"""Spans with OpenInference's names, as Phoenix exports them and OpenTelemetry's SDK prints them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from proofspan.contracts.records.field_values import text_of
from proofspan.contracts.records.records import Json
from proofspan.traces.formats.payloads import seconds_of
from proofspan.traces.formats.records import read_records
from proofspan.traces.formats.spans.attributes import add_event, add_judgement, at, fill, listed, nested
from proofspan.traces.formats.spans.questions import questions
from proofspan.traces.formats.spans.traced import Span
from proofspan.traces.formats.types import Asked, Format, Reading, Sample

_OWN = frozenset(
    (
        *("id", "name", "span_kind", "kind", "parent_id", "start_time", "end_time", "context", "attributes"),
        *("events", "trace_id", "span_id", "status_code", "status_message", "status", "annotations", "eval"),
    )
)
#: Spans that lead nowhere: no parent.
_NO_PARENT = frozenset({"", "None", "null", "nan", "NaN", "0" * 16, "0x" + "0" * 16})


def detect(sample: Sample) -> str | None:
    """Return why a source holds such spans: each has the ids of its context and attributes or a kind."""
    entries = [each for record in sample.records for each in _entries(record)]
    if entries and all(isinstance(each, dict) and _is_span(each) for each in entries):
        return "every record is a span with its context and attributes"
    return None


def _entries(record: Mapping[str, Json]) -> list[Json]:
    """Return the spans on a page of Phoenix's API, or the record itself."""
    data = record.get("data")
    return data if isinstance(data, list) and "next_cursor" in record else [dict(record)]


def _is_span(row: Mapping[str, Json]) -> bool:
    if not {"name", "start_time"} <= row.keys() or any("mlflow." in name for name in _attributes(row)):
        return False
    if "context.span_id" in row and "context.trace_id" in row:
        return "span_kind" in row or any(name.startswith("attributes.") for name in row)
    context = row.get("context")
    named = isinstance(context, dict) and {"span_id", "trace_id"} <= context.keys()
    return named and isinstance(row.get("attributes"), dict)


def _attributes(row: Mapping[str, Json]) -> Mapping[str, Json]:
    attributes = row.get("attributes")
    return attributes if isinstance(attributes, dict) else {}


def read(path: Path, reading: Reading) -> Iterator[Asked]:
    """Yield a question for each trace."""
    yield from questions(_spans(path, reading), reading)


def _spans(path: Path, reading: Reading) -> Iterator[Span]:
    for place, record in read_records(path, reading):
        entries = _entries(record)
        reading.records += len(entries) - 1
        for each in entries:
            if isinstance(each, dict) and (span := _span(place, each, reading)) is not None:
                yield span
            else:
                message = "is no span: it has neither ids nor attributes"
                reading.problem("not_a_span", message, place, "Export it again; the other spans are read.")


def _span(place: str, row: dict[str, Json], reading: Reading) -> Span | None:
    tree = nested(row)
    attributes = tree.pop("attributes", None)
    attributes = attributes if isinstance(attributes, dict) else {}
    trace = text_of(at(tree, "context.trace_id") or tree.get("trace_id"))
    own = text_of(at(tree, "context.span_id") or tree.get("span_id"))
    if own is None and trace is None and not attributes:
        return None
    parent = text_of(tree.get("parent_id"))
    span = Span(
        place=place,
        trace=trace or "",
        id=own or "",
        parent=None if parent is None or parent in _NO_PARENT else parent,
        name=text_of(tree.get("name")) or "",
        start=seconds_of(row.get("start_time")),
        end=seconds_of(row.get("end_time")),
    )
    own_count, attributes = len(attributes), dict(attributes)
    for event in listed(row.get("events")):
        if isinstance(event, dict) and isinstance(held := event.get("attributes"), dict):
            add_event(span, text_of(event.get("name")) or "", held, attributes, reading)
    if len(attributes) > own_count:
        attributes = nested(attributes)
    kind = {"openinference": {"span": {"kind": tree.get("span_kind")}}} if tree.get("span_kind") else {}
    fill(span, kind | attributes, reading)
    _add_outside(span, tree)
    reading.fields(tree, _OWN)
    return span


def _add_outside(span: Span, tree: Mapping[str, Json]) -> None:
    """Add what Phoenix keeps beside the attributes: the status, annotations, and columns of evaluations."""
    for each in listed(tree.get("annotations")):
        if isinstance(each, dict):
            add_judgement(span, each)
    evaluations = tree.get("eval")
    for name, judged in evaluations.items() if isinstance(evaluations, dict) else ():
        if isinstance(judged, dict):
            add_judgement(span, {"name": name, **judged})
    code = text_of(tree.get("status_code")) or text_of(at(tree, "status.status_code"))
    if code == "ERROR":
        message = text_of(tree.get("status_message")) or text_of(at(tree, "status.description"))
        span.fields["error"] = message or code


OPENINFERENCE = Format(
    name="openinference",
    title="OpenInference spans (Arize Phoenix)",
    versions="openinference-semantic-conventions 0.1.42; rows, tables and API pages of Phoenix 3 to 12",
    suffix=".jsonl",
    example=b"""\
{"name": "write", "span_kind": "LLM", "parent_id": "a1", "start_time": "2026-11-02T08:00:00.3+00:00", \
"end_time": "2026-11-02T08:00:01.2+00:00", "status_code": "OK", \
"context": {"trace_id": "9f", "span_id": "a3"}, "attributes": {"llm": {"model_name": "small-1", \
"output_messages": [{"message.role": "assistant", "message.content": "It holds 4.5 litres."}]}}}
{"name": "query", "span_kind": "CHAIN", "parent_id": null, "start_time": "2026-11-02T08:00:00+00:00", \
"end_time": "2026-11-02T08:00:01.3+00:00", "status_code": "OK", \
"context": {"trace_id": "9f", "span_id": "a1"}, \
"attributes": {"input.value": "How much oil does the engine hold?", "output.value": "It holds 4.5 litres."}}
{"name": "search", "span_kind": "RETRIEVER", "parent_id": "a1", "start_time": "2026-11-02T08:00:00.1+00:00", \
"end_time": "2026-11-02T08:00:00.2+00:00", "status_code": "OK", \
"context": {"trace_id": "9f", "span_id": "a2"}, "attributes": {"retrieval.documents": [{"document.id": "c1", \
"document.score": 0.8, "document.content": "The engine holds 4.5 litres of oil.", \
"document.metadata": {"file_name": "manual.pdf"}}]}}
""",
    documentation="The spans of a trace are one question: the outermost chain asks and answers, retrievers "
    "and rerankers give the stages. Attributes may be objects or names with dots, documents lists or "
    "numbered. Of the messages that a model was given, the last question is read. Annotations and columns of "
    "evaluations are kept as scores. Spans that name neither a parent nor a trace that they share are joined "
    "by their times.",
    detect=detect,
    read=read,
)
