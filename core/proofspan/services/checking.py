"""What `check` looks at inside the files: documents opened, records read. Command and page share it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from proofspan.errors import InputFault, Problem
from proofspan.manifest.check import Examine, OnBytes
from proofspan.manifest.types import Artifact, Manifest
from proofspan.services.attachments import attachment_problems
from proofspan.services.documents import Opener, opening
from proofspan.services.records import lines_problems, reading, unpacked, unusable
from proofspan.traces.catalogue import read_catalogue


def everything(manifest: Manifest, opener: Opener) -> Examine:
    """One look that is all of them, one after the other."""
    looks: tuple[Examine, ...] = (opening(opener), reading, cataloguing(manifest, opener))

    def examine(artifact: Artifact, file: Path, on_bytes: OnBytes) -> Iterable[Problem]:
        return [problem for look in looks for problem in look(artifact, file, on_bytes)]

    return examine


def cataloguing(manifest: Manifest, opener: Opener) -> Examine:
    """Reads the catalogue: lines that are no attachment, and attachments that cannot be drawn."""

    def examine(artifact: Artifact, file: Path, on_bytes: OnBytes) -> Iterable[Problem]:
        if artifact.key != "catalogue":
            return []
        try:
            with unpacked(file) as plain:
                attachments, issues = read_catalogue(plain, file=artifact.path)
        except InputFault as fault:
            return unusable(artifact, fault)
        flawed = attachment_problems(
            attachments, manifest=manifest, opener=opener, key=artifact.key, where=str(file)
        )
        return [*lines_problems(artifact, file, len(attachments) + len(issues), issues), *flawed]

    return examine
