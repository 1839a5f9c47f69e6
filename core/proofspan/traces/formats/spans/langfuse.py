"""Langfuse exports: traces with their observations, pages of the API, and rows of observations or traces."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from proofspan.contracts.records.field_values import number_of, text_of
from proofspan.contracts.records.records import Json
from proofspan.traces.formats.payloads import add_score, camel, cell_of, score_of, seconds_of, unquoted
from proofspan.traces.formats.records import read_records
from proofspan.traces.formats.spans.questions import questions
from proofspan.traces.formats.spans.steps import fill
from proofspan.traces.formats.spans.traced import Span, SpanKind
from proofspan.traces.formats.types import Asked, Format, Reading, Sample

#: The types of observations. Before version 3.3 of the SDK there were spans, generations and events alone.
_KINDS: Mapping[str, SpanKind] = {
    **dict.fromkeys(("SPAN", "EVENT", "AGENT", "CHAIN", "GUARDRAIL"), "chain"),
    "GENERATION": "llm",
    "RETRIEVER": "retriever",
    "EMBEDDING": "embedding",
    "TOOL": "tool",
    "EVALUATOR": "evaluator",
}
#: What is copied of a trace, and of an observation that has no parent.
_COPIED = (
    *("name", "traceName", "userId", "sessionId", "tags", "environment", "release", "version", "metadata"),
    *("latency", "totalCost", "bookmarked", "timestamp"),
)
#: What is copied of every observation; the outermost counts.
_OF_A_STEP = ("model", "promptName", "promptVersion", "statusMessage")
_TRACE = frozenset({"id", "input", "output", "scores", "corrections", "observations", *_COPIED})
_OBSERVATION = frozenset(
    {"id", "traceId", "parentObservationId", "type", "name", "startTime", "endTime", "input", "output"}
)
_OF_A_ROOT = (*_OF_A_STEP, *_COPIED)
_STEP, _ROOT = _OBSERVATION.union(_OF_A_STEP), _OBSERVATION.union(_OF_A_ROOT)
_SCORE = frozenset(
    {
        *("name", "value", "stringValue", "longStringValue", "dataType", "comment", "source"),
        *("authorUserId", "traceId", "observationId"),
    }
)
_CORRECTION = frozenset({"name", "stringValue", "longStringValue", "dataType"})
#: Lists in tables of the user interface that are not the values of a score.
_LISTS = frozenset(
    {
        "tags",
        "traceTags",
        "toolCallNames",
        "toolCalls",
        "toolDefinitions",
        "observations",
        "scores",
        "comments",
    }
)
_NO_COLUMNS = _LISTS | _OBSERVATION | _TRACE
#: What the SDK says of itself in metadata.
_OF_THE_SDK = ("resourceAttributes", "scope")


def detect(sample: Sample) -> str | None:
    """Return why a source is Langfuse's: its records are traces, observations or a page of them."""
    forms = {_form(each) for record in sample.records for each in (_entries(record) or [{}])}
    if None in forms or forms <= {"score"}:
        return None
    return {
        "export": "every record is a trace with its observations",
        "full": "every record is a trace with its observations",
        "observation": "every record is an observation with the id of its trace",
        "trace": "every record is a trace with its input and output",
    }[min(each for each in forms if each is not None)]


def _entries(record: Mapping[str, Json]) -> list[Json]:
    """Return the records on a page of the API, or the record itself."""
    data = record.get("data")
    return data if isinstance(data, list) and isinstance(record.get("meta"), dict) else [record]


def _form(record: Json) -> str | None:
    """Return "export", "full", "observation", "score" or "trace" for what a record is, None for others."""
    if not isinstance(record, dict):
        return None
    own = {camel(name) for name in record}
    if isinstance(record.get("trace"), dict) and isinstance(record.get("observations"), list):
        return "export" if isinstance(record["trace"].get("id"), str) else None
    if own >= {"traceId", "name", "dataType"} and own & {"value", "stringValue"}:
        return "score"
    if own >= {"id", "traceId", "type", "startTime"} and str(record["type"]).upper() in _KINDS:
        return "observation"
    if own >= {"id", "timestamp"} and own & {"input", "output"} and len(own & _OF_TRACES) > 2:
        return "full" if isinstance(record.get("observations"), list) else "trace"
    return None


_OF_TRACES = frozenset(
    {"userId", "sessionId", "release", "version", "environment", "tags", "public", "bookmarked", "htmlPath"}
)


def read(path: Path, reading: Reading) -> Iterator[Asked]:
    """Yield a question for each trace."""
    yield from questions(_spans(path, reading), reading)


def _spans(path: Path, reading: Reading) -> Iterator[Span]:
    for place, record in read_records(path, reading):
        for each in _entries(record):
            form = _form(each)
            if not isinstance(each, dict) or form is None:
                message = "is neither a trace nor an observation of Langfuse"
                reading.problem(
                    "not_langfuse", message, place, "Export it again; the other records are read."
                )
            elif form == "observation":
                yield _step(place, each, reading, "", None)
            elif form == "score":
                yield _score(place, each, reading)
            else:
                trace, steps = (each["trace"], each["observations"]) if form == "export" else (each, None)
                yield from _whole(
                    place, trace, trace.get("observations") if steps is None else steps, reading
                )


def _whole(place: str, trace: dict[str, Json], steps: Json, reading: Reading) -> Iterator[Span]:
    trace_id = text_of(trace.get("id")) or place
    root = Span(place=place, trace=trace_id, id=f"trace {trace_id}")
    own = _camel(trace)
    columns = {} if isinstance(trace.get("observations"), list) else _score_columns(trace)
    reading.fields(trace, _named(trace, _TRACE, columns), "trace.")
    _add_columns(root, columns)
    root.start, latency = seconds_of(own.get("timestamp")), number_of(cell_of(own.get("latency")))
    if root.start is not None and latency is not None:
        root.end = root.start + latency
    _fill(root, own, _COPIED, reading)
    for name in ("scores", "corrections"):
        scores = unquoted(own.get(name))
        _judge(root, scores if isinstance(scores, list) else [], reading)
    yield root
    for step in steps if isinstance(steps, list) else []:
        if isinstance(step, str):  # a list of traces names the ids of their observations alone
            reading.left["trace.observations by id"] += 1
            continue
        reading.records += 1
        if isinstance(step, dict):
            yield _step(place, step, reading, trace_id, root.id)
        else:
            message = f"an observation of trace {trace_id} is no JSON object"
            reading.problem("not_an_object", message, place, "Export it again; the others are read.")


def _step(place: str, row: dict[str, Json], reading: Reading, trace_id: str, root: str | None) -> Span:
    """Return an observation as a span; `trace_id` and `root` are those of the trace that holds it."""
    own = _camel(row)
    parent = text_of(own.get("parentObservationId"))
    copied, used = (_OF_A_ROOT, _ROOT) if root is None and parent is None else (_OF_A_STEP, _STEP)
    columns = _score_columns(row)
    reading.fields(row, _named(row, used, columns), "observation.")
    span = Span(
        place=place,
        trace=trace_id or text_of(own.get("traceId")) or "",
        id=text_of(own.get("id")) or "",
        parent=parent or root,
        kind=_KINDS.get(str(own.get("type")).upper(), "chain"),
        name=text_of(own.get("name")) or "",
        start=seconds_of(own.get("startTime")),
        end=seconds_of(own.get("endTime")),
    )
    _fill(span, own, copied, reading)
    _add_columns(span, columns)
    return span


def _score_columns(row: Mapping[str, Json]) -> dict[str, list[Json]]:
    """Return the columns of a table of the user interface that are scores: lists of numbers or words."""
    lists = {name: unquoted(value) for name, value in row.items() if value and camel(name) not in _NO_COLUMNS}
    return {
        name: values for name, values in lists.items() if isinstance(values, list) and _are_scores(values)
    }


def _are_scores(values: list[Json]) -> bool:
    numbers = all(number_of(each) is not None for each in values)
    return bool(values) and (numbers or all(isinstance(each, str) for each in values))


def _add_columns(span: Span, columns: Mapping[str, list[Json]]) -> None:
    for name, values in columns.items():
        for value in values:
            add_score(span.scores, name, score_of(value))


def _fill(span: Span, own: Mapping[str, Json], copied: Iterable[str], reading: Reading) -> None:
    """Read what a step was given and what it gave, as its kind has it."""
    fill(span, own.get("input"), own.get("output"))
    for name in copied:
        if name in own and (value := unquoted(own[name])) not in (None, "", [], {}):
            span.fields[name] = value
    metadata = span.fields.pop("metadata", None)
    if isinstance(metadata, dict):
        reading.fields(metadata, metadata.keys() - {*_OF_THE_SDK}, "metadata.")
        metadata = {name: value for name, value in metadata.items() if name not in _OF_THE_SDK}
    if metadata:
        span.fields["metadata"] = metadata
    if not span.answer and not span.documents and "name" in copied and own.get("output"):
        span.fields["output"] = unquoted(own["output"])  # such as calls of tools alone


def _judge(span: Span, scores: Iterable[Json], reading: Reading) -> None:
    for each in scores:
        if isinstance(each, str):  # an id
            reading.left["trace.scores by id"] += 1
            continue
        if not isinstance(each, dict):
            message = "a score is no JSON object"
            reading.problem("not_an_object", message, span.place, "Export it again.", lost=False)
            continue
        own = _camel(each)
        correction = own.get("dataType") == "CORRECTION"
        reading.fields(each, _named(each, _CORRECTION if correction else _SCORE), "score.")
        word = text_of(own.get("stringValue")) or text_of(own.get("longStringValue"))
        if correction:
            span.expected = word or span.expected
            continue
        by = text_of(own.get("authorUserId")) or text_of(own.get("source"))
        value = None if own.get("dataType") in ("CATEGORICAL", "TEXT") else cell_of(own.get("value"))
        score = score_of(value, label=word, explanation=text_of(own.get("comment")), by=by)
        add_score(span.scores, own.get("name"), score)


def _score(place: str, row: dict[str, Json], reading: Reading) -> Span:
    """Return a score that is a record of its own as a step below what it judges."""
    own = _camel(row)
    trace, judged = text_of(own.get("traceId")) or "", text_of(own.get("observationId"))
    by = text_of(own.get("authorUserId")) or text_of(own.get("source")) or ""
    span = Span(place=place, trace=trace, id="", parent=judged, name=by)
    _judge(span, [row], reading)
    return span


def _camel(record: dict[str, Json]) -> dict[str, Json]:
    """Return a record with its names in camel case."""
    return {camel(name): value for name, value in record.items()} if "_" in "".join(record) else record


def _named(record: Mapping[str, Json], used: frozenset[str], columns: Iterable[str] = ()) -> Collection[str]:
    """Return the names of a record, which may be in snake case, that are in `used` or `columns`."""
    if "_" not in "".join(record):
        return used.union(columns) if columns else used
    return {*columns, *(name for name in record if camel(name) in used)}


LANGFUSE = Format(
    name="langfuse",
    title="Langfuse",
    versions="langfuse 5.0 (observations of version 2 of the API), trace exports and tables since 2025",
    suffix=".json",
    example=rb"""{"trace": {"id": "9f2c", "name": "manual", "timestamp": "2026-11-02T08:00:00.000Z",
 "input": "\"How much oil does the engine hold?\"", "output": "\"It holds 4.5 litres.\"",
 "userId": null, "sessionId": "s1", "tags": ["rag"], "environment": "default", "scores": [
  {"name": "correct", "value": 1, "stringValue": "True", "dataType": "BOOLEAN", "source": "ANNOTATION",
   "authorUserId": "ann", "comment": "As in the manual."}]},
"observations": [
 {"id": "a2", "traceId": "9f2c", "type": "RETRIEVER", "name": "search", "parentObservationId": "a1",
  "startTime": "2026-11-02T08:00:00.100Z", "endTime": "2026-11-02T08:00:00.200Z",
  "input": "{\"query\": \"engine oil\"}", "output":
  "[{\"page_content\": \"4.5 litres of oil.\", \"metadata\": {\"source\": \"manual.pdf\", \"page\": 3}}]"},
 {"id": "a3", "traceId": "9f2c", "type": "GENERATION", "name": "llm", "parentObservationId": "a1",
  "startTime": "2026-11-02T08:00:00.300Z", "endTime": "2026-11-02T08:00:01.200Z", "model": "small-1",
  "input": "[{\"role\": \"user\", \"content\": \"How much oil does the engine hold?\"}]",
  "output": "{\"role\": \"assistant\", \"content\": \"It holds 4.5 litres.\"}"},
 {"id": "a1", "traceId": "9f2c", "type": "SPAN", "name": "rag", "parentObservationId": null,
  "startTime": "2026-11-02T08:00:00.000Z", "endTime": "2026-11-02T08:00:01.300Z", "input": null}]}
""",
    documentation="A trace is a question. Values that Langfuse keeps as JSON in a text, once or twice "
    "quoted, are unpacked. Retrievers give the retrieved passages, rerankers the reranked ones. Scores are "
    "kept, and a correction is the expected answer. In an export to a blob store, scores are files of their "
    "own: put their lines behind those of the observations.",
    detect=detect,
    read=read,
)
