"""Does a document open at all? Its first bytes do not tell that a PDF is locked, torn or without pages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from proofspan.errors import EvidenceFault, Problem
from proofspan.evidence.textfile import read_text
from proofspan.evidence.types import DocumentInfo, PageInfo
from proofspan.manifest.check import Examine, OnBytes
from proofspan.manifest.types import Artifact

#: Texts that are good files, in which nothing is placed.
_NOT_PLACED = ("too_large",)


class Opener(Protocol):
    """What opens documents; `proofspan.evidence.client.PdfPool` does."""

    def document(self, path: Path) -> DocumentInfo: ...

    def page(self, path: Path, page_idx: int) -> PageInfo: ...


def opening(opener: Opener) -> Examine:
    """What `check_workspace` looks into documents with: each is opened, nothing is drawn."""

    def examine(artifact: Artifact, file: Path, on_bytes: OnBytes) -> Iterable[Problem]:
        try:
            if artifact.kind == "pdf":
                opener.document(file)
            elif artifact.kind == "text":
                read_text(file)
        except EvidenceFault as fault:
            return [_placed(problem, artifact) for problem in fault.problems]
        return []

    return examine


def _placed(problem: Problem, artifact: Artifact) -> Problem:
    """The problem with its artifact; what is only beyond our own bounds is a warning."""
    severity = "warning" if artifact.kind == "text" and problem.code in _NOT_PLACED else "error"
    return replace(problem, message=f"`{artifact.key}`: {problem.message}", severity=severity)
