"""A question's gold made of an answer and of the passage that is shown, once its place is verified."""

from __future__ import annotations

from proofspan.contracts.records.records import Json
from proofspan.diagnosis.answers import CITATION_LINE, other_refusal, refuses
from proofspan.errors import Problem
from proofspan.evidence.text.page_lines import text_in_lines
from proofspan.evidence.types import FoundSpan
from proofspan.journal.gold import GoldRecord
from proofspan.services.page.text_under import words_in
from proofspan.services.page.view import PageView
from proofspan.services.question.view import QuestionView

#: The quote statuses with which a passage is at its place word for word.
VERIFIED = ("exact", "normalized")


def gold_change(view: QuestionView, page: PageView | None) -> GoldRecord | Problem:
    """Return the fields of the question's gold record with this answer and passage, or why there are none.

    Fields that would contradict the passage, such as another section, are None. Decoys, paraphrases and type
    of an earlier record stay.
    """
    if page is None or page.is_pending:
        return Problem("no_passage", "no passage is shown yet", fix="choose a citation or a retrieved chunk")
    target, found, trace = page.target, page.chosen, view.trace
    if target.kind not in ("cited", "retrieved"):
        message = f"the shown passage is {target.tag}"
        return Problem("no_passage", message, fix="choose a citation or a retrieved chunk")
    if found is None or found.status not in VERIFIED or not target.query.quote.strip():
        message = "the shown passage is not word for word at its place"
        return Problem("not_verified", message, fix="choose a passage that is exact or normalized")
    if view.gold is None and trace.paraphrase:
        message = "the question has no gold record, and this is another wording of it"
        return Problem("not_the_question", message, fix="open the question in its own words, p=0")
    answer = answer_alone(trace.answer)
    if not answer or refuses(answer.lower(), view.profile.refusal) or other_refusal(answer.lower()):
        return Problem("no_answer", "the answer is empty or declines", fix="open the question in another run")
    section = target.section_id
    change: dict[str, Json] = {
        "answer": answer,
        "answerable": True if view.gold is not None and not view.gold.answerable else None,
        "spans": [_span(page, found)],
        "sections": [section] if section else None,
        "chunks": [target.chunk_id] if target.chunk_id else None,
        "grades": None,
        "anchor": None,
    }
    if view.gold is None:
        return {"q": trace.q, **change}
    decoys = [each for each in view.gold.decoy_sections if each != section]
    return {**change, "decoy_sections": [*decoys] or None}


def answer_alone(answer: str) -> str:
    """Return an answer without its citation lines."""
    return CITATION_LINE.sub("", answer).strip()


def is_same(change: GoldRecord, record: GoldRecord) -> bool:
    """Return whether a record has these fields already."""
    return all(record.get(name) == value for name, value in change.items())


def _span(page: PageView, found: FoundSpan) -> dict[str, Json]:
    """Return the passage's place with the page's own words, the quote's where it runs over pages."""
    quote, place = page.target.query.quote, page.image
    if place is not None and place.page.page_idx == found.page_idx and not found.continues:
        words = words_in(found.rects, place.words)
        quote = text_in_lines(words, rotation=place.page.rotation)[0] or quote
    span: dict[str, Json] = {"doc_id": page.target.doc_id, "quote": quote}
    if found.page_idx is not None:
        span["page_idx"] = found.page_idx
    elif found.ranges:
        span["offsets"] = [found.ranges[0].start, found.ranges[-1].end]
    return span
