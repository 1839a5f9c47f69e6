"""promptfoo: a set of tests that grades the recorded answers, and other models once it names them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import BinaryIO

import orjson

from proofspan.contracts.records.records import Json
from proofspan.traces.exports.passages import metadata_of
from proofspan.traces.exports.types import ExportFormat, context_of
from proofspan.traces.formats.types import Asked, Passage

#: What begins a template, which may name the environment and run code.
_TEMPLATE = re.compile(r"\{(?=[{%#])")
_NOT_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_RUBRIC = "Says that the documents do not answer the question, and does not answer it all the same."
#: Verdicts of people by what they make of the recorded answer.
_RIGHT, _WRONG = {"correct", "declined_rightly"}, {"wrong", "declined_wrongly"}


def _write(asked: Iterable[Asked], _corpus: Iterable[Passage], sinks: Sequence[BinaryIO]) -> None:
    """Write a configuration: the provider `echo` answers with the recorded answers."""
    separator = b""
    for each in asked:
        if not separator:
            sinks[0].write(_head(each.run))
        sinks[0].write(separator + b"\n" + _json(_test(each)))
        separator = b","
    sinks[0].write(b"\n]}\n" if separator else _head("") + b"]}\n")


def _head(run: str) -> bytes:
    provider: dict[str, Json] = {"id": "echo", "label": _plain(run or "recorded answers")}
    head = {"prompts": ["{{recorded_answer}}"], "providers": [provider], "tests": []}
    return _json(head).removesuffix(b"]}")


def _test(asked: Asked) -> dict[str, Json]:
    _, context = context_of(asked)
    judged = {each.get("correct") for each in asked.review.get("verdicts", ()) if _is_of_it(each)}
    expected = asked.expected
    if expected is None and judged == {"correct"}:
        expected = asked.answer
    variables = {
        "question": asked.q,
        "context": [each.text for each in context if each.text],
        "recorded_answer": asked.answer or "",
        "expected": expected,
    }
    metadata = {
        "q_id": asked.q_id,
        "answerable": asked.answerable,
        "expected_by": "people" if expected != asked.expected else None,
        "context": [_described(each) for each in context],
        "gold": [{"text": each.text, **_described(each)} for each in asked.gold],
        "review": asked.review,
    }
    test = {
        "description": _plain(asked.q_id),
        "vars": _plain({name: value for name, value in variables.items() if value not in (None, [])}),
        "assert": [*_assertions(asked, judged, expected)],
        "metadata": _plain({name: value for name, value in metadata.items() if value not in (None, [], {})}),
        "options": {"disableVarExpansion": True},  # a list is one value, not a test for each of its entries
    }
    return {name: value for name, value in test.items() if value is not None}


def _is_of_it(verdict: Json) -> bool:
    return isinstance(verdict, dict) and "of_another_answer" not in verdict


def _assertions(asked: Asked, judged: set[Json], expected: str | None) -> Iterator[dict[str, Json]]:
    """Yield what gold and people establish; a text is only named, for promptfoo renders what it gets."""
    if asked.answerable is False or (expected is None and judged == {"declined_rightly"}):
        yield {"type": "llm-rubric", "value": _RUBRIC, "metric": "declines"}
    elif expected is not None:
        yield {"type": "factuality", "value": "{{expected}}", "metric": "expected answer"}
    if asked.answer and judged and judged <= _WRONG:
        yield {"type": "not-equals", "value": "{{recorded_answer}}", "metric": "not judged wrong by people"}


def _described(passage: Passage) -> dict[str, Json]:
    """Return id and place; other fields of a passage could be references that promptfoo follows."""
    return {"id": passage.id, **metadata_of(replace(passage, more={}))}


def _plain(value: Json) -> Json:
    """Return texts with a space where promptfoo would run them, or run or load what they name."""
    if isinstance(value, str):
        text = _TEMPLATE.sub("{ ", value)
        return f" {text}" if text.startswith(("file://", "package:")) else text
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return value


def _json(value: Json) -> bytes:
    """Return JSON that is YAML too, as promptfoo reads it, which has no such characters."""
    text = orjson.dumps(value).decode()
    return _NOT_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode()


PROMPTFOO = ExportFormat(
    name="promptfoo",
    title="promptfoo",
    suffix=".json",
    holds=frozenset({"q_id", "run", "answer", "expected", "answerable", "review"})
    | {f"{of}.{part}" for of in ("chunks", "gold") for part in ("text", "id", "document", "page", "place")},
    documentation="A configuration with a test for each question: variables `question`, `context`, "
    "`recorded_answer` and `expected`, assertions from what gold or people establish, people's verdicts in "
    "`metadata`. The provider `echo` gives the recorded answers. Text that promptfoo would run has a space "
    "in it.",
    write=_write,
)
