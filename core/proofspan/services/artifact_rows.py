"""How many records a file of the workspace holds, counted without reading what they say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from proofspan.errors import Fault
from proofspan.manifest.check import ArtifactCheck
from proofspan.services.records import unpacked

#: Larger files, and packed files of a quarter of that, are not counted: a number is not worth the wait.
MOST_BYTES = 256 << 20
_PACKED = (".gz", ".zst")
_BLOCK = 1 << 20
_BLANK = b" \t\r\n"


def rows_of(checks: Iterable[ArtifactCheck]) -> Mapping[str, int]:
    """The rows of each file that can be counted, by the artifact's key; of JSONL its lines that hold
    something."""
    counted = ((check.artifact.key, _rows(check)) for check in checks)
    return {key: rows for key, rows in counted if rows is not None}


def _rows(check: ArtifactCheck) -> int | None:
    file, kind = check.file, check.artifact.kind
    if file is None or check.size is None or kind not in ("jsonl", "chunks", "journal"):
        return None
    if check.size > (MOST_BYTES // 4 if file.suffix in _PACKED else MOST_BYTES):
        return None
    try:
        with unpacked(file) as plain:
            return count_lines(plain)
    except (Fault, OSError):  # what is wrong with it is told by `check`
        return None


def count_lines(path: Path) -> int | None:
    """The lines that hold more than blanks; None where the file is one JSON array. May raise OSError."""
    lines, open_line = 0, False
    with path.open("rb") as stream:
        first = stream.read(_BLOCK)
        if first.lstrip(_BLANK).startswith(b"["):
            return None
        block = first
        while block:
            *whole, last = block.split(b"\n")
            for line in whole:
                lines += open_line or bool(line.strip(_BLANK))
                open_line = False
            open_line = open_line or bool(last.strip(_BLANK))
            block = stream.read(_BLOCK)
    return lines + open_line
