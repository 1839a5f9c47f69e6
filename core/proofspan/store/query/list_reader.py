"""The index of a workspace as lists of traces: what every question that is asked of it builds on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from proofspan.journal.cohorts import read_cohorts
from proofspan.manifest.types import Manifest
from proofspan.store.query.database import Database, statement
from proofspan.store.query.derived_columns import Basis, Columns
from proofspan.store.query.filters import Filter
from proofspan.store.query.loaded_runs import KeptRuns, LoadedRun

T = TypeVar("T")


class Reader:
    """The runs of a workspace, and the rows of a filter's list with any columns. Safe for several threads.

    An index that is rebuilt while it is looked at is picked up with the next call. StoreFault where a run
    has no index yet, or a query fails.
    """

    def __init__(self, manifest: Manifest, cache_dir: Path) -> None:
        self._manifest = manifest
        self._database = Database()
        self._kept = KeptRuns(manifest, cache_dir)
        self._columns = Columns(self._kept, self._database)

    def runs(self) -> tuple[str, ...]:
        """The runs that have an index, in the manifest's order."""
        return tuple(run.run_id for run in self._manifest.runs if self.stamp(run.run_id) is not None)

    def stamp(self, run: str) -> tuple[int, int] | None:
        """Changes whenever the run's index does, for keys of caches; None where there is no index."""
        return self._kept.stamp(run)

    def _read(self, shown: Filter, read: Callable[[LoadedRun, Basis], T], *, compares: bool = False) -> T:
        """What `read` makes of the list's run and of what else the list depends on.

        `compares`: the other run is needed even where the list is not restricted by it.
        """
        cohort = self._cohort(shown.cohort) if shown.cohort else None
        if not ((compares or shown.compares) and self._can_compare(shown.vs)):
            return self._kept.with_run(shown.run, lambda run: read(run, Basis(None, cohort)))
        return self._kept.with_runs([shown.run, shown.vs], lambda runs: read(runs[0], Basis(runs[1], cohort)))

    def _can_compare(self, run: str) -> bool:
        """Whether the workspace lists the run and it has an index."""
        return bool(run) and self._manifest.run(run) is not None and self.stamp(run) is not None

    def _cohort(self, name: str) -> frozenset[str] | None:
        found = read_cohorts(self._manifest).get(name)
        return None if found is None else frozenset(found.q_ids)

    def _table(self, run: LoadedRun, basis: Basis, shown: Filter, names: Iterable[str]) -> pa.Table:
        """The named columns and those that the filter reads, of all rows of the run."""
        return self._columns.table(run, (*names, *shown.where().columns), basis)

    def _rows(
        self, name: str, shown: Filter, columns: Iterable[str], *, compares: bool = False, **parts: str
    ) -> list[tuple[object, ...]]:
        """The rows of a statement about a list, which reads these columns besides those of the filter."""
        clause = shown.where()
        sql = statement(name).format(where=clause.sql, **parts)

        def read(run: LoadedRun, basis: Basis) -> list[tuple[object, ...]]:
            table = self._table(run, basis, shown, columns)
            return self._database.rows(sql, clause.params, {"rows": table})

        return self._read(shown, read, compares=compares)
