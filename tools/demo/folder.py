"""Files that are not written yet as a workspace for a moment, for what the product makes of one."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written(files: Mapping[str, bytes]) -> Iterator[Path]:
    """A folder that holds the files by their paths; it is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="proofspan-demo-") as folder:
        for path, data in files.items():
            target = Path(folder) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        yield Path(folder)
