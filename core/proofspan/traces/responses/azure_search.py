"""Azure AI Search: answers of a knowledge base, search results, and chats on one's own data."""

from __future__ import annotations

import re
from collections.abc import Mapping

from proofspan.contracts.records.field_values import number_of, text_of
from proofspan.contracts.records.records import Json
from proofspan.traces.formats.records import json_of
from proofspan.traces.formats.types import Asked, Cited, Format, Passage, Reading
from proofspan.traces.responses.base import (
    WEB_PAGE,
    asked,
    cited_by_markers,
    objects,
    question_of,
    response_format,
    text_in,
)
from proofspan.traces.responses.exchanges import Exchange
from proofspan.traces.responses.parts import entries, mapping, whole, words

#: How an answer names a reference of a knowledge base, and a document of a chat.
_REFERENCE = re.compile(r"\[ref_id:\s*([^\[\]]+)\]")
_DOCUMENT = re.compile(r"\[doc\s*(\d+)\]")
#: The fields of an index, which everyone names for themselves, in the order in which they are looked for.
_TEXTS = ("content", "chunk", "snippet", "text", "page_chunk", "chunk_text", "chunkText", "merged_content")
_DOCUMENTS = (
    *("filepath", "file_name", "fileName", "filename", "source_file", "sourcefile", "sourcepage", "title"),
    *("metadata_storage_name", "metadata_storage_path", "blob_url", "blobUrl", "url", "source", "doc_title"),
)
_PAGES = ("page_number", "pageNumber", "page", "page_num", "page_number_from")
_SECTIONS = ("section", "section_id", "header", "heading")


def _is_knowledge_base(response: Mapping[str, Json]) -> bool:
    references = response.get("references")
    return isinstance(response.get("response"), list) and (
        isinstance(references, list) or isinstance(response.get("activity"), list)
    )


def _is_search(response: Mapping[str, Json]) -> bool:
    found = entries(response.get("value"))
    return bool(found) and all("@search.score" in each for each in found)


def _is_chat(response: Mapping[str, Json]) -> bool:
    contexts = [_answer_and_context(each)[1] for each in entries(response.get("choices"))]
    return any(isinstance(each.get("citations"), list) for each in contexts)


def _answer_and_context(choice: Mapping[str, Json]) -> tuple[str, Mapping[str, Json]]:
    """Return the text of a choice of a chat, and its context.

    In the versions of 2023 the context is JSON in a message of a tool, beside the answer or in its context.
    """
    message = mapping(choice.get("message"))
    messages = entries(choice.get("messages")) or entries(mapping(message.get("context")).get("messages"))
    tools = [json_of(each.get("content")) for each in messages if each.get("role") == "tool"]
    own = next((each for each in messages if each.get("role") == "assistant"), message)
    return words(own.get("content")) or "", mapping(tools[0] if tools else message.get("context"))


def is_response(response: Mapping[str, Json]) -> bool:
    """Return whether an object is a response of one of the three."""
    return _is_knowledge_base(response) or _is_search(response) or _is_chat(response)


def asked_of(exchange: Exchange, reading: Reading) -> Asked:
    """Return the question of a response."""
    if _is_knowledge_base(exchange.response):
        return _of_knowledge_base(exchange, reading)
    return (_of_search if _is_search(exchange.response) else _of_chat)(exchange, reading)


def _of_knowledge_base(exchange: Exchange, reading: Reading) -> Asked:
    """Return the answer of a knowledge base; without one its response is a list of `{ref_id, content}`."""
    response, request = exchange.response, exchange.request
    answer = "\n".join(text_in(each.get("content")) for each in entries(response.get("response")))
    extracted = json_of(answer)
    contents = {text_of(each.get("ref_id")) or "": each for each in entries(extracted)}
    found: dict[str, tuple[Passage, str]] = {}
    for _, reference in objects(response.get("references"), reading, exchange.place, "reference"):
        name = text_of(reference.get("id")) or str(len(found))
        found[name] = _reference(reference, contents.pop(name, {}), len(found), reading)
    for name, content in contents.items():
        found[name or str(len(found))] = (_passage(content, len(found)), "")
    intents = [words(each.get("search")) for each in entries(request.get("intents"))]
    activity = [
        words(mapping(each.get("searchIndexArguments")).get("search"))
        for each in entries(response.get("activity"))
    ]
    stated = words(response.get("question")) or words(response.get("query"))
    question = question_of(request.get("messages")) or next(filter(None, intents), None) or stated
    return asked(
        exchange,
        reading,
        # One search without a plan is the question itself.
        question=question or (activity[0] if len(activity) == 1 else None),
        answer=None if isinstance(extracted, list) else answer,
        cited=[] if isinstance(extracted, list) else list(cited_by_markers(answer, _REFERENCE, found)),
        lists={"chunks": [passage for passage, _ in found.values()]},
        used=("response", "references", "question", "query"),
        kept=("activity",),
        asked_by=("messages", "intents"),
    )


def _reference(
    reference: Mapping[str, Json], content: Mapping[str, Json], number: int, reading: Reading
) -> tuple[Passage, str]:
    """Return the passage of a reference, and why it leads to no page."""
    reading.fields(reference, reference, "references.")
    source = {**content, **mapping(reference.get("sourceData"))}
    passage = _passage(source, number)
    url = words(reference.get("blobUrl")) or words(reference.get("url"))
    passage.document = passage.document or url or words(reference.get("title"))
    passage.id = words(reference.get("docKey")) or f"{passage.document or 'reference'}#{number + 1}"
    passage.score = number_of(reference.get("rerankerScore"))
    passage.more["reference"] = {
        name: value for name, value in reference.items() if name != "sourceData" and value is not None
    }
    return passage, WEB_PAGE if reference.get("type") == "web" else ""


def _passage(source: Mapping[str, Json], number: int) -> Passage:
    """Return the passage of a document of an index; without a usual name its longest text counts."""
    texts = {name: value for name, value in source.items() if isinstance(value, str) and value}
    named = next((name for name in _TEXTS if name in texts), None)
    other = max(texts, key=lambda name: (len(texts[name]), name), default=None)
    chosen = named or (other if other and len(texts[other].split()) > 3 else None)
    document = next((texts[name] for name in _DOCUMENTS if name in texts and name != chosen), None)
    page = next((page for name in _PAGES if (page := whole(source.get(name))) is not None), None)
    return Passage(
        text=texts[chosen] if chosen else None,
        id=f"{document or 'reference'}#{number + 1}",
        document=document,
        section=next((texts[name] for name in _SECTIONS if name in texts), None),
        page=page,
        more={"source": {name: value for name, value in source.items() if name != chosen}},
    )


def _of_search(exchange: Exchange, reading: Reading) -> Asked:
    """Return a search: its results, and as the answer the first passage that answers the question, if any."""
    response, request = exchange.response, exchange.request
    found: list[Passage] = []
    for _, result in objects(response.get("value"), reading, exchange.place, "result"):
        captions = [words(each.get("text")) for each in entries(result.get("@search.captions"))]
        own = {name: value for name, value in result.items() if not name.startswith("@search.")}
        scores = ("@search.score", "@search.rerankerScore", "@search.rerankerBoostedScore")
        reading.fields(result, {*own, *scores, "@search.captions"}, "value.")
        passage = _passage(own, len(found))
        if passage.text is None and captions:
            passage.text = captions[0]
        known = [number for name in scores if (number := number_of(result.get(name))) is not None]
        passage.score = known[-1] if known else None
        passage.more |= {name: result[name] for name in (*scores, "@search.captions") if result.get(name)}
        found.append(passage)
    answers = entries(response.get("@search.answers"))
    first = mapping(answers[0]) if answers else {}
    answer = words(first.get("text"))
    key = words(first.get("key"))
    at = next((each for each in found if key and key in mapping(each.more["source"]).values()), None)
    quoted = Passage(text=answer, document=at.document if at else None, page=at.page if at else None)
    return asked(
        exchange,
        reading,
        question=words(request.get("search")),
        answer=answer,
        cited=[Cited(passage=quoted, chunk=at.id if at else None, span=(0, len(answer)))] if answer else [],
        lists={"retrieved": found},
        used=("value",),
        kept=("@search.answers", "@odata.count"),
        asked_by=("search",),
    )


def _of_chat(exchange: Exchange, reading: Reading) -> Asked:
    """Return the answer of a chat on one's own data, which names its citations by `[doc1]`."""
    answer, context = _answer_and_context(entries(exchange.response["choices"])[0])
    reading.fields(context, ("citations", "intent"), "context.")
    found: dict[str, tuple[Passage, str]] = {}
    for _, citation in objects(context.get("citations"), reading, exchange.place, "citation"):
        reading.fields(citation, citation, "citations.")
        passage = _passage(citation, len(found))
        # The chunk's number within its document is an id only together with the document.
        passage.score = number_of(citation.get("rerank_score"))
        found[str(len(found) + 1)] = (passage, "")
    return asked(
        exchange,
        reading,
        question=question_of(exchange.request.get("messages")),
        answer=answer,
        cited=list(cited_by_markers(answer, _DOCUMENT, found)),
        lists={"chunks": [passage for passage, _ in found.values()]},
        used=("choices",),
        kept=("usage",),
        asked_by=("messages",),
    )


_EXAMPLE = b"""{"request": {"messages": [{"role": "user",
  "content": [{"type": "text", "text": "How much oil does the engine take?"}]}]},
 "response": {"response": [{"content": [{"type": "text",
   "text": "The engine takes 4.5 litres [ref_id:0]. Check it cold [ref_id:1]."}]}],
  "activity": [{"type": "searchIndex", "id": 1, "searchIndexArguments": {"search": "engine oil capacity"}}],
  "references": [
   {"type": "searchIndex", "id": "0", "activitySource": 1, "docKey": "manual_42", "rerankerScore": 3.1,
    "sourceData": {"content": "Engine oil, with filter: 4.5 litres.", "title": "manual.pdf",
     "page_number": 42}},
   {"type": "searchIndex", "id": "1", "activitySource": 1, "docKey": "manual_43", "rerankerScore": 2.4,
    "sourceData": {"content": "Check the level with the engine cold.", "title": "manual.pdf",
     "page_number": 43}}]}}
"""

AZURE_SEARCH: Format = response_format(
    name="azure_search",
    title="Azure AI Search",
    versions="the types of azure-search-documents 12.0, and Azure OpenAI on your data since 2023",
    example=_EXAMPLE,
    why="it has the references of a knowledge base, scored search results, or a context's citations",
    is_response=is_response,
    asked_of=asked_of,
    documentation="Of a knowledge base, `[ref_id:0]` in the answer cites for the sentence before it; without "
    "an answer its extracts are the chunks. Of a search, the results are the retrieved list and the first of "
    "`@search.answers` is the answer. Of a chat on your data, `[doc1]` is a citation. The fields of an index "
    "have no fixed names: text, document and page are looked for under the usual ones, and the page base is "
    "measured.",
)
