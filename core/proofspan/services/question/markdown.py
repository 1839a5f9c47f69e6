"""A question as Markdown to paste into a chat with a language model: answer, verdict, claims and evidence."""

from __future__ import annotations

from collections.abc import Iterator

from proofspan.diagnosis.claims.types import CheckedAnswer, CheckedClaim
from proofspan.diagnosis.verdicts.types import Verdict
from proofspan.display_names import (
    CAUSE_NAMES,
    CLAIM_NAMES,
    CORRECT_NAMES,
    DIFFERENCE_NAMES,
    GROUNDED_NAMES,
)
from proofspan.services.question.view import CandidateView, CitationView, QuestionView
from proofspan.wording import counted

#: Passages of the prompt and citations that are written, and characters of each text.
MOST_LISTED, MOST_TEXT = 20, 2_000


def question_markdown(
    view: QuestionView, *, checked: CheckedAnswer | None = None, verdict: Verdict | None = None
) -> str:
    """Return a question with everything that its page says in words, without the page's picture.

    Texts of others are quoted line by line, so that they end no section. Pages count from 1, as a reader of
    the file counts.
    """
    parts = [
        "# A question to a document assistant, with what its answer rests on",
        f"Question {view.trace.q_id} of run {view.trace.run_id}",
        "## Question",
        _quoted(view.trace.q),
        "## Answer",
        _quoted(view.trace.answer) if view.trace.answer.strip() else "The answer is empty.",
        *_expected(view),
        *(_cause(verdict) if verdict is not None else ()),
        *(_claims(checked) if checked is not None and checked.claims else ()),
        *_citations(view.citations),
        *_prompt(view),
    ]
    return "\n\n".join(parts) + "\n"


def _expected(view: QuestionView) -> Iterator[str]:
    gold = view.gold
    if gold is None or (gold.answerable and not gold.answer):
        return
    yield "## Expected answer"
    yield _quoted(gold.answer) if gold.answer else "None: the documents do not answer this question."
    for span in gold.spans[:MOST_LISTED]:
        yield f"In {_place(span.doc_id, span.page_idx)}:\n\n{_quoted(span.quote)}"


def _cause(verdict: Verdict) -> Iterator[str]:
    yield "## Verdict"
    lines = [f"- Against the expected answer: {CORRECT_NAMES[verdict.correct]}"]
    if verdict.grounded is not None:
        lines.insert(0, f"- Against the evidence: {GROUNDED_NAMES[verdict.grounded]}")
    if verdict.cause is not None:
        lines.append(f"- Cause ({verdict.certainty}): {CAUSE_NAMES[verdict.cause]}")
    yield "\n".join(lines)
    if verdict.sentence:
        yield _inline(verdict.sentence)
    if verdict.next_step:
        yield f"Next step: {_inline(verdict.next_step)}"


def _claims(checked: CheckedAnswer) -> Iterator[str]:
    yield "## Claims of the answer"
    yield "\n".join(_claim(number, each) for number, each in enumerate(checked.claims, start=1))


def _claim(number: int, each: CheckedClaim) -> str:
    lines = [f"{number}. {CLAIM_NAMES[each.status]}: “{_inline(each.claim.text)}”"]
    if each.evidence is not None:
        found = each.evidence
        where = _place(found.doc_id, found.page_idx, found.chunk_id)
        lines.append(f"   - evidence in {where}: “{_inline(found.text)}”")
    lines += [
        f"   - {DIFFERENCE_NAMES[each.kind].lower()}: the answer has “{_inline(each.claimed)}”, "
        f"the evidence “{_inline(each.found)}”"
        for each in each.differences
    ]
    lines += [f"   - computed: {_inline(each.formula)}"] if each.formula else []
    lines += [f"   - {_inline(each.note)}"] if each.note else []
    return "\n".join(lines)


def _citations(citations: tuple[CitationView, ...]) -> Iterator[str]:
    """Yield the citations with their quotes; the text of a chunk that was seen is among the passages."""
    if not citations:
        return
    yield "## Citations of the answer"
    for each in citations[:MOST_LISTED]:
        cited = each.citation
        seen = "" if each.is_retrieved else ", not in the prompt"
        head = f"[{cited.number}] {_place(cited.doc_id, cited.page_idx, cited.chunk_id)}{seen}"
        needs_text = each.quote_from == "payload" or not each.is_retrieved
        yield f"{head}\n\n{_quoted(cited.quote)}" if cited.quote and needs_text else head
    yield from _hidden(len(citations), "citation")


def _prompt(view: QuestionView) -> Iterator[str]:
    if not view.stages:
        return
    stage = view.stages[-1]
    yield "## Passages that the model saw" if stage.name == "chunks" else f"## Passages ({stage.name})"
    yield from (_passage(each) for each in stage.candidates[:MOST_LISTED])
    yield from _hidden(len(stage.candidates), "passage")


def _passage(each: CandidateView) -> str:
    candidate = each.candidate
    marks = [f"cited as [{number}]" for number in each.cited_by] + ["expected"] * (each.gold is not None)
    head = ", ".join(
        [f"{candidate.rank}. {_place(candidate.doc_id, candidate.page_idx, candidate.chunk_id)}", *marks]
    )
    return f"{head}\n\n{_quoted(candidate.text)}" if candidate.text else f"{head}: its text is not known"


def _hidden(count: int, what: str) -> Iterator[str]:
    if count > MOST_LISTED:
        yield f"… and {counted(count - MOST_LISTED, f'more {what}')}"


def _place(doc_id: str | None, page_idx: int | None, chunk_id: str | None = None) -> str:
    parts = [
        doc_id or "",
        "" if page_idx is None else f"page {page_idx + 1:,}",
        chunk_id and f"chunk {chunk_id}",
    ]
    return _inline(", ".join(filter(None, parts)) or "no place")


def _quoted(text: str) -> str:
    cut = (
        text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}… ({len(text) - MOST_TEXT:,} more characters)"
    )
    return "\n".join(f"> {line}".rstrip() for line in cut.splitlines())


def _inline(text: str) -> str:
    cut = text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}…"
    return " ".join(cut.split())
