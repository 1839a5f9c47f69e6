"""Damaged, missing or refused files are named, and the rest of the index works."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from proofspan.errors import InputFault, StoreFault
from proofspan.store.files.cache_dir import writable_cache_dir
from proofspan.store.index import build, scan
from proofspan.store.index.build import build_index, index_state
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
from tests.places import CHECKOUT
from tests.unit.store_workspace import (
    RUN,
    append,
    lines,
    manifest_of,
    q_ids,
    table_of,
    trace,
    write_workspace,
)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", ["*.parquet", "*.arrow"])
@pytest.mark.parametrize("damage", ["gone", "empty", "scrambled"])
def test_a_damaged_index_is_built_again(tmp_path: Path, cache: Path, damage: str, kind: str) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("Q1")]})
    build_index(manifest, cache_dir=cache)
    (segment,) = cache.rglob(kind)
    if damage == "gone":
        segment.unlink()
    else:
        segment.write_bytes(b"" if damage == "empty" else b"x" * segment.stat().st_size)
    if damage == "scrambled":
        append(manifest, lines([trace("Q2")]))  # an unchanged run is not read, so nobody would notice
    else:
        assert index_state(manifest, RUN, cache) == "missing"
    build_index(manifest, cache_dir=cache)
    assert q_ids(manifest, cache)[0] == "Q1"


def die(_: object) -> None:
    os._exit(9)


def test_a_worker_that_dies_is_reported(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace(f"Q{number}") for number in range(50)]})
    monkeypatch.setattr(build, "segment_bytes", lambda size: 1_000)
    monkeypatch.setattr(scan, "_index_in_worker", die)
    with pytest.raises(StoreFault) as fault:
        build_index(manifest, cache_dir=cache, workers=2)
    assert fault.value.problems[0].code == "worker_died"


def test_an_unreadable_trace_file_is_not_taken_for_the_cache(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("Q1")], "R2": [trace("Q1")]})
    opened = Path.open

    def refuse(path: Path, *rest: Any, **more: Any) -> Any:
        if path.name == "R2.jsonl":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return opened(path, *rest, **more)

    monkeypatch.setattr(Path, "open", refuse)
    first, second = build_index(manifest, cache_dir=cache).runs
    assert (first.rows, first.problems) == (1, ())
    assert [problem.code for problem in second.problems] == ["unreadable_file"]


@pytest.mark.parametrize("trouble", ["missing", "hash", "web page", "not named"])
def test_a_run_without_usable_chunks_has_rows_without_labels(
    tmp_path: Path, cache: Path, trouble: str
) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("Q1")]})
    listed = [{"run_id": RUN, "traces": {"path": f"runs/{RUN}.jsonl"}}]
    chunks: dict[str, object] = {"path": "chunks.jsonl"}
    expected = {"missing": "chunks_unusable", "hash": "chunks_differ", "not named": "no_chunks"}
    if trouble == "missing":
        (tmp_path / "chunks.jsonl").unlink()
    elif trouble == "web page":
        (tmp_path / "chunks.jsonl").write_bytes(b"<!doctype html>\n<p>404\n")
    elif trouble == "hash":
        chunks["sha256"] = "0" * 64
    named = {} if trouble == "not named" else {"chunks": chunks}
    manifest = manifest_of(tmp_path, runs=listed, **named)
    (run,) = build_index(manifest, cache_dir=cache).runs
    (row,) = table_of(manifest, RUN, cache)
    assert (row["label"], row["severity"], row["answer_coverage"]) == (None, 5, None)
    assert [problem.code for problem in run.problems] == [expected.get(trouble, "not_jsonl")]
    assert all(problem.fix for problem in run.problems)
    assert index_state(manifest, RUN, cache) == "fresh"


def test_chunks_that_come_back_bring_the_labels(tmp_path: Path, cache: Path) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("Q1")]})
    data = (tmp_path / "chunks.jsonl").read_bytes()
    (tmp_path / "chunks.jsonl").unlink()
    build_index(manifest, cache_dir=cache)
    (tmp_path / "chunks.jsonl").write_bytes(data)
    assert index_state(manifest, RUN, cache) == "stale"
    build_index(manifest, cache_dir=cache)
    assert [row["label"] for row in table_of(manifest, RUN, cache)] == ["ok"]


def test_a_missing_trace_file_leaves_the_other_runs_alone(tmp_path: Path, cache: Path) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("Q1")], "R2": [trace("Q1"), trace("Q2")]})
    (tmp_path / "runs" / "R2.jsonl").unlink()
    first, second = build_index(manifest, cache_dir=cache).runs
    assert (first.rows, first.problems) == (1, ())
    assert (second.rows, [problem.code for problem in second.problems]) == (0, ["missing"])
    assert Store(manifest, cache).total(RUN) == 1


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{not json}", "not_json"),
        (b'{"q": "x", "answer": null, "chunks": []}', "answer_wrong_type"),
        (b'{"q": "x", "answer": 7, "chunks": []}', "answer_wrong_type"),
        (b'{"run_id": "R9", "q": "x"}', "other_run"),
        (b"[" * 100 + b"]" * 100, "nested_too_deeply"),
        (b"\xff\xfe", "bad_utf8"),
    ],
)
def test_a_bad_line_is_an_issue_with_its_place(tmp_path: Path, cache: Path, line: bytes, code: str) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("Q1"), line, trace("Q2")]})
    report = build_index(manifest, cache_dir=cache)
    (issue,) = report.runs[0].issues
    assert (issue.code, issue.source.file, issue.source.line) == (code, "runs/R1.jsonl", 2)
    assert report.has_findings
    assert q_ids(manifest, cache) == ["Q1", "Q2"]


def test_a_table_named_jsonl_is_one_issue(tmp_path: Path, cache: Path) -> None:
    manifest = write_workspace(tmp_path, {RUN: []})
    (tmp_path / "runs" / f"{RUN}.jsonl").write_bytes(b"question,answer\n" + b"a,b\n" * 500)
    (run,) = build_index(manifest, cache_dir=cache).runs
    assert (run.rows, [issue.code for issue in run.issues]) == (0, ["is_csv"])


@pytest.mark.parametrize("end", ["", "\n"])
def test_an_array_named_jsonl_is_one_issue(tmp_path: Path, cache: Path, end: str) -> None:
    manifest = write_workspace(tmp_path, {RUN: []})
    (tmp_path / "runs" / f"{RUN}.jsonl").write_text(f'[{{"q": "one"}}]{end}')
    (run,) = build_index(manifest, cache_dir=cache).runs
    assert (run.waiting_bytes, [issue.code for issue in run.issues]) == (0, ["json_array"])


def test_bad_chunk_lines_are_issues_of_the_run(tmp_path: Path, cache: Path) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("Q1")]})
    with (tmp_path / "chunks.jsonl").open("ab") as file:
        file.write(b'{"text": "a chunk without id"}\n')
    (run,) = build_index(manifest, cache_dir=cache).runs
    assert [(issue.code, issue.source.file) for issue in run.issues] == [("chunk_without_id", "chunks.jsonl")]


def test_an_unknown_run_is_refused_with_those_there_are(tmp_path: Path, cache: Path) -> None:
    manifest = write_workspace(tmp_path, {RUN: []})
    with pytest.raises(StoreFault, match="no run 'R9'") as fault:
        build_index(manifest, runs=["R9"], cache_dir=cache)
    assert "R1" in fault.value.problems[0].fix


def test_two_processes_survive_a_chunk_file_that_is_not_one(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace(f"Q{number}") for number in range(50)]})
    (tmp_path / "chunks.jsonl").write_bytes(b"[{")
    monkeypatch.setattr(build, "segment_bytes", lambda size: 1_000)
    (run,) = build_index(manifest, cache_dir=cache, workers=2).runs
    assert run.rows == 50
    assert [problem.where for problem in run.problems] == ["chunks.jsonl:1"]
    assert {row["label"] for row in table_of(manifest, RUN, cache)} == {None}


def test_a_read_only_cache_is_named_with_a_way_out(tmp_path: Path, read_only_folder: Path) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("Q1")]})
    with pytest.raises(StoreFault) as fault:
        build_index(manifest, cache_dir=read_only_folder)
    (problem,) = fault.value.problems
    assert problem.code == "cache_read_only"
    assert "--cache-dir" in problem.fix
    fallback = writable_cache_dir(read_only_folder)
    assert fallback.problem is not None
    assert fallback.problem.code == "cache_read_only"
    assert build_index(manifest, cache_dir=fallback.path).runs[0].rows == 1


@pytest.mark.parametrize(
    ("number", "code"),
    [(errno.EROFS, "cache_read_only"), (errno.EACCES, "cache_read_only"), (errno.ENOSPC, "cache_full")],
)
def test_what_the_system_says_becomes_a_problem(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, number: int, code: str
) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("Q1")]})

    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(StoreFault) as fault:
        build_index(manifest, cache_dir=cache)
    assert fault.value.problems[0].code == code


def test_a_cache_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("Q1")]})
    (tmp_path / "taken").write_text("")
    with pytest.raises(StoreFault) as fault:
        build_index(manifest, cache_dir=tmp_path / "taken")
    assert fault.value.problems[0].code == "cache_not_a_folder"


@pytest.mark.parametrize("way", ["renamed over", "rewritten"])
def test_a_file_that_is_replaced_while_it_is_read_is_read_again(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """A longer file takes the place of the first one once its first segment is read."""
    manifest = write_workspace(tmp_path, {RUN: [trace(f"OLD{number}") for number in range(40)]})
    path = tmp_path / "runs" / f"{RUN}.jsonl"
    records = [trace(f"NEW{number}") for number in range(60)]
    monkeypatch.setattr(build, "segment_bytes", lambda size: 2_000)
    written = scan._write

    def replacing(*given: Any) -> Any:
        if not (tmp_path / "done").exists():
            new = path if way == "rewritten" else tmp_path / "new"
            new.write_bytes(lines(records))
            new.replace(path)
            (tmp_path / "done").touch()
        return written(*given)

    monkeypatch.setattr(scan, "_write", replacing)
    build_index(manifest, cache_dir=cache)
    assert q_ids(manifest, cache) == [record["q_id"] for record in records]
    assert index_state(manifest, RUN, cache) == "fresh"


def test_a_file_that_is_replaced_every_time_is_reported_as_changing(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("Q0")]})
    path = tmp_path / "runs" / f"{RUN}.jsonl"
    written = scan._write

    def replacing(*given: Any) -> Any:
        (tmp_path / "new").write_bytes(path.read_bytes())
        (tmp_path / "new").replace(path)
        return written(*given)

    monkeypatch.setattr(scan, "_write", replacing)
    with pytest.raises(InputFault, match="replaced while they are read"):
        build_index(manifest, cache_dir=cache)
    assert index_state(manifest, RUN, cache) == "missing"


def test_chunks_that_change_between_two_runs_label_both_again(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("Q1")], "R2": [trace("Q1")]})
    written = scan._write

    def changing(*given: Any) -> Any:
        (tmp_path / "chunks.jsonl").write_bytes(lines([{"id": "c1", "text": "Wholly unrelated words."}]))
        return written(*given)

    monkeypatch.setattr(scan, "_write", changing)
    build_index(manifest, cache_dir=cache)
    labels = [row["label"] for run in (RUN, "R2") for row in table_of(manifest, run, cache)]
    assert labels == ["retrieval_drift", "retrieval_drift"]


@pytest.mark.parametrize("kind", ["*.parquet", "*.arrow"])
@pytest.mark.parametrize("grown", [False, True])
def test_half_a_segment_is_noticed_by_the_command_and_repaired(
    tmp_path: Path, cache: Path, kind: str, grown: bool
) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace(f"Q{number}") for number in range(50)]})
    build_index(manifest, cache_dir=cache)
    (segment,) = cache.rglob(kind)
    whole = segment.read_bytes()
    segment.write_bytes(whole[: len(whole) // 2])
    if grown:
        append(manifest, lines([trace("Q50")]))
    build_index(manifest, cache_dir=cache)
    assert len(Store(manifest, cache).page(Filter(RUN), Sort(), limit=99, offset=0)) == 50 + grown


def test_half_a_file_of_line_issues_is_repaired(tmp_path: Path, cache: Path) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("Q1"), b"no json"]})
    build_index(manifest, cache_dir=cache)
    (issues,) = cache.rglob("*.issues.parquet")
    issues.write_bytes(issues.read_bytes()[:99])
    (run,) = build_index(manifest, cache_dir=cache).runs
    assert [issue.code for issue in run.issues] == ["not_json"]
    assert len(Store(manifest, cache).line_issues(RUN)) == 1


@pytest.mark.parametrize("name", ["run.json", "*.parquet"])
def test_a_folder_in_the_place_of_a_file_makes_way(tmp_path: Path, cache: Path, name: str) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("Q1")]})
    build_index(manifest, cache_dir=cache)
    (file,) = cache.rglob(name)
    file.unlink()
    (file / "inside").mkdir(parents=True)
    build_index(manifest, cache_dir=cache)
    assert q_ids(manifest, cache) == ["Q1"]


@pytest.mark.parametrize("kind", ["*.parquet", "*.arrow"])
def test_no_flipped_bit_ends_the_process(tmp_path: Path, cache: Path, kind: str) -> None:
    """A damaged file gives wrong data or an error; it never kills the process."""
    manifest = write_workspace(tmp_path, {RUN: [trace(f"Q{number}") for number in range(300)]})
    build_index(manifest, cache_dir=cache)
    (segment,) = cache.rglob(kind)
    whole = segment.read_bytes()
    asks = f"""
import random, sys
from pathlib import Path
from proofspan.errors import InputFault, StoreFault
from proofspan.manifest.load import load_manifest
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
segment, random = Path({str(segment)!r}), random.Random(7)
whole, run_file = segment.read_bytes(), segment.with_name("run.json")
about = run_file.read_bytes()
for _ in range(25):
    place = random.randrange(len(whole))
    segment.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << random.randrange(8)]) + whole[place + 1:])
    store = Store(load_manifest(Path({str(tmp_path)!r})), Path({str(cache)!r}))
    lists = (Filter("R1"), Filter("R1", text="oil"), Filter("R1", doc=("manual",)))
    asked = [lambda shown=shown: store.page(shown, Sort(), limit=50, offset=100) for shown in lists]
    for ask in (*asked, lambda: store.options("R1")):
        try:
            ask()
        except StoreFault:
            run_file.write_bytes(about)
"""
    done = subprocess.run([sys.executable, "-c", asks], capture_output=True, text=True, check=False)
    segment.write_bytes(whole)
    assert done.returncode == 0, done.stderr[-2_000:]


def test_workers_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    """A process that is killed cannot stop its workers."""
    asks = """
import sys, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from proofspan.store.index.labelling import Inputs
from proofspan.store.index.scan import Source, _start_process, _start_worker
from proofspan.store.index.labelling import NO_FILE
from proofspan.diagnosis.types import Profile
from pathlib import Path
import os
if __name__ == "__main__":
    inputs = Inputs(Profile(), NO_FILE)
    source = Source(Path("t"), "t", "R1", Path("."), "p", inputs)
    spawn = get_context("spawn")
    given = _start_worker, source
    pool = ProcessPoolExecutor(1, mp_context=spawn, initializer=_start_process, initargs=given)
    print(pool.submit(os.getpid).result(), flush=True)
    time.sleep(60)
"""
    script = tmp_path / "starts_workers.py"
    script.write_text(asks)
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, env=environment)
    assert parent.stdout is not None
    worker = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    for _ in range(600):
        if not is_alive(worker):
            break
        time.sleep(0.1)
    assert not is_alive(worker)


def is_alive(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
