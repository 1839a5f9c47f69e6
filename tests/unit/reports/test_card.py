"""The card of a question: its words, and its picture read again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from proofspan.evidence.pdf.pool import PdfPool
from proofspan.manifest.load import load_manifest
from proofspan.resources import DEMO
from proofspan.services.documents.document_cache import Placer
from proofspan.services.page.crop import Crop, crop_of
from proofspan.services.page.target import choose, targets_of
from proofspan.services.page.view import locate_view
from proofspan.services.report.card import ASPECT, PIXELS, SHARE, card_drawing, card_of
from proofspan.services.report.proofs import reader_of
from proofspan.store.query.store import Store

pytestmark = pytest.mark.slow

MUPDF: Any = pymupdf  # its Python half carries no types


def test_a_card_has_question_answer_and_passage_as_picture_and_text(
    checked: Callable[[Path], Path], pool: PdfPool
) -> None:
    manifest, cache, placer = load_manifest(DEMO), checked(DEMO), Placer(pool)
    view = reader_of(Store(manifest, cache), manifest, "R006", cache_dir=cache)("Q107")
    targets = targets_of(view)
    chosen = choose(targets)
    assert chosen is not None
    shown = locate_view(chosen, targets, manifest=manifest, placer=placer)
    crop = crop_of(shown, placer, share=SHARE, aspect=ASPECT, pixels=PIXELS)
    assert crop.picture is not None and {box.layer for box in crop.boxes} == {"cited", "gold"}
    evil = "<b>2,024 mm</b>\u202e\x07 " + "long " * 400
    card = card_of(view, crop, name="A car", answer=evil, checked=None, verdict=None)
    assert card.head == "Q107 · R006 · A car"
    for words in (view.trace.q, "<b>2,024 mm</b>", crop.place):
        assert words in card.text
    assert "\u202e" not in card.text and "\x07" not in card.text and len(card.text) < 2_000
    picture = MUPDF.Pixmap(pool.draw(card_drawing(card), to="png").data)
    assert picture.width == 1120 and picture.height > 500
    with MUPDF.open(stream=pool.draw(card_drawing(card), to="pdf").data, filetype="pdf") as pdf:
        assert pdf.page_count == 1 and "<b>2,024 mm</b>" in pdf[0].get_text()
    lost = card_of(view, Crop("", missing="no file"), name="", answer="", checked=None, verdict=None)
    assert "No picture: no file." in lost.text and "The answer is empty." in lost.text
    assert pool.draw(card_drawing(lost), to="png").width == 1120
