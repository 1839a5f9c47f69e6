"""The verdict on an answer: against its evidence, against the expected answer, and the first failure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

from proofspan.contracts.records.records import Json

#: Against the evidence. `yes`: all claims are supported or derived; `partly`: some are; `no`: none is;
#: `contradicted`: a claim differs from its evidence.
Grounded = Literal["contradicted", "no", "partly", "yes"]
#: Against the expected answer. `unknown`: without one, or where rules cannot decide.
Correct = Literal["wrong", "declined_wrongly", "partly", "unknown", "declined_rightly", "correct"]
#: The first point of failure. Seven are of Barnett et al., "Seven Failure Points When Engineering a Retrieval
#: Augmented Generation System" (2024): missing_content, missed_top_ranked, not_in_context, not_extracted,
#: wrong_format, incorrect_specificity, incomplete.
Cause = Literal[
    "unsafe_omission",
    "contradicted",
    "wrong_source",
    "answered_unanswerable",
    "unsupported",
    "not_extracted",
    "over_refusal",
    "incomplete",
    "incorrect_specificity",
    "missing_content",
    "missed_top_ranked",
    "not_in_context",
    "bad_citation",
    "wrong_format",
    "gold_suspect",
    "none",
]
Certainty = Literal["certain", "likely"]
GROUNDED: tuple[Grounded, ...] = get_args(Grounded)
CORRECT: tuple[Correct, ...] = get_args(Correct)
CAUSES: tuple[Cause, ...] = get_args(Cause)

#: Where a gold passage is looked for, in the order of the pipeline.
TrailStage = Literal["corpus", "retrieved", "fused", "reranked", "prompt", "cited"]
TRAIL_STAGES: tuple[TrailStage, ...] = get_args(TrailStage)
#: `held`: its words are in the text of one candidate, or of several together; `part`: a share of them;
#: `same_page`: a candidate is on its page, with other text; `absent`: none of these.
Holding = Literal["held", "part", "same_page", "absent"]


class Correctness(NamedTuple):
    """An answer compared with the expected one.

    `reason` is a clause for a sentence: what differs, or why rules cannot decide. `answer_marks` and
    `expected_marks` are half-open character ranges of what differs in each text. `is_figure`: a figure or
    date is wrong. `is_rounded`: the only difference is how exact a figure is. `missing` are parts of the
    expected answer that the answer lacks.
    """

    value: Correct
    reason: str = ""
    answer_marks: tuple[tuple[int, int], ...] = ()
    expected_marks: tuple[tuple[int, int], ...] = ()
    is_figure: bool = False
    is_rounded: bool = False
    missing: tuple[str, ...] = ()


class PartPlace(NamedTuple):
    """The best candidate of a stage for a gold passage: 1-based rank, its chunk, and the share held in 0–1.

    `start` and `end` are the characters of that chunk's text that hold it, 0 and 0 without any. `together`
    is the share that all candidates of the stage hold, from which `holding` follows, and `has_answer`
    whether they hold what the expected answer rests on, None where that cannot be decided.
    """

    holding: Holding
    share: float = 0.0
    rank: int | None = None
    chunk_id: str | None = None
    start: int = 0
    end: int = 0
    together: float = 0.0
    has_answer: bool | None = None


class GoldPart(NamedTuple):
    """A passage that the answer needs, and its place in each stage that the trace lists.

    Where gold has no words `text` is empty, and `target` is the id of the chunk or section. `needed` are the
    half-open ranges of `text` that the expected answer rests on, empty where that cannot be decided.
    """

    text: str
    doc_id: str | None
    page_idx: int | None
    places: Mapping[TrailStage, PartPlace]
    target: str = ""
    needed: tuple[tuple[int, int], ...] = ()


class GoldTrail(NamedTuple):
    """The passages of a gold question followed through the pipeline.

    `by` says what candidates are compared by: their text, or where gold has no words their chunk id, section
    or page.
    """

    parts: tuple[GoldPart, ...]
    by: Literal["text", "chunk", "section", "page"]


class CauseEvidence(NamedTuple):
    """A passage that proves a cause: characters of a chunk's text (or of a gold quote without `chunk_id`).

    `claim` is the number, from 1, of the answer's claim that it is about, None for another.
    """

    chunk_id: str | None
    doc_id: str | None
    page_idx: int | None
    start: int
    end: int
    claim: int | None = None


class Verdict(NamedTuple):
    """The verdict on one answer. `grounded` is None without claims, as of a refusal.

    `cause` is None where it is unknown, as the answer was made from another prompt than the trace's.
    `sentence` says what went wrong by this question's facts, `next_step` what to try; both are plain text.
    `harm` orders a list, most harmful first: 0 is a safety notice left out of an instruction. Pages that the
    sentence names are of the document of the first `evidence`.
    """

    grounded: Grounded | None
    correctness: Correctness
    cause: Cause | None
    certainty: Certainty
    sentence: str
    next_step: str = ""
    harm: int = 0
    evidence: tuple[CauseEvidence, ...] = ()
    trail: GoldTrail | None = None

    @property
    def correct(self) -> Correct:
        """Return the value of its correctness."""
        return self.correctness.value

    @property
    def doc_id(self) -> str | None:
        """Return the document whose pages the sentence names, None where that is not known."""
        return self.evidence[0].doc_id if self.evidence else None


def verdict_record(verdict: Verdict) -> dict[str, Json]:
    """Return a verdict as reports hold it."""
    return {
        "grounded": verdict.grounded,
        "correct": verdict.correct,
        "cause": verdict.cause,
        "cause_sentence": verdict.sentence,
        "certainty": verdict.certainty,
    }
