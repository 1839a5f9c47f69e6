"""The output of commands: whole files or none, never over an input, and a message when writing fails."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from proofspan.cli import INTERRUPTED, main
from proofspan.cli.output import check_outputs, output_to
from proofspan.cli.runs import triage_cmd
from proofspan.errors import InputFault
from tests.unit.store_workspace import trace, write_workspace

pytestmark = pytest.mark.slow

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")


def write(target: Path, data: bytes = b"whole") -> None:
    with output_to(str(target)) as output:
        output.write(data)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def umask() -> Iterator[int]:
    before = os.umask(0o027)
    yield 0o027
    os.umask(before)


def test_a_file_appears_whole_with_the_mode_that_the_umask_gives(tmp_path: Path, umask: int) -> None:
    target = tmp_path / "out"
    with output_to(str(target)) as output:
        output.write(b"who")
        assert not target.exists()
        output.write(b"le")
    assert target.read_bytes() == b"whole"
    assert target.stat().st_mode & 0o777 == 0o666 & ~umask
    assert names(tmp_path) == ["out"]


def test_what_goes_wrong_on_the_way_leaves_the_earlier_file(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_bytes(b"earlier")
    with pytest.raises(ZeroDivisionError), output_to(str(target)) as output:
        output.write(b"half")
        raise ZeroDivisionError
    assert target.read_bytes() == b"earlier"
    assert names(tmp_path) == ["out"]


def test_trouble_of_the_reader_is_not_laid_at_the_output(tmp_path: Path) -> None:
    with pytest.raises(PermissionError), output_to(str(tmp_path / "out")):
        raise PermissionError(13, "of some input")
    assert names(tmp_path) == []


def test_a_link_is_replaced_and_what_it_led_to_is_kept(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"kept")
    (tmp_path / "out").symlink_to(tmp_path / "elsewhere")
    write(tmp_path / "out")
    assert not (tmp_path / "out").is_symlink()
    assert (tmp_path / "elsewhere").read_bytes() == b"kept"


def test_a_name_as_long_as_names_may_be_can_be_written(tmp_path: Path) -> None:
    write(tmp_path / ("x" * 255))
    assert (tmp_path / ("x" * 255)).read_bytes() == b"whole"


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_exits_with_130_and_leaves_the_earlier_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_workspace(tmp_path, {"R1": [trace("Q1")]})
    target = tmp_path / "out"
    target.write_bytes(b"earlier")
    monkeypatch.setattr(triage_cmd, "row_to_json", lambda row: signal.raise_signal(signal.SIGINT))
    before = names(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main([*map(str, arguments_of("triage", tmp_path)), "-o", str(target)])
    assert (ended.value.code, capsys.readouterr().err) == (INTERRUPTED, "interrupted\n")
    assert target.read_bytes() == b"earlier"
    assert names(tmp_path) == before


@pytest.mark.parametrize("size", [1, 1 << 20])
@needs_full
def test_a_device_is_written_straight_and_its_refusal_is_a_fault(size: int) -> None:
    with pytest.raises(InputFault) as caught:
        write(FULL, b"x" * size)
    (problem,) = caught.value.problems
    assert (problem.code, problem.where) == ("cannot_write", "/dev/full")
    assert "No space left" in problem.message
    assert problem.fix
    assert FULL.is_char_device()


def test_a_pipe_is_written_straight(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write(pipe)
    reader.join(10)
    assert got == [b"whole"]
    assert pipe.is_fifo()


@pytest.mark.parametrize("target", ["none/out", "folder", "x" * 256])
def test_a_place_that_cannot_be_written_is_a_fault_and_nothing_is_left(tmp_path: Path, target: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputFault, match="the output cannot be written"):
        write(tmp_path / target)
    assert names(tmp_path) == ["folder"]


def test_everything_wrong_with_the_outputs_is_reported_at_once(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"")
    (tmp_path / "link").symlink_to(tmp_path / "in")
    wrong = ["in", "link", ".", "none/out", "x" * 300 + "/out"]
    with pytest.raises(InputFault) as caught:
        check_outputs([str(tmp_path / name) for name in wrong], [tmp_path / "in", tmp_path / "gone"])
    inputs, folders = ["output_is_input"] * 2, ["output_is_folder", "no_folder", "no_folder"]
    assert [problem.code for problem in caught.value.problems] == [*inputs, *folders, "same_output"]
    check_outputs(["-", str(tmp_path / "out")], [tmp_path / "in"])


def run(*arguments: object, stdout: int = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "proofspan.cli", *map(str, arguments)]
    return subprocess.run(command, check=False, stdout=stdout, stderr=subprocess.PIPE, text=True)


def arguments_of(command: str, folder: Path) -> list[object]:
    return {
        "export": ["export", "jsonl", folder, "--cache-dir", folder / "cache"],
        "triage": ["triage", folder / "runs" / "R1.jsonl", folder / "chunks.jsonl"],
    }[command]


@needs_full
@pytest.mark.parametrize("command", ["export", "triage"])
@pytest.mark.parametrize("target", ["/dev/full", "-"])
def test_a_full_disk_is_a_message_and_status_2(tmp_path: Path, command: str, target: str) -> None:
    write_workspace(tmp_path, {"R1": [trace("Q1")]})
    with FULL.open("wb") as full:
        ended = run(*arguments_of(command, tmp_path), "-o", target, stdout=full.fileno())
    where = "standard output" if target == "-" else target
    errors = [line for line in ended.stderr.splitlines() if line.startswith("error")]
    assert ended.returncode == 2
    assert [line.split(" — ")[0] for line in errors] == [
        f"error: {where}: the output cannot be written: No space left on device"
    ]
    assert "Traceback" not in ended.stderr
    assert "Exception ignored" not in ended.stderr


def test_stdout_by_its_other_name_is_stdout(tmp_path: Path) -> None:
    write_workspace(tmp_path, {"R1": [trace("Q1")]})
    with (tmp_path / "got").open("wb") as got:
        run(*arguments_of("triage", tmp_path), "-o", "/dev/stdout", stdout=got.fileno())
    assert b'"label"' in (tmp_path / "got").read_bytes()
    assert Path("/dev/stdout").is_symlink()
