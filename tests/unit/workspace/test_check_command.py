"""`proofspan check` as a person and as a program meet it."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from proofspan.cli import main
from proofspan.cli.workspace.check_cmd import command
from tests.places import HANDBOOK

HEAD = 'manifest_version: "1.0"\n'
GOOD = '{"q": "?"}\n'


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PROOFSPAN_CONFIG_DIR", str(tmp_path / "config"))
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "good.jsonl").write_text(GOOD)
    write(folder, "name: Test\ngold: {path: good.jsonl}\n")
    return folder


def write(folder: Path, text: str) -> None:
    (folder / "pipeline_manifest.yaml").write_text(HEAD + text, encoding="utf-8")


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def test_a_good_workspace_is_good(workspace: Path, golden: Callable[[str, str], None]) -> None:
    result = run(workspace)
    assert result.exit_code == 0
    golden("check/good", result.stdout)


def test_findings_exit_with_1_and_show_key_path_and_fix(
    workspace: Path, golden: Callable[[str, str], None]
) -> None:
    write(workspace, "name: Test\ngold: {path: good.jsonl}\nchunks: {path: it's/gone.jsonl}\n")
    result = run(workspace)
    assert result.exit_code == 1
    golden("check/missing_file", result.stdout)


def test_an_unusable_manifest_exits_with_2_and_its_line(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(workspace, "name: x\n\tgold: y\n")
    with pytest.raises(SystemExit) as stopped:
        main(["check", str(workspace)])
    assert stopped.value.code == 2
    assert "pipeline_manifest.yaml:3:1: a tab where" in capsys.readouterr().err


def test_goals_that_cannot_be_used_are_reported_and_are_no_finding(workspace: Path) -> None:
    goals = '{SectionMatch@1: ">= 0.8", mrr: high, delta_s_mean: "<= 0.40, warn < 0.5", ok: null}'
    write(workspace, f"name: Test\ngold: {{path: good.jsonl}}\ngoals: {goals}\n")
    result = run(workspace)
    assert result.exit_code == 0
    assert "`SectionMatch@1` is not a metric" in result.stdout
    assert "fix    write `section_match_at_1`" in result.stdout
    assert "`mrr`: 'high' is not a threshold; it has no goal" in result.stdout
    assert "pipeline_manifest.yaml: goals.ok" in result.stdout
    assert "1 of 1 artifact is good · 0 hashes agree · 3 warnings" in result.stdout


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
    assert result.stdout == (f'sha256: "{hashlib.sha256(GOOD.encode()).hexdigest()}"  # gold, good.jsonl\n')


def test_sha256_lines_still_report_what_has_no_hash(workspace: Path) -> None:
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
    monkeypatch.setattr("proofspan.cli.output.BAR_AFTER", -1.0)
    assert "checking documents[[/red]]" in run(workspace, "--sha256-lines").stderr
    monkeypatch.setenv("TTY_COMPATIBLE", "0")
    assert run(workspace, "--sha256-lines").stderr == ""


def test_trust_roots_confirms_once_and_for_all(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "g.jsonl").write_text(GOOD)
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


def test_a_workspace_is_good_but_for_the_line_that_is_torn_on_purpose() -> None:
    result = run(HANDBOOK)
    assert result.exit_code == 1, result.stdout
    assert "warning  `runs[R001].traces`: 1 line of 14 could not be read, first: line 10" in result.stdout
    assert result.stdout.splitlines()[-1] == "4 of 5 artifacts are good · 5 hashes agree · 1 warning"


def test_every_kind_of_record_is_read_and_the_first_bad_line_named(workspace: Path) -> None:
    write(
        workspace,
        "name: Test\nchunks: {path: c.json}\ngold: {path: g.jsonl.gz}\n"
        "runs: [{run_id: R1, traces: {path: t.jsonl}, report: {path: r.jsonl}, bundles: {path: b.jsonl}}]\n",
    )
    (workspace / "c.json").write_text('[{"id": "a", "text": "x"},\n {"id": "a", "text": "y"},\n {"id": "b"}]')
    (workspace / "g.jsonl.gz").write_bytes(gzip.compress(f'{GOOD}[]\n{{"a": 1}}\n'.encode()))
    (workspace / "t.jsonl").write_text(GOOD + '{"q": "?", "run_id": "R2"}\n{"q": "still being wri')
    (workspace / "r.jsonl").write_text('{"q": "?", "label": "ok"}\n{"q": "?"}\n')
    (workspace / "b.jsonl").write_text("{}\n")
    result = run(workspace, "--json")
    report = json.loads(result.stdout)
    output = {each["key"]: [p["message"] for p in each["problems"]] for each in report["artifacts"]}
    assert (result.exit_code, report["ok"]) == (1, False)
    assert [(key, messages[0].split(": ", 1)[1][:46]) for key, messages in output.items() if messages] == [
        ("chunks", "1 line of 3 could not be read, first: line 3: "),
        ("gold", "2 lines of 3 could not be read, first: line 2:"),
        ("runs[R1].bundles", "1 line of 1 could not be read, first: line 1: "),
        ("runs[R1].report", "1 line of 2 could not be read, first: line 2: "),
        ("runs[R1].traces", "1 line of 2 could not be read, first: line 2: "),
    ]
    assert [message.split(": ", 1)[1][:41] for message in output["chunks"][1:]] == [
        "1 record of an id that came before; first"
    ]
    assert run(workspace, "--sha256-lines").exit_code == 0


def test_a_damaged_packed_file_is_wrong(workspace: Path) -> None:
    write(workspace, "name: Test\ngold: {path: g.jsonl.gz}\n")
    (workspace / "g.jsonl.gz").write_bytes(gzip.compress(GOOD.encode())[:-4])
    result = run(workspace)
    assert result.exit_code == 1 and "error  `gold`: " in result.stdout


def test_a_trace_file_without_a_line_is_a_warning(workspace: Path) -> None:
    write(workspace, "name: Test\nruns: [{run_id: R1, traces: {path: t.jsonl}}]\n")
    (workspace / "t.jsonl").write_text("")
    result = run(workspace)
    assert result.exit_code == 0
    assert "warning  `runs[R1].traces`: has no line yet" in result.stdout


def test_an_empty_path_is_not_the_folder_at_hand() -> None:
    result = run("")
    assert result.exit_code == 2 and "the path is empty" in result.stderr


def jsonl(folder: Path, name: str, text: str, entry: str) -> None:
    """A run whose traces are `text`, declared by `entry`."""
    write(folder, f"name: Test\nruns: [{{run_id: R1, traces: {{path: {name}{entry}}}}}]\n")
    data = text.encode()
    (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)


TORN = GOOD + "{torn\n" + GOOD + "[]\n"


@pytest.mark.parametrize(
    ("declared", "status", "severity", "expected"),
    [
        ("", 1, "warning", "2 lines of 4 could not be read, first: line 2: the line is not valid JSON"),
        (", unreadable_lines: 2", 0, "note", "2 lines of 4 could not be read, as declared; first: line 2: "),
        (
            ", unreadable_lines: 1",
            1,
            "warning",
            "2 lines of 4 could not be read, but ",
        ),
        (
            ", unreadable_lines: 3",
            1,
            "warning",
            "2 lines of 4 could not be read, but ",
        ),
        (
            ", unreadable_lines: 0",
            1,
            "warning",
            "2 lines of 4 could not be read, but ",
        ),
    ],
)
def test_lines_that_are_declared_unreadable_are_no_finding(
    workspace: Path, declared: str, status: int, severity: str, expected: str
) -> None:
    jsonl(workspace, "t.jsonl", TORN, declared)
    result = run(workspace)
    assert result.exit_code == status, result.stdout
    assert f"{severity}  `runs[R1].traces`: {expected}" in result.stdout
    assert ("some lines unreadable" in result.stdout) == (status == 1)
    assert f"1 {severity}" in result.stdout.splitlines()[-1]


def test_a_declared_line_that_can_be_read_after_all_is_a_finding(workspace: Path) -> None:
    jsonl(workspace, "t.jsonl", GOOD, ", unreadable_lines: 1")
    result = run(workspace)
    assert result.exit_code == 1
    assert "every line could be read, but `unreadable_lines` declares 1" in result.stdout
    assert "unreadable_lines: 0" in result.stdout
    jsonl(workspace, "t.jsonl", GOOD, ", unreadable_lines: 0")
    assert run(workspace).exit_code == 0


@pytest.mark.parametrize("declared", ["-1", "1.5", "many", "true", "[1]", "01"])
def test_what_is_no_number_of_lines_is_refused(
    workspace: Path, declared: str, capsys: pytest.CaptureFixture[str]
) -> None:
    jsonl(workspace, "t.jsonl", GOOD, f", unreadable_lines: {declared}")
    with pytest.raises(SystemExit) as stopped:
        main(["check", str(workspace)])
    assert stopped.value.code == 2
    assert "runs[R1].traces.unreadable_lines" in capsys.readouterr().err


def test_a_last_line_that_waits_is_reported_and_not_counted(workspace: Path) -> None:
    jsonl(workspace, "t.jsonl", TORN + '{"q": "still being wri', ", unreadable_lines: 2")
    result = run(workspace)
    assert result.exit_code == 0
    assert "2 lines of 4 could not be read, as declared" in result.stdout
    assert "the last line (22 bytes) has no line end" in result.stdout
    assert "2 notes" in result.stdout.splitlines()[-1]


def test_a_packed_file_is_final_and_its_last_line_counts(workspace: Path) -> None:
    jsonl(workspace, "t.jsonl.gz", GOOD + '{"q": "cut o', "")
    result = run(workspace)
    assert result.exit_code == 1
    assert "1 line of 2 could not be read, first: line 2" in result.stdout
    assert "waits" not in result.stdout


@pytest.mark.parametrize(
    ("name", "data", "status", "expected"),
    [
        ("b.md", b"caf\xe9", 1, "error  `documents[b]`: the document is not text in UTF-8: byte 4"),
        ("b.md", b" \n ", 1, "error  `documents[b]`: the document holds no text"),
        ("b.md", b"# Good\n", 0, "good"),
        ("b.html", b"<p>page</p>", 0, "good"),
        ("b.html", b"<script>page</script>", 1, "error  `documents[b]`: the document holds no text"),
        ("b.txt", b"a" * (3 << 20), 0, "warning  `documents[b]`: the document has 3 MiB"),
    ],
)
def test_texts_are_read_as_they_are_placed_in(
    workspace: Path, name: str, data: bytes, status: int, expected: str
) -> None:
    write(workspace, f"name: Test\ndocuments: [{{doc_id: b, path: {name}, paged: false}}]\n")
    (workspace / name).write_bytes(data)
    result = run(workspace)
    assert result.exit_code == status, result.stdout
    assert expected in result.stdout
