"""The safety rule on the boxes of two real manuals, with answers as a model words them."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from proofspan.contracts.records.records import Attachment
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.safety import Notice, Notices
from proofspan.diagnosis.words import Passage
from proofspan.traces.records.chunks import Place

CAR, NEETS = "car_manual/tiago_owners_manual.pdf", "neets/neets_module_04.pdf"
#: Name → document, page_idx, and the first and last words of a box of the manual.
BOXES = {
    "fuel": (CAR, 27, "Fuel vapour", "sys-\ntem."),
    "exhaust": (CAR, 75, "The engine emits", "ventilation."),
    "brake": (CAR, 77, "Never use the brake", "time."),
    "jack": (CAR, 87, "If you do not", "injury."),
    "lead": (CAR, 89, "Never connect the jump", "explosion."),
    "battery": (CAR, 89, "Do not allow battery", "is running."),
    "heat": (NEETS, 52, "Do not apply heat", "the tubing."),
    "solder": (NEETS, 65, "Do not shake", "operation. "),
    "wool": (NEETS, 71, "Do not use steel", "circuits."),
    "solvent": (NEETS, 74, "These cleaning", "solvent."),
    "cord": (NEETS, 77, "Do not use round", "cables."),
}
#: Answers that mention the box in words of their own, and answers from beside it that do not.
MENTIONS = [
    (
        "fuel",
        "Fill up, with the engine off, away from sparks and open flames. No cell phone while refueling.",
    ),
    ("exhaust", "Never leave the engine running in an enclosed space without ventilation: it is poisonous."),
    ("brake", "Brake early. Do not rest your foot on the brake pedal, or the braking system overheats."),
    (
        "jack",
        "Use the proper jacking point: if it is not positioned correctly, the raised vehicle may tip over.",
    ),
    ("lead", "Never clip the jump lead directly to the negative terminal of the discharged battery."),
    (
        "battery",
        "During charging and jump-starting explosive gases can escape; avoid fire, open flames, sparks.",
    ),
    ("heat", "Shrink it, but do not apply heat higher than 300 degrees, which may damage the wire."),
    ("solder", "Never shake off excess solder: it burns skin, and equipment nearby may short circuit."),
    ("wool", "Use fine sandpaper, never steel wool: its strands fall into equipment and short circuits."),
    ("solvent", "Clean it with alcohol; these solvents are highly flammable and give off toxic vapors."),
    ("cord", "Use tape. Do not use round cord for lacing bundles that contain coaxial cable."),
]
SILENT = [
    (
        "fuel",
        "Pull the lever beside the driver, open the fuel cap counter clockwise, and close the fuel flap.",
    ),
    (
        "exhaust",
        "Engage the parking brake, depress the clutch pedal and crank the engine without accelerating.",
    ),
    ("brake", "If the brakes are wet, dry them by applying the brake pedal repeatedly while driving slowly."),
    ("jack", "Raise the jack slowly until the tyre clears the ground. Do not raise the vehicle more."),
    (
        "lead",
        "Start the vehicle with the discharged battery, and remove the jump leads in the reverse order.",
    ),
    ("battery", "Start the engine with the booster battery, then let both engines run before disconnecting."),
    ("heat", "Apply heat until the tubing has shrunk onto the wire, and let the tubing cool for 30 seconds."),
    (
        "solder",
        "Tinning coats the wire with solder. Remove excess solder with a clean cloth while it is hot.",
    ),
    ("wool", "Most technicians prefer fine sandpaper for cleaning the double tips of a soldering iron."),
    ("solvent", "Ethyl and isopropyl alcohol are acceptable solvents for removing flux from connectors."),
    ("cord", "Bundles with coaxial cables deform if they are tied too tightly; tie them at even distances."),
]


@pytest.fixture(scope="module")
def notices(real_data: Path) -> dict[str, Notice]:
    """Each box as it is looked for, every page of both manuals being a chunk."""
    pages = {
        f"{name}#{page.number}": page.get_text()
        for name in (CAR, NEETS)
        for page in pymupdf.open(real_data / name)
    }
    found = Notices(
        [
            Attachment(name, "warning", doc, name, page, text=_between(pages[f"{doc}#{page}"], first, last))
            for name, (doc, page, first, last) in BOXES.items()
        ],
        Corpus(pages),
    )
    return {name: found.governing(Place(doc, name, None))[0] for name, (doc, *_) in BOXES.items()}


def _between(text: str, first: str, last: str) -> str:
    start = text.index(first)
    return text[start : text.index(last, start) + len(last)]


@pytest.mark.parametrize(("box", "answer"), MENTIONS)
def test_an_answer_in_other_words_mentions_the_box(notices: dict[str, Notice], box: str, answer: str) -> None:
    assert notices[box].sought_in(Passage(answer)).is_mentioned


@pytest.mark.parametrize(("box", "answer"), SILENT)
def test_an_answer_from_beside_the_box_does_not_mention_it(
    notices: dict[str, Notice], box: str, answer: str
) -> None:
    assert not notices[box].sought_in(Passage(answer)).is_mentioned
