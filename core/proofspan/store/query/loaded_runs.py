"""The runs' indexes in memory: columns are read when a query first needs them, and cached with results."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from proofspan.manifest.types import Manifest
from proofspan.store.files import segment_files
from proofspan.store.files.checked import (
    CLAIM_COLUMNS,
    CLAIMS_FILE,
    CLAIMS_FOLDER,
    CheckedFile,
    CheckedParts,
    read_checked_file,
)
from proofspan.store.files.columns import ISSUE_SCHEMA, ROW_SCHEMA
from proofspan.store.files.located import (
    PLACED_FILE,
    PLACED_FOLDER,
    ROW_STATES,
    PlacedFile,
    read_placed,
    read_placed_file,
    row_states,
)
from proofspan.store.files.run_file import RUN_FILE, RunFile, read_run_file
from proofspan.store.files.scores import ScoreName, columns_of, names_of, read_scores
from proofspan.store.index.build import index_folder, not_indexed

T = TypeVar("T")
V = TypeVar("V")

#: The list columns that the joined file adds to, with the name of its column.
_COMPLETED = {"suspicions": "late", "codes": "late_codes"}
#: Every column that can be asked for; the last are of the joined file, of located citations and of claims.
ALL_COLUMNS = ("row", *ROW_SCHEMA.names, "repeat", "stored_label", *ROW_STATES.names, *CLAIM_COLUMNS.names)

#: Up to this many rows are read by their places rather than with all others of their columns.
FEW_ROWS = 1_000
#: How many results are cached per run, and how many bytes of arrays among them, such as a list's order.
CACHED_RESULTS, CACHED_ARRAY_BYTES = 512, 256 << 20
#: How many bytes of columns are cached, of the runs used last; this many runs in any case.
CACHED_BYTES = 512 << 20
CACHED_RUNS = 2
#: Seconds after which the documents of located citations are checked again.
LOOK_AGAIN = 1.0


class LoadedRun:
    """The columns of one state of a run's index, and results computed from them. Safe for several threads.

    `placed` is the file of its located citations, None where they are not located as files are now, and
    `checked` that of its claims, None where they are not checked. Methods that read raise
    segment_files.DamagedError where the state was replaced.
    """

    def __init__(
        self,
        folder: Path,
        run_file: RunFile,
        placed: PlacedFile | None = None,
        checked: CheckedFile | None = None,
    ) -> None:
        self.folder = folder
        self.run_file = run_file
        #: Unique to this object, for keys of results that depend on it.
        self.state = object()
        self._placed = placed
        self._checked = checked
        self._parts: CheckedParts | None = None
        self._states: pa.Table | None = None
        self._columns: dict[str, pa.ChunkedArray] = {}
        self._joined: pa.Table | None = None
        self._scores: pa.Table | None = None
        self._lock = Lock()
        self._results: OrderedDict[Hashable, Any] = OrderedDict()
        self._results_lock = Lock()

    def cached(self, key: Hashable) -> Any | None:
        """Return a cached result, None if it is not cached."""
        with self._results_lock:
            if key in self._results:
                self._results.move_to_end(key)
            return self._results.get(key)

    def cache(self, key: Hashable, result: V) -> V:
        """Cache a result and return it."""
        with self._results_lock:
            self._results.pop(key, None)
            self._results[key] = result
            used = sum(map(_nbytes, self._results.values())) if _nbytes(result) else 0
            while len(self._results) > CACHED_RESULTS or (
                used > CACHED_ARRAY_BYTES and len(self._results) > 1
            ):
                used -= _nbytes(self._results.popitem(last=False)[1])
        return result

    def get_or_make(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return the cached result, computed if need be. Two threads may both compute it."""
        return results_of([self], key, lambda _: [make()])[0]

    @property
    def nbytes(self) -> int:
        """Return the bytes of the cached columns."""
        scores = [] if self._scores is None else [self._scores]
        return sum(each.nbytes for each in (*self._columns.copy().values(), *scores))

    def table(self, names: Sequence[str]) -> pa.Table:
        """Return a table of the named columns and `row`; columns are read from disk once."""
        wanted = tuple(dict.fromkeys(("row", *names)))
        with self._lock:
            self._load([name for name in wanted if name not in self._columns])
            return pa.table({name: self._columns[name] for name in wanted})

    def frame(self, rows: Sequence[int] | np.ndarray, names: Sequence[str]) -> pd.DataFrame:
        """Return some rows as a DataFrame, in the order given; whole numbers are nullable."""
        return _data_frame(self._taken(rows, names), names)

    def record(self, row: int, names: Sequence[str]) -> dict[str, Any]:
        """Return one row; missing values are None."""
        found = self._taken([row], names)
        values = {name: found[name][0].as_py() for name in names}
        return {name: None if value != value else value for name, value in values.items()}

    def rows_of(self, q_id: str) -> np.ndarray:
        """Return the rows of a question's traces by paraphrase, seed and repeat, the headline one first.

        Compared here rather than in DuckDB, which takes longer to plan a query than to read a question.
        """
        column = self.table(("q_id",)).column("q_id")
        same = pc.indices_nonzero(pc.equal(column, pa.scalar(q_id, column.type)))
        rows = np.asarray(same, dtype=np.int64)
        if len(rows) > 1:
            repeats, seeds, paraphrases = self.lists(rows, ("repeat", "seed", "paraphrase"))
            rows = rows[np.lexsort((repeats, seeds, paraphrases))]
        return rows

    def lists(self, rows: np.ndarray, names: Sequence[str]) -> list[list[Any]]:
        """Return the values of small columns in some rows, each column as a list; missing ones are None."""
        taken = self.table(names).take(pa.array(rows))
        return [taken.column(name).to_pylist() for name in names]

    def _taken(self, rows: Sequence[int] | np.ndarray, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
        wanted = np.asarray(rows, dtype=np.int64)
        # The columns of which only these rows are read: in the segments as they are, and not read as a whole.
        late = (*_COMPLETED, "llm_summary") if self.run_file.joined is not None else ()
        unread = [name for name in names if name in ROW_SCHEMA.names and name not in late]
        few = len(wanted) <= FEW_ROWS
        by_place = [name for name in unread if few and name not in self._columns]
        found = self._rows_at(wanted, by_place)
        taken = self.table([name for name in names if name not in found]).take(pa.array(wanted))
        return found | dict(zip(taken.column_names, taken.columns, strict=True))

    def list_counts(self, column: str, rows: np.ndarray | None = None) -> list[tuple[str, int]]:
        """Return each value of a column of lists with how many rows (None: all) have it."""
        segments = [segment.name for segment in self.run_file.segments]
        if not segments:
            return []
        lists = segment_files.read_lists_coded(self.folder, segments, column)
        if rows is not None and len(rows) < len(lists):
            lists = lists.take(pa.array(rows))
        counted = pc.value_counts(pc.list_flatten(lists).combine_chunks())
        return list(zip(*(part.to_pylist() for part in counted.flatten()), strict=True))

    def score(self, name: str) -> pa.Table:
        """Return a score as two columns (see `proofspan.store.files.scores`)."""
        return self.get_or_make(
            ("score", name), lambda: columns_of(self._all_scores(), name, self.run_file.rows)
        )

    def score_names(self, rows: np.ndarray) -> list[ScoreName]:
        """Return the scores that some rows have, those of most of them first."""
        scores = self._all_scores()
        return names_of(scores.filter(pc.is_in(scores.column("row"), value_set=pa.array(rows, pa.int64()))))

    def issues(self) -> pd.DataFrame:
        """Return the line issues of the run, in the order of the file, then those of chunks and report."""
        names = self.run_file.issue_files()
        if not names:
            return pd.DataFrame(columns=ISSUE_SCHEMA.names)
        found = pa.concat_tables([segment_files.read_table(self.folder / name) for name in names])
        return pd.DataFrame(found.to_pydict())

    def placed(self) -> PlacedFile | None:
        """Return the file of located citations, None without one that can be read."""
        if self._placed is not None and self._states is None:  # else it is known to be readable
            with self._lock:
                self._row_states()
        return self._placed

    def checked(self) -> CheckedFile | None:
        """Return the file of checked claims, None without one that can be read."""
        if self._checked is not None and "support" not in self._columns:
            with self._lock:
                self._load([] if "support" in self._columns else ["support"])
        return self._checked

    def claims(self) -> Callable[[np.ndarray], list[str | None]]:
        """Return a function that reads the claims of some rows as JSON, None for rows without.

        It reads the files of this state, also when they are replaced meanwhile.
        """
        with self._lock:
            parts = self._checked_parts()
        return (lambda rows: [None] * len(rows)) if parts is None else parts.texts

    def citations(self, columns: Sequence[str], *, q_id: str | None = None) -> pd.DataFrame | None:
        """Return columns of every located citation, or of a question's, `row` in its segment.

        None while not located.
        """
        placed = self.placed()
        if placed is None:
            return None
        parts, key = placed.parts, ("citations", *columns)
        if q_id is None:
            return _data_frame(read_placed(self.folder, parts, columns), columns)
        table = self.get_or_make(key, lambda: read_placed(self.folder, parts, columns))
        return _data_frame(table.filter(pc.equal(table.column("q_id"), q_id)), columns)

    def _all_scores(self) -> pa.Table:
        with self._lock:
            if self._scores is None:
                self._scores = read_scores(self.folder, self.run_file.segments)
            return self._scores

    def _row_states(self) -> pa.Table:
        if self._states is None and self._placed is not None:
            columns = ("row", "status", "page_mismatch", "numbers_differ", "agreement")
            count, parts = self.run_file.rows, self._placed.parts
            try:
                table = read_placed(self.folder, parts, columns)
                rows = table.column("row").to_numpy()
                starts = np.cumsum([0, *(segment.rows for segment in self.run_file.segments)])[:-1]
                rows = rows + np.repeat(starts, [part.citations for part in parts])
                if len(rows) and not 0 <= rows.min() <= rows.max() < count:
                    why = "citations of rows that the index does not have"
                    raise segment_files.DamagedError(self.folder, why)
                self._states = row_states(table.set_column(0, "row", pa.array(rows)), count)
            except segment_files.DamagedError:
                self._placed = None
        if self._states is None:
            nulls = [pa.nulls(self.run_file.rows, field.type) for field in ROW_STATES]
            self._states = pa.table(nulls, schema=ROW_STATES)
        return self._states

    def _checked_parts(self) -> CheckedParts | None:
        if self._parts is None and self._checked is not None:
            try:
                self._parts = CheckedParts(self.folder, self._checked.parts, self.run_file.segments)
            except segment_files.DamagedError:
                self._checked = None
        return self._parts

    def _claim_columns(self, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
        if (parts := self._checked_parts()) is not None:
            try:
                table = parts.columns(names)
                return {name: table.column(name) for name in names}
            except segment_files.DamagedError:
                self._checked = self._parts = None
                names = [*names, *(name for name in CLAIM_COLUMNS.names if name in self._columns)]
        kinds = {name: CLAIM_COLUMNS.field(name).type for name in names}
        rows = self.run_file.rows
        return {name: pa.chunked_array([pa.nulls(rows, kind)], kind) for name, kind in kinds.items()}

    def _rows_at(self, rows: np.ndarray, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
        if not names or not len(rows):
            return {name: pa.chunked_array([], ROW_SCHEMA.field(name).type) for name in names}
        segments = self.run_file.segments
        ends = np.cumsum([segment.rows for segment in segments])
        places = np.searchsorted(ends, rows, side="right")
        pieces = []
        for place in np.unique(places):
            segment, chosen = segments[place], places == place
            inside = rows[chosen] - (ends[place] - segment.rows)
            pieces.append(segment_files.read_rows(self.folder, segment.name, inside, names))
        as_given = np.argsort(np.argsort(places, kind="stable"))
        table = pa.concat_tables(pieces).unify_dictionaries().take(pa.array(as_given))
        return {name: table.column(name) for name in names}

    def _load(self, missing: Sequence[str]) -> None:
        stored = [name for name in missing if name in ROW_SCHEMA.names]
        if stored:
            files = [segment.name for segment in self.run_file.segments]
            table = ROW_SCHEMA.empty_table()
            if files:
                table = segment_files.read_columns(self.folder, files, stored).unify_dictionaries()
                table = table.combine_chunks()  # of many chunks it takes twenty times as long to take rows
            self._columns |= {name: table.column(name) for name in stored}
        if of_claims := [name for name in missing if name in CLAIM_COLUMNS.names]:
            self._columns |= self._claim_columns(of_claims)
        for name in missing:
            if name == "llm_summary":  # that of the stored report, where it has one
                stored_ones = self._scattered("stored_summary", pa.scalar(None, pa.string()))
                self._columns[name] = pc.coalesce(stored_ones, self._columns[name])
            elif name in _COMPLETED:
                self._columns[name] = self._completed(self._columns[name], _COMPLETED[name])
            elif name == "row":
                self._columns[name] = pa.chunked_array([pa.array(np.arange(self.run_file.rows))])
            elif name == "repeat":
                self._columns[name] = self._scattered(name, pa.scalar(1, pa.int32()))
            elif name == "stored_label":
                self._columns[name] = self._scattered(name, pa.scalar(None, pa.string()))
            elif name in ROW_STATES.names:
                self._columns[name] = self._row_states().column(name)

    def _joined_table(self) -> pa.Table | None:
        if self._joined is None and self.run_file.joined:
            self._joined = segment_files.read_table(self.folder / self.run_file.joined)
        return self._joined

    def _scattered(self, name: str, default: pa.Scalar) -> pa.ChunkedArray:
        """Return a sparse column of the joined file, with the default in every other row."""
        joined, everywhere = self._joined_table(), pa.repeat(default, self.run_file.rows)
        if joined is not None:
            mask = np.zeros(self.run_file.rows, dtype=bool)
            mask[joined.column("row").to_numpy()] = True
            values = joined.column(name).combine_chunks()
            everywhere = pc.replace_with_mask(everywhere, pa.array(mask), values)
        return pa.chunked_array([everywhere])

    def _completed(self, column: pa.ChunkedArray, late: str) -> pa.ChunkedArray:
        """Return a column of lists with those of the joined file's column `late` appended."""
        joined = self._joined_table()
        if joined is not None:
            joined = joined.filter(pc.greater(pc.list_value_length(joined.column(late)), 0))
        if joined is None or not len(joined):
            return column
        lists, rows = column.combine_chunks(), joined.column("row")
        own, added = lists.take(rows.combine_chunks()).to_pylist(), joined.column(late).to_pylist()
        longer = pa.array([[*(a or ()), *b] for a, b in zip(own, added, strict=True)], lists.type)
        places = np.arange(len(lists))
        places[rows.to_numpy()] = len(lists) + np.arange(len(longer))
        return pa.chunked_array([pa.concat_arrays([lists, longer]).take(pa.array(places))])


_NULLABLE = {pa.int8(): "Int8", pa.int32(): "Int32", pa.int64(): "Int64", pa.bool_(): "boolean"}


def _data_frame(columns: Mapping[str, pa.ChunkedArray] | pa.Table, names: Sequence[str]) -> pd.DataFrame:
    index = pd.RangeIndex(len(columns[names[0]]))  # one for all: else pandas aligns each column with it
    return pd.DataFrame({name: _series(columns[name], index) for name in names}, index=index)


def _series(column: pa.ChunkedArray, index: pd.Index) -> pd.Series:
    kind = column.type
    if kind in _NULLABLE and (column.null_count or kind == pa.bool_()):
        return pd.Series(column.to_pylist(), index, dtype=_NULLABLE[kind])
    if pa.types.is_floating(kind) or pa.types.is_integer(kind):
        return pd.Series(column.to_numpy(), index)
    if pa.types.is_dictionary(kind):
        column = column.cast(pa.string())
    return pd.Series(column.to_pylist(), index, dtype=object)


class RunCache:
    """The indexes of a workspace's runs in memory. Safe for several threads.

    An index that is rebuilt meanwhile is picked up with the next call.
    """

    def __init__(self, manifest: Manifest, cache_dir: Path) -> None:
        self._manifest = manifest
        #: The `placed.json` of a folder: stamp, contents, when its documents were checked, the result.
        self._placed: dict[Path, tuple[tuple[int, int], PlacedFile | None, float, bool]] = {}
        #: The `claims.json` of a folder: stamp and contents.
        self._checked: dict[Path, tuple[tuple[int, int], CheckedFile | None]] = {}
        self._folder = cache(partial(index_folder, manifest, cache_dir=cache_dir))
        #: Each run with what it was made from: the stamp of its index, its `placed.json`, its `claims.json`.
        self._runs: OrderedDict[
            str, tuple[tuple[int, int], PlacedFile | None, CheckedFile | None, LoadedRun]
        ] = OrderedDict()
        self._lock = Lock()

    def stamp(self, run: str) -> tuple[int, int] | None:
        """Return what changes whenever the run's index does; None where there is no index."""
        try:
            status = (self._folder(run) / RUN_FILE).stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return status.st_mtime_ns, status.st_ino

    def claims_stamp(self, run: str) -> tuple[int, int] | None:
        """Return what changes whenever the run's checked claims do; None where there are none."""
        return self._claims_stamp(self._folder(run))

    def forget(self, folder: Path) -> str:
        """Forget the run whose index is in or above this folder, and return its id."""
        run_ids = (run.run_id for run in self._manifest.runs)
        damaged = next(run_id for run_id in run_ids if folder.is_relative_to(self._folder(run_id)))
        with self._lock:
            self._runs.pop(damaged, None)
        return damaged

    def loaded(self, run: str) -> LoadedRun:
        """Return the run as its index is now: the same object as long as nothing changes."""
        stamp, folder = self.stamp(run), self._folder(run)
        with self._lock:
            placed, checked = self._valid_placed(folder), self._checked_file(folder)
            known = self._runs.get(run)
            if known and known[0] == stamp and known[1] is placed and known[2] is checked:
                self._runs.move_to_end(run)
                return known[3]
            run_file = read_run_file(folder)
            if run_file is None or stamp is None:
                raise not_indexed(self._manifest, run)
            self._runs.pop(run, None)
            # The least recently used runs make room while all take more than `CACHED_BYTES`.
            used = sum(each.nbytes for *_, each in self._runs.values())
            while used > CACHED_BYTES and len(self._runs) >= CACHED_RUNS:
                _, (*_, oldest) = self._runs.popitem(last=False)
                used -= oldest.nbytes
            loaded = LoadedRun(
                folder,
                run_file,
                placed if placed is not None and placed.is_of(run_file) else None,
                checked if checked is not None and checked.is_of(run_file) else None,
            )
            self._runs[run] = stamp, placed, checked, loaded
            return loaded

    def _claims_stamp(self, folder: Path) -> tuple[int, int] | None:
        try:
            status = (folder / CLAIMS_FOLDER / CLAIMS_FILE).stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_ino

    def _checked_file(self, folder: Path) -> CheckedFile | None:
        """Return an index's `claims.json`: the same object as long as it does not change."""
        stamp = self._claims_stamp(folder)
        if stamp is None:
            return None
        if folder not in self._checked or self._checked[folder][0] != stamp:
            self._checked[folder] = stamp, read_checked_file(folder)
        return self._checked[folder][1]

    def _valid_placed(self, folder: Path) -> PlacedFile | None:
        """Return an index's `placed.json`: the same object as long as neither it nor a document changes."""
        try:
            status = (folder / PLACED_FOLDER / PLACED_FILE).stat()
        except OSError:
            return None
        stamp = status.st_mtime_ns, status.st_ino
        known, placed, checked, is_valid = self._placed.get(folder, (None, None, 0.0, False))
        if known != stamp:
            placed, checked, is_valid = read_placed_file(folder), -LOOK_AGAIN, False
        if placed is not None and time.monotonic() - checked >= LOOK_AGAIN:
            checked, is_valid = time.monotonic(), placed.agrees_with(self._manifest)
        self._placed[folder] = stamp, placed, checked, is_valid
        return placed if is_valid else None


def _nbytes(result: object) -> int:
    return int(getattr(result, "nbytes", 0))


def results_of(
    runs: Sequence[LoadedRun], key: Hashable, make: Callable[[Sequence[LoadedRun]], Iterable[V]]
) -> list[V]:
    """Return each run's cached result; `make` computes the missing ones together, in order."""
    known: list[V | None] = [run.cached(key) for run in runs]
    missing = [run for run, result in zip(runs, known, strict=True) if result is None]
    made = iter(make(missing) if missing else ())
    return [
        run.cache(key, next(made)) if result is None else result
        for run, result in zip(runs, known, strict=True)
    ]
