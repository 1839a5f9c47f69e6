"""Check that a document is listed, and that its hash and revision are those that were cited.

A page of another edition may look just like the cited one, so the difference is reported wherever it
is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from proofspan.contracts.records.chunk_id import UNKNOWN_REVISION, parse
from proofspan.contracts.records.field_values import text_of
from proofspan.contracts.records.records import Json
from proofspan.errors import Problem
from proofspan.fingerprints import sha256_of
from proofspan.manifest.types import Document, Manifest
from proofspan.recent import Recent
from proofspan.services.documents.document_cache import fingerprint

#: Digits of a hash in a message.
SHOWN_DIGITS = 12
#: Characters of a document's id that a message repeats.
SHOWN_ID = 200
_HASHES: Recent[str] = Recent(256)


def document_not_listed(doc_id: str, manifest: Manifest) -> Problem:
    """Return the problem of a passage or picture whose document is not in the workspace."""
    message, where = f"the workspace has no document {doc_id[:SHOWN_ID]}", manifest.file or manifest.folder
    fix = "put the file into the workspace and list it under `documents` with this doc_id"
    return Problem("document_not_listed", message, f"{where}: documents", fix)


def revision_problems(document: Document, path: Path, *, rev: str | None) -> tuple[Problem, ...]:
    """Return what suggests that the document is not the cited one: its file's hash, the cited revision `rev`.

    What the manifest does not name cannot differ.
    """
    return tuple(filter(None, (file_problem(document, path), rev_problem(document, rev))))


def file_problem(document: Document, path: Path) -> Problem | None:
    """Return a problem if the file's sha256 is not the one that the manifest names."""
    named = document.artifact.sha256
    actual = file_sha256(path) if named else None
    if named is None or actual is None or actual == named.lower():
        return None
    return Problem(
        "document_replaced",
        f"the file of {document.doc_id} is not the one that the manifest names: its sha256 begins "
        f"{actual[:SHOWN_DIGITS]}, the manifest's {named[:SHOWN_DIGITS]}; its pages may have moved",
        where=f"{document.artifact.key}: {document.artifact.path}",
        fix="put the named file back, or correct sha256 and rev in the manifest and build the chunks again",
        severity="warning",
    )


def file_sha256(path: Path) -> str:
    """Return the file's hash, cached by its fingerprint. Raises `EvidenceFault` for a missing file."""
    return _HASHES.get_or_make(fingerprint(path), lambda: sha256_of(path))


def rev_problem(document: Document, rev: str | None) -> Problem | None:
    """Return a problem if the cited revision is another one; the shorter of the two counts."""
    named = document.rev
    if not rev or not named or rev == UNKNOWN_REVISION:
        return None
    length = min(len(rev), len(named))
    if rev[:length].lower() == named[:length].lower():
        return None
    return Problem(
        "rev_mismatch",
        f"cited is revision {rev[:40]} of {document.doc_id}, and the workspace has revision {named[:40]}: "
        "the text may be elsewhere, or differ",
        where=document.artifact.key,
        fix="answer the question again on this revision, or put the cited one into the workspace",
        severity="warning",
    )


def cited_rev(chunk_id: str | None, raw: Mapping[str, Json] | None = None) -> str | None:
    """Return the revision that a record names: its own `rev`, else the `r=` of its chunk id."""
    own = text_of((raw or {}).get("rev"))
    parts = parse(chunk_id) if chunk_id else None
    return own or (parts.rev if parts else None)
