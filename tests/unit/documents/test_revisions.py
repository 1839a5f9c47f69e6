"""A document of another revision than the cited one is reported, however it is detected."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from proofspan.manifest.types import Artifact, Document
from proofspan.services.documents.revisions import cited_rev, revision_problems

DATA = b"# Bulletin\n"
SHA256 = hashlib.sha256(DATA).hexdigest()


def document(*, sha256: str | None = None, rev: str | None = None) -> Document:
    return Document("bulletin", Artifact("documents[bulletin]", "b.md", sha256=sha256), paged=False, rev=rev)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "b.md"
    path.write_bytes(DATA)
    return path


@pytest.mark.parametrize("sha256", [None, SHA256, SHA256.upper()])
@pytest.mark.parametrize(
    ("named", "cited"),
    [
        (None, "8c1e9a02"),
        ("8c1e9a02", None),
        ("8c1e9a02", "8c1e9a02"),
        ("8c1e9a02", "8C1E9A02b3d4"),
        ("8c1e9a02b3d4", "8c1e9a02"),
        ("8c1e9a02", "00000000"),
        ("", "8c1e9a02"),
    ],
)
def test_what_agrees_or_is_not_named_is_no_other_revision(
    path: Path, sha256: str | None, named: str | None, cited: str | None
) -> None:
    assert revision_problems(document(sha256=sha256, rev=named), path, rev=cited) == ()


def test_another_file_and_another_revision_are_both_reported(path: Path) -> None:
    found = revision_problems(document(sha256="ab" * 32, rev="8c1e9a02"), path, rev="e1d0aa91")
    assert [problem.code for problem in found] == ["document_replaced", "rev_mismatch"]
    assert SHA256[:12] in found[0].message
    assert "abababababab" in found[0].message
    assert "revision e1d0aa91 of bulletin, and the workspace has revision 8c1e9a02" in found[1].message
    assert all(problem.where and problem.fix for problem in found)


def test_a_file_that_is_replaced_while_the_program_runs_is_hashed_again(path: Path) -> None:
    named = document(sha256=SHA256)
    assert revision_problems(named, path, rev=None) == ()
    path.write_bytes(DATA[::-1])
    os.utime(path, ns=(1, 1))
    assert [problem.code for problem in revision_problems(named, path, rev=None)] == ["document_replaced"]


@pytest.mark.parametrize(
    ("chunk_id", "raw", "rev"),
    [
        (None, None, None),
        ("c1", {}, None),
        ("a|r=8c1e9a02|s=1|p=001|b=001", {}, "8c1e9a02"),
        ("a|r=8c1e9a02|s=1|p=001|b=001", {"rev": "v2"}, "v2"),
        ("c1", {"rev": 7}, "7"),
        ("c1", {"rev": ["v2"]}, None),
        ("c1", {"rev": None}, None),
    ],
)
def test_the_cited_revision_is_the_records_own_else_its_ids(
    chunk_id: str | None, raw: dict[str, object] | None, rev: str | None
) -> None:
    assert cited_rev(chunk_id, raw) == rev
