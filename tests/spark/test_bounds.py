"""Limits of a worker: memory of rows that wait, and time for a page, a document and a quote."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pytest

from proofspan.errors import Problem
from proofspan.evidence.locate_bulk import MAX_FAULTS
from proofspan.evidence.text.page_text import PageText
from proofspan.evidence.text.word_file import write_words
from proofspan.evidence.types import DocumentInfo, SpanQuery
from proofspan.services.passes.placed_rows import cited_document
from proofspan.spark import documents, layout, places, segments
from proofspan.spark.labels import LabelRecords, inputs_of
from proofspan.spark.places import LocateQuotes
from proofspan.spark.segments import WriteSegments
from proofspan.store.index.labelling import labeller_for
from tests.pdf_files import page_text
from tests.unit.store_workspace import CHUNKS, RUN, lines, manifest_of, trace

CRASHED = Problem("crashed", "the PDF worker crashed", "manual.pdf", "replace it")


def labelling(out: Path) -> LabelRecords:
    """An unfinished output with the chunks of the tests."""
    out = layout.begin(out)
    (out / layout.CORPUS / "chunks.jsonl").write_bytes(lines(CHUNKS))
    entries = {"manifest_version": "1.0", "name": "w", "chunks": {"path": f"{layout.CORPUS}/chunks.jsonl"}}
    manifest = layout.write_unfinished(out, {**entries, "runs": []})
    labeller_for(inputs_of(manifest, "", out / layout.WORK))
    return LabelRecords(out / layout.UNFINISHED, out / layout.WORK, RUN)


def batch_of(first: int, count: int) -> pa.RecordBatch:
    """Records whose labels alternate."""
    answers = ("The oil filter holds 4 litres.\ncitations: [c1]", "not in context", "It holds 9 bar.")
    records = [
        orjson.dumps(trace(f"Q{n}", answer=answers[n % 3], note="x" * 500))
        for n in range(first, first + count)
    ]
    columns = [records, ["file"] * count, [0] * count, list(range(first, first + count)), [RUN] * count]
    names = ("record", "place_file", "place_block", "place_row", "run_id")
    return pa.record_batch([*map(pa.array, columns)], names=names)


def test_rows_that_wait_are_bounded_by_bytes_and_keep_nothing_else_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = labelling(tmp_path / "out")
    labelled = list(label(batch_of(first, 200) for first in range(0, 1_000, 200)))
    assert all(batch.get_total_buffer_size() < 2 * batch.nbytes for batch in labelled)
    assert len({batch.column("folder")[0].as_py() for batch in labelled}) >= 2
    most = 4 * max(batch.nbytes for batch in labelled)
    monkeypatch.setattr(segments, "SEGMENT_BYTES", most)
    written = WriteSegments(tmp_path / "out", label).written(iter(labelled))
    rows = [row for batch in written for row in batch.to_pylist() if row["row"] < 0]
    assert sum(row["rows"] for row in rows) == 1_000
    assert len(rows) >= sum(batch.nbytes for batch in labelled) / most
    row_bytes = sum(batch.nbytes for batch in labelled) / 1_000
    assert max(row["rows"] for row in rows) * row_bytes <= 1.5 * most


class Pages:
    """A pool that crashes on some pages, and takes `seconds` for each request."""

    def __init__(self, bad: Sequence[int], seconds: float = 0.0) -> None:
        self.bad, self.seconds, self.asked = set(bad), seconds, 0

    def words_each(self, path: Path, pages: Sequence[int]) -> Iterator[PageText | Problem]:
        time.sleep(self.seconds)
        for page_idx in pages[:4]:
            self.asked += 1
            yield CRASHED if page_idx in self.bad else page_text(f"page {page_idx}")
            if page_idx in self.bad:
                return


def read(pool: Any, count: int) -> list[bool]:
    found = list(documents.pages_of(pool, Path("manual.pdf"), count))
    assert len(found) == count
    return [isinstance(page, PageText) for page in found]


def test_a_document_that_crashes_its_worker_is_given_up_after_a_few_pages() -> None:
    assert read(Pages([1, 7]), 10) == [n not in (1, 7) for n in range(10)]
    pool = Pages(range(3, 100))
    assert read(pool, 1_000) == [True] * 3 + [False] * 997
    assert pool.asked == 3 + MAX_FAULTS


def test_a_document_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "DOCUMENT_S", 0.01)
    monkeypatch.setattr(documents, "MORE_S", 0.0)
    found = list(documents.pages_of(Pages([], 0.02), Path("manual.pdf"), 9))  # type: ignore[arg-type]
    assert [isinstance(page, PageText) for page in found] == [True] * 4 + [False] * 5
    assert {page.code for page in found[4:] if isinstance(page, Problem)} == {"timed_out"}


def test_a_quote_that_takes_too_long_costs_its_own_time_only_a_few_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "manual.pdf").write_bytes(b"%PDF-1.7")
    manifest = manifest_of(tmp_path, documents=[{"doc_id": "manual", "path": "manual.pdf"}])
    file = documents.words_file(tmp_path, cited_document(manifest, "manual"))
    file.parent.mkdir()
    write_words(file, DocumentInfo(1), [page_text("Torque the bolts to 30 Nm.")])
    queries = [SpanQuery(f"slow {n}" if n else "Torque the bolts to 30 Nm.", 0) for n in range(20)]
    quotes = {
        "doc_id": ["manual"] * 20,
        "asked": [b"%02d" % n for n in range(20)],
        "query": [orjson.dumps(query).decode() for query in queries],
    }
    calls, real = [], places.located

    def slow(query: SpanQuery, pages: Any) -> Any:
        if query.quote.startswith("slow"):
            calls.append(query)
            time.sleep(5)
        return real(query, pages)

    monkeypatch.setattr(places, "located", slow)
    monkeypatch.setattr(places, "TIMEOUT_S", 0.05)
    find = LocateQuotes(tmp_path / "pipeline_manifest.yaml", tmp_path)
    rows = find(pa.table(quotes)).to_pylist()
    assert [row["status"] for row in rows] == ["exact"] + [None] * 19
    assert [row["code"] for row in rows] == [None] + ["timed_out"] * 19
    assert len(calls) == MAX_FAULTS
