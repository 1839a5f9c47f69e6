"""Messages of Anthropic's API with the citations of their text, all five kinds of locations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from proofspan.contracts.records.field_values import index_of, text_of
from proofspan.contracts.records.records import Json
from proofspan.traces.formats.types import Asked, Cited, Passage, Reading
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
from proofspan.traces.responses.exchanges import Exchange
from proofspan.traces.responses.parts import Record, digest_of, entries, mapping

#: The kinds of citations of a document, by its number.
_IN_DOCUMENT = ("page_location", "char_location", "content_block_location")
_KINDS = (*_IN_DOCUMENT, "search_result_location", "web_search_result_location")
_KEPT = ("stop_reason", "stop_sequence", "stop_details", "usage", "container", "diagnostics")


@dataclass(slots=True)
class _Source:
    """A document or a search result of a request, as citations name it by its number.

    `content` identifies it. `text` is None for a PDF, whose text only the API saw. `starts` are where its
    blocks begin in `text`, and its end. `id` differs from `name` where two sources share a name.
    """

    name: str
    content: str
    text: str | None
    title: str | None
    starts: list[int]
    id: str = ""


def is_response(record: Mapping[str, Json]) -> bool:
    """Return whether a record is a message as the API returns it, or its content with citations."""
    record = _of_proxy(record) or record
    content = record.get("content")
    if record.get("role") != "assistant" or not isinstance(content, list):
        return False
    if record.get("type") == "message" and "stop_reason" in record:
        return True
    blocks = [block for block in content if isinstance(block, dict)]
    return any(
        isinstance(each, dict) and each.get("type") in _KINDS
        for block in blocks
        for each in (block["citations"] if isinstance(block.get("citations"), list) else [])
    )


def _of_proxy(record: Mapping[str, Json]) -> Record | None:
    """Return a message that LiteLLM wrote as a chat completion; None for another completion.

    It keeps the citations of each text with the text, and the texts joined.
    """
    choices = record.get("choices")
    message = mapping(choices[0].get("message")) if entries(choices) and isinstance(choices, list) else {}
    listed = mapping(message.get("provider_specific_fields")).get("citations")
    lists = [entries(each) for each in listed] if isinstance(listed, list) else []
    if not any(each.get("type") in _KINDS for block in lists for each in block):
        return None
    text, blocks = text_of(message.get("content")) or "", list[Record]()
    for block in filter(None, lists):
        supported = text_of(block[0].get("supported_text")) or ""
        before, found, after = text.partition(supported) if supported else ("", "", text)
        if not found:  # the text is not in the answer
            before, found, after = "", "", text
        own = [{name: each[name] for name in each if name != "supported_text"} for each in block]
        blocks += [{"type": "text", "text": before}, {"type": "text", "text": found, "citations": own}]
        text = after
    rest = {name: value for name, value in record.items() if name not in ("choices", "object")}
    blocks.append({"type": "text", "text": text})
    return {**rest, "type": "message", "role": "assistant", "stop_reason": None, "content": [*blocks]}


def is_error(record: Mapping[str, Json]) -> bool:
    """Return whether a record is an error as this API returns it."""
    return record.get("type") in ("error", "errored") and isinstance(record.get("error"), dict)


def asked_of(exchange: Exchange, reading: Reading) -> Asked:
    """Return the question of a message: its text blocks are the answer, each with its citations."""
    if (own := _of_proxy(exchange.response)) is not None:
        exchange = replace(exchange, response=own)
    response, messages = exchange.response, exchange.request.get("messages")
    documents, results = _sources([messages, response.get("content")])
    sources = {each.id: each for each in (*documents, *results)}
    answer, cited = "", list[Cited]()
    for place, block in objects(response.get("content"), reading, exchange.place, "block"):
        text = block.get("text")
        if block.get("type") != "text" or not isinstance(text, str):
            reading.left[f"content.{text_of(block.get('type')) or 'block'}"] += 1
            continue
        span = (len(answer), len(answer) + len(text)) if text else None
        answer += text
        for at, citation in objects(block.get("citations"), reading, place, "citation"):
            cited.append(_cited(citation, span, documents, results, at, reading))
    return asked(
        exchange,
        reading,
        question=question_of(messages),
        answer=answer or None,
        cited=cited,
        lists={"chunks": [_passage(each) for each in sources.values() if each.text] + cited_chunks(cited)},
        used=("content", "role", "type"),
        kept=_KEPT,
        asked_by=("messages",),
    )


def _cited(
    citation: Record,
    span: tuple[int, int] | None,
    documents: list[_Source],
    results: list[_Source],
    place: str,
    reading: Reading,
) -> Cited:
    """Return a citation. Pages count from 1 and end before the last, characters and blocks from 0."""
    kind = text_of(citation.get("type"))
    reading.fields(citation, citation.keys() - {"encrypted_index"}, at="citation.")
    source, name, reason = None, None, ""
    page, offsets = None, None
    if kind == "search_result_location":
        source = _at(results, citation.get("search_result_index"), place, reading)
        name = source.name if source else text_of(citation.get("source"))
    elif kind in _IN_DOCUMENT:
        source = _at(documents, citation.get("document_index"), place, reading)
        name = source.name if source else _named(citation)
        offsets = _offsets(citation, kind, source)
        page = _page(citation, place, reading) if kind == "page_location" else None
    elif kind == "web_search_result_location":
        reason = WEB_PAGE
    else:
        reason = f"is a citation of an unknown kind, {kind}" if kind else "is a citation without a kind"
    passage = citation_passage(
        citation,
        quote=citation.get("cited_text"),
        dropped=("cited_text", "encrypted_index"),
        document=name,
        page=page,
        last_page=None if page is None else last_page_of(index_of(citation.get("end_page_number"))),
        offsets=offsets,
    )
    if (url := text_of(citation.get("url"))) is not None:
        passage.more["source_url"] = url
    return Cited(
        passage=passage, chunk=source.id if source and source.text else None, span=span, reason=reason
    )


def _at(sources: list[_Source], index: Json, place: str, reading: Reading) -> _Source | None:
    """Return the source of a number; None where the file has no sources, which is no problem."""
    number = index_of(index)
    if number is not None and 0 <= number < len(sources):
        return sources[number]
    if sources or number is None or number < 0:
        message = f"names source {text_of(index) or 'without a number'}, and the request has {len(sources)}"
        fix = "Save the request with all of its messages."
        reading.problem("no_such_source", message, place, fix, lost=False)
    return None


def _named(citation: Record) -> str:
    """Return the name of a document whose request is not in the file."""
    number = index_of(citation.get("document_index"))
    return (
        text_of(citation.get("document_title"))
        or text_of(citation.get("file_id"))
        or ("document" if number is None else f"document {number + 1}")
    )


def _page(citation: Record, place: str, reading: Reading) -> int | None:
    first = index_of(citation.get("start_page_number"))
    if first is not None and first >= 1:
        return first
    message = f"its first page is {text_of(citation.get('start_page_number')) or 'missing'}"
    reading.problem("bad_page", message, place, "Pages count from 1; save what the API returned.", lost=False)
    return None


def _offsets(citation: Record, kind: str, source: _Source | None) -> tuple[int, int] | None:
    """Return the characters of a document that are cited, where the source says so."""
    if kind == "char_location":
        return range_of(citation.get("start_char_index"), citation.get("end_char_index"))
    blocks = range_of(citation.get("start_block_index"), citation.get("end_block_index"))
    if source is None or blocks is None or blocks[1] >= len(source.starts):
        return None
    return range_of(source.starts[blocks[0]], source.starts[blocks[1]])


def _sources(contents: list[Json]) -> tuple[list[_Source], list[_Source]]:
    """Return the documents and the search results of all messages, each in their order."""
    documents, results = list[_Source](), list[_Source]()
    for block in _blocks(contents):
        if block["type"] == "document":
            documents.append(_document(block))
        else:
            text, starts = _joined(block.get("content"))
            name = text_of(block.get("source")) or f"search result {len(results) + 1}"
            results.append(_Source(name, text or "", text, text_of(block.get("title")), starts))
    ids: dict[tuple[str, str], str] = {}
    named = Counter[str]()
    for each in (*documents, *results):
        # Two sources may share a title; the same source again, as in a longer conversation, is one.
        if (each.name, each.content) not in ids:
            named[each.name] += 1
            number = named[each.name]
            ids[each.name, each.content] = each.name if number == 1 else f"{each.name} ({number})"
        each.id = ids[each.name, each.content]
    for each in documents:
        each.name = each.id
    return documents, results


def _blocks(content: Json) -> Iterator[Record]:
    """Yield the document and search-result blocks of messages, those in results of tools too, in order."""
    if isinstance(content, list):
        for each in content:
            yield from _blocks(each)
    elif isinstance(content, dict):
        if content.get("type") in ("document", "search_result"):
            yield content
        else:
            yield from _blocks(content.get("content"))


def _document(block: Record) -> _Source:
    """Return a document: a PDF as base64, by URL or by file id, a plain text, or blocks of text."""
    given = block.get("source")
    source: Record = given if isinstance(given, dict) else {}
    data, starts = text_of(source.get("data")), list[int]()
    text = data if source.get("type") == "text" else None
    if source.get("type") == "content":
        text, starts = _joined(source.get("content"))
    place = text_of(source.get("url")) or text_of(source.get("file_id"))
    content = place or text or data or ""
    digest = digest_of(content)
    title = text_of(block.get("title"))
    return _Source(title or place or f"document-{digest[:10]}", digest, text, title, starts)


def _joined(content: Json) -> tuple[str | None, list[int]]:
    """Return the text of blocks, joined as in `cited_text`, and where each begins and the last ends."""
    if isinstance(content, str):
        return content or None, [0, len(content)]
    text, starts = "", [0]
    for block in content if isinstance(content, list) else []:
        part = block.get("text") if isinstance(block, dict) else None
        text += part if isinstance(part, str) else ""
        starts.append(len(text))
    return text or None, starts


def _passage(source: _Source) -> Passage:
    more: Record = {"title": source.title} if source.title and source.title != source.name else {}
    return Passage(text=source.text, id=source.id, document=source.name, more=more)


ANTHROPIC = response_format(
    name="anthropic",
    title="Anthropic Messages",
    versions="anthropic 2.13; as LiteLLM 1.110 writes it",
    why="it is a message of the assistant with stop_reason or located citations",
    example=(
        b'{"request":{"messages":[{"role":"user","content":[{"type":"document","title":"manual.pdf",'
        b'"source":{"type":"file","file_id":"file_011"}},{"type":"text","text":"How much oil?"}]}]},'
        b'"response":{"id":"msg_01","type":"message","role":"assistant","model":"claude","content":['
        b'{"type":"text","text":"It holds "},{"type":"text","text":"4.5 litres","citations":[{"type":'
        b'"page_location","cited_text":"Engine oil: 4.5 litres.","document_index":0,"document_title":'
        b'"manual.pdf","start_page_number":12,"end_page_number":13}]}],"stop_reason":"end_turn"}}'
    ),
    documentation="A message is a question; its text is in the request, if that is saved as well. Pages of "
    "citations count from 1, and their end is exclusive. A document goes by its title, else by its URL or "
    "file id. Plain texts, blocks and search results of the request are what the model saw, and so are the "
    "quotes of a PDF, of which the file has nothing else. Citations of web pages lead to no page.",
    is_response=is_response,
    is_snake=True,
    is_error=is_error,
    asked_of=asked_of,
)
