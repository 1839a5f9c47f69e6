"""`proofspan validate`: what it prints for a person, a pipe and a program, and how it ends."""

from __future__ import annotations

import signal
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner, Result

from proofspan.cli import INTERRUPTED, main
from proofspan.cli.records.validate_cmd import command
from proofspan.contracts.rules.catalogue import rule_of
from proofspan.errors import InputFault
from proofspan.services import validation

CLEAN = (
    b'{"citations": [{"snippet_id": "s1", "section_id": "keys", "source_url": "https://example.org/h", '
    b'"offsets": {"start": 1, "end": 9, "unit": "char"}, "tokens": 2}], "answer": "So.", '
)
GOOD = CLEAN + '"ΔS": 0.37, "λ": "convergent"}\n'.encode()
WARNED = CLEAN + '"ΔS": 0.37, "λ": "dizzy"}\n'.encode()
WRONG = CLEAN + '"λ": "convergent"}\n'.encode()


def run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(each) for each in arguments])


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    path = tmp_path / "answers.jsonl"
    path.write_bytes(GOOD + WARNED + WRONG)
    return path


def test_a_pipe_gets_a_finding_a_line_with_tabs_between_its_parts(answers: Path) -> None:
    result = run(answers, "--as", "auditable-answer")
    assert result.exit_code == 1
    first, second = (line.split("\t") for line in result.stdout.splitlines())
    assert first[:4] == [f"{answers}:2", "", "unknown_lambda_state", "λ"]
    assert second == [
        f"{answers}:3",
        "",
        "missing_delta_s",
        "ΔS",
        "ΔS is missing",
        rule_of("missing_delta_s").fix,
    ]


def test_the_summary_counts_by_code_with_next_steps_on_stderr(answers: Path) -> None:
    lines = run(answers, "--as", "auditable-answer").stderr.splitlines()
    assert lines[0] == "3 records in 1 file: 1 error, 1 warning"
    assert [line.split()[:3] for line in lines[2:]] == [
        ["1", "1", "missing_delta_s"],
        ["1", "1", "unknown_lambda_state"],
    ]
    assert lines[2].endswith(rule_of("missing_delta_s").fix)
    assert lines[3].endswith("(warning)")


def test_a_program_gets_an_object_a_line_and_the_summary_last(answers: Path) -> None:
    result = run(answers, "--as", "auditable-answer", "--json")
    *findings, last = map(orjson.loads, result.stdout.splitlines())
    assert findings[1] == {
        "file": str(answers),
        "line": 3,
        "record_id": "",
        "code": "missing_delta_s",
        "severity": "error",
        "field": "ΔS",
        "message": "ΔS is missing",
        "next_step": rule_of("missing_delta_s").fix,
    }
    assert last["summary"]["codes"][0] == {
        "code": "missing_delta_s",
        "severity": "error",
        "findings": 1,
        "records": 1,
    }
    assert (last["summary"]["records"], last["summary"]["errors"], last["summary"]["warnings"]) == (3, 1, 1)
    assert result.stderr == ""


def test_warnings_end_with_1_only_where_they_count(answers: Path) -> None:
    answers.write_bytes(GOOD + WARNED)
    assert run(answers, "--as", "auditable-answer").exit_code == 0
    assert run(answers, "--as", "auditable-answer", "--strict").exit_code == 1
    answers.write_bytes(GOOD)
    result = run(answers, "--as", "auditable-answer", "--strict")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "1 record in 1 file: no finding\n"


def test_findings_go_into_a_file_that_is_no_input(answers: Path, tmp_path: Path) -> None:
    report = tmp_path / "findings.tsv"
    assert run(answers, "--as", "auditable-answer", "-o", report).stdout == ""
    assert len(report.read_text().splitlines()) == 2
    result = run(answers, "--as", "auditable-answer", "-o", answers)
    assert isinstance(result.exception, InputFault)
    assert answers.read_bytes() == GOOD + WARNED + WRONG


def test_an_unusable_file_is_reported_after_the_findings_of_the_others(answers: Path, tmp_path: Path) -> None:
    result = run(tmp_path / "none.jsonl", answers, "--as", "auditable-answer")
    assert len(result.stdout.splitlines()) == 2
    assert isinstance(result.exception, InputFault)
    assert [problem.code for problem in result.exception.problems] == ["missing_file"]
    assert run(tmp_path / "none.jsonl", "--as", "answer").stderr.startswith("nothing could be read")


@pytest.mark.parametrize(
    ("option", "code"),
    [
        (("--index-hash", "faiss:77aa"), "mismatch_index_hash"),
        (("--embed-model", "e5"), "embed_model_mismatch"),
        (("--analyzer", "none"), "analyzer_mismatch"),
        (("--rev", "a=b=0000"), "rev_mismatch"),
    ],
)
def test_a_payload_is_held_against_what_the_options_say(
    tmp_path: Path, option: tuple[str, str], code: str
) -> None:
    path = tmp_path / "p.jsonl"
    path.write_bytes(
        b'{"doc_id": "a=b", "section_id": "k", "snippet_id": "s", "source_url": "u", "offsets": {"start": 1, '
        b'"end": 2, "unit": "char"}, "tokens": 1, "index_hash": "faiss:2f7d", "embed_model": "bge:mean", '
        b'"analyzer": "lowercase", "rev": "3b91f2a", "score_raw": 0.5, "k_pos": 1}\n'
    )
    assert run(path, "--as", "citation").exit_code == 0
    assert run(path, "--as", "citation", *option).stdout.split("\t")[2] == code


@pytest.mark.parametrize(
    ("options", "codes"),
    [((), ["cross_section_reuse"]), (("--allow-cross-section",), []), (("--cross-section", "b"), [])],
)
def test_a_whitelist_lets_sections_be_cited_together(
    tmp_path: Path, options: tuple[str, ...], codes: list[str]
) -> None:
    answer = orjson.loads(GOOD)
    answer["citations"].append({**answer["citations"][0], "snippet_id": "s2", "section_id": "b"})
    path = tmp_path / "a.jsonl"
    path.write_bytes(orjson.dumps(answer))
    result = run(path, "--as", "auditable-answer", *options)
    assert [line.split("\t")[2] for line in result.stdout.splitlines()] == codes


@pytest.mark.parametrize("rev", ["handbook", "=1", "handbook="])
def test_a_revision_is_given_as_document_and_revision(answers: Path, rev: str) -> None:
    result = run(answers, "--as", "auditable-answer", "--rev", rev)
    assert result.exit_code == 2
    assert "DOC=REV" in result.stderr


@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupted_validation_leaves_no_file(
    answers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> object:
        signal.raise_signal(signal.SIGINT)
        raise AssertionError

    monkeypatch.setattr(validation, "check_file", interrupted)
    report = tmp_path / "findings.tsv"
    with pytest.raises(SystemExit) as ended:
        main(["validate", str(answers), "--as", "auditable-answer", "-o", str(report)])
    assert ended.value.code == INTERRUPTED
    assert list(tmp_path.iterdir()) == [answers]
