"""Chat completions and conversations of Mistral's API, with references to results of tools.

A reference comes after the text that it supports. `reference_ids` are keys of the object, or positions of the
list, that a tool returned as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from proofspan.contracts.records.field_values import text_of
from proofspan.contracts.records.records import Json
from proofspan.traces.formats.records import json_of
from proofspan.traces.formats.types import Asked, Cited, Passage, Reading
from proofspan.traces.responses.base import (
    WEB_PAGE,
    asked,
    citation_passage,
    cited_chunks,
    objects,
    question_of,
    response_format,
    text_in,
)
from proofspan.traces.responses.documents import passage_of, quoted
from proofspan.traces.responses.exchanges import Exchange
from proofspan.traces.responses.parts import Record, entries

_KEPT = ("created", "usage", "guardrails")
_MODELS = ("mistral", "ministral", "magistral", "open-mi", "codestral", "devstral", "pixtral", "voxtral")
_LIBRARY = "document_library"


def is_response(record: Mapping[str, Json]) -> bool:
    """Return whether a record is a chat completion or a conversation, as the API returns it."""
    if record.get("object") == "conversation.response":
        return isinstance(record.get("outputs"), list)
    model = text_of(record.get("model")) or ""
    if record.get("object") != "chat.completion" or not isinstance(record.get("choices"), list):
        return False  # other APIs' completions have the same shape, without references
    return model.rpartition("/")[2].startswith(_MODELS) or any(
        isinstance(block, dict) and block.get("type") == "reference"
        for content in _contents(record)
        if isinstance(content, list)
        for block in content
    )


def asked_of(exchange: Exchange, reading: Reading) -> Asked:
    """Return the question of a response. A reference to several documents is as many citations."""
    request = exchange.request
    documents = _documents(request.get("messages"))
    answer, cited = "", list[Cited]()
    for content in _contents(exchange.response, reading, exchange.place):
        if isinstance(content, str):
            answer += content
            continue
        start = len(answer)
        for at, block in objects(content, reading, exchange.place, "block"):
            kind, text = text_of(block.get("type")), block.get("text")
            if kind == "text" and isinstance(text, str):
                start, answer = len(answer), answer + text
            elif kind in ("reference", "tool_reference"):
                span = (start, len(answer)) if start < len(answer) else None
                cited += _cited(block, span, documents, at, reading)
            else:
                reading.left[f"content.{kind or 'block'}"] += 1
    is_chat = "choices" in exchange.response
    if not is_chat and "model" not in exchange.response:  # a conversation has it with each output
        models = (text_of(each.get("model")) for each in entries(exchange.response.get("outputs")))
        model = next(filter(None, models), None)
        exchange = replace(exchange, response={**exchange.response, "model": model})
    return asked(
        exchange,
        reading,
        question=question_of(request.get("messages") if is_chat else request.get("inputs")),
        answer=answer or None,
        cited=cited,
        lists={"chunks": [*documents.values(), *cited_chunks(cited)]},
        used=("object", "choices", "outputs"),
        kept=_KEPT,
        asked_by=("messages", "inputs"),
        id_name="id" if is_chat else "conversation_id",
    )


def _contents(record: Mapping[str, Json], reading: Reading | None = None, place: str = "") -> list[Json]:
    """Return the contents of the first choice's message, or of the messages of a conversation."""
    reading = reading or Reading("")
    if "choices" in record:
        choices = [each for _, each in objects(record["choices"], reading, place, "choice")]
        for _ in choices[1:]:
            reading.left["choices.more"] += 1
        messages = [each.get("message") for each in choices[:1]]
    else:
        outputs = [each for _, each in objects(record.get("outputs"), reading, place, "output")]
        messages = [each for each in outputs if each.get("type") == "message.output"]
        for each in outputs:
            if each.get("type") != "message.output":
                reading.left[f"outputs.{text_of(each.get('type')) or 'output'}"] += 1
    return [
        each["content"] for each in messages if isinstance(each, dict) and each.get("content") is not None
    ]


def _documents(messages: Json) -> dict[str, Passage]:
    """Return what tools returned, by the ids that references name; those of the last tool count first."""
    found: dict[str, Passage] = {}
    for message in reversed(messages if isinstance(messages, list) else []):
        if not isinstance(message, dict) or message.get("role") != "tool":
            continue
        value = json_of(text_in(message.get("content")))
        items = (
            enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ()
        )
        for key, document in items:
            own = text_of(document.get("id")) if isinstance(document, dict) else None
            name = own if own and isinstance(value, list) else str(key)
            found.setdefault(name, passage_of(document, id=name))
    return found


def _cited(
    block: Record,
    span: tuple[int, int] | None,
    documents: dict[str, Passage],
    place: str,
    reading: Reading,
) -> list[Cited]:
    reading.fields(block, block, at=f"{block['type']}.")
    if block["type"] == "tool_reference":
        return [_tool_cited(block, span)]
    ids = block.get("reference_ids")
    found = []
    for value in ids if isinstance(ids, list) else []:
        name = text_of(value)
        known = documents.get(name or "")
        if known is None:
            reason = f"names {name or 'nothing'}, which is in no result of a tool in the file"
            passage = citation_passage({"reference_id": value}, quote=None, dropped=())
            found.append(Cited(passage=passage, span=span, reason=reason))
        else:
            found.append(Cited(passage=quoted(known, {"reference_id": value}), chunk=name, span=span))
    if not found:
        fix = "Save the response as the API returned it."
        reading.problem("no_references", "names no reference", place, fix, lost=False)
    return found


def _tool_cited(block: Record, span: tuple[int, int] | None) -> Cited:
    """Return a reference to a tool's source: a document of a library, or a web page."""
    is_library = block.get("tool") == _LIBRARY
    passage = citation_passage(
        block,
        quote=block.get("description") if is_library else None,
        dropped=(),
        document=text_of(block.get("title")) if is_library else None,
    )
    if (url := text_of(block.get("url"))) is not None:
        passage.more["source_url"] = url
    reason = "" if is_library else WEB_PAGE if url else "names a tool, not a document"
    return Cited(passage=passage, span=span, reason=reason)


MISTRAL = response_format(
    name="mistral",
    title="Mistral chat and conversations",
    versions="mistralai 3.7",
    why="it is a chat completion with references, or a conversation",
    example=(
        b'{"request":{"messages":[{"role":"user","content":"How much oil?"},{"role":"tool","content":'
        b'"{\\"0\\":{\\"filename\\":\\"manual.pdf\\",\\"snippets\\":[[\\"Engine oil: 4.5 litres.\\"]]}}"}]},'
        b'"response":{"id":"m1","object":"chat.completion","model":"mistral-large-latest","choices":['
        b'{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":['
        b'{"type":"text","text":"4.5 litres"},{"type":"reference","reference_ids":[0]}]}}]}}'
    ),
    documentation="A response is a question; its text and the documents are in the request, if that is saved "
    "as well. References name what a tool returned as a JSON object or list, and support the text before "
    "them. Of several choices the first is read.",
    is_response=is_response,
    is_snake=True,
    asked_of=asked_of,
)
