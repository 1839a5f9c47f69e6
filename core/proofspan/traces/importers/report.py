"""What an import found and what it did not: the counts, by field, that a person judges a mapping by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from proofspan.contracts.records.records import LineIssue
from proofspan.errors import Problem
from proofspan.traces.importers.documents import FoundDocument


@dataclass(frozen=True, slots=True)
class FieldCount:
    """How often a field was there, was not, or could not be used, with the first such line."""

    key: str
    found: int
    absent: int
    unusable: int
    first_unusable: int | None = None


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The outcome of an import. `joined` counts traces that have a gold question."""

    traces: int
    chunks: int
    gold: int
    joined: int
    fields: tuple[FieldCount, ...]
    documents: tuple[FoundDocument, ...]
    issues: tuple[LineIssue, ...]
    problems: tuple[Problem, ...]

    @property
    def missing(self) -> tuple[FoundDocument, ...]:
        """The documents that were named and are not there."""
        return tuple(document for document in self.documents if document.source is None)

    @property
    def has_findings(self) -> bool:
        """Whether a person should look: exit status 1."""
        never_found = any(not count.found for count in self.fields)
        unusable = any(count.unusable for count in self.fields)
        return bool(never_found or unusable or self.missing or self.issues or self.problems)

    def as_json(self) -> Mapping[str, Any]:
        """The report as `--json` prints it."""
        return {
            "traces": self.traces,
            "chunks": self.chunks,
            "gold": self.gold,
            "traces_with_gold": self.joined,
            "fields": [
                {
                    "field": count.key,
                    "found": count.found,
                    "absent": count.absent,
                    "unusable": count.unusable,
                    "first_unusable_line": count.first_unusable,
                }
                for count in self.fields
            ],
            "documents": {
                "present": [document.doc_id for document in self.documents if document.source is not None],
                "missing": [
                    {
                        "doc_id": document.doc_id,
                        "path": document.path,
                        "reason": document.reason,
                        "fix": document.fix,
                    }
                    for document in self.missing
                ],
            },
            "issues": [
                {
                    "file": each.source.file,
                    "line": each.source.line,
                    "code": each.code,
                    "reason": each.message,
                }
                for each in self.issues
            ],
            "problems": [
                {"code": each.code, "message": each.message, "where": each.where, "fix": each.fix}
                for each in self.problems
            ],
        }
