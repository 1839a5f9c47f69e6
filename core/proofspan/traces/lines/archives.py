"""The files in a folder or a ZIP archive by their names, unpacked as they are read."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from proofspan.errors import InputFault
from proofspan.traces.lines.unpack import (
    ALWAYS_ALLOWED,
    MAX_RATIO,
    OnBytes,
    no_progress,
    open_plain,
    stream_of,
)

#: The most names of a folder or an archive that are looked at.
MOST_NAMES = 200_000
_PIECE = 1 << 20
#: Zstandard in an archive, which Python's own module reads from 3.14 on.
_ZSTANDARD = 93
_LOCAL_HEADER = struct.Struct("<4s22xHH")


class Members:
    """The files of a folder, or of a ZIP archive; use it in a `with` block.

    All that is unpacked of an archive counts together against one bound, so that overlapping members are
    bounded too. `on_bytes` is called with how many bytes are read, and how many all files have.
    """

    def __init__(self, path: Path, on_bytes: OnBytes = no_progress) -> None:
        self.path, self._on_bytes = path, on_bytes
        self._archive: zipfile.ZipFile | None = None
        self._left = self._done = 0
        if path.is_dir():
            found = (each for each in sorted(path.rglob("*")) if each.is_file() and not each.is_symlink())
            self.names = tuple(each.relative_to(path).as_posix() for each in islice(found, MOST_NAMES))
            self._size = sum((path / name).stat().st_size for name in self.names)
            return
        try:
            self._archive = zipfile.ZipFile(path)
            self._left = max(ALWAYS_ALLOWED, MAX_RATIO * path.stat().st_size)
        except (zipfile.BadZipFile, OSError, ValueError, struct.error) as error:
            raise _damaged(path.name, error) from error
        files = [each for each in self._archive.infolist()[:MOST_NAMES] if not each.is_dir()]
        self.names = tuple(each.filename for each in files)
        self._size = sum(each.file_size for each in files)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._archive is not None:
            self._archive.close()

    def open(self, name: str) -> io.BufferedReader:
        """Open a file to read it forwards, with InputFault if it is damaged or unpacks to too much."""
        if self._archive is None:
            before = self._done
            return open_plain(self.path / name, lambda done, _size: self._read(before + done))
        return stream_of(self._pieces(self._archive, name))

    def _read(self, done: int) -> None:
        self._done = done
        self._on_bytes(done, self._size)

    def _pieces(self, archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
        try:
            with _member(archive, name) as member:
                while piece := member.read(_PIECE):
                    self._left -= len(piece)
                    if self._left < 0:
                        fix = "If that is right, unpack it yourself and name the folder."
                        message = "the archive unpacks to too much"
                        raise InputFault.of("unpacks_too_large", message, where=self.path.name, fix=fix)
                    self._read(self._done + len(piece))
                    yield piece
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, KeyError, RuntimeError) as error:
            raise _damaged(f"{self.path.name}: {name}", error) from error


def archive_of(members: Mapping[str, bytes]) -> bytes:
    """Return a ZIP archive of files by their names; the same files give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return buffer.getvalue()


def _member(archive: zipfile.ZipFile, name: str) -> Any:
    info = archive.getinfo(name)
    if info.compress_type != _ZSTANDARD:
        return archive.open(info)
    with Path(str(archive.filename)).open("rb") as source:
        source.seek(info.header_offset)
        header = source.read(_LOCAL_HEADER.size)
        if len(header) < _LOCAL_HEADER.size or not header.startswith(b"PK\x03\x04"):
            raise zipfile.BadZipFile("a member's header is damaged")
        _, name_size, extra_size = _LOCAL_HEADER.unpack(header)
        source.seek(name_size + extra_size, io.SEEK_CUR)
        packed = source.read(min(info.compress_size, ALWAYS_ALLOWED))
    return pa.CompressedInputStream(pa.BufferReader(packed), "zstd")


def _damaged(where: str, error: Exception) -> InputFault:
    fix = "Write or download it again; a copy of a file that is still written is not whole."
    return InputFault.of("damaged_archive", f"the archive cannot be read: {error}", where=where, fix=fix)
