"""Questions, answers and passages within the inputs and outputs that frameworks hand to a tracer.

A tracer keeps the arguments and the result of a function as they are, often as JSON in a text, sometimes
quoted twice. The forms read here are those of LangChain 1.x (messages, also `lc` constructors, and
Documents), LlamaIndex 0.14 (nodes with scores), the chat messages and completions of model APIs, and plain
dictionaries with the usual names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from math import isfinite
from typing import TypeVar

import orjson

from proofspan.contracts.records.field_values import first_of, number_of, text_of
from proofspan.contracts.records.records import Json
from proofspan.traces.formats.records import json_of
from proofspan.traces.formats.types import PageBase, Passage

T = TypeVar("T")

#: Seconds after which a number is a time in smaller units: the year 5138.
_LATEST = 1e11
#: Levels of objects, lists and quoting that are followed.
_DEEPEST = 12
_ASKED = (
    *("question", "user_input", "user_query", "query", "query_str", "user_message", "input", "inputs"),
    *("prompt", "messages", "message", "contents", "request", "args", "text", "content", "kwargs"),
)
_ANSWERED = (
    *("answer", "response", "output", "outputs", "result", "final_answer", "output_text", "completion"),
    *("generation", "generations", "choices", "candidates", "messages", "message", "text", "content"),
    "kwargs",
)
_PASSAGES = (
    *("documents", "docs", "source_documents", "retrieved_documents", "output_documents", "contexts"),
    *("retrieved_contexts", "context", "nodes", "source_nodes", "chunks", "passages", "results", "matches"),
    *("hits", "sources", "output", "outputs", "result", "response", "return_value", "data"),
)
_SOURCES = (
    *("context", "contexts", "retrieved_contexts", "source_documents", "source_nodes", "documents"),
    *("retrieved_documents", "sources"),
)
_USER = frozenset({"user", "human", "HumanMessage"})
_MODEL = frozenset({"assistant", "ai", "AIMessage", "AIMessageChunk", "model"})
_ROLES = _USER | _MODEL | {"system", "developer", "tool", "function", "SystemMessage", "ToolMessage"}
_TEXT = dict.fromkeys(
    (
        *("page_content", "pageContent", "content", "text", "document.content", "chunk", "passage", "body"),
        *("quote", "snippet", "excerpt", "chunk_text", "evidence_text"),
    )
)
_ID = dict.fromkeys(("id", "id_", "node_id", "chunk_id", "document.id", "_id"))
_SCORE = dict.fromkeys(
    ("score", "relevance_score", "relevanceScore", "similarity_score", "_score", "document.score")
)
_DOCUMENT = dict.fromkeys(
    (
        *(
            "source",
            "file_name",
            "filename",
            "file_path",
            "doc_uri",
            "uri",
            "source_document",
            "document_name",
        ),
        *("document", "doc_name", "file", "pdf", "doc_id", "document_id", "url", "title", "name"),
    )
)
_PAGES: Mapping[str, PageBase | None] = {"page_idx": 0, "page_index": 0, "page": None, "page_number": None}
_SECTION = dict.fromkeys(("section_id", "section", "heading"))
_LABEL = "page_label"
_SNAKE = re.compile(r"_([a-z])")


@lru_cache(4_096)
def camel(name: str) -> str:
    """Return a name in snake case in camel case, others as they are."""
    return _SNAKE.sub(lambda found: found[1].upper(), name)


def unquoted(value: Json) -> Json:
    """Return the value of a text that is JSON, however often it is quoted; others as they are."""
    for _ in range(_DEEPEST):
        if type(value) is not str:
            break
        inner = json_of(value)
        if inner is value:
            break
        value = inner
    return value


def question_in(value: Json) -> str | None:
    """Return the question in an input: a text, the last message of a person, or a field named like one."""
    return _text_in(value, _ASKED, _USER, _DEEPEST)


def answer_in(value: Json) -> str | None:
    """Return the answer in an output: a text, the last message of the model, or a field named like one."""
    return _text_in(value, _ANSWERED, _MODEL, _DEEPEST)


def _text_in(value: Json, names: Sequence[str], roles: frozenset[str], depth: int) -> str | None:
    if value is None:
        return None
    inner = unquoted(value)
    if isinstance(inner, str):
        return inner if inner.strip() else None
    if depth and isinstance(inner, list):
        return _text_in_list(inner, names, roles, depth - 1)
    if depth and isinstance(inner, dict):
        role = role_of(inner)
        if role is not None and role not in roles:
            return None
        if role is not None:
            return content_text(_body(inner).get("content", _body(inner).get("parts")))
        for name in names:
            if inner.get(name) is not None and (
                (found := _text_in(inner[name], names, roles, depth - 1)) is not None
            ):
                return found
        if len(inner) == 1:
            (only,) = inner.values()
            return only if isinstance(only, str) and only.strip() else None
    return None


def _text_in_list(values: list[Json], names: Sequence[str], roles: frozenset[str], depth: int) -> str | None:
    if _is_pair(values):
        return content_text(values[1]) if values[0] in roles else None
    if values and all(isinstance(each, dict) and str(each.get("type")) in _TEXT_PARTS for each in values):
        return content_text(values)
    ordered = reversed(values) if any(_is_message(each) for each in values) else iter(values)
    return next(
        (found for each in ordered if (found := _text_in(each, names, roles, depth)) is not None),
        None,
    )


_TEXT_PARTS = frozenset({"text", "input_text", "output_text"})


def _is_message(value: Json) -> bool:
    return (isinstance(value, dict) and role_of(value) is not None) or _is_pair(value)


def _is_pair(value: Json) -> bool:
    """Return whether a value is a message as LangChain abbreviates it: its role and its text."""
    return isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and value[0] in _ROLES


def role_of(message: Mapping[str, Json]) -> str | None:
    """Return who wrote a message; None for what is no message."""
    body = _body(message)
    path = message.get("id")
    for role in (body.get("role"), body.get("type"), path[-1] if isinstance(path, list) and path else None):
        if isinstance(role, str) and role in _ROLES:
            return role
    return None


def _body(value: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return what an `lc` constructor of LangChain constructs from, others as they are."""
    kwargs = value.get("kwargs")
    return kwargs if value.get("lc") is not None and isinstance(kwargs, dict) else value


def content_text(content: Json) -> str | None:
    """Return the text of a message's content: a text, or the texts of its parts."""
    if content is None:
        return None
    if isinstance(content, str):
        return content if content.strip() else None
    if isinstance(content, dict):
        content = [content]
    texts = [
        text
        for part in (content if isinstance(content, list) else [])
        for text in [_part_text(part) if isinstance(part, dict) else part]
        if isinstance(text, str)
    ]
    return "".join(texts) if any(text.strip() for text in texts) else None


def _part_text(part: Mapping[str, Json]) -> Json:
    """Return the text of a part, which the GenAI conventions of OpenTelemetry call its content."""
    return part.get("text", part.get("content") if part.get("type") == "text" else None)


def passages_in(value: Json, *, alone: bool = False, depth: int = _DEEPEST) -> list[Passage]:
    """Return the passages in the input or output of a retriever or reranker, in their order.

    With `alone` a text that is not in a list is a passage too.
    """
    value = unquoted(value)
    if isinstance(value, dict) and depth:
        if (passage := passage_of(value)) is not None:
            return [passage]
        for name in _PASSAGES:
            if value.get(name) and (found := passages_in(value[name], alone=True, depth=depth - 1)):
                return found
    if isinstance(value, str) and alone:
        value = [value]
    if isinstance(value, list):
        return [passage for each in value if (passage := passage_of(unquoted(each))) is not None]
    return []


def sources_in(value: Json) -> list[Passage]:
    """Return the passages that a pipeline gave with its answer."""
    value = unquoted(value)
    lists = (unquoted(value.get(name)) for name in _SOURCES) if isinstance(value, dict) else ()
    return next((found for each in lists if isinstance(each, list) and (found := passages_in(each))), [])


def passage_of(value: Json, *, or_id: bool = False) -> Passage | None:
    """Return a document or node as a passage; None for what has no text, with `or_id` nor an id."""
    if isinstance(value, str):
        return Passage(text=value) if value.strip() else None
    score: Json = None
    if isinstance(value, list) and len(value) == 2 and number_of(value[1]) is not None:
        value, score = value
    if not isinstance(value, dict):
        return None
    record = _body(value)
    wrapped = record.get("node", record.get("document"))
    if isinstance(wrapped, dict):  # a node or document with its score
        score = first_of(record, _SCORE)
        record = _body(wrapped)
    metadata = unquoted(first_of(record, ("metadata", "document.metadata", "payload", "meta")))
    metadata = metadata if isinstance(metadata, dict) else {}
    both = {**metadata, **record} if metadata else record
    names = _TEXT if not _TEXT.keys().isdisjoint(both) else ()
    text = next((text for name in names if isinstance(text := both.get(name), str)), None)
    if text and text.strip() and not role_of(record):
        return _placed(record, metadata, text, score)
    return _placed(record, metadata, None, score) if or_id and text_of(record.get("id")) else None


def _placed(
    record: Mapping[str, Json], metadata: Mapping[str, Json], text: str | None, score: Json
) -> Passage:
    both = {**record, **metadata} if metadata else record
    page_name, page = _page_in(metadata, record)
    document_name, document = _first(both, _DOCUMENT, text_of)
    section_name, section = _first(both, _SECTION, text_of)
    score_name, own_score = _first(both, _SCORE, number_of)
    left: dict[str, Json] = {}
    if metadata:
        used = {page_name, document_name, section_name, score_name, _LABEL, *_TEXT}
        left = {name: each for name, each in metadata.items() if name not in used and each is not None}
    return Passage(
        text=text,
        id=_first(record, _ID, text_of)[1] or text_of(metadata.get("chunk_id")),
        document=document,
        section=section,
        page=page,
        page_base=_PAGES.get(page_name),
        label=text_of(both.get(_LABEL)),
        score=number_of(score) if number_of(score) is not None else own_score,
        more={"metadata": left} if left else {},
    )


def _first(
    record: Mapping[str, Json], names: dict[str, None], of: Callable[[Json], T | None]
) -> tuple[str, T | None]:
    """Return the first name whose value is of a kind, and that value; "" and None without one."""
    for name in names if not names.keys().isdisjoint(record) else ():
        if name in record and (found := of(record[name])) is not None:
            return name, found
    return "", None


def _page_in(metadata: Mapping[str, Json], record: Mapping[str, Json]) -> tuple[str, int | None]:
    """Return the name and the number of a page; that of the metadata counts before the record's."""
    for name in _PAGES:
        for source in (metadata, record) if name in metadata or name in record else ():
            if name in source and (number := _page(source[name])) is not None:
                return name, number
    return "", None


def _page(value: Json) -> int | None:
    """Return the number of a page, which some loaders write as a float or as a text."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 10:
        return int(value)
    number = number_of(value)
    return int(number) if number is not None and number.is_integer() and abs(number) < 1e9 else None


def score_of(score: Json = None, *, label: Json = None, explanation: Json = None, by: Json = None) -> Json:
    """Return a measure or a judgement as `Asked.scores` has it: the bare value where nothing else is known.

    A judgement that is true or false is 1 or 0 with its word as the label.
    """
    if isinstance(score, bool):
        score, label = float(score), label if label is not None else str(score).lower()
    number = number_of(score)
    if number is None and score is not None:  # what was chosen
        label = score
    if isinstance(label, dict | list):
        label = orjson.dumps(label, default=str).decode()
    known = {"score": number, "label": label, "explanation": explanation, "by": by}
    known = {name: value for name, value in known.items() if value is not None and value != ""}
    return next(iter(known.values())) if [*known] in (["score"], ["label"]) else known


def cell_of(value: Json) -> Json:
    """Return the number that a table's cell holds as a text; other values as they are."""
    if isinstance(value, str):
        with suppress(ValueError):
            number = float(value)
            return number if isfinite(number) else value
    return value


def add_score(scores: dict[str, Json], name: Json, score: Json) -> None:
    """Add a score under its name, to a list where another person or judge has given one of that name."""
    if score in (None, {}):
        return
    key = text_of(name) or "score"
    known = scores.get(key)
    scores[key] = score if known is None else [*(known if isinstance(known, list) else [known]), score]


def seconds_of(value: object) -> float | None:
    """Return a point in time in seconds: an ISO 8601 text, or a number of seconds, milli- to nanoseconds."""
    if isinstance(value, str):
        try:
            value = float(value) if value.isdecimal() else datetime.fromisoformat(value)
        except ValueError:
            return None
    if isinstance(value, datetime):  # without a zone in UTC
        try:
            return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
    number = number_of(value) if isinstance(value, (int, float)) else None
    while number is not None and abs(number) > _LATEST and isfinite(number):
        number /= 1_000
    return number
