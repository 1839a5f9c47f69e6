"""Responses of Bedrock, Gemini, Azure AI Search, LangChain and LlamaIndex, as their own classes dump them.

The responses in `responses/` were made with botocore 1.44, google-genai 3.4, azure-search-documents 12.0,
langchain-core 1.7 and llama-index-core 0.14.
"""

from __future__ import annotations

import re
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.records import NO_QUESTION
from proofspan.traces.formats.records import sample_of
from proofspan.traces.formats.types import Asked, Cited, Reading
from proofspan.traces.registry import FORMATS
from proofspan.traces.responses.azure_search import AZURE_SEARCH
from proofspan.traces.responses.base import WEB_PAGE
from proofspan.traces.responses.bedrock import CONVERSE, KNOWLEDGE_BASE
from proofspan.traces.responses.gemini import GEMINI
from proofspan.traces.responses.langchain_v1 import LANGCHAIN
from proofspan.traces.responses.llamaindex import LLAMAINDEX
from proofspan.traces.responses.parts import marked, span_of

FOLDER = Path(__file__).with_name("responses")
FILES = {
    "bedrock_converse": CONVERSE,
    "bedrock_knowledge_base": KNOWLEDGE_BASE,
    "gemini": GEMINI,
    "azure_search": AZURE_SEARCH,
    "langchain": LANGCHAIN,
    "langchain_chain": LANGCHAIN,
    "llamaindex": LLAMAINDEX,
}
MANUAL = "meridian-2026.pdf"


def opened(name: str) -> tuple[list[Asked], Reading]:
    """Return the questions of a file, and what was understood of it."""
    reading = Reading(f"{name}.jsonl")
    return list(FILES[name].read(FOLDER / f"{name}.jsonl", reading)), reading


def supported(asked: Asked) -> list[str | None]:
    """Return the parts of the answer that the citations support."""
    return [asked.answer[slice(*each.span)] if asked.answer and each.span else None for each in asked.cited]


def places(cited: list[Cited]) -> list[tuple[str | None, int | None, int | None]]:
    return [(each.passage.document, each.passage.page, each.passage.page_base) for each in cited]


@pytest.mark.parametrize("name", FILES)
def test_a_dump_of_the_sdk_is_recognized_by_its_format(name: str) -> None:
    sample = sample_of(FOLDER / f"{name}.jsonl")
    found = [each for each in FORMATS if each.detect(sample) is not None]
    assert found[0] == FILES[name] and {each.name for each in found[1:]} <= {"table"}


def test_converse_counts_documents_over_all_messages_and_pages_from_1() -> None:
    (asked, alone), reading = opened("bedrock_converse")
    assert asked.q == "Which oil does the engine take, and how much?"
    assert asked.answer == "It takes 4.5 litres of 5W-30; in the cold, 0W-20."
    assert supported(asked) == ["4.5 litres of 5W-30"] * 2 + ["0W-20"] * 3
    assert places(asked.cited[:2]) == [(f"s3://books/{MANUAL}", 42, 1), ("warranty.pdf", 3, 1)]
    assert asked.cited[0].passage.text == "Engine oil: 4.5 litres, SAE 5W-30."
    assert asked.cited[2].chunk == asked.lists["chunks"][0].id
    assert asked.cited[3].reason == WEB_PAGE and asked.cited[4].passage.offsets == (10, 15)
    assert asked.run == "anthropic.claude-sonnet-4-5"
    # The texts that are quoted are what the model saw, beside the search result.
    assert [each.page for each in asked.lists["chunks"]] == [None, 42, 3, None]
    assert asked.cited[0].chunk == asked.lists["chunks"][1].id
    assert alone.q == NO_QUESTION and alone.cited[0].passage.document == "manual"
    assert [(each.code, reading.lost) for each in reading.problems] == [("api_error", 1)]


def test_a_span_of_retrieve_and_generate_ends_with_its_last_character() -> None:
    (asked, found, _), reading = opened("bedrock_knowledge_base")
    assert supported(asked) == ["The engine takes 4.5 litres."] * 2 + ["Use 5W-30."] * 3
    chunks = asked.lists["chunks"]
    assert [each.page for each in chunks] == [41, 42, None, None]
    assert {each.page_base for each in chunks} == {None}  # the base is measured
    assert [each.chunk for each in asked.cited] == [chunks[n].id for n in (0, 1, 0, 2, 3)]
    assert chunks[2].text == "grade: 5W-30"
    assert [each.reason for each in asked.cited] == ["", "", "", "", WEB_PAGE]
    assert found.answer is None and [each.score for each in found.lists["retrieved"]] == [0.7, 0.4]
    assert reading.lost == 0 and not reading.left


def test_gemini_counts_utf_8_bytes_of_a_part() -> None:
    (asked, snake), reading = opened("gemini")
    assert asked.answer == "Für Müller’s engine: 4.5 l ☺. Use 5W-30 – no other."
    assert supported(asked) == [
        "Für Müller’s engine: 4.5 l ☺.",
        "Use 5W-30 – no other.",
        "Use 5W-30 – no other.",
        "no other.",
    ]
    assert places(asked.cited[:2]) == [(f"gs://books/{MANUAL}", 42, 1), ("bulletin.pdf", 7, None)]
    assert asked.cited[2].reason == WEB_PAGE and "no chunk" in asked.cited[3].reason
    assert asked.lists["chunks"][0].id == "k-1"
    assert (snake.cited, snake.lists) == (asked.cited, asked.lists)  # `model_dump` names are the same
    assert [each.code for each in reading.problems] == ["api_error"]


def test_a_reference_of_azure_is_cited_for_the_sentence_before_its_marker() -> None:
    (asked, extracted, search, chat), reading = opened("azure_search")
    assert supported(asked) == ["It takes 4.5 litres", "It takes 4.5 litres", "Ask around", "Or not"]
    assert places(asked.cited[:1]) == [(MANUAL, 42, None)] and asked.cited[0].chunk == "m_42"
    assert asked.cited[2].reason == WEB_PAGE and "8, which is not among" in asked.cited[3].reason
    assert extracted.answer is None and extracted.lists["chunks"][3].text == "Tyres: 2.3 bar."
    assert [each.score for each in search.lists["retrieved"]] == [3.1, 1.2]
    assert search.answer == "Engine oil: 4.5 litres."
    assert search.cited[0].chunk == search.lists["retrieved"][0].id
    assert [each.passage.document for each in chat.cited] == [MANUAL, "bulletin.pdf", None]
    assert reading.lost == 0 and set(reading.left) == {"object"}


def test_langchain_keeps_the_pages_that_a_provider_gave() -> None:
    asked, reading = opened("langchain")
    anthropic, v1, bedrock, openai, google, agent = asked
    assert places(anthropic.cited) == [(MANUAL, 42, 1), ("notes.txt", None, 1)]
    assert (v1.cited[1].passage.offsets, supported(v1)) == ((8, 18), ["4.5 litres"] * 2)
    assert places(v1.cited) == places(anthropic.cited)
    assert places(bedrock.cited) == [(MANUAL, 42, 1)]
    assert bedrock.cited[0].passage.text == "Engine oil: 4.5 litres."
    assert supported(openai) == ["It takes 4.5 litres.", "It takes 4.5 litres.", "Take care."]
    assert [each.reason for each in openai.cited] == ["", WEB_PAGE, ""]
    # Google's offsets are bytes, and its cited text is the answer's.
    assert supported(google) == ["4.5 l."] and google.cited[0].passage.text is None
    assert agent.answer == "4.5 litres." and len(agent.fields["steps"]) == 1  # type: ignore[arg-type]
    chunk = agent.lists["chunks"][0]
    assert (chunk.id, chunk.page, chunk.page_base, chunk.label) == ("d-1", 41, None, "42")
    assert {each.q for each in asked} == {"Which oil does the engine take, and how much?"}
    assert reading.lost == 0


def test_the_output_of_a_retrieval_chain_has_its_documents_as_chunks() -> None:
    ((asked,), _) = opened("langchain_chain")
    assert asked.answer == "4.5 litres."
    assert [(each.id, each.page) for each in asked.lists["chunks"]] == [("d-1", 41), ("tyres.pdf#2", 3)]


def test_a_conversation_that_ends_with_a_call_is_a_problem(tmp_path: Path) -> None:
    path, reading = tmp_path / "messages.json", Reading("messages.json")
    call = {
        "type": "ai",
        "content": "Let me look.",
        "tool_calls": [{"name": "search", "args": {}, "id": "1"}],
    }
    path.write_bytes(orjson.dumps([{"type": "human", "content": "How much?"}, call]))
    assert list(LANGCHAIN.read(path, reading)) == []
    assert [each.code for each in reading.problems] == ["no_answer"]


def test_numbers_in_brackets_cite_the_sources_of_llamaindex() -> None:
    (asked, same, plain, chat), reading = opened("llamaindex")
    assert [each.text for each in asked.lists["chunks"]] == ["Engine oil: 4.5 litres.", "5W-30 only."]
    assert supported(asked) == ["It takes 4.5 litres", "Use 5W-30", "Use 5W-30", "Ask"]
    assert [each.chunk for each in asked.cited] == ["n-1", "n-1", "n-2", None]
    assert "source 7, which is not" in asked.cited[3].reason
    assert [each.label for each in asked.lists["chunks"]] == ["42", None]
    # Parts of one node that have its id differ, and the second is the one cited.
    assert [each.id for each in same.lists["chunks"]] == ["n-1", "n-1#2"]
    assert same.cited[0].chunk == "n-1#2"
    assert plain.cited == [] and plain.lists["chunks"][0].offsets is None
    assert places(chat.cited) == [(MANUAL, 42, 1)] and supported(chat) == ["4.5 litres"]
    assert reading.lost == 0


@pytest.mark.parametrize(
    ("answer", "spans"),
    [
        ("One. Two [1]. Three [2][3].", ["Two", "Three", "Three"]),
        ("It takes 4.5 l [1] and 5W-30 [2].", ["It takes 4.5 l", "and 5W-30"]),
        ("One fact. [1]\nOther [2]", ["One fact.", "Other"]),
        ("[1] One.", [None]),
        ("a [1], [2]", ["a", "a"]),
    ],
)
def test_a_marker_supports_the_sentence_before_it(answer: str, spans: list[str | None]) -> None:
    found = [span and answer[slice(*span)] for _, span in marked(answer, re.compile(r"\[(\d)\]"))]
    assert found == spans


@given(st.text("ab ", max_size=12), st.integers(-3, 15), st.integers(-3, 15), st.text("ab", max_size=3))
def test_a_span_lies_in_the_answer_and_has_the_text_that_is_stated(
    answer: str, start: int, end: int, text: str
) -> None:
    span = span_of(answer, start, end, text or None)
    if span is not None:
        assert 0 <= span[0] < span[1] <= len(answer)
        assert not text or answer[slice(*span)] == text
    else:
        assert not text or text not in answer
