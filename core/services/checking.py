"""What `check` looks at inside the files: documents opened, records read. Command and page share it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from core.errors import Problem
from core.manifest.check import Examine, OnBytes
from core.manifest.types import Artifact
from core.services.documents import Opener, opening
from core.services.records import reading


def everything(opener: Opener) -> Examine:
    """One look that is all of them, one after the other."""
    looks: tuple[Examine, ...] = (opening(opener), reading)

    def examine(artifact: Artifact, file: Path, on_bytes: OnBytes) -> Iterable[Problem]:
        return [problem for look in looks for problem in look(artifact, file, on_bytes)]

    return examine
