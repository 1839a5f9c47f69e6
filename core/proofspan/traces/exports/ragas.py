"""Ragas: a line is a sample of an evaluation data set, with its scores as further columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO

import orjson

from proofspan.contracts.records.field_values import number_of
from proofspan.contracts.records.records import Json
from proofspan.traces.exports.types import ExportFormat, context_of, with_numbers
from proofspan.traces.formats.ragas import COPIED, USED
from proofspan.traces.formats.types import Asked, Passage


def _write(asked: Iterable[Asked], _corpus: Iterable[Passage], sinks: Sequence[BinaryIO]) -> None:
    for each in asked:
        sinks[0].write(orjson.dumps(_sample(each), option=orjson.OPT_APPEND_NEWLINE))


def _sample(asked: Asked) -> dict[str, Json]:
    _, context = context_of(asked)
    gold = [each for each in asked.gold if each.text or each.id]
    sample = {
        "user_input": asked.fields.get("conversation") or asked.q,
        "retrieved_contexts": [each.text or "" for each in context],
        "retrieved_context_ids": _ids(context),
        "response": asked.answer,
        "reference": asked.expected,
        "reference_contexts": [each.text or "" for each in gold] or None,
        "reference_context_ids": _ids(gold),
        **{name: asked.fields.get(name) for name in COPIED},
        **dict(_numbers(asked)),
        **({"review": asked.review} if asked.review else {}),
    }
    return {name: value for name, value in sample.items() if value is not None}


def _ids(passages: Sequence[Passage]) -> list[str] | None:
    """Return the ids, "" for a passage without one, since Ragas takes no null; None where none has one."""
    ids = [each.id or "" for each in passages]
    return ids if any(ids) else None


def _numbers(asked: Asked) -> Iterator[tuple[str, Json]]:
    for name, value in with_numbers(asked.scores):
        number = value.get("score") if isinstance(value, dict) else value
        if number_of(number) is not None and name not in USED and name not in COPIED:
            yield name, number


RAGAS = ExportFormat(
    name="ragas",
    title="Ragas",
    suffix=".jsonl",
    holds=frozenset(
        {"answer", "expected", "review", "score.number", "chunks.text", "chunks.id", "gold.text", "gold.id"}
        | {f"fields.{name}" for name in (*COPIED, "conversation")}
    ),
    documentation="A line is a sample; numbers of `scores` are columns, what people say is in the column "
    "`review`. Contexts are what the model saw.",
    write=_write,
)
