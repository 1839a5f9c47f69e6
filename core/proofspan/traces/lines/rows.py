"""The rows of tables one after the other: CSV with any usual delimiter, and Parquet."""

from __future__ import annotations

import base64
import csv
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import zip_longest
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO, Final

import pyarrow as pa
import pyarrow.parquet as pq

from proofspan.contracts.records.records import Json
from proofspan.errors import InputFault
from proofspan.manifest.contents import content_of, csv_rows
from proofspan.traces.lines.reader import MAX_LINE
from proofspan.traces.lines.unpack import OnBytes, no_progress

#: Rows of a Parquet file that are in memory at a time: few, since a small file may unpack to large cells.
_ROWS: Final = 64
#: The most bytes of such rows.
_MAX_ROWS_SIZE: Final = 256 << 20
#: The longest cell and the longest line of CSV, in characters.
_MAX_CELL: Final = MAX_LINE

#: Notes a problem: code, message, place, remedy, and whether its row is lost.
Noted = Callable[[str, str, str, str, bool], None]


def is_parquet(head: bytes) -> bool:
    """Return whether a file is Parquet, by its beginning."""
    return head.startswith(b"PAR1")


def is_table(head: bytes) -> bool:
    """Return whether a file is Parquet or CSV, by its beginning."""
    code = content_of(head).code
    if code != "lines":
        return code == "is_csv" or is_parquet(head)
    return not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")) and bool(delimiter_of(head))


def read_csv(source: BinaryIO, head: bytes, *, noted: Noted) -> Iterator[tuple[int, dict[str, str | None]]]:
    """Yield the rows of CSV below its header, from 1; a cell that is empty is None.

    `head` is the beginning of the file, by which its delimiter is found. Cells without a header are named
    "column 3". A byte that is no UTF-8 becomes U+FFFD, and is noted.
    """
    delimiter = delimiter_of(head) or ","
    csv.field_size_limit(_MAX_CELL)
    lines = _Lines(source, noted)
    rows = csv.reader(lines, delimiter=delimiter)
    header: list[str] = []
    number = 0
    try:
        for cells in rows:
            if not header:
                header = _header(cells, noted)
                continue
            if not any(cells):
                continue
            number, quotes, lines.quotes = number + 1, lines.quotes, 0
            if lines.has_ended and quotes % 2:
                message, fix = "goes on to the end of the file", "Close the quote in this row."
                noted("open_quote", message, f"row {number:,}", fix, False)
            if len(cells) > len(header):
                message = f"has {len(cells)} cells under {len(header)} headers"
                noted("more_cells", message, f"row {number:,}", "Quote cells that hold the delimiter.", False)
                header += [f"column {place}" for place in range(len(header) + 1, len(cells) + 1)]
            yield number, {name: cell or None for name, cell in zip_longest(header, cells)}
    except csv.Error as error:
        fix = "Close every quote, and write a quote within a cell twice."
        noted("not_csv", f"cannot be read on from here: {error}", f"line {rows.line_num:,}", fix, True)


def delimiter_of(head: bytes) -> str | None:
    """Return the delimiter of CSV by the beginning of the file; None for anything else.

    The first column may have no name: it is the index of a data frame.
    """
    lines = [line for line in head.removeprefix(b"\xef\xbb\xbf").splitlines() if line.strip()][:20]
    if lines and lines[0].startswith((b",", b";", b"\t", b"|")):
        lines[0] = b"index" + lines[0]
    found = csv_rows(lines) if lines else None
    return found[0] if found and len(found[1]) > 1 else None


class _Lines:
    """The lines of a file as text, with the quotes since `quotes` was set to 0."""

    def __init__(self, source: BinaryIO, noted: Noted) -> None:
        self._source, self._noted = source, noted
        self._number = self.quotes = 0
        self.has_ended = False

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._source.readline(_MAX_CELL)
        if not line:
            self.has_ended = True
            raise StopIteration
        self._number += 1
        self.quotes += line.count(b'"')
        if self._number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        try:
            return line.decode()
        except UnicodeDecodeError:
            fix = "Save the table as UTF-8 (in Excel: CSV UTF-8)."
            message, place = "holds bytes that are not UTF-8", f"line {self._number:,}"
            self._noted("bad_utf8", message, place, fix, False)
            return line.decode("utf-8", "replace")


def _header(cells: Iterable[str], noted: Noted) -> list[str]:
    header: list[str] = []
    for place, cell in enumerate(cells, start=1):
        name = cell.strip() or f"column {place}"
        if name in header:
            noted(
                "duplicate_column", f"has the column {name!r} twice", "header", "Rename one of them.", False
            )
            name = f"{name} ({place})"
        header.append(name)
    return header


def read_parquet(path: Path, on_bytes: OnBytes = no_progress) -> Iterator[tuple[int, dict[str, Json]]]:
    """Yield the rows of a Parquet file, from 1, as JSON has them.

    Times become ISO 8601, decimals numbers, maps objects, bytes text, or base64 where they are none; NaN and
    infinite numbers null. Raises InputFault if the file cannot be read.
    """
    try:
        with pq.ParquetFile(path, pre_buffer=False) as file:  # else all that was read stays in memory
            converted = {column.name for column in file.schema_arrow if _is_converted(column.type)}
            size, rows, number = path.stat().st_size, max(file.metadata.num_rows, 1), 0
            for batch in file.iter_batches(batch_size=_ROWS, use_threads=False):
                if batch.nbytes > _MAX_ROWS_SIZE:
                    message = f"{_ROWS} rows have more than {_MAX_ROWS_SIZE >> 20} MiB"
                    fix = "Leave out columns with pictures or whole documents."
                    where = f"{path.name}: row {number + 1:,}"
                    raise InputFault.of("rows_too_large", message, where=where, fix=fix)
                on_bytes(size * (number + len(batch)) // rows, size)
                for row in batch.to_pylist():
                    number += 1
                    for name in converted:
                        row[name] = _json(row[name])
                    yield number, row
    except (pa.ArrowException, OSError, UnicodeDecodeError, ValueError) as error:
        message = f"the Parquet file cannot be read: {str(error).splitlines()[0] if str(error) else error!r}"
        raise InputFault.of("not_parquet", message, where=path.name, fix="Write it again.") from error


def _is_converted(kind: pa.DataType) -> bool:
    """Return whether a type holds anything that is not JSON as Python has it."""
    if pa.types.is_nested(kind):
        if pa.types.is_map(kind):
            return True
        return any(_is_converted(kind.field(place).type) for place in range(kind.num_fields))
    plain = (pa.types.is_string, pa.types.is_large_string, pa.types.is_integer, pa.types.is_boolean)
    return not any(test(kind) for test in plain)


def _json(value: Any) -> Json:
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, dict):
        return {str(name): _json(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        if value and all(isinstance(each, tuple) and len(each) == 2 for each in value):  # a map
            return {str(name): _json(each) for name, each in value}
        return [_json(each) for each in value]
    if isinstance(value, float):
        return value if isfinite(value) else None
    return _text(value)


def _text(value: Any) -> Json:
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return base64.b64encode(value).decode()
    if isinstance(value, Decimal):
        return float(value) if value.is_finite() else None
    if isinstance(value, timedelta):
        return value.total_seconds()
    return value.isoformat() if isinstance(value, (datetime, date, time)) else str(value)
