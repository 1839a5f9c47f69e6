"""Claims about cells of tables in the text of a passage: the right row and column, or another one."""

from __future__ import annotations

import pytest

from proofspan.diagnosis.claims.check import check_answer
from proofspan.diagnosis.claims.source import SourceText
from proofspan.diagnosis.claims.support import EvidenceSource
from proofspan.diagnosis.claims.types import CheckedClaim
from proofspan.diagnosis.corpus import Corpus

FLUIDS = (
    "Table 3. Fluids\nFluid Specification Amount\nHydraulic oil, loader HV 46 38.5 litres\n"
    "Hydraulic oil, mower HV 46 12.5 litres\nCoolant half water 9.2 litres\nGrease NLGI 2 400 g\n"
    "Lamp box 3 kg\nRoof box 60 kg"
)
SHEET = (
    "(in millions)\nDecember 31, 2032 2031\nCash and equivalents 4,310 3,905\nReceivables, net 2,144 2,370\n"
    "Inventories 1,988 1,840\nTotal current assets 8,442 8,115\nGross plant and land 21,733 20,914\n"
    "Less wear (8,002) (7,655)\nTotal 13,731 13,259"
)
LIMITS = (
    "Table 5. The two devices\nFeature Lane keeper Speed keeper\nRange 30 to 180 km/h 30 to 160 km/h\n"
    "Long press 10 km/h 5 km/h\nBrake ends it no effect"
)
TRAILER = (
    "Table 7. Limits\nWhat Limit\nTrailer with brakes 1,200 kg\nTrailer without brakes 600 kg\nBall 75 kg"
)


def checked(claim: str, text: str) -> CheckedClaim:
    """Check one claim against one passage."""
    sources = [EvidenceSource("prompt", "t", SourceText(text))]
    (found,) = check_answer(claim, sources, Corpus({"t": text}).survey).claims
    return found


@pytest.mark.parametrize(
    ("claim", "text", "wrong", "right"),
    [
        ("The loader takes 12.5 litres of hydraulic oil.", FLUIDS, "12.5 litres", "38.5 litres"),
        ("The lamp box may carry 60 kg.", FLUIDS, "60 kg", "3 kg"),
        ("Inventories were $8,442 million.", SHEET, "$8,442 million", None),
        ("In 2032 inventories were $1,840 million.", SHEET, "$1,840 million", "1,988"),
        ("A long press changes the speed keeper by 10 km/h.", LIMITS, "10 km/h", "5 km/h"),
        ("A trailer with brakes may weigh 600 kg.", TRAILER, "600 kg", "1,200 kg"),
    ],
)
def test_another_cell(claim: str, text: str, wrong: str, right: str | None) -> None:
    found = checked(claim, text)
    if right is None:  # two figures in the row, and no column named
        assert found.status != "differs"
        return
    (difference,) = found.differences
    assert (found.status, difference.kind) == ("differs", "number")
    assert (difference.claimed, difference.found) == (wrong, right)
    assert claim[difference.claimed_start : difference.claimed_end] == wrong
    assert text[difference.found_start : difference.found_end] == right
    evidence = found.evidence
    assert evidence is not None and evidence.start <= difference.found_start < evidence.end


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The mower takes 12.5 litres of hydraulic oil.", FLUIDS),
        ("Hydraulic oil: 12.5 litres.", FLUIDS),
        ("In 2031 inventories were $1,840 million.", SHEET),
        ("Plant and land, net, were 13,731 million in 2032.", SHEET),
        ("Total current assets rose from 8,115 in 2031 to 8,442 in 2032.", SHEET),
        ("A long press changes the lane keeper by 10 km/h.", LIMITS),
        ("A trailer without brakes may weigh 600 kg.", TRAILER),
        ("Trailers may weigh 600 kg.", TRAILER),
    ],
)
def test_the_right_cell_or_no_telling(claim: str, text: str) -> None:
    assert checked(claim, text).status != "differs"


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        ("Das Heft wurde am 6. Juni 2031 herausgegeben.", "differs"),
        ("Das Heft wurde am 6. Juli 2031 herausgegeben.", "other_language"),
        ("Das Heft gilt seit dem 1. Mai 2029 für alle.", "other_language"),
    ],
)
def test_dates_in_another_language(claim: str, status: str) -> None:
    text = "Issued on 6 July 2031 by the service department for owners and for the workshops that they go to."
    assert checked(claim, text).status == status


def test_another_passage_may_have_the_date() -> None:
    chunks = {
        "issue": "Issued on 6 July 2031 by the service department for owners and for the workshops.",
        "recall": "The pump of this series was recalled on 6 June 2031 because of its seal.",
    }
    answer = "Das Heft wurde am 6. Juni 2031 herausgegeben."
    assert checked(answer, chunks["issue"]).status == "differs"
    sources = [EvidenceSource("prompt", name, SourceText(text)) for name, text in chunks.items()]
    (claim,) = check_answer(answer, sources, Corpus(chunks).survey).claims
    assert claim.status != "differs"


@pytest.mark.parametrize(
    ("claim", "text", "status"),
    [
        # nothing but a unit in common, and two sentences that have it
        (
            "Das Fach unter dem Sitz trägt höchstens 5 kg.",
            "The roof carries 15 kg at most. A spare wheel adds 18 kg to the weight of the van.",
            "other_language",
        ),
        ("Das Fach trägt höchstens 5 kg.", "The shelf carries 8 kg at most.", "differs"),
        # another size: another thing
        ("Das Fach trägt höchstens 1,5 kg.", "The shelf is made for a person of 75 kg.", "other_language"),
    ],
)
def test_a_figure_in_another_language_needs_more_than_its_unit(claim: str, text: str, status: str) -> None:
    assert checked(claim, text).status == status


FUSES = (
    "Table 8. Fuses\nNo. Rating Protects Supply\nK1 15 A Front lamp always\nK2 20 A Grain auger ignition\n"
    "K3 10 A Straw chopper ignition\nK4 30 A Cab fan always\nK5 25 A Rear lamp always"
)


def test_the_code_of_another_row() -> None:
    found = checked("Fuse K3 of the harvester protects the grain auger.", FUSES)
    assert [(each.kind, each.claimed, each.found) for each in found.differences] == [("name", "K3", "K2")]


@pytest.mark.parametrize(
    "claim",
    [
        "Fuse K2 of the harvester protects the grain auger.",
        "Fuse K3 protects the chopper, K2 the grain auger.",
        "Fuse K3 protects the straw chopper beside the grain auger.",
        "Fuse K9 is for the grain auger.",
        "Fuse K3 and the lamp are at the front.",
    ],
)
def test_a_code_that_may_be_right(claim: str) -> None:
    assert checked(claim, FUSES).status != "differs"
