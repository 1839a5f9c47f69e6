"""A single citation: the quote and the file to look for it in, and its row once it is located.

The pass over a run in `proofspan.services.passes.locating` and the one by Spark share it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from proofspan.contracts.records.records import Citation
from proofspan.errors import Fault, Problem
from proofspan.evidence.page_base import is_telling
from proofspan.evidence.types import FoundSpan, SpanQuery
from proofspan.fingerprints import Fingerprint, fingerprint_of
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Manifest
from proofspan.services.question.view import span_query
from proofspan.store.files.located import Answer, Cited, document_stamp

#: A document and the hash of what is looked for in it.
Key = tuple[str, bytes]


@dataclass(frozen=True, slots=True)
class CitedDocument:
    """The file of a cited document; `stamp` is a problem's code where it has no path.

    `problem` says why the file of a listed document cannot be read.
    """

    stamp: str
    path: Path | None = None
    is_text: bool = False
    fingerprint: Fingerprint | None = None
    problem: Problem | None = None


def cited_document(manifest: Manifest, doc_id: str) -> CitedDocument:
    """Return the file of a document and its state."""
    document = manifest.document(doc_id)
    stamp = document_stamp(manifest, document)
    if document is None:
        return CitedDocument(stamp)
    try:
        path = artifact_path(manifest, document.artifact)
        return CitedDocument(stamp, path, not document.paged, fingerprint_of(path))
    except Fault as fault:
        return CitedDocument(stamp, problem=fault.problems[0])
    except OSError as error:
        message = f"the document cannot be read: {error.strerror}"
        return CitedDocument("unreadable", problem=Problem("unreadable", message, document.artifact.path))


def wanted_of(citation: Citation, find: Callable[[str], CitedDocument]) -> tuple[Key, SpanQuery] | str:
    """Return what is looked for in which document, or the code of why nothing is."""
    if citation.doc_id is None:
        return "no_document"
    document, query = find(citation.doc_id), span_query(citation)
    if document.path is None:
        return document.stamp
    if not query.quote.strip():
        return "no_quote"
    return (citation.doc_id, hashlib.blake2b(repr(query).encode(), digest_size=16).digest()), query


def answer_of(found: FoundSpan, query: SpanQuery) -> Answer:
    """Return what the index keeps of a located quote."""
    return Answer(
        status=found.status,
        page_idx=found.page_idx,
        page_mismatch=found.page_mismatch,
        agreement=found.agreement,
        numbers_differ=found.numbers_differ,
        tells_page=len(query.cited_pages) == 1 and is_telling(found, query.quote),
    )


def placed_row(item: Cited, result: Answer | str) -> dict[str, object]:
    """Return a citation's row of `PLACED_SCHEMA`; `result` is the code of why it was not located, if so."""
    row: dict[str, object] = {name: getattr(item, name) for name in item._fields[:5]}
    for name in ("number", "chunk_id", "doc_id", "section_id"):
        row[name] = getattr(item.citation, name)
    row["cited_page_idx"] = item.citation.page_idx
    if isinstance(result, str):
        row |= dict.fromkeys(("page_mismatch", "numbers_differ", "tells_page"), False)
        return row | {"status": "not_placed", "reason": result}
    return row | result._asdict()
