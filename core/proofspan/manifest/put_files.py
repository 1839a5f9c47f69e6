"""Files that appear whole and together: written beside their places, flushed to the disk, then renamed."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from proofspan.errors import InputFault
from proofspan.write_errors import write_refusal


class Together:
    """Files that wait beside their places until `commit`. Made by `together`, which cleans up."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Path, Path]] = []
        self._made: list[Path] = []

    def write(self, target: Path, pieces: Iterable[bytes]) -> str:
        """Write and flush what `target` will hold; return its sha256. OSError as the system gives it."""
        self._make_folder(target.parent)
        part = target.with_name(f".proofspan-{secrets.token_hex(6)}.part")
        self._waiting.append((part, target))
        digest = hashlib.sha256()
        with part.open("xb") as stream:
            for piece in pieces:
                digest.update(piece)
                stream.write(piece)
            with suppress(FileNotFoundError):  # a new file has the mode that the system gives
                os.fchmod(stream.fileno(), target.stat().st_mode & 0o777)
            _flush(stream)
        return digest.hexdigest()

    def commit(self) -> None:
        """Rename all files, in the order of writing; if the last one is not reached, none is new."""
        new: list[Path] = []
        try:
            for part, target in self._waiting:
                new += [] if target.exists() else [target]
                part.replace(target)
                flush_folder(target.parent)
        except OSError:
            for target in new if self._waiting[-1][0].exists() else []:
                with suppress(OSError):
                    target.unlink()
            raise
        self._waiting, self._made = [], []

    def discard(self) -> None:
        """Remove what was not committed, and the folders that were made for it."""
        for part, _ in self._waiting:
            with suppress(OSError):
                part.unlink()
        for folder in reversed(self._made):
            with suppress(OSError):
                folder.rmdir()

    def _make_folder(self, folder: Path) -> None:
        if not folder.exists():
            self._make_folder(folder.parent)
            folder.mkdir(exist_ok=True)
            self._made.append(folder)


@contextmanager
def together(what: str, *, where: Path) -> Iterator[Together]:
    """Give files that are written together; whatever the block does not commit leaves nothing behind.

    Raises InputFault if the system refuses to write: `what` names the whole in its message, `where` its
    folder.
    """
    files = Together()
    try:
        yield files
    except OSError as error:
        why = write_refusal(error, where)
        message, fix = f"{what} cannot be written: {why.reason}", f"{why.fix[:1].upper()}{why.fix[1:]}."
        raise InputFault.of("not_writable", message, where=str(where), fix=fix) from error
    finally:
        files.discard()


def _flush(stream: BinaryIO) -> None:
    stream.flush()
    os.fsync(stream.fileno())


def flush_folder(folder: Path) -> None:
    """Flush the names in a folder: without this a crash could lose a renamed file."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
