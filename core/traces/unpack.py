"""`.gz` and `.zst` sources, unpacked once into the cache so that byte offsets hold.

A copy is called `SOURCE-STATE-SIZE.jsonl`: hashes of the source's path and of its size, time and ends, and
how many bytes the copy has. It carries its source's time, so that an unchanged source gives the same file
again. It appears whole or not at all: written under another name, then renamed; one that was cut short since
is made anew. Each new copy takes the place of those of the source's earlier states; who has one of them open
reads on.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

from core.errors import InputFault
from core.traces.reader import open_source

#: No source may grow beyond this many bytes, whatever its own size.
MAX_UNPACKED = 64 << 30
#: A small source may always grow to this many bytes,
ALWAYS_ALLOWED = 256 << 20
#: and beyond that to this many times its own size: JSONL packs to a tenth, hardly to a hundredth.
MAX_RATIO = 200

_PIECE = 1 << 20
_EDGE = 64 << 10


def plain_source(path: Path, *, cache_dir: Path) -> Path:
    """`path` itself, or for `.gz` and `.zst` its unpacked copy below `cache_dir`.

    InputFault where the source is missing, damaged, or unpacks to more than is allowed, and where the cache
    cannot be written.
    """
    if path.suffix.lower() not in _OPENERS:
        return path
    folder, key = cache_dir / "unpacked", hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:12]
    with open_source(path) as source:
        state, size = _fingerprint(source), os.fstat(source.fileno()).st_size
    copy = _whole_copy(folder, f"{key}-{state}")
    if copy is None:
        limit = min(MAX_UNPACKED, max(ALWAYS_ALLOWED, MAX_RATIO * size))
        copy = _unpack(path, folder, f"{key}-{state}", limit=limit)
        _remove_parts(folder)
        with open_source(path) as source:
            if _fingerprint(source) == state:  # else the copy of a later state may be there already
                _remove_others(copy, key)
    return copy


def _whole_copy(folder: Path, stem: str) -> Path | None:
    """The copy of that name whose size is the one that its name tells."""
    for copy in folder.glob(f"{stem}-*.jsonl"):
        with suppress(FileNotFoundError):
            if copy.name == _name(stem, copy.stat().st_size):
                return copy
    return None


def _name(stem: str, size: int) -> str:
    return f"{stem}-{size}.jsonl"


def _fingerprint(source: BinaryIO) -> str:
    """Size, time and both ends of the file, in 20 hex digits."""
    facts = os.fstat(source.fileno())
    digest = hashlib.sha256(f"{facts.st_size} {facts.st_mtime_ns} ".encode())
    source.seek(0)
    digest.update(source.read(_EDGE))
    source.seek(max(0, facts.st_size - _EDGE))
    digest.update(source.read(_EDGE))
    return digest.hexdigest()[:20]


def _unpack(path: Path, folder: Path, stem: str, *, limit: int) -> Path:
    time = path.stat().st_mtime_ns
    with _part(folder, stem) as (out, part):
        size = sum(_write(out, piece) for piece in _pieces(path, limit))
        target = folder / _name(stem, size)
        try:
            out.flush()
            os.utime(part, ns=(time, time))
            part.replace(target)
        except OSError as error:
            raise _cache_fault(folder, error) from error
    return target


@contextmanager
def _part(folder: Path, stem: str) -> Iterator[tuple[BinaryIO, Path]]:
    """A new file to write to, gone at the end unless it was renamed.

    It is locked for as long as its process lives: nobody else may remove it. One that was removed before it
    could be locked is given up for another.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        while True:
            handle, name = tempfile.mkstemp(dir=folder, prefix=f"{stem}-", suffix=".part")
            out = os.fdopen(handle, "wb")
            fcntl.flock(out, fcntl.LOCK_EX)
            if os.fstat(handle).st_nlink:
                break
            out.close()
    except OSError as error:
        raise _cache_fault(folder, error) from error
    try:
        yield out, Path(name)
    finally:
        Path(name).unlink(missing_ok=True)
        with suppress(OSError):  # what could not be written has been said
            out.close()


def _remove_parts(folder: Path) -> None:
    """Removes what processes that died while unpacking have left: nobody holds its lock."""
    for part in folder.glob("*.part"):
        with suppress(OSError), part.open("rb") as left:
            fcntl.flock(left, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink()


def _remove_others(copy: Path, key: str) -> None:
    """Removes the copies of other states of the same source."""
    for other in copy.parent.glob(f"{key}-*.jsonl"):
        if other != copy:
            with suppress(OSError):
                other.unlink()


def _pieces(path: Path, limit: int) -> Iterator[bytes]:
    """The unpacked bytes; InputFault as soon as they pass `limit` or turn out damaged."""
    total = 0
    try:
        with _OPENERS[path.suffix.lower()](path) as packed:
            while piece := packed.read(_PIECE):
                total += len(piece)
                if total > limit:
                    raise InputFault.of(
                        "unpacks_too_large",
                        f"the file unpacks to more than {limit >> 20:,} MiB",
                        where=str(path),
                        remedy="If that is right, unpack it yourself and name the plain file.",
                    )
                yield piece
    except (OSError, EOFError) as error:
        reason = f"the file cannot be unpacked: {error}"
        remedy = "Pack it anew; the copy may have been cut short."
        raise InputFault.of("damaged_archive", reason, where=str(path), remedy=remedy) from error


def _write(out: BinaryIO, piece: bytes) -> int:
    try:
        return out.write(piece)
    except OSError as error:
        raise _cache_fault(Path(out.name), error) from error


def _cache_fault(place: Path, error: OSError) -> InputFault:
    return InputFault.of(
        "cache_not_writable",
        f"the cache cannot be written: {error.strerror or error}",
        where=str(place),
        remedy="Name another folder with --cache-dir or PROOFSPAN_CACHE_DIR.",
    )


@contextmanager
def _open_gzip(path: Path) -> Iterator[BinaryIO]:
    from isal import igzip

    with igzip.IGzipFile(path, "rb") as packed:  # type: ignore[no-untyped-call]  # its stubs type half of it
        yield cast(BinaryIO, packed)


@contextmanager
def _open_zstd(path: Path) -> Iterator[BinaryIO]:
    import pyarrow

    with pyarrow.OSFile(str(path), "rb") as raw, pyarrow.CompressedInputStream(raw, "zstd") as packed:
        yield cast(BinaryIO, packed)


_OPENERS = {".gz": _open_gzip, ".zst": _open_zstd}
