"""Responses of OpenAI's API: annotations of their text, joined with the results of file search.

A file citation has neither quote nor page, and names only the file. Its text is among the results of the
search, which the API returns if `include` asks for `file_search_call.results`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from proofspan.contracts.records.field_values import index_of, number_of, text_of
from proofspan.contracts.records.records import Json
from proofspan.traces.formats.types import Asked, Cited, Passage, Reading
from proofspan.traces.responses.base import (
    WEB_PAGE,
    asked,
    citation_passage,
    cited_chunks,
    objects,
    question_of,
    range_of,
    response_format,
)
from proofspan.traces.responses.exchanges import Exchange
from proofspan.traces.responses.parts import Record, digest_of, entries, mapping, sentence_before

_KEPT = ("status", "usage", "created_at", "incomplete_details", "previous_response_id", "metadata")
_RESULT = ("file_id", "filename", "score", "text", "attributes")
_WORD = re.compile(r"\w+")
#: Characters before a citation by whose words its passage is chosen.
_BEFORE = 300

#: The passages of a search by the id of their file, each with its words.
_Found = dict[str, list[tuple[Passage, set[str]]]]


def is_response(record: Mapping[str, Json]) -> bool:
    """Return whether a record is a response as the API returns it."""
    return isinstance(_as_response(record).get("output"), list)


def _as_response(record: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return a response; so are a message of a thread, and a completion whose answer has annotations.

    {} for other records. Annotations of those two have their values under the name of their kind.
    """
    kind = record.get("object")
    if kind == "response":
        return record
    if kind == "thread.message" and record.get("role") == "assistant":
        texts = [mapping(each.get("text")) for each in entries(record.get("content"))]
        parts = [(each.get("value"), each.get("annotations")) for each in texts]
    else:
        messages = [mapping(each.get("message")) for each in entries(record.get("choices"))[:1]]
        parts = [
            (each.get("content"), each.get("annotations")) for each in messages if each.get("annotations")
        ]
    if not parts:
        return {}
    content: list[Json] = [
        {"type": "output_text", "text": text, "annotations": [_flat(each) for each in entries(annotations)]}
        for text, annotations in parts
    ]
    rest = {name: value for name, value in record.items() if name not in ("choices", "content", "role")}
    return {**rest, "object": "response", "output": [{"type": "message", "content": content}]}


def _flat(annotation: Record) -> Record:
    inner = annotation.get(text_of(annotation.get("type")) or "")
    rest = {name: value for name, value in annotation.items() if value is not inner}
    return {**rest, **inner} if isinstance(inner, dict) else annotation


def is_error(record: Mapping[str, Json]) -> bool:
    """Return whether a record is an error as this API returns it."""
    error = record.get("error")
    return isinstance(error, dict) and error.keys() >= {"message", "type", "param", "code"}


def asked_of(exchange: Exchange, reading: Reading) -> Asked:
    """Return the question of a response: the texts of its messages are the answer."""
    if (response := _as_response(exchange.response)) is not exchange.response:
        exchange = replace(exchange, response=dict(response))
    output = list(objects(exchange.response.get("output"), reading, exchange.place, "output item"))
    passages, by_file = _searched(output, reading)
    answer, cited = "", list[Cited]()
    for place, item in output:
        kind = text_of(item.get("type"))
        if kind != "message":
            if kind != "file_search_call":
                reading.left[f"output.{kind or 'item'}"] += 1
            continue
        for at, part in objects(item.get("content"), reading, place, "part"):
            text = part.get("text") if part.get("type") == "output_text" else part.get("refusal")
            if not isinstance(text, str):
                reading.left[f"content.{text_of(part.get('type')) or 'part'}"] += 1
                continue
            for _, annotation in objects(part.get("annotations"), reading, at, "annotation"):
                cited.append(_cited(annotation, text, len(answer), by_file, reading))
            answer += text
    return asked(
        exchange,
        reading,
        question=question_of(exchange.request.get("input")),
        answer=answer or None,
        cited=cited,
        lists={"chunks": passages + cited_chunks(cited)},
        used=("object", "output"),
        kept=_KEPT,
        asked_by=("input",),
    )


def _searched(output: list[tuple[str, Record]], reading: Reading) -> tuple[list[Passage], _Found]:
    """Return the results of all file searches, each once, in order and by their files' ids."""
    passages: dict[str, Passage] = {}
    by_file: _Found = {}
    for place, item in output:
        if item.get("type") != "file_search_call":
            continue
        reading.fields(item, ("type", "results"), at="file_search_call.")
        for _, result in objects(item.get("results"), reading, place, "result"):
            reading.fields(result, _RESULT, at="result.")
            text, file_id = text_of(result.get("text")), text_of(result.get("file_id")) or "file"
            passage = Passage(
                text=text,
                id=f"{file_id}-{digest_of(text or '')[:12]}",
                document=text_of(result.get("filename")) or file_id,
                score=number_of(result.get("score")),
                more={name: result[name] for name in ("file_id", "attributes") if result.get(name)},
            )
            if passage.id and passage.id not in passages:
                passages[passage.id] = passage
                by_file.setdefault(file_id, []).append((passage, _words(text or "")))
    return [*passages.values()], by_file


def _cited(annotation: Record, text: str, start: int, by_file: _Found, reading: Reading) -> Cited:
    """Return an annotation of a part of the answer that begins at `start`."""
    reading.fields(annotation, annotation, at="annotation.")
    kind, file_id = text_of(annotation.get("type")), text_of(annotation.get("file_id"))
    span = range_of(annotation.get("start_index"), annotation.get("end_index"))
    span = (span[0] + start, span[1] + start) if span and span[1] <= len(text) else None
    if span and text[span[0] - start : span[1] - start] == annotation.get(
        "text"
    ):  # a marker, as 【4:0†source】
        before = sentence_before(text, 0, span[0] - start)
        span = before and (before[0] + start, before[1] + start)
    document = text_of(annotation.get("filename")) or file_id
    quote = text_of(annotation.get("quote"))  # only the first version of threads has it
    reason, joined = "", None
    if kind == "url_citation":
        reason, document = WEB_PAGE, None
    elif kind == "file_path":
        reason, document = "names a file that the model wrote, not a source", None
    elif kind == "file_citation" and not quote:
        joined = _joined(by_file.get(file_id or "file", []), text, index_of(annotation.get("index")))
        if joined is None:
            reason = "names a file without a quote, and the response has no result of its search"
    elif kind not in ("file_citation", "container_file_citation"):
        reason = f"is a citation of an unknown kind, {kind}" if kind else "is a citation without a kind"
    passage = citation_passage(annotation, quote=quote, dropped=("quote",), document=document)
    if (url := text_of(annotation.get("url"))) is not None:
        passage.more["source_url"] = url
    if joined is not None:
        passage.more["passages_of_the_file"] = len(by_file.get(file_id or "file", []))
    return Cited(passage=passage, chunk=joined.id if joined else None, span=span, reason=reason)


def _joined(passages: list[tuple[Passage, set[str]]], text: str, index: int | None) -> Passage | None:
    """Return which of a file's passages a citation most likely means, None without one.

    It is the one that shares most words with the text before the citation; of several the first.
    """
    end = len(text) if index is None or not 0 <= index <= len(text) else index
    words = _words(text[max(0, end - _BEFORE) : end])
    found = [each for each in passages if each[0].text]
    return max(found, key=lambda each: len(words & each[1]))[0] if found else None


def _words(text: str) -> set[str]:
    return {*_WORD.findall(text.lower())}


OPENAI = response_format(
    name="openai",
    title="OpenAI Responses",
    versions="openai 3.54; messages of threads, completions with annotations",
    why="its object is response, with output",
    example=(
        b'{"request":{"model":"gpt","input":"How much oil?"},"response":{"id":"resp_01","object":"response",'
        b'"model":"gpt","status":"completed","output":[{"type":"file_search_call","id":"fs_01","queries":'
        b'["oil"],"status":"completed","results":[{"file_id":"file-1","filename":"manual.pdf","score":0.9,'
        b'"text":"Engine oil: 4.5 litres.","attributes":{}}]},{"type":"message","id":"msg_01","role":'
        b'"assistant","status":"completed","content":[{"type":"output_text","text":"4.5 litres.",'
        b'"annotations":[{"type":"file_citation","index":10,"file_id":"file-1","filename":"manual.pdf"}]}]}]}}'
    ),
    documentation="A response is a question; its text is in the request, if that is saved as well. Results "
    'of file search are what the model saw; ask for them by `include=["file_search_call.results"]`, since a '
    "citation has neither quote nor page. It names a file only: of several results from it, the one that "
    "shares most words with the text before the citation is shown, with their number.",
    is_response=is_response,
    is_snake=True,
    is_error=is_error,
    asked_of=asked_of,
)
