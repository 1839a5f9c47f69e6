"""DeepEval: a JSON array of goldens with their outputs, as `EvaluationDataset.save_as("json")` writes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import BinaryIO

import orjson

from proofspan.contracts.records.field_values import number_of
from proofspan.contracts.records.records import Json
from proofspan.traces.exports.types import ExportFormat, context_of, each_score
from proofspan.traces.formats.deepeval import COPIED
from proofspan.traces.formats.types import Asked, Passage

#: The parts of a score and the fields of a metric.
_PARTS = {"score": "score", "label": "success", "explanation": "reason", "by": "evaluation_model"}
_SUCCESS = {"passed": True, "failed": False}


def _write(asked: Iterable[Asked], _corpus: Iterable[Passage], sinks: Sequence[BinaryIO]) -> None:
    separator = b"[\n"
    for each in asked:
        sinks[0].write(separator + orjson.dumps(_golden(each)))
        separator = b",\n"
    sinks[0].write(b"[]\n" if separator == b"[\n" else b"\n]\n")


def _golden(asked: Asked) -> dict[str, Json]:
    metrics: list[Json] = []
    others: dict[str, Json] = {}
    for name, value in asked.scores.items():  # those of one name go together
        found = [_metric(name, each) for _, each in each_score({name: value})]
        if all(found):
            metrics += found
        else:
            others[name] = value
    outcome = others.get("success")
    success = _SUCCESS.get(outcome) if isinstance(outcome, str) else None
    if success is not None:
        del others["success"]
    more = {
        name: value for name, value in asked.fields.items() if name not in COPIED and name != "conversation"
    }
    if others:
        more["scores"] = others
    seen, gold = context_of(asked)[1], [each for each in asked.gold if each.text]
    if documents := _documents(seen, gold):
        more["documents"] = documents
    if asked.review:
        more["review"] = asked.review
    golden = {
        "input": asked.q,
        "actual_output": asked.answer,
        "expected_output": asked.expected,
        "retrieval_context": [_context(each) for each in seen],
        "context": [each.text or "" for each in gold] or None,
        "name": asked.q_id,
        "success": success,
        "metrics_data": metrics or None,
        "turns": asked.fields.get("conversation"),
        **{name: asked.fields[name] for name in COPIED if name in asked.fields},
    }
    if more:
        known = golden.get("additional_metadata")
        golden["additional_metadata"] = {**(known if isinstance(known, dict) else {}), **more}
    return {name: value for name, value in golden.items() if value is not None}


def _metric(name: str, score: Json) -> dict[str, Json] | None:
    """Return a score as a metric; None for one that a metric does not hold whole."""
    parts = score if isinstance(score, dict) else {"score": score}
    label = parts.get("label")
    is_whole = parts.keys() <= _PARTS.keys() and (label is None or label in ("passed", "failed"))
    if number_of(parts.get("score")) is None or not is_whole:
        return None
    metric = {_PARTS[part]: value for part, value in parts.items()}
    return {"name": name, **metric} | ({} if label is None else {"success": _SUCCESS[label]})


def _context(passage: Passage) -> str:
    """Return a context with the marker by which DeepEval reads its source again, if it can."""
    text = passage.text or ""
    return f"deepeval_source={passage.document},deepeval_context={text}" if _is_marked(passage) else text


def _is_marked(passage: Passage) -> bool:
    """Return whether a marker has the document: DeepEval reads none before a text of several lines."""
    return bool(passage.document) and "\n" not in f"{passage.document}{passage.text}"


def _documents(seen: Sequence[Passage], gold: Sequence[Passage]) -> dict[str, Json]:
    """Return the documents of the contexts in their order, of those lists where no marker has them."""
    documents: dict[str, Json] = {}
    if any(each.document and not _is_marked(each) for each in seen):
        documents["retrieval_context"] = [each.document for each in seen]
    if any(each.document for each in gold):  # DeepEval reads no markers there
        documents["context"] = [each.document for each in gold]
    return documents


DEEPEVAL = ExportFormat(
    name="deepeval",
    title="DeepEval",
    suffix=".json",
    holds=frozenset(
        {"q_id", "answer", "expected", "field", "review", "score.number", "score.text", "score.parts"}
        | {"chunks.text", "chunks.document", "gold.text", "gold.document"}
    ),
    documentation="An entry is a golden with its output: `name` is the question's id, a document the source "
    "of its context; scores are metrics, other fields and what people say (`review`) are in "
    "`additional_metadata`, and so are `documents` that no context can name.",
    write=_write,
)
