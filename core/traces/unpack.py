"""`.gz` and `.zst` sources, unpacked once into the cache so that byte offsets hold.

The unpacked file is named by its source's fingerprint and carries its source's time, so that an unchanged
source gives the same file again. It appears whole or not at all: written under another name, then renamed.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
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
    with open_source(path) as source:
        target = cache_dir / "unpacked" / f"{_fingerprint(source)}.jsonl"
        if not target.exists():
            size = os.fstat(source.fileno()).st_size
            limit = min(MAX_UNPACKED, max(ALWAYS_ALLOWED, MAX_RATIO * size))
            _unpack(path, target, limit=limit)
    return target


def _fingerprint(source: BinaryIO) -> str:
    """Size, time and both ends of the file, in 20 hex digits."""
    facts = os.fstat(source.fileno())
    digest = hashlib.sha256(f"{facts.st_size} {facts.st_mtime_ns} ".encode())
    source.seek(0)
    digest.update(source.read(_EDGE))
    source.seek(max(0, facts.st_size - _EDGE))
    digest.update(source.read(_EDGE))
    return digest.hexdigest()[:20]


def _unpack(path: Path, target: Path, *, limit: int) -> None:
    facts = path.stat()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f"{target.stem}-", suffix=".part")
    except OSError as error:
        raise _cache_fault(target.parent, error) from error
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            for piece in _pieces(path, limit):
                _write(out, piece)
        os.utime(part, ns=(facts.st_mtime_ns, facts.st_mtime_ns))
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


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


def _write(out: BinaryIO, piece: bytes) -> None:
    try:
        out.write(piece)
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
