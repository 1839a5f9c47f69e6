"""MLflow traces as JSON, JSON Lines, or the table of `search_traces`, with their assessments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from proofspan.contracts.records.field_values import text_of
from proofspan.contracts.records.records import Json
from proofspan.traces.formats.payloads import (
    add_score,
    answer_in,
    passages_in,
    question_in,
    score_of,
    seconds_of,
    unquoted,
)
from proofspan.traces.formats.records import read_records
from proofspan.traces.formats.spans.questions import questions
from proofspan.traces.formats.spans.steps import fill
from proofspan.traces.formats.spans.traced import Span, SpanKind
from proofspan.traces.formats.types import Asked, Format, Reading, Sample

_KINDS: Mapping[str, SpanKind] = {
    **dict.fromkeys(("LLM", "CHAT_MODEL"), "llm"),
    "RETRIEVER": "retriever",
    "RERANKER": "reranker",
    "EMBEDDING": "embedding",
    "TOOL": "tool",
    "EVALUATOR": "evaluator",
}
_COPIED = ("client_request_id", "state", "status", "tags", "trace_metadata", "request_metadata")
#: What MLflow says of itself in tags and metadata, which is not the user's.
_OWN = "mlflow."
_KEPT = {"mlflow.traceName": "trace_name", "mlflow.trace.session": "session", "mlflow.trace.user": "user"}
_INFO = frozenset(
    {"trace_id", "request_id", "assessments", "request_preview", "response_preview", "request_time", *_COPIED}
)
_ROW = frozenset({"trace", "request", "response", "spans", *_INFO})
_SPAN = frozenset(
    {
        *("trace_id", "span_id", "parent_span_id", "name", "start_time_unix_nano", "end_time_unix_nano"),
        *("attributes", "context", "parent_id", "start_time", "end_time", "status"),
    }
)
_ATTRIBUTES = frozenset(
    {"mlflow.spanInputs", "mlflow.spanOutputs", "mlflow.spanType", "mlflow.traceRequestId"}
)
_ASSESSMENT = frozenset(
    {
        *("assessment_name", "name", "source", "rationale", "feedback", "expectation", "valid", "span_id"),
        *("assessment_id", "trace_id"),
    }
)
#: Expectations that say what a good answer is, and what it is based on.
_EXPECTED = ("expected_response", "expected_answer", "ground_truth", "expected_output")
_GOLD = "expected_retrieved_context"


def detect(sample: Sample) -> str | None:
    """Return why a source is MLflow's: every record has MLflow's spans, or the information of a trace."""
    entries = [each for record in sample.records for each in (_entries(record) or [{}])]
    if entries and all(_parts(each) is not None for each in entries):
        return "every record is a trace with the spans or the information that MLflow writes"
    return None


def _entries(record: Mapping[str, Json]) -> list[Json]:
    traces = record.get("traces")
    return traces if isinstance(traces, list) and "info" not in record else [record]


def _parts(record: Json) -> tuple[dict[str, Json], list[Json]] | None:
    """Return the information and the spans of a trace; None for anything else."""
    if not isinstance(record, dict):
        return None
    row = {name: unquoted(value) for name, value in record.items() if name in _ROW | {"info", "data"}}
    if isinstance(trace := row.get("trace"), dict) and "info" in trace:  # a row of search_traces
        row = {name: unquoted(value) for name, value in trace.items()}
    info, data = row.get("info"), row.get("data")
    if isinstance(info, dict) and not info.keys().isdisjoint(("trace_id", "request_id")):
        spans = data.get("spans") if isinstance(data, dict) else None
        return ({**row, **info}, spans if isinstance(spans, list) else []) if isinstance(data, dict) else None
    spans = unquoted(record.get("spans"))
    if isinstance(spans, list) and any(_is_own(span) for span in spans):
        return row, spans
    return None


def _is_own(span: Json) -> bool:
    attributes = unquoted(span.get("attributes")) if isinstance(span, dict) else None
    return isinstance(attributes, dict) and any(name.startswith(_OWN) for name in attributes)


def read(path: Path, reading: Reading) -> Iterator[Asked]:
    """Yield a question for each trace."""
    yield from questions(_spans(path, reading), reading)


def _spans(path: Path, reading: Reading) -> Iterator[Span]:
    for place, record in read_records(path, reading):
        for each in _entries(record):
            parts = _parts(each)
            if parts is None:
                message = "is no trace of MLflow"
                reading.problem("not_mlflow", message, place, "Export it again; the other traces are read.")
            else:
                yield from _trace(place, *parts, reading)


def _trace(place: str, info: dict[str, Json], spans: list[Json], reading: Reading) -> Iterator[Span]:
    trace_id = text_of(info.get("trace_id")) or text_of(info.get("request_id")) or place
    reading.fields(info, _INFO | _ROW | {"info", "data"}, "info.")
    found: list[Span] = []
    for each in spans:
        reading.records += 1
        if isinstance(each, dict):
            found.append(_span(place, each, trace_id, reading))
        else:
            message = f"a span of trace {trace_id} is no JSON object"
            reading.problem("not_an_object", message, place, "Export it again; the others are read.")
    root = next((span for span in found if span.parent is None), None)
    if root is None:  # only the information of a trace: its request and response, which may be cut
        root = Span(place=place, trace=trace_id, id=f"trace {trace_id}")
        found.insert(0, root)
    root.question = root.question or question_in(info.get("request") or info.get("request_preview"))
    if root.answer is None:
        root.answer = answer_in(info.get("response") or info.get("response_preview"))
    root.fields |= _fields(info, reading)
    assessments = unquoted(info.get("assessments"))
    for each in assessments if isinstance(assessments, list) else []:
        _assess(root, each, reading)
    yield from found


def _fields(info: Mapping[str, Json], reading: Reading) -> dict[str, Json]:
    """Return what is copied of a trace, without what MLflow says of itself, which counts as left."""
    fields: dict[str, Json] = {}
    for name in _COPIED:
        value = unquoted(info.get(name))
        if isinstance(value, dict):
            reading.fields(
                value, [key for key in value if key in _KEPT or not key.startswith(_OWN)], f"info.{name}."
            )
            fields |= {_KEPT[key]: each for key, each in value.items() if key in _KEPT}
            value = {key: each for key, each in value.items() if not key.startswith(_OWN)}
        if value not in (None, "", [], {}):
            fields[name] = value
    return fields


def _span(place: str, span: dict[str, Json], trace_id: str, reading: Reading) -> Span:
    """Return a span of the schema since 3.0, or of the one before, whose ids are in `context`."""
    reading.fields(span, _SPAN, "span.")
    attributes = unquoted(span.get("attributes"))
    attributes = attributes if isinstance(attributes, dict) else {}
    reading.fields(attributes, _ATTRIBUTES, "span.attributes.")
    context = span.get("context")
    context = context if isinstance(context, dict) else {}
    found = Span(
        place=place,
        trace=trace_id,
        id=text_of(span.get("span_id")) or text_of(context.get("span_id")) or "",
        parent=text_of(span.get("parent_span_id")) or text_of(span.get("parent_id")),
        kind=_KINDS.get(str(unquoted(attributes.get("mlflow.spanType"))), "chain"),
        name=text_of(span.get("name")) or "",
        start=seconds_of(span.get("start_time_unix_nano") or span.get("start_time")),
        end=seconds_of(span.get("end_time_unix_nano") or span.get("end_time")),
    )
    status = span.get("status")
    if isinstance(status, dict) and "ERROR" in str(status.get("code")):
        found.fields["error"] = text_of(status.get("message")) or "ERROR"
    fill(found, attributes.get("mlflow.spanInputs"), attributes.get("mlflow.spanOutputs"))
    return found


def _assess(root: Span, assessment: Json, reading: Reading) -> None:
    """Add an assessment: feedback as a score, an expectation as what was expected."""
    if not isinstance(assessment, dict):
        message = "an assessment is no JSON object"
        reading.problem("not_an_object", message, root.place, "Export it again.", lost=False)
        return
    if assessment.get("valid") is False:  # another assessment replaces it
        reading.left["info.assessments that others replace"] += 1
        return
    reading.fields(assessment, _ASSESSMENT, "assessment.")
    name = text_of(assessment.get("assessment_name")) or text_of(assessment.get("name")) or "assessment"
    expectation, feedback = (_value(assessment.get(each)) for each in ("expectation", "feedback"))
    if expectation is not None:
        if name in _EXPECTED and (text := answer_in(expectation)) is not None:
            root.expected = text
        elif name == _GOLD and (passages := passages_in(expectation)):
            root.gold = passages
        else:
            root.fields[name] = expectation
        return
    source = assessment.get("source")
    by = (
        text_of(source.get("source_id")) or text_of(source.get("source_type"))
        if isinstance(source, dict)
        else None
    )
    score = score_of(feedback, explanation=text_of(assessment.get("rationale")), by=by)
    add_score(root.scores, name, score)


def _value(held: Json) -> Json:
    """Return the value of feedback or of an expectation, which MLflow writes as JSON if it is a list."""
    if not isinstance(held, dict):
        return None
    serialized = held.get("serialized_value")
    return unquoted(serialized.get("value")) if isinstance(serialized, dict) else held.get("value")


MLFLOW = Format(
    name="mlflow",
    title="MLflow",
    versions="mlflow 3.17 (Trace.to_json, search_traces), spans of version 2",
    suffix=".json",
    example=rb"""{"info": {"trace_id": "tr-7c1e", "request_time": "2026-11-02T08:00:00.000Z", "state": "OK",
 "request_preview": "{\"question\": \"How much oil?\"}", "response_preview": "\"It holds 4.5 litres.\"",
 "trace_metadata": {"mlflow.trace.session": "s1"}, "tags": {"mlflow.traceName": "answer"},
 "assessments": [
  {"assessment_name": "groundedness", "source": {"source_type": "LLM_JUDGE", "source_id": "judge"},
   "feedback": {"value": true}, "rationale": "The passage says so.", "valid": true},
  {"assessment_name": "expected_response", "source": {"source_type": "HUMAN", "source_id": "ann"},
   "expectation": {"value": "4.5 litres"}}]},
"data": {"spans": [
 {"trace_id": "z+p8", "span_id": "0RtK", "parent_span_id": null, "name": "answer",
  "start_time_unix_nano": 1793606400000000000, "end_time_unix_nano": 1793606402000000000,
  "attributes": {"mlflow.traceRequestId": "\"tr-7c1e\"", "mlflow.spanType": "\"CHAIN\"",
   "mlflow.spanInputs": "{\"question\": \"How much oil does the engine hold?\"}",
   "mlflow.spanOutputs": "\"It holds 4.5 litres.\""}},
 {"trace_id": "z+p8", "span_id": "JLJZ", "parent_span_id": "0RtK", "name": "retrieve",
  "start_time_unix_nano": 1793606400100000000, "end_time_unix_nano": 1793606400200000000,
  "attributes": {"mlflow.traceRequestId": "\"tr-7c1e\"", "mlflow.spanType": "\"RETRIEVER\"",
   "mlflow.spanInputs": "{\"query\": \"How much oil does the engine hold?\"}",
   "mlflow.spanOutputs":
   "[{\"page_content\": \"4.5 litres of oil.\", \"metadata\": {\"doc_uri\": \"manual.pdf\", \"page\": 3}}]"
  }}]}}
""",
    documentation="A trace is a question. Feedback is kept as scores with who gave it and why; the "
    "expectation `expected_response` is the expected answer, `expected_retrieved_context` what holds it, and "
    "others are fields. Assessments that others replace are left out.",
    detect=detect,
    read=read,
)
