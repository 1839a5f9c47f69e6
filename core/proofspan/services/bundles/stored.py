"""A run's file of bundles, read one bundle at a time, and whether each may still be shown.

A bundle's boxes belong to the documents it was built from. It is shown as long as those are unchanged and its
trace has the same question and answer; otherwise a box could be drawn on another edition's page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from proofspan.contracts.records.field_values import index_of
from proofspan.contracts.records.records import Json, LineIssue, SourceLine, Trace, TraceKey
from proofspan.evidence.bundles import (
    LEVELS,
    VERSION,
    Bundle,
    Level,
    Origin,
    read_bundle_at,
    read_bundles,
    sha256_of,
)
from proofspan.services.bundles.build import MAX_TEXT, key_of
from proofspan.services.bundles.report import covers
from proofspan.services.bundles.validate import document_changes
from proofspan.services.documents.document_set import Shelf
from proofspan.wording import counted


@dataclass(frozen=True, slots=True)
class StoredBundles:
    """The bundles of a file: their lines and levels by trace, and the lines that hold no bundle.

    `path` is the uncompressed file, None without one. Of several bundles of one trace the first counts.
    `cited` has the cited document of each bundle that covers its answer with a page of that document.
    """

    path: Path | None = None
    lines: Mapping[TraceKey, SourceLine] = field(default_factory=dict)
    levels: Mapping[TraceKey, Level] = field(default_factory=dict)
    issues: tuple[LineIssue, ...] = ()
    cited: Mapping[TraceKey, str] = field(default_factory=dict)

    @classmethod
    def of(cls, path: Path, *, file: str, run_id: str) -> StoredBundles:
        """List the bundles of an uncompressed file called `file` in messages; InputFault if unreadable."""
        lines: dict[TraceKey, SourceLine] = {}
        levels: dict[TraceKey, Level] = {}
        cited: dict[TraceKey, str] = {}
        issues = []
        seen: Counter[TraceKey] = Counter()
        for item in read_bundles(path, file=file, checked=False):
            if isinstance(item, LineIssue):
                issues.append(item)
                continue
            key = key_of(item, run_id, seen)
            if key not in lines:
                lines[key] = item.source
                level = item.record.get("level")
                if level in LEVELS:
                    levels[key] = cast(Level, level)
                    origin = cast(Origin, item.record.get("citation_origin"))
                    document = _cited_document(item.record)
                    if document is not None and covers(levels[key], origin):
                        cited[key] = document
        return cls(path, lines, levels, tuple(issues), cited)

    def bundle(self, key: TraceKey, trace: Trace, shelf: Shelf) -> tuple[Bundle | None, str]:
        """Return the stored bundle of a trace, or None and the reason why it may not be shown.

        The reason is "" if the run has no file of bundles. Raises InputFault if the file has changed.
        """
        if self.path is None:
            return None, ""
        source = self.lines.get(key)
        if source is None:
            unread = ""
            if self.issues:
                first, lines = self.issues[0], counted(len(self.issues), "line")
                unread = f"; {lines} can't be read, first line {first.source.line:,}: {first.message}"
            return None, f"the run's stored bundles do not include this question{unread}"
        item = read_bundle_at(self.path, source)
        if isinstance(item, LineIssue) or item.bundle is None:
            if isinstance(item, LineIssue):
                reason = item.message
            elif item.is_older:
                version = str(item.record.get("bundle_version", "none"))[:20]
                reason = f"it is of version {version}, before {VERSION}"
            else:
                place, message = item.errors[0]
                reason = f"`{place}`: {message}"
            return None, f"its stored bundle, line {source.line:,}, can't be used: {reason}"
        bundle, reason = item.bundle, ""
        if bundle.run_id != key.run_id:
            reason = f"it belongs to run {bundle.run_id[:80]}"
        elif item.record["sha256"] != sha256_of(item.record):
            reason = "it was changed after it was written"
        elif (bundle.q, bundle.answer) != (trace.q[:MAX_TEXT], trace.answer[:MAX_TEXT]):
            reason = "its question or answer is not that of its trace"
        else:
            reason = next((problem.message for problem in document_changes(bundle, shelf)), "")
        if reason:
            return None, f"its stored bundle, line {source.line:,}, is out of date: {reason}"
        return bundle, ""


def _cited_document(record: Mapping[str, Json]) -> str | None:
    """Return the document of a record's citation, None where it does not have the cited page.

    The record is not validated: anything may be missing.
    """
    citation, documents = record.get("citation"), record.get("documents")
    if not isinstance(citation, dict) or not isinstance(documents, list):
        return None
    doc_id, page = citation.get("doc_id"), index_of(citation.get("page_idx"))
    named = (each for each in documents if isinstance(each, dict) and each.get("doc_id") == doc_id)
    document = next(named, None)
    if not isinstance(doc_id, str) or page is None or document is None:
        return None
    pages = 1 if document.get("paged") is False else index_of(document.get("page_count"))
    return doc_id if pages is not None and page < pages else None
