"""The commands of docs/cohort.md run as they are, in their order, and print what the document shows."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from shutil import copytree

import pytest
from click.testing import CliRunner

from proofspan.cli import group
from proofspan.journal.sprint import read_sprint
from proofspan.manifest.load import load_manifest
from tests.places import CHECKOUT, DEMO

pytestmark = pytest.mark.slow

STORY = CHECKOUT / "docs/cohort.md"
#: A command whose output is shown, and one that is run without it.
_BLOCK = re.compile(r"```console\n\$ (.*)\n((?:(?!```).*\n)*)```|```sh\n(proofspan (?!.* --model ).*)\n```")


def test_the_story_of_a_cohort_is_as_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    copytree(DEMO, tmp_path / "meridian")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROOFSPAN_CACHE_DIR", str(tmp_path / "cache"))

    def ran(match: re.Match[str]) -> str:
        printed = _printed(match[1] or match[3])
        if match[1] is None:
            return match[0]
        return f"```console\n$ {match[1]}\n{printed}```"

    text = STORY.read_text(encoding="utf-8")
    current = _BLOCK.sub(ran, text)
    if request.config.getoption("--update-goldens"):
        STORY.write_text(current, encoding="utf-8")
        return
    assert current == text, "if this is intended, use --update-goldens and read the document"
    manifest = load_manifest(tmp_path / "meridian")
    assert [run.run_id for run in manifest.runs][-2:] == ["R007", "R008"]
    entries, issues = read_sprint(manifest)
    assert not issues and entries[-1].key == "D6" and entries[-1].fields["state"] == "PENDING"
    exported = (tmp_path / "SPRINT.md").read_text(encoding="utf-8")
    assert "of all 37 questions 6 are won and 3 lost" in exported


def _printed(line: str) -> str:
    """Run a command of the document and return what it prints, with trailing blanks removed."""
    command, *arguments = shlex.split(line)
    if command == "python":
        script, source, _, target = arguments
        with Path(target).open("wb") as file:
            subprocess.run([sys.executable, CHECKOUT / script, source], stdout=file, check=True)
        return ""
    assert command == "proofspan"
    result = CliRunner().invoke(group, arguments)
    assert result.exit_code in (0, 1), result.output
    return "".join(f"{each.rstrip()}\n" for each in result.stdout.splitlines())
