"""The documents that an import's chunks and gold name: found by a pattern, linked or copied, or missing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from proofspan.errors import Fault, InputFault
from proofspan.manifest.paths import refusal_of, resolve_reference

#: Where documents come to lie in the workspace.
FOLDER = "corpus"

_NO_PATH = "Give the document another id in the source, or write another `documents.pattern`."
_REMEDIES = {
    "missing": "Put it at its path in the manifest; `proofspan check` lists those still missing.",
    "path_outside": "Put the file itself into the source's folder instead of a link, and import again.",
}


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """A document by its id. `path` is its place in the workspace, `source` the file, None where missing.

    `path` is None where the id makes no path that may be used; `reason` says why it is missing or refused,
    `fix` what helps.
    """

    doc_id: str
    path: str | None
    source: Path | None
    reason: str = ""
    fix: str = ""


def find_documents(doc_ids: Iterable[str], *, pattern: str, folder: Path) -> list[FoundDocument]:
    """Each document's file below `folder`, by id. An id comes from outside: what it spells is checked."""
    return [_find(doc_id, pattern.replace("{doc_id}", doc_id), folder) for doc_id in sorted(doc_ids)]


def take(document: FoundDocument, stage: Path, *, link: bool) -> None:
    """Brings a found document into the workspace being made, as a copy or as a hard link.

    A symbolic link would lead out of the workspace, and no path may. InputFault where it cannot be done.
    """
    if document.source is None or document.path is None:
        return
    place = stage / document.path
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        if link:
            os.link(document.source, place)
        else:
            shutil.copyfile(document.source, place)
    except OSError as error:
        reason = f"cannot be {'linked' if link else 'copied'}: {error.strerror or error}"
        fix = "Use --copy: a link needs both folders on one file system." if link else "Free some space."
        raise InputFault.of("document_not_taken", reason, where=str(document.source), fix=fix) from error


def _find(doc_id: str, ref: str, folder: Path) -> FoundDocument:
    refused = refusal_of(ref) or refusal_of(f"{FOLDER}/{ref}")
    if refused is None and len(doc_id) > 300:
        refused = "the id is longer than 300 characters"
    if refused is not None:
        return FoundDocument(doc_id, None, None, f"no path can be made of it: {refused}", _NO_PATH)
    try:
        return FoundDocument(doc_id, f"{FOLDER}/{ref}", resolve_reference(folder, ref))
    except Fault as fault:
        problem = fault.problems[0]
        fix = _REMEDIES.get(problem.code, problem.fix)
        return FoundDocument(doc_id, f"{FOLDER}/{ref}", None, problem.message, fix)
