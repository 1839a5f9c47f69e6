"""The same major version reads, a newer minor one warns, another major one stops with a message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from proofspan.contracts.records.records import LineIssue, SourceLine, Trace
from proofspan.contracts.records.schemas import type_named
from proofspan.contracts.rules.envelope import refusal, version_problems
from proofspan.metrics.packs import read_pack
from proofspan.traces.records.catalogue import read_catalogue
from proofspan.traces.records.chunks import read_chunks
from proofspan.traces.records.gold import read_gold
from proofspan.traces.records.stored_reports import read_report
from proofspan.traces.records.trace_record import trace_from

UNSUPPORTED = "schema_version_unsupported"


@pytest.mark.parametrize(
    ("version", "code"),
    [
        ("1.0.0", None),
        ("1.0", None),
        ("1.0.17", None),
        (None, None),
        ("1.1.0", "schema_version_newer"),
        ("1.20", "schema_version_newer"),
        ("2.0.0", UNSUPPORTED),
        ("0.9", UNSUPPORTED),
        ("10.0.0", UNSUPPORTED),
        ("", "empty_schema_version"),
        ("v1", "bad_schema_version"),
        ("1", "bad_schema_version"),
        ("1.0.0-beta", "bad_schema_version"),
        ("1.0.0.0", "bad_schema_version"),
        ("١.٠", "bad_schema_version"),
        ("1.0\n", "bad_schema_version"),
        ("1." + "9" * 5_000, "bad_schema_version"),
        (1.0, None),  # of the wrong type, which the schema says
    ],
    ids=lambda value: repr(value)[:20],
)
def test_a_version_is_read_by_its_major_number(version: Any, code: str | None) -> None:
    record = {"schema_version": version}
    found = version_problems("answer", record)
    assert [finding.code for finding in found] == ([code] if code else [])
    assert all(finding.where == "schema_version" and len(finding.message) < 200 for finding in found)
    assert (refusal("answer", record) is None) is (code != UNSUPPORTED)


def test_the_message_says_which_versions_are_read() -> None:
    found = refusal("gold", {"schema_version": "3.1.0"})
    assert found is not None
    assert found.message == "schema_version is '3.1.0', and only 1.x of gold records is read"


@pytest.mark.parametrize(
    ("uri", "named"),
    [
        ("https://wfgy.dev/schemas/chunk-1.0.json", ("chunk", "1.0")),
        ("http://wfgy.dev/schemas/prompt-frame-1.0.json", ("prompt-frame", "1.0")),
        ("urn:proofspan:schema:rag-traces-1.0", ("rag-traces", "1.0")),
        ("urn:proofspan:schema:rag_traces-2.11", ("rag-traces", "2.11")),
        ("urn:proofspan:schema:nothing-1.0", None),
        ("urn:proofspan:schema:chunk", None),
        ("https://elsewhere.example/schemas/chunk-1.0.json", None),
        ("file:///etc/passwd", None),
        ("", None),
    ],
)
def test_a_schemas_name_gives_the_type_offline(uri: str, named: tuple[str, str] | None) -> None:
    assert type_named(uri) == named


@pytest.mark.parametrize(
    ("uri", "code"),
    [
        ("https://wfgy.dev/schemas/chunk-1.0.json", None),
        ("https://wfgy.dev/schemas/query-1.0.json", "schema_conflict"),
        ("https://wfgy.dev/schemas/sonnet-1.0.json", "unknown_schema"),
        ("urn:proofspan:schema:chunk-1.4", "schema_version_newer"),
        ("urn:proofspan:schema:chunk-2.0", UNSUPPORTED),
    ],
)
def test_a_schemas_name_is_held_against_what_is_read(uri: str, code: str | None) -> None:
    found = version_problems("chunk", {"$schema": uri})
    assert [(finding.code, finding.where) for finding in found] == ([(code, "$schema")] if code else [])


def test_any_record_may_be_read_as_its_envelope() -> None:
    assert version_problems("envelope", {"$schema": "urn:proofspan:schema:chunk-1.0"}) == ()


@pytest.mark.parametrize(
    "version", [{"schema_version": "2.0.0"}, {"$schema": "urn:proofspan:schema:trace-2.0"}], ids=str
)
def test_a_trace_of_another_major_version_is_a_line_issue(version: dict[str, str]) -> None:
    found = trace_from({"q": "x", **version}, SourceLine("t.jsonl", 1, 0, 1), run_id=None)
    assert isinstance(found, LineIssue)
    assert found.code == UNSUPPORTED
    assert "only 1.x of trace records is read" in found.message
    newer = trace_from({"q": "x", "schema_version": "1.9.0"}, SourceLine("t.jsonl", 1, 0, 1), run_id=None)
    assert isinstance(newer, Trace)


@pytest.mark.parametrize(
    ("read", "record"),
    [
        (read_chunks, {"id": "c", "text": "x"}),
        (read_gold, {"q": "x"}),
        (read_report, {"q": "x", "label": "ok"}),
        (read_catalogue, {"attachment_id": "a", "kind": "note"}),
    ],
    ids=["chunks", "gold", "report", "catalogue"],
)
def test_tables_leave_out_records_of_another_major_version(
    read: Any, record: dict[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "records.jsonl"
    lines = [record, {**record, "schema_version": "2.0.0"}]
    path.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    found, issues = read(path, file="records.jsonl")
    assert len(found) == 1
    assert [(issue.code, issue.source.line) for issue in issues] == [(UNSUPPORTED, 2)]


def test_a_metrics_pack_of_another_major_version_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "metrics.json"
    path.write_text('{"schema_version": "2.0.0", "recall@50": 0.5}', encoding="utf-8")
    pack, problems = read_pack(path, file="metrics.json")
    assert pack is None
    assert [problem.code for problem in problems] == [UNSUPPORTED]
