"""Files in the cache that are made from sources: unpacked or repaired once, so that offsets are valid.

A copy is named `SOURCE-STATE-SIZE.jsonl`: a hash of its source, a hash of the source's state (size, time and
both ends), and the copy's own size in bytes. It is written under another name and renamed, so it is whole; a
truncated one is made again. A new copy replaces those of the source's earlier states, which processes that
have them open can go on reading. A copy has its source's time, so that an unchanged source gives the same
file again.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import os
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from proofspan.errors import InputFault
from proofspan.fingerprints import ends_of
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Artifact, Manifest
from proofspan.traces.lines.encodings import fixed
from proofspan.traces.lines.reader import open_source
from proofspan.write_errors import write_refusal

#: The suffixes of packed files.
PACKED = (".gz", ".zst")
#: How packed files begin.
_MAGIC = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst"}
#: The most bytes that any source may unpack to.
MAX_UNPACKED = 64 << 30
#: Any source may unpack to this many bytes,
ALWAYS_ALLOWED = 256 << 20
#: a larger one to this many times its size: JSONL packs to a tenth, hardly to a hundredth.
MAX_RATIO = 200

_PIECE = 1 << 20
#: Takes how many bytes are read, and how many there are.
OnBytes = Callable[[int, int], None]
_ELSEWHERE = (
    "Make it writable, free some space, or name another folder: --cache-dir or PROOFSPAN_CACHE_DIR for the "
    "cache, TMPDIR for temporary files."
)


def no_progress(_done: int, _total: int) -> None:
    """Show no progress."""


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """Make a folder that is removed when its block ends. InputFault if none can be made."""
    try:
        return tempfile.TemporaryDirectory(prefix="proofspan-")
    except OSError as error:
        message = f"temporary files cannot be written: {error.strerror or error}"
        raise InputFault.of("cache_not_writable", message, fix=_ELSEWHERE) from error


def artifact_source(manifest: Manifest, artifact: Artifact, *, cache_dir: Path) -> Path:
    """Return an artifact's file, unpacked and repaired as the manifest asks for. Raises Fault."""
    path = artifact_path(manifest, artifact)
    return plain_source(path, cache_dir=cache_dir, fix_encoding=artifact.fix_encoding)


def is_packed(path: Path) -> bool:
    """Return whether a file is unpacked before it is read; it never grows."""
    return path.suffix.lower() in PACKED


def plain_source(path: Path, *, cache_dir: Path, fix_encoding: bool = False) -> Path:
    """Return `path` itself, or a copy below `cache_dir`: `.gz` and `.zst` unpacked, or repaired.

    Raises InputFault if the source is missing, damaged, or unpacks to too much, or the cache cannot be
    written.
    """
    if not is_packed(path) and not fix_encoding:
        return path
    folder = cache_dir / ("repaired" if fix_encoding else "unpacked")
    key = hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:12]
    with open_source(path) as source:
        state, size = fingerprint(source), os.fstat(source.fileno()).st_size
    copy = whole_copy(folder, f"{key}-{state}")
    if copy is None:
        limit = min(MAX_UNPACKED, max(ALWAYS_ALLOWED, MAX_RATIO * size))
        pieces, time = _pieces(path, limit), path.stat().st_mtime_ns
        if fix_encoding:
            pieces = fixed(pieces, where=str(path))
        lost = f"the file cannot be {folder.name}"
        copy = write_copy(folder, f"{key}-{state}", pieces, time=time, where=str(path), lost=lost)
        with open_source(path) as source:
            if fingerprint(source) == state:  # else there may be a copy of a later state already
                remove_stale(folder, key, keep={copy})
    return copy


def _pieces(path: Path, limit: int) -> Iterator[bytes]:
    """Yield the plain bytes. Raises InputFault once they exceed `limit` or turn out to be damaged."""
    kind = path.suffix.lower() if is_packed(path) else ""
    return _checked_pieces(path, kind, limit if kind else MAX_UNPACKED)


def plain_pieces(path: Path, on_bytes: OnBytes = no_progress) -> Iterator[bytes]:
    """Yield the plain bytes of a file, unpacked as they are read if it begins as gzip or Zstandard does.

    `on_bytes` is called with the place in the file on the disk, and its size. Raises InputFault if it cannot
    be read, is damaged, or unpacks to too much.
    """
    with open_source(path, 0) as source:
        size, head = os.fstat(source.fileno()).st_size, source.read(4)
    kind = next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), "")
    limit = max(ALWAYS_ALLOWED, MAX_RATIO * size) if kind else MAX_UNPACKED
    return _checked_pieces(path, kind, limit, on_bytes)


def open_plain(path: Path, on_bytes: OnBytes = no_progress) -> io.BufferedReader:
    """Open a file like `plain_pieces`, for reading forwards."""
    return stream_of(plain_pieces(path, on_bytes))


def stream_of(pieces: Iterator[bytes]) -> io.BufferedReader:
    """Return a file of pieces that are made as it is read."""
    return io.BufferedReader(_Pieces(pieces), _PIECE)


class _Pieces(io.RawIOBase):
    """The bytes of pieces one after the other."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._source, self._left = pieces, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._left:
            self._left = memoryview(next(self._source, b""))
        size = min(len(buffer), len(self._left))
        buffer[:size], self._left = self._left[:size], self._left[size:]
        return size


def _checked_pieces(path: Path, kind: str, limit: int, on_bytes: OnBytes = no_progress) -> Iterator[bytes]:
    from isal.igzip_lib import IsalError

    total, limit = 0, min(MAX_UNPACKED, limit)
    try:
        with open_source(path) as source, _unpacking(source, kind) as plain:
            size = os.fstat(source.fileno()).st_size
            while piece := plain.read(_PIECE):
                total += len(piece)
                on_bytes(source.tell(), size)
                if total > limit:
                    message = f"the file unpacks to more than {limit >> 20:,} MiB"
                    fix = "If that is right, unpack it yourself and name the plain file."
                    raise InputFault.of("unpacks_too_large", message, where=str(path), fix=fix)
                yield piece
    except (OSError, EOFError, IsalError) as error:  # type: ignore[misc]  # its stubs lack the base class
        message = f"the file cannot be unpacked: {error}"
        fix = "Pack it again; the copy may be incomplete."
        raise InputFault.of("damaged_archive", message, where=str(path), fix=fix) from error


def _unpacking(source: BinaryIO, kind: str) -> Any:
    """Return a file open for reading, unpacked as its kind says: "", ".gz" or ".zst"."""
    if kind == ".gz":
        from isal import igzip

        return igzip.IGzipFile(fileobj=source, mode="rb")  # type: ignore[no-untyped-call]  # half-typed stubs
    if kind == ".zst":
        import pyarrow

        return pyarrow.input_stream(source, compression="zstd")
    return source


def whole_copy(folder: Path, stem: str) -> Path | None:
    """Return the copy of that name if its size is the one in its name."""
    for copy in folder.glob(f"{stem}-*.jsonl"):
        with suppress(FileNotFoundError):
            if copy.name == f"{stem}-{copy.stat().st_size}.jsonl":
                return copy
    return None


def fingerprint(source: BinaryIO) -> str:
    """Return a hash of the file's size, time and both ends, in 20 hexadecimal digits."""
    facts = os.fstat(source.fileno())
    digest = hashlib.sha256(f"{facts.st_size} {facts.st_mtime_ns} ".encode())
    digest.update(b"".join(ends_of(source, facts.st_size)))
    return digest.hexdigest()[:20]


def write_copy(
    folder: Path,
    stem: str,
    pieces: Iterable[bytes],
    *,
    where: str,
    lost: str,
    time: int | None = None,
    name: str | None = None,
) -> Path:
    """Write a copy with the time in ns, under `name` or the name of copies, and return its path.

    Raises InputFault if the folder cannot be written: `lost` is the consequence, `where` the source.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        while True:
            handle, temporary = tempfile.mkstemp(dir=folder, prefix=f"{stem}-", suffix=".part")
            out, part = os.fdopen(handle, "wb"), Path(temporary)
            fcntl.flock(out, fcntl.LOCK_EX)  # while its process lives, so that no other removes it
            if os.fstat(handle).st_nlink:
                break
            out.close()  # one did before the lock
        try:
            size = sum(map(out.write, pieces))
            out.flush()
            if time is not None:
                os.utime(part, ns=(time, time))
            return part.replace(folder / (name or f"{stem}-{size}.jsonl"))
        finally:
            part.unlink(missing_ok=True)
            with suppress(OSError):  # a failed write was reported
                out.close()
    except OSError as error:  # errors of the source are InputFaults
        message = f"{lost}: {folder} cannot be written: {write_refusal(error, folder).reason}"
        raise InputFault.of("cache_not_writable", message, where=where, fix=_ELSEWHERE) from error


def remove_stale(folder: Path, key: str, *, keep: Collection[Path]) -> None:
    """Remove the files of other states of the same source, and those of processes that died while writing."""
    for other in folder.glob(f"{key}-*"):
        if other not in keep and other.suffix != ".part":
            with suppress(OSError):
                other.unlink()
    for part in folder.glob("*.part"):
        with suppress(OSError), part.open("rb") as left:
            fcntl.flock(left, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while its process lives
            part.unlink()


def head_of(path: Path, size: int) -> bytes:
    """Return the first `size` bytes of a file, unpacked. Raises InputFault if they cannot be read."""
    if path.suffix.lower() not in PACKED:
        with open_source(path) as source:
            return source.read(size)
    open_source(path).close()  # for the reason, where there is no such file
    head = b""
    for piece in _pieces(path, MAX_UNPACKED):
        head += piece
        if len(head) >= size:
            break
    return head[:size]
