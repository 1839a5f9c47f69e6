"""What triage reads with and what it writes: the profile, the signals and the report row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from proofspan.contracts.records import Label

Template = Literal["seed", "payload", "none"]


@dataclass(frozen=True, slots=True)
class Profile:
    """How to read a pipeline's answers.

    `template` says where the template check looks: in the answer's text as the reference does ("seed"), at
    the citation payload ("payload"), or nowhere ("none"). `refusal` holds the phrases that make an answer a
    refusal, compared in lower case. The defaults are the reference's.
    """

    template: Template = "seed"
    refusal: tuple[str, ...] = ("not in context",)

    def describe(self) -> str:
        """The words that stand beside every count: `template seed · refusal "not in context"`."""
        phrases = ", ".join(f'"{phrase}"' for phrase in self.refusal)
        return f"template {self.template} · refusal {phrases}" if phrases else f"template {self.template}"


@dataclass(frozen=True, slots=True)
class PhraseMatch:
    """A phrase of the answer found in the evidence; ranges are half-open characters of the original texts."""

    phrase: str
    answer_start: int
    answer_end: int
    places: tuple[tuple[str, int, int], ...] = ()  # (chunk_id, start, end) in that chunk's text


@dataclass(frozen=True, slots=True)
class Signals:
    """Why a label is what it is. Coverages lie in 0–1, None where the text has no content word."""

    phrase: str | None = None
    query_found: tuple[str, ...] = ()
    query_missing: tuple[str, ...] = ()
    query_coverage: float | None = None
    answer_coverage: float | None = None
    numbers_unsupported: tuple[str, ...] = ()
    cited: int = 0
    cited_retrieved: int = 0
    cited_resolved: int = 0


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One question's verdict. `label`, `why`, `chunks`, `citations_in_answer` equal the reference's."""

    q: str
    label: Label
    why: str
    chunks: tuple[str, ...]
    citations_in_answer: tuple[str, ...]
    signals: Signals
    suspicions: tuple[str, ...] = ()
    q_id: str | None = None
    extra: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TextRange:
    """A piece of a text with its half-open range of characters in the original."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class QueryToken:
    """A token that the reference aligns by: where the question has it, which chunks have it, and where.

    `is_content` is False for stopwords, which count for the label but not for `query_coverage`.
    """

    token: str
    is_content: bool
    in_question: tuple[TextRange, ...]
    places: tuple[tuple[str, int, int], ...]  # (chunk_id, start, end) in that chunk's text


@dataclass(frozen=True, slots=True)
class CitedId:
    """An id that the profile counts as cited; `range` in the answer, None where only the payload has it."""

    chunk_id: str
    range: TextRange | None
    is_retrieved: bool
    is_resolved: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """A label's reasons as ranges in the original texts, for a page to mark.

    `phrases` are all phrases of the answer that stand in the evidence, in the order of the answer; the first
    is the signal's. `numbers` are the unsupported ones. `refusal` is the phrase that makes the answer a
    refusal, or with `is_other_wording` the words that decline without being the profile's. `words_missing`
    are the answer's content words that no chunk has, with their ranges.
    """

    phrases: tuple[PhraseMatch, ...] = ()
    numbers: tuple[TextRange, ...] = ()
    query: tuple[QueryToken, ...] = ()
    cited: tuple[CitedId, ...] = ()
    refusal: TextRange | None = None
    is_other_wording: bool = False
    words_missing: tuple[TextRange, ...] = ()
