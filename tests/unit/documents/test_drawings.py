"""Rendering a `render_ref`: regions of pages and picture files, or the reason why not."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from proofspan.evidence.geometry import box_to_pixels
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.pdf.render import MARGIN, Sheet, region
from proofspan.manifest.types import Artifact, Document, Manifest
from proofspan.recent import Recent
from proofspan.services.documents.document_cache import Placer
from proofspan.services.documents.drawings import Drawing, draw
from tests.pdf_files import one_page, write_pages
from tests.pictures import BLUE, RED, WHITE, opened, saved, two_colours

DPI = 144


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Manifest:
    folder = tmp_path_factory.mktemp("workspace")
    write_pages(folder / "manual.pdf", [["Never reach under the car."], ["Second page."]])
    (folder / "notes.md").write_text("notes")
    (folder / "cut.pdf").write_bytes(b"%PDF-1.7\n")
    (folder / "media").mkdir()
    documents = (
        Document("manual", Artifact("documents[0]", "manual.pdf")),
        Document("manual, 2nd ed.", Artifact("documents[1]", "manual.pdf")),
        Document("notes", Artifact("documents[2]", "notes.md"), paged=False),
        Document("gone", Artifact("documents[3]", "gone.pdf")),
        Document("cut", Artifact("documents[4]", "cut.pdf")),
    )
    return Manifest("m", folder, documents=documents, attachments_root="media")


def drawn(render_ref: str | None, manifest: Manifest, pool: PdfPool) -> Drawing:
    return draw(render_ref, manifest=manifest, placer=Placer(pool))


def file_drawn(data: bytes, manifest: Manifest, pool: PdfPool) -> Image.Image:
    (manifest.folder / "media/picture").write_bytes(data)
    drawing = drawn("file:picture", manifest, pool)
    assert drawing.problem is None
    assert drawing.png is not None
    image = opened(drawing.png)
    assert (image.size, image.mode) == ((drawing.width, drawing.height), "RGB")
    return image


def near(image: Image.Image, at: tuple[int, int], colour: tuple[int, int, int]) -> bool:
    found: Any = image.getpixel(at)
    return all(abs(a - b) < 12 for a, b in zip(found, colour, strict=True))


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("crop", [None, (30.0, 20.0, 380.0, 280.0)])
def test_a_region_is_what_the_page_shows_there(
    pool: PdfPool, tmp_path: Path, rotation: int, crop: tuple[float, float, float, float] | None
) -> None:
    """To the pixel what the whole page shows in that box, turned and cropped as the page is."""
    lines = ["Never reach under the car", "while it stands on a jack."]
    path = write_pages(tmp_path / "a.pdf", [lines], rotation=rotation, crop=crop)
    box = (18.0, 30.0, 170.0, 64.0)
    page, clip = pool.render(path, 0, dpi=DPI), pool.clip(path, 0, box, dpi=DPI)
    margin = MARGIN * DPI / 72
    x0, y0, x1, y1 = box_to_pixels(page.to_pixels, box)
    area = (round(x0 - margin), round(y0 - margin), round(x1 + margin), round(y1 + margin))
    expected = opened(page.data).crop(area)
    assert (clip.width, clip.height) == expected.size
    assert opened(clip.data).tobytes() == expected.tobytes()
    assert expected.getextrema() != ((255, 255),) * 3, "the region holds text"


def test_a_region_at_the_edge_is_drawn_without_margin_beyond_it(pool: PdfPool, manifest: Manifest) -> None:
    drawing = drawn("pdf:manual#page_idx=0&bbox=0,0,400.4,300", manifest, pool)
    assert (drawing.width, drawing.height, drawing.page_idx) == (800, 600, 0)


def test_a_document_whose_name_holds_more_than_letters(pool: PdfPool, manifest: Manifest) -> None:
    assert drawn("pdf:manual, 2nd ed.#page_idx=1&bbox=1,2,30,40", manifest, pool).png is not None


def test_a_large_region_is_drawn_with_fewer_dots(pool: PdfPool, tmp_path: Path) -> None:
    path = tmp_path / "large.pdf"
    path.write_bytes(one_page(b"", box=b"0 0 14000 9000"))
    clip = pool.clip(path, 0, (0, 0, 14_000, 9_000), max_pixels=1_000_000)
    assert 0.95e6 < clip.width * clip.height <= 1e6


turns = st.sampled_from([(1, 0, 0, 1), (0, 1, -1, 0), (-1, 0, 0, -1), (0, -1, 1, 0)])
sides = st.floats(1, 14_400)
shares = st.tuples(st.floats(0, 0.9), st.floats(0, 0.9), st.floats(0.001, 1), st.floats(0.001, 1))


@given(sides, sides, turns, shares, st.integers(1_000, 4_000_000))
def test_a_region_stays_on_the_page_holds_its_box_and_has_no_more_pixels_than_allowed(
    width: float,
    height: float,
    turn: tuple[int, int, int, int],
    share: tuple[float, float, float, float],
    max_pixels: int,
) -> None:
    a, b, c, d = turn
    across, down = (width, height) if a else (height, width)
    sheet = Sheet(width, height, (a, b, c, d, width * (a + c < 0), height * (b + d < 0)), "a.pdf", 0)
    x0, y0 = share[0] * across, share[1] * down
    box = (x0, y0, x0 + share[2] * (across - x0), y0 + share[3] * (down - y0))
    drawn = region(sheet, box, dpi=DPI, max_pixels=max_pixels)
    left, top, right, bottom = drawn.area
    assert 0 <= left < right <= width
    assert 0 <= top < bottom <= height
    shown = box_to_pixels(sheet.turned, box)
    assert all(edge <= side + 1e-6 for edge, side in zip(drawn.area[:2], shown[:2], strict=True))
    assert all(edge >= side - 1e-6 for edge, side in zip(drawn.area[2:], shown[2:], strict=True))
    scale = drawn.to_pixels[0]
    assert 0 < scale <= DPI / 72
    assert math.ceil((right - left) * scale) * math.ceil((bottom - top) * scale) <= max_pixels


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF"])
def test_each_kind_of_picture_file(pool: PdfPool, manifest: Manifest, kind: str) -> None:
    image = file_drawn(saved(two_colours(), kind), manifest, pool)
    assert image.size == (40, 20)
    assert near(image, (5, 10), RED)
    assert near(image, (35, 10), BLUE)


@pytest.mark.parametrize("mode", ["1", "L", "P", "LA", "RGBA"])
def test_every_mode_of_png_becomes_rgb(pool: PdfPool, manifest: Manifest, mode: str) -> None:
    grey = Image.new("L", (40, 20), 0)
    grey.paste(255, (20, 0, 40, 20))
    image = file_drawn(saved(grey.convert(mode), "PNG"), manifest, pool)
    assert near(image, (5, 10), (0, 0, 0))
    assert near(image, (35, 10), WHITE)


@pytest.mark.parametrize("width", [40, 2_000])
def test_mid_grey_of_sixteen_bits_stays_mid_grey(pool: PdfPool, manifest: Manifest, width: int) -> None:
    picture = Image.new("I;16", (width, 20), 0x8000)
    assert near(file_drawn(saved(picture, "PNG"), manifest, pool), (5, 10), (128, 128, 128))


def test_print_colours(pool: PdfPool, manifest: Manifest) -> None:
    image = file_drawn(saved(two_colours(mode="CMYK"), "JPEG", quality=95), manifest, pool)
    assert near(image, (35, 10), BLUE)


def test_what_is_transparent_shows_white_paper(pool: PdfPool, manifest: Manifest) -> None:
    picture = two_colours(mode="RGBA")
    picture.paste((0, 0, 0, 0), (0, 0, 20, 20))
    image = file_drawn(saved(picture, "PNG"), manifest, pool)
    assert near(image, (5, 10), WHITE)
    assert near(image, (35, 10), BLUE)


def test_a_large_picture_is_made_smaller_in_proportion(pool: PdfPool, manifest: Manifest) -> None:
    assert file_drawn(saved(two_colours(3_200, 800), "PNG"), manifest, pool).size == (1_600, 400)


def test_a_photograph_taken_upright_stays_upright(pool: PdfPool, manifest: Manifest) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned a quarter clockwise
    image = file_drawn(saved(two_colours(), "JPEG", exif=exif, quality=95), manifest, pool)
    assert image.size == (20, 40)
    assert near(image, (10, 5), RED)
    assert near(image, (10, 35), BLUE)


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_of_a_moving_picture_the_first_frame(pool: PdfPool, manifest: Manifest, kind: str) -> None:
    frames = [Image.new("RGB", (30, 20), colour) for colour in (RED, BLUE)]
    data = saved(frames[0], kind, save_all=True, append_images=frames[1:])
    assert near(file_drawn(data, manifest, pool), (15, 10), RED)


REFUSED = [
    (None, "nothing_to_draw"),
    ("", "render_ref_unreadable"),
    ("javascript:alert(1)", "render_ref_unreadable"),
    ("https://example.org/a.png", "render_ref_unreadable"),
    ("pdf:manual", "render_ref_unreadable"),
    ("pdf:manual#page_idx=-1&bbox=1,2,3,4", "render_ref_unreadable"),
    ("pdf:manual#page_idx=3.5&bbox=1,2,3,4", "render_ref_unreadable"),
    ("pdf:manual#page_idx=0&bbox=3,2,1,4", "render_ref_unreadable"),
    ("pdf:manual#page_idx=0&bbox=nan,2,3,4", "render_ref_unreadable"),
    ("file:" + "a" * 2_000, "path_refused"),
    ("file:", "path_refused"),
    ("file:../manual.pdf", "path_refused"),
    ("file:a/../../manual.pdf", "path_refused"),
    ("file:/etc/passwd", "path_refused"),
    ("file:a\0.png", "path_refused"),
    ("file:C:\\a.png", "path_refused"),
    ("file:\ud800.png", "path_refused"),
    ("file:none.png", "missing"),
    ("file:" + "a" * 300, "unreadable"),
    ("file:.", "path_refused"),
    ("pdf:other#page_idx=0&bbox=1,2,3,4", "document_not_listed"),
    ("pdf:\ud800#page_idx=0&bbox=1,2,3,4", "document_not_listed"),
    ("pdf:notes#page_idx=0&bbox=1,2,3,4", "not_paged"),
    ("pdf:gone#page_idx=0&bbox=1,2,3,4", "missing"),
    ("pdf:cut#page_idx=0&bbox=1,2,3,4", "not_a_pdf"),
    ("pdf:manual#page_idx=2&bbox=1,2,3,4", "page_out_of_range"),
    ("pdf:manual#page_idx=9999999&bbox=1,2,3,4", "page_out_of_range"),
    ("pdf:manual#page_idx=0&bbox=500,10,600,20", "box_off_page"),
    ("pdf:manual#page_idx=0&bbox=10,10,390,301", "box_off_page"),
]


@pytest.mark.parametrize(("render_ref", "code"), REFUSED)
def test_what_cannot_be_drawn_says_why_and_what_to_do(
    pool: PdfPool, manifest: Manifest, render_ref: str | None, code: str
) -> None:
    drawing = drawn(render_ref, manifest, pool)
    assert drawing.png is None
    assert drawing.problem is not None
    assert drawing.problem.code == code
    assert drawing.problem.message
    assert drawing.problem.fix


def test_a_page_is_known_even_where_it_cannot_be_drawn(pool: PdfPool, manifest: Manifest) -> None:
    assert drawn("pdf:gone#page_idx=7&bbox=1,2,3,4", manifest, pool).page_idx == 7


def test_a_link_that_leaves_the_folder_is_not_followed(pool: PdfPool, manifest: Manifest) -> None:
    (manifest.folder / "secret.png").write_bytes(saved(two_colours(), "PNG"))
    (manifest.folder / "media/link.png").symlink_to(manifest.folder / "secret.png")
    problem = drawn("file:link.png", manifest, pool).problem
    assert problem is not None
    assert problem.code == "path_outside"


def test_without_a_folder_of_pictures(pool: PdfPool, tmp_path: Path) -> None:
    problem = drawn("file:a.png", Manifest("m", tmp_path), pool).problem
    assert problem is not None
    assert problem.code == "no_attachments_root"
    missing = drawn("file:a.png", Manifest("m", tmp_path, attachments_root="media"), pool).problem
    assert missing is not None
    assert missing.code == "missing"


@pytest.mark.slow
@given(st.text(max_size=60) | st.from_regex(r"(file|pdf):.{0,40}(#page_idx=[0-9]&bbox=[0-9.,]{0,20})?"))
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
def test_any_text_at_all_gives_a_picture_or_a_reason(
    pool: PdfPool, manifest: Manifest, render_ref: str
) -> None:
    drawing = drawn(render_ref, manifest, pool)
    assert (drawing.png is None) != (drawing.problem is None)


def test_a_drawing_is_remembered_until_its_file_changes(manifest: Manifest) -> None:
    asked = []

    class Counting(PdfPool):
        def picture(self, path: Path) -> Any:
            asked.append(path.name)
            return super().picture(path)

    file = manifest.folder / "media/kept.png"
    file.write_bytes(saved(two_colours(), "PNG"))
    with Counting(workers=1) as pool:
        placer = Placer(pool)
        first = draw("file:kept.png", manifest=manifest, placer=placer)
        assert draw("file:kept.png", manifest=manifest, placer=placer) == first
        assert asked == ["kept.png"]
        file.write_bytes(saved(two_colours(60), "PNG"))
        assert draw("file:kept.png", manifest=manifest, placer=placer).width == 60


def test_what_is_remembered_is_bounded_by_weight() -> None:
    recent: Recent[bytes] = Recent(10, weigh=len)
    for key, value in (("a", b"1234"), ("b", b"1234"), ("a", b"12"), ("c", b"1234")):
        recent.put(key, value)
    assert (recent.get("a"), recent.get("b"), recent.get("c")) == (b"12", b"1234", b"1234")
    recent.put("d", b"1")
    assert (recent.get("a"), recent.get("b"), recent.get("d")) == (None, b"1234", b"1")
    recent.put("too heavy", b"1" * 11)
    assert recent.get("too heavy") is None
    recent.put("e", b"1" * 10)
    assert recent.get("e") == b"1" * 10
