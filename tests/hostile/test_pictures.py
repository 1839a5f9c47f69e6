"""Hostile pictures cost the request that asked for them: a clear reason, and the next picture is drawn."""

from __future__ import annotations

import gzip
import os
import struct
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from proofspan.errors import EvidenceFault
from proofspan.evidence.pdf.files import MAX_BYTES
from proofspan.evidence.pdf.pictures import MAX_PIXELS, MAX_SIDE
from proofspan.evidence.pdf.pool import PdfPool
from tests.pictures import SIGNATURE, chunk, opened, png_of, saved, two_colours

pytestmark = pytest.mark.slow

GOOD = saved(two_colours(), "PNG")
JPEG = saved(two_colours(), "JPEG")
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
#: Metadata of 64 MB that compresses to 64 kB, in a picture of one pixel.
BLANKS = zlib.compress(b" " * 2**22)
TEXT_BOMB = png_of(1, 1, *(chunk(b"zTXt", b"a%d\0\0" % n + BLANKS) for n in range(16)))
PROFILE_BOMB = png_of(1, 1, chunk(b"iCCP", b"a\0\0" + zlib.compress(b" " * 2**26)))
#: A frame of four thousand million pixels, of which three are there.
VAST_GIF = b"".join(
    (
        b"GIF89a" + struct.pack("<HHBBB", 65_535, 65_535, 0, 0, 0),
        b"," + struct.pack("<HHHHB", 0, 0, 65_535, 65_535, 0),
        b"\x02\x02\x44\x01\0;",
    )
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "picture.png"


def refused(pool: PdfPool, file: Path) -> str:
    """The code with which a picture is refused; the pool draws a good one afterwards."""
    with pytest.raises(EvidenceFault) as error:
        pool.picture(file)
    (problem,) = error.value.problems
    assert problem.message
    assert problem.fix
    assert problem.where == str(file)
    beside = file.with_name("good.png")
    beside.write_bytes(GOOD)
    assert pool.picture(beside).width == 40
    return problem.code


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (SVG, "svg_not_drawn"),
        (b'\xef\xbb\xbf <?xml version="1.0"?>\n<!-- ' + b"a" * 900 + b" -->" + SVG, "svg_not_drawn"),
        (gzip.compress(SVG, mtime=0), "not_a_picture"),
        (b"<!DOCTYPE html><html><img src=http://example.org></html>", "not_a_picture"),
        (b"%PDF-1.7\n", "not_a_picture"),
        (b"BM" + bytes(60), "not_a_picture"),
        (b"RIFF\0\0\0\0WAVE", "not_a_picture"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n", "not_a_picture"),
        (b"", "not_a_picture"),
        (SIGNATURE, "picture_broken"),
        (SIGNATURE + SVG, "picture_broken"),
        (GOOD[: len(GOOD) // 2], "picture_broken"),
        (GOOD[:-30], "picture_broken"),
        (JPEG[: len(JPEG) // 2], "picture_broken"),
        (saved(two_colours(), "WEBP")[:60], "picture_broken"),
        (saved(two_colours(), "GIF")[:30], "picture_broken"),
        (png_of(0, 5), "picture_broken"),
        (png_of(2**31 - 1, 1), "too_large"),
        (png_of(100_000, 100_000), "too_large"),
        (png_of(6_325, 6_325), "too_large"),
        (VAST_GIF, "too_large"),
        (TEXT_BOMB, "picture_broken"),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{len(value)}-bytes",
)
def test_what_is_no_sound_picture_is_refused(pool: PdfPool, file: Path, data: bytes, code: str) -> None:
    file.write_bytes(data)
    assert refused(pool, file) == code


def test_a_colour_profile_that_unpacks_to_far_too_much_is_not_unpacked(pool: PdfPool, file: Path) -> None:
    file.write_bytes(PROFILE_BOMB)
    assert refused(pool, file) == "picture_broken"


def test_a_file_of_more_than_twenty_megabytes_is_not_read(pool: PdfPool, file: Path) -> None:
    with file.open("wb") as out:
        out.write(GOOD)
        out.truncate(MAX_BYTES + 1)
    assert refused(pool, file) == "too_large"


def test_a_folder_a_pipe_a_missing_and_a_locked_file(pool: PdfPool, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.png"
    os.mkfifo(pipe)
    (tmp_path / "folder").mkdir()
    assert refused(pool, pipe) == "not_a_file"
    assert refused(pool, tmp_path / "folder") == "not_a_file"
    assert refused(pool, tmp_path / "none.png") == "missing"


def test_the_largest_picture_that_is_allowed_is_drawn(file: Path) -> None:
    side = 6_324
    assert side * side < MAX_PIXELS < (side + 1) ** 2
    file.write_bytes(saved(Image.new("RGBA", (side, side), (9, 9, 9, 128)), "PNG", compress_level=1))
    with PdfPool(workers=1) as pool:
        for _ in range(2):
            picture = pool.picture(file)
            assert (picture.width, picture.height) == (MAX_SIDE, MAX_SIDE)


def test_a_narrow_picture_keeps_a_pixel(pool: PdfPool, file: Path) -> None:
    file.write_bytes(saved(Image.new("L", (30_000, 1), 200), "PNG"))
    picture = pool.picture(file)
    assert (picture.width, picture.height) == (MAX_SIDE, 1)


def test_what_comes_out_holds_nothing_of_what_went_in(pool: PdfPool, file: Path) -> None:
    """No text, no profile, no bytes after the end: pixels alone are written."""
    notes = chunk(b"tEXt", b"Comment\0<script>alert(1)</script>")
    file.write_bytes(GOOD[:33] + notes + GOOD[33:] + b"<script>")
    png = pool.picture(file).data
    assert b"script" not in png
    assert opened(png).info == {}


def test_a_worker_that_runs_out_of_memory_is_replaced(file: Path) -> None:
    file.write_bytes(saved(Image.new("RGBA", (6_000, 6_000), (9, 9, 9, 128)), "PNG", compress_level=1))
    with PdfPool(workers=1, memory_bytes=420 * 1024**2) as pool:
        assert refused(pool, file) in {"too_large", "crashed"}


def test_a_picture_that_takes_too_long_costs_its_worker_alone(file: Path) -> None:
    file.write_bytes(saved(Image.effect_noise((4_000, 4_000), 90), "PNG", compress_level=1))
    with PdfPool(workers=1, timeout_s=0.1) as pool:
        with pytest.raises(EvidenceFault) as error:
            pool.picture(file)
        assert error.value.problems[0].code == "timed_out"
        assert pool.process_ids(), "another one stands by"


@given(
    st.sampled_from([GOOD, JPEG, saved(two_colours(), "WEBP"), saved(two_colours(), "GIF")]),
    st.lists(st.tuples(st.integers(0, 2_000), st.integers(0, 255)), max_size=6),
    st.integers(0, 200),
)
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
def test_damaged_pictures_are_drawn_or_refused(
    pool: PdfPool, tmp_path: Path, data: bytes, changes: list[tuple[int, int]], cut: int
) -> None:
    damaged = bytearray(data[: len(data) - cut])
    for place, value in changes:
        if damaged:
            damaged[place % len(damaged)] = value
    file = tmp_path / "damaged"
    file.write_bytes(damaged)
    try:
        assert pool.picture(file).data.startswith(SIGNATURE)
    except EvidenceFault as fault:
        assert fault.problems[0].code in {"picture_broken", "not_a_picture", "too_large"}
