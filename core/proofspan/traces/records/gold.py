"""Gold questions: what is known to be right, and where it stands."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from proofspan.contracts.records.chunk_id import sha1_8
from proofspan.contracts.records.field_values import page_of, span_of, text_of, texts_of
from proofspan.contracts.records.records import GoldQuestion, GoldSpan, Json, LineIssue, SourceLine
from proofspan.traces.lines.reader import UnusableError
from proofspan.traces.lines.tables import read_by_id
from proofspan.traces.records.identity import refuse_other_major


def read_gold(path: Path, *, file: str) -> tuple[dict[str, GoldQuestion], list[LineIssue]]:
    """The gold questions of a JSON or JSONL file by `q_id`, and what is wrong with single lines of it.

    Of several with one id the last counts and each repeat is an issue. InputFault where the file is missing
    or is no such file at all.
    """
    return read_by_id(
        path, file=file, record_of=gold_from, id_of=lambda question: question.q_id, duplicate=_duplicate
    )


def gold_from(obj: Json) -> GoldQuestion:
    """The gold question of a parsed line. UnusableError where it has no question or a span names no place."""
    if not isinstance(obj, dict):
        raise UnusableError(
            "not_an_object", "the gold question is no JSON object", "Write one object a line."
        )
    refuse_other_major("gold", obj)
    q = obj.get("q", obj.get("question"))
    if not isinstance(q, str):
        raise UnusableError("q_missing", "q is missing or not a text", 'Give every gold question its "q".')
    answerable = obj.get("answerable")
    if answerable is not None and not isinstance(answerable, bool):
        reason = "answerable is neither true nor false"
        raise UnusableError("answerable_wrong_type", reason, "Write answerable as true or false.")
    answer, anchor = obj.get("answer"), obj.get("anchor")
    return GoldQuestion(
        q_id=text_of(obj.get("q_id")) or text_of(obj.get("qid")) or sha1_8(q),
        q=q,
        answerable=answerable is not False,
        answer=answer if isinstance(answer, str) else None,
        type=text_of(obj.get("type")),
        sections=texts_of(obj.get("sections")),
        decoy_sections=texts_of(obj.get("decoy_sections")),
        chunks=texts_of(obj.get("chunks")),
        spans=_spans(obj.get("spans")),
        anchor=anchor if isinstance(anchor, str) else None,
        paraphrases=texts_of(obj.get("paraphrases")),
        raw=obj,
    )


def _spans(value: Json) -> tuple[GoldSpan, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise UnusableError("spans_wrong_type", "spans is not a list", "Write spans as a list of objects.")
    return tuple(_span(place, item) for place, item in enumerate(value, start=1))


def _span(place: int, item: Json) -> GoldSpan:
    span: Mapping[str, Json] = item if isinstance(item, dict) else {}
    doc_id, quote = text_of(span.get("doc_id")), span.get("quote")
    if doc_id is None or not isinstance(quote, str):
        reason = f"span {place} has no doc_id or no quote"
        raise UnusableError("span_without_place", reason, "Give every span its doc_id, page_idx and quote.")
    page_idx, note = page_of(span)
    if note == "page_below_one":
        reason = f"span {place} has page {span.get('page')}, and page counts from 1"
        raise UnusableError("page_below_one", reason, "Write the 0-based page as page_idx.")
    return GoldSpan(doc_id, page_idx, quote, span_of(span))


def _duplicate(question: GoldQuestion, _: GoldQuestion, source: SourceLine) -> LineIssue:
    return LineIssue.at(
        source=source,
        code="duplicate_q_id",
        message=f"the gold question {question.q_id!r} came before; the last one counts",
        fix="Give every gold question a q_id of its own.",
        excerpt=question.q[:200],
    )
