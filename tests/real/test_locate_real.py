"""Quotes on real documents: found where another extractor saw them, and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.altered_numbers import Texts, altered_quotes, is_listed
from bench.span_score import score
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.types import FoundSpan, SpanQuery

MIN_HITS = 0.99
ALTERED, SEED = 80, 4


@pytest.fixture(scope="module")
def pool() -> Iterator[PdfPool]:
    with PdfPool(timeout_s=60, recycle_after=10_000) as pool:
        yield pool


@pytest.fixture(scope="module")
def spans(real_data: Path, pool: PdfPool) -> list[tuple[dict[str, Any], FoundSpan]]:
    """Every third quote of the development set with the place that was found for it."""
    lines = (real_data / "spans" / "spans_dev.jsonl").read_text(encoding="utf-8").splitlines()
    rows = sorted(map(json.loads, lines), key=lambda row: row["pdf"])[::3]
    return [
        (row, pool.locate(real_data / row["pdf"], SpanQuery(row["quote"], row["cited_page_idx"])))
        for row in rows
    ]


def test_quotes_are_placed_where_they_are(spans: list[tuple[dict[str, Any], FoundSpan]]) -> None:
    counts = score(spans)
    assert counts.total.total() > 100
    assert counts.hit_rate >= MIN_HITS, counts.missed


def test_every_page_off_by_one_is_flagged(spans: list[tuple[dict[str, Any], FoundSpan]]) -> None:
    """But if the quote is on the cited page as well: two exhibits of one filing share their text."""
    counts = score(spans)
    assert counts.off_by_one > 15
    assert counts.flagged == counts.off_by_one
    assert len(counts.twice) <= 1


def test_an_altered_number_never_passes(real_data: Path, pool: PdfPool) -> None:
    lines = (real_data / "spans" / "spans_dev.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["kind"] != "absent"]
    altered = altered_quotes(rows, ALTERED, seed=SEED, texts=Texts(real_data))
    assert len(altered) == ALTERED
    asked = sorted(altered, key=lambda each: str(each.row["pdf"]))
    found = [pool.locate(real_data / a.row["pdf"], SpanQuery(a.quote, a.cited_page_idx)) for a in asked]
    pairs = list(zip(asked, found, strict=True))
    assert [a.quote for a, span in pairs if span.status in ("exact", "normalized")] == []
    unplaced = [a for a, span in pairs if span.status == "not_found"]
    assert [a.quote for a, span in pairs if a not in unplaced and not is_listed(a, span)] == []
    assert [a.quote for a in unplaced if a.name == "whole"] == []
    assert len(unplaced) <= 0.02 * ALTERED, [a.quote for a in unplaced]


def test_absent_quotes_are_placed_nowhere(spans: list[tuple[dict[str, Any], FoundSpan]]) -> None:
    absent = [(row, found) for row, found in spans if row["kind"] == "absent"]
    assert len(absent) > 10
    assert [row["id"] for row, found in absent if found.status != "not_found" or found.rects] == []


def test_a_quote_on_another_page_than_cited_is_flagged(spans: list[tuple[dict[str, Any], FoundSpan]]) -> None:
    for row, found in spans:
        if found.page_idx is not None:
            assert found.page_mismatch == (found.page_idx != row["cited_page_idx"]), row["id"]


def test_every_gold_evidence_text_is_on_its_page(real_data: Path, pool: PdfPool) -> None:
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
        assert found.status in ("exact", "normalized"), (path.name, page_idx, found.differences)


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
                placed += found.status == "normalized" and found.page_idx == page_idx
                assert "above the text are lines that are not on the page: Company: " in found.note
    assert total > 5
    assert placed >= 0.9 * total
