"""Write the files of a segment, and read them by column or by row.

A list reads a few columns of all rows, a page all columns of a few rows, a search all of one text: no format
does all three quickly. So a segment has two files: Parquet with what is filtered, sorted and counted by, and
Arrow with every column, a thousand rows compressed together, for single rows and for texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

from proofspan.store.files.columns import BATCH_ROWS, LISTED, REPEATING, ROW_SCHEMA, TEXTS
from proofspan.store.files.run_file import RunFile, Segment, new_file, rows_name

#: How many files are read in parallel.
_READERS = 2


class DamagedError(Exception):
    """A file in the folder of an index is missing or damaged."""

    def __init__(self, folder: Path, why: str) -> None:
        super().__init__(why)
        self.folder = folder


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, LookupError, SystemError, pa.ArrowException) as error:
        raise DamagedError(folder, str(error)) from error


def sound(table: pa.Table) -> pa.Table:
    """Return the table if it is valid: a wrong offset would crash the process that follows it."""
    table.validate(full=True)
    return table


def write_segment(folder: Path, name: str, table: pa.Table, *, zones: int | None = None) -> None:
    """Write a segment's two files from a table of `ROW_SCHEMA`; each appears whole or not at all.

    With `zones` the Parquet file has zone maps: the least and the greatest value of each column in that many
    rows.
    """
    whole = table.unify_dictionaries().combine_chunks()  # batches are of equal length only within a chunk
    options = ipc.IpcWriteOptions(compression="lz4", use_threads=False)
    with (
        new_file(folder, rows_name(name)) as part,
        ipc.new_file(str(part), table.schema, options=options) as file,
    ):
        file.write_table(whole, max_chunksize=BATCH_ROWS)
    write_table(folder, name, table.select(LISTED), zones=zones)


def write_table(
    folder: Path,
    name: str,
    table: pa.Table,
    *,
    repeating: Sequence[str] = REPEATING,
    zones: int | None = None,
) -> None:
    """Write a table as Parquet so that it appears whole or not at all.

    `repeating` are columns that Parquet should keep as a dictionary, `zones` are those of `write_segment`.
    """
    with new_file(folder, name) as part:
        pq.write_table(
            table,
            part,
            compression="zstd",
            use_dictionary=list(repeating),
            row_group_size=zones,
            write_statistics=zones is not None,
            write_page_checksum=True,
        )


def read_table(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Return a Parquet file's table, or some columns. (pyarrow's own reader would import pandas.)"""
    names, options = None if columns is None else list(columns), {"page_checksum_verification": True}
    with reading(path.parent), pq.ParquetFile(path, memory_map=True, **options) as file:
        return sound(file.read(columns=names, use_threads=False))


def read_lists_coded(folder: Path, segments: Sequence[str], column: str) -> pa.ChunkedArray:
    """Return a column of lists with its texts as dictionary codes: less memory, and fast to count."""
    with reading(folder):
        tables = []
        for segment in segments:
            path, element = folder / segment, f"{column}.list.element"
            with pq.ParquetFile(
                path, memory_map=True, read_dictionary=[element], page_checksum_verification=True
            ) as file:
                tables.append(sound(file.read(columns=[column], use_threads=False)))
        return pa.concat_tables(tables).unify_dictionaries().column(column)


def read_columns(folder: Path, segments: Sequence[str], columns: Sequence[str]) -> pa.Table:
    """Return some columns of several segments, concatenated. DamagedError where that is not possible."""
    with reading(folder):
        texts = [name for name in columns if name in TEXTS]

        def read(segment: str) -> pa.Table:
            table = read_table(folder / segment, [name for name in columns if name not in TEXTS])
            if texts:
                with _rows_file(folder / rows_name(segment), texts) as file:
                    rest = sound(file.read_all())
                for name in texts:
                    table = table.append_column(name, rest.column(name))
            return table.select(list(columns))

        if len(segments) == 1:
            return read(segments[0])
        with ThreadPoolExecutor(_READERS) as pool:
            return pa.concat_tables(list(pool.map(read, segments)))


def read_rows(folder: Path, segment: str, places: np.ndarray, columns: Sequence[str]) -> pa.Table:
    """Return rows of a segment by their places in it (from 0), in the order given. DamagedError as above."""
    with reading(folder):
        batches, inside = np.divmod(places, BATCH_ROWS)
        with _rows_file(folder / rows_name(segment), columns) as file:
            pieces = []
            for batch in np.unique(batches):
                read = file.get_batch(int(batch))
                read.validate(full=True)
                pieces.append(read.take(pa.array(inside[batches == batch])))
            by_batch = pa.Table.from_batches(pieces, file.schema)
        as_given = np.argsort(np.argsort(batches, kind="stable"))
        return by_batch.take(pa.array(as_given)).select(list(columns))


def read_traces(
    folder: Path, run_file: RunFile, segment: Segment, columns: Sequence[str]
) -> Iterator[tuple[Any, ...]]:
    """Yield a segment's traces in the order of the file. DamagedError as above.

    Each is its row in the segment (from 0), q_id, paraphrase, seed and repeat, then the values of `columns`.
    """
    table = read_columns(folder, [segment.name], ("q_id", "paraphrase", "seed", *columns))
    first, repeats = run_file.rows_before(segment), {}
    if run_file.joined is not None:
        joined = read_table(folder / run_file.joined, ["row", "repeat"]).to_pydict()
        repeats = dict(zip(joined["row"], joined["repeat"], strict=True))
    values = (column.to_pylist() for column in table.columns)
    for row, (q_id, paraphrase, seed, *others) in enumerate(zip(*values, strict=True)):
        yield row, q_id, paraphrase, seed, repeats.get(first + row, 1), *others


def can_be_read(folder: Path, segments: Sequence[str]) -> bool:
    """Return whether the files of all segments exist and open; their contents are not read."""
    try:
        with reading(folder):
            for segment in segments:
                pq.ParquetFile(folder / segment, memory_map=True).close()
                with _rows_file(folder / rows_name(segment), TEXTS):
                    pass
    except DamagedError:
        return False
    return True


@contextmanager
def _rows_file(path: Path, columns: Sequence[str]) -> Iterator[ipc.RecordBatchFileReader]:
    """Open an Arrow file of which only the named columns are read."""
    fields = [ROW_SCHEMA.get_field_index(name) for name in columns]
    options = ipc.IpcReadOptions(included_fields=fields, use_threads=False)
    with pa.memory_map(str(path)) as source, ipc.open_file(source, options=options) as file:
        yield file
