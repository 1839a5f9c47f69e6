"""Files made once into the cache from sources that may change: unpacked copies, joined records.

A copy is called `SOURCE-STATE-SIZE.jsonl`: hashes of what it is made from and of the state of that (size,
time and ends of files), and how many bytes the copy has. It appears whole or not at all: written under
another name, then renamed; one that was cut short since is made anew. Each new copy takes the place of those
of the source's earlier states; who has one of them open reads on.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from proofspan.errors import InputFault

_EDGE = 64 << 10


def whole_copy(folder: Path, stem: str) -> Path | None:
    """The copy of that name whose size is the one that its name tells."""
    for copy in folder.glob(f"{stem}-*.jsonl"):
        with suppress(FileNotFoundError):
            if copy.name == copy_name(stem, copy.stat().st_size):
                return copy
    return None


def copy_name(stem: str, size: int) -> str:
    """The name of a copy of so many bytes."""
    return f"{stem}-{size}.jsonl"


def fingerprint(source: BinaryIO) -> str:
    """Size, time and both ends of the file, in 20 hex digits."""
    facts = os.fstat(source.fileno())
    digest = hashlib.sha256(f"{facts.st_size} {facts.st_mtime_ns} ".encode())
    digest.update(ends_of(source, facts.st_size))
    return digest.hexdigest()[:20]


def ends_of(source: BinaryIO, size: int) -> bytes:
    """Both ends of a file's first `size` bytes: they stay when it only grows."""
    source.seek(0)
    head = source.read(min(_EDGE, size))
    source.seek(max(0, size - _EDGE))
    return head + source.read(min(_EDGE, size))


@contextmanager
def new_part(folder: Path, stem: str) -> Iterator[tuple[BinaryIO, Path]]:
    """A new file to write to, gone at the end unless it was renamed.

    It is locked for as long as its process lives: nobody else may remove it. One that was removed before it
    could be locked is given up for another. OSError where the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    while True:
        handle, name = tempfile.mkstemp(dir=folder, prefix=f"{stem}-", suffix=".part")
        out = os.fdopen(handle, "wb")
        fcntl.flock(out, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            break
        out.close()
    try:
        yield out, Path(name)
    finally:
        Path(name).unlink(missing_ok=True)
        with suppress(OSError):  # what could not be written has been said
            out.close()


def remove_parts(folder: Path) -> None:
    """Removes what processes that died while unpacking have left: nobody holds its lock."""
    for part in folder.glob("*.part"):
        with suppress(OSError), part.open("rb") as left:
            fcntl.flock(left, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink()


def remove_others(copy: Path, key: str) -> None:
    """Removes the copies of other states of the same source."""
    for other in copy.parent.glob(f"{key}-*.jsonl"):
        if other != copy:
            with suppress(OSError):
                other.unlink()


def cache_fault(folder: Path, error: OSError, lost: str, *, where: str) -> InputFault:
    """Return what to say where a copy cannot be written: what is lost by that, of which source, and why."""
    return InputFault.of(
        "cache_not_writable",
        f"{lost}: {folder} cannot be written: {error.strerror or error}",
        where=where,
        fix="Make it writable, free some space, or name another folder: --cache-dir or "
        "PROOFSPAN_CACHE_DIR for the cache, TMPDIR for what is only needed once.",
    )
