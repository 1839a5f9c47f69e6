"""A zoomed part of a page: on the grid, exactly where it was requested, within its bounds."""

from __future__ import annotations

import math
from io import BytesIO
from pathlib import Path

import numpy as np
import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from proofspan.errors import EvidenceFault
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.pdf.render import Sheet, zoomed
from proofspan.evidence.types import Picture, SpanQuery
from proofspan.services.documents.document_cache import Placer
from proofspan.services.page.shapes import Percent
from proofspan.services.page.target import Target
from proofspan.services.page.view import PageView
from proofspan.services.page.zoom import GRID, MAX_WIDTH, detail_of, snapped
from tests.pdf_files import one_page, write_pages

UPRIGHT = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
sides = st.floats(1, 14_400)


@st.composite
def regions(draw: st.DrawFn) -> Percent:
    """A region of the page: left, top, width, height in percent."""
    left, top = draw(st.floats(0, 99)), draw(st.floats(0, 99))
    return left, top, draw(st.floats(0.1, 100 - left)), draw(st.floats(0.1, 100 - top))


def view_of(pool: PdfPool, path: Path, page_idx: int = 0) -> PageView:
    """Return the view of a document on the Question page."""
    target = Target("cited", 1, "d", SpanQuery(""))
    return PageView(target, page_idx=page_idx, image=pool.render(path, page_idx), path=path)


def pixels(data: bytes) -> np.ndarray:
    return np.asarray(Image.open(BytesIO(data)).convert("L"), dtype=np.float64)


@given(regions())
def test_a_region_grows_to_the_grid_and_stays_there(region: Percent) -> None:
    left, top, width, height = snapped(region)
    assert left <= region[0] and top <= region[1]
    assert left + width >= region[0] + region[2] - 1e-9
    assert top + height >= region[1] + region[3] - 1e-9
    assert 0 <= left < left + width <= 100 and 0 <= top < top + height <= 100
    assert all(side % GRID == 0 for side in (left, top, width, height))
    assert snapped((left, top, width, height)) == (left, top, width, height)


def test_a_small_move_asks_for_the_same_region() -> None:
    assert snapped((12.1, 33.0, 20.0, 20.0)) == snapped((12.9, 31.5, 20.0, 21.0)) == (10, 30, 25, 25)


@pytest.mark.slow
@given(sides, sides, regions(), st.integers(1, 4_096), st.integers(1, 3_000_000))
def test_whole_pixels_cover_the_part_exactly(
    width: float, height: float, region: Percent, columns: int, max_pixels: int
) -> None:
    drawn = zoomed(Sheet(width, height, UPRIGHT, "a.pdf", 0), region, width=columns, max_pixels=max_pixels)
    a, _, _, d, e, f = drawn.to_pixels
    x0, y0, x1, y1 = drawn.area
    across, down = a * x1 + e, d * y1 + f
    assert (a * x0 + e, d * y0 + f) == (pytest.approx(0, abs=1e-6), pytest.approx(0, abs=1e-6))
    assert (across, down) == (pytest.approx(round(across)), pytest.approx(round(down)))
    assert 1 <= round(across) <= columns
    assert round(across) * round(down) <= max_pixels


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_a_detail_shows_what_lies_there_on_the_page(pool: PdfPool, tmp_path: Path, rotation: int) -> None:
    lines = [["Change the oil every 15,000 km."] * 10]
    path = write_pages(tmp_path / "turned.pdf", lines, rotation=rotation, crop=(30, 20, 380, 290))
    shown = view_of(pool, path)
    assert shown.image is not None
    region = (10.0, 20.0, 80.0, 50.0)
    detail = detail_of(Placer(pool), shown, region, 1_000)
    assert detail is not None and detail.width == 1_024
    page = Image.fromarray(pixels(shown.image.data).astype(np.uint8))
    left, top = page.width * 0.10, page.height * 0.20
    cut = page.crop((round(left), round(top), round(left + page.width * 0.8), round(top + page.height * 0.5)))
    small = Image.fromarray(pixels(detail.data).astype(np.uint8)).resize(cut.size, Image.Resampling.BOX)
    expected, found = np.asarray(cut, dtype=float), np.asarray(small, dtype=float)
    assert (expected < 128).sum() > 50, "there is ink to compare"
    alike = np.corrcoef(expected.ravel(), found.ravel())[0, 1]
    shifted = np.corrcoef(expected.ravel(), np.roll(found, (1, 1), axis=(0, 1)).ravel())[0, 1]
    assert alike > 0.6
    assert alike > shifted + 0.2, "one pixel away it is another picture"


def test_it_is_bounded_and_drawn_once(pool: PdfPool, tmp_path: Path) -> None:
    path = tmp_path / "large.pdf"
    path.write_bytes(one_page(b"", box=b"0 0 14400 14400"))
    placer, shown = Placer(pool), view_of(pool, path)
    detail = detail_of(placer, shown, (0.0, 0.0, 100.0, 100.0), 10**9)
    assert detail is not None
    assert detail.width <= MAX_WIDTH
    assert detail.width * detail.height <= 3_000_000
    assert detail_of(placer, shown, (0.0, 0.0, 100.0, 100.0), 10**9) is detail


@pytest.mark.parametrize(
    "region",
    [
        (0.0, 0.0, 0.0, 10.0),
        (-1.0, 0.0, 10.0, 10.0),
        (95.0, 0.0, 10.0, 10.0),
        (0.0, 0.0, math.nan, 10.0),
        (0.0, 0.0, math.inf, 10.0),
    ],
)
def test_what_is_no_region_of_the_page_has_no_detail(pool: PdfPool, tmp_path: Path, region: Percent) -> None:
    shown = view_of(pool, write_pages(tmp_path / "a.pdf", [["one"]]))
    assert detail_of(Placer(pool), shown, region, 500) is None


def test_where_it_cannot_be_drawn_there_is_no_picture(pool: PdfPool, tmp_path: Path) -> None:
    class Broken:
        def detail(self, path: Path, page_idx: int, region: Percent, width: int) -> Picture:
            raise EvidenceFault.of("crashed", "the worker crashed", where=str(path), fix="replace it")

    shown = view_of(pool, write_pages(tmp_path / "a.pdf", [["one"]]))
    assert detail_of(Placer(Broken()), shown, (0.0, 0.0, 50.0, 50.0), 500) is None  # type: ignore[arg-type]
    target = shown.target
    assert detail_of(Placer(pool), PageView(target), (0.0, 0.0, 50.0, 50.0), 500) is None


def test_a_page_cropped_by_the_viewer_box_is_in_percent_of_what_shows(pool: PdfPool, tmp_path: Path) -> None:
    """The lower right quarter of the cropped page, which alone has a black field."""
    document = pymupdf.open()
    page = document.new_page(width=400, height=300)
    page.draw_rect(pymupdf.Rect(250, 200, 350, 250), color=0, fill=0)
    page.set_cropbox(pymupdf.Rect(150, 150, 350, 250))
    path = tmp_path / "field.pdf"
    document.save(path)
    detail = detail_of(Placer(pool), view_of(pool, path), (50.0, 50.0, 50.0, 50.0), 512)
    assert detail is not None
    assert pixels(detail.data).mean() < 5
