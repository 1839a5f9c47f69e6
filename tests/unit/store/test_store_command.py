"""`proofspan index`: what it prints, for people and for programs, and its exit status."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from proofspan.cli import main
from tests.hostile.command_room import Ended
from tests.unit.store_workspace import trace, write_workspace

Index = Callable[..., Ended]


@pytest.fixture
def index(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Index:
    """`index(*options)`: the command on the test's folder, without claims and citations."""

    def run(*options: str) -> Ended:
        with pytest.raises(SystemExit) as ended:
            folders = [str(tmp_path), "--cache-dir", str(tmp_path / "cache")]
            main(["index", *folders, "--no-claims", "--no-locate", *options])
        written = capsys.readouterr()
        return Ended(int(ended.value.code or 0), written.out, written.err)

    return run


def test_a_good_run_says_what_was_done_and_then_that_nothing_is_left(tmp_path: Path, index: Index) -> None:
    write_workspace(tmp_path, {"R1": [trace("Q1"), trace("Q2")]})
    first, second = index(), index()
    assert (first.status, first.out) == (0, "R1: 2 traces (2 lines read, there is no index yet)\n")
    assert (second.status, second.out) == (0, "R1: 2 traces (the index is up to date)\n")


def test_every_bad_line_has_its_place_and_fix(tmp_path: Path, index: Index) -> None:
    bad = [b'{"q": "\x1b[2J", "answer": 3}'] * 25
    write_workspace(tmp_path, {"R1": [trace("Q1"), *bad]})
    ended = index()
    assert ended.status == 1
    assert "runs/R1.jsonl:2: " in ended.err
    assert " — " in ended.err
    assert "25 lines of R1" in ended.err
    assert "\x1b" not in ended.err


def test_programs_read_progress_and_report(tmp_path: Path, index: Index) -> None:
    write_workspace(tmp_path, {"R1": [trace("Q1")], "R2": [b"broken"]})
    steps = [orjson.loads(line) for line in index("--progress-json").out.splitlines()]
    assert [step["event"] for step in steps] == ["progress", "progress", "done"]
    assert (steps[0]["run_id"], steps[0]["done"], steps[0]["rows"]) == ("R1", steps[0]["total"], 1)
    assert [run["line_issues"] for run in steps[2]["runs"]] == [0, 1]
    report = orjson.loads(index("--json", "--run", "R2").out)
    (run,) = report["runs"]
    assert (run["run_id"], run["was"], run["issues"][0]["code"]) == ("R2", "fresh", "not_json")


def test_another_profile_and_an_unknown_run(tmp_path: Path, index: Index) -> None:
    write_workspace(tmp_path, {"R1": [trace("Q1")]})
    assert index().status == 0
    again = index("--template", "none", "--refusal", "I don't know")
    assert "there is no index yet" in again.out  # a reading of its own, beside the first
    refused = index("--run", "R9")
    assert (refused.status, refused.out) == (2, "")
    assert "R1" in refused.err
