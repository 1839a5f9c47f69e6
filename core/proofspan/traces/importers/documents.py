"""The documents that an import's chunks and gold name: located by a pattern, then linked or copied."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from proofspan.errors import Fault, InputFault, Problem
from proofspan.manifest.paths import refusal_of, resolve_reference

#: The workspace folder that documents are put into.
FOLDER = "corpus"
MAX_ID = 300

_FIXES = {
    "missing": "Put it at its path in the manifest; `proofspan check` lists those still missing.",
    "path_outside": "Put the file itself into the source's folder instead of a link, and import again.",
}


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """A document by its id. `source` is its file, and `path` its place in the workspace.

    Without a `source`, `problem` says why; `path` is None too if the id makes no acceptable path.
    """

    doc_id: str
    path: str | None
    source: Path | None
    problem: Problem | None = None


def find_documents(doc_ids: Iterable[str], *, pattern: str, folder: Path) -> list[FoundDocument]:
    """Locate each document's file below `folder`, sorted by id. Ids are not trusted."""
    return [_find(doc_id, pattern.replace("{doc_id}", doc_id), folder) for doc_id in sorted(doc_ids)]


def take(document: FoundDocument, stage: Path, *, link: bool) -> None:
    """Copy or hard-link a document into the new workspace. Raises InputFault.

    Symbolic links are no choice: they would lead out of the workspace.
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
        message = f"cannot be {'linked' if link else 'copied'}: {error.strerror or error}"
        fix = "Use --copy: a link needs both folders on one file system." if link else "Free some space."
        raise InputFault.of("document_not_taken", message, where=str(document.source), fix=fix) from error


def _find(doc_id: str, ref: str, folder: Path) -> FoundDocument:
    path = f"{FOLDER}/{ref}"
    refused = refusal_of(ref) or refusal_of(path)
    if refused is None and len(doc_id) > MAX_ID:
        refused = f"the id is longer than {MAX_ID} characters"
    if refused is not None:
        message = f"its id makes no path: {refused}"
        fix = "Give the document another id in the source, or write another `documents.pattern`."
        return FoundDocument(doc_id, None, None, Problem("path_refused", message, doc_id, fix))
    try:
        return FoundDocument(doc_id, path, resolve_reference(folder, ref))
    except Fault as fault:
        problem = fault.problems[0]
        problem = replace(problem, fix=_FIXES.get(problem.code, problem.fix))
        return FoundDocument(doc_id, path, None, problem)
