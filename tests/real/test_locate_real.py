"""Quotes on real documents: found where another extractor saw them, and nowhere they do not stand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.contracts.records import Box
from core.evidence.client import PdfPool
from core.evidence.types import FoundSpan, SpanQuery

pytestmark = pytest.mark.real_data

#: Share of the quotes that must be placed, of points of a box that must lie on the truth and the reverse.
MIN_HITS, MIN_PRECISION, MIN_RECALL = 0.95, 0.8, 0.7
MIN_RECALL_WITH_GAP = 0.5
STEP = 2.0


@pytest.fixture(scope="module")
def pool() -> Iterator[PdfPool]:
    with PdfPool(timeout_s=60, recycle_after=10_000) as pool:
        yield pool


@pytest.fixture(scope="module")
def spans(real_data: Path, pool: PdfPool) -> list[tuple[dict[str, Any], FoundSpan]]:
    """Every quote of the development set with the place that was found for it."""
    lines = (real_data / "spans" / "spans_dev.jsonl").read_text(encoding="utf-8").splitlines()
    rows = sorted(map(json.loads, lines), key=lambda row: row["pdf"])
    return [
        (row, pool.locate(real_data / row["pdf"], SpanQuery(row["quote"], row["cited_page_idx"])))
        for row in rows
    ]


def points(boxes: list[Box]) -> list[tuple[float, float]]:
    """Points along the middle of each box."""
    return [
        (x0 + step * STEP, (y0 + y1) / 2)
        for x0, y0, x1, y1 in boxes
        for step in range(int((x1 - x0) / STEP) + 1)
    ]


def covered(boxes: list[Box], by: list[Box], dx: float, dy: float) -> float:
    """The share of the boxes' middle lines that lies in other boxes, grown by a margin."""
    inside = [
        any(x0 - dx <= x <= x1 + dx and y0 - dy <= y <= y1 + dy for x0, y0, x1, y1 in by)
        for x, y in points(boxes)
    ]
    return sum(inside) / max(1, len(inside))


def is_hit(row: dict[str, Any], found: FoundSpan) -> bool:
    if found.page_idx != row["page_idx"]:
        return False
    recall = MIN_RECALL_WITH_GAP if row["kind"] == "ellipsis" else MIN_RECALL
    truth, boxes = row["rects"], list(found.rects)
    return covered(boxes, truth, 2, 3) >= MIN_PRECISION and covered(truth, boxes, 1, 1) >= recall


def test_quotes_are_placed_where_they_stand(spans: list[tuple[dict[str, Any], FoundSpan]]) -> None:
    present = [(row, found) for row, found in spans if row["kind"] != "absent"]
    hits = [row for row, found in present if is_hit(row, found)]
    assert len(hits) >= MIN_HITS * len(present), f"{len(hits)} of {len(present)}"


def test_absent_quotes_are_placed_nowhere(spans: list[tuple[dict[str, Any], FoundSpan]]) -> None:
    absent = [(row, found) for row, found in spans if row["kind"] == "absent"]
    assert len(absent) > 40
    assert [row["id"] for row, found in absent if found.status != "not_found" or found.rects] == []


def test_a_quote_on_another_page_than_cited_is_flagged(spans: list[tuple[dict[str, Any], FoundSpan]]) -> None:
    for row, found in spans:
        if found.page_idx is not None:
            assert found.page_mismatch == (found.page_idx != row["cited_page_idx"]), row["id"]


def test_every_gold_evidence_text_stands_on_its_page(real_data: Path, pool: PdfPool) -> None:
    folder = real_data / "financebench"
    lines = (folder / "gold_evidence.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [
        (folder / "pdfs" / f"{evidence['doc_name']}.pdf", evidence)
        for question in map(json.loads, lines)
        for evidence in question["evidence"]
    ]
    here = [(path, evidence) for path, evidence in texts if path.exists()]
    assert len(here) == 48
    for path, evidence in here:
        page_idx = evidence["evidence_page_num"]
        found = pool.locate(path, SpanQuery(evidence["evidence_text"], page_idx))
        assert (found.page_idx, found.page_mismatch) == (page_idx, False), (path.name, page_idx, found.status)
        assert found.agreement >= 0.9


def test_chunks_with_a_header_that_is_not_on_the_page(real_data: Path, pool: PdfPool) -> None:
    folder = real_data / "financebench"
    placed = total = 0
    for line in (folder / "rag_traces.jsonl").read_text(encoding="utf-8").splitlines():
        for chunk in json.loads(line)["result"]["reranked_chunks"]:
            path = folder / "pdfs" / f"{chunk['document_id'].removesuffix('.pdf')}.pdf"
            if path.exists():
                page_idx = chunk["metadata"]["page"]
                found = pool.locate(path, SpanQuery(chunk["page_content"], page_idx))
                total += 1
                placed += found.status == "partial" and found.page_idx == page_idx
    assert total > 5
    assert placed >= 0.9 * total
