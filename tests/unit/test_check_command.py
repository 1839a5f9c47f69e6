"""`proofspan check` as a person and as a program meet it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from core.cli import main
from core.cli.check_cmd import command

HEAD = 'manifest_version: "1.0"\n'


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PROOFSPAN_CONFIG_DIR", str(tmp_path / "config"))
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "good.jsonl").write_text("{}\n")
    write(folder, "name: Test\ngold: {path: good.jsonl}\n")
    return folder


def write(folder: Path, text: str) -> None:
    (folder / "pipeline_manifest.yaml").write_text(HEAD + text, encoding="utf-8")


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def test_a_good_workspace_is_good(workspace: Path) -> None:
    result = run(workspace)
    assert result.exit_code == 0
    assert "gold" in result.stdout and "good, no hash given" in result.stdout
    assert result.stdout.splitlines()[-1] == "1 of 1 artifact is good · 0 hashes agree"


def test_findings_exit_with_1_and_show_key_path_and_remedy(workspace: Path) -> None:
    write(workspace, "name: Test\ngold: {path: good.jsonl}\nchunks: {path: it's/gone.jsonl}\n")
    result = run(workspace)
    assert result.exit_code == 1
    assert "`chunks`: does not exist" in result.stdout
    assert f"{workspace}/it's/gone.jsonl" in result.stdout
    assert "cp FILE '" in result.stdout
    assert "1 of 2 artifacts is good · 0 hashes agree · 1 error" in result.stdout


def test_an_unusable_manifest_exits_with_2_and_its_line(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(workspace, "name: x\n\tgold: y\n")
    with pytest.raises(SystemExit) as stopped:
        main(["check", str(workspace)])
    assert stopped.value.code == 2
    assert "pipeline_manifest.yaml:3:1: a tab stands" in capsys.readouterr().err


def test_json_holds_every_artifact_and_problem(workspace: Path) -> None:
    write(workspace, "name: Test\ncolour: red\ngold: {path: good.jsonl}\nchunks: {path: gone.jsonl}\n")
    result = run(workspace, "--json")
    report = json.loads(result.stdout)
    assert result.exit_code == 1
    assert (report["name"], report["ok"], report["hashes_compared"]) == ("Test", False, True)
    assert {entry["key"]: entry["state"] for entry in report["artifacts"]} == {
        "chunks": "missing",
        "gold": "ok",
    }
    assert [problem["code"] for problem in report["manifest_problems"]] == ["unknown_key"]


def test_no_hashes_lets_a_changed_file_pass(workspace: Path) -> None:
    write(workspace, f'name: Test\ngold: {{path: good.jsonl, sha256: "{"0" * 64}"}}\n')
    assert run(workspace).exit_code == 1
    relaxed = run(workspace, "--no-hashes")
    assert relaxed.exit_code == 0 and "hash not compared" in relaxed.stdout


def test_sha256_lines_are_all_that_is_printed(workspace: Path) -> None:
    write(workspace, f'name: Test\ngold: {{path: good.jsonl, sha256: "{"0" * 64}"}}\n')
    result = run(workspace, "--sha256-lines")
    assert result.exit_code == 0
    assert result.stdout == (
        'sha256: "ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356"  # gold, good.jsonl\n'
    )


def test_sha256_lines_still_tell_what_has_none(workspace: Path) -> None:
    write(workspace, "name: Test\ngold: {path: gone.jsonl}\n")
    result = run(workspace, "--sha256-lines")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "`gold`: does not exist" in result.stderr


def test_a_bar_shows_only_when_hashing_takes_its_time(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(workspace, 'name: Test\ndocuments: [{doc_id: "[/red]", path: good.jsonl, paged: false}]\n')
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    assert run(workspace, "--sha256-lines").stderr == ""
    monkeypatch.setattr("core.cli.check_cmd.PROGRESS_AFTER_SECONDS", -1.0)
    assert "hashing documents[[/red]]" in run(workspace, "--sha256-lines").stderr
    monkeypatch.setenv("TTY_COMPATIBLE", "0")
    assert run(workspace, "--sha256-lines").stderr == ""


def test_trust_roots_confirms_once_and_for_all(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "g.jsonl").write_text("{}\n")
    write(workspace, "name: Test\nroots: {lib: ../lib}\ngold: {path: g.jsonl, root: lib}\n")
    assert run(workspace).exit_code == 1
    assert run(workspace, "--trust-roots").exit_code == 0
    assert run(workspace).exit_code == 0


def test_text_from_the_manifest_cannot_act_on_the_terminal(workspace: Path) -> None:
    write(workspace, 'name: "a\\e[31mb"\ngold: {path: "[bold]x[/bold]"}\ncatalogue: {path: "x\\x9by"}\n')
    result = run(workspace)
    assert "\x1b" not in result.stdout and "\x9b" not in result.stdout
    assert "a\\x1b[31mb" in result.stdout
    assert "[bold]x[/bold]" in result.stdout


def test_the_demo_workspace_is_good() -> None:
    demo = Path(__file__).resolve().parents[2] / "data" / "demo"
    result = run(demo)
    assert result.exit_code == 0, result.stdout
