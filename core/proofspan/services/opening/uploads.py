"""Files that arrive without a place of their own, or by a path from a page: kept to their limits."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from proofspan.errors import InputFault

#: Names the folder below which pages may open files by their paths; `proofspan open` sets it.
FROM_VARIABLE = "PROOFSPAN_OPEN_FROM"
#: Limits of what is uploaded at once: files, and mebibytes of each.
MOST_FILES, MOST_MEGABYTES = 50, 200
_NO_NAME = re.compile(r"[^\w.()+@ -]+")


def put(files: Iterable[tuple[str, bytes]], folder: Path) -> list[Path]:
    """Write files into a folder under their own names, as far as those are names, and return their paths."""
    paths: list[Path] = []
    for name, content in files:
        plain = _NO_NAME.sub("_", name.replace("\\", "/").rpartition("/")[2]).strip(" .")[-100:] or "file"
        path = folder / plain
        if path.exists():
            path = folder / f"{path.stem}~{len(paths)}{path.suffix}"
        path.write_bytes(content)
        paths.append(path)
    return paths


def open_from() -> Path | None:
    """Return the folder below which a page may open files; None where it may not."""
    named = os.environ.get(FROM_VARIABLE)
    return Path(named).resolve() if named else None


def named_path(text: str, folder: Path) -> Path:
    """Return the file or folder that a page names, below `folder`. Raises InputFault for any other."""
    fix = f"name a file or folder below {folder}"
    try:
        path = (folder / Path(text.strip()).expanduser()).resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise InputFault.of("missing", "there is no such file", where=text[:200], fix=fix) from error
    if not path.is_relative_to(folder):
        message = "it is outside the folder that this dashboard was started in"
        raise InputFault.of("path_outside", message, where=text[:200], fix=fix)
    return path
