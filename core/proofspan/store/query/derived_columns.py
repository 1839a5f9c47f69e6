"""Columns that a run's own rows do not have: another run's, a cohort's, and whether questions converge.

Filters and measures name them like any column. `in_cohort` says whether the question is of the filter's
cohort; `converges` and `unconverged` are those of `sql/convergence.sql`. `was_…` columns are those of the
same trace in the run that the filter compares with, null where it has none: `was_row` its place, `was_value_`
and the id of a metric or outcome its number there, `was_` and a column's name that column.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from proofspan.store.files.columns import ROW_SCHEMA
from proofspan.store.query.database import Database, selection, statement
from proofspan.store.query.loaded_runs import LoadedRun, results_of
from proofspan.store.query.metric_sql import PARAPHRASES, SEEDS, measure_of

_CONVERGING = ("unconverged", "converges")
_IDENTITY = ("q_id", "paraphrase", "seed", "repeat")
#: The columns that `sql/convergence.sql` reads.
_CONVERGING_READS = (*_IDENTITY, "lambda_state")
_WAS, _VALUE = "was_", "was_value_"


class Basis(NamedTuple):
    """The inputs of a list besides its run: the run that it is compared with, and the cohort's questions.

    None where the filter names none, or one that does not exist (has no index).
    """

    other: LoadedRun | None = None
    cohort: frozenset[str] | None = None


ALONE = Basis()


class Columns:
    """Any columns of a run's rows as one table. Safe for several threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def table(self, run: LoadedRun, names: Iterable[str], basis: Basis = ALONE) -> pa.Table:
        """Return a table of the named columns and `row`, one row per trace of the run."""
        wanted = tuple(dict.fromkeys(names))
        derived = [name for name in wanted if _is_derived(name)]
        table = run.table([name for name in wanted if name not in derived])
        for name in derived:
            table = table.append_column(name, self._derived(run, name, basis))
        return table

    def tables(self, runs: Sequence[LoadedRun], names: Sequence[str]) -> pa.Table:
        """Return the tables of several runs concatenated; `run` is the run of a row, from 0.

        `names` are columns that a run has without a filter.
        """
        if any(name in _CONVERGING for name in names):
            stored = [name for name in names if not _is_derived(name)]
            for run in runs:
                run.table((*stored, *_CONVERGING_READS))  # at one go
            self._convergence(runs)  # of all at once
        return _concatenated([self.table(run, names) for run in runs])

    def _derived(self, run: LoadedRun, name: str, basis: Basis) -> pa.ChunkedArray:
        if name in _CONVERGING:
            return self._convergence([run])[0].column(name)
        if name == "in_cohort":
            q_ids = run.table(["q_id"]).column("q_id")
            return pc.is_in(q_ids, value_set=pa.array(sorted(basis.cohort or ()), pa.string()))
        if basis.other is None:
            return pa.chunked_array([pa.nulls(run.run_file.rows, _type_of(name))])
        other = basis.other
        return run.get_or_make((name, other.state), lambda: self._was(run, other, name))

    def _was(self, run: LoadedRun, other: LoadedRun, name: str) -> pa.ChunkedArray:
        """Return a column of the other run, in the order of this run's rows."""
        if name == "was_row":
            tables = {"here": run.table(_IDENTITY), "there": other.table(_IDENTITY)}
            return self._database.table(statement("counterparts"), {}, tables).column("row")
        if name.startswith(_VALUE):
            measure = measure_of(name.removeprefix(_VALUE))
            sql = selection("TRUE", columns=f"{measure.number} AS value")
            tables = {"rows": self.table(other, measure.columns)}
            column = self._database.table(sql, {}, tables).column("value")
        else:
            column = self.table(other, [name.removeprefix(_WAS)]).column(name.removeprefix(_WAS))
        return column.take(self._derived(run, "was_row", Basis(other)))

    def _convergence(self, runs: Sequence[LoadedRun]) -> list[pa.Table]:
        return results_of(runs, "convergence", self._compute_convergence)

    def _compute_convergence(self, runs: Sequence[LoadedRun]) -> list[pa.Table]:
        """Return the columns of `sql/convergence.sql` of each run; one without paraphrases needs no query."""
        tables = [run.table(_CONVERGING_READS) for run in runs]
        varied = [table for table in tables if len(table.column("paraphrase").unique()) >= PARAPHRASES]
        result, start = pa.table({}), 0
        if varied:
            rows = _concatenated(varied)
            rows = rows.append_column("at", pa.array(np.arange(len(rows))))
            enough = {"paraphrases": PARAPHRASES, "seeds": SEEDS}
            result = self._database.table(statement("convergence"), enough, {"rows": rows})
        found = []
        for table in tables:
            if any(table is each for each in varied):
                found.append(result.slice(start, len(table)))
                start += len(table)
            else:
                few, no = pa.repeat("few_variants", len(table)), pa.repeat(False, len(table))
                found.append(pa.table({"unconverged": few, "converges": no}))
        return found


def _is_derived(name: str) -> bool:
    return name in _CONVERGING or name == "in_cohort" or name.startswith(_WAS)


def _type_of(name: str) -> pa.DataType:
    if name == "was_row":
        return pa.int64()
    if name.startswith(_VALUE):
        return pa.float64()
    return ROW_SCHEMA.field(name.removeprefix(_WAS)).type


def _concatenated(tables: Sequence[pa.Table]) -> pa.Table:
    numbered = [
        table.append_column("run", pa.repeat(pa.scalar(place, pa.int32()), len(table)))
        for place, table in enumerate(tables)
    ]
    return pa.concat_tables(numbered).unify_dictionaries()
