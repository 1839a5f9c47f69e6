"""Pages and documents of any shape, through the worker and onto the page: in time, and in bounds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pymupdf
import pytest

from proofspan.evidence.pdf.pool import SHOWN_BYTES, PdfPool
from proofspan.evidence.text.page_index import MAX_SEARCHED, searched
from proofspan.evidence.types import SpanQuery
from proofspan.manifest.types import Artifact, Document, Manifest
from proofspan.services.documents.document_cache import Placer
from proofspan.services.page.shapes import Layer
from proofspan.services.page.target import Target
from proofspan.services.page.text_under import MAX_TEXTS
from proofspan.services.page.view import PageView, locate_view
from proofspan.services.page.zoom import detail_of
from tests.pdf_files import handmade, one_page, stream

pytestmark = pytest.mark.slow

QUOTE = "Change the oil every 15,000 km."
LONG_DOCUMENT = 10_000


@pytest.fixture(scope="module")
def pool() -> Iterator[PdfPool]:
    with PdfPool() as pool:
        yield pool


def write_long(path: Path, count: int = LONG_DOCUMENT) -> Path:
    """A document of very many pages, each with its number; the first eight are labelled i to viii."""
    labels = b"/PageLabels<</Nums[0<</S/r>>8<</S/D>>]>>"
    font = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
    pages = [
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 300]/Resources<</Font<</F 3 0 R>>>>/Contents %d 0 R>>"
        % (4 + count + number)
        for number in range(count)
    ]
    text = b"BT /F 10 Tf 40 200 Td (On page %d the valve is tightened to %d Nm.) Tj ET"
    texts = [stream(text % (number, number + 3)) for number in range(count)]
    kids = b" ".join(b"%d 0 R" % (4 + number) for number in range(count))
    tree = b"<</Type/Pages/Count %d/Kids[%s]>>" % (count, kids)
    path.write_bytes(handmade([b"<</Type/Catalog/Pages 2 0 R%s>>" % labels, tree, font, *pages, *texts]))
    return path


def write_page(
    path: Path, width: float, height: float, *, rotation: int = 0, crop: tuple | None = None
) -> Path:
    """One page with the quote near its upper left corner, as large as the page allows."""
    document = pymupdf.open()
    page = document.new_page(width=width, height=height)
    box = crop or (0, 0, width, height)
    size = max(1.0, min(box[2] - box[0], box[3] - box[1]) / 20)
    if height > 10 * width:
        page.insert_text((box[0] + 6, box[1] + 40 * size), QUOTE, fontsize=4, rotate=270)
    else:
        page.insert_text((box[0] + size, box[1] + 2 * size), QUOTE, fontsize=size)
    if crop is not None:
        page.set_cropbox(pymupdf.Rect(crop))
    page.set_rotation(rotation)
    document.save(path)
    return path


def view(path: Path, pool: PdfPool, *targets: Target, page: int | None = None) -> PageView:
    manifest = Manifest("m", path.parent, documents=(Document("d", Artifact("documents[d]", path.name)),))
    return locate_view(targets[0], targets, manifest=manifest, placer=Placer(pool), page=page)


def target(quote: str = QUOTE, page_idx: int | None = 0, *, rank: int = 0) -> Target:
    """The first citation, or the chunk of a `rank`."""
    kind: Layer = "retrieved" if rank else "cited"
    return Target(kind, rank or 1, "d", SpanQuery(quote, page_idx), chunk_id=str(rank))


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize(
    ("width", "height", "crop"),
    [
        (14_400, 14_400, None),
        (10, 1_000, None),
        (1_000, 10, None),
        (612, 792, (100, 50, 500, 700)),
        (14_400, 300, (14_000, 10, 14_390, 290)),
    ],
)
def test_the_quote_is_boxed_and_can_be_copied_and_magnified(
    pool: PdfPool, tmp_path: Path, width: float, height: float, crop: tuple | None, rotation: int
) -> None:
    shown = view(write_page(tmp_path / "d.pdf", width, height, rotation=rotation, crop=crop), pool, target())
    assert shown.problem is None
    assert shown.image is not None and len(shown.image.data) <= SHOWN_BYTES
    assert shown.texts["cite:1"].split() == QUOTE.split()
    (span,) = shown.spans
    assert all(left >= 0 and left + across <= 100.01 for left, _, across, _ in span.rects)
    assert all(top >= 0 and top + down <= 100.01 for _, top, _, down in span.rects)
    detail = detail_of(Placer(pool), shown, (0.0, 0.0, 50.0, 50.0), 800)
    assert detail is not None and len(detail.data) <= 400_000


def test_a_page_without_text_is_shown_with_nothing_on_it(pool: PdfPool, tmp_path: Path) -> None:
    path = tmp_path / "scan.pdf"
    path.write_bytes(one_page(b"0.5 g 20 20 100 100 re f"))
    shown = view(path, pool, target())
    assert shown.image is not None and shown.chosen is not None
    assert (shown.chosen.status, shown.spans, shown.texts) == ("not_found", (), {})
    assert "no text" in shown.chosen.note


def test_ten_thousand_pages(pool: PdfPool, tmp_path: Path) -> None:
    path = write_long(tmp_path / "long.pdf")
    text = "On page 9000 the valve is tightened to 9003 Nm."
    shown = view(path, pool, target(text, 9_000))
    assert (shown.page_count, shown.page_idx, shown.printed) == (LONG_DOCUMENT, 9_000, "8993")
    assert shown.chosen is not None and shown.chosen.status == "exact"
    assert shown.image is not None and len(shown.image.data) < 30_000
    first, last = (view(path, pool, target(text, 9_000), page=page) for page in (3, LONG_DOCUMENT - 1))
    assert (first.printed, last.printed) == ("iv", "9992")
    beyond = view(path, pool, target(text, 9_000), page=LONG_DOCUMENT)
    assert beyond.problem is not None and beyond.problem.code == "page_out_of_range"
    nearby = pool.locate(path, SpanQuery(text, 9_400))
    assert (nearby.page_idx, nearby.page_mismatch) == (9_000, True)
    nowhere = pool.locate(path, SpanQuery("The stars of the southern sky rise late in winter.", 500))
    assert nowhere.status == "not_found"
    assert "only page_idx 0 to 1999 of the document's 10000 pages were searched" in nowhere.note


@pytest.mark.parametrize("count", [1, MAX_SEARCHED, MAX_SEARCHED + 1, LONG_DOCUMENT])
@pytest.mark.parametrize("cited", [None, 0, 999, 1_000, 5_432, LONG_DOCUMENT - 1])
def test_the_pages_around_the_cited_one_are_searched(count: int, cited: int | None) -> None:
    pages = searched(count, cited)
    assert pages[0] >= 0 and pages[-1] < count
    assert len(pages) == min(count, MAX_SEARCHED)
    if cited is not None and cited < count:
        assert cited in pages
        assert pages[0] == 0 or cited - pages[0] >= 700
        assert pages[-1] == count - 1 or pages[-1] - cited >= 700


def test_two_thousand_boxes_on_one_page(pool: PdfPool, tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page(width=1_200, height=1_600)
    for row in range(200):
        numbers = range(10 * row, 10 * row + 10)
        row_text = "   ".join(f"valve{number} turns left{number}" for number in numbers)
        page.insert_text((20, 12 + 7.8 * row), row_text, fontsize=6)
    document.save(tmp_path / "d.pdf")
    targets = [target(f"valve{number} turns left{number}", rank=number) for number in range(2_000)]
    shown = view(tmp_path / "d.pdf", pool, *targets)
    assert len(shown.spans) == 2_000
    assert sum(map(len, shown.texts.values())) <= MAX_TEXTS + 100
    assert shown.texts["cite:1"] == "valve0 turns left0"


@pytest.mark.parametrize("stands_there", [True, False])
def test_a_quote_of_fifty_kilobytes(pool: PdfPool, tmp_path: Path, stands_there: bool) -> None:
    lines = [" ".join(f"word{row * 11 + place}" for place in range(11)) for row in range(600)]
    document = pymupdf.open()
    page = document.new_page(width=1_000, height=8_000)
    for row, line in enumerate(lines):
        page.insert_text((30, 30 + 13 * row), line, fontsize=8)
    document.save(tmp_path / "d.pdf")
    text = " ".join(lines) if stands_there else " ".join(f"other{number}" for number in range(6_000))
    assert len(text) > 50_000
    shown = view(tmp_path / "d.pdf", pool, target(text))
    assert shown.problem is None and shown.chosen is not None
    assert "only the first 20,000 characters" in shown.chosen.note
    assert bool(shown.chosen.rects) == stands_there
