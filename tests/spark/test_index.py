"""An index by Spark is the local one: rows, claims and codes over the run, for every kind of source."""

from __future__ import annotations

import base64
import os
import shutil
import signal
import string
import struct
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from proofspan.contracts.records.records import LineIssue
from proofspan.errors import Fault, InputFault, StoreFault
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest
from proofspan.services.passes.checking import check_runs
from proofspan.store.index.build import build_index, index_folder, index_state
from proofspan.store.query.filters import Filter
from proofspan.store.query.indexed_run import IndexedRun
from proofspan.store.query.store import Store
from proofspan.traces.records.traces import iter_traces
from tests.spark.same_index import rows_of
from tests.unit.store_workspace import CHUNKS, ENVELOPE, lines, trace, write_workspace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RUN = "R1"
#: Chunks that no record names, on a cited page, and on and beside a page of gold.
ON_PAGES = [
    {"chunk_id": f"c{page + 2}", "doc_id": "manual", "page": page, "text": text}
    for page, text in (
        (7, "The belt lasts 900 hours."),
        (6, "The tank takes 70 litres."),
        (5, "Check the belt every 900 hours, and its tank of 70 litres."),
        (8, "The belt lasts 100 hours."),
    )
]


def records() -> list[Any]:
    """Traces that show what depends on the whole run, and lines that are none."""
    found: list[Any] = [
        trace(f"Q{n}", answer=f"It holds {n} litres.\ncitations: [c1]", latency_ms=100 + n) for n in range(40)
    ]
    found += [trace("Q3"), trace("Q3", answer="not in context"), trace("Q4", q="Another?", **ENVELOPE)]
    found += [trace(f"E{n}", **ENVELOPE) for n in range(3)] + [trace("E9", **{**ENVELOPE, "mem_rev": "r8"})]
    found += [trace("S1", scores={"faith": 0.5, "tone": "good"}), trace("S2", scores={"faith": 0.25})]
    found += [trace("U1", answer="Überall 4 l — “zitiert”.\ncitations: [c1]"), trace("N1", chunks=None)]
    found += [trace("P1", answer="The belt lasts 900 hours.", citations=[{"doc_id": "manual", "page": 7}])]
    found += [trace("P2", answer="Its tank takes 70 litres, and the belt lasts 900 hours.")]
    found += [trace("N2", chunks=[{"id": None}, {"id": "c1"}]), b"{", b'{"q": 3}', b"", b"\xff\xfe"]
    return found


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Manifest:
    """A workspace with one run, indexed and checked here."""
    folder = tmp_path_factory.mktemp("local")
    gold = {
        "q_id": "Q5",
        "q": "What holds the oil filter?",
        "answerable": True,
        "chunks": ["c1"],
        "sections": ["4.2"],
    }
    manifest = write_workspace(folder, {RUN: records()}, gold={"path": "gold.jsonl"})
    span = {"doc_id": "manual", "page": 8, "quote": "The belt lasts 100 hours."}
    of_page = gold | {"q_id": "P2", "chunks": ["c8"], "spans": [span]}
    others = [gold | {"q_id": "Q6", "chunks": [], "sections": ["4"]}, of_page]
    (folder / "gold.jsonl").write_bytes(lines([gold, *others]))
    (folder / "chunks.jsonl").write_bytes(lines([*CHUNKS, *ON_PAGES]))
    build_index(manifest, cache_dir=folder / "cache", workers=1)
    list(check_runs(manifest, [RUN], cache_dir=folder / "cache"))
    return manifest


@pytest.fixture(scope="module")
def out(workspace: Manifest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same by Spark, from JSONL."""
    from proofspan import spark as by_spark

    folder = tmp_path_factory.mktemp("out") / "index"
    traces = workspace.folder / "runs" / f"{RUN}.jsonl"
    report = by_spark.index(traces, out=folder, workspace=workspace.folder, run_id=RUN, spark=spark)
    assert report.traces == {RUN: 52}
    assert report.line_issues == {RUN: 5}
    return folder


def test_rows_claims_and_codes_are_those_of_the_local_index(
    out: Path, workspace: Manifest, tmp_path: Path
) -> None:
    made = load_manifest(out)
    expected = rows_of(workspace, RUN, workspace.folder / "cache")
    assert rows_of(made, RUN, tmp_path) == expected
    assert sum("answer_repeated" in (row["codes"] or ()) for row in expected) > 0
    assert sum("memory_desync" in (row["codes"] or ()) for row in expected) > 0
    assert sum(row["repeat"] > 1 for row in expected) == 3


def test_commands_find_the_index_and_leave_it_as_it_is(
    out: Path, workspace: Manifest, tmp_path: Path
) -> None:
    made = load_manifest(out)
    assert index_state(made, RUN, tmp_path) == "fresh"
    (report,) = build_index(made, cache_dir=tmp_path).runs
    assert (report.was, report.rows, report.line_issues) == ("fresh", 52, 5)
    (checked,) = check_runs(made, [RUN], cache_dir=tmp_path)
    (locally,) = check_runs(workspace, [RUN], cache_dir=workspace.folder / "cache")
    assert checked == locally


def test_a_record_is_read_from_one_row_group(out: Path, tmp_path: Path) -> None:
    made = load_manifest(out)
    (run,) = made.runs
    opened = IndexedRun.of(made, run, tmp_path)
    items = list(opened.lines())
    issues = [item for item in items if isinstance(item, LineIssue)]
    traces = [item for item in items if not isinstance(item, LineIssue)]
    assert (len(traces), len(issues)) == (52, 5)
    for item in traces:
        assert opened.read(item).answer == item.answer
    read = iter_traces(opened.path, file="", run_id=RUN)
    again = [each.q_id for each in read if not isinstance(each, LineIssue)]
    assert again == [item.key.q_id for item in traces]


def test_partials_of_metrics_add_up_to_those_of_the_local_index(out: Path, workspace: Manifest) -> None:
    from proofspan.spark.metrics import SUMMED, quantile

    (row,) = pa.concat_tables(map(pq.read_table, sorted((out / "metrics").glob("*.parquet")))).to_pylist()
    store = Store(workspace, workspace.folder / "cache")
    tallies = {name: tally for name, tally in store.measure(Filter(run=RUN)).items() if name in SUMMED}
    assert len(tallies) == len(SUMMED)
    for metric_id, tally in tallies.items():
        assert row[f"{metric_id}__of"] == tally.of, metric_id
        assert row[f"{metric_id}__total"] == pytest.approx(tally.total, abs=1e-12), metric_id
        assert row[f"{metric_id}__squares"] == pytest.approx(tally.squares, abs=1e-12), metric_id
    assert (row["traces"], row["questions"]) == (52, 49)
    assert sum(row["latency_ms__histogram"]) == 40
    found = quantile("latency_ms", row["latency_ms__histogram"], 0.5)
    assert found == pytest.approx(119, rel=0.05)


def test_files_have_zone_maps_and_only_named_ones_exist(out: Path, tmp_path: Path) -> None:
    folder = index_folder(load_manifest(out), RUN, tmp_path)
    (file, *_) = sorted(folder.glob("label=ok/*[0-9a-f].parquet"))
    group = pq.ParquetFile(file).metadata.row_group(0)
    columns = {group.column(n).path_in_schema: group.column(n) for n in range(group.num_columns)}
    assert columns["q_id"].statistics.min <= columns["q_id"].statistics.max
    assert not (out / "_work").exists()


def write_parquet(folder: Path, table: pa.Table) -> None:
    """Two files."""
    folder.mkdir()
    pq.write_table(table.slice(0, 30), folder / "a.parquet")
    pq.write_table(table.slice(30), folder / "b.parquet")


def write_delta(folder: Path, table: pa.Table) -> None:
    """A file for each value of a column, and one row too many that was deleted again."""
    from deltalake import DeltaTable, write_deltalake

    day = pa.array([f"{n // 20} / 3" for n in range(table.num_rows)])
    write_deltalake(folder, table.append_column("day", day), partition_by=["day"])
    extra = table.slice(0, 1).append_column("day", pa.array(["another"]))
    write_deltalake(folder, extra, mode="append")
    DeltaTable(folder).delete("day = 'another'")


def delete_by_vector(folder: Path) -> Path:
    """Write a Delta table whose first row a deletion vector deletes, and return the file of its log.

    The vector is in the log itself: a magic number, one bitmap under the key 0, and in it the row 0
    (RoaringBitmapArray of the Delta protocol), in Z85.
    """
    from deltalake import write_deltalake

    write_deltalake(
        folder, pa.table({"q": ["a", "b"]}), configuration={"delta.enableDeletionVectors": "true"}
    )
    bitmap = struct.pack("<IIHHIH", 12346, 1, 0, 0, 16, 0)
    vector = struct.pack("<IQI", 1681511377, 1, 0) + bitmap
    order = string.digits + string.ascii_lowercase + string.ascii_uppercase + ".-:+=^!/*?&<>()[]{}@%$#"
    ours = string.digits + string.ascii_uppercase + string.ascii_lowercase + "!#$%&()*+-;<=>?@^_`{|}~"
    text = base64.b85encode(vector + b"\0\0").decode().translate(str.maketrans(ours, order))
    inline = {"storageType": "i", "pathOrInlineDv": text, "sizeInBytes": len(vector), "cardinality": 1}
    (log,) = (folder / "_delta_log").glob("*0.json")
    entries = [orjson.loads(line) for line in log.read_bytes().splitlines()]
    for entry in entries:
        if "add" in entry:
            entry["add"]["deletionVector"] = inline
    log.write_bytes(lines(entries))
    return log


@pytest.mark.parametrize("write", [write_parquet, write_delta])
def test_tables_give_the_same_rows_as_jsonl(
    spark: SparkSession, tmp_path: Path, write: Callable[[Path, pa.Table], None]
) -> None:
    from proofspan import spark as by_spark

    plain = [each for each in records() if isinstance(each, dict) and each["q_id"] not in ("N1", "N2")]
    keep = ("q_id", "q", "answer", "chunks", "mem_rev", "mem_hash")
    plain = [{name: each[name] for name in keep if each.get(name) is not None} for each in plain]
    table = pa.Table.from_pylist([dict.fromkeys(keep) | each for each in plain])
    write(tmp_path / "lake", table)
    local = write_workspace(tmp_path / "local", {RUN: plain})
    build_index(local, cache_dir=tmp_path / "cache", workers=1)
    by_spark.index(
        tmp_path / "lake",
        out=tmp_path / "out",
        workspace=local.folder,
        run_id=RUN,
        spark=spark,
        claims=False,
        locate=False,
    )
    assert rows_of(load_manifest(tmp_path / "out"), RUN, tmp_path) == rows_of(local, RUN, tmp_path / "cache")


def test_joined_chunks_give_the_same_labels_signals_and_claims(
    spark: SparkSession, workspace: Manifest, out: Path, tmp_path: Path
) -> None:
    from proofspan import spark as by_spark

    traces = workspace.folder / "runs" / f"{RUN}.jsonl"
    report = by_spark.index(
        traces,
        out=tmp_path / "out",
        workspace=workspace.folder,
        run_id=RUN,
        spark=spark,
        broadcast_limit=0,
        locate=False,
    )
    found, expected = (rows_of(load_manifest(each), RUN, tmp_path) for each in (tmp_path / "out", out))
    assert found == expected
    assert sum(report.claims[RUN].values()) > 50
    (of_page,) = (row["claims"] for row in found if row["q_id"] == "P1")
    assert b"cited_page" in orjson.dumps(of_page)


def test_a_killed_worker_changes_nothing(
    spark: SparkSession, workspace: Manifest, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from proofspan import spark as by_spark

    marker = tmp_path / "killed"
    data = (workspace.folder / "runs" / f"{RUN}.jsonl").read_bytes().splitlines()
    frame = spark.createDataFrame([(bytes(line),) for line in data], "record binary")

    def killed_once(batches: Any) -> Any:
        yield from batches
        if not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    once = frame.coalesce(1).mapInArrow(killed_once, "record binary")
    by_spark.index(
        once, out=tmp_path / "out", workspace=workspace.folder, run_id=RUN, spark=spark, locate=False
    )
    assert marker.exists()
    expected = rows_of(load_manifest(out), RUN, tmp_path)
    assert rows_of(load_manifest(tmp_path / "out"), RUN, tmp_path) == expected


def test_runs_are_those_of_the_records(spark: SparkSession, workspace: Manifest, tmp_path: Path) -> None:
    from proofspan import spark as by_spark

    plain = [orjson.dumps(trace(f"Q{n}", run_id=f"R{n % 2}")).decode() for n in range(10)]
    frame = spark.createDataFrame([(text,) for text in plain], "value string")
    report = by_spark.index(
        frame, out=tmp_path / "out", workspace=workspace.folder, spark=spark, claims=False, locate=False
    )
    assert report.traces == {"R0": 5, "R1": 5}
    of_first = rows_of(load_manifest(tmp_path / "out"), "R0", tmp_path)
    assert [row["q_id"] for row in of_first] == [f"Q{n}" for n in range(0, 10, 2)]


def _code(call: Any) -> str:
    with pytest.raises(Fault) as caught:
        call()
    return caught.value.problems[0].code


def test_bad_sources_are_problems_with_a_fix(
    spark: SparkSession, workspace: Manifest, tmp_path: Path
) -> None:
    from proofspan import spark as by_spark

    def index(traces: Any, **more: Any) -> str:
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        code = _code(lambda: by_spark.index(traces, out=tmp_path / "out", spark=spark, **more))
        assert not (tmp_path / "out" / "pipeline_manifest.yaml").exists()
        return code

    pq.write_table(pa.table({"answer": ["a"]}), tmp_path / "no_question.parquet")
    assert index(tmp_path / "no_question.parquet") == "column_missing"
    assert index(tmp_path / "nowhere.parquet") == "missing_file"
    (tmp_path / "mixed").mkdir()
    pq.write_table(pa.table({"q": ["a"], "seed": [1]}), tmp_path / "mixed" / "a.parquet")
    pq.write_table(pa.table({"q": ["a"], "seed": ["one"]}), tmp_path / "mixed" / "b.parquet")
    assert index(tmp_path / "mixed") == "mixed_schemas"
    (tmp_path / "broken.parquet").write_bytes(b"PAR1" + b"x" * 100)
    assert index(tmp_path / "broken.parquet") == "unreadable_file"
    good = workspace.folder / "runs" / f"{RUN}.jsonl"
    pq.write_table(pa.table({"chunk_id": ["c1", None], "text": ["a", "b"]}), tmp_path / "chunks.parquet")
    assert index(good, chunks=tmp_path / "chunks.parquet") == "chunk_without_id"
    log = delete_by_vector(tmp_path / "delta")
    assert index(tmp_path / "delta") == "delta_feature"
    log.write_text("{")
    assert index(tmp_path / "delta") == "unreadable_file"
    (tmp_path / "empty.jsonl").write_bytes(b"")
    assert index(tmp_path / "empty.jsonl") == "no_traces"


def test_a_folder_in_use_and_an_address_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    from proofspan import spark as by_spark

    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "file").touch()
    for out, code in (("used", "out_exists"), ("s3://lake/out", "out_not_a_folder")):
        where = out if "://" in out else tmp_path / out
        with pytest.raises(InputFault) as caught:
            by_spark.index("traces.jsonl", out=where, spark=spark)
        assert caught.value.problems[0].code == code


def test_an_attempt_that_failed_is_no_workspace_and_may_be_repeated(
    spark: SparkSession, workspace: Manifest, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from proofspan import spark as by_spark
    from proofspan.spark import job

    good = workspace.folder / "runs" / f"{RUN}.jsonl"

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "file")

    with monkeypatch.context() as patch:
        patch.setattr(job, "write_run_file", full)
        with pytest.raises(StoreFault) as caught:
            by_spark.index(
                good,
                out=tmp_path / "out",
                workspace=workspace.folder,
                run_id=RUN,
                spark=spark,
                claims=False,
                locate=False,
            )
    assert caught.value.problems[0].code == "disk_full"
    with pytest.raises(Fault):
        load_manifest(tmp_path / "out")
    by_spark.index(
        good, out=tmp_path / "out", workspace=workspace.folder, run_id=RUN, spark=spark, locate=False
    )
    assert rows_of(load_manifest(tmp_path / "out"), RUN, tmp_path) == rows_of(
        load_manifest(out), RUN, tmp_path
    )


def test_without_java_the_problem_names_the_package(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    from proofspan.spark import session

    monkeypatch.setattr(type(spark), "getActiveSession", classmethod(lambda cls: None))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InputFault) as caught:
        session.session(None)
    (problem,) = caught.value.problems
    assert problem.code == "no_java"
    assert "default-jre-headless" in problem.fix


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("java.io.IOException: No space left on device", "disk_full"),
        ("com.amazonaws.SdkClientException: Read timed out", "storage_silent"),
        ("java.net.ConnectException: Connection refused", "storage_silent"),
        ('UnsupportedFileSystemException: No FileSystem for scheme "s3a"', "no_connector"),
        ("java.lang.OutOfMemoryError: Java heap space", "out_of_memory"),
        ("an error of another kind", "spark_failed"),
    ],
)
def test_errors_of_spark_name_the_place_and_a_fix(spark: SparkSession, message: str, code: str) -> None:
    from pyspark.errors import PySparkException

    from proofspan.spark.session import problems

    with pytest.raises(StoreFault) as caught, problems("s3a://lake/traces"):
        raise PySparkException(message)
    (problem,) = caught.value.problems
    assert (problem.code, problem.where) == (code, "s3a://lake/traces")
    assert problem.fix
