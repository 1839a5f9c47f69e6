"""Gemini and Vertex AI: answers with grounding metadata, whose offsets count UTF-8 bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from proofspan.contracts.records.records import Json
from proofspan.traces.formats.types import Asked, Cited, Format, Passage, Reading
from proofspan.traces.responses.base import (
    WEB_PAGE,
    asked,
    objects,
    response_format,
)
from proofspan.traces.responses.exchanges import Exchange
from proofspan.traces.responses.parts import camel, entries, mapping, span_of, whole, words

#: What a chunk can be, apart from a passage of a document.
_NO_DOCUMENTS = {"web": WEB_PAGE, "maps": "names a place on a map", "image": "names an image on the web"}
_CONTEXT = ("uri", "title", "text", "ragChunk", "documentName", "pageNumber", "customMetadata")


def is_response(response: Mapping[str, Json]) -> bool:
    """Return whether an object is a response of `generateContent`, as the API or the SDK spells it."""
    found = entries(response.get("candidates"))
    grounded = any("groundingMetadata" in each or "grounding_metadata" in each for each in found)
    if mapping(camel(response.get("promptFeedback", response.get("prompt_feedback")))).get("blockReason"):
        return True
    content = all("parts" in mapping(each.get("content")) for each in found)
    named = response.keys() & {"modelVersion", "usageMetadata", "model_version", "usage_metadata"}
    return bool(found) and (grounded or (content and bool(named)))


def is_error(response: Mapping[str, Json]) -> bool:
    """Return whether an object is an error as Google's APIs return it."""
    return mapping(response.get("error")).keys() >= {"code", "message", "status"}


def asked_of(exchange: Exchange, reading: Reading) -> Asked | None:
    """Return the first candidate as the answer; further ones are kept as a field. None for a blocked one."""
    response, request = mapping(camel(exchange.response)), mapping(camel(exchange.request))
    exchange = replace(exchange, response=dict(response), request=dict(request))
    candidates = list(objects(response.get("candidates"), reading, exchange.place, "candidate"))
    if not candidates:
        why = words(mapping(response.get("promptFeedback")).get("blockReason"))
        message = f"has no answer: its prompt was blocked ({why})" if why else "has no candidate"
        reading.problem("no_answer", message, exchange.place, "Ask again and save that response.")
        return None
    at, candidate = candidates[0]
    reading.fields(candidate, ("content", "groundingMetadata", "citationMetadata"), "candidates.")
    answer, parts = _answer(mapping(candidate.get("content")).get("parts"))
    metadata = mapping(candidate.get("groundingMetadata"))
    queries = ("retrievalQueries", "webSearchQueries")
    reading.fields(metadata, ("groundingChunks", "groundingSupports", *queries), "groundingMetadata.")
    chunks = [
        _chunk(each, number, reading) for number, each in enumerate(_listed(metadata, "groundingChunks"))
    ]
    found = asked(
        exchange,
        reading,
        question=_question(request.get("contents")),
        answer=answer,
        cited=[
            *_supported(metadata, chunks, answer, parts, reading, at),
            *_recited(mapping(candidate.get("citationMetadata")), answer, reading, at),
        ],
        lists={"chunks": [chunk for chunk, _ in chunks]},
        used=("candidates",),
        kept=("modelVersion", "usageMetadata", "createTime"),
        asked_by=("contents",),
        id_name="responseId",
        model=words(response.get("modelVersion")),
    )
    kept = {name: metadata[name] for name in queries if metadata.get(name)}
    if others := [dict(each) for _, each in candidates[1:]]:
        kept["other_candidates"] = others
    return replace(found, fields={**found.fields, **kept})


def _listed(metadata: Mapping[str, Json], name: str) -> list[Json]:
    value = metadata.get(name)
    return value if isinstance(value, list) else []


def _question(contents: Json) -> str | None:
    """Return the last text of a user in a request's contents: a text, `{role, parts}`, or a list of those."""
    if isinstance(contents, str):
        return contents
    for content in reversed(contents if isinstance(contents, list) else [contents]):
        if isinstance(content, str) and content.strip():
            return content
        if mapping(content).get("role", "user") == "user":
            texts = [words(part.get("text")) for part in entries(mapping(content).get("parts"))]
            if text := "\n".join(filter(None, texts)):
                return text
    return None


def _answer(parts: Json) -> tuple[str, dict[int, tuple[int, str]]]:
    """Return the answer, and its parts by their index with the character at which each begins."""
    answer, places = "", dict[int, tuple[int, str]]()
    for number, part in enumerate(parts if isinstance(parts, list) else []):
        text = words(mapping(part).get("text"))
        if text and not mapping(part).get("thought"):
            places[number] = (len(answer), text)
            answer += text
    return answer, places


def _chunk(chunk: Json, number: int, reading: Reading) -> tuple[Passage, str]:
    """Return a chunk's passage, and why it leads to no page."""
    kind, value = next(
        ((name, each) for name, each in mapping(chunk).items() if isinstance(each, dict)), ("", {})
    )
    if kind != "retrievedContext":
        where = words(value.get("uri")) or words(value.get("sourceUri"))
        reading.fields(value, value, f"groundingChunks.{kind}.")
        passage = Passage(
            text=words(value.get("text")),
            id=where or words(value.get("title")) or f"source {number + 1}",
            document=where,
            more={kind: dict(value)} if kind else {},
        )
        return passage, _NO_DOCUMENTS.get(kind, "names a source of an unknown kind")
    reading.fields(value, value, "groundingChunks.retrievedContext.")
    rag = mapping(value.get("ragChunk"))
    first, last = (whole(mapping(rag.get("pageSpan")).get(name)) for name in ("firstPage", "lastPage"))
    uri, title = words(value.get("uri")), words(value.get("title"))
    document = uri or title or words(value.get("documentName"))
    text = words(rag.get("text")) or words(value.get("text"))
    return Passage(
        text=text,
        id=words(rag.get("chunkId")) or f"{document or 'source'}#{number + 1}",
        document=document,
        page=whole(value.get("pageNumber")) if first is None else first,
        last_page=last,
        # The page span counts from 1 by its documentation; that of `pageNumber` says nothing.
        page_base=None if first is None else 1,
        more={"retrievedContext": {name: each for name, each in value.items() if each != text}},
    ), ""


def _supported(
    metadata: Mapping[str, Json],
    chunks: list[tuple[Passage, str]],
    answer: str,
    parts: dict[int, tuple[int, str]],
    reading: Reading,
    at: str,
) -> Iterator[Cited]:
    """Yield a citation for each chunk that supports a segment of the answer."""
    for _, support in objects(metadata.get("groundingSupports"), reading, at, "support"):
        names = ("groundingChunkIndices", "supportChunkIndices")  # of 2024, the second
        reading.fields(support, ("segment", *names, "confidenceScores"), "groundingSupports.")
        span = _span(mapping(support.get("segment")), answer, parts)
        scores = _listed(support, "confidenceScores")
        indices = _listed(support, names[0]) or _listed(support, names[1]) or [None]
        for number, index in enumerate(indices):
            known = whole(index)
            more: dict[str, Json] = {"confidence": scores[number]} if number < len(scores) else {}
            if known is None or not 0 <= known < len(chunks):
                yield Cited(passage=Passage(more=more), span=span, reason="names no chunk of the response")
                continue
            passage, reason = chunks[known]
            where = replace(passage, text=None, more=more)
            yield Cited(passage=where, chunk=passage.id, span=span, reason=reason)


def _span(
    segment: Mapping[str, Json], answer: str, parts: dict[int, tuple[int, str]]
) -> tuple[int, int] | None:
    """Return the characters of a segment, whose offsets count the UTF-8 bytes of its part.

    An index that is 0 is left out of the response.
    """
    text = words(segment.get("text"))
    index = whole(segment.get("partIndex")) or 0
    if index and index not in parts:  # of a stream, whose parts are other ones
        return span_of(answer, None, None, text)
    begin, part = parts.get(index, (0, answer))
    start, end = (_characters(part, whole(segment.get(name)) or 0) for name in ("startIndex", "endIndex"))
    return span_of(
        answer, None if start is None else begin + start, None if end is None else begin + end, text
    )


def _characters(text: str, count: int) -> int | None:
    """Return how many characters the first `count` bytes of a text are; None if they end within one."""
    try:
        return len(text.encode("utf-8", "surrogatepass")[:count].decode("utf-8", "surrogatepass"))
    except UnicodeDecodeError:
        return None


def _recited(metadata: Mapping[str, Json], answer: str, reading: Reading, at: str) -> Iterator[Cited]:
    """Yield the places that the answer repeats word for word, which the model names by itself."""
    listed = metadata.get("citations", metadata.get("citationSources"))
    for _, source in objects(listed, reading, at, "citation"):
        reading.fields(source, source, "citationMetadata.")
        start, end = (
            _characters(answer, whole(source.get(name)) or 0) for name in ("startIndex", "endIndex")
        )
        where = words(source.get("uri")) or words(source.get("title"))
        passage = Passage(document=where, more={"api_citation": dict(source)})
        yield Cited(passage=passage, span=span_of(answer, start, end, None), reason=WEB_PAGE)


_EXAMPLE = """{"request": {"contents": [{"role": "user",
  "parts": [{"text": "How much oil does the engine take?"}]}]},
 "response": {"candidates": [{"content": {"role": "model", "parts": [
   {"text": "Müller’s engine takes 4.5 litres. Check it cold."}]}, "finishReason": "STOP",
  "groundingMetadata": {"retrievalQueries": ["engine oil capacity"],
   "groundingChunks": [{"retrievedContext": {"uri": "gs://books/manual.pdf", "title": "manual.pdf",
     "ragChunk": {"text": "Engine oil, with filter: 4.5 litres.",
       "pageSpan": {"firstPage": 42, "lastPage": 42}}}}],
   "groundingSupports": [{"segment": {"endIndex": 36, "text": "Müller’s engine takes 4.5 litres."},
     "groundingChunkIndices": [0], "confidenceScores": [0.94]}]}}],
  "modelVersion": "gemini-2.5-flash", "responseId": "r-42"}}
""".encode()

GEMINI: Format = response_format(
    name="gemini",
    title="Gemini and Vertex AI",
    versions="the types of google-genai 3.4, in the spelling of the API and of `model_dump`",
    example=_EXAMPLE,
    why="a candidate has grounding metadata, or parts beside a modelVersion",
    is_response=is_response,
    is_error=is_error,
    asked_of=asked_of,
    documentation="Grounding chunks are what the model saw; a chunk that supports a segment is a citation. "
    "Offsets count UTF-8 bytes of a part and are converted; the pages of a page span count from 1, and the "
    "base of `pageNumber` is measured. Chunks from the web or a map are kept with that as the reason.",
)
