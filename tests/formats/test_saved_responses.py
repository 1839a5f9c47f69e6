"""Responses as other people save them: other versions, spellings, wrappers, proxies and conversations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from proofspan.traces.formats.records import sample_of
from proofspan.traces.formats.types import Asked, Reading
from proofspan.traces.registry import recognized
from proofspan.traces.responses.base import NOWHERE

PAGE = {"type": "page_location", "cited_text": "Engine oil: 4.5 litres.", "document_index": 0}
PAGE |= {"document_title": "manual.pdf", "start_page_number": 42, "end_page_number": 43}
TEXT: dict[str, Any] = {"type": "text", "text": "4.5 litres", "citations": [PAGE]}
MESSAGE: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "content": [TEXT]}
MESSAGE |= {"stop_reason": "end_turn", "model": "claude"}
ASKED = [{"role": "user", "content": "How much oil?"}]
DOCUMENT = {"id": "doc_0", "title": "manual.pdf", "snippet": "Engine oil: 4.5 litres.", "page": 42}
VERSION_1 = {
    "text": "It is 4.5 litres.",
    "generation_id": "g-1",
    "response_id": "r-1",
    "finish_reason": "COMPLETE",
}
VERSION_1 |= {
    "documents": [DOCUMENT],
    "citations": [{"start": 6, "end": 16, "text": "4.5 litres", "document_ids": ["doc_0"]}],
}
VERSION_2 = {
    "id": "c-1",
    "finishReason": "COMPLETE",
    "message": {
        "role": "assistant",
        "content": [{"type": "text", "text": "It is 4.5 litres."}],
        "citations": [
            {"start": 6, "end": 16, "text": "4.5 litres", "contentIndex": 0, "type": "TEXT_CONTENT"}
            | {"sources": [{"type": "document", "id": "doc_0", "document": DOCUMENT}]}
        ],
    },
}
FOUND = {"content": "Engine oil: 4.5 litres.", "title": "manual.pdf", "chunk_id": "0"}
CONTEXT = json.dumps({"citations": [FOUND], "intent": '["oil"]'})
ANSWER = {"role": "assistant", "content": "It is 4.5 litres [doc1]."}
TOOL = {"role": "tool", "content": CONTEXT}
QUOTED = {"type": "file_citation", "text": "【0†source】", "start_index": 17, "end_index": 27}
QUOTED |= {"file_citation": {"file_id": "file-1", "quote": "Engine oil: 4.5 litres."}}
THREAD = {"id": "m-1", "object": "thread.message", "role": "assistant"}
THREAD |= {
    "content": [{"type": "text", "text": {"value": "It is 4.5 litres.【0†source】", "annotations": [QUOTED]}}]
}
WEB = {
    "type": "url_citation",
    "url_citation": {"url": "https://example.com", "start_index": 0, "end_index": 2},
}
COMPLETION = {"id": "x", "object": "chat.completion", "model": "m/search"}
LITELLM = COMPLETION | {
    "choices": [
        {
            "finish_reason": "stop",
            "message": {
                "role": "assistant",
                "content": "It is 4.5 litres.",
                "provider_specific_fields": {"citations": [[PAGE | {"supported_text": "4.5 litres"}]]},
            },
        }
    ]
}
CONVERSE = {
    "role": "assistant",
    "content": [
        {
            "citationsContent": {
                "content": [{"text": "4.5 litres"}],
                "citations": [
                    {"title": "manual.pdf", "sourceContent": [{"text": "Engine oil: 4.5 litres."}]}
                    | {"location": {"documentPage": {"documentIndex": 0, "start": 42, "end": 43}}}
                ],
            }
        }
    ],
}
ONE = {"role": "user", "content": [{"type": "text", "text": "How much oil?"}]}


def camel(value: Any) -> Any:
    if isinstance(value, dict):
        parts = {name: name.split("_") for name in value}
        return {
            each[0] + "".join(map(str.title, each[1:])): camel(value[name]) for name, each in parts.items()
        }
    return [camel(each) for each in value] if isinstance(value, list) else value


def read(record: Any, folder: Path) -> tuple[str, list[Asked], Reading]:
    path = folder / "response.json"
    path.write_text(json.dumps(record, indent=2))
    found, reading = recognized(sample_of(path)), Reading(path.name)
    assert found is not None
    return found.format.name, list(found.format.read(path, reading)), reading


CASES = {
    "messages beside": ("anthropic", {"messages": ASKED, "max_tokens": 9, "response": MESSAGE}),
    "input beside": ("anthropic", {"input": "How much oil?", "response_body": MESSAGE}),
    "params": (
        "anthropic",
        {
            "custom_id": "7",
            "params": {"messages": ASKED},
            "result": {"type": "succeeded", "message": MESSAGE},
        },
    ),
    "one object": ("anthropic", {"messages": ASKED, **MESSAGE}),
    "a log of Bedrock": (
        "anthropic",
        {
            "schemaType": "ModelInvocationLog",
            "modelId": "anthropic.claude",
            "operation": "InvokeModel",
            "input": {"inputBodyJson": {"messages": ASKED}},
            "output": {"outputBodyJson": MESSAGE},
        },
    ),
    "camel case": ("anthropic", {"request": {"messages": ASKED}, "response": camel(MESSAGE)}),
    "a conversation": ("anthropic", {"messages": [*ASKED, {"role": "assistant", "content": [TEXT]}]}),
    "messages in a list": ("anthropic", [*ASKED, {"role": "assistant", "content": [TEXT]}]),
    "responses in an object": (
        "anthropic",
        {"results": [{"question": "How much oil?", "response": MESSAGE}]},
    ),
    "text of a body": (
        "anthropic",
        {"request": json.dumps({"messages": ASKED}), "response": json.dumps(MESSAGE)},
    ),
    "a name of one's own": ("anthropic", {"question": "How much oil?", "took": 3, "raw_message": MESSAGE}),
    "an event of CloudWatch": (
        "anthropic",
        {
            "@timestamp": "2026-11-24 12:00:00",
            "@message": json.dumps(
                {
                    "modelId": "anthropic.claude",
                    "input": {"inputBodyJson": {"messages": ASKED}},
                    "output": {"outputBodyJson": MESSAGE},
                }
            ),
        },
    ),
    "LiteLLM": ("anthropic", {"request": {"messages": ASKED}, "response": LITELLM}),
    "Cohere v1": ("cohere", {"request": {"message": "How much oil?"}, "response": VERSION_1}),
    "Cohere, camel case": ("cohere", {"request": {"messages": ASKED}, "response": VERSION_2}),
    "a stream of Cohere v1": (
        "cohere",
        {
            "question": "How much oil?",
            "events": [
                {"event_type": "stream-start", "generation_id": "g-1", "is_finished": False},
                {"event_type": "text-generation", "text": "It is "},
                {"event_type": "stream-end", "finish_reason": "COMPLETE", "response": VERSION_1},
            ],
        },
    ),
    "Azure, June 2023": (
        "azure_search",
        {
            "request": {"messages": ASKED},
            "response": COMPLETION | {"choices": [{"messages": [TOOL, ANSWER]}]},
        },
    ),
    "Azure, August 2023": (
        "azure_search",
        {
            "request": {"messages": ASKED},
            "response": {"choices": [{"message": ANSWER | {"context": {"messages": [TOOL]}}}]},
        },
    ),
    "a thread": ("openai", {"question": "How much oil?", "response": THREAD}),
    "Converse": ("bedrock_converse", {"messages": [ONE, CONVERSE]}),
    "a web search": (
        "openai",
        {
            "request": {"input": "How much oil?"},
            "response": COMPLETION
            | {"choices": [{"message": {"role": "assistant", "content": "It is.", "annotations": [WEB]}}]},
        },
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_response_opens_however_it_was_saved(name: str, tmp_path: Path) -> None:
    wanted, record = CASES[name]
    for saved in (record, [record, record] if isinstance(record, dict) else record):
        found, asked, reading = read(saved, tmp_path)
        assert found == wanted and {each.q for each in asked} == {"How much oil?"}
        assert (
            len(asked)
            == (2 if isinstance(saved, list) and isinstance(record, dict) else 1)
            == reading.records
        )
        assert reading.lost == 0 and not reading.problems
        for each in asked:
            (cited,) = each.cited
            assert each.answer and cited.span is not None
            if name == "a web search":
                assert cited.reason
                continue
            place = cited.passage
            chunk = next(every for every in each.lists["chunks"] if every.id == cited.chunk)
            assert not cited.reason and (chunk.text or "").strip() == "Engine oil: 4.5 litres."
            assert (place.document or chunk.document) == ("file-1" if name == "a thread" else "manual.pdf")
            assert "4.5 litres" in each.answer[slice(*cited.span)]


def test_each_answer_of_a_conversation_is_a_question(tmp_path: Path) -> None:
    other = {"role": "user", "content": "Say it again."}
    answer = {"role": "assistant", "content": [TEXT]}
    plain = {"role": "assistant", "content": "Hello."}
    _, asked, reading = read({"messages": [*ASKED, plain, *ASKED, answer, other, answer]}, tmp_path)
    assert [each.q for each in asked] == ["How much oil?", "Say it again."] and reading.records == 2


def test_a_blocked_prompt_and_an_error_of_gemini_are_problems(tmp_path: Path) -> None:
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}, "modelVersion": "gemini"}
    error = {"error": {"code": 400, "message": "Invalid argument.", "status": "INVALID_ARGUMENT"}}
    name, asked, reading = read([blocked, error], tmp_path)
    assert (name, asked, reading.lost) == ("gemini", [], 2)
    assert [each.code for each in reading.problems] == ["no_answer", "api_error"]
    assert "SAFETY" in reading.problems[0].message


def test_a_citation_that_names_nothing_says_so(tmp_path: Path) -> None:
    reference = {"type": "searchIndex", "id": "0", "activitySource": 1, "docKey": "k-1", "sourceData": None}
    text = [{"type": "text", "text": "It is 4.5 litres [ref_id:0]."}]
    response = {"response": [{"content": text}], "activity": [], "references": [reference]}
    _, (asked,), _ = read(response, tmp_path)
    assert [each.reason for each in asked.cited] == [NOWHERE]


def test_support_indices_of_2024_name_chunks_of_gemini(tmp_path: Path) -> None:
    support = {"segment": {"endIndex": 5, "text": "It is"}, "supportChunkIndices": [0]}
    chunk = {"retrievedContext": {"uri": "gs://manual.pdf", "text": "Engine oil: 4.5 litres."}}
    metadata = {"groundingChunks": [chunk], "groundingSupports": [support]}
    content = {"role": "model", "parts": [{"text": "It is."}]}
    _, (asked,), _ = read({"candidates": [{"content": content, "groundingMetadata": metadata}]}, tmp_path)
    assert [each.chunk for each in asked.cited] == ["gs://manual.pdf#1"]
