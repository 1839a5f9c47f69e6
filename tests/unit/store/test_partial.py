"""A file that is still being read can be used as far as it is, and an interrupted build goes on."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from proofspan.manifest.types import Manifest
from proofspan.services.gate import release_verdict
from proofspan.store.files.run_file import RunFile
from proofspan.store.files.types import Progress, RunFacts
from proofspan.store.index import build
from proofspan.store.index.build import build_index, index_folder, index_state
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
from tests.unit.store_workspace import RUN, lines, manifest_of, q_ids, table_of, trace, write_workspace

QUESTIONS = [f"Q{number:02d}" for number in range(40)]


class StoppedError(Exception):
    """The build was interrupted."""


@pytest.fixture
def manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Manifest:
    """A run that is read in many segments."""
    monkeypatch.setattr(build, "segment_bytes", lambda size: 600)
    return write_workspace(tmp_path / "workspace", {RUN: [trace(q_id) for q_id in QUESTIONS]})


def stop_after(rows: int, manifest: Manifest, cache: Path, *, workers: int = 1) -> None:
    """Build the index until that number of traces is read, then stop as a process that is killed does."""

    def stop(step: Progress) -> None:
        if step.rows >= rows:
            raise StoppedError

    with pytest.raises(StoppedError):
        build_index(manifest, cache_dir=cache, workers=workers, on_progress=stop)


def facts(manifest: Manifest, cache: Path) -> RunFacts:
    return Store(manifest, cache).run_facts(RUN)


@pytest.mark.parametrize("workers", [1, 2])
def test_the_part_that_is_read_is_listed(manifest: Manifest, cache: Path, workers: int) -> None:
    stop_after(20, manifest, cache, workers=workers)
    known = facts(manifest, cache)
    size = (manifest.folder / "runs" / f"{RUN}.jsonl").stat().st_size
    assert 0 < known.traces < len(QUESTIONS) and 0 < known.unread_bytes < size
    assert q_ids(manifest, cache) == QUESTIONS[: known.traces]
    page = Store(manifest, cache).page(Filter(RUN), Sort(), limit=5, offset=0)
    assert list(page["q_id"]) == QUESTIONS[:5]
    assert [problem.code for problem in known.problems] == ["index_partial"]
    assert f"{known.traces} traces" in known.problems[0].message
    assert index_state(manifest, RUN, cache) == "growing"


def test_a_part_is_never_released(manifest: Manifest, cache: Path) -> None:
    stop_after(20, manifest, cache)
    verdict = release_verdict(Store(manifest, cache), manifest, RUN)
    assert verdict.state == "not_ready"
    assert [check.name for check in verdict.checks if check.outcome == "fail"] == ["index"]


def test_an_interrupted_build_goes_on(
    manifest: Manifest, cache: Path, tmp_path: Path, reads: list[str]
) -> None:
    stop_after(20, manifest, cache)
    part = facts(manifest, cache).traces
    reads.clear()
    (report,) = build_index(manifest, cache_dir=cache).runs
    assert reads == QUESTIONS[part:] and report.lines_read == len(reads)
    whole = facts(manifest, cache)
    assert (whole.traces, whole.unread_bytes, whole.problems) == (len(QUESTIONS), 0, ())
    build_index(manifest, cache_dir=tmp_path / "other")
    assert table_of(manifest, RUN, cache) == table_of(manifest, RUN, tmp_path / "other")
    folder = index_folder(manifest, RUN, cache)
    named = build.run_file.read_run_file(folder)
    assert named is not None
    files = {path.name for path in folder.iterdir() if path.is_file()}
    assert files == named.files() | named.marks() | {"lock"}


def test_a_whole_index_stays_in_use_while_another_is_built(manifest: Manifest, cache: Path) -> None:
    build_index(manifest, cache_dir=cache)
    path = manifest.folder / "chunks.jsonl"
    path.write_bytes(path.read_bytes() + lines([{"chunk_id": "c9", "text": "More."}]))
    stop_after(20, manifest, cache)
    known = facts(manifest, cache)
    assert (known.traces, known.unread_bytes) == (len(QUESTIONS), 0)
    assert index_state(manifest, RUN, cache) == "stale"


def test_rows_of_a_report_are_not_missed_in_a_part(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "segment_bytes", lambda size: 600)
    folder = tmp_path / "workspace"
    rows = [
        {"q": trace(q_id)["q"], "q_id": q_id, "label": "ok", "why": "", "chunks": []} for q_id in QUESTIONS
    ]
    run = {"run_id": RUN, "traces": {"path": f"runs/{RUN}.jsonl"}, "report": {"path": "report.jsonl"}}
    write_workspace(folder, {RUN: [trace(q_id) for q_id in QUESTIONS]})
    manifest = manifest_of(folder, chunks={"path": "chunks.jsonl"}, runs=[run])
    (folder / "report.jsonl").write_bytes(lines(rows))
    stop_after(20, manifest, cache)
    part = facts(manifest, cache)
    assert part.unread_bytes and (part.line_issues, part.unmatched) == (0, 0)
    build_index(manifest, cache_dir=cache)
    whole = table_of(manifest, RUN, cache)
    assert [row["stored_label"] for row in whole] == ["ok"] * len(QUESTIONS)


def test_a_file_that_is_replaced_meanwhile_is_read_from_the_start(manifest: Manifest, cache: Path) -> None:
    stop_after(20, manifest, cache)
    path = manifest.folder / "runs" / f"{RUN}.jsonl"
    path.write_bytes(lines(trace(f"N{number}") for number in range(50)))
    assert index_state(manifest, RUN, cache) == "stale"
    build_index(manifest, cache_dir=cache)
    assert q_ids(manifest, cache) == [f"N{number}" for number in range(50)]


def test_the_first_segments_are_small(tmp_path: Path) -> None:
    """The list appears after the first 4 MiB, however large the file is."""
    path = tmp_path / "large.jsonl"
    line = orjson.dumps({"q": "x" * 99_990}) + b"\n"
    path.write_bytes(line * 900)
    size = path.stat().st_size
    ends = [part.end for part in build.cut(path, start=0, line=1, end=size, target=32 << 20)]
    sizes = [round((end - start) / 2**20) for start, end in zip([0, *ends], ends, strict=False)]
    assert sizes[:4] == [4, 4, 8, 16] and ends[-1] == size


def test_a_run_file_of_a_part_is_read_again_as_one(tmp_path: Path) -> None:
    part = RunFile(key="k", file="f", source=None, segments=(), unread_bytes=7)
    build.run_file.write_run_file(tmp_path, part)
    assert build.run_file.read_run_file(tmp_path) == part
