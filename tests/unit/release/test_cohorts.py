"""Cohorts: frozen once, read in their order, and nothing of what people wrote is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from proofspan.contracts.records.records import LineIssue, SourceLine
from proofspan.contracts.records.schemas import schema
from proofspan.errors import Fault, InputFault, ManifestFault
from proofspan.journal.cohorts import Cohort, Cohorts, cohorts_of, freeze, read_cohorts
from proofspan.journal.lines import Entry
from proofspan.manifest.check import check_workspace
from proofspan.manifest.types import Manifest
from proofspan.services.workspace.readable import reading
from tests.unit.store_workspace import manifest_of

GAP = Cohort("RETRIEVAL-GAP", ("Q80", "Q90"), "R001", "retrieval_gap", "2026-02-23T10:00:00Z")


@pytest.fixture
def manifest(tmp_path: Path) -> Manifest:
    return manifest_of(tmp_path, cohorts={"path": "cohorts.jsonl"})


def fault_of(manifest: Manifest, cohort: Cohort = GAP, **options: bool) -> Fault:
    with pytest.raises(Fault) as fault:
        freeze(manifest, cohort, **options)
    return fault.value


def test_what_is_frozen_is_read_again(manifest: Manifest) -> None:
    assert read_cohorts(manifest) == Cohorts()
    freeze(manifest, GAP)
    freeze(manifest, Cohort("by hand", ("Q1",)))
    found = read_cohorts(manifest)
    assert dict(found) == {"RETRIEVAL-GAP": GAP, "by hand": Cohort("by hand", ("Q1",))}
    assert found.issues == ()


def test_a_name_that_exists_is_refused_and_frozen_again_on_request(manifest: Manifest) -> None:
    freeze(manifest, GAP)
    before = (manifest.folder / "cohorts.jsonl").read_bytes()
    problem = fault_of(manifest).problems[0]
    assert (problem.code, "2 questions from R001" in problem.message) == ("cohort_exists", True)
    assert (manifest.folder / "cohorts.jsonl").read_bytes() == before
    freeze(manifest, Cohort(GAP.name, ("Q7",), "R002", "retrieval_gap"), again=True)
    assert read_cohorts(manifest)[GAP.name].q_ids == ("Q7",)
    assert (manifest.folder / "cohorts.jsonl").read_bytes().startswith(before)


def test_a_manifest_without_the_key_has_no_cohorts_and_the_line_to_add_is_named(tmp_path: Path) -> None:
    manifest = manifest_of(tmp_path)
    assert read_cohorts(manifest) == Cohorts()
    assert fault_of(manifest).problems[0].fix == "add the line: cohorts: {path: cohorts.jsonl}"


def test_a_file_whose_hash_is_given_is_not_written(tmp_path: Path) -> None:
    manifest = manifest_of(tmp_path, cohorts={"path": "cohorts.jsonl", "sha256": "0" * 64})
    assert fault_of(manifest).problems[0].code == "journal_pinned"


def test_a_folder_that_is_not_there_has_no_cohorts_and_cannot_take_one(tmp_path: Path) -> None:
    manifest = manifest_of(tmp_path, cohorts={"path": "sprint/cohorts.jsonl"})
    assert read_cohorts(manifest) == Cohorts()
    fault = fault_of(manifest)
    assert isinstance(fault, ManifestFault)
    assert str(fault.problems[0]).startswith(f"{tmp_path}/sprint: the folder of `cohorts` does not exist")
    (tmp_path / "sprint").mkdir()
    freeze(manifest, GAP)
    assert list(read_cohorts(manifest)) == [GAP.name]


def test_a_link_out_of_the_workspace_is_neither_read_nor_written(tmp_path: Path) -> None:
    outside = tmp_path / "outside.jsonl"
    (tmp_path / "workspace").mkdir()
    manifest = manifest_of(tmp_path / "workspace", cohorts={"path": "cohorts.jsonl"})
    (manifest.folder / "cohorts.jsonl").symlink_to(outside)
    assert isinstance(fault_of(manifest), InputFault)
    assert not outside.exists()
    outside.write_text("{}\n", encoding="utf-8")
    assert fault_of(manifest).problems[0].code == "path_outside"
    with pytest.raises(ManifestFault):
        read_cohorts(manifest)
    assert outside.read_text(encoding="utf-8") == "{}\n"


RECORDS: list[tuple[Any, str | None]] = [
    ({"name": "a", "q_ids": []}, None),
    ({"name": "a", "q_ids": ["Q1", "Q2", "Q1"], "run_id": None, "bucket": None, "ts": None, "more": 1}, None),
    ({"q_ids": []}, "cohort_without_name"),
    ({"name": "", "q_ids": []}, "cohort_without_name"),
    ({"name": "x" * 201, "q_ids": []}, "cohort_without_name"),
    ({"name": 7, "q_ids": []}, "cohort_without_name"),
    ({"name": "a"}, "cohort_without_questions"),
    ({"name": "a", "q_ids": "Q1"}, "cohort_without_questions"),
    ({"name": "a", "q_ids": [1]}, "cohort_without_questions"),
    ({"name": "a", "q_ids": [""]}, "cohort_without_questions"),
    ({"name": "a", "q_ids": [], "run_id": 4}, "cohort_wrong_type"),
    ({"name": "a", "q_ids": [], "bucket": []}, "cohort_wrong_type"),
    ({"name": "a", "q_ids": [], "ts": {}}, "cohort_wrong_type"),
]


@pytest.mark.parametrize(("record", "code"), RECORDS, ids=repr)
def test_the_schema_and_the_reader_agree(record: Any, code: str | None) -> None:
    found = cohorts_of(((Entry(record, SourceLine("c", 1, 0, 1), b""),), ()))
    assert [issue.code for issue in found.issues] == ([code] if code else [])
    assert jsonschema_rs.validator_for(schema("cohort")).is_valid(record) is (code is None)


def test_a_question_that_comes_again_counts_once() -> None:
    record = {"name": "a", "q_ids": ["Q2", "Q1", "Q2"]}
    assert cohorts_of(((Entry(record, SourceLine("c", 1, 0, 1), b""),), ()))["a"].q_ids == ("Q2", "Q1")


def test_check_names_the_lines_that_are_no_cohort(manifest: Manifest) -> None:
    freeze(manifest, GAP)
    assert check_workspace(manifest, examine=reading).ok
    with (manifest.folder / "cohorts.jsonl").open("ab") as file:
        file.write(b"{torn\n")
    (problem,) = check_workspace(manifest, examine=reading).findings
    assert problem.code == "lines_unreadable"
    assert "`cohorts`: 1 line of 2 could not be read, first: line 2" in problem.message


def test_damaged_lines_are_issues_in_their_order_and_an_earlier_line_stays_valid(manifest: Manifest) -> None:
    file = manifest.folder / "cohorts.jsonl"
    file.write_bytes(b'{"name":"a","q_ids":["Q1"]}\n{"name":"a"}\n{torn\n{"name":"b","q_ids":[]}\n')
    found = read_cohorts(manifest)
    assert {name: cohort.q_ids for name, cohort in found.items()} == {"a": ("Q1",), "b": ()}
    issues: list[LineIssue] = list(found.issues)
    assert [(issue.source.line, issue.code) for issue in issues] == [
        (2, "cohort_without_questions"),
        (3, "not_json"),
    ]
    assert issues[0].excerpt == '{"name":"a"}'
