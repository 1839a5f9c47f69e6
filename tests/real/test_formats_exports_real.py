"""Real exports of other tools, opened, written in the same format and read again: nothing is different."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from proofspan.cli.workspace.export_cmd import command
from proofspan.services.opening.open import open_source

pytestmark = pytest.mark.real_data


@pytest.mark.parametrize(
    ("kind", "name", "suffix", "questions"),
    [
        ("openinference", "openinference/phoenix_spans.jsonl", ".jsonl", 13),
        ("trec", "trec/results.test", "", 3),
    ],
)
def test_an_export_is_written_as_it_was_read(
    real_data: Path, tmp_path: Path, kind: str, name: str, suffix: str, questions: int
) -> None:
    first, second, target = tmp_path / "first", tmp_path / "second", tmp_path / f"again{suffix}"
    open_source(real_data / name, workspace=first)
    arguments = [
        kind,
        str(first),
        "-o",
        str(target),
        "--all-variants",
        "--cache-dir",
        str(tmp_path / "cache"),
    ]
    result = CliRunner().invoke(command, arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    opened = open_source(target, workspace=second)
    assert opened.found.format.name == kind and opened.reading.lost == 0
    before, after = (
        [*map(orjson.loads, (each / "runs/R001/trace.jsonl").read_bytes().splitlines())]
        for each in (first, second)
    )
    assert before == after and len(before) == questions
