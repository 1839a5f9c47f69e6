"""A response of a model API with its request, however it was saved.

Saved are a response alone, `{request, response}` under these and other names, a line of a batch's results or
of a log, a stream in the place of the response, a conversation with its answers, or many of these in a list.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import orjson

from proofspan.contracts.records.field_values import text_of
from proofspan.contracts.records.records import Json
from proofspan.traces.formats.records import json_of
from proofspan.traces.formats.types import Reading
from proofspan.traces.lines.http_text import http_messages, is_http_text
from proofspan.traces.responses.parts import Record, entries, is_camel, mapping, snake
from proofspan.traces.responses.streams import response_of_events

#: Fields in which people keep a request and a response, and the events of a streamed one.
_REQUESTS = ("request", "request_body", "requestBody", "full_request", "params")
_RESPONSES = ("response", "response_body", "responseBody", "full_response", "raw_response", "completion")
_STREAMS = ("stream", "events", "chunks")
#: Fields of which a record that is not its own response has one.
_WRAPPERS = frozenset((*_REQUESTS, *_RESPONSES, *_STREAMS, "result"))
#: Fields of a request by which one is recognized that lies open beside its response.
_ASKED_BY = ("messages", "contents", "input", "inputs", "retrievalQuery", "chat_history", "documents")
#: Fields beside a response in which people keep the question.
_QUESTIONS = ("question", "query", "q", "prompt", "input", "inputs")
#: The ids of an exchange in batches.
_IDS = ("custom_id", "q_id", "key", "recordId")
#: Fields of tracers, whose own formats say more than the responses in them.
_OF_TRACERS = frozenset({"output", "outputs"})
#: Lists of responses in an object.
_LISTS = ("responses", "results", "data", "items", "entries", "records", "answers")
_MOST_MESSAGE = 200


@dataclass(slots=True, kw_only=True)
class Exchange:
    """A response, and what the source has beside it.

    `request` is {} where the source has none. `question` and `q_id` are what the source says outside of both,
    `beside` is the rest of that. `place` is for messages: "line 3".
    """

    place: str
    response: Record
    request: Record = field(default_factory=dict)
    question: str | None = None
    q_id: str | None = None
    beside: Record = field(default_factory=dict)


def exchanges_of(
    place: str,
    record: Mapping[str, Json],
    is_response: Callable[[Mapping[str, Json]], bool],
    reading: Reading,
    *,
    is_snake: bool = False,
) -> Iterator[Exchange]:
    """Yield the exchanges of a record: one, or those of a conversation or of a list in an object.

    `is_response` recognizes the responses of the API, and `is_snake` is whether it writes keys in snake case.
    """
    found = exchange_of(place, record, reading)
    if is_snake and any(is_camel(name) for name in found.response):  # of an SDK for JavaScript
        request, response = (mapping(snake(each)) for each in (found.request, found.response))
        found = replace(found, request=dict(request), response=dict(response))
    response = found.response
    if is_response(response) or error_of(response) is not None:
        if not found.request and (
            asked := {name: response[name] for name in _ASKED_BY[:2] if name in response}
        ):
            rest = {name: value for name, value in response.items() if name not in asked}
            found = replace(found, request=asked, response=rest)
        yield found
        return
    for name, value in record.items() if found.response == record else ():
        within = exchange_of(place, mapping(json_of(value)) if name not in _OF_TRACERS else {}, reading)
        if is_response(within.response):
            rest = {each: record[each] for each in record if each != name}
            asked = {"request": within.request} if within.request else {}
            yield exchange_of(place, {**rest, **asked, "response": within.response}, reading)
            return
    conversation = [*_answers_in(found, is_response)]
    for name in _LISTS if not conversation else ():
        listed = [
            exchange_of(f"{place}, {name} {n:,}", each) for n, each in enumerate(entries(record.get(name)), 1)
        ]
        answers = [is_response(each.response) for each in listed]
        if any(answers) and all(
            is_answer or error_of(each.response) for is_answer, each in zip(answers, listed, strict=True)
        ):
            conversation = listed
            break
    reading.records += max(0, len(conversation) - 1)
    yield from conversation or [found]


def _answers_in(exchange: Exchange, is_response: Callable[[Mapping[str, Json]], bool]) -> Iterator[Exchange]:
    """Yield the answers of a conversation that have citations, each with the messages before it."""
    messages = entries(exchange.response.get("messages"))
    for number, message in enumerate(messages):
        if message.get("role") not in ("assistant", "chatbot"):
            continue
        blocks = entries(message.get("content"))
        shapes: list[Record] = [message, {"object": "chat.completion", "choices": [{"message": message}]}]
        if message.get("citations"):
            shapes.append({"finish_reason": None, "message": message})
        if any("citationsContent" in each for each in blocks):
            shapes.append({"output": {"message": message}, "stopReason": None})
        response = next((each for each in shapes if is_response(each)), None)
        if response is not None:
            request = {**exchange.response, "messages": messages[:number]}
            place = f"{exchange.place}, message {number + 1:,}"
            yield replace(exchange, place=place, response=response, request=request)


def exchange_of(place: str, record: Mapping[str, Json], reading: Reading | None = None) -> Exchange:
    """Return the response of a record, unwrapped, with what is beside it."""
    reading = reading or Reading("")
    record = _unlogged(record)
    if _WRAPPERS.isdisjoint(record):  # mostly
        return Exchange(place=place, response=dict(record))
    asked = next((name for name in _REQUESTS if name in record and _body(record[name])), "request")
    request = _body(record.get(asked))
    wrapper, response = "", Record()
    for each in filter(record.__contains__, _RESPONSES):
        if found := _body(record.get(each)) or _streamed(record.get(each), reading, place):
            wrapper, response = each, found
            break
    result = mapping(json_of(record.get("result")))
    if not response:
        message = result.get("message")
        if isinstance(message, dict):
            response, wrapper = message, "result"
        elif result.get("type") in ("errored", "canceled", "expired"):
            response, wrapper = {"error": result["type"], **result}, "result"
    for each in filter(record.__contains__, _STREAMS) if not response else ():
        if found := _streamed(record.get(each), reading, place):
            wrapper, response = each, found
            if "sessionId" in record:
                response["sessionId"] = record["sessionId"]
            break
    if not response and request and "error" in record:  # the request, and no response
        response, wrapper = {"error": record["error"]}, "error"
    if not response:
        return Exchange(place=place, response=dict(record))
    if record.get("error") is not None and wrapper in _RESPONSES:
        response = response | {"error": record["error"]}
    name = next((each for each in _QUESTIONS if isinstance(record.get(each), str) and record[each]), None)
    q_id = next((each for each in _IDS if text_of(record.get(each))), None)
    taken = {asked, wrapper, "error", name, q_id}
    if not request and any(isinstance(record.get(each), list | dict) for each in _ASKED_BY[:5]):
        request = {each: record[each] for each in (*_ASKED_BY, "modelId") if each in record}
        taken |= request.keys()
    return Exchange(
        place=place,
        response=response,
        request=request,
        question=None if name is None else str(record[name]),
        q_id=None if q_id is None else text_of(record[q_id]),
        beside={key: value for key, value in record.items() if key not in taken and value is not None},
    )


def _unlogged(record: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return a line of Bedrock's log of model invocations under the usual names; others as they are."""
    given, made = mapping(record.get("input")), mapping(record.get("output"))
    if "outputBodyJson" not in made:
        return record
    rest = {name: value for name, value in record.items() if name not in ("input", "output")}
    request = {"modelId": record.get("modelId"), **mapping(given.get("inputBodyJson"))}
    return {**rest, "request": request, "response": made["outputBodyJson"]}


def _body(value: Json) -> Record:
    """Return a request or response, which HTTP clients keep as the `body` of an object, or as text."""
    value = json_of(value)
    body = json_of(value.get("body")) if isinstance(value, dict) else None
    found = body if isinstance(body, dict) else value
    return dict(found) if isinstance(found, dict) else {}


def _streamed(value: Json, reading: Reading, place: str) -> Record:
    """Return the response of the events in a list, or in a text as it was sent; {} for anything else."""
    value = json_of(value)
    if isinstance(value, dict):
        value = json_of(value.get("body"))
    if isinstance(value, str) and is_http_text(data := value.encode("utf-8", "replace")):
        sent = [each.data for each in http_messages(io.BytesIO(data)) if each.is_json]
        value = [orjson.loads(each) for each in sent]
    events = entries(value)
    return (response_of_events(events, reading, place) if events else None) or {}


def error_of(response: Mapping[str, Json]) -> str | None:
    """Return what an error object says, at most 200 characters; None for a response without an error."""
    error = response.get("error")
    if error is None or error == {} or error == "":
        return None
    while isinstance(error, dict) and isinstance(
        error.get("error"), dict
    ):  # Anthropic's, in a batch's result
        error = error["error"]
    if isinstance(error, dict):
        parts = [text_of(error.get(name)) for name in ("type", "code", "status", "message")]
        text = ": ".join(dict.fromkeys(filter(None, parts))) or "an error without a message"
    else:
        text = str(error)
    return text if len(text) <= _MOST_MESSAGE else f"{text[:_MOST_MESSAGE]}…"
