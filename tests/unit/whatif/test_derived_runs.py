"""A run computed from another: files and entry appear together, and the same run gives the same bytes."""

from __future__ import annotations

import errno
import gzip
import hashlib
import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pyarrow
import pytest

from proofspan.errors import InputFault
from proofspan.manifest.check import check_workspace
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest
from proofspan.services.derived_runs import ParentTraces, derived_record, parent_traces, write_run
from proofspan.services.workspace.open import default_run
from tests.unit.store_workspace import ENVELOPE, built, lines, manifest_of, table_of, trace, write_workspace

SETTINGS = {"k": 60, "weights": {"bm25": 1.0}}


def first_two_swapped(traces: ParentTraces, run_id: str) -> Any:
    for each in traces:
        prompt = each.raw["chunks"]
        swapped = [*prompt[1::-1], *prompt[2:]]
        yield derived_record(each, run_id=run_id, stages={"fused": swapped}, chunks=prompt[1:2])


def save(manifest: Manifest, cache: Path, *, run_id: str = "D1", parent: str = "R1", **more: Any) -> Path:
    run = manifest.run(parent)
    assert run is not None
    traces = parent_traces(manifest, run, cache_dir=cache)
    named: dict[str, Any] = {"title": "k 60", "kind": "whatif", "settings": SETTINGS, "by": "whatif"} | more
    records = first_two_swapped(traces, run_id)
    return write_run(manifest, run, run_id=run_id, records=records, issues=traces.issues, **named)


def test_the_run_that_opens_first_is_one_of_the_pipeline(room: tuple[Manifest, Path]) -> None:
    manifest, cache = room
    save(manifest, cache)
    again = load_manifest(manifest.folder)
    assert [(run.run_id, run.derived_from) for run in again.runs] == [("R1", None), ("D1", "R1")]
    opened = default_run(again)
    assert opened is not None and opened.run_id == "R1"
    alone = default_run(replace(again, runs=again.runs[1:]))
    assert alone is not None and alone.run_id == "D1"


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def records_of(file: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in file.read_bytes().splitlines()]


@pytest.fixture
def room(tmp_path: Path) -> tuple[Manifest, Path]:
    """A workspace of one run of two questions with pins and a record, and a cache."""
    folder = tmp_path / "workspace"
    runs: dict[str, Any] = {
        "R1": [trace("Q1", **ENVELOPE), trace("Q2", stages={"retrieved": [{"id": "c1"}]})]
    }
    write_workspace(folder, runs)
    (folder / "r1.json").write_text('{"run_id": "R1", "ts": "T", "fusion": {"k": 60}}')
    pinned = {"index_hash": "sha256:07", "record": "r1.json"}
    listed = {
        "run_id": "R1",
        "ts": "2026-01-01T00:00:00Z",
        "pinned": pinned,
        "traces": {"path": "runs/R1.jsonl"},
    }
    return manifest_of(folder, chunks={"path": "chunks.jsonl"}, runs=[listed]), tmp_path / "cache"


def test_a_run_has_its_traces_its_record_and_its_entry(room: tuple[Manifest, Path]) -> None:
    manifest, cache = room
    file = save(manifest, cache)
    assert file == manifest.folder / "runs/D1/trace.jsonl"
    first, second = records_of(file)
    assert [*first][:5] == ["q_id", "q", "chunks", "answer", "schema_version"]
    assert (first["run_id"], first["chunks"]) == ("D1", [{"id": "c2"}])
    assert first["stages"] == {"fused": [{"id": "c2"}, {"id": "c1"}]}
    assert second["stages"] == {"retrieved": [{"id": "c1"}], "fused": [{"id": "c2"}, {"id": "c1"}]}
    assert first["answer_from"] == {"run_id": "R1", "chunks": ["c1", "c2"]}
    assert first["trace_id"] != ENVELOPE["trace_id"]
    assert "trace_id" not in second
    assert first["answer"] == trace("Q1")["answer"]
    now = load_manifest(manifest.folder)
    run = now.run("D1")
    assert run is not None
    assert (run.title, run.kind, run.baseline, run.ts) == ("k 60", "whatif", "R1", "2026-01-01T00:00:00Z")
    assert run.pinned == {"index_hash": "sha256:07", "record": "pinning/D1.json"}
    assert orjson.loads((manifest.folder / "pinning/D1.json").read_bytes()) == {
        "run_id": "D1",
        "ts": "T",
        "fusion": {"k": 60},
        "derived": {
            "by": "whatif",
            "parent": "R1",
            "parent_traces_sha256": hashlib.sha256(
                (manifest.folder / "runs/R1.jsonl").read_bytes()
            ).hexdigest(),
            "settings": SETTINGS,
        },
    }
    assert check_workspace(now).ok
    built(now, cache)
    assert len(table_of(now, "D1", cache)) == 2


def test_the_same_run_again_changes_no_byte(room: tuple[Manifest, Path]) -> None:
    manifest, cache = room
    save(manifest, cache)
    before = files_of(manifest.folder)
    save(manifest, cache)
    save(load_manifest(manifest.folder), cache)
    assert files_of(manifest.folder) == before
    (manifest.folder / "runs/D1/trace.jsonl").write_text("damaged")
    (manifest.folder / "pinning/D1.json").unlink()
    save(manifest, cache)
    assert files_of(manifest.folder) == before


@pytest.mark.parametrize(
    ("changed", "code"), [({"title": "other"}, "run_exists"), ({"settings": {"k": 1}}, "file_exists")]
)
def test_a_run_of_that_id_with_other_content_is_refused(
    room: tuple[Manifest, Path], changed: dict[str, Any], code: str
) -> None:
    manifest, cache = room
    save(manifest, cache)
    before = files_of(manifest.folder)
    with pytest.raises(InputFault) as refused:
        save(manifest, cache, **changed)
    assert [problem.code for problem in refused.value.problems] == [code]
    assert files_of(manifest.folder) == before


def test_what_people_add_to_the_record_of_a_run_stays(room: tuple[Manifest, Path]) -> None:
    manifest, cache = room
    save(manifest, cache)
    record = manifest.folder / "pinning/D1.json"
    record.write_bytes(orjson.dumps(orjson.loads(record.read_bytes()) | {"cpu": "x"}))
    before = files_of(manifest.folder)
    save(manifest, cache)
    assert files_of(manifest.folder) == before


@pytest.mark.parametrize("path", ["runs/D1/trace.jsonl", "pinning/D1.json"])
def test_a_file_that_no_run_names_is_not_replaced(room: tuple[Manifest, Path], path: str) -> None:
    manifest, cache = room
    (manifest.folder / path).parent.mkdir(parents=True)
    (manifest.folder / path).write_text("{}")
    before = files_of(manifest.folder)
    with pytest.raises(InputFault, match="exists with other content"):
        save(manifest, cache)
    assert files_of(manifest.folder) == before


@pytest.mark.parametrize("run_id", ["", "..", "a/b", "é", "-x", ".x", "a" * 101, "a b", "a\n"])
def test_a_run_id_that_is_no_name_of_a_folder_is_refused(room: tuple[Manifest, Path], run_id: str) -> None:
    with pytest.raises(InputFault, match="cannot name a folder"):
        save(*room, run_id=run_id)


@pytest.mark.parametrize("name", ["runs/D1", "pinning", "pinning/D1.json"])
def test_a_link_out_of_the_workspace_is_not_followed(
    room: tuple[Manifest, Path], tmp_path: Path, name: str
) -> None:
    manifest, cache = room
    outside = tmp_path / "outside"
    outside.mkdir()
    (manifest.folder / name).parent.mkdir(exist_ok=True)
    (manifest.folder / name).symlink_to(outside)
    with pytest.raises(InputFault, match="leads to another place"):
        save(manifest, cache)
    assert not [*outside.iterdir()]


@pytest.mark.parametrize("time", [1, 2, 3])
def test_a_disk_that_is_full_leaves_nothing_half(
    room: tuple[Manifest, Path], monkeypatch: pytest.MonkeyPatch, time: int
) -> None:
    """The first, second and third file is refused: traces, record and manifest."""
    manifest, cache = room
    before, folders, flushed = files_of(manifest.folder), {*manifest.folder.rglob("*")}, 0
    real = os.fsync

    def fsync(handle: int) -> None:
        nonlocal flushed
        flushed += 1
        if flushed == time:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(InputFault, match="the run D1 cannot be written: No space left on device"):
        save(manifest, cache)
    assert files_of(manifest.folder) == before
    assert {*manifest.folder.rglob("*")} == folders
    monkeypatch.undo()
    save(manifest, cache)


@pytest.mark.parametrize("time", [1, 2, 3])
def test_a_rename_that_fails_leaves_nothing_half(
    room: tuple[Manifest, Path], monkeypatch: pytest.MonkeyPatch, time: int
) -> None:
    manifest, cache = room
    before, renamed = files_of(manifest.folder), 0
    real = Path.replace

    def replace(self: Path, target: Path) -> Path:
        nonlocal renamed
        renamed += 1
        if renamed == time:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return real(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(InputFault, match="Read-only file system"):
        save(manifest, cache)
    assert files_of(manifest.folder) == before


def test_runs_saved_at_the_same_time_are_all_there(room: tuple[Manifest, Path]) -> None:
    manifest, cache = room
    ids = [f"D{number}" for number in range(6)] * 2
    threads = [threading.Thread(target=save, args=(manifest, cache), kwargs={"run_id": each}) for each in ids]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    now = load_manifest(manifest.folder)
    assert sorted(run.run_id for run in now.runs) == [*sorted(set(ids)), "R1"]
    assert check_workspace(now).ok


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_packed_traces(tmp_path: Path, suffix: str) -> None:
    folder, plain = tmp_path / "w", lines([trace("Q1"), trace("Q2")])
    write_workspace(folder, {})
    packed = gzip.compress(plain) if suffix == ".gz" else pyarrow.compress(plain, "zstd", asbytes=True)
    (folder / f"t.jsonl{suffix}").write_bytes(packed)
    manifest = manifest_of(folder, runs=[{"run_id": "R1", "traces": {"path": f"t.jsonl{suffix}"}}])
    assert [each["q_id"] for each in records_of(save(manifest, tmp_path / "cache"))] == ["Q1", "Q2"]
    derived = orjson.loads((folder / "pinning/D1.json").read_bytes())["derived"]
    assert derived["parent_traces_sha256"] == hashlib.sha256(packed).hexdigest()


def test_traces_joined_from_separate_records(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    write_workspace(folder, {})
    (folder / "answers.jsonl").write_bytes(lines([{"q_id": "Q1", "text": "It holds 4 litres."}]))
    (folder / "queries.jsonl").write_bytes(lines([{"q_id": "Q1", "text": "How much?"}]))
    items = [{"chunk_id": "c1", "score": 2.0}, {"chunk_id": "c2", "score": 1.0}]
    (folder / "lists.jsonl").write_bytes(lines([{"q_id": "Q1", "items": items}, {"q_id": "Q7", "items": []}]))
    names = {"query": "queries", "retrieved": "lists", "answer": "answers"}
    records = {name: {"path": f"{file}.jsonl"} for name, file in names.items()}
    manifest = manifest_of(
        folder, chunks={"path": "chunks.jsonl"}, runs=[{"run_id": "R1", "records": records}]
    )
    run = manifest.runs[0]
    traces = parent_traces(manifest, run, cache_dir=tmp_path / "cache")
    made = (derived_record(each, run_id="D1", stages={"fused": [{"id": "c2"}]}) for each in traces)
    file = write_run(
        manifest,
        run,
        run_id="D1",
        title="t",
        kind="whatif",
        records=made,
        settings={},
        by="x",
        issues=traces.issues,
    )
    (record,) = records_of(file)
    assert (record["q"], record["stages"]["fused"]) == ("How much?", [{"id": "c2"}])
    assert [each["chunk_id"] for each in record["stages"]["retrieved"]] == ["c1", "c2"]
    derived = orjson.loads((folder / "pinning/D1.json").read_bytes())["derived"]
    assert derived["parent_records_sha256"].keys() == names.keys()
    assert derived["parent_lines_without_a_trace"] == 1
    assert check_workspace(load_manifest(folder)).ok


def test_the_record_has_what_differs_and_leaves_out_the_determinism_of_the_parent(
    room: tuple[Manifest, Path],
) -> None:
    manifest, cache = room
    parent = {"libraries": {"a": "1", "b": "1"}, "commands": ["first"], "determinism": {"of": "bytes"}}
    (manifest.folder / "r1.json").write_bytes(orjson.dumps({**parent, "reranker": {"model": "old"}}))
    own = {"libraries": {"b": "2"}, "commands": ["second"], "reranker": {"revision": "3"}}
    save(manifest, cache, record=own, pinned={"reranker": "new"})
    record = orjson.loads((manifest.folder / "pinning/D1.json").read_bytes())
    assert record.keys() == {"libraries", "commands", "reranker", "run_id", "derived"}
    assert record["libraries"] == {"a": "1", "b": "2"}
    assert (record["commands"], record["reranker"]) == (["first", "second"], {"revision": "3"})
    run = load_manifest(manifest.folder).run("D1")
    assert run is not None
    assert run.pinned["reranker"] == "new"


def test_lines_without_a_trace_are_counted(tmp_path: Path) -> None:
    manifest = write_workspace(tmp_path / "w", {"R1": [trace("Q1"), b"{", trace("Q2"), b'{"q": 1}']})
    assert [each["q_id"] for each in records_of(save(manifest, tmp_path / "cache"))] == ["Q1", "Q2"]
    derived = orjson.loads((manifest.folder / "pinning/D1.json").read_bytes())["derived"]
    assert derived["parent_lines_without_a_trace"] == 2


def test_a_run_without_any_trace_is_refused(tmp_path: Path) -> None:
    manifest = write_workspace(tmp_path / "w", {"R1": []})
    with pytest.raises(InputFault, match="has no traces"):
        save(manifest, tmp_path / "cache")
    assert not (manifest.folder / "runs/D1").exists()


def test_a_run_made_from_a_derived_run_names_the_prompt_that_was_answered(
    room: tuple[Manifest, Path],
) -> None:
    manifest, cache = room
    save(manifest, cache)
    file = save(load_manifest(manifest.folder), cache, run_id="D2", parent="D1")
    assert {orjson.dumps(each["answer_from"]) for each in records_of(file)} == {
        b'{"run_id":"R1","chunks":["c1","c2"]}'
    }
    derived = orjson.loads((manifest.folder / "pinning/D2.json").read_bytes())["derived"]
    assert derived["parent"] == "D1"


def test_a_record_in_another_form_is_named_with_its_hash(room: tuple[Manifest, Path]) -> None:
    manifest, cache = room
    (manifest.folder / "r1.json").write_text("# Pinning record")
    save(manifest, cache)
    record = orjson.loads((manifest.folder / "pinning/D1.json").read_bytes())
    sha256 = hashlib.sha256(b"# Pinning record").hexdigest()
    assert record["parent_record"] == {"path": "r1.json", "sha256": sha256}
