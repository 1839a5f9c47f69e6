"""Terminals, encodings and arguments as they come: a command never ends in a traceback over them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from proofspan.cli import main
from tests.hostile.workspaces import write_workspace
from tests.places import CHECKOUT

pytestmark = pytest.mark.slow

MAPPING = """
mapping_version: "1.0"
name: Small
run: {run_id: R1}
traces:
  {q: q, answer: answer, stages: {retrieved: {each: "chunks[]", id: id, text: id}}, seen: retrieved}
"""


def run(*arguments: object, to: str | None = None, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The installed command in a process of its own, its output led to the file `to`."""
    command = [sys.executable, "-m", "proofspan.cli", *map(str, arguments)]
    with open(to or os.devnull, "wb") as out:  # noqa: PTH123 - devices are no paths to make
        return subprocess.run(
            command,
            cwd=CHECKOUT,
            env={**os.environ, **environment},
            check=False,
            stdout=out if to else subprocess.PIPE,
            stderr=subprocess.PIPE,
        )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PROOFSPAN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PROOFSPAN_CONFIG_DIR", str(tmp_path / "config"))
    return write_workspace(tmp_path / "w")


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_signs_that_the_terminal_lacks_are_escapes(folder: Path, tmp_path: Path, encoding: str) -> None:
    checked = run("check", folder, PYTHONIOENCODING=encoding)
    assert (checked.returncode, checked.stderr) == (0, b"")
    assert b"\\u2713" in checked.stdout
    (tmp_path / "map.yaml").write_text(MAPPING)
    mapping = ["--mapping", tmp_path / "map.yaml", "--to", tmp_path / "made"]
    imported = run("import", "mapped", folder / "trace.jsonl", *mapping, PYTHONIOENCODING=encoding)
    assert (imported.returncode, imported.stderr) == (0, b"")
    assert b"3 traces" in imported.stdout and b"\\u2192" in imported.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("triage", "bad\udcff.jsonl", "c.jsonl", "-o", "o.jsonl", "--json"),
        ("triage", "t.jsonl", "c.jsonl", "-o", "o.jsonl", "--refusal=bad\udcff"),
        ("index", ".", "--refusal", "bad\udcff"),
        ("check", "bad\udcff"),
    ],
)
def test_an_argument_that_is_no_text_is_a_usage_error_that_names_it(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "bad\\xff" in (reported := capsys.readouterr().err) and "not valid UTF-8" in reported


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_behind_stdout_is_reported(folder: Path) -> None:
    bare = (folder / "trace.jsonl", folder / "chunks.jsonl")
    for arguments in (("check", folder), ("check", folder, "--json"), ("triage", *bare, "-o", "-")):
        ended = run(*arguments, to="/dev/full")
        assert ended.returncode == 2, ended.stderr
        assert (
            b"error: standard output: the output cannot be written: No space left on device" in ended.stderr
        )
        assert b"Traceback" not in ended.stderr and b"Exception ignored" not in ended.stderr


def test_a_reader_that_has_gone_ends_the_command_without_a_word(folder: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    for arguments in (("check", folder), ("check", folder, "--json")):
        command = [sys.executable, "-m", "proofspan.cli", *map(str, arguments)]
        ended = subprocess.run(command, cwd=CHECKOUT, check=False, stdout=writing, stderr=subprocess.PIPE)
        assert (ended.returncode, ended.stderr) == (1, b"")
    os.close(writing)
