"""Figures that agree by value though claim and evidence print them differently."""

from __future__ import annotations

import pytest

from proofspan.diagnosis.claims.restated import Restated
from proofspan.diagnosis.claims.types import CheckedClaim, Claim, ClaimEvidence

TABLE = "Sales (in thousands of euros)\n| Region | 2023 |\n|---|---|\n| North | 41,287 |\n| South | 9,100 |\n"


def pairs(claim: str, evidence: str, *, passage: str = TABLE) -> list[tuple[str, str]]:
    start = passage.index(evidence)
    place = ClaimEvidence("prompt", "c1", start, start + len(evidence), evidence, "manual", 0)
    checked = CheckedClaim(Claim(claim, 0, len(claim), "sentence"), "supported", 0.9, place)
    return Restated({"c1": passage}).pairs(checked)


def test_a_scale_comes_from_the_caption_of_the_whole_chunk() -> None:
    assert pairs("The north sold €41.3 million.", "| North | 41,287 |") == [
        ("€41.3 million", "41,287 thousand"),
    ]


@pytest.mark.parametrize(
    "claim", ["The north sold 9.1 million.", "The north sold nothing.", "It sold 41,287."]
)
def test_figures_that_do_not_agree_or_are_printed_alike_are_no_pair(claim: str) -> None:
    assert pairs(claim, "| North | 41,287 |") == []


def test_a_text_that_the_chunk_does_not_have_is_read_by_itself() -> None:
    place = ClaimEvidence("gold", None, 0, 20, "It weighs 2,500 kg.", "manual", 0)
    checked = CheckedClaim(Claim("It weighs 2.5 tonnes.", 0, 21, "sentence"), "supported", 0.9, place)
    assert Restated({}).pairs(checked) == [("2.5 tonnes", "2,500 kg")]
