"""The public suite of JSON parsing tests and a CSV in the wild, read as trace files."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofspan.contracts.records.records import LineIssue, Trace
from proofspan.traces.records.traces import iter_traces

pytestmark = pytest.mark.real_data

GOOD = b'{"q": "still read"}\n'


def suite(real_data: Path, prefix: str) -> list[Path]:
    files = sorted((real_data / "hostile" / "json_test_suite").glob(f"{prefix}_*.json"))
    assert files
    return files


def test_every_valid_value_is_read_as_a_field(real_data: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    for file in suite(real_data, "y"):
        value = file.read_bytes().replace(b"\n", b" ")
        path.write_bytes(b'{"q": "x", "v": ' + value + b"}\n")
        (found,) = iter_traces(path, file=file.name, run_id="R1")
        assert isinstance(found, Trace), (file.name, found)


def test_every_invalid_value_is_a_line_issue_and_stops_nothing(real_data: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    for file in suite(real_data, "n"):
        path.write_bytes(GOOD + b'{"q": "x", "v": ' + file.read_bytes() + b"}\n" + GOOD)
        first, *bad, last = iter_traces(path, file=file.name, run_id="R1")
        assert isinstance(first, Trace)
        assert isinstance(last, Trace)
        assert bad, file.name
        assert all(isinstance(item, LineIssue) and item.message and item.fix for item in bad), file.name


def test_a_csv_named_jsonl_is_reported_once(real_data: Path) -> None:
    (path,) = (real_data / "hostile" / "jsonl").glob("*.jsonl")
    (found,) = iter_traces(path, file=path.name, run_id="R1")
    assert isinstance(found, LineIssue)
    assert found.code == "is_csv"
    assert "question, expected_document, retrieved_documents" in found.message
