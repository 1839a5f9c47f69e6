"""Names that people read for the codes that files, addresses and exports hold, for pages and commands alike.

A code that is not listed (a suspicion of another tool's report) is shown as it is: `NAMES.get(code, code)`.
Pages put the code into the tooltip.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

#: Labels of answers, worst first.
LABEL_NAMES: Final[Mapping[str, str]] = {
    "generation_drift": "Unsupported answer",
    "retrieval_drift": "Retrieval miss",
    "refusal_suspect": "Possible over-refusal",
    "refusal_ok": "Correct refusal",
    "ok": "Grounded",
}
NO_LABEL: Final = "No label"

#: Ranking buckets, best first.
BUCKET_NAMES: Final[Mapping[str, str]] = {
    "hit": "Hit",
    "score_policy": "Ranking miss",
    "retrieval_gap": "Recall miss",
}

#: What happened to a question's gold passage, worst first.
GOLD_NAMES: Final[Mapping[str, str]] = {
    "answered": "Should have refused",
    "missed": "Not retrieved",
    "dropped": "Dropped before the prompt",
    "uncited": "In the prompt, not cited",
    "seen": "In the prompt, no citations",
    "cited": "Cited",
    "declined": "Correctly refused",
}

#: Evidence states: how a citation's text compares with its document, worst first.
EVIDENCE_NAMES: Final[Mapping[str, str]] = {
    "not_found": "Not found",
    "numbers_differ": "Wrong number",
    "page_mismatch": "Other page",
    "partial": "Partial match",
    "fuzzy": "Reworded",
    "not_placed": "Not located",
    "normalized": "Exact except formatting",
    "exact": "Exact match",
}

#: Statuses of claims: how the evidence supports what an answer says, worst first.
CLAIM_NAMES: Final[Mapping[str, str]] = {
    "differs": "Differs",
    "unsupported": "Unsupported",
    "other_language": "Other language",
    "derived": "Derived",
    "supported": "Supported",
}

#: In what a claim differs from its evidence.
DIFFERENCE_NAMES: Final[Mapping[str, str]] = {
    "number": "Number",
    "unit": "Unit",
    "scale": "Scale",
    "date": "Date or period",
    "negation": "Negation",
    "direction": "Direction",
    "name": "Name",
    "qualifier": "Qualifier dropped",
    "quantifier": "Quantifier",
    "modality": "Modality",
}

#: An answer against its evidence, worst first.
GROUNDED_NAMES: Final[Mapping[str, str]] = {
    "contradicted": "Contradicted",
    "no": "Not supported",
    "partly": "Partly supported",
    "yes": "Supported",
}

#: An answer against the expected one, worst first.
CORRECT_NAMES: Final[Mapping[str, str]] = {
    "wrong": "Wrong",
    "declined_wrongly": "Declined, wrongly",
    "partly": "Partly correct",
    "unknown": "Correctness unknown",
    "declined_rightly": "Declined, rightly",
    "correct": "Correct",
}

#: First points of failure, most harmful first.
CAUSE_NAMES: Final[Mapping[str, str]] = {
    "unsafe_omission": "Safety notice left out",
    "contradicted": "Contradicts its evidence",
    "wrong_source": "Wrong source",
    "answered_unanswerable": "Answered the unanswerable",
    "unsupported": "Unsupported",
    "not_extracted": "Not extracted",
    "over_refusal": "Over-refusal",
    "incomplete": "Incomplete",
    "incorrect_specificity": "Not specific enough",
    "missing_content": "Missing content",
    "missed_top_ranked": "Not retrieved",
    "not_in_context": "Not in the prompt",
    "bad_citation": "Bad citation",
    "wrong_format": "Wrong format",
    "gold_suspect": "Gold is suspect",
    "none": "No failure found",
}

#: Suspicions about a trace, as the Issues column and filter list them.
ISSUE_NAMES: Final[Mapping[str, str]] = {
    "answer_missing": "No answer",
    "chunk_without_id": "Chunk without ID",
    "chunks_missing": "No chunks",
    "citation_outside_retrieved": "Cites unretrieved chunk",
    "citation_page_zero": "Cites a page below 1",
    "citations_disagree": "Text and payload differ",
    "citations_empty": "Citation line without IDs",
    "duplicate_question": "Answered more than once",
    "ok_contradicts": "Pipeline flag disagrees",
    "query_terms_too_few": "Question too short to align",
    "question_unknown": "Question unknown",
    "redirected_chunk_id": "Redirected chunk ID",
    "refusal_not_exact": "Refusal among other words",
    "refusal_other_wording": "Refusal in other words",
    "report_stale": "Saved report outdated",
    "template_absent": "Template not followed",
    "unresolved_chunk_id": "Unknown chunk ID",
}

#: The names of codes by the filter that chooses them.
NAMES: Final[Mapping[str, Mapping[str, str]]] = {
    "label": LABEL_NAMES,
    "grounded": GROUNDED_NAMES,
    "correct": CORRECT_NAMES,
    "cause": CAUSE_NAMES,
    "claim": CLAIM_NAMES,
    "difference": DIFFERENCE_NAMES,
    "evidence": EVIDENCE_NAMES,
    "gold": GOLD_NAMES,
    "bucket": BUCKET_NAMES,
    "suspicion": ISSUE_NAMES,
}

#: What a list of questions can be filtered by, by the URL's parameter.
FILTER_NAMES: Final[Mapping[str, str]] = {
    "label": "Label",
    "cause": "Cause",
    "correct": "Correctness",
    "grounded": "Grounding",
    "suspicion": "Issues",
    "doc": "Document",
    "section": "Top section",
    "gold": "Gold passage",
    "evidence": "Cited text",
    "bucket": "Ranking",
    "code": "Contract rule",
    "type": "Question type",
    "state": "λ state",
    "cohort": "Frozen cohort",
    "review": "Review",
    "unsupported": "Numbers in the answer",
    "claim": "Claims",
    "difference": "Difference",
    "contradictions": "Contradictions",
    "support": "Support",
    "safety": "Safety warnings",
    "sort": "Order",
}

#: Titles of columns, and of the stages and ranks that they show.
COLUMN_NAMES: Final[Mapping[str, str]] = {
    "verdict": "Verdict",
    "cause": "Cause",
    "label": "Label",
    "question": "Question",
    "answer": "Answer",
    "expected": "Expected",
    "why": "Reason",
    "section": "Top section",
    "gold_rank": "Gold rank",
    "cited": "Cited",
    "coverage": "Coverage",
    "support": "Support",
    "contradictions": "Differs",
    "numbers": "Unsupported numbers",
    "issues": "Issues",
    "rules": "Rules",
    "reviewed": "Reviewed",
    "in_prompt": "In the prompt",
    "previous_rank": "Prev. rank",
}

#: Scores that retrievers log, by their name in traces; other names are shown as they are.
FEATURE_NAMES: Mapping[str, str] = {
    "bm25": "keywords (BM25)",
    "dense": "meaning (embedding)",
    "cosine": "cosine similarity",
    "rrf": "rank fusion",
}
