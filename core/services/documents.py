"""Does a PDF open at all? Its first bytes do not tell that it is locked, torn or without pages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from core.errors import EvidenceFault, Problem
from core.evidence.types import DocumentInfo
from core.manifest.check import Examine
from core.manifest.types import Artifact


class Opener(Protocol):
    """What opens documents; `core.evidence.client.PdfPool` does."""

    def document(self, path: Path) -> DocumentInfo: ...


def opening(opener: Opener) -> Examine:
    """What `check_workspace` looks into files with: every PDF is opened, nothing is drawn."""

    def examine(artifact: Artifact, file: Path) -> Iterable[Problem]:
        if artifact.kind != "pdf":
            return ()
        try:
            opener.document(file)
        except EvidenceFault as fault:
            return [
                replace(problem, message=f"`{artifact.key}`: {problem.message}") for problem in fault.problems
            ]
        return ()

    return examine
