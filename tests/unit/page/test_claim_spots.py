"""The evidence of claims on a page: its boxes, the words that differ, and what is elsewhere or lost."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from proofspan.contracts.records.records import Box, Chunk
from proofspan.diagnosis.claims.types import (
    CheckedAnswer,
    CheckedClaim,
    Claim,
    ClaimDifference,
    ClaimEvidence,
)
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.manifest.types import Artifact, Document
from proofspan.services.documents.document_cache import Placer
from proofspan.services.page.claims import boxes_of, claim_spots, claim_targets
from proofspan.services.page.target import Target
from proofspan.services.page.view import PageView

TEXT = "Fill the tank. It holds 46 litres. The reserve is 46 litres minus 40 litres. Stop the engine first."
PAGES = [TEXT, "Tyre pressures are on the door."]


def words_of(text: str) -> list[tuple[Box, str]]:
    return [((10.0 * at, 0.0, 10.0 * at + 9, 10.0), word) for at, word in enumerate(text.split())]


def claim(text: str, evidence: str, *, page_idx: int | None = 0, found: str = "") -> CheckedClaim:
    start = TEXT.find(evidence) if evidence in TEXT else 0
    differences = ()
    if found:
        at = start + evidence.index(found)
        differences = (ClaimDifference("number", "64", 0, 2, found, at, at + len(found)),)
    place = ClaimEvidence("prompt", "c1", start, start + len(evidence), evidence, "manual", page_idx)
    return CheckedClaim(
        Claim(text, 0, len(text), "sentence"), "differs", 0.5, place if evidence else None, differences
    )


def test_the_boxes_of_a_phrase_are_those_of_its_occurrence() -> None:
    words = words_of(TEXT)
    first, second = (boxes_of("46 litres", TEXT, at, words) for at in (TEXT.index("46"), TEXT.rindex("46")))
    assert [box[0] for box in first] == [50.0, 60.0]
    assert [box[0] for box in second] == [100.0, 110.0]


def test_a_phrase_without_letters_or_with_an_unclear_place_gets_no_box() -> None:
    assert boxes_of("—", TEXT, 0, words_of(TEXT)) == []
    assert boxes_of("47 litres", TEXT, 0, words_of(TEXT)) == []
    # The page repeats what the text has once, and none of the two can be preferred.
    assert boxes_of("the door", "on the door", 3, words_of("the door and the door")) == []


def test_words_are_compared_without_case_and_punctuation() -> None:
    assert [box[0] for box in boxes_of("TANK it", TEXT, 9, words_of(TEXT))] == [20.0, 30.0]


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("claims") / "manual.pdf"
    with pymupdf.open() as document:
        for text in PAGES:
            document.new_page(width=600, height=300).insert_text((40, 60), text, fontsize=9)
        document.save(path)
    return path


def test_evidence_is_here_elsewhere_or_lost(manual: Path) -> None:
    checked = CheckedAnswer(
        (
            claim("It holds 64 litres.", "It holds 46 litres.", found="46"),
            claim("Pressures are on the door.", PAGES[1], page_idx=1),
            claim("The roof opens.", "A roof that opens by itself"),
            claim("Hello.", ""),
        ),
        0.5,
    )
    chunks = {"c1": Chunk("c1", TEXT, doc_id="manual", page_idx=0)}
    targets = claim_targets(checked, chunks)
    assert sorted(targets) == [1, 2, 3]
    assert (targets[1].id, targets[1].tag) == ("claim:1", "claim 1")
    assert targets[1].query.before == "Fill the tank. "
    assert targets[3].query.before == ""  # a text that the chunk does not have
    with PdfPool() as pool:
        placer = Placer(pool)
        view = PageView(
            Target("claim", 1, "manual", targets[1].query),
            Document("manual", Artifact("documents[0]", "manual.pdf")),
            path=manual,
            image=placer.page(manual, 0),
        )
        spots = {each.number: each for each in claim_spots(view, checked, targets, (3, 1, 2, 4), placer)}
    assert {number: each.placement for number, each in spots.items()} == {
        1: "here", 2: "elsewhere", 3: "lost", 4: "none",
    }  # fmt: skip
    (box,), (mark,) = spots[1].rects, spots[1].marks
    assert box[0] < mark[0] and mark[0] + mark[2] < box[0] + box[2]
    assert mark[2] < box[2] / 4


def test_evidence_of_another_document_is_elsewhere(manual: Path) -> None:
    checked = CheckedAnswer((claim("It holds 64 litres.", "It holds 46 litres."),), 0.5)
    targets = claim_targets(checked, {})
    with PdfPool() as pool:
        placer = Placer(pool)
        view = PageView(
            Target("claim", 1, "other", targets[1].query),
            Document("other", Artifact("documents[0]", "manual.pdf")),
            path=manual,
            image=placer.page(manual, 0),
        )
        (spot,) = claim_spots(view, checked, targets, (1,), placer)
    assert (spot.placement, spot.rects) == ("elsewhere", ())


def test_what_cannot_be_on_the_shown_page_is_not_looked_for(manual: Path) -> None:
    """Each would be searched for in the whole document, which may have hundreds of pages."""
    far = tuple(claim("The roof opens.", "A roof that opens", page_idx=9) for _ in range(50))
    checked = CheckedAnswer(far, 0.5)
    targets = claim_targets(checked, {})
    with PdfPool() as pool:
        placer = Placer(pool)
        image = placer.page(manual, 0)
    view = PageView(
        Target("claim", 1, "manual", targets[1].query),
        Document("manual", Artifact("documents[0]", "manual.pdf")),
        path=manual,
        image=image,
    )
    spots = claim_spots(view, checked, targets, range(1, 51), placer)  # the workers have ended
    assert {each.placement for each in spots} == {"elsewhere"}
