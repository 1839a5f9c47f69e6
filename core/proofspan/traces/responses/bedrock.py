"""Amazon Bedrock: answers of Converse, RetrieveAndGenerate and Retrieve, with their citations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from proofspan.contracts.records.field_values import number_of, text_of
from proofspan.contracts.records.records import Json
from proofspan.traces.formats.types import Asked, Cited, Format, Passage, Reading
from proofspan.traces.responses.base import (
    WEB_PAGE,
    asked,
    citation_passage,
    cited_chunks,
    last_page_of,
    objects,
    question_of,
    range_of,
    response_format,
)
from proofspan.traces.responses.documents import search_result
from proofspan.traces.responses.exchanges import Exchange
from proofspan.traces.responses.parts import entries, mapping, span_of, text_blocks, whole, words

_METADATA = "x-amz-bedrock-kb-"
#: What a location of a knowledge base names its document by.
_NAMES = ("uri", "url", "id", "query")


def _is_converse(response: Mapping[str, Json]) -> bool:
    message = mapping(mapping(response.get("output")).get("message"))
    return isinstance(message.get("content"), list) and "stopReason" in response


def _is_generated(response: Mapping[str, Json]) -> bool:
    parts = entries(response.get("citations"))
    return "text" in mapping(response.get("output")) and (
        "sessionId" in response or any("retrievedReferences" in each for each in parts)
    )


def _is_retrieved(response: Mapping[str, Json]) -> bool:
    found = response.get("retrievalResults")
    return isinstance(found, list) and all("content" in each for each in entries(found))


def converse(exchange: Exchange, reading: Reading) -> Asked:
    """Return the answer of Converse: its texts in a row, each block's citations on the text of the block."""
    response, request = exchange.response, exchange.request
    documents, results = _given(request)
    answer, cited = "", list[Cited]()
    content = mapping(mapping(response.get("output")).get("message")).get("content")
    for at, block in objects(content, reading, exchange.place, "block"):
        reading.fields(block, ("text", "citationsContent"), "output.message.content.")
        answer += words(block.get("text")) or ""
        cites = mapping(block.get("citationsContent"))
        text = text_blocks(cites.get("content"))
        span = (len(answer), len(answer) + len(text)) if text else None
        answer += text
        for _, citation in objects(cites.get("citations"), reading, at, "citation"):
            cited.append(_place(citation, span, documents, results, reading))
    return asked(
        exchange,
        reading,
        question=question_of(request.get("messages")),
        answer=answer,
        cited=cited,
        lists={"chunks": results + cited_chunks(cited)},
        used=("output",),
        kept=("stopReason", "usage", "metrics"),
        asked_by=("messages", "modelId"),
        model=text_of(request.get("modelId")),  # only the request names it
    )


def _given(request: Mapping[str, Json]) -> tuple[list[str], list[Passage]]:
    """Return the names of a request's documents and its search results, both as their indexes count."""
    documents, results = list[str](), list[Passage]()
    pending = [
        block for message in entries(request.get("messages")) for block in entries(message.get("content"))
    ]
    while pending:
        block = pending.pop(0)
        pending[:0] = entries(mapping(block.get("toolResult")).get("content"))
        if "document" in block:
            document = mapping(block["document"])
            uri = words(mapping(mapping(document.get("source")).get("s3Location")).get("uri"))
            name = ".".join(filter(None, (words(document.get("name")), words(document.get("format")))))
            documents.append(uri or name or f"document {len(documents)}")
        if "searchResult" in block:
            results.append(search_result(mapping(block["searchResult"]), len(results) + 1))
    return documents, results


def _place(
    citation: Mapping[str, Json],
    span: tuple[int, int] | None,
    documents: list[str],
    results: list[Passage],
    reading: Reading,
) -> Cited:
    """Return a citation. Pages count from 1, the end is exclusive, as in the API of the model behind it."""
    used = ("title", "source", "sourceContent", "location")
    reading.fields(citation, used, "citations.")
    location = mapping(citation.get("location"))
    kind = next((name for name, value in location.items() if isinstance(value, dict)), "")
    at = mapping(location.get(kind))
    index, result, start = whole(at.get("documentIndex")), None, whole(at.get("start"))
    named = documents[index] if index is not None and 0 <= index < len(documents) else None
    if kind == "searchResultLocation" and (number := whole(at.get("searchResultIndex"))) is not None:
        result = results[number] if 0 <= number < len(results) else None
    document = named or (result and result.document) or words(at.get("url"))
    passage = citation_passage(
        citation,
        quote=text_blocks(citation.get("sourceContent")),
        dropped=("sourceContent",),
        document=document or words(citation.get("title")) or words(citation.get("source")),
        page=start if kind == "documentPage" else None,
        last_page=last_page_of(whole(at.get("end"))) if kind == "documentPage" else None,
        offsets=range_of(at.get("start"), at.get("end")) if kind == "documentChar" else None,
    )
    chunk = result.id if result else None
    return Cited(passage=passage, chunk=chunk, span=span, reason=WEB_PAGE if kind == "web" else "")


def generated(exchange: Exchange, reading: Reading) -> Asked:
    """Return the answer of RetrieveAndGenerate; each reference of a part of the answer is a citation."""
    answer = words(mapping(exchange.response.get("output")).get("text")) or ""
    found: dict[str, Passage] = {}
    cited: list[Cited] = []
    for at, citation in objects(exchange.response.get("citations"), reading, exchange.place, "citation"):
        reading.fields(citation, ("generatedResponsePart", "retrievedReferences"), "citations.")
        part = mapping(mapping(citation.get("generatedResponsePart")).get("textResponsePart"))
        place = mapping(part.get("span"))
        end = whole(place.get("end"))
        # The end is that of the last character: a text of 518 characters has the span 0 to 517.
        span = span_of(answer, whole(place.get("start")), end and end + 1, words(part.get("text")))
        for _, reference in objects(citation.get("retrievedReferences"), reading, at, "reference"):
            passage = _reference(reference, found, reading)
            reason = WEB_PAGE if "webLocation" in mapping(reference.get("location")) else ""
            where = replace(passage, text=None, more={})
            cited.append(Cited(passage=where, chunk=passage.id, span=span, reason=reason))
    return asked(
        exchange,
        reading,
        question=words(mapping(exchange.request.get("input")).get("text")),
        answer=answer,
        cited=cited,
        lists={"chunks": list(found.values())},
        used=("output", "citations"),
        kept=("guardrailAction", "sessionId"),
        asked_by=("input",),
        id_name="requestId",  # no response has it; a session has many questions
    )


def retrieved(exchange: Exchange, reading: Reading) -> Asked:
    """Return what Retrieve found for a question, without an answer."""
    found: dict[str, Passage] = {}
    for _, result in objects(exchange.response["retrievalResults"], reading, exchange.place, "result"):
        _reference(result, found, reading)
    return asked(
        exchange,
        reading,
        question=words(mapping(exchange.request.get("retrievalQuery")).get("text")),
        answer=None,
        lists={"retrieved": list(found.values())},
        used=("retrievalResults",),
        kept=("guardrailAction",),
        asked_by=("retrievalQuery",),
    )


def _reference(reference: Mapping[str, Json], found: dict[str, Passage], reading: Reading) -> Passage:
    """Return the passage of a reference, the same one for the same reference."""
    reading.fields(reference, ("content", "location", "metadata", "score", "documentId"), "references.")
    content, metadata = mapping(reference.get("content")), dict(mapping(reference.get("metadata")))
    text = words(content.get("text")) or _row(content)
    named = _document(mapping(reference.get("location"))) or words(metadata.get(f"{_METADATA}source-uri"))
    document = named or words(reference.get("documentId"))
    own = words(metadata.get(f"{_METADATA}chunk-id"))
    key = own or f"{document}\n{text}"
    if key not in found:
        other = {name: value for name, value in content.items() if name not in ("text", "row", "byteContent")}
        found[key] = Passage(
            text=text,
            id=own or f"{document or 'reference'}#{len(found) + 1}",
            document=document,
            # It is read from 0 and from 1 in public code, so it is measured.
            page=whole(metadata.get(f"{_METADATA}document-page-number")),
            score=number_of(reference.get("score")),
            more={name: value for name, value in (("metadata", metadata), ("content", other)) if value},
        )
    return found[key]


def _row(content: Mapping[str, Json]) -> str | None:
    """Return a row of a table as a text: `name: value` for each column."""
    cells = [f"{each.get('columnName')}: {each.get('columnValue')}" for each in entries(content.get("row"))]
    return "\n".join(cells) or None


def _document(location: Mapping[str, Json]) -> str | None:
    places = [mapping(value) for value in location.values()]
    return next((name for each in places for key in _NAMES if (name := words(each.get(key)))), None)


def _is_knowledge_base(response: Mapping[str, Json]) -> bool:
    return _is_generated(response) or _is_retrieved(response)


def _of_knowledge_base(exchange: Exchange, reading: Reading) -> Asked:
    return (generated if _is_generated(exchange.response) else retrieved)(exchange, reading)


_EXAMPLE_CONVERSE = b"""{"request": {"modelId": "anthropic.claude-sonnet-4-5",
  "messages": [{"role": "user", "content": [
  {"document": {"name": "manual", "format": "pdf", "source": {"s3Location": {"uri": "s3://books/manual.pdf"}},
    "citations": {"enabled": true}}},
  {"text": "How much oil does the engine take?"}]}]},
 "response": {"output": {"message": {"role": "assistant", "content": [
  {"text": "The engine takes "},
  {"citationsContent": {"content": [{"text": "4.5 litres"}], "citations": [{"title": "manual",
    "sourceContent": [{"text": "Engine oil, with filter: 4.5 litres."}],
    "location": {"documentPage": {"documentIndex": 0, "start": 42, "end": 43}}}]}},
  {"text": "."}]}}, "stopReason": "end_turn", "usage": {"inputTokens": 900, "outputTokens": 12}}}
"""
_EXAMPLE_GENERATED = b"""{"request": {"input": {"text": "How much oil does the engine take?"}},
 "response": {"sessionId": "5f1c", "output": {"text": "The engine takes 4.5 litres."}, "citations": [
  {"generatedResponsePart": {"textResponsePart": {"text": "The engine takes 4.5 litres.",
    "span": {"start": 0, "end": 27}}},
   "retrievedReferences": [{"content": {"type": "TEXT", "text": "Engine oil, with filter: 4.5 litres."},
    "location": {"type": "S3", "s3Location": {"uri": "s3://books/manual.pdf"}},
    "metadata": {"x-amz-bedrock-kb-source-uri": "s3://books/manual.pdf",
      "x-amz-bedrock-kb-chunk-id": "c-17", "x-amz-bedrock-kb-document-page-number": 41.0}}]}]}}
"""

CONVERSE: Format = response_format(
    name="bedrock_converse",
    title="Amazon Bedrock Converse",
    versions="the API of botocore 1.44",
    example=_EXAMPLE_CONVERSE,
    why="the response has output.message.content and a stopReason, as Converse returns them",
    is_response=_is_converse,
    asked_of=converse,
    documentation="The answer is the text of the message's blocks; a `citationsContent` block cites for its "
    "own text. Documents are known by name from the request, counted over all messages, else by the "
    "citation's title; pages count from 1 with an exclusive end.",
)
KNOWLEDGE_BASE: Format = response_format(
    name="bedrock_knowledge_base",
    title="Amazon Bedrock RetrieveAndGenerate and Retrieve",
    versions="the API of botocore 1.44",
    example=_EXAMPLE_GENERATED,
    why="the response has the citations or retrievalResults of a knowledge base",
    is_response=_is_knowledge_base,
    asked_of=_of_knowledge_base,
    documentation="Each reference of a part of the answer is a citation and a chunk that the model saw. The "
    "service counts the last character of a span in. Its page number is read from 0 and from 1 in public "
    "code, so the base is measured on the document.",
)
