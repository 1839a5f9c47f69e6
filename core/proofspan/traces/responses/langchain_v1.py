"""LangChain v1: messages whose text blocks have citations, and what retrieval chains return."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from proofspan.contracts.records.field_values import text_of
from proofspan.contracts.records.records import Json
from proofspan.traces.formats.records import read_records
from proofspan.traces.formats.types import Asked, Cited, Format, Passage, Reading, Sample
from proofspan.traces.responses.base import (
    WEB_PAGE,
    asked,
    citation_passage,
    cited_chunks,
    last_page_of,
    objects,
    range_of,
    text_in,
)
from proofspan.traces.responses.documents import search_result
from proofspan.traces.responses.exchanges import Exchange, error_of, exchange_of
from proofspan.traces.responses.parts import (
    camel,
    entries,
    mapping,
    sentence_before,
    span_of,
    whole,
    words,
)
from proofspan.traces.responses.streams import whole_responses

_TYPES = {
    "human": "human",
    "HumanMessage": "human",
    "ai": "ai",
    "AIMessage": "ai",
    "AIMessageChunk": "ai",
    "tool": "tool",
    "ToolMessage": "tool",
    "system": "system",
    "SystemMessage": "system",
}
#: The keys of a retrieval chain's output: its question, answer and documents.
_QUESTIONS = ("input", "question", "query")
_ANSWERS = ("answer", "result", "output", "response")
_DOCUMENTS = ("context", "source_documents", "documents")
_FILES = frozenset({"file", "text-plain", "document"})
#: The fields that are read of messages of people and tools, of blocks of text, and of other blocks.
_GIVEN = frozenset({"type", "content", "artifact"})
_TEXT = frozenset({"type", "text", "annotations", "citations", "id", "index"})
_OTHER = frozenset({"type"})


@dataclass(slots=True)
class _Turn:
    """The messages of a conversation before an answer."""

    q: str = ""
    #: Whether a message waits for an answer.
    waits: bool = False
    #: The names of all files and all search results so far, in the order of their indexes.
    files: list[str] = field(default_factory=list)
    results: list[Passage] = field(default_factory=list)
    #: The documents that tools returned, and the messages that called them.
    chunks: list[Passage] = field(default_factory=list)
    steps: list[Json] = field(default_factory=list)


def message_of(record: Mapping[str, Json]) -> dict[str, Json] | None:
    """Return a message with its `type`, however LangChain wrote it; None for anything else.

    It writes one as `model_dump`, as `messages_to_dict` with its fields in `data`, and as `dumpd` with them
    in `kwargs`.
    """
    value = mapping(record)
    if "lc" in value and isinstance(value.get("kwargs"), dict):
        path = value.get("id")
        named = path[-1] if isinstance(path, list) and path else None
        value = {"type": named, **mapping(value["kwargs"])}
    elif isinstance(value.get("data"), dict):
        value = {**mapping(value["data"]), "type": value.get("type")}
    kind = value.get("type")
    if not isinstance(kind, str) or kind not in _TYPES or not isinstance(value.get("content"), str | list):
        return None
    return {**value, "type": _TYPES[kind]}


def _messages_in(record: Mapping[str, Json]) -> list[dict[str, Json]]:
    """Return the messages of a record: of a state with `messages`, or the one that it is."""
    listed = record.get("messages")
    if isinstance(listed, list):
        rows = whole_responses((("", each) for each in entries(listed)), Reading(""))
        return [message for _, each in rows if (message := message_of(each)) is not None]
    message = message_of(record)
    return [] if message is None else [message]


def _documents_in(record: Mapping[str, Json]) -> list[dict[str, Json]]:
    """Return the documents of a retrieval chain's output."""
    listed = next((record[name] for name in _DOCUMENTS if isinstance(record.get(name), list)), None)
    return [found for each in entries(listed) if "page_content" in (found := _document(each))]


def _document(record: Mapping[str, Json]) -> dict[str, Json]:
    return dict(mapping(record["kwargs"]) if "lc" in record and "kwargs" in record else record)


def detect(sample: Sample) -> str | None:
    """Return why a source is LangChain's: its messages have types, or a chain's output has documents."""
    reading = Reading(sample.path.name)
    found = whole_responses((("", dict(each)) for each in sample.records), reading)
    records = [exchange_of(place, each).response for place, each in found]
    messages = [_messages_in(each) for each in records]
    if records and all(messages) and any(each["type"] == "ai" for found in messages for each in found):
        return "its messages have the types and contents of LangChain's"
    if records and all(
        _documents_in(each) and any(isinstance(each.get(name), str) for name in _ANSWERS) for each in records
    ):
        return "every answer has documents with a page_content"
    return None


def read(path: Path, reading: Reading) -> Iterator[Asked]:
    """Yield a question for each answer; messages that follow each other are one conversation."""
    turn = _Turn()
    for place, record in whole_responses(read_records(path, reading), reading):
        exchange = exchange_of(place, record, reading)
        if (error := error_of(exchange.response)) is not None:
            message, fix = f"the API returned an error: {error}", "Ask again and save that response."
            reading.problem("api_error", message, place, fix)
            continue
        response = exchange.response
        messages = _messages_in(response)
        if documents := _documents_in(response):
            yield _of_chain(exchange, documents, reading)
        elif not messages:
            message = "is neither a message nor the output of a retrieval chain"
            reading.problem("not_a_response", message, place, "Save it with model_dump() or dumpd().")
        else:
            if "messages" in response or exchange.request or exchange.question:
                _end(turn, place, reading)
                turn = _Turn(q=exchange.question or "")
            if exchange.request:
                for each in _messages_in(exchange.request):
                    _take(turn, each, reading, place)
            yield from _answers(turn, messages, exchange, reading)
    _end(turn, "the end", reading)


def _end(turn: _Turn, place: str, reading: Reading) -> None:
    """Note a conversation that ends without an answer."""
    if turn.waits:
        message, fix = "ends without an answer", "Save the conversation with its last message."
        reading.problem("no_answer", message, f"the conversation before {place}", fix)


def _answers(
    turn: _Turn, messages: list[dict[str, Json]], exchange: Exchange, reading: Reading
) -> Iterator[Asked]:
    for number, message in enumerate(messages, start=1):
        turn.waits = True
        at = exchange.place if len(messages) == 1 else f"{exchange.place}, message {number:,}"
        if message["type"] != "ai":
            _take(turn, message, reading, at)
        elif message.get("tool_calls"):
            turn.steps.append(
                {name: message[name] for name in ("content", "tool_calls") if message.get(name)}
            )
        else:
            own = Exchange(
                place=at,
                response=message,
                request=exchange.request,
                question=exchange.question,
                q_id=exchange.q_id,
                beside=exchange.beside,
            )
            yield _of_message(own, turn, reading)
            turn.q, turn.chunks, turn.steps, turn.waits = "", [], [], False


def _take(turn: _Turn, message: Mapping[str, Json], reading: Reading, at: str) -> None:
    """Note what a message of a person or of a tool gives."""
    reading.fields(message, _GIVEN, f"{message['type']}.")
    if message["type"] == "human":
        turn.q = text_in(message.get("content")) or turn.q
    blocks = entries(message.get("content"))
    for block in blocks:
        if block.get("type") == "search_result":
            turn.results.append(search_result(block, len(turn.results) + 1))
        elif words(block.get("type")) in _FILES:
            extras = {**mapping(block.get("extras")), **block}
            names = ("title", "filename", "name", "url", "id", "file_id")
            file = next((text for each in names if (text := words(extras.get(each)))), None)
            turn.files.append(file or f"document {len(turn.files)}")
    for _, found in objects(message.get("artifact"), reading, at, "document") if _is_list(message) else ():
        if "page_content" in (document := _document(found)):
            turn.chunks.append(_chunk(document, len(turn.chunks)))


def _is_list(message: Mapping[str, Json]) -> bool:
    return isinstance(message.get("artifact"), list)


def _of_message(exchange: Exchange, turn: _Turn, reading: Reading) -> Asked:
    """Return the answer of a message of a model."""
    message = exchange.response
    answer, cited = "", list[Cited]()
    content = message.get("content")
    for each in content if isinstance(content, list) else [content]:
        begin, text = len(answer), each if isinstance(each, str) else ""
        block = mapping(each)
        if block.get("type") == "text":
            text += words(block.get("text")) or ""
            reading.fields(block, _TEXT, "content.")
        elif block:
            reading.fields(block, _OTHER, f"content.{block.get('type')}.")
        answer += text
        for name in ("annotations", "citations"):
            for _, annotation in objects(block.get(name), reading, exchange.place, "citation"):
                reading.fields(annotation, annotation, "citations.")
                cited.append(_citation(annotation, text, begin, turn))
    metadata = mapping(message.get("response_metadata"))
    found = asked(
        exchange,
        reading,
        model=words(metadata.get("model_name")) or words(metadata.get("model")),
        question=turn.q,
        answer=answer,
        cited=cited,
        lists={"chunks": [*turn.results, *turn.chunks, *cited_chunks(cited)]},
        used=("content", "type", "tool_calls"),
        kept=("response_metadata", "usage_metadata", "name"),
    )
    return replace(found, fields={**found.fields, "steps": turn.steps}) if turn.steps else found


def _citation(annotation: Mapping[str, Json], text: str, begin: int, turn: _Turn) -> Cited:
    """Return a citation of a block whose text begins at a character of the answer.

    What a provider says besides is in `extras`, or in `value` where LangChain could not translate it.
    """
    stated = {**annotation, **mapping(annotation.get("extras")), **mapping(annotation.get("value"))}
    location = {
        name: mapping(each)
        for name, each in mapping(camel(stated.get("location"))).items()
        if each is not None
    }
    at = next(iter(location.values()), {})
    number = stated.get("document_index")
    index = whole(at.get("documentIndex") if number is None else number)
    result = whole(stated.get("search_result_index"))
    known = turn.results[result] if result is not None and 0 <= result < len(turn.results) else None
    title = words(stated.get("document_title")) or words(stated.get("title")) or words(stated.get("filename"))
    file = turn.files[index] if index is not None and 0 <= index < len(turn.files) else None
    url = words(stated.get("url"))
    page, end = whole(stated.get("start_page_number")), whole(stated.get("end_page_number"))
    if "documentPage" in location:
        page, end = (whole(location["documentPage"].get(name)) for name in ("start", "end"))
    offsets = range_of(stated.get("start_char_index"), stated.get("end_char_index"))
    if "documentChar" in location:
        offsets = range_of(at.get("start"), at.get("end"))
    # Google's quote is the part of the answer: the text of its source is not in the message.
    google = "google_ai_metadata" in stated
    passage = citation_passage(
        annotation,
        quote=None if google else stated.get("cited_text"),
        dropped=("cited_text",),
        document=(known and known.document) or title or file or url or words(stated.get("file_id")),
        page=page,
        last_page=last_page_of(end),
        offsets=offsets,
    )
    cited = Cited(passage=passage, chunk=known.id if known else None)
    cited.span = _span(stated, text, begin, words(stated.get("cited_text")) if google else None)
    if page is None and url is not None and url.startswith("http"):
        cited.reason = WEB_PAGE
    return cited


def _span(stated: Mapping[str, Json], text: str, begin: int, segment: str | None) -> tuple[int, int] | None:
    """Return the characters of the answer that a citation supports: those stated, else all of its block."""
    start, end, mark = (whole(stated.get(name)) for name in ("start_index", "end_index", "index"))
    if end is not None or segment:
        found = span_of(text, start or 0, end, segment)
    elif "file_id" in stated and mark is not None and "start_page_number" not in stated:
        found = sentence_before(text, 0, min(max(mark, 0), len(text)))
    else:
        found = (0, len(text)) if text else None
    return found and (begin + found[0], begin + found[1])


def _of_chain(exchange: Exchange, documents: list[dict[str, Json]], reading: Reading) -> Asked:
    """Return the output of a retrieval chain: its documents are what the model saw."""
    response = exchange.response
    question = next((text for name in _QUESTIONS if (text := words(response.get(name)))), None)
    answer = next((text for name in _ANSWERS if (text := words(response.get(name)))), None)
    return asked(
        exchange,
        reading,
        question=question,
        answer=answer,
        lists={"chunks": [_chunk(each, number) for number, each in enumerate(documents)]},
        used=(*_QUESTIONS, *_ANSWERS, *_DOCUMENTS),
        kept=(),
    )


def _chunk(document: Mapping[str, Json], number: int) -> Passage:
    metadata = dict(mapping(document.get("metadata")))
    names = ("source", "file_path", "file_name", "filename", "title")
    source = next((text for name in names if (text := words(metadata.get(name)))), None)
    page = whole(metadata.get("page"))
    return Passage(
        text=words(document.get("page_content")),
        id=text_of(document.get("id")) or f"{source or 'document'}#{number + 1}",
        document=source,
        page=whole(metadata.get("page_number")) if page is None else page,
        label=text_of(metadata.get("page_label")),
        more={"metadata": metadata} if metadata else {},
    )


_EXAMPLE = b"""[{"type": "human", "content": [
  {"type": "file", "id": "file-1", "mime_type": "application/pdf", "extras": {"title": "manual.pdf"}},
  {"type": "text", "text": "How much oil does the engine take?"}]},
 {"type": "ai", "id": "lc_run--1", "content": [
  {"type": "text", "text": "The engine takes "},
  {"type": "text", "text": "4.5 litres", "annotations": [{"type": "citation", "title": "manual.pdf",
    "cited_text": "Engine oil, with filter: 4.5 litres.",
    "extras": {"document_index": 0, "start_page_number": 42, "end_page_number": 43, "file_id": "file-1"}}]},
  {"type": "text", "text": "."}],
  "response_metadata": {"output_version": "v1", "model_provider": "anthropic",
    "model_name": "claude-sonnet-4-5"}}]
"""

LANGCHAIN: Format = Format(
    name="langchain",
    title="LangChain messages",
    versions="langchain-core 1.7: content blocks of v1 and of the providers, dumpd, messages_to_dict",
    suffix=".json",
    example=_EXAMPLE,
    documentation="A message of a model answers the last message of a person; messages in a row are one "
    "conversation. Citations are the annotations of text blocks, with a provider's own numbers in `extras`: "
    "Anthropic's and Bedrock's pages count from 1. Documents that a tool returned are chunks, and so are "
    "those of a retrieval chain's output and what citations quote.",
    detect=detect,
    read=read,
)
