"""The outcome of checking a claim: status, evidence, where the two differ, and all as reports have it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from proofspan.contracts.records.records import Json

#: Digits of a support.
DIGITS = 4
#: The longest text of an evidence; a chunk without sentence ends is one sentence.
MOST_EVIDENCE = 2_000
#: `supported`: the evidence says it. `derived`: its figures follow from those of the evidence. `differs`: the
#: evidence says otherwise. `unsupported`: nothing that is good enough was found. `other_language`: the
#: evidence is in another language; only figures and names were compared, and agree.
ClaimStatus = Literal["supported", "differs", "unsupported", "derived", "other_language"]
#: A sentence, a list item, a table row, or one of several clauses of a sentence.
ClaimKind = Literal["sentence", "item", "row", "clause"]
DifferenceKind = Literal[
    "number",
    "unit",
    "scale",
    "date",
    "negation",
    "direction",
    "name",
    "qualifier",
    "quantifier",
    "modality",
]
#: Where evidence was found: in what the answerer saw, in what else was retrieved, on a cited page, in gold.
Origin = Literal["prompt", "retrieved", "cited_page", "gold"]


class Claim(NamedTuple):
    """A piece of an answer; `text` is `answer[start:end]`."""

    text: str
    start: int
    end: int
    kind: ClaimKind


class ClaimEvidence(NamedTuple):
    """The sentence, list item or table row that supports a claim best.

    `text` is `[start:end]` of the chunk's text, or of the gold quote where `chunk_id` is None. `page_idx` is
    None where the chunk names no page.
    """

    origin: Origin
    chunk_id: str | None
    start: int
    end: int
    text: str
    doc_id: str | None = None
    page_idx: int | None = None


class ClaimDifference(NamedTuple):
    """A point where a claim and its evidence say different things.

    `claimed` is `answer[claimed_start:claimed_end]`, `found` is `[found_start:found_end]` of the evidence's
    chunk (or page). One of the two may be empty: a qualifier that the answer dropped, a negation that only
    one side has.
    """

    kind: DifferenceKind
    claimed: str
    claimed_start: int
    claimed_end: int
    found: str
    found_start: int
    found_end: int


class CheckedClaim(NamedTuple):
    """A claim with its status. `support` lies in 0–1; `formula` says how a derived figure follows.

    `note` says why a claim could not be decided, or what was left out.
    """

    claim: Claim
    status: ClaimStatus
    support: float
    evidence: ClaimEvidence | None = None
    differences: tuple[ClaimDifference, ...] = ()
    formula: str = ""
    note: str = ""


class CheckedAnswer(NamedTuple):
    """The claims of an answer in its order; `support` in 0–1 is led by the weakest, None without claims."""

    claims: tuple[CheckedClaim, ...] = ()
    support: float | None = None
    note: str = ""

    @property
    def contradictions(self) -> int:
        """Return how many claims differ from their evidence."""
        return sum(checked.status == "differs" for checked in self.claims)


def claim_records(claims: Sequence[CheckedClaim]) -> list[dict[str, Json]]:
    """Return claims in their order as reports and exports hold them; the same claims give the same values."""
    return [
        {
            **checked.claim._asdict(),
            "support": round(checked.support, DIGITS),
            "status": checked.status,
            "evidence": None if checked.evidence is None else _evidence_record(checked.evidence),
            "differences": [difference._asdict() for difference in checked.differences],
            "formula": checked.formula,
            "note": checked.note,
        }
        for checked in claims
    ]


def _evidence_record(evidence: ClaimEvidence) -> dict[str, Json]:
    text = evidence.text
    cut = text if len(text) <= MOST_EVIDENCE else f"{text[: MOST_EVIDENCE - 1]}…"
    return {**evidence._asdict(), "text": cut}
