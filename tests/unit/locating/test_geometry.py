"""Points and pixels: pure rules, and boxes against the ink of real rotated and cropped pages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.records import Box
from proofspan.evidence.geometry import (
    box_to_pixels,
    line_boxes,
    overlap_share,
    to_points,
)
from proofspan.evidence.pdf.png import decode_rgb
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.span_file import FRAME, TINT, with_highlights
from proofspan.evidence.types import PageImage, SpanQuery
from tests.pdf_files import one_page, write_pages

QUOTE = "Change the brake fluid"
LINES = ["Something stands above it.", QUOTE, "Something stands below it."]


def ink_of(pixels: np.ndarray, box: Box) -> Box:
    """The smallest box around the dark pixels that lie within `box` (with 4 pixels around it)."""
    left, top, right, bottom = (round(c) for c in (box[0] - 4, box[1] - 4, box[2] + 4, box[3] + 4))
    rows, columns = np.nonzero(pixels[top:bottom, left:right].max(axis=2) < 128)
    assert rows.size, "no ink in the box"
    return left + columns.min(), top + rows.min(), left + columns.max() + 1, top + rows.max() + 1


def oil_page() -> bytes:
    """A page of 200 × 200 with `Change the oil` near its top."""
    font = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
    content = b"BT /F 10 Tf 20 150 Td (Change the oil) Tj ET"
    return one_page(content, resources=b"/Font<</F 5 0 R>>", more=(font,))


def pixels_of(image: PageImage, png: bytes | None = None) -> np.ndarray:
    data = np.frombuffer(decode_rgb(png or image.data), dtype=np.uint8)
    return data.reshape(image.height, image.width, 3)


@pytest.mark.parametrize("crop", [None, (20.0, 30.0, 380.0, 280.0)])
@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("dpi", [72, 150])
def test_a_box_lies_on_the_ink(
    pool: PdfPool, tmp_path: Path, rotation: int, crop: Box | None, dpi: int
) -> None:
    path = write_pages(tmp_path / "page.pdf", [LINES], rotation=rotation, crop=crop)
    found = pool.locate(path, SpanQuery(QUOTE, 0))
    image = pool.render(path, 0, dpi=dpi)
    assert image.page.rotation == rotation
    assert (image.page.width > image.page.height) == (rotation in (0, 180))
    (box,) = [box_to_pixels(image.to_pixels, rect) for rect in found.rects]
    ink = ink_of(pixels_of(image), box)
    assert overlap_share(ink, (box[0] - 1, box[1] - 1, box[2] + 1, box[3] + 1)) == 1.0, "ink outside the box"
    assert overlap_share(box, ink) > 0.6, "the box is much larger than its ink"


def test_a_highlight_tints_the_paper_and_keeps_the_ink(pool: PdfPool, tmp_path: Path) -> None:
    path = write_pages(tmp_path / "page.pdf", [LINES])
    image = pool.render(path, 0)
    found = pool.locate(path, SpanQuery(QUOTE, 0))
    before, after = pixels_of(image), pixels_of(image, with_highlights(image, found.rects))
    left, top, right, bottom = (round(c) for c in box_to_pixels(image.to_pixels, found.rects[0]))
    inside, paper = after[top:bottom, left:right], before[top:bottom, left:right].min(axis=2) == 255
    assert (inside[paper] == TINT).all()
    assert inside.max(axis=2).min() < 60
    assert (np.all(after == FRAME, axis=2)).any()
    changed = np.any(before != after, axis=2)
    changed[top - 3 : bottom + 3, left - 3 : right + 3] = False
    assert not changed.any()


@pytest.mark.parametrize(
    ("box", "space"),
    [
        ((60.0, 80.0, 120.0, 160.0), "points"),
        ((0.1, 0.1, 0.2, 0.2), "unit"),
        ((100, 100, 200, 200), "per_mille"),
    ],
)
def test_a_box_in_any_space_becomes_points(box: Box, space: str) -> None:
    assert to_points(box, space, width=600, height=800, rotation=0) == pytest.approx((60, 80, 120, 160))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rotation", "shown"),
    [
        (0, (0.1, 0.1, 0.2, 0.2)),
        (90, (0.8, 0.1, 0.9, 0.2)),
        (180, (0.8, 0.8, 0.9, 0.9)),
        (270, (0.1, 0.8, 0.2, 0.9)),
    ],
)
def test_shares_of_a_page_are_measured_on_it_as_it_is_displayed(rotation: int, shown: Box) -> None:
    found = to_points(shown, "unit", width=600, height=800, rotation=rotation)
    assert found == pytest.approx((60, 80, 120, 160))
    assert to_points(found, "points", width=600, height=800, rotation=rotation) == found


@pytest.mark.parametrize("crop", [None, (20.0, 30.0, 380.0, 280.0)])
@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_a_box_measured_on_the_picture_of_a_page_holds_the_text_under_it(
    pool: PdfPool, tmp_path: Path, rotation: int, crop: Box | None
) -> None:
    path = write_pages(tmp_path / "page.pdf", [LINES], rotation=rotation, crop=crop)
    found, image = pool.locate(path, SpanQuery(QUOTE, 0)), pool.render(path, 0)
    (box,) = (box_to_pixels(image.to_pixels, rect) for rect in found.rects)
    sides = (image.width, image.height, image.width, image.height)
    shares = tuple(1000 * place / side for place, side in zip(box, sides, strict=True))
    asked = SpanQuery(QUOTE, 0, box=shares, box_space="per_mille")
    assert pool.locate(path, asked).box_agrees is True
    other = pool.locate(path, replace(asked, quote="Something stands below it."))
    assert (other.box_agrees, other.note) == (
        False,
        f"the box given with the quote holds other text: “{QUOTE}”",
    )


@pytest.mark.parametrize(
    "entry", [b"/Rotate 45", b"/Rotate -90", b"/Rotate 450", b"/Rotate (x)", b"/Rotate 1e9"]
)
def test_an_odd_rotation_keeps_boxes_on_their_words(pool: PdfPool, tmp_path: Path, entry: bytes) -> None:
    path = tmp_path / "odd.pdf"
    path.write_bytes(oil_page().replace(b"/MediaBox", entry + b"/MediaBox"))
    found, image = pool.locate(path, SpanQuery("Change the oil", 0)), pool.render(path, 0)
    (box,) = (box_to_pixels(image.to_pixels, rect) for rect in found.rects)
    ink = ink_of(pixels_of(image), box)
    assert overlap_share(ink, (box[0] - 1, box[1] - 1, box[2] + 1, box[3] + 1)) == 1.0


@pytest.mark.parametrize("sides", [b"0 0 0 0", b"0 0 200 0", b"0 0 -5 -5", b"9 9 9", b"0 0 1e-9 1e-9"])
def test_a_page_without_area_is_asked_without_harm(pool: PdfPool, tmp_path: Path, sides: bytes) -> None:
    path = tmp_path / "flat.pdf"
    path.write_bytes(oil_page().replace(b"0 0 200 200", sides))
    for space in ("points", "unit", "per_mille"):
        query = SpanQuery("nothing of the kind stands here", 0, box=(0, 0, 1, 1), box_space=space)
        assert pool.locate(path, query).status == "not_found"


def test_a_page_in_larger_units_keeps_its_boxes_in_one_space(pool: PdfPool, tmp_path: Path) -> None:
    path = tmp_path / "units.pdf"
    path.write_bytes(oil_page().replace(b"/MediaBox", b"/UserUnit 2/MediaBox"))
    lower = SpanQuery("Change the oil", 0, box=(0, 0.2, 1, 0.3), box_space="unit")
    assert pool.locate(path, lower).box_agrees is True


@pytest.mark.parametrize(
    ("words", "count"),
    [
        ([(0, 0, 20, 10), (23, 0, 40, 10)], 1),
        ([(0, 0, 20, 10), (23, 0.8, 40, 11)], 1),
        ([(0, 0, 20, 10), (60, 0, 80, 10)], 2),
        ([(0, 0, 20, 10), (0, 12, 20, 22)], 2),
        ([(0, 0, 20, 10), (23, -4, 26, 1)], 2),
        ([(0, 60, 10, 90), (0, 27, 10, 57)], 1),
        ([(0, 0, 5, 10), (0, 12, 5, 22)], 2),
        ([(0, 0, 0, 10), (5, 5, 9, 5)], 0),
    ],
)
def test_words_of_a_line_share_a_box(words: list[Box], count: int) -> None:
    assert len(line_boxes(words)) == count


@given(st.lists(st.tuples(*[st.floats(0, 500)] * 2, *[st.floats(1, 80)] * 2), max_size=12))
def test_boxes_cover_every_word_and_nothing_beyond_them(
    words: list[tuple[float, float, float, float]],
) -> None:
    boxes = [(x, y, x + w, y + h) for x, y, w, h in words]
    lines = line_boxes(boxes)
    for box in boxes:
        grown = (box[0] + 0.01, box[1] + 0.01, box[2] - 0.01, box[3] - 0.01)
        assert any(overlap_share(grown, line) > 0.99 for line in lines)
    assert len(lines) <= len(boxes)
