"""How many records a file holds, by its lines."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.manifest.check import ArtifactCheck
from proofspan.manifest.types import Artifact, Kind
from proofspan.services.workspace import readable
from proofspan.services.workspace.readable import count_lines, rows_of


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", 0),
        (b"{}\n{}\n", 2),
        (b"{}\n{}", 2),
        (b"{}\r\n\r\n \n{}\n\n", 2),
        (b'[{"a": 1},\n{"a": 2}]', None),
        (b" \n[1]", None),
    ],
)
def test_lines_that_hold_something_count(tmp_path: Path, data: bytes, lines: int | None) -> None:
    (tmp_path / "f").write_bytes(data)
    assert count_lines(tmp_path / "f") == lines


@given(st.lists(st.sampled_from([b"{}", b"x", b" ", b"\n", b"\r\n", b"12"]), max_size=12), st.integers(1, 4))
def test_blocks_change_no_count(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], block: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "blocks"
    data = b"{" + b"".join(parts)
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readable, "_BLOCK", block)
        assert count_lines(path) == sum(bool(line.strip()) for line in data.split(b"\n"))


def check(path: Path, kind: Kind = "jsonl") -> ArtifactCheck:
    return ArtifactCheck(Artifact(path.name, path.name, kind=kind), "ok", (), path, path.stat().st_size)


def test_packed_files_count_and_others_than_records_do_not(tmp_path: Path) -> None:
    for name, data in (("a.jsonl", b"{}\n"), ("b.jsonl.gz", gzip.compress(b"{}\n{}\n")), ("c.gz", b"torn")):
        (tmp_path / name).write_bytes(data)
    (tmp_path / "d.pdf").write_bytes(b"%PDF\n")
    checks = [check(tmp_path / name) for name in ("a.jsonl", "b.jsonl.gz", "c.gz")]
    checks += [check(tmp_path / "d.pdf", "pdf"), ArtifactCheck(Artifact("gone", "gone"), "missing")]
    assert rows_of(checks) == {"a.jsonl": 1, "b.jsonl.gz": 2}


def test_what_is_too_large_is_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"{}\n")
    monkeypatch.setattr(readable, "MOST_BYTES", 2)
    assert rows_of([check(tmp_path / "a.jsonl")]) == {}
