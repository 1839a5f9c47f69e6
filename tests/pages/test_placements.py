"""The index's located citations on the Question page."""

from __future__ import annotations

from typing import Any

import pandas as pd

from proofspan.contracts.records.records import GoldSpan, TraceKey
from proofspan.evidence.types import IndexedSpan
from proofspan.ui.question import load
from proofspan.ui.wording.citation import first_step, gold_line

KEY = TraceKey("R1", "Q1")
ROW: dict[str, Any] = {
    "q_id": "Q1", "paraphrase": 0, "seed": 0, "repeat": 1, "number": 1, "chunk_id": "c1",
    "status": "exact", "page_idx": 7, "page_mismatch": False, "agreement": 1.0, "numbers_differ": False,
}  # fmt: skip


def rows(*changes: dict[str, Any]) -> pd.DataFrame:
    """Rows with the column types that the store gives."""
    frame = pd.DataFrame([{**ROW, **change} for change in changes])
    return frame.astype({"page_idx": "Int64", "page_mismatch": "boolean", "numbers_differ": "boolean"})


def test_a_question_has_its_own_citations_and_those_alone() -> None:
    known = rows({}, {"number": 2, "q_id": "Q2"}, {"number": 3, "seed": 1}, {"number": 4, "repeat": 2})
    assert load.indexed_citations(known, KEY) == {"cite:1": IndexedSpan("exact", 7, False, 1.0)}
    assert load.indexed_citations(None, KEY) == {}


def test_what_was_not_looked_for_has_no_status() -> None:
    unplaced = {"status": "not_placed", "page_idx": None, "page_mismatch": None, "agreement": None}
    assert load.indexed_citations(rows({**unplaced, "numbers_differ": None}), KEY) == {}


def test_a_text_without_pages_has_a_status_and_no_page() -> None:
    found = load.indexed_citations(rows({"page_idx": None, "page_mismatch": None}), KEY)
    assert found == {"cite:1": IndexedSpan("exact", None, False, 1.0)}


def test_a_number_that_differs_contradicts_its_citation_although_the_index_does_not_record_which() -> None:
    found = load.indexed_citations(rows({"status": "fuzzy", "agreement": 0.9, "numbers_differ": True}), KEY)
    assert (found["cite:1"].numbers_differ, found["cite:1"].differences) == (True, ())
    assert gold_line(GoldSpan("manual", 7, ""), found["cite:1"]).is_wrong
    assert "citation 1 has another number" in (first_step([(1, found["cite:1"])]) or "")


def test_each_trace_that_cites_a_chunk_is_named_once_with_its_first_citation() -> None:
    known = rows({"number": 2}, {"number": 3}, {"q_id": "Q2"}, {"q_id": "Q3", "chunk_id": "c2"})
    assert load.citing(known, "c1", run_id="R1") == {KEY: 2, TraceKey("R1", "Q2"): 1}
    assert load.citing(None, "c1", run_id="R1") == {}
