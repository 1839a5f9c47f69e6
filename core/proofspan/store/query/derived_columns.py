"""Columns that a run's own rows do not have: another run's, a cohort's, and whether questions converge.

Filters and measures name them like any column. `in_cohort` says whether the question is of the filter's
cohort; `is_seen` and the other fields of `Reviewed` what people did with the answer; `converges` and
`unconverged` are those of `sql/convergence.sql`; `score_number_…`, `score_labels_…` are those of a score of
another tool. `was_…` columns are those of the same trace in the run that the filter compares with, null
where it has none: `was_row` its place, `was_value_` and the id of a metric or outcome its number there,
`was_` and a column's name that column.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from proofspan.journal.annotations import Target
from proofspan.store.files.checked import CLAIM_COLUMNS
from proofspan.store.files.columns import ROW_SCHEMA
from proofspan.store.query.database import Database, selection, statement
from proofspan.store.query.loaded_runs import LoadedRun, results_of
from proofspan.store.query.metric_sql import PARAPHRASES, SEEDS, measure_of
from proofspan.store.query.score_conditions import LABELS, NUMBER, name_in

_CONVERGING = ("unconverged", "converges")
_IDENTITY = ("q_id", "paraphrase", "seed", "repeat")
#: The columns that `sql/convergence.sql` reads.
_CONVERGING_READS = (*_IDENTITY, "lambda_state")
_WAS, _VALUE = "was_", "was_value_"


class Reviewed(NamedTuple):
    """The answers of a run by what people did with them.

    `is_seen`, `is_agreed` and `is_disagreed` are by the filter's reviewer, `is_assigned` to its assignee.
    Whoever gave a verdict counts for the others: `is_reviewed` has any, `is_contested` one that does not
    agree with the rules, and `is_disputed` some that differ from each other.
    """

    is_seen: frozenset[Target] = frozenset()
    is_agreed: frozenset[Target] = frozenset()
    is_disagreed: frozenset[Target] = frozenset()
    is_disputed: frozenset[Target] = frozenset()
    is_assigned: frozenset[Target] = frozenset()
    is_reviewed: frozenset[Target] = frozenset()
    is_contested: frozenset[Target] = frozenset()


NOTHING_REVIEWED = Reviewed()


@dataclass(frozen=True, slots=True, eq=False)
class ListedRun:
    """A run as a list reads it. Safe for several threads.

    `other` is the run that it is compared with, and `cohort` the questions of the filter's cohort; None where
    the filter names none, or one that does not exist (has no index).
    """

    database: Database
    run: LoadedRun
    other: LoadedRun | None = None
    cohort: frozenset[str] | None = None
    reviewed: Reviewed = NOTHING_REVIEWED

    def table(self, names: Iterable[str]) -> pa.Table:
        """Return a table of the named columns, whatever they are, and `row`, one row per trace."""
        wanted = tuple(dict.fromkeys(names))
        table = self.run.table([name for name in wanted if not _is_derived(name)])
        for name in filter(_is_derived, wanted):
            table = table.append_column(name, self._derived(name))
        return table

    def _derived(self, name: str) -> pa.ChunkedArray:
        if name in _CONVERGING:
            return _convergence(self.database, [self.run])[0].column(name)
        if name == "in_cohort":
            q_ids = self.run.table(["q_id"]).column("q_id")
            return pc.is_in(q_ids, value_set=pa.array(sorted(self.cohort or ()), pa.string()))
        if name in Reviewed._fields:
            return self._are_among(getattr(self.reviewed, name))
        if (score := name_in(name)) is not None:
            column = "number" if name.startswith(NUMBER) else "labels"
            return self.run.score(score).column(column)
        other, was = self.other, name.removeprefix(_WAS)
        if other is not None:
            return self.run.get_or_make((name, other.state), lambda: self._was(other, was))
        if name == "was_row":
            kind = pa.int64()
        else:
            schema = ROW_SCHEMA if was in ROW_SCHEMA.names else CLAIM_COLUMNS
            kind = pa.float64() if name.startswith(_VALUE) else schema.field(was).type
        return pa.chunked_array([pa.nulls(self.run.run_file.rows, kind)])

    def _are_among(self, targets: frozenset[Target]) -> pa.ChunkedArray:
        """Return for each row whether it is one of these answers, whatever its repeat."""

        def compute() -> pa.ChunkedArray:
            wanted = [f"{each.q_id}\0{each.paraphrase}\0{each.seed}" for each in targets]
            answers = self.run.get_or_make("answers", self._answers)
            return pc.is_in(answers, value_set=pa.array(wanted, pa.string()))

        return self.run.get_or_make(("among", targets), compute)

    def _answers(self) -> pa.ChunkedArray:
        """Return for each row the name of its answer, the same for all repeats."""
        names = ["q_id", "paraphrase", "seed"]
        texts = [column.cast(pa.string()) for column in self.run.table(names).select(names).columns]
        return pc.binary_join_element_wise(*texts, "\0")

    def _was(self, other: LoadedRun, name: str) -> pa.ChunkedArray:
        """Return a column of the other run, in the order of this run's rows."""
        if name == "row":
            tables = {"here": self.run.table(_IDENTITY), "there": other.table(_IDENTITY)}
            return self.database.table(statement("counterparts"), {}, tables).column("row")
        there = ListedRun(self.database, other)
        if name.startswith("value_"):
            measure = measure_of(name.removeprefix("value_"))
            sql = selection("TRUE", columns=f"{measure.number} AS value")
            table = self.database.table(sql, {}, {"rows": there.table(measure.columns)})
        else:
            table = there.table([name]).rename_columns({name: "value"})
        return table.column("value").take(self._derived("was_row"))


def tables_of(database: Database, runs: Sequence[LoadedRun], names: Sequence[str]) -> pa.Table:
    """Return the tables of several runs concatenated; `run` is the run of a row, from 0.

    `names` are columns that a run has without a filter.
    """
    if any(name in _CONVERGING for name in names):
        stored = [name for name in names if not _is_derived(name)]
        for run in runs:
            run.table((*stored, *_CONVERGING_READS))  # at one go
        _convergence(database, runs)  # of all at once
    return _concatenated([ListedRun(database, run).table(names) for run in runs])


def _convergence(database: Database, runs: Sequence[LoadedRun]) -> list[pa.Table]:
    """Return the columns of `sql/convergence.sql` of each run; one without paraphrases needs no query."""

    def compute(runs: Sequence[LoadedRun]) -> list[pa.Table]:
        tables = [run.table(_CONVERGING_READS) for run in runs]
        varied = [table for table in tables if len(table.column("paraphrase").unique()) >= PARAPHRASES]
        result, start = pa.table({}), 0
        if varied:
            rows = _concatenated(varied)
            rows = rows.append_column("at", pa.array(np.arange(len(rows))))
            enough = {"paraphrases": PARAPHRASES, "seeds": SEEDS}
            result = database.table(statement("convergence"), enough, {"rows": rows})
        found = []
        for table in tables:
            if any(table is each for each in varied):
                found.append(result.slice(start, len(table)))
                start += len(table)
            else:
                few, no = pa.repeat("few_variants", len(table)), pa.repeat(False, len(table))
                found.append(pa.table({"unconverged": few, "converges": no}))
        return found

    return results_of(runs, "convergence", compute)


def _is_derived(name: str) -> bool:
    own = (*_CONVERGING, "in_cohort", *Reviewed._fields)
    return name in own or name.startswith((_WAS, NUMBER, LABELS))


def _concatenated(tables: Sequence[pa.Table]) -> pa.Table:
    numbered = [
        table.append_column("run", pa.repeat(pa.scalar(place, pa.int32()), len(table)))
        for place, table in enumerate(tables)
    ]
    return pa.concat_tables(numbered).unify_dictionaries()
