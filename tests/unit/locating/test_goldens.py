"""Spans that are hard to place: what is found is what was looked at, and boxes lie on the quote's own ink."""

from __future__ import annotations

import unicodedata
from collections import Counter
from pathlib import Path

import numpy as np
import pymupdf
import pytest
from PIL import Image

from proofspan.contracts.records.records import Box
from proofspan.evidence.geometry import box_to_pixels
from proofspan.evidence.pdf.png import decode_rgb
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.types import FoundSpan, PageImage, Place
from tests import span_goldens
from tests.span_cases import CASES, GOLDENS, Case

NAMES = [case.name for case in CASES]
#: A picture is the same when its pixels differ by no more than this on average (of 255).
SAME_PICTURE = 2.0
DARK = 128
#: Ink reaches from one end of a box to the other but for this share of it.
BLANK_SHARE = 0.2
FURTHER_FILES = {"right-to-left.pdf"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("spans")


@pytest.fixture(params=CASES, ids=NAMES, scope="module")
def placed(request: pytest.FixtureRequest, pool: PdfPool, folder: Path) -> tuple[Case, Path, FoundSpan]:
    return request.param, *span_goldens.locate(request.param, pool, folder)


def test_what_is_found_is_the_golden(placed: tuple[Case, Path, FoundSpan]) -> None:
    case, _, found = placed
    text = (GOLDENS / f"{case.name}.json").read_text(encoding="utf-8")
    assert span_goldens.text_of(span_goldens.record(case, found)) == text


def test_the_picture_is_the_one_that_was_looked_at(
    placed: tuple[Case, Path, FoundSpan], pool: PdfPool
) -> None:
    case, path, found = placed
    golden = Image.open(GOLDENS / f"{case.name}.png").convert("RGB")
    drawn = span_goldens.picture(pool, path, case, found)
    assert drawn.size == golden.size
    assert span_goldens.difference(drawn, golden) < SAME_PICTURE


def test_the_words_under_the_boxes_are_those_of_the_quote(placed: tuple[Case, Path, FoundSpan]) -> None:
    case, path, found = placed
    expected = case.query.quote if case.under is None else case.under
    places = span_goldens.places(case, found)
    assert letters("".join(under(path, place) for place in places)) == letters(expected)


def test_every_box_lies_on_ink(placed: tuple[Case, Path, FoundSpan], pool: PdfPool) -> None:
    case, path, found = placed
    for place in span_goldens.places(case, found):
        image = pool.render(path, place.page_idx, dpi=144)
        for rect in place.rects:
            box = box_to_pixels(image.to_pixels, rect)
            assert reach_of_ink(image, box) > 1 - BLANK_SHARE, rect


def test_every_golden_has_its_case() -> None:
    files = {f"{name}.{ending}" for name in NAMES for ending in ("json", "png")}
    assert {path.name for path in GOLDENS.iterdir()} == files | FURTHER_FILES


def under(path: Path, place: Place) -> str:
    """The characters whose middle lies in a box, as PyMuPDF has them, in whatever order."""
    with pymupdf.open(path) as document:
        page = document[place.page_idx].get_text("rawdict")
    spans = [span for block in page["blocks"] for line in block.get("lines", ()) for span in line["spans"]]
    characters = [character for span in spans for character in span["chars"]]
    return "".join(each["c"] for each in characters if is_in(each["bbox"], place.rects))


def is_in(box: Box, others: tuple[Box, ...]) -> bool:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return any(left <= x <= right and top <= y <= bottom for left, top, right, bottom in others)


def letters(text: str) -> Counter[str]:
    """Count each letter and digit of a text; ligatures and raised digits are taken apart."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return Counter(character for character in folded if character.isalnum())


def reach_of_ink(image: PageImage, box: Box) -> float:
    """How much of a box's longer side its ink reaches over, 0–1."""
    pixels = np.frombuffer(decode_rgb(image.data), dtype=np.uint8).reshape(image.height, image.width, 3)
    left, top, right, bottom = (round(side) for side in box)
    dark = pixels[top:bottom, left:right].max(axis=2) < DARK
    along = np.flatnonzero(dark.any(axis=0 if right - left >= bottom - top else 1))
    return (along[-1] - along[0] + 1) / max(dark.shape) if along.size else 0.0
