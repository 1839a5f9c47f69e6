"""Claims as reports and exports hold them: plain values in the order of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from proofspan.contracts.records.records import Json
from proofspan.diagnosis.claims.types import CheckedClaim, ClaimEvidence

#: Digits of a support.
DIGITS = 4
#: The longest text of an evidence; a chunk without sentence ends is one sentence.
MOST_EVIDENCE = 2_000


def claim_records(claims: Sequence[CheckedClaim]) -> list[dict[str, Json]]:
    """Return the claims of an answer as JSON values; the same claims give the same values."""
    return [
        {
            **checked.claim._asdict(),
            "support": round(checked.support, DIGITS),
            "status": checked.status,
            "evidence": None if checked.evidence is None else _evidence_record(checked.evidence),
            "differences": [asdict(difference) for difference in checked.differences],
            "formula": checked.formula,
            "note": checked.note,
        }
        for checked in claims
    ]


def _evidence_record(evidence: ClaimEvidence) -> dict[str, Json]:
    text = evidence.text
    cut = text if len(text) <= MOST_EVIDENCE else f"{text[: MOST_EVIDENCE - 1]}…"
    return {**asdict(evidence), "text": cut}
