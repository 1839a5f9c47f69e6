"""`proofspan index`: what it prints, for people and for programs, and its exit status."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import orjson

from tests.unit.store_workspace import trace, write_workspace


def index(folder: Path, *options: str) -> subprocess.CompletedProcess[bytes]:
    """Citations are located by the tests of those."""
    command = [
        sys.executable,
        "-m",
        "proofspan.cli",
        "index",
        str(folder),
        "--cache-dir",
        str(folder / "cache"),
    ]
    command.append("--no-locate")
    return subprocess.run([*command, *options], check=False, capture_output=True)


def test_a_good_run_says_what_was_done_and_then_that_nothing_is_left(tmp_path: Path) -> None:
    write_workspace(tmp_path, {"R1": [trace("Q1"), trace("Q2")]})
    first, second = index(tmp_path), index(tmp_path)
    assert (first.returncode, first.stdout) == (0, b"R1: 2 traces (2 lines read, there is no index yet)\n")
    assert (second.returncode, second.stdout) == (0, b"R1: 2 traces (the index is up to date)\n")


def test_every_bad_line_has_its_place_and_remedy(tmp_path: Path) -> None:
    bad = [b'{"q": "\x1b[2J", "answer": 3}'] * 25
    write_workspace(tmp_path, {"R1": [trace("Q1"), *bad]})
    ended = index(tmp_path)
    said = ended.stderr.decode()
    assert ended.returncode == 1
    assert "runs/R1.jsonl:2: " in said
    assert " — " in said
    assert "25 lines of R1 could not be used in all" in said
    assert "\x1b" not in said


def test_programs_read_progress_and_report(tmp_path: Path) -> None:
    write_workspace(tmp_path, {"R1": [trace("Q1")], "R2": [b"broken"]})
    steps = [orjson.loads(line) for line in index(tmp_path, "--progress-json").stdout.splitlines()]
    assert [step["event"] for step in steps] == ["progress", "progress", "done"]
    assert (steps[0]["run_id"], steps[0]["done"], steps[0]["rows"]) == ("R1", steps[0]["total"], 1)
    assert [run["line_issues"] for run in steps[2]["runs"]] == [0, 1]
    report = orjson.loads(index(tmp_path, "--json", "--run", "R2").stdout)
    (run,) = report["runs"]
    assert (run["run_id"], run["was"], run["issues"][0]["code"]) == ("R2", "fresh", "not_json")


def test_another_profile_and_an_unknown_run(tmp_path: Path) -> None:
    write_workspace(tmp_path, {"R1": [trace("Q1")]})
    assert index(tmp_path).returncode == 0
    again = index(tmp_path, "--template", "none", "--refusal", "I don't know")
    assert b"there is no index yet" in again.stdout  # a reading of its own, beside the first
    refused = index(tmp_path, "--run", "R9")
    assert (refused.returncode, refused.stdout) == (2, b"")
    assert b"R1" in refused.stderr
