"""Claims as reports and exports hold them: plain values in the order of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from proofspan.contracts.records.records import Json
from proofspan.diagnosis.claims.types import CheckedClaim

#: Digits of a support.
DIGITS = 4


def claim_records(claims: Sequence[CheckedClaim]) -> list[dict[str, Json]]:
    """Return the claims of an answer as JSON values; the same claims give the same values."""
    return [
        {
            **checked.claim._asdict(),
            "support": round(checked.support, DIGITS),
            "status": checked.status,
            "evidence": None if checked.evidence is None else asdict(checked.evidence),
            "differences": [asdict(difference) for difference in checked.differences],
            "formula": checked.formula,
            "note": checked.note,
        }
        for checked in claims
    ]
