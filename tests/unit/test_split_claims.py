"""Splitting an answer into claims."""

from __future__ import annotations

import pytest

from proofspan.diagnosis.claims.split import split_claims

CASES = [
    ("Sales rose 3.5 % in 2017. Costs fell.", ["Sales rose 3.5 % in 2017.", "Costs fell."]),
    ("1. Press the pedal.\n2. Turn the key.", ["Press the pedal.", "Turn the key."]),
    ("See e.g. section 4.2. Dr. Smith agrees.", ["See e.g. section 4.2.", "Dr. Smith agrees."]),
    ("## Sales\n\nSales rose in 2017.", ["Sales rose in 2017."]),
    (
        "| Item | 2017 |\n|---|---|\n| Revenue | 41,287 |",
        ["| Revenue | 41,287 |"],
    ),
    (
        "The engine holds 5.1 litres; the gearbox holds 1.9 litres.",
        ["The engine holds 5.1 litres", "the gearbox holds 1.9 litres."],
    ),
    ("Use this:\n```\nrun it now\n```\nIt prints a table.", ["It prints a table."]),
]


@pytest.mark.parametrize(("answer", "claims"), CASES)
def test_split(answer: str, claims: list[str]) -> None:
    found = split_claims(answer)
    assert [claim.text for claim in found] == claims
    assert all(answer[claim.start : claim.end] == claim.text for claim in found)
