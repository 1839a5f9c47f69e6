"""Streamed responses: read as the unstreamed ones of which their events were made.

The streams in `responses/streams` are those of `responses/` in pieces, each event made or checked by the
class of its SDK: anthropic 2.13, openai 3.57, cohere 7.3, mistralai 3.7, google-genai 3.6, botocore 1.44 and
langchain-core 1.7.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from proofspan.services.opening.open import open_source
from proofspan.traces.formats.records import sample_of
from proofspan.traces.formats.types import Asked, Reading
from proofspan.traces.lines.http_text import is_http_text
from proofspan.traces.registry import recognized

FOLDER = Path(__file__).parent / "responses"
#: A stream, and the line of the dump that has the same response.
STREAMS = {
    "anthropic.sse": ("anthropic", 0),
    "openai.sse": ("openai", 0),
    "cohere.sse": ("cohere", 0),
    "mistral.sse": ("mistral", 0),
    "mistral_conversation.jsonl": ("mistral", 1),
    "gemini.json": ("gemini", 0),
    "bedrock_converse.json": ("bedrock_converse", 0),
    "bedrock_knowledge_base.jsonl": ("bedrock_knowledge_base", 0),
}


def read(path: Path) -> tuple[str, list[Asked], Reading]:
    found, reading = recognized(sample_of(path)), Reading(path.name)
    assert found is not None
    return found.format.name, list(found.format.read(path, reading)), reading


def events(name: str) -> list[dict[str, Any]]:
    text = (FOLDER / "streams" / name).read_text()
    if name.endswith(".sse"):
        data = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: {")]
        return [json.loads(each) for each in data]
    if name.endswith(".jsonl"):
        return [each.get("data", each) for each in map(json.loads, text.splitlines())]
    found = json.loads(text)
    return found if isinstance(found, list) else found["stream"]


def cited(asked: Asked) -> list[tuple[object, ...]]:
    return [(each.passage, each.chunk, each.span, each.reason) for each in asked.cited]


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_gives_what_the_whole_response_gives(name: str, tmp_path: Path) -> None:
    dump, line = STREAMS[name]
    saved = json.loads((FOLDER / f"{dump}.jsonl").read_text().splitlines()[line])
    if name != "bedrock_converse.json":
        saved.pop("request")
    whole = tmp_path / "whole.json"
    whole.write_text(json.dumps(saved))
    wanted_format, (wanted,), _ = read(whole)
    request = {"request": saved["request"]} if "request" in saved else {}
    for number, text in enumerate(
        (
            (FOLDER / "streams" / name).read_text(),
            json.dumps({**request, "events": events(name)}),
            json.dumps(
                {**request, "response": [{"event": "", "data": json.dumps(each)} for each in events(name)]}
            ),
        )
    ):
        path = tmp_path / f"{number}.json"
        path.write_text(text)
        found, (asked,), reading = read(path)
        assert (found, asked.answer, asked.run) == (wanted_format, wanted.answer, wanted.run)
        assert wanted.cited and cited(asked) == cited(wanted) and asked.lists == wanted.lists
        codes = {each.code for each in reading.problems}
        assert (reading.records, reading.lost) == (1, 0) and codes <= {"offsets_differ"}


@pytest.mark.parametrize("name", [each for each in STREAMS if each != "bedrock_knowledge_base.jsonl"])
def test_a_stream_that_breaks_off_gives_what_came_and_says_so(name: str, tmp_path: Path) -> None:
    whole = events(name)
    at = len(whole) - 4 if name in ("anthropic.sse", "bedrock_converse.json", "gemini.json") else -1
    path = tmp_path / "part.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in whole[:at]))
    _, (asked,), reading = read(path)
    assert asked.answer and (asked.cited or name == "gemini.json")
    assert "stream_breaks_off" in {each.code for each in reading.problems} and reading.lost == 0


def test_an_error_ends_a_stream_and_what_came_before_is_read(tmp_path: Path) -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    path = tmp_path / "stream.sse"
    lines = [
        f"event: {each['type']}\ndata: {json.dumps(each)}" for each in [*events("anthropic.sse")[:-3], error]
    ]
    path.write_text("\n\n".join(lines))
    _, (asked,), reading = read(path)
    assert asked.cited and [each.code for each in reading.problems] == ["stream_error"]
    assert "overloaded_error: Overloaded" in reading.problems[0].message and reading.records == 1


def test_events_that_a_helper_of_the_sdk_adds_are_counted(tmp_path: Path) -> None:
    whole = events("anthropic.sse")
    path = tmp_path / "stream.jsonl"
    path.write_text("".join(f'{json.dumps(each)}\n{{"type": "text", "text": "x"}}\n' for each in whole))
    _, (asked,), reading = read(path)
    assert len(asked.cited) == 6 and reading.left["event.text"] == len(whole) and reading.records == 1


def test_two_streams_in_a_file_are_two_answers(tmp_path: Path) -> None:
    path = tmp_path / "streams.jsonl"
    both = [*events("anthropic.sse"), *events("anthropic.sse")]
    path.write_text("".join(json.dumps(each) + "\n" for each in both))
    _, asked, reading = read(path)
    assert len(asked) == 2 and reading.records == 2 and not reading.problems


def test_chunks_of_langchain_are_one_message(tmp_path: Path) -> None:
    name, (asked,), reading = read(FOLDER / "streams" / "langchain.jsonl")
    assert (name, asked.answer, asked.run) == ("langchain", "It takes 4.5 litres.", "claude-opus-4-8")
    assert [(each.passage.document, each.passage.page) for each in asked.cited] == [("manual.pdf", 42)]
    assert asked.answer is not None and asked.cited[0].span == (9, 19)
    assert reading.records == 1 and not reading.problems


CURL = """$ curl -i https://api.example.com/v1/messages \\
  -H 'content-type: application/json' -d @request.json
  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current
                                 Dload  Upload   Total   Spent    Left  Speed
100  1234  100  1234    0     0   5432      0 --:--:-- --:--:-- --:--:--  5432
* Connected to api.example.com
> POST /v1/messages HTTP/2
< HTTP/2 200
< content-type: application/json
{ [5 bytes data]
HTTP/2 200
content-type: application/json
request-id: req_1

"""


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("name", ["anthropic.sse", "body.json"])
def test_the_output_of_curl_is_read(name: str, is_packed: bool, tmp_path: Path) -> None:
    saved = json.loads((FOLDER / "anthropic.jsonl").read_text().splitlines()[0])["response"]
    body = json.dumps(saved, indent=2)
    if name == "anthropic.sse":
        body = (FOLDER / "streams" / name).read_text().replace("\n", "\r\n")
    data = (CURL + body + "\n* Connection #0 to host api.example.com left intact\n").encode()
    path = tmp_path / f"{name}.txt"
    path.write_bytes(gzip.compress(data, mtime=0) if is_packed else data)
    found, (asked,), reading = read(path)
    assert found == "anthropic" and len(asked.cited) == 6 and not reading.problems
    if is_packed:
        opened = open_source(path, workspace=tmp_path / "workspace")
        assert (opened.report.traces, opened.reading.lost) == (1, 0)


def test_a_broken_event_is_named_by_its_line(tmp_path: Path) -> None:
    """The file ends within the data of the last event but one."""
    path = tmp_path / "stream.sse"
    path.write_text((FOLDER / "streams" / "anthropic.sse").read_text()[:-60])
    _, (asked,), reading = read(path)
    assert len(asked.cited) == 6
    assert [each.code for each in reading.problems] == ["not_json", "stream_breaks_off"]
    last = len(path.read_text().splitlines())
    assert reading.problems[0].where == f"stream.sse: line {last}"


@pytest.mark.parametrize(
    "text",
    [
        "# Title\n\nSome words.\n\n[a link](x)\n",
        "> quoted\nand an answer\n{x}\n",
        "12:00:01 qid=1 a=2 b=3\nINFO started\n[1, 2]\n",
        '{"a": 1}\n{"a": 2}\n',
    ],
    ids=["Markdown", "mail", "log", "lines"],
)
def test_other_text_is_not_taken_for_what_a_client_saved(text: str) -> None:
    assert not is_http_text(text.encode())
