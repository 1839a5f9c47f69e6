"""Files that are one JSON array: an empty one, and entries that can be read and not be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofspan.services.validation import Tally, validate
from proofspan.traces.lines.tables import entry_lines
from proofspan.traces.records.chunks import read_chunks


@pytest.mark.parametrize("data", [b"[]", b" [\n ]\n"])
def test_an_empty_array_is_a_file_without_records(tmp_path: Path, data: bytes) -> None:
    path, tally = tmp_path / "chunks.json", Tally()
    path.write_bytes(data)
    assert entry_lines(path) == []
    assert read_chunks(path, file="chunks.json") == ({}, [])
    assert list(validate([path], "chunk", cache_dir=tmp_path / "cache", tally=tally)) == []
    assert (tally.files, tally.read, tally.problems) == (1, 0, [])


@pytest.mark.parametrize("depth", [100, 300, 900])
def test_a_deep_entry_is_an_issue_and_the_rest_is_read(tmp_path: Path, depth: int) -> None:
    path = tmp_path / "chunks.json"
    deep = b"[" * depth + b"]" * depth
    path.write_bytes(b'[{"id": "a", "text": "x", "v": %s},\n{"id": "b", "text": "y"},\n[]]' % deep)
    chunks, issues = read_chunks(path, file="chunks.json")
    assert list(chunks) == ["b"]
    assert [(issue.code, issue.source.line) for issue in issues] == [
        ("nested_too_deeply", 1),
        ("not_an_object", 3),
    ]
    assert entry_lines(path) == [1, 2, 3]
