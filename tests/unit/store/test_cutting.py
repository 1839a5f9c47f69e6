"""The index is the same however its source is cut, grown or shared out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proofspan.store.files.columns import row_table
from proofspan.store.files.run_file import read_run_file
from proofspan.store.index import build
from proofspan.store.index.build import build_index, index_folder
from proofspan.store.index.plan import cut
from proofspan.store.query.store import Store
from proofspan.traces.records.traces import iter_traces
from tests.unit.store_workspace import (
    RUN,
    append,
    lines,
    q_ids,
    table_of,
    trace,
    write_workspace,
)

pytestmark = pytest.mark.slow


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


def records_and_noise() -> st.SearchStrategy[list[bytes]]:
    ids = st.sampled_from(["Q1", "Q2", "Q3"])
    good = st.builds(
        lambda q_id, text, rev: orjson.dumps(trace(q_id, q=f"Which {q_id}?", answer=text, mem_rev=rev)),
        ids,
        st.one_of(st.text(max_size=20), st.just("The oil filter holds 4 litres.")),
        st.sampled_from(["r1", "r2", None]),
    )
    return st.lists(st.one_of(good, st.sampled_from([b"", b"{", b"   ", b"[1]"])), max_size=12)


@settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    max_examples=15,
    deadline=None,
)
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


def test_several_processes_may_index_at_once(tmp_path: Path, cache: Path) -> None:
    manifest = write_workspace(tmp_path, {RUN: [trace(f"Q{number}") for number in range(200)]})
    command = [
        sys.executable,
        "-m",
        "proofspan.cli",
        "index",
        str(tmp_path),
        "--cache-dir",
        str(cache),
        "--json",
    ]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(3)]
    reports = [orjson.loads(process.communicate()[0])["runs"][0] for process in started]
    assert [process.returncode for process in started] == [0, 0, 0]
    assert sorted(report["lines_read"] for report in reports) == [0, 0, 200]
    assert len(q_ids(manifest, cache)) == 200


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
