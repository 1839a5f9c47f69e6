"""Live objects of model APIs and frameworks give the records that a file of their dump gives."""

from __future__ import annotations

import datetime
from enum import Enum
from pathlib import Path
from typing import Any

import orjson
import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CitationBlock, TextBlock
from llama_index.core.base.response.schema import Response
from llama_index.core.schema import NodeWithScore, TextNode

from proofspan.adapters import (
    anthropic_records,
    azure_search_records,
    bedrock_records,
    cohere_records,
    gemini_records,
    langchain_records,
    llamaindex_records,
    mistral_records,
    openai_records,
)
from proofspan.errors import InputFault
from proofspan.services.opening.open import open_source
from proofspan.traces.records.citations import recorded_citations
from tests.places import CHECKOUT

FOLDER = CHECKOUT / "tests" / "formats" / "responses"
ALL = (
    *(anthropic_records, azure_search_records, bedrock_records, cohere_records, gemini_records),
    *(langchain_records, llamaindex_records, mistral_records, openai_records),
)
Q = "How much oil does the engine take?"
CITATION = {
    "type": "page_location",
    "cited_text": "Engine oil: 4.5 litres.",
    "document_index": 0,
    "document_title": "manual.pdf",
    "file_id": None,
    "start_page_number": 42,
    "end_page_number": 43,
}


def saved(name: str, line: int = 0) -> dict[str, Any]:
    """Return an exchange as the tests of formats keep it."""
    found: dict[str, Any] = orjson.loads((FOLDER / f"{name}.jsonl").read_bytes().splitlines()[line])
    return found


class Role(Enum):
    USER = "user"


class Dumped:
    """An object of an SDK with the method of its kind."""

    def __init__(self, method: str, value: dict[str, Any]) -> None:
        setattr(self, method, lambda **_: value)


def codes(fault: pytest.ExceptionInfo[InputFault]) -> list[str]:
    return [each.code for each in fault.value.problems]


def test_messages_of_langchain_give_a_trace_on_its_page() -> None:
    block = {"type": "text", "text": "4.5 litres", "citations": [CITATION]}
    answer = AIMessage(content=[block], response_metadata={"model_provider": "anthropic"})
    (trace,), chunks = langchain_records([HumanMessage(Q), answer])
    assert (trace["q"], trace["answer"]) == (Q, "4.5 litres")
    (cited,) = trace["citations"]  # type: ignore[misc]
    assert [(each["chunk_id"], each["text"]) for each in chunks] == [
        (cited["snippet_id"], CITATION["cited_text"])
    ]
    assert (cited["doc_id"], cited["page_idx"], cited["answer_span"]) == ("manual", 41, [0, 10])
    v1 = AIMessage(content_blocks=answer.content_blocks, response_metadata={"output_version": "v1"})
    ((other,), _) = langchain_records(v1, question=Q)
    assert other["citations"][0]["page_idx"] == 41  # type: ignore[index, call-overload]


def test_a_citation_over_several_pages_names_its_last_one() -> None:
    for end, last in ((43, None), (44, 42), (46, 44), (None, None)):
        block = {"type": "text", "text": "4.5 litres", "citations": [CITATION | {"end_page_number": end}]}
        message = {"type": "message", "role": "assistant", "content": [block], "stop_reason": "end_turn"}
        ((trace,), _) = anthropic_records(message, question=Q)
        record = {"payload": trace["citations"], "ids_in_text": [], "chunks": []}
        (cited,) = recorded_citations(orjson.dumps(record))
        assert (cited.page_idx, cited.last_page_idx) == (41, last)


def test_the_events_of_a_stream_are_a_response() -> None:
    stream = (FOLDER / "streams" / "anthropic.sse").read_text().splitlines()
    events = [orjson.loads(line[6:]) for line in stream if line.startswith("data: ")]
    request = saved("anthropic")["request"]
    live = [Dumped("model_dump", each) for each in events]
    assert anthropic_records(live, request=request) == anthropic_records(
        saved("anthropic")["response"], request=request
    )
    chunks = (FOLDER / "streams" / "langchain.jsonl").read_bytes().splitlines()
    ((trace,), _) = langchain_records([orjson.loads(each) for each in chunks], question=Q)
    assert trace["answer"] == "It takes 4.5 litres."


def test_documents_of_langchain_are_chunks_and_need_their_page_base() -> None:
    document = Document(
        id="d-1", page_content="Engine oil: 4.5 litres.", metadata={"source": "m.pdf", "page": 41}
    )
    call = {"name": "search", "args": {}, "id": "1"}
    messages = [
        HumanMessage(Q),
        AIMessage(content="", tool_calls=[call]),
        ToolMessage(content="…", tool_call_id="1", artifact=[document]),
        AIMessage("4.5 litres."),
    ]
    chain = {"input": Q, "context": [document], "answer": "4.5 litres."}
    for live in (messages, chain):
        _, (chunk,) = langchain_records(live, page_base=0)
        assert (chunk["chunk_id"], chunk["page_idx"], chunk["doc_id"]) == ("d-1", 41, "m")
        with pytest.raises(InputFault) as fault:
            langchain_records(live)
        assert codes(fault) == ["page_base_unknown"]


def test_a_response_of_llamaindex_cites_its_nodes() -> None:
    texts = ("Source 1:\nEngine oil: 4.5 litres.\n", "Source 2:\nCheck it cold.\n")
    nodes = [
        NodeWithScore(node=TextNode(id_=f"n-{number}", text=text, metadata={"file_name": "m.pdf"}), score=0.5)
        for number, text in enumerate(texts)
    ]
    (trace,), chunks = llamaindex_records(Response("Cold [2].", source_nodes=nodes), question=Q)
    assert [each["text"] for each in chunks] == ["Engine oil: 4.5 litres.", "Check it cold."]
    assert [each["snippet_id"] for each in trace["citations"]] == ["n-1"]  # type: ignore[union-attr, index, call-overload]
    place = {"document_index": 0, "start_page_number": 42, "end_page_number": 43}
    quote = TextBlock(text="Engine oil: 4.5 litres.")
    cited = CitationBlock(cited_content=quote, source="0", title="m.pdf", additional_location_info=place)
    chat = ChatResponse(message=ChatMessage(role="assistant", blocks=[TextBlock(text="4.5 litres"), cited]))
    ((trace,), _) = llamaindex_records(chat, question=Q)
    assert trace["citations"][0]["page_idx"] == 41  # type: ignore[index, call-overload]


@pytest.mark.parametrize(
    ("records", "name", "line", "method"),
    [
        (anthropic_records, "anthropic", 0, "model_dump"),
        (openai_records, "openai", 0, "model_dump"),
        (cohere_records, "cohere", 0, "model_dump"),
        (mistral_records, "mistral", 0, "model_dump"),
        (gemini_records, "gemini", 0, "model_dump"),
        (gemini_records, "gemini", 1, "model_dump"),
        (azure_search_records, "azure_search", 0, "as_dict"),
        (bedrock_records, "bedrock_converse", 0, "to_dict"),
        (bedrock_records, "bedrock_knowledge_base", 0, "dict"),
        (bedrock_records, "bedrock_knowledge_base", 1, "dict"),
    ],
)
def test_an_object_gives_what_its_file_gives(
    records: Any, name: str, line: int, method: str, tmp_path: Path
) -> None:
    exchange = saved(name, line)
    made = records(
        Dumped(method, exchange["response"]),
        question=exchange.get("question"),
        request=exchange.get("request"),
        page_base=1,
    )
    source = tmp_path / "response.json"
    source.write_bytes(orjson.dumps(exchange))
    open_source(source, workspace=tmp_path / "workspace", unknown_base=1)
    opened = (tmp_path / "workspace" / "runs" / "R001" / "trace.jsonl").read_bytes().splitlines()
    assert [orjson.loads(each) for each in opened] == made.traces


def test_bytes_dates_enums_and_cycles_are_no_obstacle() -> None:
    exchange = saved("bedrock_converse")
    response, request = exchange["response"], exchange["request"]
    expected = bedrock_records(response, request=request)
    around: list[object] = []
    around += [around, around]
    request["messages"][0]["content"][0]["document"]["source"] = {"bytes": b"%PDF-", "around": around}
    request["messages"][0]["role"] = Role.USER
    response["at"] = datetime.datetime(2026, 2, 26, tzinfo=datetime.UTC)
    assert bedrock_records(response, request=request) == expected


def test_a_response_without_sources_has_no_chunks() -> None:
    content = {"type": "output_text", "text": "4.5 litres.", "annotations": []}
    output = [{"type": "message", "content": [content]}]
    response = {"id": "r1", "object": "response", "model": "m", "output": output}
    found = openai_records(response, question="How much oil?", page_base=1)
    assert found.chunks == [] and found.traces[0]["answer"] == "4.5 litres."


@pytest.mark.parametrize("response", [{"error": {"message": "Too many"}}, {}, None, "text", object()])
@pytest.mark.parametrize("records", ALL, ids=lambda each: each.__name__)
def test_what_is_no_response_is_a_fault(records: Any, response: object) -> None:
    with pytest.raises(InputFault) as fault:
        records(response, question=Q)
    assert set(codes(fault)) <= {"api_error", "not_a_response"}
