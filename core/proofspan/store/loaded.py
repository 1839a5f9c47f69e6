"""One run's index in memory: columns are read when a query first needs them, and kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Lock

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from proofspan.store.columns import ISSUE_SCHEMA, ROW_SCHEMA
from proofspan.store.files import DamagedError, read_columns, read_lists_coded, read_rows, read_table
from proofspan.store.placed import ROW_COLUMNS, PlacedFile, RowStates, read_placed
from proofspan.store.runfile import RunFile

#: What only the joined file holds, beside `row`, a trace's place in its run from 0.
JOINED = ("repeat", "stored_label")
#: The lists that the joined file adds to, with its column.
_COMPLETED = {"suspicions": "late", "codes": "late_codes"}
#: Every column that can be asked for.
ALL_COLUMNS: tuple[str, ...] = ("row", *ROW_SCHEMA.names, *JOINED, *ROW_COLUMNS)

#: Up to so many rows are read by their places rather than with all others of their columns.
FEW_ROWS = 1_000


class LoadedRun:
    """The columns of one state of a run's index. FileNotFoundError where that state has been replaced.

    `placed` is what is known of its citations, None where they are not located (any more).
    """

    def __init__(self, folder: Path, run_file: RunFile, placed: PlacedFile | None = None) -> None:
        self.folder = folder
        self.run_file = run_file
        self._placed = placed
        self._states: RowStates | None = None
        self._columns: dict[str, pa.ChunkedArray] = {}
        self._joined: pa.Table | None = None
        self._lock = Lock()

    @property
    def nbytes(self) -> int:
        """How much memory the columns take that are kept."""
        return sum(column.nbytes for column in self._columns.copy().values())

    def table(self, names: Sequence[str]) -> pa.Table:
        """A table of the named columns and `row`; those not asked for before are read from disk."""
        wanted = tuple(dict.fromkeys(("row", *names)))
        with self._lock:
            self._load([name for name in wanted if name not in self._columns])
            return pa.table({name: self._columns[name] for name in wanted})

    def frame(self, rows: Sequence[int] | np.ndarray, names: Sequence[str]) -> pd.DataFrame:
        """Some rows as a DataFrame, in the order given: lists are lists, whole numbers may be missing."""
        wanted = np.asarray(rows, dtype=np.int64)
        by_place = [name for name in names if self._is_unread(name)] if len(wanted) <= FEW_ROWS else []
        found = self._rows_at(wanted, by_place)
        taken = self.table([name for name in names if name not in found]).take(pa.array(wanted))
        found |= dict(zip(taken.column_names, taken.columns, strict=True))
        return pd.DataFrame({name: _series(found[name], found[name].type) for name in names})

    def documents(self, rows: np.ndarray) -> list[tuple[str, int]]:
        """Each document with how many of these rows have a chunk of it."""
        segments = [segment.name for segment in self.run_file.segments]
        if not segments:
            return []
        docs = read_lists_coded(self.folder, segments, "docs")
        if len(rows) < len(docs):
            docs = docs.take(pa.array(rows))
        counted = pc.value_counts(pc.list_flatten(docs).combine_chunks())
        return list(
            zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True)
        )

    def issues(self) -> pd.DataFrame:
        """All line issues of the run, in the order of the file, then those of its chunks and its report."""
        names = self.run_file.issue_files()
        if not names:
            return pd.DataFrame(columns=ISSUE_SCHEMA.names)
        found = pa.concat_tables([read_table(self.folder / name) for name in names])
        return pd.DataFrame(found.to_pydict())

    def placed(self) -> PlacedFile | None:
        """What is placed of the run, if its files can be read."""
        with self._lock:
            self._row_states()
            return self._placed

    def citations(self, columns: Sequence[str]) -> pd.DataFrame | None:
        """Columns of every citation, `row` being its trace's place in the run; None while not located."""
        placed = self.placed()
        if placed is None:
            return None
        table = read_placed(self.folder, placed.parts, columns)
        return pd.DataFrame({name: _series(table[name], table[name].type) for name in columns})

    def _row_states(self) -> RowStates:
        """What became of each row's citations; files that are damaged count as not there."""
        if self._states is None:
            self._states = RowStates.unknown(self.run_file.rows)
            if self._placed is not None:
                try:
                    self._states = self._read_states(self._placed)
                except DamagedError:
                    self._placed = None
        return self._states

    def _read_states(self, placed: PlacedFile) -> RowStates:
        columns = ("row", "status", "page_mismatch", "numbers_differ", "agreement")
        table = read_placed(self.folder, placed.parts, columns)
        rows = table.column("row").to_numpy()
        starts = np.cumsum([0, *(segment.rows for segment in self.run_file.segments)])[:-1]
        rows = rows + np.repeat(starts, [part.citations for part in placed.parts])
        if len(rows) and not 0 <= rows.min() <= rows.max() < self.run_file.rows:
            raise DamagedError("citations of rows that the index does not have")
        return RowStates.of(table.set_column(0, "row", pa.array(rows)), self.run_file.rows)

    def _is_unread(self, name: str) -> bool:
        """Whether the segments hold the column as it is, and it was not asked for as a whole yet."""
        completed_late = name in _COMPLETED and self.run_file.joined is not None
        return name in ROW_SCHEMA.names and not completed_late and name not in self._columns

    def _rows_at(self, rows: np.ndarray, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
        """Columns of a few rows, without reading those columns for the whole run."""
        if not names or not len(rows):
            return {name: pa.chunked_array([], ROW_SCHEMA.field(name).type) for name in names}
        segments = self.run_file.segments
        ends = np.cumsum([segment.rows for segment in segments])
        places = np.searchsorted(ends, rows, side="right")
        pieces = []
        for place in np.unique(places):
            segment, chosen = segments[place], places == place
            inside = rows[chosen] - (ends[place] - segment.rows)
            pieces.append(read_rows(self.folder, segment.name, inside, names))
        as_given = np.argsort(np.argsort(places, kind="stable"))
        table = pa.concat_tables(pieces).unify_dictionaries().take(pa.array(as_given))
        return {name: table.column(name) for name in names}

    def _load(self, missing: Sequence[str]) -> None:
        stored = [name for name in missing if name in ROW_SCHEMA.names]
        if stored:
            table = self._read(stored)
            self._columns |= {name: table.column(name) for name in stored}
        for name, late in _COMPLETED.items():
            if name in stored:
                self._columns[name] = _with_late(self._columns[name], self._joined_table(), late)
        if "row" in missing:
            self._columns["row"] = pa.chunked_array([pa.array(np.arange(self.run_file.rows))])
        if "repeat" in missing:
            self._columns["repeat"] = self._scattered("repeat", 1)
        for name in missing:
            if name in ROW_COLUMNS:
                self._columns[name] = pa.chunked_array([getattr(self._row_states(), name)])
        if "stored_label" in missing:
            self._columns["stored_label"] = self._scattered("stored_label", None)

    def _read(self, names: Sequence[str]) -> pa.Table:
        files = [segment.name for segment in self.run_file.segments]
        if not files:
            return ROW_SCHEMA.empty_table().select(list(names))
        return read_columns(self.folder, files, names).unify_dictionaries()

    def _joined_table(self) -> pa.Table | None:
        if self._joined is None and self.run_file.joined:
            self._joined = read_table(self.folder / self.run_file.joined)
        return self._joined

    def _scattered(self, name: str, default: object) -> pa.ChunkedArray:
        """A sparse column of the joined file with its default in every other row."""
        joined = self._joined_table()
        kind = pa.string() if joined is None else joined.schema.field(name).type
        if name == "repeat":
            kind = pa.int32()
        everywhere = pa.repeat(pa.scalar(default, kind), self.run_file.rows)
        if joined is None:
            return pa.chunked_array([everywhere])
        mask = np.zeros(self.run_file.rows, dtype=bool)
        mask[joined.column("row").to_numpy()] = True
        values = joined.column(name).combine_chunks()
        return pa.chunked_array([pc.replace_with_mask(everywhere, pa.array(mask), values)])


def record_of(frame: pd.DataFrame) -> dict[str, object]:
    """The only row of a frame; what is missing is None."""
    record = frame.to_dict("records")[0]
    return {str(name): None if _is_missing(value) else value for name, value in record.items()}


def _is_missing(value: object) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and value != value)


def _with_late(column: pa.ChunkedArray, joined: pa.Table | None, name: str) -> pa.ChunkedArray:
    """Lists with what only the whole run tells, the joined column `name`, added at their ends."""
    if joined is None:
        return column
    late = joined.column(name).combine_chunks()
    counts = pc.list_value_length(late).to_numpy(zero_copy_only=False)
    if not counts.any():
        return column
    rows = joined.column("row").to_numpy()
    lists = column.combine_chunks()
    offsets = np.asarray(lists.offsets).astype(np.int64)
    offsets -= offsets[0]
    values, added = lists.flatten(), late.flatten()
    places = np.repeat(offsets[rows + 1], counts)
    order = np.insert(np.arange(len(values)), places, len(values) + np.arange(len(added)))
    grown = np.zeros(len(offsets), dtype=np.int64)
    grown[rows + 1] = counts
    new_offsets = pa.array((offsets + np.cumsum(grown)).astype(np.int32))
    return pa.chunked_array(
        [pa.ListArray.from_arrays(new_offsets, pa.concat_arrays([values, added]).take(pa.array(order)))]
    )


_NULLABLE = {pa.int8(): "Int8", pa.int32(): "Int32", pa.int64(): "Int64", pa.bool_(): "boolean"}


def _series(column: pa.ChunkedArray, kind: pa.DataType) -> pd.Series:
    if pa.types.is_list(kind):
        return pd.Series(column.to_pylist(), dtype=object)
    if pa.types.is_dictionary(kind):
        column = column.cast(pa.string())
    if kind in _NULLABLE and (column.null_count or kind == pa.bool_()):
        return pd.Series(column.to_pylist(), dtype=_NULLABLE[kind])
    if pa.types.is_floating(kind) or pa.types.is_integer(kind):
        return pd.Series(column.to_numpy())
    return pd.Series(column.to_pylist(), dtype=object)
