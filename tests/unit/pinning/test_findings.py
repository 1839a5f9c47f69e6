"""The findings on the pinning record of a run in a workspace: its fields, the manifest, the logs."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner

from proofspan.cli import group
from proofspan.contracts.records.schemas import schema
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest
from proofspan.services.health.run_findings import record_findings
from proofspan.services.pinning.findings import pin_findings, pin_problems, pin_report
from proofspan.services.pinning.logged import logged_of
from proofspan.services.pinning.read import read_record
from tests.places import DEMO
from tests.unit.pinning.test_markdown import SELECTION
from tests.unit.store_workspace import lines, manifest_of, trace

EXAMPLE: Mapping[str, Any] = schema("pinning")["examples"][0]


def workspace(
    folder: Path, record: object, data: bytes = b"", *, name: str = "pin.json", **run: Any
) -> Manifest:
    """One run with its record, which may be bytes."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(record if isinstance(record, bytes) else orjson.dumps(record))
    (folder / "t.jsonl").write_bytes(data or lines([trace("Q1")]))
    entry = {"run_id": "R1", "traces": {"path": "t.jsonl"}, "pinned": {"record": name}} | run
    return manifest_of(folder, runs=[entry])


def found(manifest: Manifest, run_id: str = "R1") -> list[tuple[str, str]]:
    run = manifest.run(run_id)
    assert run is not None
    return [(each.kind, each.field) for each in pin_findings(manifest, run)]


def test_the_demos_records_are_complete_and_agree_with_its_runs() -> None:
    manifest = load_manifest(DEMO)
    reports = [pin_report(manifest, run) for run in manifest.runs]
    assert [each.findings for each in reports] == [()] * 6
    assert reports[0].uses == frozenset()
    assert reports[5].uses == {"embedding", "reranker", "fusion"}
    assert [len(each.needed) for each in reports] == [10, 16, 19, 25, 25, 25]


def test_a_run_without_a_record_has_no_findings(tmp_path: Path) -> None:
    manifest = workspace(tmp_path / "w", {}, pinned={"reranker": "ms"})
    assert found(manifest) == []
    report = pin_report(manifest, manifest.runs[0])
    assert (report.record, report.uses) == (None, {"reranker"})


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not valid JSON"),
        (b"\x00\xff\x00", "not valid JSON"),
        (b"[{}]", "not a JSON object"),
        (b'{"a":' * 100 + b"1" + b"}" * 100, "nested more than 64 deep"),
        (orjson.dumps({"a": "x" * (5 << 20)}), "larger than 4,194,304 bytes"),
    ],
)
def test_a_record_that_cannot_be_read_is_an_error(tmp_path: Path, data: bytes, reason: str) -> None:
    manifest = workspace(tmp_path / "w", data)
    (finding,) = pin_findings(manifest, manifest.runs[0])
    assert (finding.kind, finding.severity) == ("unusable", "error")
    assert reason in finding.message and finding.fix


def test_a_record_that_is_lost_is_an_error(tmp_path: Path) -> None:
    manifest = workspace(tmp_path / "w", {})
    (tmp_path / "w/pin.json").unlink()
    assert found(manifest) == [("unusable", "")]
    (tmp_path / "w/pin.json").mkdir()
    assert found(manifest) == [("unusable", "")]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xff\xfe", "not UTF-8 text"),
        (b"Only prose.\n", "names a field"),
        (b"# a\n" * 100_000, "larger than 262,144 bytes"),
    ],
)
def test_markdown_that_cannot_be_read_is_an_error(tmp_path: Path, data: bytes, reason: str) -> None:
    manifest = workspace(tmp_path / "w", data, name="WP-A0_PINNING_RECORD.md")
    (finding,) = pin_findings(manifest, manifest.runs[0])
    assert finding.kind == "unusable" and reason in finding.message


def test_a_record_in_markdown_is_read_and_its_other_lines_are_counted(tmp_path: Path) -> None:
    manifest = workspace(
        tmp_path / "w", SELECTION.encode(), name="WP-A0.md", pinned={"record": "WP-A0.md", "reranker": "bge"}
    )
    kinds = [kind for kind, _ in found(manifest)]
    assert [kinds.count(kind) for kind in ("contradicts", "missing", "unread")] == [1, 10, 1]
    problems = pin_problems(manifest, manifest.runs[0])
    assert [each.code for each in problems] == ["pin_contradicts", "pin_incomplete", "pin_unread"]
    assert "lacks 10 of 14 fields: reranker.weights.source" in problems[1].message
    assert "1 line not understood; line 5: " in problems[2].message


def test_damaged_characters_of_markdown_are_repaired(tmp_path: Path) -> None:
    text = "# Cross-encoder\n- Truncation: â‰¤ 512 tokens\n- Tie-break: score â€” then id\n"
    manifest = workspace(tmp_path / "w", text.encode(), name="pin.md", pinned={"record": "pin.md"})
    record = read_record(manifest, manifest.runs[0])
    assert record.values == {"reranker": {"truncation": "≤ 512 tokens"}, "tie_break": "score — then id"}


def test_health_shows_what_is_wrong_with_a_record(tmp_path: Path) -> None:
    manifest = workspace(tmp_path / "w", {"run_id": "R2", "fusion": {"k": 60}})
    findings = list(record_findings(manifest, manifest.runs[0]))
    assert [(each.title, each.problem.severity) for each in findings] == [
        ("pinning record contradicts the run", "error"),
        ("pinning record incomplete", "warning"),
    ]
    assert all(each.is_of_file and each.problem.message.startswith("pin.json: ") for each in findings)


def test_what_is_needed_follows_from_the_logs(tmp_path: Path) -> None:
    chunks = [{"id": "c1", "score": 1, "index_hash": "2f7d41c", "embed_model": "bge:mean"}]
    whole = trace(
        "Q1", chunks=chunks, store="faiss", index_hash="2f7d41c", stages={"reranked": [{"id": "c1"}]}
    )
    manifest = workspace(tmp_path / "w", {}, lines([whole, b"{", b"[]"]))
    report = pin_report(manifest, manifest.runs[0])
    assert report.uses == {"embedding", "reranker", "faiss"}
    assert len(report.of("missing")) == len(report.needed) == 8 + 6 + 6 + 3


def test_contradictions_with_the_logs_are_errors_of_check(tmp_path: Path) -> None:
    record = EXAMPLE | {"run_id": "R1", "index": {"index_hash": "bm25:1111111"}, "determinism": "none"}
    cited = [trace(f"Q{n}", index_hash="bm25:2222222", rerank={"model": "bge"}) for n in range(3)]
    manifest = workspace(tmp_path / "w", record, lines(cited))
    assert found(manifest) == [
        ("contradicts", "index.index_hash"),
        ("contradicts", "reranker.model"),
        ("malformed", "determinism"),
    ]
    result = CliRunner().invoke(group, ["check", str(tmp_path / "w")])
    assert result.exit_code == 1
    assert "contradicts the run" in result.stdout
    assert "3 of 3 records log 'bm25:2222222'" in result.stdout


def test_separate_records_and_packed_files_are_read_too(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    folder.mkdir()
    (folder / "pin.json").write_bytes(b"{}")
    retrieved = {
        "fusion": {"k": 60},
        "q_id": "Q1",
        "ranker": "hybrid",
        "k": 2,
        "items": [
            {"chunk_id": "c1", "score": 0.0325, "features": {"bm25_rank": 2, "dense_rank": 1}},
            {"chunk_id": "c2", "score": "?", "features": {"bm25_rank": 1}},
        ],
    }
    rerank = {"q_id": "Q1", "model": "bge", "k_in": 2, "k_out": 1, "items": [{"chunk_id": "c1"}]}
    (folder / "retrieved.jsonl.gz").write_bytes(gzip.compress(lines([retrieved])))
    (folder / "rerank.jsonl").write_bytes(lines([rerank]))
    (folder / "rag.log").write_text(
        "qid=Q1 seg=1 k=10 store=faiss index_hash=2f7d41c embed=bge-m3\nrubbish\n"
    )
    records = {
        "log": {"path": "rag.log"},
        "retrieved": {"path": "retrieved.jsonl.gz"},
        "rerank": {"path": "rerank.jsonl"},
        "answer": {"path": "lost.jsonl"},
    }
    manifest = manifest_of(
        folder, runs=[{"run_id": "R1", "records": records, "pinned": {"record": "pin.json"}}]
    )
    logged = logged_of(manifest, manifest.runs[0])
    assert logged.values == {
        "index_hash": {"faiss:2f7d41c": 1},
        "embed_model": {"bge-m3": 1},
        "reranker": {"bge": 1},
        "fusion_k": {"60": 1},
    }
    assert (logged.stages, logged.longest, len(logged.fused)) == ({"fused", "reranked"}, 2, 1)


def test_inputs_outputs_and_parents_are_compared_with_the_manifest(tmp_path: Path) -> None:
    sha256 = "0" * 64
    record = {
        "inputs": {"t.jsonl": "1111111", "elsewhere": "2222222"},
        "determinism": {"file": "t.jsonl", "sha256": ["000000…0", "3333333"]},
        "derived": {"by": "whatif", "parent": "R9", "parent_traces_sha256": "4444444"},
    }
    manifest = workspace(tmp_path / "w", record, traces={"path": "t.jsonl", "sha256": sha256})
    wrong = [each for each in found(manifest) if each[0] != "missing"]
    assert wrong == [
        ("contradicts", "inputs.t.jsonl"),
        ("contradicts", "derived.parent"),
        ("not_deterministic", "determinism.sha256"),
    ]
    record["derived"]["parent"] = "R1"  # type: ignore[index]  # it is a dict
    record["determinism"]["sha256"] = ["5555555"] * 2  # type: ignore[index]  # it is a dict
    manifest = workspace(tmp_path / "w", record, traces={"path": "t.jsonl", "sha256": sha256})
    wrong = [each for each in found(manifest) if each[0] != "missing"]
    assert wrong == [
        ("contradicts", "inputs.t.jsonl"),
        ("contradicts", "determinism.sha256"),
        ("contradicts", "derived.parent_traces_sha256"),
    ]


def test_the_proof_of_another_run_does_not_count(tmp_path: Path) -> None:
    workspace(
        tmp_path / "w", {"run_id": "R1", "determinism": {"file": "other.jsonl", "sha256": ["6a2c50e3"] * 2}}
    )
    runs = [
        {"run_id": "R0", "traces": {"path": "other.jsonl"}},
        {"run_id": "R1", "traces": {"path": "t.jsonl"}, "pinned": {"record": "pin.json"}},
    ]
    assert ("missing", "determinism") in found(manifest_of(tmp_path / "w", runs=runs))
