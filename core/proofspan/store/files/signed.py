"""Files of the cache that end with a checksum of what is before it, mapped into memory."""

from __future__ import annotations

import zlib
from pathlib import Path

import pyarrow as pa

from proofspan.store.files.run_file import new_file

_SUM_BYTES = 4


def signed_body(path: Path) -> pa.Buffer:
    """Return the mapped contents of a file. OSError or ValueError where it is missing or damaged."""
    whole = pa.memory_map(str(path)).read_buffer()
    body = whole.slice(0, max(0, whole.size - _SUM_BYTES))
    if _sum_of(body) != whole.slice(body.size).to_pybytes():
        raise ValueError("damaged")
    return body


def write_signed(folder: Path, name: str, body: pa.Buffer) -> None:
    """Write a file and its checksum; it appears whole or not at all."""
    with new_file(folder, name) as part, part.open("wb") as file:
        file.write(body)
        file.write(_sum_of(body))


def _sum_of(body: pa.Buffer) -> bytes:
    return zlib.crc32(memoryview(body)).to_bytes(_SUM_BYTES, "big")
