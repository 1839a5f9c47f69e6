"""Spans in OTLP JSON, of collectors and Tempo, with attributes of GenAI or OpenInference."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from proofspan.contracts.records.field_values import text_of
from proofspan.contracts.records.records import Json
from proofspan.traces.formats.payloads import camel, seconds_of
from proofspan.traces.formats.records import head_of, read_lists, read_records, shape_of
from proofspan.traces.formats.spans.attributes import add_event, fill, nested
from proofspan.traces.formats.spans.questions import questions
from proofspan.traces.formats.spans.traced import Span
from proofspan.traces.formats.types import Asked, Format, Reading, Sample

#: The names of lists in OTLP, its older and Tempo's names, and those of protobuf in snake case.
_RESOURCES = ("resourceSpans", "resource_spans", "batches", "resourceLogs", "resource_logs")
_SCOPES = (
    *("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans"),
    *("scopeLogs", "scope_logs"),
)
_RECORDS = ("spans", "logRecords", "log_records")
#: The lists of spans and log records in an export, and in Tempo's object around one.
_LISTS = tuple(
    f"{before}{resources}.{scopes}.{records}"
    for before in ("", "trace.")
    for resources in _RESOURCES
    for scopes in _SCOPES
    for records in _RECORDS
)
#: Bytes of a single object beyond which its spans are read one by one.
_LARGE = 8 << 20
_SPAN = frozenset(
    (
        *("traceId", "spanId", "parentSpanId", "name", "startTimeUnixNano", "endTimeUnixNano", "status"),
        *("events", "body", "timeUnixNano", "eventName"),
    )
)
#: Levels of values in values that are followed.
_DEEPEST = 16
_SERVICE = "service.name"
_WHOLE = re.compile(r"-?[0-9]{1,18}")


def detect(sample: Sample) -> str | None:
    """Return why a source is OTLP JSON: every object has resources with scopes of spans."""
    found = [next(_resources(each), None) for each in sample.records]
    if found and all(each is not None and any(name in each for name in _SCOPES) for each in found):
        name = next(name for name in _RESOURCES if name in _export(sample.first))
        return f"every object has {name}"
    return None


def _export(record: Mapping[str, Json]) -> Mapping[str, Json]:
    trace = record.get("trace")
    return trace if isinstance(trace, dict) and any(name in trace for name in _RESOURCES) else record


def _resources(record: Mapping[str, Json]) -> Iterator[dict[str, Json]]:
    export = _export(record)
    for name in _RESOURCES:
        yield from _objects(export.get(name))


def _objects(value: Json) -> Iterator[dict[str, Json]]:
    for each in value if isinstance(value, list) else []:
        if isinstance(each, dict):
            yield each


def read(path: Path, reading: Reading) -> Iterator[Asked]:
    """Yield a question for each trace."""
    yield from questions(_spans(path, reading), reading)


def _spans(path: Path, reading: Reading) -> Iterator[Span]:
    if path.stat().st_size > _LARGE and shape_of(path, head_of(path)) == "object":
        yield from _spans_of_one_object(path, reading)
        return
    for place, record in read_records(path, reading):
        reading.records -= 1  # the spans are the records
        export = _export(record)
        if not any(name in export for name in _RESOURCES):
            _not_an_object(f"has none of {', '.join(_RESOURCES)}", place, reading)
        for resource in _below(export, _RESOURCES, place, reading):
            attributes = _resource(resource)
            reading.fields(attributes, (_SERVICE,), "resource.")
            for scope in _below(resource, _SCOPES, place, reading):
                for row in _below(scope, _RECORDS, place, reading):
                    reading.records += 1
                    yield _span(f"{place}, record {reading.records:,}", row, attributes, reading)


def _spans_of_one_object(path: Path, reading: Reading) -> Iterator[Span]:
    """Yield the spans of one large object, in memory for one; which resource each is of is not kept."""
    around: dict[str, Json] = {}
    for _, place, row in read_lists(path, reading, *_LISTS, rest=around):
        yield _span(place, row, {}, reading)
    for resource in _resources(around):
        named = resource.get("resource")
        reading.fields(
            _attributes(named.get("attributes") if isinstance(named, dict) else None), (), "resource."
        )


def _below(
    record: Mapping[str, Json], names: Iterable[str], place: str, reading: Reading
) -> Iterator[dict[str, Json]]:
    """Yield the objects of the lists of these names; all else in them is a problem."""
    for name in filter(record.__contains__, names):
        value = record[name]
        for each in value if isinstance(value, list) else [] if value is None else [value]:
            if isinstance(value, list) and isinstance(each, dict):
                yield each
            else:
                _not_an_object(f"{name} holds what is no JSON object in a list", place, reading)


def _not_an_object(message: str, place: str, reading: Reading) -> None:
    reading.records += 1
    reading.problem("not_an_object", message, place, "Export it again; the other spans are read.")


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _span(place: str, row: dict[str, Json], resource: Mapping[str, Json], reading: Reading) -> Span:
    own = {camel(name): value for name, value in row.items()} if _is_snake(row) else row
    pairs = own.pop("attributes", None)
    attributes = _attributes(pairs)
    trace, parent = text_of(own.get("traceId")) or "", text_of(own.get("parentSpanId"))
    span = Span(
        place=place,
        trace=trace,
        id=text_of(own.get("spanId")) or "",
        parent=parent if parent and parent.strip("0A=") else None,
        name=text_of(own.get("name")) or "",
        start=seconds_of(own.get("startTimeUnixNano") or own.get("timeUnixNano")),
        end=seconds_of(own.get("endTimeUnixNano") or own.get("timeUnixNano")),
    )
    events = _objects(own.get("events"))
    if "startTimeUnixNano" not in own and "timeUnixNano" in own:  # a log record is an event of its span
        span.id, span.parent, span.kind = "", span.id or None, "evaluator"
        events, attributes = iter([{**own, "attributes": pairs}]), {}
    for event in events:
        body = _value(event.get("body"))
        held = _attributes(event.get("attributes")) | (body if isinstance(body, dict) else {})
        name = event.get("name") or event.get("eventName") or held.get("event.name")
        add_event(span, text_of(name) or "", held, attributes, reading)
    fill(span, nested(attributes), reading)
    reading.fields(own, _SPAN, "span.")
    status = own.get("status")
    if isinstance(status, dict) and status.get("code") in (2, "STATUS_CODE_ERROR"):
        span.fields["error"] = text_of(status.get("message")) or text_of(span.fields.get("error")) or "error"
    if service := resource.get(_SERVICE):
        span.fields["service"] = service
    return span


def _is_snake(row: Mapping[str, Json]) -> bool:
    return "_" in "".join(row)


def _resource(resource: Mapping[str, Json]) -> dict[str, Json]:
    named = resource.get("resource")
    return _attributes(named.get("attributes") if isinstance(named, dict) else None)


def _attributes(pairs: Json) -> dict[str, Json]:
    """Return a list of keys and values as one object."""
    return {
        str(key): _value(each.get("value"))
        for each in _listed(pairs)
        if isinstance(each, dict) and (key := each.get("key")) is not None
    }


def _value(value: Json, depth: int = _DEEPEST) -> Json:
    """Return the value in OTLP's `{"stringValue": …}` and its like."""
    if not isinstance(value, dict) or len(value) != 1 or not depth:
        return value
    ((kind, inner),) = value.items()
    if kind == "stringValue":
        return inner
    kind = camel(kind)
    if kind == "intValue" and isinstance(inner, str):
        return int(inner) if _WHOLE.fullmatch(inner) else inner
    if kind not in ("arrayValue", "kvlistValue"):
        return inner
    values = list(_listed(inner.get("values") if isinstance(inner, dict) else None))
    if kind == "arrayValue":
        return [_value(each, depth - 1) for each in values]
    return {str(each.get("key")): _value(each.get("value"), depth - 1) for each in _objects(values)}


OTLP = Format(
    name="otlp",
    title="OpenTelemetry (OTLP JSON)",
    versions="OTLP 1.x, opentelemetry-semantic-conventions 0.66b2 (gen_ai.*), and OpenInference's attributes",
    suffix=".json",
    example=b"""\
{"resourceSpans": [{"resource": {"attributes": [\
{"key": "service.name", "value": {"stringValue": "manual"}}]}, "scopeSpans": [{"spans": [
{"traceId": "5b8e", "spanId": "a2", "parentSpanId": "a1", "name": "retrieval manual", \
"startTimeUnixNano": "1793606400100000000", "endTimeUnixNano": "1793606400200000000", "attributes": [
{"key": "gen_ai.operation.name", "value": {"stringValue": "retrieval"}},
{"key": "gen_ai.retrieval.query.text", "value": {"stringValue": "How much oil does the engine hold?"}},
{"key": "gen_ai.retrieval.documents", "value": {"stringValue": "[{\\"id\\": \\"c1\\", \\"score\\": 0.8}]"}}]},
{"traceId": "5b8e", "spanId": "a1", "name": "chat small-1", \
"startTimeUnixNano": "1793606400000000000", "endTimeUnixNano": "1793606401300000000", "attributes": [
{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
{"key": "gen_ai.input.messages", "value": {"stringValue": "[{\\"role\\": \\"system\\", \\"parts\\": \
[{\\"type\\": \\"text\\", \\"content\\": \\"Answer from this: The engine takes 4.5 litres of oil.\\"}]}, \
{\\"role\\": \\"user\\", \\"parts\\": [{\\"type\\": \\"text\\", \\"content\\": \
\\"How much oil does the engine hold?\\"}]}]"}},
{"key": "gen_ai.output.messages", "value": {"stringValue": "[{\\"role\\": \\"assistant\\", \\"parts\\": \
[{\\"type\\": \\"text\\", \\"content\\": \\"It holds 4.5 litres.\\"}]}]"}}],
"events": [{"name": "gen_ai.evaluation.result", "timeUnixNano": "1793606401400000000", "attributes": [
{"key": "gen_ai.evaluation.name", "value": {"stringValue": "relevance"}},
{"key": "gen_ai.evaluation.score.value", "value": {"doubleValue": 0.9}}]}]}
]}]}]}
""",
    documentation="The spans of a trace are one question. The conventions for GenAI give the documents of a "
    "retrieval as ids and scores, so the texts come from a file of chunks with the same ids. Events and log "
    "records `gen_ai.evaluation.result` are kept as scores. Of the messages that a model was given, the last "
    "question is read.",
    detect=detect,
    read=read,
)
