"""Chat responses of Cohere's API, version 2, with the parts of the answer that documents support.

The types' comments say that `start` and `end` index the source; the API's examples index the answer. So they
are compared with `text`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from proofspan.contracts.records.field_values import index_of, text_of
from proofspan.contracts.records.records import Json
from proofspan.traces.formats.types import Asked, Cited, Passage, Reading
from proofspan.traces.responses.base import (
    asked,
    cited_chunks,
    objects,
    question_of,
    range_of,
    response_format,
)
from proofspan.traces.responses.documents import passage_of, quoted
from proofspan.traces.responses.exchanges import Exchange
from proofspan.traces.responses.parts import Record, entries

_KEPT = ("finish_reason", "usage", "logprobs")


def is_response(record: Mapping[str, Json]) -> bool:
    """Return whether a record is a chat response as the API returns it, of version 2 or 1."""
    if isinstance(record.get("text"), str) and "generation_id" in record:
        return isinstance(record.get("citations", []), list | None)
    message = record.get("message")
    return (
        "finish_reason" in record
        and isinstance(message, dict)
        and message.get("role") == "assistant"
        and isinstance(message.get("content"), list | None)
    )


def asked_of(exchange: Exchange, reading: Reading) -> Asked:
    """Return the question of a chat response. A citation of several sources is as many."""
    if "generation_id" in exchange.response:
        exchange = _as_version_2(exchange)
    given = exchange.response.get("message")
    message: Record = given if isinstance(given, dict) else {}
    reading.fields(message, ("role", "content", "citations"), at="message.")
    texts = _texts(message.get("content"), reading, exchange.place)
    documents = _documents(exchange.request, reading, exchange.place)
    cited = [
        each
        for at, citation in objects(message.get("citations"), reading, exchange.place, "citation")
        for each in _cited(citation, texts, documents, at, reading)
    ]
    return asked(
        exchange,
        reading,
        question=question_of(exchange.request.get("messages")),
        answer="".join(texts) or None,
        cited=cited,
        lists={"chunks": [*documents.values(), *cited_chunks(cited)]},
        used=("message",),
        kept=_KEPT,
        asked_by=("messages", "documents"),
    )


def _as_version_2(exchange: Exchange) -> Exchange:
    """Return an exchange of version 1 of the API as one of version 2: its citations have ids of documents."""
    response, request = exchange.response, exchange.request
    listed = [*entries(response.get("documents")), *entries(request.get("documents"))]
    documents = {text_of(each.get("id")): each for each in reversed(listed)}
    citations = []
    for each in entries(response.get("citations")):
        rest = {name: value for name, value in each.items() if name != "document_ids"}
        ids = each.get("document_ids")
        named = [text_of(name) for name in ids] if isinstance(ids, list) else []
        sources = [{"type": "document", "id": name, "document": documents.get(name)} for name in named]
        citations.append({**rest, "sources": sources})
    text: Record = {"type": "text", "text": response.get("text")}
    moved = ("text", "generation_id", "citations", "documents", "message")
    return replace(
        exchange,
        response={
            **{name: value for name, value in response.items() if name not in moved},
            "id": response.get("response_id") or response["generation_id"],
            "message": {"role": "assistant", "content": [text], "citations": citations},
        },
        request={**request, "messages": request.get("messages") or request.get("message")},
        beside={**exchange.beside, **({"documents": listed} if listed and not citations else {})},
    )


def _texts(content: Json, reading: Reading, place: str) -> list[str]:
    """Return the text of each block of the answer, "" for those that have none."""
    texts = []
    for _, block in objects(content, reading, place, "block"):
        text = block.get("text") if block.get("type") == "text" else None
        if not isinstance(text, str):
            reading.left[f"content.{text_of(block.get('type')) or 'block'}"] += 1
        texts.append(text if isinstance(text, str) else "")
    return texts


def _documents(request: Record, reading: Reading, place: str) -> dict[str, Passage]:
    """Return the documents of a request and of its tools' results, by their ids."""
    found: dict[str, Passage] = {}

    def add(document: Json, fallback: str) -> None:
        own = document if isinstance(document, dict) else {}
        name = text_of(own.get("id")) or fallback
        found.setdefault(name, passage_of(own.get("data", document), id=name))

    given = request.get("documents")
    for number, document in enumerate(given if isinstance(given, list) else []):
        add(document, f"doc:{number}")  # the API's own ids of documents without one
    for at, message in objects(_listed(request.get("messages")), reading, place, "message"):
        if message.get("role") != "tool" or not isinstance(message.get("content"), list):
            continue
        call = text_of(message.get("tool_call_id")) or "tool"
        for number, (_, block) in enumerate(objects(message["content"], reading, at, "result")):
            if block.get("type") == "document":
                add(block.get("document"), f"{call}:{number}")
    return found


def _listed(value: Json) -> Json:
    return value if isinstance(value, list) else None


def _cited(
    citation: Record, texts: list[str], documents: dict[str, Passage], place: str, reading: Reading
) -> list[Cited]:
    """Return a citation for each source of one."""
    reading.fields(citation, citation, at="citation.")
    rest = {name: value for name, value in citation.items() if name != "sources" and value is not None}
    span = _span(citation, texts, place, reading)
    found = []
    for _, source in objects(citation.get("sources"), reading, place, "source"):
        name = text_of(source.get("id"))
        held = source.get("document")
        held = source.get("tool_output") if held is None else held
        # The request has the whole document, a source perhaps only some of its fields.
        known = documents.get(name) if name else None
        passage = quoted(known or passage_of(held, id=name), {**rest, "source": _named(source)})
        reason = "" if passage.text or passage.document else "names a source without text or name"
        found.append(Cited(passage=passage, chunk=name if known else None, span=span, reason=reason))
    return found or [Cited(passage=quoted(Passage(), rest), span=span, reason="names no source")]


def _named(source: Record) -> Record:
    return {name: value for name, value in source.items() if name not in ("document", "tool_output")}


def _span(citation: Record, texts: list[str], place: str, reading: Reading) -> tuple[int, int] | None:
    """Return the characters of the answer that a citation supports, by its offsets if they have its text."""
    if citation.get("type") in ("PLAN", "THINKING_CONTENT"):  # offsets in these, not in the answer
        return None
    answer, text = "".join(texts), text_of(citation.get("text"))
    block = index_of(citation.get("content_index")) or 0
    before = sum(map(len, texts[:block])) if block > 0 else 0
    span = range_of(citation.get("start"), citation.get("end"))
    if span and (text is None or answer[before + span[0] : before + span[1]] == text):
        return before + span[0], before + span[1]
    if text and answer.count(text) == 1:
        first = answer.index(text)
        return first, first + len(text)
    message = "its start and end do not have its text in the answer"
    fix = "Save the answer as the API returned it."
    reading.problem("offsets_differ", message, place, fix, lost=False)
    return None


COHERE = response_format(
    name="cohere",
    title="Cohere chat",
    versions="cohere 7.3, versions 2 and 1 of the API",
    why="it has finish_reason and a message of the assistant",
    example=(
        b'{"request":{"model":"command","messages":[{"role":"user","content":"How much oil?"}],"documents":'
        b'[{"id":"doc-a","data":{"text":"Engine oil: 4.5 litres.","source":"manual.pdf"}}]},"response":{"id":'
        b'"c1","finish_reason":"COMPLETE","message":{"role":"assistant","content":[{"type":"text","text":'
        b'"4.5 litres."}],"citations":[{"start":0,"end":10,"text":"4.5 litres","type":"TEXT_CONTENT",'
        b'"sources":[{"type":"document","id":"doc-a","document":{"id":"doc-a","text":'
        b'"Engine oil: 4.5 litres.","source":"manual.pdf"}}]}]}}}'
    ),
    documentation="A response is a question; its text and the documents that the model saw are in the "
    "request, if that is saved as well; else those that are cited. A citation cites each of its documents "
    "as a whole. Its `start` and `end` are places in the answer; where they do not have its `text`, that "
    "text is looked for.",
    is_response=is_response,
    is_snake=True,
    asked_of=asked_of,
)
