"""Validating a workspace: each file with the pins of its run, what is declared, what is lost."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from proofspan.contracts.rules.context import Context
from proofspan.services.validation import Tally
from tests.places import HANDBOOK
from tests.unit.store_workspace import ENVELOPE
from tests.unit.validation.validating_room import PAYLOAD, answer, found, written


def test_a_workspace_is_validated_by_its_manifest(tmp_path: Path) -> None:
    tally = Tally()
    findings = found(HANDBOOK, None, tally, cache_dir=tmp_path)
    names = {str(Path(each.file).relative_to(HANDBOOK)) for each in findings}
    assert (tally.files, tally.problems) == (4, [])
    traces = {f"runs/{run}/trace.jsonl" for run in ("R001", "R002")}
    assert names == {"corpus/chunks.jsonl", "gold/goldset.jsonl"} | traces
    chunks = Tally()
    found(HANDBOOK, "chunk", chunks, cache_dir=tmp_path)
    assert (chunks.files, chunks.read < tally.read) == (1, True)


def workspace(folder: Path, contract: str, *lines: dict[str, object], end: bytes = b"\n") -> Path:
    folder.mkdir()
    (folder / "pipeline_manifest.yaml").write_text(
        'manifest_version: "1.0"\nname: small\nchunks: {path: chunks.jsonl}\n'
        f"documents: [{{doc_id: handbook, path: h.md, paged: false, rev: 3b91f2a}}]\n{contract}"
        "runs:\n  - run_id: R1\n    traces: {path: t.jsonl}\n    pinned: {index_hash: 'faiss:2f7d'}\n"
    )
    (folder / "h.md").write_text("# Keys\n")
    written(folder / "chunks.jsonl", {"id": "s1", "text": "x"})
    (folder / "t.jsonl").write_bytes(b"\n".join(map(orjson.dumps, lines)) + end)
    return folder


def trace(q_id: str, *cited: dict[str, object], **fields: object) -> dict[str, object]:
    base = {"q_id": q_id, "q": "How?", "chunks": [{"id": "s1"}], "citations": list(cited), "answer": "So."}
    return {**ENVELOPE, **base, **fields}


def test_a_runs_traces_are_held_against_its_pins_revisions_chunks_and_whitelist(tmp_path: Path) -> None:
    lines = (
        trace("Q1", {**PAYLOAD, "index_hash": "faiss:77aa"}, {**PAYLOAD, "rev": "0000"}),
        trace("Q2", {**PAYLOAD, "snippet_id": "s9"}),
        trace("Q3", PAYLOAD, {**PAYLOAD, "section_id": "b"}),
        trace("Q4", PAYLOAD, run_id="R2"),
        trace("Q5", PAYLOAD),
    )
    path = workspace(tmp_path / "w", "", *lines, end=b"")
    tally = Tally()
    codes = {(each.record_id, each.code) for each in found(path, "trace", tally, cache_dir=tmp_path)}
    expected = {
        ("Q1", "mismatch_index_hash"),
        ("Q1", "rev_mismatch"),
        ("Q2", "not_in_corpus"),
        ("Q2", "cited_not_retrieved"),
        ("Q3", "cross_section_reuse"),
        ("Q4", "other_run"),
    }
    assert expected <= codes
    assert [problem.code for problem in tally.notes] == ["last_line_waits"]
    allowed = workspace(tmp_path / "v", "contract: {allow_cross_section: true}\n", *lines)
    assert "cross_section_reuse" not in {each.code for each in found(allowed, "trace", cache_dir=tmp_path)}
    given_pin = Context(index_hash="faiss:77aa")
    of_pin = [each.record_id for each in found(allowed, "trace", cache_dir=tmp_path, context=given_pin)]
    assert "Q2" in of_pin


def test_the_separate_records_of_a_run_are_held_against_each_other_and_those_of_another_are_not(
    tmp_path: Path,
) -> None:
    lists = {**ENVELOPE, "q_id": "Q1", "ranker": "dense", "k": 5}
    for run, chunk_id in (("A", "c1"), ("B", "c2")):
        written(tmp_path / f"{run}-answers.jsonl", answer("Q1"))
        items = [{"chunk_id": chunk_id, "score": 0.5}]
        written(tmp_path / f"{run}-retrieved.jsonl", {**lists, "items": items})
    runs = "".join(
        f"  - run_id: {run}\n    records:\n      retrieved: {{path: {run}-retrieved.jsonl}}\n"
        f"      answer: {{path: {run}-answers.jsonl}}\n"
        for run in "AB"
    )
    manifest = tmp_path / "pipeline_manifest.yaml"
    manifest.write_text(f'manifest_version: "1.0"\nname: separate\nruns:\n{runs}')
    (finding,) = found(manifest, cache_dir=tmp_path / "cache")
    assert (finding.file, finding.code) == (str(tmp_path / "B-answers.jsonl"), "cited_not_retrieved")


def test_log_lines_are_questions_that_other_records_may_join(tmp_path: Path) -> None:
    lists = {**ENVELOPE, "ranker": "dense", "k": 5, "items": []}
    retrieved = written(tmp_path / "r.jsonl", {**lists, "q_id": "Q1"}, {**lists, "q_id": "Q2"})
    log = tmp_path / "rag.log"
    log.write_text("ts=2025-08-28 qid=Q1 seg=1 deltaS=0.37 lambda=convergent\n")
    answers = written(tmp_path / "a.jsonl", answer("Q3"))
    (tmp_path / "pipeline_manifest.yaml").write_text(
        'manifest_version: "1.0"\nname: separate\nruns:\n  - run_id: R1\n    records:\n'
        f"      retrieved: {{path: {retrieved.name}}}\n      log: {{path: {log.name}}}\n"
        f"      answer: {{path: {answers.name}}}\n"
    )
    codes = [(each.record_id, each.code) for each in found(tmp_path, cache_dir=tmp_path / "cache")]
    assert [words for words in codes if words[1] == "unjoined_record"] == [("Q2", "unjoined_record")]


def test_a_run_of_a_workspace_that_lacks_a_file_says_so_and_the_rest_is_read(tmp_path: Path) -> None:
    path = workspace(tmp_path / "w", "", trace("Q1", PAYLOAD))
    (path / "t.jsonl").unlink()
    tally = Tally()
    assert {each.file for each in found(path, None, tally, cache_dir=tmp_path)} == {
        str(path / "chunks.jsonl")
    }
    assert [problem.code for problem in tally.problems] == ["missing"]


@pytest.mark.parametrize(("declared", "expected"), [(2, 0), (1, 2), (3, 2)])
def test_lines_that_a_manifest_declares_to_hold_no_record_are_a_note(
    tmp_path: Path, declared: int, expected: int
) -> None:
    path = workspace(tmp_path / "w", "", trace("Q1", PAYLOAD), {"no": "question"}, trace("Q2", PAYLOAD))
    with (path / "t.jsonl").open("ab") as file:
        file.write(b"{torn\n")
    manifest = path / "pipeline_manifest.yaml"
    declaring = manifest.read_text().replace("t.jsonl}", f"t.jsonl, unreadable_lines: {declared}}}")
    manifest.write_text(declaring)
    tally = Tally()
    lines = {each.line for each in found(path, "trace", tally, cache_dir=tmp_path)}
    assert (len(lines), tally.read) == (expected, 4)
    notes = [(note.code, note.where, "2 lines" in note.message) for note in tally.notes]
    assert notes == ([] if expected else [("lines_unreadable_declared", f"{path / 't.jsonl'}:2", True)])
