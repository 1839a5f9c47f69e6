"""Citations of rows, columns and cells of real tables: placed on the named cells, and on no others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.cell_score import shares
from proofspan.evidence.pdf.pool import PdfPool

#: The least share of each wording that is placed right.
LEAST = {
    "row": 0.99, "md_row": 0.99, "md_table": 0.95, "column": 0.95, "label_value": 0.95,
    "label_colon_value": 0.95, "label_head_value": 0.90, "prose": 0.90, "altered": 0.97, "shuffled": 1.0,
}  # fmt: skip


@pytest.fixture(scope="module")
def pool() -> Iterator[PdfPool]:
    with PdfPool(timeout_s=60, recycle_after=10_000) as pool:
        yield pool


def test_cited_cells_are_placed(real_data: Path, pool: PdfPool) -> None:
    placed = shares(real_data / "tables", "cells_dev.jsonl", pool)
    assert sum(of for _, of in placed.values()) > 900
    found = {kind: right / of for kind, (right, of) in placed.items()}
    assert {kind: share for kind, share in found.items() if share < LEAST[kind]} == {}
