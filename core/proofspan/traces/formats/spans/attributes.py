"""Attributes of spans, OpenInference's and those of the OpenTelemetry conventions for GenAI, as a `Span`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from math import isfinite
from typing import TypeVar

from proofspan.contracts.records.field_values import number_of, text_of
from proofspan.contracts.records.records import Json
from proofspan.traces.formats.payloads import (
    add_score,
    answer_in,
    content_text,
    passage_of,
    passages_in,
    question_in,
    score_of,
    unquoted,
)
from proofspan.traces.formats.records import json_of
from proofspan.traces.formats.spans.traced import Span, SpanKind
from proofspan.traces.formats.types import Passage, Reading
from proofspan.traces.lines.reader import MAX_DEPTH

T = TypeVar("T")

#: Levels of attributes that are followed.
_DEEPEST = 16
_KINDS: Mapping[str, SpanKind] = {
    "retriever": "retriever",
    "reranker": "reranker",
    "llm": "llm",
    "embedding": "embedding",
    "tool": "tool",
    "evaluator": "evaluator",
    "guardrail": "evaluator",
    **dict.fromkeys(("chain", "agent", "prompt", "decision", "workflow", "task"), "chain"),
    # gen_ai.operation.name
    "retrieval": "retriever",
    "chat": "llm",
    "text_completion": "llm",
    "generate_content": "llm",
    "embeddings": "embedding",
    "execute_tool": "tool",
    **dict.fromkeys(("invoke_agent", "create_agent", "invoke_workflow", "plan"), "chain"),
}
#: The events of GenAI that hold messages, and the attributes that they are.
_MESSAGES = {"gen_ai.user.message": "gen_ai.input.messages", "gen_ai.choice": "gen_ai.output.messages"}
_EVALUATED = "gen_ai.evaluation.result"
_KIND = ("openinference.span.kind", "gen_ai.operation.name", "traceloop.span.kind")
#: The steps of the paths to lists.
_CANDIDATES = (("reranker", "input_documents"), ("input", "documents"))
_RETURNED = (
    ("reranker", "output_documents"),
    ("retrieval", "documents"),
    ("output", "documents"),
    ("gen_ai", "retrieval", "documents"),
)
_GIVEN = (("llm", "input_messages"), ("gen_ai", "input", "messages"), ("gen_ai", "prompt"))
_CHOICES, _COMPLETION = ("llm", "choices"), ("completion", "text")
_EVALUATION = ("gen_ai", "evaluation")
_GAVE = (("llm", "output_messages"), ("gen_ai", "output", "messages"), ("gen_ai", "completion"))
#: The fields of a question by the attributes that they are copied from; the first that is there counts.
COPIED: Mapping[str, tuple[str, ...]] = {
    "session_id": ("session.id", "gen_ai.conversation.id"),
    "user_id": ("user.id", "enduser.id"),
    "metadata": ("metadata",),
    "tags": ("tag.tags",),
    "agent": ("agent.name", "gen_ai.agent.name"),
    "model": ("llm.model_name", "gen_ai.response.model", "gen_ai.request.model"),
    "provider": ("llm.provider", "llm.system", "gen_ai.provider.name", "gen_ai.system"),
    "prompt_tokens": ("llm.token_count.prompt", "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
    "completion_tokens": (
        *("llm.token_count.completion", "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
    ),
    "total_tokens": ("llm.token_count.total",),
    "cost": ("llm.cost.total",),
    "invocation_parameters": ("llm.invocation_parameters",),
    "finish_reason": ("llm.finish_reason", "gen_ai.response.finish_reasons"),
    "prompt_name": ("prompt.id", "gen_ai.prompt.name"),
    "prompt_version": ("llm.prompt_template.version", "gen_ai.prompt.version"),
    "embedding_model": ("embedding.model_name",),
    "reranker_model": ("reranker.model_name",),
    "top_k": ("reranker.top_k", "gen_ai.retrieval.top_k"),
    "data_source": ("gen_ai.data_source.id",),
    "response_id": ("gen_ai.response.id",),
    "error": ("error.type", "exception.message"),
}
#: The attributes of what was asked, was given and came back; the first that is there counts.
_TEXTS = (
    ("reranker.query", "gen_ai.retrieval.query.text"),
    ("input.value", "traceloop.entity.input"),
    ("output.value", "traceloop.entity.output"),
)
_DOCUMENT = ("id", "score", "content", "metadata", "url", "name", "mime_type")
_JUDGING = frozenset({"annotation", "annotations", "evaluation", "evaluations", "trace", "gen_ai"})
_JUDGED = ("name", "score", "label", "explanation", "annotator_kind", "identifier")
#: The last steps of the names of lists of objects.
_LISTS = frozenset({"documents", "input_documents", "output_documents", "input_messages", "output_messages"})
#: The attributes that are kept with all that is below them.
_WHOLE = frozenset({"llm.invocation_parameters"})
#: The attributes that are kept.
READ = frozenset(
    (
        *("openinference.span.kind", "gen_ai.operation.name", "input.value", "input.mime_type"),
        *("output.value", "output.mime_type", "reranker.query", "gen_ai.retrieval.query.text"),
        *("gen_ai.retrieval.documents", "llm.choices.completion.text", "gen_ai.output.messages"),
        *("traceloop.span.kind", "traceloop.entity.input", "traceloop.entity.output"),
        *(f"llm.output_messages.message.{name}" for name in ("role", "content")),
        *(f"llm.output_messages.message.contents.message_content.{name}" for name in ("type", "text")),
        *(f"gen_ai.completion.{name}" for name in ("role", "content")),
        *(
            f"gen_ai.output.messages.{name}"
            for name in ("role", "content", "finish_reason", "parts.type", "parts.content")
        ),
        *(f"gen_ai.retrieval.documents.{name}" for name in _DOCUMENT),
        *(
            f"{at}.document.{name}"
            for at in (
                *("retrieval.documents", "reranker.input_documents", "reranker.output_documents"),
                *("input.documents", "output.documents"),
            )
            for name in _DOCUMENT
        ),
        *(f"{at}.{name}" for at in ("annotation", "evaluation") for name in _JUDGED),
        *(f"{at}s.{at}.{name}" for at in ("annotation", "evaluation") for name in _JUDGED),
        *(f"trace.{at}s.{at}.{name}" for at in ("annotation", "evaluation") for name in _JUDGED),
        *(f"gen_ai.evaluation.{name}" for name in ("name", "score.value", "score.label", "explanation")),
        *(path for paths in COPIED.values() for path in paths),
    )
)


def nested(flat: Mapping[str, Json], depth: int = _DEEPEST) -> dict[str, Json]:
    """Return attributes as objects in objects, whether their names have dots or not.

    What says that there is nothing is left out: null, "None" (as tables write it) and numbers that are none.
    The names within `metadata` stay as they are. A value beside others below its name is under "".
    """
    tree: dict[str, Json] = {}
    for name, value in flat.items():
        if value is None or value == "None" or (type(value) is float and not isfinite(value)):
            continue
        node, last = tree, name
        if "." in name:
            path, last = _way(name)
            for step in path:
                below = node.get(step)
                if not isinstance(below, dict):
                    below = node[step] = {} if below is None else {"": below}
                node = below
        if last in _LISTS:  # a table has them as texts
            value = json_of(value)
        if isinstance(value, (dict, list)) and last != "metadata" and depth:
            if isinstance(value, dict):
                value = nested(value, depth - 1)
            else:
                value = [nested(each, depth - 1) if isinstance(each, dict) else each for each in value]
        if (known := node.get(last)) is None:  # mostly
            node[last] = value
        elif isinstance(known, dict):
            known.update(value if isinstance(value, dict) else {"": value})
        elif isinstance(value, dict):
            node[last] = {"": known} | value
        else:
            node[last] = value
    return tree


@lru_cache(4_096)
def _way(name: str) -> tuple[tuple[str, ...], str]:
    """Return the steps of a name with dots before its last, and the last."""
    *path, last = name.split(".", _DEEPEST)
    return tuple(path), last


def at(tree: Json, path: str) -> Json:
    """Return the value at a path of names with dots; None without one."""
    return _at(tree, path.split("."))


def _at(tree: Json, steps: Iterable[str]) -> Json:
    for step in steps:
        if not isinstance(tree, dict) or (tree := tree.get(step)) is None:
            return None
    return tree


def listed(value: Json) -> list[Json]:
    """Return a list that is written as one, as JSON in a text, or as an object with numbers as names."""
    if value is None or isinstance(value, list):
        return value or []
    value = unquoted(value)
    if isinstance(value, dict) and value and all(name.isdecimal() and len(name) < 10 for name in value):
        return [value[name] for name in sorted(value, key=int)]
    return value if isinstance(value, list) else [] if value is None else [value]


def _first_listed(
    tree: Mapping[str, Json], paths: Iterable[tuple[str, ...]], of: Callable[[list[Json]], list[T]]
) -> list[T]:
    """Return what the list at the first path that has any holds."""
    for path in paths:
        if path[0] in tree and (value := _at(tree, path)) is not None and (found := of(listed(value))):
            return found
    return []


def flattened(tree: dict[str, Json]) -> dict[str, Json]:
    """Return the innermost values of attributes by their names with dots, of those in lists one.

    Positions in lists are left out of the names. What is kept with all that is below it is one value.
    """
    found: dict[str, Json] = {}
    for name, value in reversed(tree.items()):
        _flatten(found, name, value, 1)
    return found


def _flatten(found: dict[str, Json], path: str, value: Json, depth: int) -> None:
    """Add the innermost values of a value, the last first: the first that holds anything is kept."""
    if isinstance(value, dict):
        if depth < _DEEPEST and not _is_whole(path):
            for name, each in reversed(value.items()):
                below = _below(path, name)
                if isinstance(each, (dict, list)):
                    _flatten(found, below, each, depth + 1)
                elif not found.get(below):
                    found[below] = each
            return
    elif isinstance(value, list) and depth < MAX_DEPTH and dict in map(type, value):
        for each in reversed(value):
            _flatten(found, path, each, depth + 1)
        return
    if not found.get(path):
        found[path] = value


@lru_cache(4_096)
def _below(path: str, name: str) -> str:
    return path if not name or name.isdecimal() else f"{path}.{name}"


@lru_cache(4_096)
def _is_whole(path: str) -> bool:
    return path in _WHOLE or path.endswith("metadata")


def fill(span: Span, tree: dict[str, Json], reading: Reading) -> None:
    """Read the attributes of a span, as `nested` returns them, into it and count them.

    Its scores so far stay.
    """
    flat = flattened(tree)
    reading.fields(flat, READ, "attributes.")
    span.kind = _kind(flat) or span.kind
    span.candidates = _first_listed(tree, _CANDIDATES, _documents)
    span.documents = _first_listed(tree, _RETURNED, _documents)
    texts, copied = _meanings(tuple(flat))
    asked, given, gave = (None if path is None else flat[path] for path in texts)
    span.question = _question(span.kind, tree, asked, given)
    if span.kind in ("retriever", "reranker"):
        span.documents = span.documents or passages_in(gave)
    elif span.kind != "embedding":
        span.answer = _answer(tree, gave)
    _judge(span, tree)
    for name, path in copied:
        if (value := unquoted(flat[path])) not in (None, "", [], {}):
            span.fields[name] = value
    if span.kind == "embedding":  # its model and tokens are not those of the answer
        model = span.fields.get("embedding_model") or span.fields.get("model")
        span.fields = {"embedding_model": model} if model else {}


def _kind(flat: Mapping[str, Json]) -> SpanKind | None:
    for path in _KIND:
        if (name := text_of(flat.get(path))) and (kind := _KINDS.get(name.lower())) is not None:
            return kind
    return None


@lru_cache(256)  # the spans of a step have the same names
def _meanings(names: tuple[str, ...]) -> tuple[list[str | None], list[tuple[str, str]]]:
    """Return which of the names of attributes are the `_TEXTS`, and which the fields that are copied."""
    known = frozenset(names)

    def first(paths: Iterable[str]) -> str | None:
        return next(filter(known.__contains__, paths), None)

    copied = [(name, path) for name, paths in COPIED.items() if (path := first(paths)) is not None]
    return [*map(first, _TEXTS)], copied


def _question(kind: SpanKind, tree: Mapping[str, Json], asked: Json, given: Json) -> str | None:
    if kind == "llm":
        return _asked_in_messages(tree) or question_in(asked) or question_in(given)
    return question_in(asked) or question_in(given) or _asked_in_messages(tree)


def _asked_in_messages(tree: Mapping[str, Json]) -> str | None:
    return _last(_first_listed(tree, _GIVEN, _messages), "user")


def _answer(tree: Mapping[str, Json], gave: Json) -> str | None:
    value = unquoted(gave)
    if isinstance(value, list) and passages_in(value) and any(isinstance(each, dict) for each in value):
        value = None  # documents are no answer
    found = answer_in(value) or _last(_first_listed(tree, _GAVE, _messages), "assistant")
    if found is not None:
        return found
    completions = [text_of(_at(each, _COMPLETION)) for each in listed(_at(tree, _CHOICES))]
    return next(filter(None, completions), None)


def _messages(values: list[Json]) -> list[tuple[str, str]]:
    """Return role and text of messages that have any."""
    found: list[tuple[str, str]] = []
    for each in values:
        message = each.get("message", each) if isinstance(each, dict) else {}
        if not isinstance(message, dict):
            continue
        text = content_text(message.get("content")) or "".join(
            filter(None, map(_part, listed(message.get("contents") or message.get("parts"))))
        )
        if text:
            found.append((text_of(message.get("role")) or "", text))
    return found


def _part(part: Json) -> str | None:
    """Return the text of a part: `message_content.text` of OpenInference, `content` of GenAI."""
    if not isinstance(part, dict):
        return None
    content = part.get("message_content", part)
    if not isinstance(content, dict) or content.get("type") not in ("text", None):
        return None
    return text_of(content.get("text")) or text_of(content.get("content"))


def _last(messages: list[tuple[str, str]], role: str) -> str | None:
    """Return the last message of a role; messages without a role count."""
    return next((text for by, text in reversed(messages) if by in (role, "")), None)


def _documents(values: list[Json]) -> list[Passage]:
    """Return passages; those of GenAI may be ids without a text."""
    return [found for each in values if (found := _passage(each)) is not None]


def _passage(value: Json) -> Passage | None:
    document = value.get("document", value) if isinstance(value, dict) else value
    if not isinstance(document, dict):
        return passage_of(document)
    if (passage := passage_of(document, or_id=True)) is not None and (
        kind := text_of(document.get("mime_type"))
    ):
        passage.more["mime_type"] = kind
    return passage


def _judge(span: Span, tree: Mapping[str, Json]) -> None:
    if _JUDGING.isdisjoint(tree):
        return
    for name in ("annotation", "evaluation"):
        if name not in tree and f"{name}s" not in tree and "trace" not in tree:
            continue
        own, trace = tree.get(name), tree.get("trace")
        lists = [listed(each.get(f"{name}s")) for each in (tree, trace) if isinstance(each, dict)]
        for each in [own, *(entry for entries in lists for entry in entries)]:
            judged = each.get(name, each) if isinstance(each, dict) else None
            if isinstance(judged, dict):
                add_judgement(span, judged)
    if isinstance(genai := _at(tree, _EVALUATION), dict):
        add_judgement(span, {**genai, "score": at(genai, "score.value"), "label": at(genai, "score.label")})


def add_event(
    span: Span, name: str, own: Mapping[str, Json], attributes: dict[str, Json], reading: Reading
) -> None:
    """Add an event of a span, such as an evaluation to its scores, or what it holds to `attributes`."""
    if name == _EVALUATED or (not name and "gen_ai.evaluation.name" in own):
        tree = nested(own)
        reading.fields(flattened(tree), READ, f"event {_EVALUATED}: ")
        _judge(span, tree)
    elif (kept := _MESSAGES.get(name)) is not None:
        role = "user" if kept.startswith("gen_ai.input") else "assistant"
        message = unquoted(own.get("message")) if "message" in own else own
        content = message.get("content") if isinstance(message, dict) else message
        attributes[kept] = [*listed(attributes.get(kept)), {"role": role, "content": content}]
    else:
        known = {key: value for key, value in own.items() if key.startswith(("gen_ai.", "exception."))}
        attributes |= {key: value for key, value in known.items() if key not in attributes}
        reading.fields(dict.fromkeys(own.keys() - known.keys(), True), (), f"event {name}: ")


def add_judgement(span: Span, judged: Mapping[str, Json]) -> None:
    """Add an annotation with `name`, `score`, `label`, `explanation`, `annotator_kind` to a span's scores."""
    result = judged.get("result")
    judged = {**judged, **result} if isinstance(result, dict) else judged
    score = score_of(
        number_of(judged.get("score")),
        label=text_of(judged.get("label")),
        explanation=text_of(judged.get("explanation")),
        by=text_of(judged.get("annotator_kind")),
    )
    add_score(span.scores, judged.get("name"), score)
