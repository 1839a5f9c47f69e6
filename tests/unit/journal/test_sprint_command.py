"""`proofspan sprint`: what is added is shown, and a file that is exported is imported again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from proofspan.cli.runs.sprint_cmd import command
from proofspan.errors import Fault
from proofspan.journal.sprint import read_sprint
from proofspan.manifest.types import Manifest
from tests.unit.journal.test_sprint_markdown import PLAN
from tests.unit.store_workspace import manifest_of


@pytest.fixture
def manifest(tmp_path: Path) -> Manifest:
    return manifest_of(tmp_path, sprint={"path": "log.jsonl"})


def sprint(*arguments: str | Path, given: str | None = None) -> Result:
    result = CliRunner().invoke(command, [str(each) for each in arguments], input=given)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def add(folder: Path, *arguments: str) -> str:
    return sprint("add", folder, *arguments, "--author", "Ada").stdout.split()[0]


def imported(manifest: Manifest, *options: str) -> Result:
    file = manifest.folder / "plan.md"
    file.write_text(PLAN, encoding="utf-8")
    return sprint("import", file, "--to", manifest.folder, *options)


def test_what_is_added_is_shown(manifest: Manifest, golden: Callable[[str, str], None]) -> None:
    folder, at = manifest.folder, ("--at", "2026-02-23T10:00:00Z")
    add(folder, "goal", "g", "--set", "title=SectionMatch@1", "--set", "threshold=>= 0.70", *at)
    add(folder, "package", "WP-A1", "--set", "stream=Rank", "--set", "status=pending", *at)
    first = add(
        folder, "decision", "D1", "--set", "state=PROPOSED", "--set", "pros=a", "--set", "pros=b", *at
    )
    add(folder, "decision", "D1", "--set", "unblocks=WP-A1", "--set", "title=Rank", "--corrects", first, *at)
    log = {"kind": "log", "author": "Ben", "at": "2026-02-24", "fields": {"text": " a\r\nb "}}
    assert sprint("add", folder, "--stdin", given=json.dumps(log)).exit_code == 0
    add(folder, "decision", "D1", "--set", "state=PENDING", *at)
    shown = sprint("show", folder)
    golden("sprint/show", shown.output)
    assert read_sprint(manifest)[0][4].fields == {"text": "a\nb"}
    found = json.loads(sprint("show", folder, "--json", "--without-runs").stdout)
    (decision,) = found["decisions"]
    assert decision["fields"] == {"state": "PENDING", "title": "Rank", "unblocks": ["WP-A1"]}
    assert (len(decision["history"]), found["corrected"][first]) == (3, decision["history"][1]["entry_id"])
    assert found["packages"][0]["waits_for"] == ["D1"]


def test_a_field_that_is_set_to_nothing_is_taken_away(manifest: Manifest) -> None:
    add(manifest.folder, "risk", "R1", "--set", "text=a", "--set", "owner=Ada")
    add(manifest.folder, "risk", "R1", "--set", "owner=", "--set", "mitigation=")
    found = json.loads(sprint("show", manifest.folder, "--json").stdout)
    assert found["risks"][0]["fields"] == {"text": "a"}


def test_a_plan_is_imported_once(manifest: Manifest, golden: Callable[[str, str], None]) -> None:
    dry = imported(manifest, "--dry-run")
    assert (dry.exit_code, read_sprint(manifest)[0]) == (0, ())
    golden("sprint/import", imported(manifest).output + "again:\n" + imported(manifest).output)


def test_an_export_is_imported_as_the_same_record(manifest: Manifest, tmp_path: Path) -> None:
    imported(manifest)
    file, other = tmp_path / "out.md", tmp_path / "other"
    assert sprint("export", manifest.folder, "-o", file).exit_code == 0
    other.mkdir()
    copy = manifest_of(other, sprint={"path": "log.jsonl"})
    assert sprint("import", file, "--to", other).exit_code == 0
    assert (other / "log.jsonl").read_bytes() == (manifest.folder / "log.jsonl").read_bytes()
    assert read_sprint(copy)[1] == ()
    assert "```jsonl" not in sprint("export", manifest.folder, "--without-entries").stdout


def test_check_names_lines_and_references(manifest: Manifest, golden: Callable[[str, str], None]) -> None:
    add(
        manifest.folder,
        "decision",
        "D1",
        "--set",
        "depends_on=D2",
        "--set",
        "unblocks=D1",
        "--at",
        "2026-02-23",
    )
    add(manifest.folder, "decision", "D3", "--set", "depends_on=D4", "--at", "2026-02-23")
    add(manifest.folder, "decision", "D4", "--set", "depends_on=D3", "--at", "2026-02-23")
    with (manifest.folder / "log.jsonl").open("ab") as file:
        file.write(b'{"kind":"wish","at":"2026-02-23","author":"Ada","fields":{}}\n{"kind":"log"}\n{torn')
    result = sprint("check", manifest.folder)
    assert result.exit_code == 1
    golden("sprint/check", result.output)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("add", "decision", "D 1", "--author", "Ada"), "bad_key"),
        (("add", "decision", "--author", "Ada"), "empty_key"),
        (("add", "log", "--author", "Ada", "--corrects", "0" * 16), "corrects_nothing"),
        (("add", "log", "--author", "Ada\x1b"), "bad_author"),
        (("add", "log", "--author", "Ada", "--at", "today"), "bad_at"),
    ],
)
def test_what_is_not_valid_is_refused(manifest: Manifest, arguments: tuple[str, ...], code: str) -> None:
    name, *rest = arguments
    with pytest.raises(Fault) as fault:
        sprint(name, manifest.folder, *rest)
    assert fault.value.problems[0].code == code


@pytest.mark.parametrize("given", ["", "[]", "{", '"x"', "\x00"])
def test_what_is_no_object_on_stdin_is_refused(manifest: Manifest, given: str) -> None:
    with pytest.raises(Fault) as fault:
        sprint("add", manifest.folder, "--stdin", given=given)
    assert fault.value.problems[0].where == "stdin"


def test_usage(manifest: Manifest) -> None:
    assert sprint("add", manifest.folder, "log").exit_code == 2
    assert sprint("add", manifest.folder, "--author", "Ada").exit_code == 2
    assert sprint("add", manifest.folder, "log", "--author", "Ada", "--set", "x").exit_code == 2
