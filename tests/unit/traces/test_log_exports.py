"""Runs as log lines and as the table `rag_traces`, and read again as a run."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import duckdb
import orjson
import pyarrow.parquet as pq
import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from proofspan.cli.workspace.export_cmd import command
from proofspan.contracts.records.records import SourceLine, Trace
from proofspan.store.query.rag_traces import rag_traces, sql_dump, table_row
from proofspan.traces.records.trace_record import trace_from
from proofspan.traces.records.traces import iter_traces
from proofspan.traces.separate.join_cache import trace_file
from proofspan.traces.separate.log_lines import (
    COLUMNS,
    LogRecord,
    format_log_line,
    log_records,
    parse_log_line,
    record_of_row,
    row_of,
)
from tests.unit.store_workspace import lines, manifest_of, trace, write_workspace

pytestmark = pytest.mark.slow

PAYLOAD = [
    {"id": "c1", "section_id": "4.2", "index_hash": "faiss:2f7d", "score_raw": 0.9, "k_pos": 2, "k_final": 1},
    {"id": "c2", "section_id": "4.3", "index_hash": "faiss:2f7d"},
]
STAGES = {
    "retrieved": [{"id": "c2", "score": 0.8}, {"id": "c1", "score": 0.7}],
    "reranked": [{"id": "c1", "score": 3}, {"id": "c2", "score": 2}],
}
FULL = trace("Q1", ts="2026-02-23T12:22:59+02:00", ΔS=0.37, λ="→", citations=PAYLOAD, stages=STAGES)
SEGMENTS = [{"seg": 1, "citations": ["c1"], "ΔS": 0.2}, {"citations": [{"id": "c3", "rev": "7"}]}]
BARE = trace("Q2", segments=SEGMENTS)


def read(record: dict[str, Any]) -> Trace:
    found = trace_from(record, SourceLine("t", 1, 0, 1), run_id="R1")
    assert isinstance(found, Trace), found
    return found


def test_a_trace_as_log_records() -> None:
    (record,) = log_records(read(FULL), pinned={"analyzer": "lowercase", "index_hash": "other:1"})
    assert record == LogRecord(
        "Q1",
        ts="2026-02-23T12:22:59+02:00",
        seg=1,
        delta_s=0.37,
        lambda_state="convergent",
        store="faiss",
        index_hash="2f7d",
        analyzer="lowercase",
        citations=("c1", "c2"),
        scores=(0.9, 0.8),
        kpos=(2, 1),
        kfinal=(1, 2),
    )


def test_canonical_ids_have_their_alias_in_the_log() -> None:
    chunk_id = "manual|r=8c1e9a02|s=2.4.1|p=002|b=007"
    (record,) = log_records(read(trace("Q1", citations=["c1", chunk_id], segments=None)))
    line = format_log_line(record)
    assert line.endswith("aliases=[null,#s02-04-01#p002-b007]") and f"citations=[c1,{chunk_id}]" in line
    assert parse_log_line(line) == (record, ())
    (without,) = log_records(read(trace("Q1", citations=["c1"])))
    assert without.aliases is None


def test_each_segment_is_a_record_and_ids_of_the_text_will_do() -> None:
    first, second = log_records(read(BARE))
    assert (first.seg, first.citations, first.delta_s) == (1, ("c1",), 0.2)
    assert (second.seg, second.citations, second.rev, second.delta_s) == (2, ("c3",), "7", None)
    (record,) = log_records(read(trace("Q3")))
    assert (record.citations, record.scores, record.kpos, record.kfinal) == (("c1",), None, (1,), None)


@pytest.mark.parametrize(
    ("fields", "ks"),
    [
        ({"k": 10}, [10, 10]),
        ({"k": None, "retrieved": {"ranker": "bm25", "k": 50}}, [50, 50]),
        ({"stages": {"retrieved": {"k": 20, "items": [{"id": "c1"}]}}}, [20, 20]),
        ({"k": 10, "segments": [{"k": 5, "citations": ["c1"]}, {"citations": ["c2"]}]}, [5, 10]),
        ({"k": "10"}, [7, 7]),
        ({}, [7, 7]),
    ],
)
def test_k_is_written_where_it_was_logged(fields: dict[str, Any], ks: list[int]) -> None:
    segments = [{"citations": ["c1"]}, {"citations": ["c2"]}]
    found = read(trace("Q1", **{"segments": segments, **fields}))
    assert [record.k for record in log_records(found, pinned={"k": 7})] == ks


@pytest.mark.parametrize("second", ["k=5 ", "k=10 ", ""])
def test_a_log_with_k_is_written_again_as_it_was(tmp_path: Path, second: str) -> None:
    """A segment that logs no k gets none from the one before it."""
    first = "ts=2025-08-28 qid=Q1 seg=1 deltaS=0.37 lambda=convergent k=10 store=faiss"
    rest = f"ts=2025-08-28 qid=Q1 seg=2 deltaS=0.4 lambda=convergent {second}store=faiss"
    log = "".join(f"{line} citations=[c1] section_id=4.2\n" for line in (first, rest))
    (tmp_path / "run.log").write_text(log)
    write_workspace(tmp_path, {"R1": [FULL]})
    manifest = tmp_path / "pipeline_manifest.yaml"
    given = yaml.safe_load(manifest.read_text())
    given["runs"] = [{"run_id": "R2", "records": {"log": {"path": "run.log"}}}]
    manifest.write_text(yaml.safe_dump(given))
    export(tmp_path, "log", tmp_path / "again.log")
    assert (tmp_path / "again.log").read_text() == log


_TEXT = st.none() | st.text(max_size=6) | st.sampled_from(["'", "''); DROP TABLE x; --", "\0", "\n", "\\"])
_RECORDS = st.builds(
    LogRecord,
    qid=st.text(min_size=1, max_size=6),
    ts=st.none() | st.datetimes().map(str),
    seg=st.none() | st.integers(1, 9),
    delta_s=st.none() | st.floats(0, 2, width=32),
    lambda_state=st.none() | st.sampled_from(["convergent", "own"]),
    store=_TEXT,
    section_id=_TEXT,
    citations=st.none() | st.lists(st.text(max_size=4), max_size=2).map(tuple),
    kpos=st.none() | st.lists(st.none() | st.integers(1, 9), max_size=2).map(tuple),
)


@given(st.lists(_RECORDS, max_size=3))
def test_the_sql_loads_whatever_it_holds(records: Sequence[LogRecord]) -> None:
    rows = [table_row(record)[0] for record in records]
    script = "".join(sql_dump(rows, nullable={"ts", "seg", "deltaS", "lambda_state"}))
    with sqlite3.connect(":memory:") as base:
        base.executescript(script)
        found = base.execute("SELECT qid, store, citations, kpos FROM rag_traces ORDER BY rowid").fetchall()
    expected = [tuple(row[name] for name in ("qid", "store", "citations", "kpos")) for row in rows]
    assert found == [tuple(_loaded(value) for value in row) for row in expected]


def _loaded(value: object) -> object:
    return value.replace("\0", "\ufffd") if isinstance(value, str) else value


def test_the_view_has_the_page_s_names_and_types() -> None:
    records = [record for each in (FULL, BARE) for record in log_records(read(each))]
    rows = [table_row(record)[0] for record in records]
    reported = rag_traces(rows, "DESCRIBE rag_traces").to_pylist()
    types = {row["column_name"]: row["column_type"] for row in reported}
    assert tuple(types) == tuple(COLUMNS)
    assert {name: types[name] for name in ("ts", "qid", "seg", "deltaS", "citations", "kfinal")} == {
        "ts": "TIMESTAMP",
        "qid": "VARCHAR",
        "seg": "INTEGER",
        "deltaS": "FLOAT",
        "citations": "JSON",
        "kfinal": "JSON",
    }
    assert rag_traces(rows).column("qid").to_pylist() == ["Q1", "Q2", "Q2"]
    first = rag_traces(rows, "SELECT kpos->>0 AS rank, CAST(ts AS TEXT) AS ts FROM rag_traces LIMIT 1")
    assert first.to_pylist() == [{"rank": "2", "ts": "2026-02-23 10:22:59"}]
    assert rag_traces([]).num_rows == 0


def test_what_the_table_cannot_hold_is_null_and_a_finding() -> None:
    row, findings = table_row(LogRecord("Q1", ts="yesterday", seg=1 << 40, delta_s=1e300))
    assert (row["ts"], row["seg"], row["deltaS"], row["lambda_state"]) == (None, None, None, None)
    assert [finding.code for finding in findings] == [
        *("bad_ts", "bad_seg", "bad_delta_s"),
        "missing_lambda_state",
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace whose run has a whole trace, one with segments, a paraphrase and a bad line."""
    folder = tmp_path_factory.mktemp("export")
    write_workspace(folder, {"R1": [FULL, BARE, trace("Q1", paraphrase=1), b"{"]})
    return folder


def export(folder: Path, kind: str, output: Path, *options: str) -> tuple[int, str]:
    arguments = [kind, str(folder), "-o", str(output), "--cache-dir", str(output.parent / "cache"), *options]
    result = CliRunner().invoke(command, arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stderr


def test_rows_are_written_as_jsonl_and_what_they_lack_is_reported(folder: Path, tmp_path: Path) -> None:
    code, message = export(folder, "rag_traces", tmp_path / "rows.jsonl")
    rows = [orjson.loads(line) for line in (tmp_path / "rows.jsonl").read_bytes().splitlines()]
    assert [(row["qid"], row["seg"], row["ts"]) for row in rows] == [
        ("Q1", 1, "2026-02-23T12:22:59+02:00"),
        ("Q2", 1, None),
        ("Q2", 2, None),
    ]
    assert list(rows[0]) == list(COLUMNS)
    assert code == 1
    for words in ("missing_ts", "2 of 3 rows", "missing_delta_s", "1 of 3 rows", "missing_lambda_state"):
        assert words in message
    assert "1 line could not be read" in message
    assert "1 paraphrases, seeds and repeats are left out" in message


def test_a_line_that_is_declared_unreadable_is_a_note(tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    write_workspace(folder, {"R1": [FULL, b"{"]})
    manifest = folder / "pipeline_manifest.yaml"
    given = yaml.safe_load(manifest.read_text())
    given["runs"][0]["traces"]["unreadable_lines"] = 1
    manifest.write_text(yaml.safe_dump(given))
    code, message = export(folder, "log", tmp_path / "run.log")
    assert (code, "as declared" in message) == (0, True)


def test_the_sql_file_loads_into_duckdb(folder: Path, tmp_path: Path) -> None:
    assert export(folder, "rag_traces", tmp_path / "rows.sql", "--all-variants")[0] == 1
    with duckdb.connect() as base:
        base.execute((tmp_path / "rows.sql").read_text())
        found = base.execute("SELECT qid, kpos->>0, ts IS NULL FROM rag_traces ORDER BY qid, seg").fetchall()
        nullable = base.execute("SELECT column_name, is_nullable FROM information_schema.columns").fetchall()
    assert found == [("Q1", "2", False), ("Q1", "1", True), ("Q2", "1", True), ("Q2", None, True)]
    assert {name for name, can in nullable if can == "NO"} == {"qid", "seg"}


def test_parquet_has_the_view_s_types(folder: Path, tmp_path: Path) -> None:
    export(folder, "rag_traces", tmp_path / "rows.parquet")
    table = pq.read_table(tmp_path / "rows.parquet")
    assert [str(table.schema.field(name).type) for name in ("ts", "seg", "deltaS", "citations")] == [
        *("timestamp[us]", "int32"),
        *("float", "string"),
    ]
    assert table.num_rows == 3


@pytest.mark.parametrize(("kind", "name"), [("log", "run.log"), ("rag_traces", "rows.jsonl")])
def test_what_was_written_is_a_run_again(folder: Path, tmp_path: Path, kind: str, name: str) -> None:
    code, _ = export(folder, kind, tmp_path / name)
    assert code == 1  # the line that could not be read
    run = {"run_id": "R9", "records": {kind: {"path": name}}}
    (tmp_path / "gold.jsonl").write_bytes(lines([{"q_id": "Q1", "q": "What?"}]))
    manifest = manifest_of(tmp_path, runs=[run], gold={"path": "gold.jsonl"})
    found = trace_file(manifest, manifest.runs[0], cache_dir=tmp_path / "cache")
    assert found.path is not None
    again = [each for each in iter_traces(found.path, file="", run_id="R9") if isinstance(each, Trace)]
    assert [(each.q_id, each.q) for each in again] == [("Q1", "What?"), ("Q2", "")]
    was = [record for each in (FULL, BARE) for record in log_records(read(each))]
    assert [record for each in again for record in log_records(each)] == was


@given(_RECORDS)
def test_rows_and_lines_hold_the_same(record: LogRecord) -> None:
    of_row = record_of_row(row_of(record))  # an empty text is no name there
    assert parse_log_line(format_log_line(of_row))[0] == of_row


def test_another_suffix_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="csv") as raised:
        CliRunner().invoke(
            command, ["rag_traces", str(folder), "-o", str(tmp_path / "rows.csv")], catch_exceptions=False
        )
    assert not isinstance(raised.value, click.ClickException)
