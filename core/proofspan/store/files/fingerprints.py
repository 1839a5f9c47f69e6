"""How a file is known again without reading it: size, time and the hashes of its two ends."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

#: How many bytes of each end are hashed.
END_BYTES = 64 * 1024

Change = Literal["same", "grown", "shrunk", "changed"]
#: What may happen to a file whose beginning was read.
GROWN: tuple[Change, ...] = ("same", "grown")


@dataclass(frozen=True, slots=True)
class Print:
    """A file as it was when it was read: size and mtime then, and how far it was read (`indexed` bytes).

    `head` and `tail` are the sha256 of the first and last 64 KiB of those `indexed` bytes.
    """

    size: int
    mtime_ns: int
    indexed: int
    head: str
    tail: str


def take_print(
    path: Path, *, indexed: int | None = None, size: int | None = None, mtime_ns: int | None = None
) -> Print:
    """The print of a file of which `indexed` bytes were read (all of it where None). OSError as `open`.

    `size` and `mtime_ns` are those from before reading: a file written meanwhile is then seen to have grown.
    """
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        upto = status.st_size if indexed is None else indexed
        head = hashlib.sha256(file.read(min(END_BYTES, upto))).hexdigest()
        file.seek(max(0, upto - END_BYTES))
        tail = hashlib.sha256(file.read(min(END_BYTES, upto))).hexdigest()
    return Print(
        status.st_size if size is None else size,
        status.st_mtime_ns if mtime_ns is None else mtime_ns,
        upto,
        head,
        tail,
    )


def change_since(path: Path, earlier: Print) -> Change:
    """What happened to a file since its print was taken.

    A file that only grew keeps both ends of what was read; one of the same size whose time changed may have
    been edited anywhere. What is edited in the middle while the end grows goes unnoticed here: `check`
    hashes whole files.
    """
    status = path.stat()
    if status.st_size < earlier.indexed:
        return "shrunk"
    now = take_print(path, indexed=earlier.indexed)
    if (now.head, now.tail) != (earlier.head, earlier.tail):
        return "changed"
    if status.st_size > earlier.size:
        return "grown"
    if status.st_size < earlier.size:
        return "shrunk"
    return "same" if status.st_mtime_ns == earlier.mtime_ns else "changed"


@dataclass(frozen=True, slots=True)
class Seen:
    """A file before it is read: which one it is, and its print."""

    inode: tuple[int, int]
    print: Print

    def is_prefix_of(self, path: Path) -> bool:
        """Whether the same file lies there still, and if it changed, then by growing."""
        try:
            return _inode(path) == self.inode and change_since(path, self.print) in GROWN
        except FileNotFoundError:
            return False


def see(path: Path | None) -> Seen | None:
    """The file as it is now; None where there is none."""
    try:
        return None if path is None else Seen(_inode(path), take_print(path))
    except FileNotFoundError:
        return None


def _inode(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino


def sha256_of(path: Path) -> str:
    """The sha256 of a whole file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
