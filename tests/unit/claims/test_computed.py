"""Claims that compare: what follows from the rows that they name, and what does not."""

from __future__ import annotations

import pytest

from proofspan.diagnosis.claims.check import SUPPORTED, check_answer
from proofspan.diagnosis.claims.source import SourceText
from proofspan.diagnosis.claims.support import EvidenceSource
from proofspan.diagnosis.claims.types import CheckedClaim
from proofspan.diagnosis.corpus import Corpus

OVENS = (
    "Table 4. Ovens\nFeature Basic oven Pro oven\nPower 2.4 kW (3.2 hp) at 230 V 3.6 kW (4.8 hp) at 400 V\n"
    "Preheating time 12 min 9 min\nEnergy per hour, fan 0.98 kWh 0.94 kWh\nVolume 60 litres 72 litres"
)
SERVICE = (
    "Table 5. Service\nPart Every What is done\nDoor seal, basic oven 20,000 cycles or 6 years Replace\n"
    "Door seal, pro oven 28,000 cycles or 6 years Replace\nHinges 8,000 cycles Grease\n"
    "Shelf with rails 30 kg\nShelf without rails 15 kg"
)
PROSE = "Let the basic oven cool before you clean it, and the pro oven too. Use no more than 8 cycles a day."


def checked(answer: str, *texts: str) -> CheckedClaim:
    chunks = {str(number): text for number, text in enumerate(texts or (PROSE, OVENS, SERVICE))}
    sources = [EvidenceSource("prompt", name, SourceText(text)) for name, text in chunks.items()]
    (claim,) = check_answer(answer, sources, Corpus(chunks).survey).claims
    return claim


@pytest.mark.parametrize(
    ("claim", "formula"),
    [
        ("The pro oven has 1.2 kW more power than the basic oven.", "3.6 kW − 2.4 kW = 1.2 kW"),
        ("The pro oven has 50 % more power than the basic oven.", "(3.6 kW − 2.4 kW) / 2.4 kW = 50 %"),
        (
            "The pro oven has 20 % more volume than the basic one.",
            "(72 litres − 60 litres) / 60 litres = 20 %",
        ),
        (
            "The volume of the basic oven is about 17 % smaller.",
            "(60 litres − 72 litres) / 72 litres = −17 %",
        ),
        ("The preheating time of the pro oven is 3 minutes shorter.", "12 min − 9 min = 3 minutes"),
        (
            "The door seal of the pro oven lasts 8,000 cycles longer than that of the basic oven.",
            "28,000 − 20,000 = 8,000",
        ),
        ("A shelf with rails carries twice as much as one without.", "30 kg / 15 kg = 2"),
        ("A shelf without rails carries half as much as one with rails.", "30 kg / 15 kg = 2"),
    ],
)
def test_a_comparison_follows_from_the_rows_that_it_names(claim: str, formula: str) -> None:
    found = checked(claim)
    assert (found.status, found.formula) == ("derived", formula)
    assert found.support >= SUPPORTED


def test_the_evidence_of_a_comparison_is_the_row() -> None:
    evidence = checked("The pro oven has 1.2 kW more power than the basic oven.").evidence
    assert evidence is not None and evidence.text.startswith("Power 2.4 kW")


@pytest.mark.parametrize(
    "claim",
    [
        "The pro oven has 1.3 kW more power than the basic oven.",
        "The basic oven has 1.2 kW more power than the pro oven.",  # the other way round
        "The volume of the basic oven is about 20 % smaller.",  # of the larger it is 17 %
        "A shelf without rails carries twice as much as one with rails.",
        "A shelf with rails carries three times as much as one without.",
        "The shelf of the pro oven is 1.2 kW stronger.",  # no row is named
    ],
)
def test_a_wrong_comparison_does_not_follow(claim: str) -> None:
    assert checked(claim).formula == ""


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        (
            "The mill has ordered 12 856 S drives in all.",
            "The mill has ordered 12 846 S drives in all, 10 of them in May.",
        ),
        (
            "Orders for the year are to be between 9,850 and 11,200 pumps, 150 more than expected before.",
            "Orders for the year are to be between 10,000 and 11,200 pumps, 150 more than expected before.",
        ),
    ],
)
def test_a_figure_in_the_place_of_another_is_not_computed(claim: str, text: str) -> None:
    assert checked(claim, text).status != "derived"


def test_what_the_source_compares_itself_is_not_computed() -> None:
    found = checked(
        "The volume of the pro oven is 12 litres larger.",
        f"{OVENS}\nThe volume of the pro oven is 12 litres larger than that of the basic oven.",
    )
    assert (found.status, found.formula) == ("supported", "")


def test_a_computed_figure_of_another_language_stays_one() -> None:
    evidence = "The basic oven holds 60 litres. The Pro holds 72 litres, and it is the larger of the two."
    found = checked("Der Ofen Pro fasst 12 Liter mehr als der einfache und ist größer.", evidence)
    assert (found.status, found.formula) == ("other_language", "72 litres − 60 litres = 12 Liter")


RIMS = (
    "Table 6. Trolleys in kilograms\nModel Castors Weight Load\nC2 steel 80/30 Q12 112 305\n"
    "C2 steel 90/35 Q14 118 305\nC4 steel 80/30 Q12 131 390"
)


def test_a_size_may_be_part_of_a_code() -> None:
    found = checked("A C2 steel on 12-inch castors leaves 193 kg for the load.", RIMS)
    assert (found.status, found.formula) == ("derived", "305 − 112 = 193 kg")
    assert checked("A C2 steel on 17-inch castors leaves 193 kg for the load.", RIMS).status != "derived"


def test_a_figure_of_another_subject_is_not_accused() -> None:
    prose = "A C4 steel on 14-inch castors weighs 139 kg with its rails, so 251 kg are left for the load."
    found = checked("A C2 steel on 12-inch castors weighs a little more than 110 kg.", RIMS, prose)
    assert found.differences == ()


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Fill the bowl with half a kilogram of flour.", "Fill the bowl with 500 g of white flour."),
        ("The hose may be one and a half metres long.", "The hose may have a length of 1.5 m."),
        ("The tank is roughly 1.2 m wide.", "The tank has a width of 1,197 mm."),
        ("The valve opens at just below 40 bar.", "The valve opens at 39.8 bar."),
        (
            "Do not use the ramp unless the wind is below 30 km/h.",
            "Use the ramp only in winds of less than 30 km/h.",
        ),
    ],
)
def test_a_measure_in_other_words_is_supported(claim: str, evidence: str) -> None:
    found = checked(claim, evidence, "The pump has a filter.", "Close the lid.")
    assert (found.status, found.differences) == ("supported", ())


def test_the_document_is_about_its_name() -> None:
    text = "The pump delivers 30 litres per minute at full speed."
    claim = "At full speed the pump of the Aquarion delivers 30 litres per minute."
    scores = [
        check_answer(
            claim, [EvidenceSource("prompt", "c1", SourceText(text), name, 0)], Corpus({"c1": text}).survey
        ).support
        for name in ("manual", "aquarion-3")
    ]
    assert scores[0] is not None and scores[1] is not None and scores[0] < scores[1]


def test_a_word_that_the_evidence_has_too_announces_no_computation() -> None:
    evidence = "We expect the average price to pass 430 euros, and between 2,400 and 2,600 guests in autumn."
    claim = "We expect the average price to pass 430 euros, and between 2,400 and 2,500 guests in autumn."
    assert checked(claim, evidence).formula == ""
    evidence = "We expect between 2,400 and 2,600 guests in autumn."
    assert checked("On average 2,500 guests are expected in autumn.", evidence).status == "derived"
