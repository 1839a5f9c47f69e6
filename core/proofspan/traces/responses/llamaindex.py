"""LlamaIndex: responses with their source nodes, which the citation engine's answers name by `[1]`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from proofspan.contracts.records.field_values import number_of, text_of
from proofspan.contracts.records.records import Json
from proofspan.traces.formats.types import Asked, Cited, Format, Passage, Reading
from proofspan.traces.responses.base import (
    asked,
    citation_passage,
    cited_by_markers,
    cited_chunks,
    last_page_of,
    objects,
    range_of,
    response_format,
)
from proofspan.traces.responses.exchanges import Exchange
from proofspan.traces.responses.parts import entries, mapping, whole, words

_MARKER = re.compile(r"\[0*(\d{1,3}(?:\s*,\s*\d{1,3})*)\]")
#: What the citation engine puts before the text of a source.
_HEADER = re.compile(r"\ASource (\d{1,6}):\n")
#: Where readers keep the name of the file that a node comes from.
_FILES = ("file_name", "filename", "file_path", "source", "url", "title", "document_title")
#: The key of `relationships` under which a node names the document that it was cut from.
_SOURCE = "1"


def _is_response(response: Mapping[str, Json]) -> bool:
    nodes = response.get("source_nodes")
    return "response" in response and isinstance(nodes, list) and all(_node(each) for each in entries(nodes))


def _is_chat(response: Mapping[str, Json]) -> bool:
    blocks = mapping(response.get("message")).get("blocks")
    return isinstance(blocks, list) and any("block_type" in each for each in entries(blocks))


def is_response(response: Mapping[str, Json]) -> bool:
    """Return whether an object is a `Response` or an `AgentChatResponse`, or a `ChatResponse` of a model."""
    return _is_response(response) or _is_chat(response)


def asked_of(exchange: Exchange, reading: Reading) -> Asked:
    """Return the question of a response."""
    return (_of_response if _is_response(exchange.response) else _of_chat)(exchange, reading)


def _of_response(exchange: Exchange, reading: Reading) -> Asked:
    """Return an answer with its source nodes; each number in brackets is a citation of one."""
    response = exchange.response
    answer = text_of(response.get("response")) or ""
    chunks: list[Passage] = []
    numbers: dict[str, tuple[Passage, str]] = {}
    for _, scored in objects(response.get("source_nodes"), reading, exchange.place, "source node"):
        passage, number = _chunk(scored, {each.id for each in chunks}, reading)
        chunks.append(passage)
        numbers.setdefault(number or str(len(chunks)), (passage, ""))
    used = ("response", "source_nodes", "query", "question", "query_str")
    question = next((text for name in used[2:] if (text := words(response.get(name)))), None)
    return asked(
        exchange,
        reading,
        question=question,
        answer=answer,
        cited=[*cited_by_markers(answer, _MARKER, numbers)],
        lists={"chunks": chunks},
        used=used,
        kept=("metadata", "sources"),
    )


def _node(scored: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the node of a `NodeWithScore`, or the node itself; {} for anything else."""
    node = mapping(scored.get("node")) or scored
    node = mapping(node.get("__data__")) or node
    return node if "text" in node or "text_resource" in node or "id_" in node else {}


def _chunk(
    scored: Mapping[str, Json], taken: set[str | None], reading: Reading
) -> tuple[Passage, str | None]:
    """Return a node's passage, and its number by the header of the citation engine.

    Older versions give all parts of a node its id, so an id that is taken gets a number.
    """
    node = _node(scored)
    used = ("id_", "node_id", "text", "text_resource", "metadata", "relationships")
    places = ("start_char_idx", "end_char_idx")
    reading.fields(node, (*used, *places, "class_name"), "source_nodes.node.")
    metadata = dict(mapping(node.get("metadata")))
    text = words(node.get("text")) or words(mapping(node.get("text_resource")).get("text")) or ""
    header = _HEADER.match(text)
    own = words(node.get("id_")) or words(node.get("node_id"))
    source = words(mapping(mapping(node.get("relationships")).get(_SOURCE)).get("node_id"))
    document = next((name for each in _FILES if (name := words(metadata.get(each)))), None) or source
    page, label = whole(metadata.get("page")), text_of(metadata.get("page_label"))
    chunk_id = own or f"{document or 'node'}#{len(taken) + 1}"
    if chunk_id in taken:
        chunk_id = f"{chunk_id}#{len(taken) + 1}"
    kept: dict[str, Json] = {name: node[name] for name in places if node.get(name) is not None}
    if source:
        kept["ref_doc_id"] = source
    offsets = range_of(node.get(places[0]), node.get(places[1]))
    passage = Passage(
        text=text[header.end() :].rstrip("\n") if header else text or None,
        id=chunk_id,
        document=document,
        page=whole(metadata.get("page_number")) if page is None else page,
        label=label,
        score=number_of(scored.get("score")),
        # A reader of PDFs makes a document of each page, in which these are places.
        offsets=None if label or page is not None else offsets,
        more=kept | ({"metadata": metadata} if metadata else {}),
    )
    return passage, header[1] if header else None


def _of_chat(exchange: Exchange, reading: Reading) -> Asked:
    """Return the answer of a model; its citation blocks follow the text that they support."""
    response = exchange.response
    answer, span, cited = "", None, list[Cited]()
    blocks = mapping(response.get("message")).get("blocks")
    for _, block in objects(blocks, reading, exchange.place, "block"):
        kind = block.get("block_type")
        if kind == "text":
            reading.fields(block, ("block_type", "text"), "message.blocks.text.")
            text = words(block.get("text")) or ""
            span = (len(answer), len(answer) + len(text)) if text else span
            answer += text
        elif kind == "citation":
            reading.fields(block, block, "message.blocks.citation.")
            cited.append(_citation(block, span))
        else:
            reading.fields(block, ("block_type",), f"message.blocks.{kind}.")
    raw = mapping(response.get("raw"))
    return asked(
        exchange,
        reading,
        question=words(exchange.request.get("query")),
        answer=answer,
        cited=cited,
        lists={"chunks": cited_chunks(cited)},
        used=("message",),
        kept=("raw", "additional_kwargs") if raw else ("additional_kwargs",),
    )


def _citation(block: Mapping[str, Json], span: tuple[int, int] | None) -> Cited:
    """Return a citation block: its numbers are those of the API behind it, Anthropic's pages from 1."""
    at = mapping(block.get("additional_location_info"))
    passage = citation_passage(
        block,
        quote=mapping(block.get("cited_content")).get("text"),
        dropped=("cited_content", "block_type"),
        document=words(block.get("title")) or words(block.get("source")),
        page=whole(at.get("start_page_number")),
        last_page=last_page_of(whole(at.get("end_page_number"))),
        offsets=range_of(at.get("start_char_index"), at.get("end_char_index")),
    )
    return Cited(passage=passage, span=span)


_EXAMPLE = b"""{"question": "How much oil does the engine take?",
 "response": {"response": "The engine takes 4.5 litres [1]. Check it cold [2].", "source_nodes": [
  {"node": {"id_": "n-1", "metadata": {"file_name": "manual.pdf", "page_label": "42"},
    "relationships": {"1": {"node_id": "d-42", "node_type": "4", "metadata": {}}},
    "text": "Source 1:\\nEngine oil, with filter: 4.5 litres.\\n", "mimetype": "text/plain",
    "start_char_idx": null, "end_char_idx": null, "class_name": "TextNode"},
   "score": 0.82, "class_name": "NodeWithScore"},
  {"node": {"id_": "n-2", "metadata": {"file_name": "manual.pdf", "page_label": "43"},
    "text": "Source 2:\\nCheck the level with the engine cold.\\n", "class_name": "TextNode"},
   "score": 0.71, "class_name": "NodeWithScore"}]}}
"""

LLAMAINDEX: Format = response_format(
    name="llamaindex",
    title="LlamaIndex",
    versions="llama-index-core 0.14: Response, AgentChatResponse, ChatResponse with citation blocks",
    example=_EXAMPLE,
    why="the response has source_nodes, or a message of blocks",
    is_response=is_response,
    asked_of=asked_of,
    documentation="Source nodes are what the model saw; the citation engine's `Source 1:` before a text is "
    "left out, and `[1]` in the answer is a citation of that source for the sentence before it. "
    "`page_label` is the label printed on the page.",
)
