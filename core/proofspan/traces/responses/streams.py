"""Streamed responses as the unstreamed ones that they would have been.

A stream is a row of events, one record each, and is put together as the SDKs do it. The last event of
OpenAI's Responses and of Cohere's version 1 has the whole response, and is preferred to the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from proofspan.contracts.records.field_values import text_of
from proofspan.contracts.records.records import Json
from proofspan.traces.formats.records import json_of
from proofspan.traces.formats.types import Reading
from proofspan.traces.responses.events import Kind, Stream, kind_of, type_of
from proofspan.traces.responses.parts import Record, mapping

#: Fields of records that are no events, such as a response after a stream that breaks off.
_NO_EVENT = frozenset(
    {"role", "output", "outputs", "choices", "candidates", "content", "request", "response"}
)


def whole_responses(records: Iterable[tuple[str, Record]], reading: Reading) -> Iterator[tuple[str, Record]]:
    """Yield the records of a source, the events of a stream as one response. One that breaks off is noted."""
    stream: Stream | None = None
    for place, record in records:
        event = _event(record)
        kind = kind_of(event)
        if stream is not None and kind is None and (error := _error_in(event)) is not None:
            reading.records -= 1
            message = f"the stream ends with an error: {error}; what came before is read"
            reading.problem("stream_error", message, place, "Ask again and save that stream.", lost=False)
            stream.is_complete = True
            continue
        if stream is not None and kind is None and type_of(event) and not event.keys() & _NO_EVENT:
            # Helpers of SDKs add events of their own to those of the API.
            reading.left[f"event.{type_of(event)}"] += 1
            stream.events += 1
            continue
        if stream is not None and (kind is None or not _goes_on(stream, kind, event)):
            yield _ended(stream, reading)
            stream = None
        if kind is None:
            yield place, record
            continue
        if stream is None:
            stream = Stream(kind, place, first=record)
        stream.events += 1
        stream.id = stream.id or kind.id_of(event)
        kind.add(stream, event)
    if stream is not None:
        yield _ended(stream, reading)


def response_of_events(events: list[Record], reading: Reading, place: str) -> Record | None:
    """Return the one response of a list of events; None for another list."""
    inner = Reading(reading.file)
    found = [each for _, each in whole_responses(((place, event) for event in events), inner)]
    if len(found) != 1 or found[0] in events:
        return None
    reading.problems += inner.problems
    return found[0]


def _event(record: Record) -> Record:
    """Return an event without what SDKs put around it: `{event, data}`."""
    data = json_of(record["data"]) if "data" in record else None
    if isinstance(data, dict) and record.keys() <= {"event", "data", "id", "retry", "comment"}:
        name = text_of(record.get("event"))
        return {"type": name, **data} if name else data
    return record


def _error_in(event: Mapping[str, Json]) -> str | None:
    """Return what an event says that ends a stream with an error; None for others."""
    names = [name for name in event if name == "error" or name.endswith("Exception")]
    if type_of(event) != "error" and (len(event) != 1 or not names):
        return None
    stated = mapping(event[names[0]]) if names else event
    parts = [*names, *(text_of(stated.get(name)) for name in ("code", "type", "message"))]
    return ": ".join(dict.fromkeys(part for part in parts if part and part != "error")) or "without a message"


def _goes_on(stream: Stream, kind: Kind, event: Record) -> bool:
    if kind != stream.kind or kind.begins(event):
        return False
    own = kind.id_of(event)
    if own is not None and stream.id is not None:
        return own == stream.id
    return not (kind.is_whole_alone and stream.is_complete) or kind.name == "messages"


def _ended(stream: Stream, reading: Reading) -> tuple[str, Record]:
    reading.records -= stream.events - 1
    if stream.events == 1 and stream.kind.is_whole_alone:
        return stream.place, stream.first
    if not stream.is_complete:
        message = "the stream breaks off before its last event; what came is read"
        reading.problem("stream_breaks_off", message, stream.place, "Save the whole stream.", lost=False)
    return stream.place, stream.response
