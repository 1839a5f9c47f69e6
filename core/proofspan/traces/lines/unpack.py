"""`.gz` and `.zst` sources, unpacked once into the cache so that byte offsets are valid.

A copy has its source's time, so that an unchanged source gives the same file again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from proofspan.errors import InputFault
from proofspan.traces.lines.cache_files import fingerprint, remove_stale, whole_copy, write_copy
from proofspan.traces.lines.reader import open_source

#: The suffixes of packed files.
PACKED = (".gz", ".zst")
#: The most bytes that any source may unpack to.
MAX_UNPACKED = 64 << 30
#: Any source may unpack to this many bytes,
ALWAYS_ALLOWED = 256 << 20
#: a larger one to this many times its size: JSONL packs to a tenth, hardly to a hundredth.
MAX_RATIO = 200

_PIECE = 1 << 20


def plain_source(path: Path, *, cache_dir: Path) -> Path:
    """Return `path` itself, or for `.gz` and `.zst` its unpacked copy below `cache_dir`.

    Raises InputFault if the source is missing, damaged, or unpacks to too much, or the cache cannot be
    written.
    """
    if path.suffix.lower() not in PACKED:
        return path
    folder, key = cache_dir / "unpacked", hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:12]
    with open_source(path) as source:
        state, size = fingerprint(source), os.fstat(source.fileno()).st_size
    copy = whole_copy(folder, f"{key}-{state}")
    if copy is None:
        limit = min(MAX_UNPACKED, max(ALWAYS_ALLOWED, MAX_RATIO * size))
        pieces, time = _pieces(path, limit), path.stat().st_mtime_ns
        lost = "the file cannot be unpacked"
        copy = write_copy(folder, f"{key}-{state}", pieces, time=time, where=str(path), lost=lost)
        with open_source(path) as source:
            if fingerprint(source) == state:  # else there may be a copy of a later state already
                remove_stale(folder, key, keep={copy})
    return copy


def _pieces(path: Path, limit: int) -> Iterator[bytes]:
    """Yield the unpacked bytes. Raises InputFault once they exceed `limit` or turn out to be damaged."""
    total = 0
    try:
        with _unpacked(path) as packed:
            while piece := packed.read(_PIECE):
                total += len(piece)
                if total > limit:
                    raise InputFault.of(
                        "unpacks_too_large",
                        f"the file unpacks to more than {limit >> 20:,} MiB",
                        where=str(path),
                        fix="If that is right, unpack it yourself and name the plain file.",
                    )
                yield piece
    except (OSError, EOFError) as error:
        message = f"the file cannot be unpacked: {error}"
        fix = "Pack it again; the copy may be incomplete."
        raise InputFault.of("damaged_archive", message, where=str(path), fix=fix) from error


@contextmanager
def _unpacked(path: Path) -> Iterator[BinaryIO]:
    if path.suffix.lower() == ".gz":
        from isal import igzip

        with igzip.IGzipFile(path, "rb") as packed:  # type: ignore[no-untyped-call]  # its stubs type half of it
            yield cast(BinaryIO, packed)
    else:
        import pyarrow

        with pyarrow.OSFile(str(path), "rb") as raw, pyarrow.CompressedInputStream(raw, "zstd") as stream:
            yield cast(BinaryIO, stream)
