"""The events of each API's streams: how they are recognized, and how a response is put together of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from proofspan.contracts.records.field_values import index_of
from proofspan.contracts.records.records import Json
from proofspan.traces.formats.records import json_of
from proofspan.traces.responses.parts import Record, entries, mapping, words

#: The most entries that a place in a list, named by an event, may make.
_MOST_ENTRIES = 10_000

_ANTHROPIC = frozenset(
    {"message_start", "content_block_start", "content_block_delta", "content_block_stop"}
    | {"message_delta", "message_stop", "ping"}
)
_COHERE = frozenset(
    {"message-start", "content-start", "content-delta", "content-end", "tool-plan-delta", "tool-call-start"}
    | {"tool-call-delta", "tool-call-end", "citation-start", "citation-end", "message-end"}
)
_MISTRAL = (
    "conversation.response.",
    "message.output.",
    "tool.execution.",
    "agent.handoff.",
    "function.call.",
)
_CONVERSE = frozenset(
    {"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"}
)
_GENERATED = frozenset({"output", "citation", "guardrail"})


class Kind(NamedTuple):
    """How the events of an API are recognized, begin another response, and are added to one.

    `fields` are those of which an event has one, and `is_event` decides for a record that does. `begins` is
    whether an event is the first of a response; `id_of` the id of its response, if it has it.
    `is_whole_alone`: an event looks as an unstreamed response does, and is one if no other follows it.
    """

    name: str
    fields: frozenset[str]
    is_event: Callable[[Mapping[str, Json]], bool]
    begins: Callable[[Mapping[str, Json]], bool]
    add: Callable[[Stream, Record], None]
    id_of: Callable[[Mapping[str, Json]], str | None] = lambda _: None
    is_whole_alone: bool = False


@dataclass(slots=True)
class Stream:
    """A response as far as its events have come.

    `is_complete`: the event that ends it has come. `id` is the response's, by which events of others differ.
    `first` is the first event.
    """

    kind: Kind
    place: str
    first: Record
    response: Record = field(default_factory=dict)
    id: str | None = None
    events: int = 0
    is_complete: bool = False


def type_of(event: Mapping[str, Json]) -> str:
    return words(event.get("type")) or ""


def _at(listed: Json, index: Json, new: Callable[[], Record]) -> Record:
    """Return the entry of a list at an index, with new ones up to it; the last without an index."""
    if not isinstance(listed, list):
        return new()
    number = index_of(index)
    number = max(len(listed) - 1, 0) if number is None or not 0 <= number < _MOST_ENTRIES else number
    while len(listed) <= number:
        listed.append(new())
    entry = listed[number]
    return entry if isinstance(entry, dict) else new()


def _extend(entry: Record, name: str, value: Json) -> None:
    """Add a piece to a text or a list of an entry."""
    known = entry.get(name)
    if isinstance(value, list):
        entry[name] = [*(known if isinstance(known, list) else []), *value]
    elif isinstance(value, str):
        entry[name] = (known if isinstance(known, str) else "") + value


# Anthropic Messages.


def _add_anthropic(stream: Stream, event: Record) -> None:
    if not stream.response:
        stream.response = {"type": "message", "role": "assistant", "content": [], "stop_reason": None}
    response, kind = stream.response, type_of(event)
    delta = mapping(event.get("delta"))
    if kind == "message_start":
        response.update(mapping(event.get("message")))
        response["content"] = [*entries(response.get("content"))]
    elif kind == "content_block_start":
        block = _at(response["content"], event.get("index"), dict)
        block.update(mapping(event.get("content_block")))
    elif kind == "content_block_delta":
        block = _at(response["content"], event.get("index"), lambda: {"type": "text"})
        if delta.get("type") == "citations_delta":
            _extend(block, "citations", [delta.get("citation")])
        for name in ("text", "thinking"):
            _extend(block, name, delta.get(name))
    elif kind == "message_delta":
        response.update({name: value for name, value in delta.items() if value is not None})
        response["usage"] = {**mapping(response.get("usage")), **mapping(event.get("usage"))}
    stream.is_complete |= kind == "message_stop" or response.get("stop_reason") is not None


# OpenAI Responses.


def _add_openai(stream: Stream, event: Record) -> None:
    if not stream.response:
        stream.response = {"object": "response", "output": []}
    kind, response = type_of(event), event.get("response")
    if isinstance(response, dict):
        # Those before the last one have no output yet.
        output = response.get("output") or stream.response["output"]
        stream.response = {**response, "object": "response", "output": output}
        stream.is_complete |= kind in ("response.completed", "response.incomplete", "response.failed")
    if stream.is_complete:
        return
    item = _at(stream.response["output"], event.get("output_index"), lambda: {"type": "message"})
    if kind in ("response.output_item.added", "response.output_item.done"):
        item.update(mapping(event.get("item")))
        return
    if not kind.startswith(("response.content_part.", "response.output_text.", "response.refusal.")):
        return
    if not isinstance(item.get("content"), list):
        item["content"] = []
    part = _at(item["content"], event.get("content_index"), lambda: {"type": "output_text"})
    if kind.startswith("response.content_part."):
        part.update(mapping(event.get("part")))
    elif kind == "response.output_text.annotation.added":
        _extend(part, "annotations", [event.get("annotation")])
    elif kind in ("response.output_text.delta", "response.refusal.delta"):
        _extend(part, "text" if "text" in kind else "refusal", event.get("delta"))
    elif kind == "response.output_text.done" and isinstance(event.get("text"), str):
        part["text"] = event["text"]


# Cohere, both versions.


def _add_cohere(stream: Stream, event: Record) -> None:
    if not stream.response:
        stream.response = {"finish_reason": None, "message": {"role": "assistant", "content": []}}
    response, kind, delta = stream.response, type_of(event), mapping(event.get("delta"))
    stated = mapping(delta.get("message"))
    message = mapping(response["message"])
    if not isinstance(message, dict):
        return
    content = stated.get("content")
    if kind == "message-start":
        response["id"] = event.get("id")
    elif kind == "content-start":
        _at(message["content"], event.get("index"), dict).update(mapping(content))
    elif kind == "content-delta":
        block = _at(message["content"], event.get("index"), lambda: {"type": "text"})
        for name in ("text", "thinking"):
            _extend(block, name, mapping(content).get(name))
    elif kind == "citation-start":
        given = stated.get("citations")
        _extend(message, "citations", given if isinstance(given, list) else [given])
    elif kind == "message-end":
        response.update(delta)
        stream.is_complete = True


def _add_cohere_1(stream: Stream, event: Record) -> None:
    kind, response = event.get("event_type"), stream.response
    if not response:
        response |= {"text": "", "finish_reason": None}
    if kind == "stream-start":
        response["generation_id"] = event.get("generation_id")
    elif kind == "text-generation":
        _extend(response, "text", event.get("text"))
    elif kind in ("citation-generation", "search-results"):
        for name in ("citations", "documents"):
            _extend(response, name, event.get(name))
    elif kind == "stream-end":
        response.update(mapping(event.get("response")))
        response["finish_reason"] = event.get("finish_reason")
        stream.is_complete = True


# Chat completions: Mistral's, Azure's, and of proxies.


def _is_completion(event: Mapping[str, Json]) -> bool:
    return event.get("object") in ("chat.completion.chunk", "extensions.chat.completion.chunk")


def _add_completion(stream: Stream, event: Record) -> None:
    response = stream.response
    if not response:
        response |= {name: value for name, value in event.items() if name != "choices"}
        response |= {"object": "chat.completion", "choices": []}
    if event.get("usage") is not None:
        response["usage"] = event["usage"]
    for choice in entries(event.get("choices")):
        known = _at(response["choices"], choice.get("index"), lambda: {"message": {"role": "assistant"}})
        message = known["message"]
        # Azure's versions of 2023 send the messages of its tools as well.
        given = [mapping(each.get("delta")) for each in (choice, *entries(choice.get("messages")))]
        for delta in given if isinstance(message, dict) else ():
            _add_delta(message, delta)
        if choice.get("finish_reason") is not None:
            known["finish_reason"] = choice["finish_reason"]
            stream.is_complete = True


def _add_delta(message: Record, delta: Mapping[str, Json]) -> None:
    content = delta.get("content")
    if delta.get("role") == "tool":
        message["context"] = {**mapping(message.get("context")), **mapping(json_of(content))}
        return
    if isinstance(content, list) and not isinstance(message.get("content"), list):
        text = words(message.get("content"))
        message["content"] = [{"type": "text", "text": text}] if text else []
    if isinstance(content, str) and isinstance(message.get("content"), list):
        content = [{"type": "text", "text": content}] if content else []
    _extend(message, "content", content)
    if isinstance(message.get("content"), list):
        message["content"] = _joined_texts(entries(message["content"]))
    _extend(message, "annotations", delta.get("annotations"))
    given = mapping(delta.get("provider_specific_fields"))
    if given:
        known = mapping(message.get("provider_specific_fields"))
        message["provider_specific_fields"] = {**known, **given}
    if isinstance(delta.get("context"), dict):
        message["context"] = {**mapping(message.get("context")), **mapping(delta["context"])}


def _joined_texts(blocks: list[Record]) -> list[Json]:
    """Return blocks of which no two texts follow each other."""
    found: list[Record] = []
    for each in blocks:
        is_text = each.get("type") == "text" and isinstance(each.get("text"), str)
        if is_text and found and found[-1].get("type") == "text":
            found[-1] = {**found[-1], "text": f"{found[-1].get('text') or ''}{each['text']}"}
        else:
            found.append(each)
    return [*found]


# Conversations of Mistral.


def _add_conversation(stream: Stream, event: Record) -> None:
    response, kind = stream.response, type_of(event)
    if not response:
        response |= {"object": "conversation.response", "outputs": []}
    if kind == "conversation.response.started":
        response["conversation_id"] = event.get("conversation_id")
    elif kind == "conversation.response.done":
        response["usage"] = event.get("usage")
        stream.is_complete = True
    elif kind == "conversation.response.error":
        response["error"] = {name: event.get(name) for name in ("code", "message")}
        stream.is_complete = True
    elif kind == "message.output.delta":
        outputs = response["outputs"]
        known = entries(outputs)
        entry = next((each for each in known if each.get("id") == event.get("id")), None)
        if entry is None:
            entry = {"type": "message.output", "id": event.get("id"), "role": "assistant"}
            _extend(response, "outputs", [entry])
        content = event.get("content")
        _add_delta(entry, {"content": [content] if isinstance(content, dict) else content})
        if event.get("model"):
            response["model"] = event["model"]


# Bedrock.


def _is_converse(event: Mapping[str, Json]) -> bool:
    named = event.keys() & _CONVERSE
    return len(event) == 1 and bool(named) and all(isinstance(event[name], dict) for name in named)


def _add_converse(stream: Stream, event: Record) -> None:
    if not stream.response:
        message: Record = {"role": "assistant", "content": []}
        stream.response = {"output": {"message": message}, "stopReason": None}
    content = mapping(mapping(stream.response["output"])["message"])["content"]
    ((kind, given),) = event.items()
    value, delta = mapping(given), mapping(mapping(given).get("delta"))
    if kind == "contentBlockDelta":
        block = _at(content, value.get("contentBlockIndex"), dict)
        if isinstance(delta.get("citation"), dict):
            # A text with citations is a block of its own kind, in which the text is a list.
            text: Json = [{"text": block.pop("text", "")}]
            cites = block.setdefault("citationsContent", {"content": text, "citations": []})
            if isinstance(cites, dict):
                _extend(cites, "citations", [delta["citation"]])
        cites = mapping(block.get("citationsContent"))
        _extend(_at(cites["content"], 0, dict) if cites else block, "text", delta.get("text"))
    elif kind == "messageStop":
        stream.response.update(value)
        stream.is_complete = True
    elif kind == "metadata":
        stream.response.update({name: value.get(name) for name in ("usage", "metrics")})


def _is_generated(event: Mapping[str, Json]) -> bool:
    if len(event) != 1:
        return False
    ((kind, value),) = event.items()
    names = mapping(value).keys()
    return (
        (kind == "output" and names == {"text"})
        or (kind == "citation" and bool(names & {"citation", "generatedResponsePart"}))
        or (kind == "guardrail" and names == {"action"})
    )


def _add_generated(stream: Stream, event: Record) -> None:
    if not stream.response:
        stream.response = {"output": {"text": ""}, "citations": []}
    ((kind, given),) = event.items()
    value = mapping(given)
    if kind == "output":
        text = words(mapping(stream.response["output"]).get("text")) or ""
        stream.response["output"] = {"text": text + (words(value.get("text")) or "")}
    elif kind == "citation":
        # Both places of a citation's fields are in the API; `citation` is the older one.
        own = {name: each for name, each in value.items() if name != "citation" and each}
        _extend(stream.response, "citations", [own or value.get("citation")])
    else:
        stream.response["guardrailAction"] = value.get("action")
    stream.is_complete = True  # nothing says that it is


# Gemini.


def _is_gemini(event: Mapping[str, Json]) -> bool:
    candidates = entries(event.get("candidates"))
    return bool(candidates) and all(
        each.keys() & {"content", "finishReason", "finish_reason", "groundingMetadata", "grounding_metadata"}
        for each in candidates
    )


def _gemini_id(event: Mapping[str, Json]) -> str | None:
    return words(event.get("responseId")) or words(event.get("response_id"))


def _add_gemini(stream: Stream, event: Record) -> None:
    response = stream.response
    candidates = response.get("candidates")
    response.update(
        {name: value for name, value in event.items() if value is not None and name != "candidates"}
    )
    response["candidates"] = candidates if isinstance(candidates, list) else []
    for given in entries(event.get("candidates")):
        known = _at(response["candidates"], given.get("index") or 0, dict)
        parts = [*entries(mapping(known.get("content")).get("parts"))]
        for part in entries(mapping(given.get("content")).get("parts")):
            # Offsets of grounding index the parts of the whole response, in which texts in a row are one.
            is_same = bool(parts) and words(part.get("text")) is not None
            if is_same and {**parts[-1], "text": ""} == {**part, "text": ""}:
                _extend(parts[-1], "text", part["text"])
            else:
                parts.append({**part})
        known.update({name: value for name, value in given.items() if value is not None})
        known["content"] = {**mapping(given.get("content")), "role": "model", "parts": [*parts]}
        # The grounding comes with the last part of an answer.
        ends = ("finishReason", "finish_reason", "groundingMetadata", "grounding_metadata")
        stream.is_complete |= any(given.get(name) is not None for name in ends)


# LangChain.


def _is_chunk(event: Mapping[str, Json]) -> bool:
    return event.get("type") == "AIMessageChunk" and isinstance(event.get("content"), str | list)


def _add_chunk(stream: Stream, event: Record) -> None:
    response = stream.response
    known, given = response.get("content"), event.get("content")
    for name, value in event.items():
        if isinstance(value, dict):
            response[name] = {**mapping(response.get(name)), **value}
        elif value is not None and value != [] and name != "content":
            response[name] = value
    stream.is_complete |= event.get("chunk_position") == "last" or bool(
        mapping(response.get("response_metadata")).keys() & {"finish_reason", "stop_reason", "stopReason"}
    )
    if isinstance(given, str) and isinstance(known, str | None):
        response["content"] = (known or "") + given
        return
    content: list[Json] = [*known] if isinstance(known, list) else [known] if known else []
    for block in given if isinstance(given, list) else [given]:
        index = mapping(block).get("index")
        own = (each for each in entries(content) if index is not None and each.get("index") == index)
        if (same := next(own, None)) is None:
            if block != "":
                content.append({**block} if isinstance(block, dict) else block)
            continue
        for name, value in mapping(block).items():
            if name not in ("type", "index", "id"):
                _extend(same, name, value)
    response["content"] = content


# Messages of a conversation, which are no stream but come in a row as well.


def _is_message(event: Mapping[str, Json]) -> bool:
    return (
        event.get("role") in ("system", "user", "assistant", "tool")
        and "content" in event
        and "type" not in event
    )


def _add_message(stream: Stream, event: Record) -> None:
    _extend(stream.response, "messages", [event])
    stream.is_complete = True


_TYPE = frozenset({"type"})

KINDS = (
    Kind(
        "anthropic",
        _TYPE,
        lambda event: type_of(event) in _ANTHROPIC,
        lambda event: type_of(event) == "message_start",
        _add_anthropic,
    ),
    Kind(
        "openai",
        _TYPE,
        lambda event: type_of(event).startswith("response."),
        lambda event: type_of(event) == "response.created",
        _add_openai,
    ),
    Kind(
        "cohere",
        _TYPE,
        lambda event: type_of(event) in _COHERE,
        lambda event: type_of(event) == "message-start",
        _add_cohere,
    ),
    Kind(
        "cohere_1",
        frozenset({"event_type"}),
        lambda event: isinstance(event.get("event_type"), str),
        lambda event: event.get("event_type") == "stream-start",
        _add_cohere_1,
    ),
    Kind(
        "mistral",
        _TYPE,
        lambda event: type_of(event).startswith(_MISTRAL),
        lambda event: type_of(event) == "conversation.response.started",
        _add_conversation,
    ),
    Kind(
        "completion",
        frozenset({"object"}),
        _is_completion,
        lambda _: False,
        _add_completion,
        lambda event: words(event.get("id")),
    ),
    Kind("converse", _CONVERSE, _is_converse, lambda event: "messageStart" in event, _add_converse),
    Kind("generated", _GENERATED, _is_generated, lambda _: False, _add_generated),
    Kind(
        "gemini",
        frozenset({"candidates"}),
        _is_gemini,
        lambda _: False,
        _add_gemini,
        _gemini_id,
        True,
    ),
    Kind(
        "langchain",
        _TYPE,
        _is_chunk,
        lambda _: False,
        _add_chunk,
        lambda event: words(event.get("id")),
        True,
    ),
    Kind("messages", frozenset({"role"}), _is_message, lambda _: False, _add_message, is_whole_alone=True),
)
_FIELDS = frozenset[str]().union(*(each.fields for each in KINDS))


def kind_of(event: Mapping[str, Json]) -> Kind | None:
    """Return the kind of an event; None for a record of another kind."""
    for each in KINDS if not _FIELDS.isdisjoint(event) else ():
        if not each.fields.isdisjoint(event) and each.is_event(event):
            return each
    return None
