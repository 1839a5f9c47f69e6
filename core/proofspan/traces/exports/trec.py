"""TREC: a folder with a run, the relevance judgments, and the questions' texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import BinaryIO

from proofspan.contracts.records.field_values import index_of
from proofspan.traces.exports.types import ExportFormat, context_of, falling_scores, grades_of, with_ids
from proofspan.traces.formats.types import Asked, Passage

#: Columns are separated by white space, so that no column holds any.
_SPACE = re.compile(r"\s+")
_LISTS = ("chunks", "reranked", "fused", "retrieved")


def _write(asked: Iterable[Asked], _corpus: Iterable[Passage], sinks: Sequence[BinaryIO]) -> None:
    run, judged, topics = sinks
    for q_id, each in with_ids(asked):
        topic, (_, listed) = _column(q_id), context_of(each)
        tag = _column(str(each.fields.get("tag") or each.run or "run"))
        for place, (passage, score) in enumerate(zip(listed, falling_scores(listed), strict=True), start=1):
            rank = passage.more.get("trec_rank", place)
            run.write(_line(topic, "Q0", _column(passage.id or ""), str(rank), f"{score!r}", tag))
        relevance = {_column(name): grade for name, grade in grades_of(each.gold).items()}
        for passage in listed:
            if passage.id and (known := index_of(passage.more.get("relevance"))) is not None:
                relevance[_column(passage.id)] = known
        for name, number in relevance.items():
            judged.write(_line(topic, "0", name, str(number)))
        topics.write(f"{topic}\t{_SPACE.sub(' ', each.q).strip()}\n".encode("utf-8", "replace"))


def _line(*columns: str) -> bytes:
    return (" ".join(columns) + "\n").encode("utf-8", "replace")


def _column(name: str) -> str:
    return _SPACE.sub("_", name.strip()) or "_"


TREC = ExportFormat(
    name="trec",
    title="TREC",
    suffix="",
    files=("run.txt", "qrels.txt", "queries.tsv"),
    holds=frozenset({"q_id", "run", "chunks.id", "chunks.score", "gold.id", "gold.relevance", "fields.tag"})
    | {f"{stage}.{more}" for stage in _LISTS for more in ("trec_rank", "relevance")},
    documentation="A folder: what the model saw, or the last list, is a run, gold chunks are the judgments. "
    "Scores that do not give the list's order are replaced by ones that do.",
    write=_write,
)
