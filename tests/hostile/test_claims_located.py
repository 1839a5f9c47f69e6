"""Claims that nobody would write: long ones, many in one text, other scripts; each is answered in bounds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from proofspan.errors import Problem
from proofspan.evidence.locate_bulk import Ask, locate_bulk
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.types import SpanQuery
from proofspan.services.claim_places import ClaimLocator, ClaimSpan, placed_in_text
from tests.hostile.command_room import NEVER_S
from tests.pdf_files import form_bomb, write_pages

OIL = "The engine oil must be changed every 15,000 km by a workshop."

CLAIMS = {
    "two megabytes": "The oil must be changed. " * 80_000,
    "one word": "oil" * 500_000,
    "numbers": "The oil costs " + ", ".join(map(str, range(10_000))) + ".",
    "many": "\n".join(f"{number}. The oil must be changed in year {number}." for number in range(5_000)),
    "columns": "|".join(["| oil | 15,000 "] * 400) + "|",
    "right to left": 'יש להחליף את שמן המנוע כל 15,000 ק"מ. يجب تغيير زيت المحرك.',
    "nonsense": "\u0000\ufdd0\u202e ½²³ ((((((((( 1,,,2...3 %%% \ud7ff 15,000",
    "no space": "机油必须每15,000公里更换一次。" * 3_000,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("claims")
    write_pages(folder / "a.pdf", [[OIL], ["1 2 3 4 5 6 7 8 9 " * 8] * 12, []])
    (folder / "a.md").write_text(f"{OIL}\n" * 400, encoding="utf-8")
    (folder / "bomb.pdf").write_bytes(form_bomb())
    return folder


@pytest.fixture(scope="module")
def one_worker() -> Iterator[PdfPool]:
    with PdfPool(workers=1, timeout_s=NEVER_S) as pool:
        yield pool


@pytest.mark.parametrize("name", CLAIMS)
def test_every_claim_is_answered_in_bounded_time(folder: Path, one_worker: PdfPool, name: str) -> None:
    asks = [Ask(folder / "a.pdf", SpanQuery("", page, claim=CLAIMS[name])) for page in (0, None)]
    asks.append(Ask(folder / "a.md", SpanQuery("", claim=CLAIMS[name]), is_text=True))
    began = time.process_time()
    spans = locate_bulk(asks, ClaimLocator(one_worker), workers=1, in_text=placed_in_text)
    assert time.process_time() - began < 30
    for span in spans:
        assert isinstance(span, ClaimSpan), span
        assert len(span.claims) <= 500
        assert 0.0 <= span.support <= 1.0
    if name in ("two megabytes", "many"):
        assert all("only the first" in span.note for span in spans if isinstance(span, ClaimSpan))


@pytest.mark.slow
@pytest.mark.usefixtures("soon_given_up")
def test_a_document_that_hangs_costs_its_own_claims_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proofspan.evidence.locate_bulk.MAX_FAULTS", 2)  # each is a worker's whole time limit
    names = ("a.pdf", "bomb.pdf")
    asks = [
        Ask(folder / names[number % 2], SpanQuery("", 0, claim=f"{OIL} {number}")) for number in range(14)
    ]
    with PdfPool(workers=2, timeout_s=NEVER_S) as pool:
        spans = locate_bulk(asks, ClaimLocator(pool), workers=2, in_text=placed_in_text)
    kinds = [span.code if isinstance(span, Problem) else span.status for span in spans]
    assert set(kinds[::2]) == {"exact"}
    assert set(kinds[1::2]) == {"timed_out"}
