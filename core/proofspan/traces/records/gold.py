"""Gold questions: the known answers and their places."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from proofspan.contracts.records.chunk_id import sha1_8
from proofspan.contracts.records.field_values import page_of, span_of, text_of, texts_of
from proofspan.contracts.records.records import GoldQuestion, GoldSpan, Json, LineIssue
from proofspan.traces.lines.reader import UnusableError
from proofspan.traces.lines.tables import read_by_id
from proofspan.traces.records.identity import record_from


def read_gold(path: Path, *, file: str) -> tuple[dict[str, GoldQuestion], list[LineIssue]]:
    """Return the gold questions of a JSON or JSONL file by `q_id`, and the issues of single lines.

    Of several with one id the last counts; a repeat is no issue where it is marked as revised. Raises
    InputFault if the file cannot be read at all.
    """
    known, issues = read_by_id(path, file=file, record_of=gold_from, id_name="q_id", is_meant=is_revision)
    return {q_id: each for q_id, each in known.items() if not _is_removed(each)}, issues


def is_revision(question: GoldQuestion) -> bool:
    """Return whether the record replaces an earlier one of the same question on purpose."""
    return isinstance(question.raw.get("revised"), dict)


def _is_removed(question: GoldQuestion) -> bool:
    revised = question.raw.get("revised")
    return isinstance(revised, dict) and revised.get("removed") is True


def gold_from(obj: Json) -> GoldQuestion:
    """Return the gold question of a parsed line. Raises UnusableError."""
    obj = record_from("gold", obj)
    q = obj.get("q", obj.get("question"))
    if not isinstance(q, str):
        raise UnusableError("q_missing", "q is missing or not a text", 'Give every gold question its "q".')
    answerable = obj.get("answerable")
    if answerable is not None and not isinstance(answerable, bool):
        message = "answerable is neither true nor false"
        raise UnusableError("answerable_wrong_type", message, "Write answerable as true or false.")
    answer, anchor, spans = obj.get("answer"), obj.get("anchor"), obj.get("spans")
    if spans is not None and not isinstance(spans, list):
        raise UnusableError("spans_wrong_type", "spans is not a list", "Write spans as a list of objects.")
    return GoldQuestion(
        q_id=text_of(obj.get("q_id")) or text_of(obj.get("qid")) or sha1_8(q),
        q=q,
        answerable=answerable is not False,
        answer=answer if isinstance(answer, str) else None,
        type=text_of(obj.get("type")),
        sections=texts_of(obj.get("sections")),
        decoy_sections=texts_of(obj.get("decoy_sections")),
        chunks=texts_of(obj.get("chunks")),
        grades=_grades(obj.get("grades")),
        spans=tuple(_span(place, item) for place, item in enumerate(spans or (), start=1)),
        anchor=anchor if isinstance(anchor, str) else None,
        paraphrases=texts_of(obj.get("paraphrases")),
        raw=obj,
    )


def _grades(value: Json) -> dict[str, int]:
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(type(each) is int and each > 0 for each in value.values()):
        message = "grades is not an object of whole numbers from 1, by chunk id"
        fix = 'Write the relevance of gold chunks as {"grades": {"c12": 3}}, without others.'
        raise UnusableError("grades_wrong_type", message, fix)
    return value


def _span(place: int, item: Json) -> GoldSpan:
    span: Mapping[str, Json] = item if isinstance(item, dict) else {}
    doc_id, quote = text_of(span.get("doc_id")), span.get("quote")
    if doc_id is None or not isinstance(quote, str):
        message = f"span {place} has no doc_id or no quote"
        raise UnusableError("span_without_place", message, "Give every span its doc_id, page_idx and quote.")
    page_idx, note = page_of(span)
    if note == "page_below_one":
        message = f"span {place} has page {span.get('page')}, and page counts from 1"
        raise UnusableError("page_below_one", message, "Write the 0-based page as page_idx.")
    return GoldSpan(doc_id, page_idx, quote, span_of(span))
