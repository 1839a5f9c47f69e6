"""A place that cannot be written is refused with the right reason and remedy, by every command."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from proofspan.errors import Fault
from proofspan.journal import lines as journal
from proofspan.traces.lines import unpack
from proofspan.write_errors import refused, write_refusal
from tests.unit.validation.test_fix_encoding import room, run


@pytest.mark.parametrize(
    ("code", "reason", "fix"),
    [
        (errno.EROFS, "Read-only file system", "another file system"),
        (errno.EACCES, "Permission denied", "chmod u+w"),
        (errno.EPERM, "Operation not permitted", "chmod u+w"),
        (errno.ENOSPC, "No space left on device", "free some space"),
        (errno.EDQUOT, "quota", "free some space"),
        (errno.EISDIR, "it is a folder", "a file in it"),
        (errno.ENOENT, "its folder does not exist", "mkdir -p"),
        (errno.ETXTBSY, "another program uses it", "close that program"),
        (errno.EBUSY, "another program uses it", "close that program"),
        (errno.ENAMETOOLONG, "its name is too long", "a shorter one"),
        (errno.ELOOP, "link", "the file itself"),
        (errno.EMFILE, "Too many open files", "name a file"),
    ],
)
def test_each_error_of_the_system_has_a_reason_and_a_remedy(
    tmp_path: Path, code: int, reason: str, fix: str
) -> None:
    why = write_refusal(OSError(code, os.strerror(code)), tmp_path / "none" / "out")
    assert reason.lower() in why.reason.lower()
    assert fix in why.fix


def places(folder: Path) -> dict[str, tuple[Path, str]]:
    """Return targets that cannot be written, also by root, each with words of its reason."""
    (folder / "file").touch()
    (folder / "kept").write_text("kept")
    (folder / "kept").chmod(0o444)
    (folder / "loop").symlink_to(folder / "loop")
    (folder / "full.jsonl").symlink_to("/dev/full")
    return {
        "folder": (folder, "folder"),
        "below a file": (folder / "file" / "out", f"{folder / 'file'} is a file, not a folder"),
        "deep below a file": (folder / "file" / "a" / "out", f"{folder / 'file'} is a file, not a folder"),
        "no folder": (folder / "none" / "out", "its folder does not exist"),
        "read-only": (folder / "kept", "the file is read-only"),
        "too long": (folder / ("x" * 300), "its name is too long"),
        "below a loop": (folder / "loop" / "out", "loop"),
        "full": (folder / "full.jsonl", "No space left on device"),
    }


PLACES = ("folder", "below a file", "deep below a file", "no folder", "read-only", "too long", "below a loop")


@pytest.mark.parametrize("name", PLACES)
def test_a_target_is_refused_before_anything_is_written(tmp_path: Path, name: str) -> None:
    place, reason = places(tmp_path)[name]
    why = refused(place)
    assert why is not None and reason in why.reason and why.fix


def test_the_sentences_are_these(golden: Callable[[str, str], None], tmp_path: Path) -> None:
    whys = [(name, refused(place)) for name, (place, _) in places(tmp_path).items() if name in PLACES]
    golden("write_refusals", "".join(f"{name}: {why.reason} — {why.fix}\n" for name, why in whys if why))


def test_a_target_that_can_be_written_is_not_refused(tmp_path: Path) -> None:
    (tmp_path / "old").touch()
    assert refused(tmp_path / "new") is refused(tmp_path / "old") is refused(Path("/dev/null")) is None


@pytest.fixture(scope="module")
def ws(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = room(tmp_path_factory.mktemp("ws"), page="", whole=None)
    run("index", folder, "--no-locate", "--cache-dir", folder / "cache")
    return folder


#: Every command that writes a file that it is given, with the option last.
WRITERS: dict[str, Callable[[Path], tuple[object, ...]]] = {
    "validate": lambda ws: ("validate", ws / "t.jsonl", "--as", "trace", "-o"),
    "triage": lambda ws: ("triage", ws / "t.jsonl", ws / "c.jsonl", "-o"),
    "triage --markdown": lambda ws: ("triage", ws / "t.jsonl", ws / "c.jsonl", "-o", "-", "--markdown"),
    "chunk-ids --mint": lambda ws: ("chunk-ids", ws / "c.jsonl", "--mint", "-o"),
    "chunk-ids --against": lambda ws: ("chunk-ids", ws / "c.jsonl", "--against", ws / "c.jsonl", "-o"),
    "locate": lambda ws: ("locate", ws / "c.jsonl", "-o"),
    "bundle build": lambda ws: ("bundle", "build", ws, "--cache-dir", ws / "cache", "-o"),
    "export csv": lambda ws: ("export", "csv", ws, "--cache-dir", ws / "cache", "-o"),
    "export log": lambda ws: ("export", "log", ws, "-o"),
    "export rag_traces": lambda ws: ("export", "rag_traces", ws, "-o"),
    "metrics": lambda ws: ("metrics", ws, "--cache-dir", ws / "cache", "-o"),
    "metrics --pack": lambda ws: ("metrics", ws, "--cache-dir", ws / "cache", "--pack", "-o"),
    "gate": lambda ws: ("gate", ws, "--run", "R1", "--cache-dir", ws / "cache", "-o"),
    "gate --junit": lambda ws: ("gate", ws, "--run", "R1", "--cache-dir", ws / "cache", "--junit"),
    "gate --markdown": lambda ws: ("gate", ws, "--run", "R1", "--cache-dir", ws / "cache", "--markdown"),
}


@pytest.mark.parametrize("command", WRITERS)
@pytest.mark.parametrize("name", ["below a file", "read-only", "full"])
def test_every_command_gives_the_reason(ws: Path, tmp_path: Path, command: str, name: str) -> None:
    place, reason = places(tmp_path)[name]
    result = run(*WRITERS[command](ws), place)
    assert isinstance(result.exception, Fault), (result.exception, result.output)
    assert any(reason in each.message and each.fix for each in result.exception.problems), result.exception


@pytest.mark.parametrize("name", ["below a file", "read-only"])
def test_an_import_and_the_cache_give_the_reason(ws: Path, tmp_path: Path, name: str) -> None:
    place, _ = places(tmp_path)[name]
    mapping = tmp_path / "m.yaml"
    mapping.write_text(
        'mapping_version: "1.0"\nname: n\nrun: {run_id: R1}\n'
        'traces: {q: q, stages: {reranked: {each: "chunks[]", text: id}}, seen: reranked}\n'
    )
    imported = run("import", "mapped", ws / "t.jsonl", "--mapping", mapping, "--no-pages", "--to", place)
    indexed = run("index", ws, "--cache-dir", place)
    for result in (imported, indexed):
        assert isinstance(result.exception, Fault), result.output
        (problem,) = result.exception.problems
        assert ("is a file" in problem.message or "not a folder" in problem.message) and problem.fix


def test_a_cohort_that_cannot_be_stored_gives_the_reason(
    ws: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cohorts.jsonl"
    monkeypatch.setattr(journal, "WAIT_S", 0)
    with path.open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(Fault) as caught, journal.open_journal(path, file="c"):
            pass
    assert [each.code for each in caught.value.problems] == ["journal_busy"]
    with journal.open_journal(path, file="c") as opened:
        opened.append({"a": 1})
    for name in ("folder", "below a file", "full"):
        place, reason = places(tmp_path)[name]
        with pytest.raises(Fault) as caught, journal.open_journal(place, file="c"):
            pass
        assert caught.value.problems[0].code == "journal_not_written"
        assert name == "full" or reason.split(":")[0] in str(caught.value)
        (tmp_path / "kept").chmod(0o644)
        for made in ("file", "kept", "loop", "full.jsonl"):
            (tmp_path / made).unlink()


def test_a_missing_folder_for_temporary_files_is_named(monkeypatch: pytest.MonkeyPatch, ws: Path) -> None:
    def refuse(**_: object) -> None:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(unpack.tempfile, "TemporaryDirectory", refuse)
    result = run("validate", ws / "t.jsonl", "--as", "trace")
    assert isinstance(result.exception, Fault)
    assert "TMPDIR" in result.exception.problems[0].fix


def test_a_folder_without_permission_is_refused(ws: Path, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o555)
    if os.access(tmp_path / "closed", os.W_OK):
        pytest.skip("this user may write everywhere")
    for command in WRITERS.values():
        result = run(*command(ws), tmp_path / "closed" / "out")
        assert isinstance(result.exception, Fault)
        assert "Permission denied" in str(result.exception) and "chmod u+w" in str(result.exception)
