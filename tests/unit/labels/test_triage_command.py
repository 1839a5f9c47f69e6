"""`proofspan triage` from the outside: files in, files and exit status out."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from proofspan.cli import group
from proofspan.cli.runs.triage_cmd import command
from proofspan.contracts.rules.schema_findings import schema_problems
from proofspan.errors import Fault, InputFault
from proofspan.manifest.load import load_manifest
from proofspan.store.index.build import build_index
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store

CHUNKS = [
    {"id": "p1#1", "text": "X is a constrained mapping over sets."},
    {"id": "p2#1", "text": "Wholly unrelated gardening advice."},
]
TRACES: list[dict[str, Any]] = [
    {
        "q": "What is X?",
        "chunks": [{"id": "p1#1"}],
        "answer": "X is a constrained mapping. citations: [p1#1]",
    },
    {"q": "What is Z?", "chunks": [{"id": "p1#1"}], "answer": "not in context"},
    {"q": "Which mapping is X?", "chunks": [{"id": "p1#1"}], "answer": "X is a constrained mapping."},
    {
        "q": "Which mapping is X?",
        "q_id": "Q4",
        "seed": 1,
        "chunks": [{"id": "p2#1"}],
        "answer": "a. citations: []",
    },
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "chunks.json").write_text(json.dumps(CHUNKS), encoding="utf-8")
    write_lines(tmp_path / "trace.jsonl", TRACES)
    return tmp_path


def write_lines(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def triage(folder: Path, *options: str, traces: str = "trace.jsonl", chunks: str = "chunks.json") -> Result:
    output = () if "-o" in options else ("-o", str(folder / "report.jsonl"))
    paths = [str(folder / traces), str(folder / chunks)]
    return CliRunner().invoke(command, [*paths, *output, *options])


def fault(result: Result) -> InputFault:
    assert isinstance(result.exception, InputFault), result.output
    return result.exception


def report(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "report.jsonl").read_text(encoding="utf-8").splitlines()]


def test_the_recipes_pass_criteria_hold(folder: Path) -> None:
    assert triage(folder).exit_code == 0
    rows = report(folder)
    assert [row["label"] for row in rows] == [
        "retrieval_drift",
        "refusal_ok",
        "generation_drift",
        "retrieval_drift",
    ]
    assert rows[0]["suspicions"] == ["query_terms_too_few"]
    assert ["q_id" in row for row in rows] == [False, False, False, True]
    assert [row.get("seed") for row in rows] == [None, None, None, 1]


def test_the_same_files_give_the_same_bytes_to_file_and_stdout(folder: Path) -> None:
    triage(folder)
    first = (folder / "report.jsonl").read_bytes()
    triage(folder)
    assert (folder / "report.jsonl").read_bytes() == first
    assert triage(folder, "-o", "-").stdout_bytes == first
    assert sorted(path.name for path in folder.iterdir()) == ["chunks.json", "report.jsonl", "trace.jsonl"]


def test_counts_are_printed_beside_the_profile_on_stderr(folder: Path) -> None:
    result = triage(folder, "--template", "none", "--refusal", "no idea", "--refusal", "not in context")
    assert 'template none · refusal "no idea", "not in context"' in result.stderr
    assert "4 questions" in result.stderr
    assert result.stdout == ""


def test_markdown_is_the_recipes_table(folder: Path) -> None:
    triage(folder, "--markdown", str(folder / "report.md"))
    lines = (folder / "report.md").read_text(encoding="utf-8").splitlines()
    assert lines[:3] == [
        "| q | label | why |",
        "|---|---|---|",
        "| What is X? | **retrieval_drift** | evidence lacks query terms |",
    ]
    assert len(lines) == 2 + len(TRACES)


def test_line_issues_are_named_and_the_rest_is_labelled(folder: Path) -> None:
    lines = [
        json.dumps(TRACES[0]),
        "{not json",
        json.dumps({"q": "x", "answer": None}),
        json.dumps(TRACES[1]),
    ]
    (folder / "trace.jsonl").write_text("\n".join(lines), encoding="utf-8")
    result = triage(folder)
    assert result.exit_code == 1
    assert [row["q"] for row in report(folder)] == ["What is X?", "What is Z?"]
    for number in (2, 3):
        assert f"{folder / 'trace.jsonl'}:{number}: " in result.stderr
    assert "answer is null" in result.stderr


def test_an_absent_template_comes_with_the_command_that_fits(folder: Path) -> None:
    write_lines(folder / "trace.jsonl", [TRACES[2], {**TRACES[2], "answer": "I don't know."}])
    result = triage(folder)
    assert result.exit_code == 0
    assert "template_absent" in result.stderr
    assert "--template none --refusal 'i don'\"'\"'t know'" in result.stderr
    again = triage(folder, "--template", "none", "--refusal", "i don't know")
    assert "template_absent" not in again.stderr
    assert [row["label"] for row in report(folder)] == ["ok", "refusal_suspect"]


def test_a_repeated_question_is_marked(folder: Path) -> None:
    write_lines(folder / "trace.jsonl", [TRACES[2], TRACES[2]])
    triage(folder)
    assert [row["suspicions"] for row in report(folder)] == [[], ["duplicate_question"]]


def test_json_summary(folder: Path) -> None:
    with (folder / "trace.jsonl").open("a", encoding="utf-8") as stream:
        stream.write("nonsense")
    result = triage(folder, "--json")
    summary = json.loads(result.stdout)
    assert result.exit_code == 1
    assert summary["labels"]["retrieval_drift"] == 2
    assert summary["traces"] == 4
    assert summary["profile"] == {"template": "seed", "refusal": ["not in context"]}
    assert [issue["where"].rsplit(":", 1)[1] for issue in summary["line_issues"]] == ["5"]


def test_packed_traces_are_read(folder: Path) -> None:
    packed = gzip.compress((folder / "trace.jsonl").read_bytes())
    (folder / "trace.jsonl.gz").write_bytes(packed)
    assert triage(folder, traces="trace.jsonl.gz").exit_code == 0
    assert len(report(folder)) == 4


def test_chunks_may_be_lines(folder: Path) -> None:
    write_lines(folder / "chunks.jsonl", CHUNKS)
    triage(folder)
    before = (folder / "report.jsonl").read_bytes()
    triage(folder, chunks="chunks.jsonl")
    assert (folder / "report.jsonl").read_bytes() == before


@pytest.mark.parametrize("name", ["trace.jsonl", "chunks.json", "link.jsonl"])
def test_an_input_is_never_written_over(folder: Path, name: str) -> None:
    (folder / "link.jsonl").symlink_to(folder / "trace.jsonl")
    before = (folder / "trace.jsonl").read_bytes()
    for option in ("-o", "--markdown"):
        result = triage(folder, option, str(folder / name))
        assert fault(result).problems[0].code == "output_is_input"
    assert (folder / "trace.jsonl").read_bytes() == before
    assert not (folder / "report.jsonl").exists()


def test_outputs_that_cannot_be_written_are_named_together(folder: Path) -> None:
    result = triage(folder, "-o", str(folder), "--markdown", str(folder / "none" / "r.md"))
    assert [problem.code for problem in fault(result).problems] == ["output_is_folder", "no_folder"]
    same = str(folder / "same")
    assert fault(triage(folder, "-o", same, "--markdown", same)).problems[0].code == "same_output"


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("trace.jsonl", "q,answer\nWhat?,yes\n", "CSV"),
        ("trace.jsonl", "<html><body>no</body></html>", "HTML"),
        ("chunks.json", "[1, 2", "JSON"),
        ("chunks.json", "[]", "no chunk"),
        ("chunks.json", '[{"text": "x"}]', "no id"),
    ],
)
def test_an_unusable_file_ends_with_its_name_and_leaves_no_report(
    folder: Path, name: str, content: str, word: str
) -> None:
    (folder / name).write_text(content, encoding="utf-8")
    message = str(fault(triage(folder)))
    assert name in message
    assert word in message
    assert not (folder / "report.jsonl").exists()


def test_a_missing_file_is_named(folder: Path) -> None:
    for missing in ("trace.jsonl", "chunks.json"):
        (folder / missing).rename(folder / "away")
        assert missing in str(fault(triage(folder)))
        (folder / "away").rename(folder / missing)


def test_a_link_in_place_of_the_report_is_replaced_not_followed(folder: Path) -> None:
    (folder / "elsewhere").write_text("kept", encoding="utf-8")
    (folder / "report.jsonl").symlink_to(folder / "elsewhere")
    assert triage(folder).exit_code == 0
    assert not (folder / "report.jsonl").is_symlink()
    assert (folder / "elsewhere").read_text(encoding="utf-8") == "kept"


def test_json_and_a_report_on_stdout_exclude_each_other(folder: Path) -> None:
    assert triage(folder, "-o", "-", "--json").exit_code == 2


def workspace(folder: Path, **manifest: Any) -> Path:
    """The folder as a workspace; an entry that is given as None is left out."""
    runs = [{"run_id": "R1", "traces": {"path": "trace.jsonl"}}, {"run_id": "R2"}]
    whole = {"manifest_version": "1.0", "name": "w", "chunks": {"path": "chunks.json"}, "runs": runs}
    entries = {name: entry for name, entry in (whole | manifest).items() if entry is not None}
    (folder / "pipeline_manifest.yaml").write_text(json.dumps(entries), encoding="utf-8")
    return folder


@pytest.mark.parametrize("named", ["", "pipeline_manifest.yaml"])
def test_a_run_of_a_workspace_reads_as_its_files_do(folder: Path, named: str) -> None:
    triage(folder)
    bare = (folder / "report.jsonl").read_bytes()
    arguments = [str(workspace(folder) / named), "--run", "R1", "-o", str(folder / "again.jsonl")]
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 0, result.output
    assert (folder / "again.jsonl").read_bytes() == bare


def test_a_workspace_is_read_with_its_own_profile_unless_another_is_named(folder: Path) -> None:
    workspace(folder, triage={"template": "none"})
    arguments = [str(folder), "--run", "R1", "-o", str(folder / "report.jsonl")]
    assert "template none" in CliRunner().invoke(command, arguments).stderr
    assert "template seed" in CliRunner().invoke(command, [*arguments, "--template", "seed"]).stderr


def test_a_line_of_another_run_is_an_issue_of_the_workspaces_run(folder: Path) -> None:
    write_lines(folder / "trace.jsonl", [TRACES[0] | {"run_id": "R9"}, TRACES[1]])
    arguments = [str(workspace(folder)), "--run", "R1", "-o", str(folder / "report.jsonl")]
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 1
    assert "trace.jsonl:1: the line belongs to run 'R9'" in result.stderr


@pytest.mark.parametrize(
    ("run", "manifest", "expected"),
    [
        ("R9", {}, "the manifest has no run 'R9'"),
        ("R2", {}, "names no traces for this run"),
        ("R1", {"chunks": None}, "names no chunks"),
    ],
)
def test_what_a_workspace_lacks_is_named(folder: Path, run: str, manifest: Any, expected: str) -> None:
    body = workspace(folder, **manifest)
    result = CliRunner().invoke(command, [str(body), "--run", run, "-o", str(folder / "report.jsonl")])
    assert isinstance(result.exception, Fault)
    assert expected in str(result.exception)
    assert result.exception.problems[0].fix
    assert not (folder / "report.jsonl").exists()


def of_run(folder: Path, *options: str) -> Result:
    arguments = [str(folder), "--run", "R1", "-o", str(folder / "report.jsonl"), *options]
    return CliRunner().invoke(command, arguments)


def indexed(folder: Path) -> dict[object, object]:
    """Question → label in a fresh index of the workspace's run."""
    manifest = load_manifest(folder)
    build_index(manifest, runs=["R1"], cache_dir=folder / "cache")
    rows = Store(manifest, folder / "cache").page(Filter(run="R1"), Sort(), limit=100, offset=0)
    return dict(zip(rows["q"], rows["label"], strict=True))


def reported(folder: Path) -> dict[object, object]:
    """Question → label in the report."""
    return {row["q"]: row["label"] for row in report(folder)}


def test_chunks_that_the_manifest_does_not_mean_label_nothing_here_nor_in_the_index(folder: Path) -> None:
    body = workspace(folder, chunks={"path": "chunks.json", "sha256": "0" * 64})
    assert [problem.code for problem in fault(of_run(body)).problems] == ["chunks_differ"]
    assert not (folder / "report.jsonl").exists()
    assert set(indexed(body).values()) == {None}


@pytest.mark.parametrize("sha256", [True, False])
def test_packed_chunks_label_as_the_index_does(folder: Path, sha256: bool) -> None:
    packed = gzip.compress((folder / "chunks.json").read_bytes())
    (folder / "chunks.json.gz").write_bytes(packed)
    (folder / "chunks.json").unlink()
    named = {"path": "chunks.json.gz"} | ({"sha256": hashlib.sha256(packed).hexdigest()} if sha256 else {})
    write_lines(folder / "trace.jsonl", TRACES[:3])
    body = workspace(folder, chunks=named)
    assert of_run(body).exit_code == 0
    assert reported(folder) == indexed(body)
    assert reported(folder)["What is X?"] == "retrieval_drift"


def test_a_damaged_archive_of_chunks_is_a_fault_here_and_a_problem_of_the_index(folder: Path) -> None:
    (folder / "chunks.json.gz").write_bytes(gzip.compress((folder / "chunks.json").read_bytes())[:-9])
    body = workspace(folder, chunks={"path": "chunks.json.gz"})
    (line,) = fault(of_run(body)).problems
    assert line.code == "chunks_unusable"
    assert line.message.startswith("the chunk file cannot be unpacked")
    (run,) = build_index(load_manifest(body), runs=["R1"], cache_dir=folder / "cache").runs
    assert run.problems == (line,)


@pytest.mark.parametrize("block", [1, 7, 1 << 20])
def test_a_last_line_without_its_end_waits_as_in_the_index(
    folder: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr("proofspan.traces.lines.reader._BUFFER", block)
    write_lines(folder / "trace.jsonl", TRACES[:2])
    last = json.dumps(TRACES[2])
    with (folder / "trace.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(last)
    body = workspace(folder)
    result = of_run(body)
    assert result.exit_code == 0
    assert f"{len(last)} bytes of a last line without line end wait" in result.stderr
    assert reported(folder) == indexed(body)
    assert len(report(folder)) == 2
    assert json.loads(of_run(body, "--json").stdout)["waiting_bytes"] == len(last)
    with (folder / "trace.jsonl").open("a", encoding="utf-8") as stream:
        stream.write("\n")
    assert "wait" not in of_run(body).stderr
    assert len(report(folder)) == 3


@pytest.mark.parametrize("content", ["", json.dumps(TRACES[0])])
def test_a_file_without_a_whole_line_has_no_row_yet(folder: Path, content: str) -> None:
    (folder / "trace.jsonl").write_text(content, encoding="utf-8")
    assert of_run(workspace(folder)).exit_code == 0
    assert report(folder) == []


def test_everything_that_a_run_lacks_is_reported_at_once(folder: Path) -> None:
    body = workspace(folder)
    (folder / "trace.jsonl").unlink()
    (folder / "chunks.json").unlink()
    assert [problem.code for problem in fault(of_run(body)).problems] == ["missing", "chunks_unusable"]


def test_no_file_of_the_workspace_is_written_over(folder: Path) -> None:
    body = workspace(folder)
    before = (folder / "pipeline_manifest.yaml").read_bytes()
    reported = fault(of_run(body, "--markdown", str(folder / "pipeline_manifest.yaml")))
    assert [problem.code for problem in reported.problems] == ["output_is_input"]
    assert (folder / "pipeline_manifest.yaml").read_bytes() == before


def test_traces_alone_need_their_chunks(folder: Path) -> None:
    result = CliRunner().invoke(command, [str(folder / "trace.jsonl"), "-o", "-"])
    assert result.exit_code == 2
    assert "name the CHUNKS file" in result.stderr
    both = triage(folder, "--run", "R1")
    assert both.exit_code == 2
    assert "bare files hold one" in both.stderr


def test_the_command_is_part_of_proofspan() -> None:
    assert "TRACES|WORKSPACE [CHUNKS]" in CliRunner().invoke(group, ["triage", "--help"]).output


def test_a_row_has_the_claims_of_its_answer_and_their_sum(folder: Path) -> None:
    answer = "X is a constrained mapping over sets. Nobody mentions elephants anywhere. citations: [p1#1]"
    write_lines(folder / "trace.jsonl", [{**TRACES[0], "answer": answer}, TRACES[1]])
    assert triage(folder).exit_code == 0
    first, refusal = report(folder)
    assert [(each["text"], each["status"]) for each in first["claims"]] == [
        ("X is a constrained mapping over sets.", "supported"),
        ("Nobody mentions elephants anywhere.", "unsupported"),
    ]
    assert all(answer[each["start"] : each["end"]] == each["text"] for each in first["claims"])
    evidence = first["claims"][0]["evidence"]
    assert (evidence["origin"], evidence["chunk_id"]) == ("prompt", "p1#1")
    assert CHUNKS[0]["text"][evidence["start"] : evidence["end"]] == evidence["text"]
    assert 0 < first["signals"]["support"] < 1
    assert first["signals"]["contradictions"] == 0
    assert (refusal["claims"], refusal["signals"]["support"]) == ([], None)
    once = (folder / "report.jsonl").read_bytes()
    assert triage(folder).exit_code == 0
    assert (folder / "report.jsonl").read_bytes() == once


def test_without_claims_a_row_is_as_before(folder: Path) -> None:
    assert triage(folder, "--no-claims").exit_code == 0
    for row in report(folder):
        assert "claims" not in row
        assert row["signals"].keys().isdisjoint({"support", "contradictions"})


def test_a_report_with_claims_keeps_its_schema(folder: Path) -> None:
    assert triage(folder).exit_code == 0
    lines = (folder / "report.jsonl").read_text(encoding="utf-8").splitlines()
    assert [problem for line in lines for problem in schema_problems("report", json.loads(line))] == []
