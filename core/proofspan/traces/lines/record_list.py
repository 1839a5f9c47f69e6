"""Traces kept as Parquet instead of JSONL: a small JSON file names the files of records, one record a row.

A record's `offset` names the file and its row there, so that reading one opens one file and reads one of its
row groups. `proofspan.spark` writes such traces.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from proofspan.contracts.records.records import SourceLine
from proofspan.errors import InputFault
from proofspan.traces.lines.reader import RawLine

#: How the name of such a file ends.
SUFFIX: Final = ".records.json"
#: The lower bits of an offset are the row in its file, the upper ones the file's key.
ROW_BITS: Final = 16
_KEY_BITS: Final = 47
#: Records of a file that are compressed, and read, together.
GROUP_ROWS: Final = 256
_FIX = "put the file back, or make the index again with `proofspan spark-index`"


def is_record_list(path: Path) -> bool:
    """Return whether a trace file is a list of Parquet files."""
    return path.name.endswith(SUFFIX)


def file_key(name: str) -> int:
    """Return the number of a file in offsets."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") >> (64 - _KEY_BITS)


def offset_of(name: str, row: int) -> int:
    """Return the offset of a file's row, which counts from 0."""
    return file_key(name) << ROW_BITS | row


def write_record_list(path: Path, names: Sequence[str]) -> None:
    """Write the list of files, relative to its folder, in their order. ValueError where two keys clash."""
    if len({file_key(name) for name in names}) != len(names):
        raise ValueError("two files of records have the same key")
    path.write_bytes(orjson.dumps({"records": list(names)}, option=orjson.OPT_INDENT_2))


def write_records(path: Path, records: pa.Array) -> None:
    """Write records, texts of one JSON object each, as a file of such a list."""
    table = pa.table({"record": records})
    pq.write_table(
        table,
        path,
        compression="zstd",
        row_group_size=GROUP_ROWS,
        use_dictionary=False,
        write_statistics=False,
    )


def records_of(path: Path) -> Iterator[RawLine]:
    """Yield all records of a list in order; `line` counts from 1 in each file. InputFault as `record_at`."""
    for name in _files(path).values():
        try:
            with pq.ParquetFile(path.parent / name) as file:
                row = 0
                for group in range(file.num_row_groups):
                    for data in file.read_row_group(group, columns=["record"]).column(0).to_pylist():
                        yield RawLine(row + 1, offset_of(name, row), len(data), data)
                        row += 1
        except (OSError, pa.ArrowException) as error:
            raise _unreadable(path.parent / name, error) from error


def record_at(path: Path, source: SourceLine) -> RawLine | None:
    """Return the record at a place, None without one there. InputFault where its file cannot be read."""
    name = _files(path).get(source.offset >> ROW_BITS)
    row = source.offset & ((1 << ROW_BITS) - 1)
    if name is None:
        return None
    try:
        with pq.ParquetFile(path.parent / name) as file:
            if row >= file.metadata.num_rows:
                return None
            group = file.read_row_group(row // GROUP_ROWS, columns=["record"])
            data: bytes = group.column(0)[row % GROUP_ROWS].as_py()
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(path.parent / name, error) from error
    return RawLine(source.line, source.offset, len(data), data)


def _files(path: Path) -> Mapping[int, str]:
    try:
        return _read(path, path.stat().st_mtime_ns)
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise _unreadable(path, error) from error


@lru_cache(maxsize=8)
def _read(path: Path, mtime_ns: int) -> dict[int, str]:
    data: Any = orjson.loads(path.read_bytes())
    return {file_key(name): name for name in data["records"]}


def _unreadable(path: Path, error: Exception) -> InputFault:
    reason = str(error).partition("\n")[0][:200]
    return InputFault.of("records_unreadable", f"cannot be read: {reason}", where=str(path), fix=_FIX)
