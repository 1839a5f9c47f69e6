"""The index is what its files are: built, grown, noticed when changed."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import orjson
import pyarrow
import pytest

from proofspan.contracts.records.chunk_id import sha1_8
from proofspan.contracts.records.records import TraceKey
from proofspan.manifest.types import Manifest
from proofspan.store.files.run_file import read_run_file
from proofspan.store.files.segment_files import DamagedError
from proofspan.store.index.build import build_index, index_folder, index_state
from proofspan.store.query.store import Store
from tests.unit.store_workspace import (
    ENVELOPE,
    RUN,
    append,
    built,
    lines,
    manifest_of,
    q_ids,
    table_of,
    trace,
    write_workspace,
)

#: The columns of what a trace's gold makes of it.
JUDGED = (
    *("q_type", "answerable", "refused", "unranked", "bucket", "section_rank", "top_rank"),
    *("section_coverage", "recall_1", "recall_5", "recall_10", "recall_20", "recall_50"),
    *("ndcg_10", "reciprocal_rank", "citation_precision", "citation_recall", "anchor_coverage"),
)


def test_a_row_holds_what_its_line_and_its_label_say(tmp_path: Path, cache: Path) -> None:
    record = trace("Q1") | {"ok": False, "ΔS": 0.25, "λ": "→", "latency_ms": 900, **ENVELOPE}
    manifest = write_workspace(tmp_path, {RUN: [{"q": "not a question yet", "answer": 3}, record]})
    build_index(manifest, cache_dir=cache)
    (row,) = table_of(manifest, RUN, cache)
    first = orjson.dumps({"q": "not a question yet", "answer": 3})
    assert row | {"why": "", "q_folded": "", "answer": "", "answer_folded": ""} == {
        "q_id": "Q1",
        "paraphrase": 0,
        "seed": 0,
        "repeat": 1,
        "q": "What holds the oil filter?",
        "answer": "",
        "q_folded": "",
        "answer_folded": "",
        "label": "ok",
        "severity": 4,
        "why": "",
        "rank1_section": "4.2",  # from the chunk file: the trace names only ids
        "rank1_doc": "manual",
        "rank1_stage": "chunks",
        "docs": ["manual"],
        "candidates": 2,
        "cited": 1,
        "cited_retrieved": 1,
        "cited_resolved": 1,
        "uncited": None,
        "query_coverage": 1.0,
        "answer_coverage": 1.0,
        "numbers_unsupported": [],
        "suspicions": ["ok_contradicts"],
        "codes": [],
        "memory": f"{sha1_8('r7')}:{sha1_8('sha256:' + '07' * 32)}",
        "offset_unit": None,
        "answer_print": row["answer_print"],  # see test_store_late
        "stored_label": None,
        "llm_summary": None,
        "citations": b'{"payload":[],"ids_in_text":["c1"],"chunks":[{"id":"c1"}]}',
        "settings": [],
        "ok": False,
        "delta_s": 0.25,
        "lambda_state": "convergent",
        "latency_ms": 900.0,
        "gold_state": None,
        "gold_severity": None,
        "gold_is_refusal": None,
        "gold_seen_rank": None,
        "gold_retrieved_rank": None,
        "gold_retrieved_stage": None,
        **dict.fromkeys(JUDGED),
        "refused": False,
        "unranked": "no_gold",
        "cited_print": sha1_8("c1"),
        "safety_omitted": None,
        "about": ["manual#section=4.2", "manual#section=4", "manual"],
        "line": 2,
        "offset": len(first) + 1,
        "length": len(orjson.dumps(record)),
    }


def test_an_unchanged_run_is_fresh_and_nothing_is_read(tmp_path: Path, cache: Path, reads: list[str]) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("Q1")]})
    assert index_state(manifest, RUN, cache) == "missing"
    build_index(manifest, cache_dir=cache)
    reads.clear()
    assert index_state(manifest, RUN, cache) == "fresh"
    (run,) = build_index(manifest, cache_dir=cache).runs
    assert (run.was, run.lines_read, run.rows, reads) == ("fresh", 0, 1, [])


def test_a_grown_file_is_read_on_from_where_it_ended(tmp_path: Path, cache: Path, reads: list[str]) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("Q1"), b"", trace("Q2")]})
    build_index(manifest, cache_dir=cache)
    reads.clear()
    append(manifest, lines([trace("Q3")]))
    assert index_state(manifest, RUN, cache) == "growing"
    (run,) = build_index(manifest, cache_dir=cache).runs
    assert (reads, run.lines_read, run.rows) == (["Q3"], 1, 3)
    assert [row["line"] for row in table_of(manifest, RUN, cache)] == [1, 3, 4]


def test_a_line_still_being_written_waits(tmp_path: Path, cache: Path, reads: list[str]) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("Q1")]})
    second = orjson.dumps(trace("Q2"))
    append(manifest, second[:40])
    (run,) = build_index(manifest, cache_dir=cache).runs
    assert (run.rows, run.waiting_bytes, run.line_issues) == (1, 40, 0)
    assert index_state(manifest, RUN, cache) == "fresh"
    reads.clear()
    append(manifest, second[40:] + b"\n")
    (run,) = build_index(manifest, cache_dir=cache).runs
    assert (reads, run.rows, run.waiting_bytes) == (["Q2"], 2, 0)


@pytest.mark.parametrize("change", ["shrunk", "head", "tail", "same size"])
def test_a_file_that_changed_is_indexed_again(tmp_path: Path, cache: Path, change: str) -> None:
    records = [trace(f"Q{number}", answer="x" * 40_000) for number in range(5)]
    manifest = write_workspace(tmp_path, {RUN: records})
    build_index(manifest, cache_dir=cache)
    if change == "shrunk":
        records = records[:3]
    elif change == "head":
        records = [trace("Q9"), *records]
    elif change == "tail":
        records = [*records[:4], trace("Q8"), trace("Q9", answer="y" * 40_000)]
    else:
        records[2] = trace("Q9", answer="x" * 40_000)
    path = tmp_path / "runs" / f"{RUN}.jsonl"
    path.write_bytes(lines(records))
    os.utime(path, ns=(1, 1))
    assert index_state(manifest, RUN, cache) == "stale"
    build_index(manifest, cache_dir=cache)
    assert q_ids(manifest, cache) == [record["q_id"] for record in records]
    assert index_state(manifest, RUN, cache) == "fresh"


def test_only_files_that_are_needed_stay(tmp_path: Path, cache: Path) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("Q1"), b"nonsense"]})
    build_index(manifest, cache_dir=cache)
    folder = index_folder(manifest, RUN, cache)
    (folder / ".part-left-behind").write_bytes(b"a process died")
    (tmp_path / "runs" / f"{RUN}.jsonl").write_bytes(lines([trace("Q2")]))
    build_index(manifest, cache_dir=cache)
    run_file = read_run_file(folder)
    assert run_file is not None
    assert {path.name for path in folder.iterdir()} == run_file.files() | run_file.marks() | {"lock"}


def test_a_reader_goes_on_while_the_index_is_replaced(tmp_path: Path, cache: Path) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("Q1")]})
    store = built(manifest, cache)
    old = store._kept.loaded(RUN)
    (tmp_path / "runs" / f"{RUN}.jsonl").write_bytes(lines([trace("Q2"), trace("Q3")]))
    build_index(manifest, cache_dir=cache)
    assert store.total(RUN) == 2
    assert store._kept.loaded(RUN) is not old
    with pytest.raises(DamagedError):
        old.table(["latency_ms"])  # never a column of another state beside the old ones


def test_repeats_are_numbered_in_the_order_of_the_file(tmp_path: Path, cache: Path) -> None:
    records = [trace("Q1"), trace("Q2"), trace("Q1"), trace("Q1", seed=1), trace("Q1")]
    manifest = write_workspace(tmp_path, {RUN: records})
    build_index(manifest, cache_dir=cache)
    rows = table_of(manifest, RUN, cache)
    assert [row["repeat"] for row in rows] == [1, 1, 2, 1, 3]
    assert [row["suspicions"] for row in rows] == [[], [], ["duplicate_question"], [], ["duplicate_question"]]
    append(manifest, lines([trace("Q2")]))
    build_index(manifest, cache_dir=cache)
    assert [row["repeat"] for row in table_of(manifest, RUN, cache)] == [1, 1, 2, 1, 3, 2]


def with_report(folder: Path, records: list[dict[str, object]], rows: list[object]) -> Manifest:
    write_workspace(folder, {RUN: records})
    (folder / "runs" / "report.jsonl").write_bytes(lines(rows))
    run = {"run_id": RUN, "traces": {"path": "runs/R1.jsonl"}, "report": {"path": "runs/report.jsonl"}}
    return manifest_of(folder, chunks={"path": "chunks.jsonl"}, runs=[run])


def test_a_stored_report_joins_by_id_then_by_place(tmp_path: Path, cache: Path, reads: list[str]) -> None:
    q = trace("")["q"]
    rows: list[object] = [
        {"q_id": "Q2", "q": q, "label": "ok"},
        {"q": q, "label": "retrieval_drift"},
        {"q": q, "label": "ok"},
        {"q_id": "Q7", "q": "never asked", "label": "ok"},
        b"broken",
    ]
    manifest = with_report(tmp_path, [trace("Q1"), trace("Q2"), trace("Q3")], rows)
    (run,) = build_index(manifest, cache_dir=cache).runs
    found = table_of(manifest, RUN, cache)
    assert [row["stored_label"] for row in found] == ["retrieval_drift", "ok", "ok"]
    assert [row["suspicions"] for row in found] == [["report_stale"], [], []]
    assert [(issue.code, issue.source.line) for issue in run.issues] == [
        ("not_json", 5),
        ("report_row_unmatched", 4),
    ]
    reads.clear()
    (tmp_path / "runs" / "report.jsonl").write_bytes(lines([{"q_id": "Q1", "q": q, "label": "ok"}]))
    build_index(manifest, cache_dir=cache)
    assert [row["stored_label"] for row in table_of(manifest, RUN, cache)] == ["ok", None, None]
    assert reads == []  # the report alone was read again


def test_the_summary_of_the_report_counts_before_that_of_the_trace(tmp_path: Path, cache: Path) -> None:
    traces = [trace("Q1", llm_summary="own"), trace("Q2", llm_summary="own"), trace("Q3", llm_summary=7)]
    rows = [{"q_id": "Q1", "q": "?", "label": "ok", "llm_summary": "of the report"}]
    manifest = with_report(tmp_path, traces, rows)
    store = built(manifest, cache)
    assert [row["llm_summary"] for row in table_of(manifest, RUN, cache)] == ["of the report", "own", None]
    found = store.find(TraceKey(RUN, "Q1"))
    assert found is not None and found.row["llm_summary"] == "of the report"


def test_a_run_with_a_report_and_no_traces_opens_on_it(tmp_path: Path, cache: Path) -> None:
    manifest = with_report(
        tmp_path,
        [],
        [{"q": "Why?", "label": "ok", "why": "fine", "chunks": ["c1"], "llm_summary": "s"}, b"x"],
    )
    run = {"run_id": RUN, "report": {"path": "runs/report.jsonl"}}
    manifest = manifest_of(tmp_path, chunks={"path": "chunks.jsonl"}, runs=[run])
    store = built(manifest, cache)
    (row,) = table_of(manifest, RUN, cache)
    assert (row["label"], row["why"], row["candidates"], row["line"]) == ("ok", "fine", 1, 1)
    assert row["llm_summary"] == "s"
    facts = store.run_facts(RUN)
    assert (facts.from_report, facts.file, facts.line_issues) == (True, "runs/report.jsonl", 1)


def test_a_packed_file_is_read_to_its_end(tmp_path: Path, cache: Path) -> None:
    write_workspace(tmp_path, {RUN: []})
    packed = tmp_path / "runs" / "R1.jsonl.gz"
    packed.write_bytes(gzip.compress(lines([trace("Q1"), trace("Q2")])[:-1]))
    run = {"run_id": RUN, "traces": {"path": "runs/R1.jsonl.gz"}}
    manifest = manifest_of(tmp_path, chunks={"path": "chunks.jsonl"}, runs=[run])
    (report,) = build_index(manifest, cache_dir=cache).runs
    assert (report.rows, report.waiting_bytes) == (2, 0)
    assert index_state(manifest, RUN, cache) == "fresh"
    packed.write_bytes(gzip.compress(lines([trace("Q3")])))
    build_index(manifest, cache_dir=cache)
    assert q_ids(manifest, cache) == ["Q3"]


def zstd(data: bytes) -> bytes:
    """The data packed as a `.zst` file is."""
    packed = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(packed, "zstd") as out:
        out.write(data)
    return bytes(packed.getvalue())


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_packed_reports_are_read_as_plain_ones(
    tmp_path: Path, cache: Path, pack: Callable[[bytes], bytes]
) -> None:
    name = f"runs/report.jsonl.{'gz' if pack is gzip.compress else 'zst'}"
    rows = [{"q_id": "Q1", "q": "Which oil?", "label": "refusal_ok"}, {"q_id": "Q9", "q": "?", "label": "ok"}]
    write_workspace(tmp_path, {RUN: [trace("Q1")]})
    (tmp_path / name).write_bytes(pack(lines(rows)))
    run = {"run_id": RUN, "traces": {"path": "runs/R1.jsonl"}, "report": {"path": name}}
    manifest = manifest_of(tmp_path, chunks={"path": "chunks.jsonl"}, runs=[run])
    store = built(manifest, cache)
    (row,) = table_of(manifest, RUN, cache)
    assert row["stored_label"] == "refusal_ok"
    assert [(issue.code, issue.file) for issue in store.line_issues(RUN).itertuples()] == [
        ("report_row_unmatched", name)
    ]
    assert index_state(manifest, RUN, cache) == "fresh"
    (tmp_path / name).write_bytes(pack(lines(rows[:1])) + pack(b"\n"))
    assert index_state(manifest, RUN, cache) == "stale"
    (tmp_path / name).write_bytes(b"no archive at all")
    build_index(manifest, cache_dir=cache)
    assert any("cannot be unpacked" in problem.message for problem in store.run_facts(RUN).problems)


def test_a_changed_profile_has_an_index_of_its_own(tmp_path: Path, cache: Path) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("Q1", answer="The oil filter holds 4 litres.")]})
    other = manifest_of(
        tmp_path,
        chunks={"path": "chunks.jsonl"},
        runs=[{"run_id": RUN, "traces": {"path": "runs/R1.jsonl"}}],
        triage={"template": "none"},
    )
    assert built(manifest, cache).run_facts(RUN).suggestion is not None
    assert built(other, cache).run_facts(RUN).suggestion is None
    assert [row["label"] for row in table_of(other, RUN, cache)] == ["ok"]
    assert index_state(manifest, RUN, cache) == "fresh"


def test_a_trace_file_under_another_name_is_indexed_under_it(tmp_path: Path, cache: Path) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("Q1"), b"no json"]})
    build_index(manifest, cache_dir=cache)
    (tmp_path / "runs" / f"{RUN}.jsonl").rename(tmp_path / "moved.jsonl")
    named = manifest_of(
        tmp_path,
        chunks={"path": "chunks.jsonl"},
        runs=[{"run_id": RUN, "traces": {"path": "moved.jsonl"}}],
    )
    build_index(named, cache_dir=cache)
    store = Store(named, cache)
    assert store.run_facts(RUN).file == "moved.jsonl"
    assert set(store.line_issues(RUN)["file"]) == {"moved.jsonl"}
