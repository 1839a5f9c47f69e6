"""Citations that Spark locates are where the local pass finds them, and no command locates them again."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from proofspan.evidence.pdf.pool import PdfPool
from proofspan.manifest.load import load_manifest
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Manifest
from proofspan.resources import DEMO
from proofspan.services.passes.checking import check_runs
from proofspan.services.passes.locating import PlacedReport, is_placed, place_runs
from proofspan.store.files.located import PLACED_SCHEMA, ROW_STATES, read_placed, read_placed_file
from proofspan.store.index.build import build_index, index_folder
from tests.pdf_files import one_page, write_pages
from tests.spark.same_index import rows_of
from tests.unit.passes.placing_room import cite
from tests.unit.store_workspace import CHUNKS, RUN, lines, manifest_of, trace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DOCUMENTS: list[dict[str, object]] = [
    {"doc_id": "manual", "path": "manual.pdf"},
    {"doc_id": "bulletin", "path": "bulletin.md", "paged": False},
    {"doc_id": "lost", "path": "lost.pdf"},
    {"doc_id": "damaged", "path": "damaged.pdf"},
    {"doc_id": "web", "path": "web.pdf"},
]
PAGES = [
    [f"Step {page} of line {line}: torque bolt {page * 40 + line} to {line} Nm." for line in range(12)]
    for page in range(70)
]


def records() -> list[dict[str, Any]]:
    """Traces of one document with very many citations, and of each kind of document and quote."""
    found = [
        trace(f"Q{n}", **cite(*(PAGES[p][n % 12] for p in range(0, 70, 5)), page=1 + (n * 7) % 70))
        for n in range(30)
    ]
    found += [
        trace("Q3", **cite("torque bolt 47 to 9 Nm.", page=2)),
        trace("A1", **cite("nobody wrote this")),
    ]
    found += [trace("E1", **cite("lost", doc_id="lost")), trace("E2", **cite("x y z", doc_id="damaged"))]
    found += [trace("E3", **cite("x", doc_id="web")), trace("E4", **cite("unlisted", doc_id="elsewhere"))]
    found += [trace("T1", **cite("Torque the bolts to 30 Nm.", "not there at all", doc_id="bulletin"))]
    found += [trace("N1", **cite("no document", doc_id=None)), trace("N2", citations=[{"chunk_id": "c1"}])]
    found += [trace("N3", **cite(" ")), trace("N4", **cite("beyond the end", page=500)), trace("N5")]
    return found


def table_of(manifest: Manifest, run_id: str, cache: Path) -> list[dict[str, Any]]:
    """Return all located citations in an order that does not depend on files, without their rows."""
    folder = index_folder(manifest, run_id, cache)
    placed = read_placed_file(folder)
    assert placed is not None
    rows: list[dict[str, Any]] = read_placed(folder, placed.parts, PLACED_SCHEMA.names).to_pylist()
    names = ("q_id", "paraphrase", "seed", "repeat", "number")
    plain = ({name: value for name, value in row.items() if name != "row"} for row in rows)
    return sorted(plain, key=lambda row: [row[name] for name in names])


def located(manifest: Manifest, run_id: str, cache: Path, pool: PdfPool) -> PlacedReport:
    build_index(manifest, runs=[run_id], cache_dir=cache, workers=1)
    (report,) = place_runs(manifest, [run_id], cache_dir=cache, pool=pool)
    return report


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Manifest:
    """A workspace whose documents are sound, damaged, missing, a text, and no PDF."""
    folder = tmp_path_factory.mktemp("documents")
    (folder / "runs").mkdir()
    write_pages(folder / "manual.pdf", PAGES)
    (folder / "bulletin.md").write_text("# Wheels\n\nTorque the bolts to 30 Nm.\n")
    (folder / "damaged.pdf").write_bytes(b"%PDF-1.7\n" + one_page(b"BT (x y z) Tj ET")[200:320])
    (folder / "web.pdf").write_bytes(b"<html>not found</html>")
    (folder / "chunks.jsonl").write_bytes(lines(CHUNKS))
    (folder / "runs" / f"{RUN}.jsonl").write_bytes(lines(records()))
    runs = [{"run_id": RUN, "traces": {"path": f"runs/{RUN}.jsonl"}}]
    return manifest_of(folder, chunks={"path": "chunks.jsonl"}, runs=runs, documents=DOCUMENTS)


@pytest.mark.parametrize("more", [{}, {"broadcast_limit": 0}], ids=["broadcast", "joined"])
def test_places_are_those_of_the_local_pass(
    spark: SparkSession,
    workspace: Manifest,
    pool: PdfPool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    more: dict[str, Any],
) -> None:
    from proofspan import spark as by_spark
    from proofspan.spark import places

    killed, locate_quotes = tmp_path / "killed", places.LocateQuotes

    def killed_once(*given: Path) -> Any:
        find = locate_quotes(*given)

        def located(quotes: Any) -> Any:
            if not killed.exists():
                killed.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return find(quotes)

        return located

    monkeypatch.setattr(places, "LocateQuotes", killed_once)
    monkeypatch.setattr(places, "QUOTES_A_GROUP", 10)  # most quotes are of one document: they are salted
    traces = workspace.folder / "runs" / f"{RUN}.jsonl"
    report = by_spark.index(
        traces,
        out=tmp_path / "out",
        workspace=workspace.folder,
        run_id=RUN,
        spark=spark,
        claims=False,
        **more,
    )
    expected = located(workspace, RUN, tmp_path / "local", pool)
    made = load_manifest(tmp_path / "out")
    assert orjson.dumps(table_of(made, RUN, tmp_path)) == orjson.dumps(
        table_of(workspace, RUN, tmp_path / "local")
    )
    assert report.citations == {RUN: expected.counts}
    assert expected.counts["exact"] > 300
    assert killed.exists()
    assert is_placed(made, RUN, tmp_path)
    again = located(made, RUN, tmp_path, pool)
    assert again.located == 0
    assert (again.counts, again.reasons) == (expected.counts, expected.reasons)
    assert [each.code for each in again.problems] == [each.code for each in expected.problems]
    assert {"missing", "not_a_pdf", "document_not_listed", "no_quote", "no_document"} <= set(again.reasons)


def test_places_and_claims_of_the_demo_are_those_of_the_local_passes(
    spark: SparkSession, pool: PdfPool, tmp_path: Path
) -> None:
    from proofspan import spark as by_spark

    demo, run_id, local = load_manifest(DEMO), "R002", tmp_path / "local"
    run = next(each for each in demo.runs if each.run_id == run_id)
    assert run.traces is not None
    traces = artifact_path(demo, run.traces)
    by_spark.index(
        traces, out=tmp_path / "out", workspace=DEMO, run_id=run_id, spark=spark, broadcast_limit=0
    )
    made = load_manifest(tmp_path / "out")
    expected = located(demo, run_id, local, pool)
    assert expected.citations > 20
    assert table_of(made, run_id, tmp_path) == table_of(demo, run_id, local)
    assert located(made, run_id, tmp_path, pool).located == 0
    (checked,) = check_runs(demo, [run_id], cache_dir=local)
    assert sum(checked.claims.values()) > 40
    found, wanted = (
        [row | {"stored_label": None} for row in rows_of(*which, ROW_STATES.names)]  # of its stored report
        for which in ((made, run_id, tmp_path), (demo, run_id, local))
    )
    assert found == wanted


def test_workers_that_locate_have_no_pdf_library(spark: SparkSession) -> None:
    def libraries(batches: Any) -> Any:
        import sys

        import pyarrow as pa

        import proofspan.spark.places

        for _ in batches:
            names = {name.partition(".")[0] for name in sys.modules}
            known = [proofspan.__name__, *sorted(names & {"pymupdf", "fitz"})]
            yield pa.record_batch([known], names=["name"])

    found = spark.range(1).mapInArrow(libraries, "name string").collect()
    assert [row["name"] for row in found] == ["proofspan"]
