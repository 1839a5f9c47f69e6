"""Writing a command's output file: it appears under its name only when all of it is there."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from core.errors import InputFault

MODE = 0o644


def write_bytes(path: Path, data: bytes) -> None:
    """Write the whole file beside its place, then rename it there. InputFault where that can't be done."""
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).chmod(MODE)
        Path(temporary).replace(path)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise InputFault.of(
            "cannot_write",
            f"the file can't be written: {error.strerror or error}",
            where=str(path),
            remedy="Name a file in a folder that you may write to.",
        ) from error
