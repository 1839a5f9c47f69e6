"""File fingerprints: how a changed file is noticed without reading it whole.

`file_state` costs one `stat` and is enough for the key of a cache in memory. A `Fingerprint` also hashes both
ends of what was read, so that a file that only grew differs from one that was replaced. `sha256_of`
reads the whole file.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

#: How many bytes of each end are hashed.
END_BYTES = 64 * 1024
#: The state of a file that does not exist or cannot be reached.
ABSENT = "absent"
_BLOCK = 1 << 20

Change = Literal["same", "grown", "shrunk", "changed"]
#: The changes after which what was read of the beginning still holds.
GROWN: tuple[Change, ...] = ("same", "grown")


def file_state(path: Path) -> str:
    """Return size and time of the last change as one text, `ABSENT` where there is no file."""
    try:
        status = path.stat()
    except OSError:
        return ABSENT
    return f"{status.st_size}:{status.st_mtime_ns}"


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """A file when it was read: its size in bytes, its mtime, and how many bytes of it were read (`indexed`).

    `head` and `tail` are the sha256 of the first and last `END_BYTES` of those bytes.
    """

    size: int
    mtime_ns: int
    indexed: int
    head: str
    tail: str


def fingerprint_of(path: Path, *, indexed: int | None = None) -> Fingerprint:
    """Return the fingerprint of a file of which `indexed` bytes were read (None: all). OSError as `open`."""
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        upto = status.st_size if indexed is None else indexed
        head, tail = (hashlib.sha256(end).hexdigest() for end in ends_of(file, upto))
    return Fingerprint(status.st_size, status.st_mtime_ns, upto, head, tail)


def ends_of(file: BinaryIO, size: int) -> tuple[bytes, bytes]:
    """Return both ends of the first `size` bytes, `END_BYTES` each."""
    file.seek(0)
    head = file.read(min(END_BYTES, size))
    file.seek(max(0, size - END_BYTES))
    return head, file.read(min(END_BYTES, size))


def change_since(path: Path, earlier: Fingerprint) -> Change:
    """Compare a file with its earlier fingerprint.

    A file that only grew keeps both ends of what was read; one of the same size with another time may have
    been edited anywhere. An edit in the middle of a file that also grew is not noticed: `check` hashes whole
    files.
    """
    now = fingerprint_of(path, indexed=earlier.indexed)
    if now.size < earlier.indexed:
        return "shrunk"
    if (now.head, now.tail) != (earlier.head, earlier.tail):
        return "changed"
    if now.size != earlier.size:
        return "grown" if now.size > earlier.size else "shrunk"
    return "same" if now.mtime_ns == earlier.mtime_ns else "changed"


@dataclass(frozen=True, slots=True)
class KnownHash:
    """The sha256 of a whole file, and the file's fingerprint when it was read for it."""

    sha256: str
    fingerprint: Fingerprint


def known_hash(path: Path, earlier: KnownHash | None) -> KnownHash:
    """Return the hash of a file; one that is still as it was is not read again. OSError as `open`."""
    if earlier is not None and change_since(path, earlier.fingerprint) == "same":
        return earlier
    fingerprint = fingerprint_of(path)
    return KnownHash(sha256_of(path), fingerprint)


def sha256_of(path: Path, *, on_bytes: Callable[[int], None] | None = None) -> str:
    """Return the sha256 of a whole file in hexadecimal.

    `on_bytes` is called after each mebibyte with the number of bytes done.
    """
    with path.open("rb") as file:
        if on_bytes is None:
            return hashlib.file_digest(file, "sha256").hexdigest()
        digest = hashlib.sha256()
        while block := file.read(_BLOCK):
            digest.update(block)
            on_bytes(file.tell())
        return digest.hexdigest()
