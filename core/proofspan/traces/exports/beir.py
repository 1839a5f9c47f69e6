"""BEIR: a folder with all passages, the questions, which passages are relevant to which, and a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import BinaryIO

import orjson

from proofspan.contracts.records.records import Json
from proofspan.traces.exports.types import ExportFormat, context_of, falling_scores, grades_of, with_ids
from proofspan.traces.formats.types import Asked, Passage

_HEADER = b"query-id\tcorpus-id\tscore\n"


def _write(asked: Iterable[Asked], corpus: Iterable[Passage], sinks: Sequence[BinaryIO]) -> None:
    passages, queries, judged, results = sinks
    for passage in corpus:
        passages.write(orjson.dumps(_passage(passage), option=orjson.OPT_APPEND_NEWLINE))
    judged.write(_HEADER)
    separator = b"{"
    for q_id, each in with_ids(asked):
        known = each.fields.get("metadata")
        metadata: dict[str, Json] = dict(known) if isinstance(known, dict) else {}
        if each.expected is not None:
            metadata["answer"] = each.expected
        if each.review:
            metadata["review"] = each.review
        query = {"_id": q_id, "text": each.q, "metadata": metadata}
        queries.write(orjson.dumps(query, option=orjson.OPT_APPEND_NEWLINE))
        for name, grade in grades_of(each.gold).items():
            judged.write(f"{q_id}\t{name}\t{grade}\n".encode("utf-8", "replace"))
        _, listed = context_of(each)
        if scores := {
            passage.id: score
            for passage, score in zip(listed, falling_scores(listed), strict=True)
            if passage.id
        }:
            results.write(separator + orjson.dumps(q_id) + b":" + orjson.dumps(scores))
            separator = b",\n"
    results.write(b"{}\n" if separator == b"{" else b"}\n")


def _passage(passage: Passage) -> dict[str, Json]:
    place = {"section_id": passage.section, "page_idx": passage.page, "page_label": passage.label}
    return {
        "_id": passage.id,
        "title": passage.document or "",
        "text": passage.text,
        "metadata": {name: value for name, value in place.items() if value is not None},
    }


BEIR = ExportFormat(
    name="beir",
    title="BEIR",
    suffix="",
    files=("corpus.jsonl", "queries.jsonl", "qrels/test.tsv", "results.json"),
    holds=frozenset({"q_id", "expected", "review", "fields.metadata", "fields.split"})
    | {"chunks.score", "gold.relevance"}
    | {f"{of}.{part}" for of in ("chunks", "gold") for part in ("id", "text", "document", "page")},
    documentation="A folder: all chunks are the corpus with their documents as titles, gold chunks the "
    "judgments, and what the model saw, or the last list, the results. Expected answers and what people "
    "say (`review`) are in the metadata of the questions; a verdict judges an answer, so none is a judgment.",
    write=_write,
)
