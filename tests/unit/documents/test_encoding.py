"""A page's picture fits its bound whatever is on the page, and loses nothing while it need not."""

from __future__ import annotations

import random
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import numpy as np
import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from proofspan.evidence.pdf.pool import SHOWN_BYTES, SHOWN_PIXELS, PdfPool
from proofspan.evidence.pdf.render import encode, grey_of
from tests.pdf_files import one_page, write_pages

pytestmark = pytest.mark.slow

WIDTH, HEIGHT = 40, 30


@pytest.fixture(scope="module")
def pool() -> Iterator[PdfPool]:
    with PdfPool(timeout_s=120) as pool:
        yield pool


def noise(count: int, *, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(count)


def opened(data: bytes) -> Image.Image:
    return Image.open(BytesIO(data))


@given(st.binary(min_size=1, max_size=400), st.integers(0, 399), st.integers(0, 2), st.integers(1, 255))
def test_one_coloured_pixel_is_colour(grey: bytes, place: int, channel: int, by: int) -> None:
    pixels = bytearray(value for value in grey for _ in range(3))
    assert grey_of(bytes(pixels)) == grey
    at = place % len(grey) * 3 + channel
    pixels[at] = (pixels[at] + by) % 256
    assert grey_of(bytes(pixels)) is None


def test_a_page_without_colour_is_a_grey_png_of_the_same_pixels() -> None:
    grey = noise(WIDTH * HEIGHT)
    pixels = bytes(value for value in grey for _ in range(3))
    data, mime = encode(pixels, WIDTH, HEIGHT, max_bytes=10_000)
    assert (mime, opened(data).mode) == ("image/png", "L")
    assert opened(data).tobytes() == grey


def test_a_page_with_colour_is_an_rgb_png_of_the_same_pixels() -> None:
    pixels = noise(WIDTH * HEIGHT * 3)
    data, mime = encode(pixels, WIDTH, HEIGHT, max_bytes=10_000)
    assert mime == "image/png"
    assert opened(data).tobytes() == pixels


@pytest.mark.parametrize("channels", [1, 3])
def test_what_is_too_large_becomes_a_jpeg_as_good_as_it_may_be(channels: int) -> None:
    smooth = np.add.outer(np.arange(300), np.arange(400)) % 256
    rough = smooth + np.frombuffer(noise(120_000), dtype=np.uint8).reshape(300, 400) % 24
    plane = np.clip(rough, 0, 255).astype(np.uint8)
    picture = np.stack([plane, plane, plane if channels == 1 else plane[::-1]], axis=2)
    pixels = picture.tobytes()
    sizes = [len(encode(pixels, 400, 300, max_bytes=bound)[0]) for bound in (70_000, 45_000, 33_000)]
    assert sizes == sorted(sizes, reverse=True)
    data, mime = encode(pixels, 400, 300, max_bytes=70_000)
    assert mime == "image/jpeg"
    assert opened(data).mode == ("L" if channels == 1 else "RGB")
    shown = np.asarray(opened(data).convert("RGB"), dtype=float)
    assert np.abs(shown - picture).mean() < 12


def photograph(path: Path, *, side: int, page: float) -> Path:
    """A page that is one picture of noise, which no encoder makes small."""
    pixels = Image.frombytes("RGB", (side, side), noise(side * side * 3))
    data = BytesIO()
    pixels.save(data, "JPEG", quality=95)
    document = pymupdf.open()
    sheet = document.new_page(width=page, height=page)
    sheet.insert_image(sheet.rect, stream=data.getvalue())
    document.save(path)
    return path


@pytest.mark.parametrize("page", [600.0, 14_400.0])
def test_a_page_of_noise_fits_too_and_its_matrix_with_it(pool: PdfPool, tmp_path: Path, page: float) -> None:
    path = photograph(tmp_path / "noise.pdf", side=1_200, page=page)
    image = pool.show(path, 0)
    assert image.mime == "image/jpeg"
    assert 0.3 * SHOWN_BYTES < len(image.data) <= SHOWN_BYTES
    assert opened(image.data).size == (image.width, image.height)
    assert image.to_pixels[0] * page == pytest.approx(image.width, abs=1.5)
    detail = pool.detail(path, 0, (0, 0, 50, 50), 2_000)
    assert len(detail.data) <= 400_000
    assert detail.mime == "image/jpeg"


def test_a_page_of_text_is_shown_without_loss(pool: PdfPool, tmp_path: Path) -> None:
    path = write_pages(tmp_path / "text.pdf", [["Change the oil every 15,000 km."] * 5])
    image, lossless = pool.show(path, 0), pool.render(path, 0, dpi=120)
    assert (image.width, image.height) == (round(400 * 120 / 72 + 0.5), 500)
    assert opened(image.data).mode == "L"
    assert opened(image.data).convert("RGB").tobytes() == opened(lossless.data).tobytes()
    assert image.to_pixels == lossless.to_pixels


@pytest.mark.parametrize("box", [b"0 0 10 1000", b"0 0 1000 10", b"0 0 14400 14400", b"0 0 14400 3"])
def test_pages_of_any_shape_are_shown(pool: PdfPool, tmp_path: Path, box: bytes) -> None:
    path = tmp_path / "shape.pdf"
    path.write_bytes(one_page(b"1 0 0 rg 0 0 2 2 re f", box=box))
    image = pool.show(path, 0)
    assert len(image.data) <= SHOWN_BYTES
    assert 0 < image.width * image.height <= SHOWN_PIXELS


def test_words_come_only_where_they_are_asked_for(pool: PdfPool, tmp_path: Path) -> None:
    path = write_pages(tmp_path / "text.pdf", [["Change the oil."]])
    assert pool.show(path, 0).words == ()
    words = pool.show(path, 0, with_words=True).words
    assert [word for _, word in words] == ["Change", "the", "oil."]
    assert all(0 < x0 < x1 < 400 and 0 < y0 < y1 < 300 for (x0, y0, x1, y1), _ in words)
