"""Commands on a run of separate records: they see what they see of a run of traces."""

from __future__ import annotations

import json
from pathlib import Path

import click
import orjson
import pytest
from click.testing import CliRunner

from proofspan.cli.evidence import bundle_cmd
from proofspan.cli.runs import triage_cmd
from proofspan.cli.workspace import check_cmd
from tests.record_files import HANDBOOK, handbook_of_records

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def handbook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The handbook with R002 as records, one line of which is cut short and one belongs to nothing."""
    folder = handbook_of_records(tmp_path_factory.mktemp("records") / "handbook")
    with (folder / "runs" / "R002" / "rerank.jsonl").open("ab") as file:
        file.write(b'{"q_id": "Q77", "items": []}\n{"q_id"\n')
    return folder


def run(command: click.Command, *arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(command, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout


def test_check_reads_each_file_of_records_by_itself(handbook: Path) -> None:
    _, output = run(check_cmd.command, handbook, "--json")
    problems = {entry["key"]: entry["problems"] for entry in json.loads(output)["artifacts"]}
    records = {key: found for key, found in problems.items() if key.startswith("runs[R002].records")}
    assert len(records) == 5
    assert {key for key, found in records.items() if found} == {"runs[R002].records.rerank"}


def test_triage_labels_them_and_reports_what_was_not_joined(handbook: Path, tmp_path: Path) -> None:
    code, output = run(triage_cmd.command, handbook, "--run", "R002", "-o", tmp_path / "now.jsonl", "--json")
    assert code == 1
    assert [issue["where"] for issue in json.loads(output)["line_issues"]] == [
        "runs/R002/rerank.jsonl:15",
        "runs/R002/rerank.jsonl:16",
    ]
    run(triage_cmd.command, HANDBOOK, "--run", "R002", "-o", tmp_path / "was.jsonl")
    assert (tmp_path / "now.jsonl").read_bytes() == (tmp_path / "was.jsonl").read_bytes()


def test_bundles_are_built_from_them(handbook: Path, tmp_path: Path) -> None:
    code, _ = run(bundle_cmd.command, "build", handbook, "--run", "R002", "-o", tmp_path / "bundles.jsonl")
    assert code == 1  # the two lines that were not joined
    built = [orjson.loads(line) for line in (tmp_path / "bundles.jsonl").read_bytes().splitlines()]
    assert [bundle["q_id"] for bundle in built] == [f"Q{number:02}" for number in range(1, 15)]
    assert built[2]["citation"]["page_idx"] == 10
