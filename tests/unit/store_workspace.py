"""Small workspaces for the tests of the index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import orjson

from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest
from proofspan.store.files.columns import ROW_SCHEMA
from proofspan.store.index.build import build_index
from proofspan.store.query.store import Store

RUN = "R1"
CHUNKS = [
    {"chunk_id": "c1", "doc_id": "manual", "section_id": "4.2", "text": "The oil filter holds 4 litres."},
    {"chunk_id": "c2", "doc_id": "manual", "section_id": "4.3", "text": "Check the coolant every week."},
    {"chunk_id": "c3", "doc_id": "bulletin", "section_id": "1", "text": "Torque the bolts to 30 Nm."},
]
#: What a trace that keeps the contract says of its own making.
ENVELOPE = {
    "schema_version": "1.0.0",
    "event": "answer.decide",
    "ts": "2026-02-23T10:22:59Z",
    "trace_id": "4545fce2-41e9-5781-a1c8-4565bd133a9e",
    "agent_id": "system",
    "mem_rev": "r7",
    "mem_hash": "sha256:" + "07" * 32,
}


def trace(q_id: str, **more: object) -> dict[str, object]:
    """A trace about the oil filter that reads `ok` unless `more` says otherwise."""
    return {
        "q_id": q_id,
        "q": "What holds the oil filter?",
        "chunks": [{"id": "c1"}, {"id": "c2"}],
        "answer": "The oil filter holds 4 litres.\ncitations: [c1]",
    } | more


def lines(records: Iterable[object]) -> bytes:
    """Records as JSONL; bytes go in as they are."""
    return b"".join(
        (record if isinstance(record, bytes) else orjson.dumps(record)) + b"\n" for record in records
    )


def write_workspace(folder: Path, runs: Mapping[str, Iterable[object]], **manifest: object) -> Manifest:
    """A workspace with the chunks above and one trace file a run."""
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    (folder / "chunks.jsonl").write_bytes(lines(CHUNKS))
    for run_id, records in runs.items():
        (folder / "runs" / f"{run_id}.jsonl").write_bytes(lines(records))
    listed = [{"run_id": run_id, "traces": {"path": f"runs/{run_id}.jsonl"}} for run_id in runs]
    return manifest_of(folder, **{"chunks": {"path": "chunks.jsonl"}, "runs": listed} | manifest)


def manifest_of(folder: Path, **entries: object) -> Manifest:
    """Writes (in JSON, which is YAML) and loads the manifest."""
    body = {"manifest_version": "1.0", "name": "test"} | entries
    (folder / "pipeline_manifest.yaml").write_bytes(orjson.dumps(body))
    return load_manifest(folder)


def table_of(manifest: Manifest, run_id: str, cache: Path) -> list[dict[str, object]]:
    """All rows of a run's index in the order of the file, every column that is stored."""
    run = Store(manifest, cache)._kept.loaded(run_id)
    names = [*ROW_SCHEMA.names, "repeat", "stored_label"]
    return run.table(names).select(names).to_pylist()


def append(manifest: Manifest, data: bytes, run_id: str = RUN) -> None:
    """Adds bytes to a run's trace file."""
    with (manifest.folder / "runs" / f"{run_id}.jsonl").open("ab") as file:
        file.write(data)


def q_ids(manifest: Manifest, cache: Path) -> list[object]:
    """The question ids of the run in the order of the file."""
    return [row["q_id"] for row in table_of(manifest, RUN, cache)]


def built(manifest: Manifest, cache: Path) -> Store:
    """The store on a freshly built index."""
    build_index(manifest, cache_dir=cache)
    return Store(manifest, cache)
