"""Quotes of real documents, returned as each API would, lead to their pages."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from proofspan import adapters
from proofspan.adapters import Records
from proofspan.contracts.records.records import Citation, Json
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.types import FoundSpan, SpanQuery
from proofspan.services.question.view import span_query
from proofspan.traces.records.citations import recorded_citations

Row = dict[str, Any]
ANSWER = "The document says so."
#: Records of the citation of a quote: of a document's name, a page from 1, and the quote.
Shape = Callable[[str, int, str], Records]


def anthropic(name: str, page: int, quote: str) -> Records:
    cited = {"type": "page_location", "cited_text": quote, "document_index": 0, "document_title": name}
    cited |= {"start_page_number": page, "end_page_number": page + 1}
    block = {"type": "text", "text": ANSWER, "citations": [cited]}
    return adapters.anthropic_records(
        {"type": "message", "role": "assistant", "content": [block], "stop_reason": "end_turn"}
    )


def converse(name: str, page: int, quote: str) -> Records:
    place = {"documentPage": {"documentIndex": 0, "start": page, "end": page + 1}}
    cited = {"title": name, "sourceContent": [{"text": quote}], "location": place}
    block = {"citationsContent": {"content": [{"text": ANSWER}], "citations": [cited]}}
    message = {"role": "assistant", "content": [block]}
    return adapters.bedrock_records({"output": {"message": message}, "stopReason": "end_turn"})


def knowledge_base(name: str, page: int, quote: str) -> Records:
    part = {"textResponsePart": {"text": ANSWER, "span": {"start": 0, "end": len(ANSWER) - 1}}}
    reference = {
        "content": {"type": "TEXT", "text": quote},
        "location": {"type": "S3", "s3Location": {"uri": f"s3://files/{name}"}},
        "metadata": {"x-amz-bedrock-kb-document-page-number": float(page)},
    }
    cited = {"generatedResponsePart": part, "retrievedReferences": [reference]}
    response = {"output": {"text": ANSWER}, "citations": [cited], "sessionId": "1"}
    return adapters.bedrock_records(response, page_base=1)


def gemini(name: str, page: int, quote: str) -> Records:
    chunk = {"text": quote, "pageSpan": {"firstPage": page, "lastPage": page}}
    metadata = {
        "groundingChunks": [{"retrievedContext": {"uri": f"gs://files/{name}", "ragChunk": chunk}}],
        "groundingSupports": [{"segment": {"endIndex": len(ANSWER)}, "groundingChunkIndices": [0]}],
    }
    content = {"role": "model", "parts": [{"text": ANSWER}]}
    candidate = {"content": content, "finishReason": "STOP", "groundingMetadata": metadata}
    return adapters.gemini_records({"candidates": [candidate]})


def openai(name: str, page: int, quote: str) -> Records:
    result = {"file_id": "file-1", "filename": name, "score": 0.9, "text": quote, "attributes": {}}
    cited = {"type": "file_citation", "index": len(ANSWER), "file_id": "file-1", "filename": name}
    part = {"type": "output_text", "text": ANSWER, "annotations": [cited]}
    search = {"type": "file_search_call", "id": "fs-1", "results": [result]}
    message = {"type": "message", "role": "assistant", "content": [part]}
    return adapters.openai_records({"object": "response", "output": [search, message]})


def cohere(name: str, page: int, quote: str) -> Records:
    document = {"id": "doc:0", "text": quote, "filename": name, "page": page}
    source = {"type": "document", "id": "doc:0", "document": document}
    cited = {"start": 0, "end": len(ANSWER), "text": ANSWER, "sources": [source]}
    content = [{"type": "text", "text": ANSWER}]
    message = {"role": "assistant", "content": content, "citations": [cited]}
    return adapters.cohere_records({"finish_reason": "COMPLETE", "message": message}, page_base=1)


def azure(name: str, page: int, quote: str) -> Records:
    source = {"content": quote, "title": name, "page_number": page}
    reference = {"type": "searchIndex", "id": "0", "docKey": "k", "sourceData": source}
    text = [{"type": "text", "text": f"{ANSWER} [ref_id:0]"}]
    response = {"response": [{"content": text}], "activity": [], "references": [reference]}
    return adapters.azure_search_records(response, page_base=1)


def langchain(name: str, page: int, quote: str) -> Records:
    cited = {"type": "citation", "title": name, "cited_text": quote}
    cited |= {"extras": {"document_index": 0, "start_page_number": page, "end_page_number": page + 1}}
    content = [{"type": "text", "text": ANSWER, "annotations": [cited]}]
    return adapters.langchain_records([{"type": "ai", "content": content}])


def llamaindex(name: str, page: int, quote: str) -> Records:
    metadata = {"file_name": name, "page_number": page}
    node = {"id_": "n-1", "text": f"Source 1:\n{quote}\n", "metadata": metadata}
    response = {"response": f"{ANSWER} [1]", "source_nodes": [{"node": node, "score": 0.5}]}
    return adapters.llamaindex_records(response, page_base=1)


def mistral(name: str, page: int, quote: str) -> Records:
    result = json.dumps({"0": {"filename": name, "page": page, "snippets": [quote]}})
    content = [{"type": "text", "text": ANSWER}, {"type": "reference", "reference_ids": [0]}]
    choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": content}}
    response = {"object": "chat.completion", "model": "mistral-large", "choices": [choice]}
    request = {"messages": [{"role": "tool", "content": result}]}
    return adapters.mistral_records(response, request=request, page_base=1)


SHAPES = (
    *(anthropic, converse, knowledge_base, gemini, openai),
    *(cohere, azure, langchain, llamaindex, mistral),
)


@pytest.fixture(scope="module")
def quotes(real_data: Path) -> list[Row]:
    """The quotes of the development set that are on their page as they are, but for line breaks."""
    lines = (real_data / "spans" / "spans_dev.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["kind"] in ("verbatim", "flat")]


@pytest.fixture(scope="module")
def places(real_data: Path, quotes: list[Row]) -> dict[tuple[str, int, str], FoundSpan]:
    """Where each quote is, cited with its page: the same query for each API that gives one."""
    asked = [(row["pdf"], row["page_idx"], row["quote"]) for row in quotes]
    with PdfPool(timeout_s=60, recycle_after=10_000) as pool:
        found = [pool.locate(real_data / pdf, SpanQuery(quote, page)) for pdf, page, quote in asked]
    return dict(zip(asked, found, strict=True))


def cited(records: Records) -> tuple[Citation, str]:
    """Return the one citation of records, and the text of its chunk."""
    (trace,), chunks = records
    (found,) = recorded_citations(
        orjson.dumps({"payload": trace["citations"], "ids_in_text": [], "chunks": trace.get("chunks")})
    )
    texts: dict[Json, Json] = {each["chunk_id"]: each["text"] for each in chunks}
    return found, str(texts[found.chunk_id])


@pytest.mark.real_data
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_each_quote_leads_to_its_page(
    shape: Shape, quotes: list[Row], places: dict[tuple[str, int, str], FoundSpan]
) -> None:
    assert len(quotes) > 90
    for row in quotes:
        name, page_idx, quote = Path(row["pdf"]).name, row["page_idx"], row["quote"]
        citation, text = cited(shape(name, page_idx + 1, quote))
        assert (citation.doc_id, citation.quote or text) == (Path(name).stem, quote)
        query = span_query(citation)
        # OpenAI's file search gives no page.
        assert query.cited_page_idx == (None if shape is openai else page_idx)
        found = places[row["pdf"], page_idx, quote]
        assert found.page_idx == page_idx and not found.page_mismatch and found.rects
        assert found.status in ("exact", "normalized"), row["id"]
