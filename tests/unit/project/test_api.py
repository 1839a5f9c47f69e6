"""`import proofspan`: the functions that the README shows, against the commands that do the same."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import orjson
import pytest
from click.testing import CliRunner

import proofspan
from proofspan.cli.runs import gate_cmd, triage_cmd
from proofspan.contracts.records.records import LABELS
from tests.places import DEMO

pytestmark = pytest.mark.slow


@pytest.fixture
def demo(tmp_path: Path, checked: Callable[[Path], Path]) -> proofspan.Workspace:
    copytree(checked(DEMO), tmp_path, dirs_exist_ok=True)
    return proofspan.open_workspace(cache_dir=tmp_path)


def report_of(*arguments: object, output: Path) -> list[dict[str, object]]:
    result = CliRunner().invoke(triage_cmd.command, [*map(str, arguments), "-o", str(output)])
    assert result.exit_code in (0, 1), result.output
    return [json.loads(line) for line in output.read_text("utf-8").splitlines()]


def test_every_public_name_is_there_and_documented() -> None:
    for name in proofspan.__all__:
        value = getattr(proofspan, name)
        assert isinstance(value, str) or (value.__doc__ or "").strip(), name
    assert dir(proofspan) == proofspan.__all__
    with pytest.raises(AttributeError):
        assert proofspan.nothing_of_this_name


@pytest.mark.parametrize("module", ["proofspan", "proofspan.cli.workspace.index_cmd"])
def test_the_package_and_the_command_that_pages_wait_for_load_no_slow_library(module: str) -> None:
    slow = "{'duckdb', 'pandas', 'pymupdf', 'streamlit'}"
    script = f"import sys, {module}; print(*{slow} & set(sys.modules))"
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == []


def test_triage_of_bare_files_equals_the_commands_report(tmp_path: Path) -> None:
    traces, chunks = DEMO / "runs/R005/trace.jsonl", DEMO / "corpus/chunks.jsonl"
    report = proofspan.triage(traces, chunks)
    rows = report_of(traces, chunks, output=tmp_path / "report.jsonl")
    assert [(row.q, row.label, row.why) for row in report.rows] == [
        (row["q"], row["label"], row["why"]) for row in rows
    ]
    assert report.labels == Counter(row["label"] for row in rows) and set(report.labels) <= set(LABELS)
    assert {issue.code for issue in report.issues} == {"not_json"} and report.issues[0].source.line == 25


def test_the_profile_of_triage_is_the_callers(tmp_path: Path) -> None:
    traces, chunks = tmp_path / "t.jsonl", tmp_path / "c.jsonl"
    chunks.write_bytes(orjson.dumps({"id": "c1", "text": "The oil is 5W-30."}))
    traces.write_bytes(orjson.dumps({"q": "Which oil?", "answer": "No idea.", "chunks": [{"id": "c1"}]}))
    declined = proofspan.triage(traces, chunks, template="none", refusal=["no idea"])
    assert declined.profile.refusal == ("no idea",) and declined.labels == {"refusal_suspect": 1}
    assert proofspan.triage(str(traces), str(chunks)).labels == {"generation_drift": 1}


def test_triage_of_files_that_cannot_be_used_says_which_and_what_to_do(tmp_path: Path) -> None:
    empty = tmp_path / "chunks.jsonl"
    empty.write_bytes(b"")
    with pytest.raises(proofspan.Fault) as caught:
        proofspan.triage(DEMO / "runs/R001/trace.jsonl", empty)
    (problem,) = caught.value.problems
    assert problem.code == "no_chunks" and str(empty) in problem.where and problem.fix
    with pytest.raises(proofspan.Fault):
        proofspan.triage(tmp_path / "nowhere.jsonl", DEMO / "corpus/chunks.jsonl")


def test_a_workspace_names_its_runs_and_labels_the_latest(demo: proofspan.Workspace, tmp_path: Path) -> None:
    assert demo.runs == ("R001", "R002", "R003", "R004", "R005", "R006") and demo.folder == DEMO
    rows = report_of(DEMO, output=tmp_path / "report.jsonl")
    assert [row.label for row in demo.triage().rows] == [row["label"] for row in rows]
    with pytest.raises(proofspan.Fault):
        demo.triage("R999")


def test_gate_and_metrics_equal_the_command(demo: proofspan.Workspace, tmp_path: Path) -> None:
    arguments = [str(DEMO), "--run", "R006", "--cache-dir", str(tmp_path), "--json"]
    result = CliRunner().invoke(gate_cmd.command, arguments)
    report = demo.gate("R006")
    assert report.passes() == (result.exit_code == 0)
    assert [check.status for check in report.checks] == [
        check["status"] for check in json.loads(result.output)["checks"]
    ]
    share = demo.metrics("R006").values["section_match_at_1"]
    assert (share.numerator, share.denominator) == (25, 37)


def test_a_quote_is_placed_in_a_pdf_and_in_a_text(demo: proofspan.Workspace) -> None:
    quote = "The distance between the MIN and MAX marks is 1.0 litre"
    span = proofspan.locate(DEMO / "corpus/meridian-2026.pdf", quote, page_idx=57)
    assert (span.status, span.page_idx) == ("exact", 57) and span.rects
    bulletin = (DEMO / "corpus/bulletin-07.md").read_text("utf-8").splitlines()
    line = max(bulletin, key=len)
    assert demo.locate("bulletin-07", line).ranges
    with pytest.raises(proofspan.Fault) as caught:
        demo.locate("no-such-document", quote)
    assert caught.value.problems[0].code == "unknown_document"
    with pytest.raises(proofspan.Fault):
        proofspan.locate(DEMO / "nowhere.pdf", quote)


def test_validate_gives_the_findings_of_a_file_and_of_a_workspace(
    demo: proofspan.Workspace, tmp_path: Path
) -> None:
    answers = tmp_path / "answers.jsonl"
    answers.write_bytes(orjson.dumps({"answer": "5W-30", "citations": []}) + b"\n")
    findings = proofspan.validate(answers, record_type="answer")
    assert {finding.line for finding in findings} == {1} and all(finding.fix for finding in findings)
    assert str(DEMO / "runs/R005/trace.jsonl") in {finding.file for finding in demo.validate()}
    with pytest.raises(proofspan.Fault):
        proofspan.validate(tmp_path / "nowhere.jsonl")
