"""The sentences for labels, gold states and suspicions: their meanings and fixes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proofspan.contracts.records.records import Label
from proofspan.diagnosis.claims.types import ClaimStatus
from proofspan.diagnosis.gold import GoldOutcome, GoldState
from proofspan.diagnosis.safety import SafetyOmission
from proofspan.diagnosis.types import ReportRow, Template
from proofspan.diagnosis.verdicts.types import Cause

#: The meaning of each label.
MEANINGS: Mapping[Label, str] = {
    "generation_drift": "The evidence fits the question; the answer does not fit the evidence or template.",
    "retrieval_drift": "The evidence shares no word with the question: the failure lies before the answer.",
    "refusal_suspect": "The answer declines although the evidence holds words of the question.",
    "refusal_ok": "The answer declines and the evidence holds no word of the question.",
    "ok": "The answer shares a phrase with the evidence, the evidence a word with the question.",
}

#: For a drifting answer, by where the template check looks.
_NEXT_STEP_OF_DRIFT: Mapping[Template, str] = {
    "seed": "Put the evidence-only template last in the system prompt, evaluate at temperature 0, and "
    "require the exact form citations: [id, …].",
    "payload": "Put the evidence-only template last in the system prompt, evaluate at temperature 0, and "
    "require a citation payload whose ids were all retrieved.",
    "none": "Look at the words and numbers that the evidence does not hold; put the evidence-only template "
    "last in the system prompt and evaluate at temperature 0.",
}
_NEXT_STEP: Mapping[Label, str] = {
    "retrieval_drift": "Intersect and rerank the retrievers, cut chunks so that an entity and its "
    "constraints stay together, and drop the tail behind the knee of the scores.",
    "refusal_suspect": "Raise top-k before the reranker; where the corpus really lacks the answer, plan a "
    "fallback or another source.",
    "refusal_ok": "Nothing to fix: declining without evidence is the right answer.",
    "ok": "Take it as the baseline and go on to precision, recall and stability.",
}

#: Answers with less coverage are called little covered.
LITTLE_COVERED = 0.5
#: The meaning of each gold state.
GOLD_MEANINGS: Mapping[GoldState, str] = {
    "answered": "The documents hold no answer, and yet one was given.",
    "missed": "Nothing retrieved the gold passage.",
    "dropped": "The gold passage was retrieved, but the answerer did not see it.",
    "uncited": "The answerer saw the gold passage, and cites only others or declines.",
    "seen": "The answerer saw the gold passage, and cites nothing.",
    "cited": "The answer cites the gold passage.",
    "declined": "The documents hold no answer, and the answer declines.",
}
#: The fix if many questions share a state, if there is anything to do.
GOLD_STEPS: Mapping[GoldState, str] = {
    "answered": "Look at the prompt's rule for declining, and at the threshold under which it declines.",
    "missed": "Raise recall: a second retriever, another cut of the chunks, the words that users choose.",
    "dropped": "Let more candidates through, or fix the order of the last stage.",
    "uncited": "The passage lay before the answerer: look at the prompt, and at how the chunks are cut.",
}
#: The meaning of each cause, most harmful first.
CAUSE_MEANINGS: Mapping[Cause, str] = {
    "unsafe_omission": "The answer gives an instruction and leaves out a warning of the section it cites.",
    "contradicted": "A claim of the answer differs from its evidence.",
    "wrong_source": "The answer rests on another entity, period, section or edition than asked about.",
    "answered_unanswerable": "The documents do not answer the question, and an answer is given.",
    "unsupported": "Claims of the answer have no evidence.",
    "not_extracted": "The prompt held the right passage, and the answer says something else.",
    "over_refusal": "The prompt held the answer, and the answer declines.",
    "incomplete": "Parts of the expected answer are missing.",
    "incorrect_specificity": "The answer is right and not as exact as expected.",
    "missing_content": "No chunk of the corpus holds the right passage.",
    "missed_top_ranked": "The right passage is in the corpus and was not retrieved.",
    "not_in_context": "The right passage was retrieved or cut, and did not reach the prompt.",
    "bad_citation": "The answer is right, and its citations lead elsewhere.",
    "wrong_format": "The answer is right, and does not follow the template.",
    "gold_suspect": "The evidence supports the answer, and the expected answer may be wrong.",
    "none": "No failure was found.",
}
#: The meaning of each status of a claim, worst first.
CLAIM_MEANINGS: Mapping[ClaimStatus, str] = {
    "differs": "The evidence says something else: another number, date or name, or the opposite.",
    "unsupported": "No sentence or table row that says this was found in the evidence.",
    "other_language": "The evidence is in another language; only numbers and names were compared, and agree.",
    "derived": "Its figures follow by arithmetic from those of the evidence.",
    "supported": "A sentence or table row of the evidence says this.",
}
#: The meaning for a single answer, by whether it declines.
_MEANT_HERE: Mapping[tuple[GoldState, bool], str] = {
    ("uncited", True): "The answerer saw the gold passage, and declines.",
    ("uncited", False): "The answerer saw the gold passage, and cites only others.",
}
#: The fix for a refusal to a question that has an answer.
_REFUSED: Mapping[GoldState, str] = {
    "uncited": "Look at the prompt's rule for declining, and at how the chunk is cut.",
    "dropped": "Let more candidates through, or fix the order of the last stage.",
    "missed": "Raise recall (a second retriever, another cut of the chunks) before you fix the order.",
}
#: The fix for an answer with the label `ok`.
_ANSWERED_OK: Mapping[GoldState, str] = {
    "uncited": "Check the answer against that passage: it may quote the wrong one.",
    "dropped": "Check the answer: without that passage it may be right by chance alone.",
    "missed": "Check the answer: without that passage it may be right by chance alone.",
}
#: The fix if the documents hold no answer.
_NO_ANSWER: Mapping[GoldState, str] = {
    "answered": "Look at what the answer makes of its evidence, and at the prompt's rule for declining.",
    "declined": "Nothing to fix: declining is right.",
}

#: Every suspicion that a row, or with `template_absent` a run, may carry.
SUSPICIONS: Mapping[str, str] = {
    "answer_missing": "The trace has no answer; it was read as an empty one.",
    "chunk_without_id": "A retrieved entry has no id and was skipped.",
    "chunks_missing": "The trace lists no chunks, so there is no evidence to check against.",
    "citation_outside_retrieved": "The answer cites an id that was not retrieved: it may be made up.",
    "citation_page_zero": "A citation's page is below 1, yet such pages count from 1: check the page base.",
    "citations_disagree": "The ids in the answer's text and those of the citation payload differ.",
    "citations_empty": "The answer has a citation line that names no id.",
    "duplicate_question": "The run answers this question more than once.",
    "ok_contradicts": "The pipeline's own ok says the opposite of the label.",
    "query_terms_too_few": "The question has no content word of three letters, so alignment says nothing.",
    "question_unknown": "Neither the records nor the gold set say what was asked, so there is no label.",
    "redirected_chunk_id": "A retrieved or cited id is of an earlier build; a redirect leads to its chunk.",
    "refusal_not_exact": "The answer holds a refusal phrase among other words, not the phrase alone.",
    "refusal_other_wording": "The answer declines in words that the profile does not count as a refusal.",
    "report_stale": "The stored report has another label: it was made from other files or by other rules.",
    "template_absent": "No answer of the run follows the template, so its labels say little.",
    "unresolved_chunk_id": "A retrieved or cited id has no chunk: traces and chunks are of different builds.",
}


def next_step(label: Label, template: Template) -> str:
    """Return the fix for answers with a label under a profile's template, in a sentence."""
    return _NEXT_STEP_OF_DRIFT[template] if label == "generation_drift" else _NEXT_STEP[label]


def step_for(
    row: ReportRow,
    template: Template,
    gold: GoldOutcome | None,
    omissions: Sequence[SafetyOmission] | None = None,
) -> str:
    """Return the fix for a single answer: by its gold passage and signals first, then by its label.

    A label is a rule about words: an `ok` with unsupported figures is no baseline, and the fix for a refusal
    depends on whether the answerer saw the gold passage.
    """
    if gold and gold.state in _NO_ANSWER:
        return _step_by_gold(gold.state, _NO_ANSWER)
    if gold and row.label in ("refusal_suspect", "refusal_ok") and gold.state in _REFUSED:
        return _step_by_gold(gold.state, _REFUSED)
    if row.label != "ok":
        return next_step(row.label, template)
    if row.signals.numbers_unsupported:
        return "Check the figures that are nowhere in the evidence before this answer counts as good."
    if gold and gold.state in _ANSWERED_OK:
        return _step_by_gold(gold.state, _ANSWERED_OK)
    if omissions:
        section_id = (omissions[0].section_id or "").strip()[:80]
        where = f" of section {section_id}" if omissions[0].section_id else ""
        return (
            f"The answer may omit the {omissions[0].kind}{where}: show a section's warnings beside the "
            "answers that cite it, or let the prompt ask for them."
        )
    coverage = row.signals.answer_coverage
    if coverage is not None and coverage < LITTLE_COVERED:
        return "Check the answer: the evidence has a phrase of it, but not most of its words."
    return next_step(row.label, template)


def _step_by_gold(state: GoldState, steps: Mapping[GoldState, str]) -> str:
    return f"{_MEANT_HERE.get((state, steps is _REFUSED), GOLD_MEANINGS[state])} {steps[state]}"


def suspicion_text(code: str) -> str:
    """Return the meaning of a suspicion; an unknown code is shown as it is."""
    return SUSPICIONS.get(code, f"{code} (not one of this program's codes)")
