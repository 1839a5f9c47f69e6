"""RAGChecker inputs and results: an entry of `results` is a question."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from proofspan.contracts.records.records import Json
from proofspan.traces.formats.nested import entries, first_object, kept, list_of, measure, object_of, text
from proofspan.traces.formats.types import Asked, Format, Passage, Reading, Sample

#: Claims and the judgements on them: `X2Y` has for each claim of Y whether X entails it.
_JUDGED = (
    *("response_claims", "gt_answer_claims", "answer2response", "response2answer"),
    *("retrieved2response", "retrieved2answer"),
)
_USED = frozenset({"query_id", "query", "gt_answer", "response", "retrieved_context", "metrics", *_JUDGED})


def detect(sample: Sample) -> str | None:
    """Return why a source is RAGChecker's: a result has query and gt_answer."""
    for each, where in ((sample.first, "a record"), (first_object(sample.first.get("results")), "a result")):
        if {"query", "gt_answer"} <= each.keys() and {"response", "retrieved_context"} & each.keys():
            return f"{where} has query, gt_answer and response or retrieved_context"
    return None


def read(path: Path, reading: Reading) -> Iterator[Asked]:
    """Yield a question for each result."""
    for place, result in entries(path, reading, ("results",)):
        reading.fields(result, _USED)
        contexts = [_passage(each, reading) for each in list_of(result.get("retrieved_context"))]
        scores = {name: measure(value) for name, value in object_of(result.get("metrics")).items()}
        yield Asked(
            place=place,
            q=text(result.get("query")) or "",
            q_id=text(result.get("query_id")),
            answer=text(result.get("response")),
            lists={"chunks": contexts} if contexts else {},
            expected=text(result.get("gt_answer")),
            scores=scores,
            fields=kept(result, _JUDGED),
        )


def _passage(value: Json, reading: Reading) -> Passage:
    """Return a retrieved document. A `doc_id` that names a PDF is also the document that it is from."""
    if not isinstance(value, dict):
        return Passage(text=text(value))
    reading.fields(value, {"doc_id", "text"}, at="retrieved_context.")
    name = text(value.get("doc_id"))
    is_pdf = name is not None and name.lower().endswith(".pdf")
    more = {key: each for key, each in value.items() if key not in ("doc_id", "text")}
    return Passage(
        text=text(value.get("text")),
        id=None if is_pdf else name,
        document=name if is_pdf else None,
        more=more,
    )


RAGCHECKER = Format(
    name="ragchecker",
    title="RAGChecker",
    versions="ragchecker 0.1.9: RAGResults, with and without metrics",
    suffix=".json",
    example=b'{"results":[{"query_id":"7","query":"How much oil?","gt_answer":"4.5 litres",'
    b'"response":"4.5 litres.","retrieved_context":[{"doc_id":"12","text":"It holds 4.5 litres."}],'
    b'"metrics":{"precision":1.0}}]}\n',
    documentation="An entry of `results` is a question; its retrieved context is what the model saw. Metrics "
    "are kept as scores, the claims and their entailment as fields. A `doc_id` is the id of a passage, and "
    "the document where it ends in `.pdf`.",
    detect=detect,
    read=read,
)
