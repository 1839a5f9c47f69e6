"""Columns that a run's own rows do not hold: what another run had, what a cohort says, whether λ converges.

A filter and a measure name them like any column. `in_cohort` says whether the question is of the filter's
cohort; `converges` and `unconverged` are those of `sql/convergence.sql`. What begins with `was_` is of the
same trace in the run that the filter compares with, and null where that has none: `was_row` its place,
`was_value_` with a metric or an outcome what it counts for there, `was_` with a column's name that column.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, compress
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from proofspan.store.files.columns import ROW_SCHEMA
from proofspan.store.query.database import Database, statement
from proofspan.store.query.loaded_runs import KeptRuns, LoadedRun, Memory
from proofspan.store.query.metric_sql import PARAPHRASES, SEEDS, measure_of

#: So much is remembered of states of runs: whose questions converge, and what was compared with what.
KEPT_CONVERGING, KEPT_COMPARED = 64, 32

_CONVERGING = ("unconverged", "converges")
_IDENTITY = ("q_id", "paraphrase", "seed", "repeat")
#: What `sql/convergence.sql` reads.
_CONVERGING_READS = (*_IDENTITY, "lambda_state")
_WAS, _VALUE = "was_", "was_value_"


class Basis(NamedTuple):
    """What a list depends on besides its run: the run that it is compared with, and the cohort's questions.

    Both None where the filter names none, or one that there is not (has no index).
    """

    other: LoadedRun | None = None
    cohort: frozenset[str] | None = None


#: Of a list that depends on its run alone.
ALONE = Basis()


class Columns:
    """Any columns of a run's rows as one table. Safe for several threads."""

    def __init__(self, kept: KeptRuns, database: Database) -> None:
        self._database = database
        self._converging: Memory[pa.Table] = Memory(kept, most=KEPT_CONVERGING)
        self._compared: Memory[pa.ChunkedArray] = Memory(kept, most=KEPT_COMPARED)

    def table(self, run: LoadedRun, names: Iterable[str], basis: Basis = ALONE) -> pa.Table:
        """A table of the named columns and `row`, one row a trace of the run."""
        wanted = tuple(dict.fromkeys(names))
        made = [name for name in wanted if _is_made(name)]
        table = run.table([name for name in wanted if name not in made])
        for name in made:
            table = table.append_column(name, self._made(run, name, basis))
        return table

    def tables(self, runs: Sequence[LoadedRun], names: Sequence[str]) -> pa.Table:
        """The tables of several runs one under the other; `run` says of which a row is, from 0.

        `names` are columns that a run has without a filter.
        """
        if any(name in _CONVERGING for name in names):
            stored = [name for name in names if not _is_made(name)]
            for run in runs:
                run.table((*stored, *_CONVERGING_READS))  # at one go
            self._convergence(runs)  # of all at once
        return _together([self.table(run, names) for run in runs])

    def _made(self, run: LoadedRun, name: str, basis: Basis) -> pa.ChunkedArray:
        if name in _CONVERGING:
            return self._convergence([run])[0].column(name)
        if name == "in_cohort":
            q_ids = run.table(["q_id"]).column("q_id")
            return pc.is_in(q_ids, value_set=pa.array(sorted(basis.cohort or ()), pa.string()))
        if basis.other is None:
            return pa.chunked_array([pa.nulls(run.run_file.rows, _type_of(name))])
        other = basis.other
        return self._compared.get_or_make((run, other), name, lambda: self._was(run, other, name))

    def _was(self, run: LoadedRun, other: LoadedRun, name: str) -> pa.ChunkedArray:
        """A column of the other run, in the order of this run's rows."""
        if name == "was_row":
            tables = {"here": run.table(_IDENTITY), "there": other.table(_IDENTITY)}
            return self._database.table(statement("counterparts"), {}, tables).column("row")
        if name.startswith(_VALUE):
            measure = measure_of(name.removeprefix(_VALUE))
            sql = statement("values").format(value=measure.number)
            tables = {"rows": self.table(other, measure.columns)}
            column = self._database.table(sql, {}, tables).column("value")
        else:
            column = self.table(other, [name.removeprefix(_WAS)]).column(name.removeprefix(_WAS))
        return column.take(self._made(run, "was_row", Basis(other)))

    def _convergence(self, runs: Sequence[LoadedRun]) -> list[pa.Table]:
        """Which questions of these runs converge: worked out at once where it is not known."""
        known = [self._converging.get((run,), "") for run in runs]
        missing = [run for run, table in zip(runs, known, strict=True) if table is None]
        found = iter(self._converged(missing) if missing else ())
        return [
            self._converging.keep((run,), "", next(found)) if table is None else table
            for run, table in zip(runs, known, strict=True)
        ]

    def _converged(self, runs: Sequence[LoadedRun]) -> list[pa.Table]:
        tables = [run.table(_CONVERGING_READS) for run in runs]
        varied = [len(table.column("paraphrase").unique()) >= PARAPHRASES for table in tables]
        found = iter(self._counted(list(compress(tables, varied))))
        return [
            next(found) if has else _unvaried(len(table)) for table, has in zip(tables, varied, strict=True)
        ]

    def _counted(self, tables: Sequence[pa.Table]) -> list[pa.Table]:
        """The columns of `sql/convergence.sql` for each of some runs' rows."""
        if not tables:
            return []
        together = _together(tables)
        together = together.append_column("at", pa.array(np.arange(len(together))))
        enough = {"paraphrases": PARAPHRASES, "seeds": SEEDS}
        found = self._database.table(statement("convergence"), enough, {"rows": together})
        ends = accumulate(map(len, tables))
        return [found.slice(end - len(table), len(table)) for table, end in zip(tables, ends, strict=True)]


def _unvaried(rows: int) -> pa.Table:
    """What `sql/convergence.sql` says of a run whose questions have too few paraphrases, all of them."""
    return pa.table({"unconverged": pa.repeat("few_variants", rows), "converges": pa.repeat(False, rows)})


def _is_made(name: str) -> bool:
    return name in _CONVERGING or name == "in_cohort" or name.startswith(_WAS)


def _type_of(name: str) -> pa.DataType:
    """The type of a column of another run."""
    if name == "was_row":
        return pa.int64()
    if name.startswith(_VALUE):
        return pa.float64()
    return ROW_SCHEMA.field(name.removeprefix(_WAS)).type


def _together(tables: Sequence[pa.Table]) -> pa.Table:
    """Tables one under the other, `run` being the place of each."""
    counted = [
        table.append_column("run", pa.repeat(pa.scalar(place, pa.int32()), len(table)))
        for place, table in enumerate(tables)
    ]
    return pa.concat_tables(counted).unify_dictionaries()
