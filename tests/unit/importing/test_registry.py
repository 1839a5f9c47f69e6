"""Importers of other packages: the example in the documentation, registered and run from the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from proofspan.cli import group
from proofspan.manifest.check import check_workspace
from proofspan.manifest.load import load_manifest
from proofspan.traces.importers import registry
from tests.places import CHECKOUT
from tests.unit.importing.mapped_room import traces_in

EXTENDING = CHECKOUT / "docs" / "extending.md"
SOURCE = {"rows": [{"id": "Q1", "question": "Why?", "answer": "So.", "contexts": ["Because.", "Or not."]}]}


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the importer of the documentation's example."""
    section = EXTENDING.read_text("utf-8").partition("## An importer")[2]
    code = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert code is not None
    names: dict[str, object] = {}
    exec(code[1], names)  # noqa: S102 - the example in our own documentation
    entry_point = SimpleNamespace(load=lambda: names["ROWS"])
    monkeypatch.setattr(registry, "entry_points", lambda *, group: [entry_point])


@pytest.mark.usefixtures("registered")
def test_a_registered_importer_is_a_kind_on_the_command_line(tmp_path: Path) -> None:
    source, workspace = tmp_path / "rows.json", tmp_path / "workspace"
    source.write_text(json.dumps(SOURCE))
    result = CliRunner().invoke(group, ["import", "rows", str(source), "--to", str(workspace), "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["chunks"] == 2
    assert [trace.chunk_ids for trace in traces_in(workspace)] == [("Q1-1", "Q1-2")]
    assert check_workspace(load_manifest(workspace)).ok


@pytest.mark.usefixtures("registered")
def test_the_help_lists_every_importer() -> None:
    assert sorted(registry.importers()) == ["mapped", "rows"]
    output = CliRunner().invoke(group, ["import", "--help"]).output
    assert re.findall(r"^  (\w+)  ", output, re.MULTILINE) == ["mapped", "rows", "suggest"]


def test_an_unknown_kind_is_a_usage_error(tmp_path: Path) -> None:
    assert CliRunner().invoke(group, ["import", "rows", str(tmp_path), "--to", "x"]).exit_code == 2
