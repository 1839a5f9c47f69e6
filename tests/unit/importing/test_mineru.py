"""MinerU's content list as a source of pages and boxes: every box holds the text that it was given with."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from proofspan.contracts.records.records import Chunk
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.types import FoundSpan, SpanQuery
from proofspan.manifest.load import load_manifest
from proofspan.traces.importers.mapped import MAPPED
from proofspan.traces.importers.workspace import ImportReport, import_source
from proofspan.traces.records.chunks import read_chunks
from tests.places import CHECKOUT, DEMO

MAPPING = CHECKOUT / "data" / "mappings" / "mineru.yaml"
MANUAL = DEMO / "corpus" / "meridian-2026.pdf"
#: Pages of the manual: text, a table, one cropped, one set sideways, one in Japanese, one without text.
PAGES = (1, 62, 63, 85, 87, 91, 11)


def blocks(page: pymupdf.Page) -> list[dict[str, Any]]:
    """A page as MinerU would list it: blocks of text with boxes in thousandths of the displayed page."""
    width, height = page.rect.width, page.rect.height
    listed = []
    for x0, y0, x1, y1, text, *_ in page.get_text("blocks"):
        box = pymupdf.Rect(x0, y0, x1, y1) * page.rotation_matrix
        sides = zip(box, (width, height, width, height), strict=True)
        bbox = [round(1000 * side / whole) for side, whole in sides]
        listed.append({"type": "text", "text": " ".join(text.split()), "bbox": bbox, "page_idx": page.number})
    return listed


@pytest.fixture(scope="module")
def content_list() -> list[dict[str, Any]]:
    with pymupdf.open(MANUAL) as document:
        listed = [block for page_idx in PAGES for block in blocks(document[page_idx])]
    picture = {"type": "image", "img_path": "images/car.jpg", "image_caption": [], "bbox": [80, 60, 920, 940]}
    table = {"type": "table", "table_body": "<table><tr><td>2.3</td></tr></table>", "bbox": [1, 1, 9, 9]}
    return [*listed, {**picture, "page_idx": 11}, {**table, "page_idx": 63}]


def imported(folder: Path, listed: list[dict[str, Any]]) -> tuple[ImportReport, dict[str, Chunk]]:
    source, workspace = folder / "manual_content_list.json", folder / "workspace"
    source.write_text(json.dumps(listed), encoding="utf-8")
    shutil.copy(MANUAL, folder / "manual.pdf")
    report = import_source(MAPPED, source, workspace=workspace, files={"mapping": MAPPING})
    manifest = load_manifest(workspace)
    assert [document.doc_id for document in manifest.documents] == ["manual"] * bool(report.chunks)
    chunks, issues = read_chunks(workspace / "corpus" / "chunks.jsonl", file="chunks.jsonl")
    assert issues == []
    return report, chunks


def found(pool: PdfPool, chunk: Chunk) -> FoundSpan:
    return pool.locate(
        MANUAL, SpanQuery(chunk.text, chunk.page_idx, box=chunk.box, box_space=chunk.box_space)
    )


def test_every_block_is_placed_in_its_own_box(
    pool: PdfPool, tmp_path: Path, content_list: list[dict[str, Any]]
) -> None:
    report, chunks = imported(tmp_path, content_list)
    assert report.chunks == len(chunks) > 100
    assert not report.has_findings
    assert {chunk.box_space for chunk in chunks.values()} == {"per_mille"}
    places = {chunk_id: found(pool, chunk) for chunk_id, chunk in chunks.items()}
    bare = {chunk_id for chunk_id, chunk in chunks.items() if not any(map(str.isalnum, chunk.text))}
    assert [chunk_id for chunk_id, place in places.items() if place.status == "not_found"] == sorted(bare)
    assert [id for id, place in places.items() if place.box_agrees is not True and id not in bare] == []
    assert not any(place.page_mismatch for place in places.values())


def test_what_has_no_text_is_counted_and_left_out(tmp_path: Path, content_list: list[dict[str, Any]]) -> None:
    report, _ = imported(tmp_path, content_list)
    assert next(count.absent for count in report.fields if count.key == "chunks.text") == 2


def test_a_box_of_another_block_does_not_agree(
    pool: PdfPool, tmp_path: Path, content_list: list[dict[str, Any]]
) -> None:
    first, second, *_ = [b for b in content_list if b["page_idx"] == 62 and len(b["text"]) > 200]
    swapped = [{**first, "bbox": second["bbox"]}]
    _, chunks = imported(tmp_path, swapped)
    (place,) = (found(pool, chunk) for chunk in chunks.values())
    assert (place.status, place.box_agrees) == ("exact", False)
    assert second["text"][:60] in place.note


def test_a_list_without_text_makes_no_chunks(tmp_path: Path) -> None:
    report, chunks = imported(tmp_path, [{"type": "image", "page_idx": 0, "bbox": [0, 0, 1, 1]}])
    assert chunks == {}
    assert [problem.code for problem in report.problems] == ["no_chunks"]


@pytest.mark.parametrize("bbox", [None, [1, 2, 3], [1, 2, 3, "x"], "1 2 3 4", [1, 2, 3, None], {}])
def test_an_invalid_box_is_counted_and_left_out(tmp_path: Path, bbox: object) -> None:
    listed = [{"type": "text", "text": "Owner's manual", "page_idx": 0, "bbox": bbox}]
    report, chunks = imported(tmp_path, listed)
    assert report.has_findings
    assert [(chunk.box, chunk.box_space) for chunk in chunks.values()] == [(None, None)]
