"""Responses of model APIs: questions, answers and citations of what their SDKs' own classes write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from proofspan.contracts.records.records import NO_QUESTION, Json
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.labelling import reflect
from proofspan.diagnosis.types import Profile
from proofspan.errors import InputFault
from proofspan.services.opening.open import open_source
from proofspan.traces.formats.records import sample_of
from proofspan.traces.formats.types import Asked, Cited, Format, Reading
from proofspan.traces.registry import FORMATS, recognized
from proofspan.traces.responses.anthropic import ANTHROPIC
from proofspan.traces.responses.base import WEB_PAGE
from proofspan.traces.responses.cohere import COHERE
from proofspan.traces.responses.exchanges import exchange_of
from proofspan.traces.responses.mistral import MISTRAL
from proofspan.traces.responses.openai import OPENAI
from tests.unit.contract_lines import trace

#: Dumps of the SDKs' classes; the versions are those of the formats.
DUMPS = Path(__file__).parent / "responses"


def read(path: Path) -> tuple[Format, list[Asked], Reading]:
    """Return the format of a file, its questions and what was read."""
    found, reading = recognized(sample_of(path)), Reading(path.name)
    assert found is not None
    return found.format, list(found.format.read(path, reading)), reading


def written(folder: Path, record: Json) -> Path:
    path = folder / "response.json"
    path.write_text(json.dumps(record))
    return path


def supported(asked: Asked) -> list[str | None]:
    """Return the part of the answer that each citation supports."""
    return [asked.answer[slice(*each.span)] if asked.answer and each.span else None for each in asked.cited]


def places(asked: Asked) -> Iterator[tuple[str | None, int | None, tuple[int, int] | None, str | None]]:
    for each in asked.cited:
        yield each.passage.document, each.passage.page, each.passage.offsets, each.chunk


def dump(name: str) -> tuple[list[Asked], Reading]:
    _, asked, reading = read(DUMPS / name)
    return asked, reading


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("anthropic.jsonl", ANTHROPIC),
        ("anthropic_batch.jsonl", ANTHROPIC),
        ("openai.jsonl", OPENAI),
        ("openai_batch.jsonl", OPENAI),
        ("cohere.jsonl", COHERE),
        ("mistral.jsonl", MISTRAL),
    ],
)
def test_a_dump_is_recognized_and_opens(name: str, wanted: Format, tmp_path: Path) -> None:
    opened = open_source(DUMPS / name, workspace=tmp_path / "workspace")
    assert [each for each in FORMATS if each.detect(sample_of(DUMPS / name)) is not None] == [wanted]
    assert opened.found.format is wanted
    assert opened.report.traces + opened.reading.lost == opened.reading.records


def test_anthropic_citations_of_all_five_kinds() -> None:
    (asked, _), reading = dump("anthropic.jsonl")
    assert asked.q == "How much oil, and which?" and asked.run == "claude-opus-4-8"
    assert asked.answer is not None and asked.answer.startswith("The engine holds 4.5 litres; the dipstick")
    note, steps, oil, prices, quote, page = asked.lists["chunks"]
    assert note.text == "Check the oil when cold. The dipstick is yellow."
    assert list(places(asked)) == [
        ("M25 Owner's Manual.pdf", 42, None, quote.id),
        ("Note", None, (25, 48), note.id),
        (steps.document, None, (16, 50), steps.id),
        ("kb/oil.md", None, None, oil.id),
        ("kb/oil.md", None, None, prices.id),
        (None, None, None, page.id),
    ]
    assert (quote.text, quote.document, quote.page) == (
        "Engine oil: 4.5 litres.",
        "M25 Owner's Manual.pdf",
        42,
    )
    assert (
        oil.id == "kb/oil.md" and prices.id == "kb/oil.md (2)" and oil.text == "Use 5W-30.Never mix grades."
    )
    assert asked.cited[0].passage.page_base == 1
    assert asked.cited[0].passage.more["api_citation"]["end_page_number"] == 44
    assert asked.cited[0].passage.last_page == 43  # the end is exclusive
    assert [each.reason for each in asked.cited] == ["", "", "", "", "", WEB_PAGE]
    assert asked.cited[5].passage.more["source_url"] == "https://example.com/oil"
    for cited, chunk in zip(asked.cited[1:5], (note, steps, oil, prices), strict=True):
        assert cited.passage.text and cited.passage.text in (chunk.text or "")
        if cited.passage.offsets:
            assert (chunk.text or "")[slice(*cited.passage.offsets)] == cited.passage.text
    assert supported(asked)[:2] == ["4.5 litres", "; the dipstick is yellow"]
    assert reading.left["content.thinking"] == 1 and reading.left["citation.encrypted_index"] == 1
    assert not reading.problems


def test_a_message_without_its_request_has_the_responses_id() -> None:
    asked = dump("anthropic.jsonl")[0][1]
    assert (asked.q, asked.q_id) == (NO_QUESTION, "msg_2")
    assert list(places(asked)) == [("file_9", 42, None, asked.lists["chunks"][0].id)]


def test_a_batch_has_its_own_ids_and_its_errors_are_problems() -> None:
    asked, reading = dump("anthropic_batch.jsonl")
    assert [each.q_id for each in asked] == ["q-1"] and reading.records == 3 and reading.lost == 2
    assert [each.code for each in reading.problems] == ["api_error", "api_error"]
    assert "invalid_request_error: max_tokens: too large" in reading.problems[0].message
    assert [each.q_id for each in dump("openai_batch.jsonl")[0]] == ["q-7"]


def test_two_documents_of_one_title_are_two_and_one_twice_is_one(tmp_path: Path) -> None:
    def document(data: str) -> Json:
        return {"type": "document", "title": "Guide", "source": {"type": "text", "data": data}}

    citations = [
        {"type": "char_location", "cited_text": text, "document_index": index}
        for index, text in enumerate(("one", "two", "one"))
    ]
    record = {
        "request": {"messages": [{"role": "user", "content": [*map(document, ("one", "two", "one"))]}]},
        "response": {
            "type": "message",
            "role": "assistant",
            "stop_reason": "end_turn",
            "content": [{"type": "text", "text": "Both.", "citations": citations}],
        },
    }
    _, (asked,), _ = read(written(tmp_path, record))
    assert [each.id for each in asked.lists["chunks"]] == ["Guide", "Guide (2)"]
    assert [each.chunk for each in asked.cited] == ["Guide", "Guide (2)", "Guide"]
    citations[0]["document_index"] = 9
    _, (asked,), reading = read(written(tmp_path, record))
    assert len(asked.cited) == 3 and [each.code for each in reading.problems] == ["no_such_source"]
    assert reading.lost == 0


def test_openai_citations_are_joined_with_the_results_of_their_file() -> None:
    (asked, bare, refused), reading = dump("openai.jsonl")
    assert asked.q == "How much oil?" and len(asked.lists["chunks"]) == 3
    dipstick, oil, grade = asked.lists["chunks"]
    assert (dipstick.score, dipstick.document) == (0.91, "manual.pdf")
    assert [each.chunk for each in asked.cited] == [oil.id, grade.id, None, None, None, None]
    assert asked.cited[0].passage.more["passages_of_the_file"] == 2
    assert [bool(each.reason) for each in asked.cited] == [False, False, True, True, False, True]
    assert supported(asked)[3:5] == ["the web", "a table"]
    assert asked.cited[4].passage.document == "table.csv"
    assert bare.cited[0].passage.document == "manual.pdf" and bare.cited[0].reason
    assert refused.answer == "I cannot help with that."
    assert reading.left["output.web_search_call"] == 1 and reading.left["response.output"] == 0
    assert [each.code for each in reading.problems] == ["api_error"] and reading.lost == 1


def test_cohere_citations_are_placed_by_their_text() -> None:
    (asked, alone), reading = dump("cohere.jsonl")
    *given, search = asked.lists["chunks"]
    assert [each.id for each in given] == ["doc-a", "doc-b", "doc:2"]
    assert supported(asked) == ["4.5 litres", "4.5 litres", "5W-30", None, None, "It"]
    assert [each.chunk for each in asked.cited] == ["doc-a", "doc-b", "doc-b", "doc-a", search.id, None]
    first, second, *_, tool, nothing = asked.cited
    assert (first.passage.document, first.passage.page, first.passage.page_base) == ("manual.pdf", 42, None)
    assert first.passage.text == "Engine oil: 4.5 litres with the filter."
    assert second.passage.document == "https://example.com/kb/grades.pdf"
    assert (tool.passage.document, tool.passage.text) == ("grades.pdf", "Grade: 5W-30.")
    assert nothing.reason == "names no source"
    assert [each.code for each in reading.problems] == ["offsets_differ"] and reading.lost == 0
    assert alone.q_id == "co_2" and [each.text for each in alone.lists["chunks"]] == [
        "The dipstick is yellow."
    ]
    assert (alone.cited[0].passage.document, alone.cited[0].chunk) == ("Note", alone.lists["chunks"][0].id)


def test_mistral_references_are_results_of_tools() -> None:
    (asked, conversation, plain), reading = dump("mistral.jsonl")
    assert asked.answer == "It holds 4.5 litres of 5W-30 oil."
    assert supported(asked) == ["It holds 4.5 litres", " of 5W-30 oil", " of 5W-30 oil"]
    assert [each.chunk for each in asked.cited] == ["0", "1", None]
    manual, grades, unknown = asked.cited
    assert manual.passage.document == "https://example.com/kb/manual.pdf"
    assert manual.passage.text == "Engine oil: 4.5 litres.\nWith the filter."
    assert (grades.passage.document, grades.passage.page) == ("grades.pdf", 3) and "7" in unknown.reason
    assert conversation.q == "How much oil?"
    library, web = conversation.cited
    assert (library.passage.document, library.passage.text) == ("manual.pdf", "Engine oil: 4.5 litres.")
    assert web.reason == WEB_PAGE and not library.reason
    assert (plain.answer, plain.q_id) == ("I do not know.", "mi_3")
    assert reading.left["outputs.tool.execution"] == 1 and not reading.problems


def test_the_content_of_a_message_with_citations_is_enough(tmp_path: Path) -> None:
    whole = json.loads((DUMPS / "anthropic.jsonl").read_text().splitlines()[1])
    content = {name: whole[name] for name in ("role", "content")}
    found, (asked,), _ = read(written(tmp_path, content))
    assert found is ANTHROPIC and [each[:2] for each in places(asked)] == [("file_9", 42)]
    plain = {"role": "assistant", "content": [{"type": "text", "text": "Hello.", "citations": None}]}
    assert recognized(sample_of(written(tmp_path, plain))) is None


def test_a_cohere_source_of_few_fields_is_completed_from_the_request(tmp_path: Path) -> None:
    record = json.loads((DUMPS / "cohere.jsonl").read_text().splitlines()[0])
    sources = record["response"]["message"]["citations"][0]["sources"]
    sources[:] = [
        {"type": "document", "id": "doc-a", "document": {"title": "Oil"}},
        {"type": "document", "id": "gone", "document": {"title": "Oil"}},
        {"type": "tool", "id": "t:0", "tool_output": {"temperature": "20C"}},
        {"type": "tool", "id": "t:1"},
    ]
    _, (asked,), _ = read(written(tmp_path, record))
    whole, gone, output, empty = asked.cited[:4]
    assert whole.passage.text == "Engine oil: 4.5 litres with the filter." and whole.chunk == "doc-a"
    assert (gone.passage.text, gone.passage.document, gone.chunk) == (None, "Oil", None)
    assert output.passage.text == "20C" and not output.reason and empty.reason


def test_a_completion_of_another_api_is_not_mistrals(tmp_path: Path) -> None:
    record = json.loads((DUMPS / "mistral.jsonl").read_text().splitlines()[2])
    assert recognized(sample_of(written(tmp_path, record))) is not None
    assert recognized(sample_of(written(tmp_path, record | {"model": "gpt-5.5"}))) is None


@pytest.mark.parametrize(
    "record",
    [
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        {"error": {"message": "Overloaded", "type": "server_error", "param": None, "code": None}},
    ],
    ids=["anthropic", "openai"],
)
def test_an_error_object_alone_is_one_problem_with_its_place(record: Json, tmp_path: Path) -> None:
    with pytest.raises(InputFault) as caught:
        open_source(written(tmp_path, record), workspace=tmp_path / "workspace")
    (problem,) = caught.value.problems
    assert problem.code == "api_error" and "Overloaded" in problem.message
    assert problem.where == "response.json: line 1" and not (tmp_path / "workspace").exists()


@pytest.mark.parametrize(
    ("record", "question", "q_id", "beside"),
    [
        ({"a": 1}, None, None, {}),
        ({"question": "Q?", "response": {"a": 1}, "rating": 4}, "Q?", None, {"rating": 4}),
        ({"custom_id": 7, "response": '{"body": "{\\"a\\": 1}"}'}, None, "7", {}),
        ({"custom_id": "x", "result": {"type": "succeeded", "message": {"a": 1}}}, None, "x", {}),
    ],
)
def test_a_response_is_unwrapped(record: dict[str, Json], question: str, q_id: str, beside: Json) -> None:
    found = exchange_of("line 1", record)
    assert found.response == {"a": 1}
    assert (found.question, found.q_id, found.beside) == (question, q_id, beside)


def test_each_model_is_a_run_of_its_own(tmp_path: Path) -> None:
    record = json.loads((DUMPS / "openai_batch.jsonl").read_text())["response"]["body"]
    path = written(tmp_path, [record, record | {"model": "other"}])
    opened = open_source(path, workspace=tmp_path / "workspace")
    assert opened.report.traces == 2
    assert [each.run for each in read(path)[1]] == ["gpt-5.5", "other"]


def test_a_citation_keeps_what_the_api_says_under_a_name_of_its_own() -> None:
    for name in ("anthropic", "openai", "cohere", "mistral"):
        cited: list[Cited] = [cited for asked in dump(f"{name}.jsonl")[0] for cited in asked.cited]
        assert cited
        for each in cited:
            assert each.passage.more["api_citation"]
            assert each.passage.more.keys() <= {"api_citation", "source_url", "passages_of_the_file"}


def test_a_question_that_is_not_in_the_file_accuses_no_passage() -> None:
    answer = "Engines take 4.5 litres of 5W-30 oil each year."
    asked = trace({"q": NO_QUESTION, "answer": answer, "chunks": [{"id": "c1"}]})
    row = reflect(asked, Corpus({"c1": answer}), Profile(template="none"))
    assert (row.label, row.suspicions, row.signals.query_missing) == ("ok", (), ())
