"""The index is what its files are: built, grown, noticed when changed, the same however it is cut."""

from __future__ import annotations

import errno
import gzip
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import StoreFault
from core.manifest.types import Manifest
from core.store import build, scan
from core.store.cache import writable_cache_dir
from core.store.columns import Row, index_row, row_table
from core.store.index import build_index, index_folder, index_state
from core.store.queries import Store
from core.store.runfile import read_run_file
from core.store.segments import cut
from core.traces.chunks import Places
from core.traces.traces import iter_traces
from core.triage.types import ReportRow
from tests.unit.store_workspace import built, lines, manifest_of, table_of, trace, write_workspace

RUN = "R1"


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The q_ids of the traces that were read from their file, as they are read."""
    seen: list[str] = []

    def recording(item: object, verdict: ReportRow | None, places: Places, gold: object) -> Row:
        seen.append(item.q_id)  # type: ignore[attr-defined]
        return index_row(item, verdict, places, gold)  # type: ignore[arg-type]

    monkeypatch.setattr(scan, "index_row", recording)
    return seen


def append(manifest: Manifest, data: bytes, run_id: str = RUN) -> None:
    with (manifest.folder / "runs" / f"{run_id}.jsonl").open("ab") as file:
        file.write(data)


def q_ids(manifest: Manifest, cache: Path) -> list[object]:
    return [row["q_id"] for row in table_of(manifest, RUN, cache)]


def test_a_row_holds_what_its_line_and_its_label_say(tmp_path: Path, cache: Path) -> None:
    record = trace("Q1") | {"ok": False, "ΔS": 0.25, "λ": "→", "latency_ms": 900}
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
        "query_coverage": 1.0,
        "answer_coverage": 1.0,
        "numbers_unsupported": [],
        "suspicions": ["ok_contradicts"],
        "stored_label": None,
        "ok": False,
        "delta_s": 0.25,
        "lambda_state": "convergent",
        "latency_ms": 900.0,
        "gold_known": False,
        "gold_seen_rank": None,
        "gold_retrieved_rank": None,
        "gold_retrieved_stage": None,
        "line": 2,
        "offset": len(first) + 1,
        "length": len(orjson.dumps(record)),
    }


def test_an_unchanged_run_is_fresh_and_nothing_is_read(tmp_path: Path, cache: Path, reads: list[str]) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("Q1")]})
    assert index_state(manifest, RUN, cache).state == "missing"
    build_index(manifest, cache_dir=cache)
    reads.clear()
    assert index_state(manifest, RUN, cache).state == "fresh"
    (run,) = build_index(manifest, cache_dir=cache).runs
    assert (run.was, run.lines_read, run.rows, reads) == ("fresh", 0, 1, [])


def test_a_grown_file_is_read_on_from_where_it_ended(tmp_path: Path, cache: Path, reads: list[str]) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("Q1"), b"", trace("Q2")]})
    build_index(manifest, cache_dir=cache)
    reads.clear()
    append(manifest, lines([trace("Q3")]))
    assert index_state(manifest, RUN, cache).state == "growing"
    (run,) = build_index(manifest, cache_dir=cache).runs
    assert (reads, run.lines_read, run.rows) == (["Q3"], 1, 3)
    assert [row["line"] for row in table_of(manifest, RUN, cache)] == [1, 3, 4]


def test_a_line_still_being_written_waits(tmp_path: Path, cache: Path, reads: list[str]) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("Q1")]})
    second = orjson.dumps(trace("Q2"))
    append(manifest, second[:40])
    (run,) = build_index(manifest, cache_dir=cache).runs
    assert (run.rows, run.waiting_bytes, run.line_issues) == (1, 40, 0)
    assert index_state(manifest, RUN, cache).state == "fresh"
    reads.clear()
    append(manifest, second[40:] + b"\n")
    (run,) = build_index(manifest, cache_dir=cache).runs
    assert (reads, run.rows, run.waiting_bytes) == (["Q2"], 2, 0)


def test_many_small_segments_are_merged_without_reading_again(
    tmp_path: Path, cache: Path, reads: list[str]
) -> None:
    manifest = write_workspace(tmp_path, {RUN: []})
    expected = []
    for number in range(build.MANY_TAILS + 3):
        expected.append(f"Q{number}")
        append(manifest, lines([trace(f"Q{number}"), b"not json"]))
        build_index(manifest, cache_dir=cache)
    run_file = read_run_file(index_folder(manifest, RUN, cache))
    assert run_file is not None
    assert len(run_file.segments) < build.MANY_TAILS
    assert (run_file.rows, run_file.line_issues) == (len(expected), len(expected))
    assert reads == expected == q_ids(manifest, cache)
    assert Store(manifest, cache).line_issues(RUN)["line"].tolist() == [
        2 * n + 2 for n in range(len(expected))
    ]


@pytest.mark.parametrize("change", ["shrunk", "head", "tail", "same size"])
def test_a_file_that_changed_is_indexed_anew(tmp_path: Path, cache: Path, change: str) -> None:
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
    assert index_state(manifest, RUN, cache).state == "stale"
    build_index(manifest, cache_dir=cache)
    assert q_ids(manifest, cache) == [record["q_id"] for record in records]
    assert index_state(manifest, RUN, cache).state == "fresh"


@pytest.mark.parametrize("kind", ["*.parquet", "*.arrow"])
@pytest.mark.parametrize("damage", ["gone", "empty", "scrambled"])
def test_a_damaged_index_is_built_anew(tmp_path: Path, cache: Path, damage: str, kind: str) -> None:
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
        assert index_state(manifest, RUN, cache).state == "missing"
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


def test_only_files_that_are_needed_stay(tmp_path: Path, cache: Path) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("Q1"), b"nonsense"]})
    build_index(manifest, cache_dir=cache)
    folder = index_folder(manifest, RUN, cache)
    (folder / ".part-left-behind").write_bytes(b"a process died")
    (tmp_path / "runs" / f"{RUN}.jsonl").write_bytes(lines([trace("Q2")]))
    build_index(manifest, cache_dir=cache)
    run_file = read_run_file(folder)
    assert run_file is not None
    assert {path.name for path in folder.iterdir()} == run_file.files() | {"lock"}


def test_a_reader_goes_on_while_the_index_is_replaced(tmp_path: Path, cache: Path) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("Q1")]})
    store = built(manifest, cache)
    old = store._loaded(RUN)
    (tmp_path / "runs" / f"{RUN}.jsonl").write_bytes(lines([trace("Q2"), trace("Q3")]))
    build_index(manifest, cache_dir=cache)
    assert store.total(RUN) == 2
    assert store._loaded(RUN) is not old
    with pytest.raises(FileNotFoundError):
        old.table(["latency_ms"])  # never a column of another state beside the old ones


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
    assert all(problem.remedy for problem in run.problems)
    assert index_state(manifest, RUN, cache).state == "fresh"


def test_chunks_that_come_back_bring_the_labels(tmp_path: Path, cache: Path) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("Q1")]})
    data = (tmp_path / "chunks.jsonl").read_bytes()
    (tmp_path / "chunks.jsonl").unlink()
    build_index(manifest, cache_dir=cache)
    (tmp_path / "chunks.jsonl").write_bytes(data)
    assert index_state(manifest, RUN, cache).state == "stale"
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


def test_bad_chunk_lines_are_issues_of_the_run(tmp_path: Path, cache: Path) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("Q1")]})
    with (tmp_path / "chunks.jsonl").open("ab") as file:
        file.write(b'{"text": "a chunk without id"}\n')
    (run,) = build_index(manifest, cache_dir=cache).runs
    assert [(issue.code, issue.source.file) for issue in run.issues] == [("chunk_without_id", "chunks.jsonl")]


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


def test_a_run_with_a_report_and_no_traces_opens_on_it(tmp_path: Path, cache: Path) -> None:
    manifest = with_report(
        tmp_path, [], [{"q": "Why?", "label": "ok", "why": "fine", "chunks": ["c1"]}, b"x"]
    )
    run = {"run_id": RUN, "report": {"path": "runs/report.jsonl"}}
    manifest = manifest_of(tmp_path, chunks={"path": "chunks.jsonl"}, runs=[run])
    store = built(manifest, cache)
    (row,) = table_of(manifest, RUN, cache)
    assert (row["label"], row["why"], row["candidates"], row["line"]) == ("ok", "fine", 1, 1)
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
    assert index_state(manifest, RUN, cache).state == "fresh"
    packed.write_bytes(gzip.compress(lines([trace("Q3")])))
    build_index(manifest, cache_dir=cache)
    assert q_ids(manifest, cache) == ["Q3"]


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
    assert index_state(manifest, RUN, cache).state == "fresh"


def test_an_unknown_run_is_refused_with_those_there_are(tmp_path: Path, cache: Path) -> None:
    manifest = write_workspace(tmp_path, {RUN: []})
    with pytest.raises(StoreFault, match="no run 'R9'") as fault:
        build_index(manifest, runs=["R9"], cache_dir=cache)
    assert "R1" in fault.value.problems[0].remedy


# However it is cut


def records_and_noise() -> st.SearchStrategy[list[bytes]]:
    ids = st.sampled_from(["Q1", "Q2", "Q3"])
    good = st.builds(lambda q_id, text: orjson.dumps(trace(q_id, answer=text)), ids, st.text(max_size=20))
    return st.lists(st.one_of(good, st.sampled_from([b"", b"{", b"   ", b"[1]"])), max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None)
@given(records_and_noise(), st.integers(1, 400), st.booleans(), st.integers(0, 2000))
def test_any_cut_into_segments_gives_the_same_table(
    tmp_path_factory: pytest.TempPathFactory, data: list[bytes], target: int, ended: bool, grown_at: int
) -> None:
    """One segment, many small ones, or two looks at a growing file: the same rows and the same issues."""
    folder = tmp_path_factory.mktemp("cut")
    # The file opens as JSONL: what is no JSONL at all is one issue as a whole.
    text = lines([trace("Q0"), *data])
    text = text if ended else text[:-1]
    manifest = write_workspace(folder, {RUN: []})
    path = folder / "runs" / f"{RUN}.jsonl"
    outcomes = []
    for way in ("whole", "cut", "grown"):
        path.write_bytes(text[:grown_at] if way == "grown" else text)
        cache = folder / way
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(build, "segment_bytes", lambda size, way=way: target if way == "cut" else 1 << 30)
            patch.setattr(build, "MANY_TAILS", 3)
            build_index(manifest, cache_dir=cache)
            path.write_bytes(text)
            build_index(manifest, cache_dir=cache)
        issues = Store(manifest, cache).line_issues(RUN).to_dict("records")
        outcomes.append((table_of(manifest, RUN, cache), issues))
    assert outcomes[0] == outcomes[1] == outcomes[2]


@settings(deadline=None)
@given(
    st.binary(max_size=300).map(lambda data: data.replace(b"\x00", b"\n")), st.integers(1, 80), st.booleans()
)
def test_ranges_cover_whole_lines_once(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, target: int, final: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "ranges"
    path.write_bytes(data)
    found = list(cut(path, start=0, line=1, end=len(data), target=target, final=final))
    covered = b"".join(data[part.start : part.end] for part in found)
    assert covered == (data if final else data[: data.rfind(b"\n") + 1])
    assert all(part.end == len(data) or data[part.end - 1 : part.end] == b"\n" for part in found)
    line = 1
    for part in found:
        assert part.line == line
        line += part.lines
    assert line - 1 == covered.count(b"\n") + (final and not covered.endswith(b"\n") and bool(covered))


def test_two_processes_make_the_table_that_one_makes(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = [trace(f"Q{number % 40}", answer=f"oil {number}") for number in range(300)]
    manifest = write_workspace(tmp_path, {RUN: [*records[:150], b"broken", *records[150:]]})
    monkeypatch.setattr(build, "segment_bytes", lambda size: 4_000)
    build_index(manifest, cache_dir=cache / "one", workers=1)
    build_index(manifest, cache_dir=cache / "two", workers=2)
    assert table_of(manifest, RUN, cache / "one") == table_of(manifest, RUN, cache / "two")
    folders = [index_folder(manifest, RUN, cache / way) for way in ("one", "two")]
    one, two = ({path.name: path.read_bytes() for path in folder.iterdir()} for folder in folders)
    assert one == two


def test_two_processes_survive_a_chunk_file_that_is_none(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace(f"Q{number}") for number in range(50)]})
    (tmp_path / "chunks.jsonl").write_bytes(b"[{")
    monkeypatch.setattr(build, "segment_bytes", lambda size: 1_000)
    (run,) = build_index(manifest, cache_dir=cache, workers=2).runs
    assert run.rows == 50
    assert [problem.where for problem in run.problems] == ["chunks.jsonl:1"]
    assert {row["label"] for row in table_of(manifest, RUN, cache)} == {None}


def test_several_processes_may_index_at_once(tmp_path: Path, cache: Path) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace(f"Q{number}") for number in range(200)]})
    command = [sys.executable, "-m", "core.cli", "index", str(tmp_path), "--cache-dir", str(cache), "--json"]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(3)]
    reports = [orjson.loads(process.communicate()[0])["runs"][0] for process in started]
    assert [process.returncode for process in started] == [0, 0, 0]
    assert sorted(report["lines_read"] for report in reports) == [0, 0, 200]
    assert len(q_ids(manifest, cache)) == 200


# Where it cannot be written


@pytest.fixture
def read_only_folder(tmp_path: Path) -> Iterator[Path]:
    """A file system mounted read-only: permissions do not stop root."""
    folder = tmp_path / "mounted"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(folder)], check=False, capture_output=True
    )
    if mounted.returncode != 0:
        pytest.skip(f"a read-only mount needs rights that are not here: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_read_only_cache_is_named_with_a_way_out(tmp_path: Path, read_only_folder: Path) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("Q1")]})
    with pytest.raises(StoreFault) as fault:
        build_index(manifest, cache_dir=read_only_folder)
    (problem,) = fault.value.problems
    assert problem.code == "cache_read_only"
    assert "--cache-dir" in problem.remedy
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


def test_the_row_schema_takes_no_rows() -> None:
    assert row_table([]).num_rows == 0


def test_lines_are_found_again_by_their_offsets(tmp_path: Path, cache: Path) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace("Q1"), b"", trace("Q2", answer="é €")]})
    build_index(manifest, cache_dir=cache)
    path = tmp_path / "runs" / f"{RUN}.jsonl"
    data = path.read_bytes()
    read = [item.raw for item in iter_traces(path, file="f", run_id=RUN)]  # type: ignore[union-attr]
    rows = table_of(manifest, RUN, cache)
    places = [(int(str(row["offset"])), int(str(row["length"]))) for row in rows]
    assert [orjson.loads(data[offset : offset + length]) for offset, length in places] == read
