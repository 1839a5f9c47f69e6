"""Writing and reading the Parquet files of the index, and cutting a source into their ranges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from core.store.columns import REPEATING
from core.store.runfile import new_file

_BLOCK = 1 << 20
_SMALLEST, _LARGEST = 4 << 20, 128 << 20
#: A file is cut into about this many segments, so that two processes finish together.
_PIECES = 16
#: Small enough to read a single row quickly, large enough to read all of them quickly.
_GROUP_ROWS = 16_384
#: Files that are read at the same time.
_READERS = 2


@dataclass(frozen=True, slots=True)
class Range:
    """The bytes `[start, end)` of a source, both at a line's beginning; the first line is number `line`."""

    start: int
    end: int
    line: int
    lines: int


def segment_bytes(size: int) -> int:
    """How many bytes of a source of `size` bytes one segment covers: a power of two, 4 to 128 MiB."""
    wanted = _SMALLEST
    while wanted < _LARGEST and wanted * _PIECES < size:
        wanted *= 2
    return wanted


def cut(path: Path, *, start: int, line: int, end: int, target: int, final: bool = False) -> Iterator[Range]:
    """Cuts `[start, end)` of a file into ranges of whole lines, each of `target` bytes and its last line.

    What follows the last line end is left out, unless the file is `final`. Where the cuts fall depends on
    the file alone, never on how many processes read it.
    """
    with path.open("rb") as file:
        file.seek(start)
        while start < end:
            passed, whole, lines = _pass_lines(file, target, end - start)
            if final and whole < passed:
                whole, lines = passed, lines + 1
            if whole:
                yield Range(start, start + whole, line, lines)
            if whole < passed or not passed:
                return
            start, line = start + whole, line + lines


def _pass_lines(file: BinaryIO, target: int, room: int) -> tuple[int, int, int]:
    """Reads on for `target` bytes and to the end of that line: bytes passed, bytes in whole lines, lines."""
    passed = whole = lines = 0
    while passed < min(target, room):
        block = file.read(min(_BLOCK, target - passed, room - passed))
        if not block:
            break
        last = block.rfind(b"\n")
        whole = whole if last < 0 else passed + last + 1
        lines += block.count(b"\n")
        passed += len(block)
    while whole < passed < room:
        block = file.readline(min(_BLOCK, room - passed))
        if not block:
            break
        passed += len(block)
        if block.endswith(b"\n"):
            whole, lines = passed, lines + 1
    return passed, whole, lines


def write_table(folder: Path, name: str, table: pa.Table) -> None:
    """Write a table so that it appears whole or not at all."""
    with new_file(folder, name) as part:
        pq.write_table(
            table,
            part,
            compression="zstd",
            use_dictionary=REPEATING,
            write_statistics=False,
            row_group_size=_GROUP_ROWS,
        )


def read_columns(folder: Path, names: Sequence[str], columns: Sequence[str]) -> pa.Table:
    """Some columns of several files, one under the other. FileNotFoundError where one is gone."""

    def read(name: str) -> pa.Table:
        return read_file(folder / name, columns)

    with ThreadPoolExecutor(_READERS) as pool:
        return pa.concat_tables(list(pool.map(read, names)))


def read_file(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """A file's table, or some columns of it. (`read_table` and datasets would import pandas for a second.)"""
    with pq.ParquetFile(path, memory_map=True) as file:
        return file.read(columns=None if columns is None else list(columns), use_threads=False)


def read_row(path: Path, row: int, columns: Sequence[str]) -> pa.Table:
    """One row of a file, read with no more than its row group."""
    with pq.ParquetFile(path, memory_map=True) as file:
        group = 0
        while row >= (size := file.metadata.row_group(group).num_rows):
            row, group = row - size, group + 1
        return file.read_row_group(group, columns=list(columns), use_threads=False).slice(row, 1)


def merge_files(folder: Path, names: Sequence[str], into: str) -> None:
    """Write the rows of several files, in their order, as one."""
    write_table(folder, into, pa.concat_tables([read_file(folder / name) for name in names]))
