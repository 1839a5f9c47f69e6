"""A run beside another: what became of the same questions, trace by trace.

The other run is the filter's `vs`. Where there is none such, or it has no index, nothing is in both: that is
said in numbers (`only_here`), not by an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import pandas as pd
import pyarrow as pa

from proofspan.contracts.records.records import LABELS
from proofspan.metrics.ranked import Bucket
from proofspan.store.query.database import statement
from proofspan.store.query.derived_columns import Basis
from proofspan.store.query.filters import Filter, Flip, Sort
from proofspan.store.query.list_reader import Reader
from proofspan.store.query.loaded_runs import LoadedRun
from proofspan.store.query.metric_sql import OUTCOMES, measure_of

#: The order in which a column's values are told.
_ORDERS: Mapping[str, tuple[str, ...]] = {"label": LABELS, "bucket": get_args(Bucket)}
#: What `flip_rows` tells of a question in both runs, with its name in the other.
_TOLD = {"label": "was_label", "bucket": "was_bucket", "section_rank": "was_rank"}


@dataclass(frozen=True, slots=True)
class Flips:
    """How an outcome turned from another run to this one, in questions.

    `fixed`, `regressed`, `both` and `neither` count those that can be judged in both runs: wrong there and
    right here, the reverse, right in both, in neither. `left_out` are in both and cannot be judged in one of
    them; `only_here` the other run does not have, `only_there` this one not.
    """

    fixed: int
    regressed: int
    both: int
    neither: int
    only_here: int
    only_there: int
    left_out: int


class Comparing(Reader):
    """What changed from the run that a filter names in `vs`; headline traces, one a question."""

    def transitions(
        self, shown: Filter, column: Literal["label", "bucket"]
    ) -> list[tuple[str | None, str | None, int]]:
        """(value there, value here, questions) over the questions of both runs, in the order of the values.

        None is a question without a label, or whose ranking cannot be judged; it comes last.
        """
        names = (column, f"was_{column}", "was_row")
        rows = self._rows("transitions", _headline(shown), names, compares=True, column=column)
        place = {value: number for number, value in enumerate((*_ORDERS[column], None))}
        found = [
            (None if was is None else str(was), None if now is None else str(now), int(str(count)))
            for was, now, count in rows
        ]
        return sorted(found, key=lambda each: (place[each[0]], place[each[1]]))

    def flips(self, shown: Filter) -> Flips:
        """How the filter's `outcome` turned; its part `flip` is left out, so that all kinds are counted."""
        shown = replace(_headline(shown), flip="")
        outcome = shown.outcome or next(iter(OUTCOMES))
        here, was = measure_of(outcome), f"was_value_{outcome}"
        columns = (*here.columns, was, "was_row")
        (row,) = self._rows("flips", shown, columns, compares=True, value=here.number, was=was)
        fixed, regressed, both, neither, only_here, left_out = (int(str(count)) for count in row)
        return Flips(fixed, regressed, both, neither, only_here, self._only_there(shown), left_out)

    def paired(self, shown: Filter, metric_id: str) -> np.ndarray:
        """By how much each question's number differs (this run's less the other's), where both have one.

        A share's numbers are 0 and 1, a quantile's those that it is taken of; of the citation overlap it is
        the share of a question's own ids. The order is that of this run's file.
        """
        shown = _headline(shown)
        clause, measure, was = shown.where(), measure_of(metric_id), f"was_value_{metric_id}"
        sql = statement("paired").format(where=clause.sql, value=measure.number, was=was)

        def read(run: LoadedRun, basis: Basis) -> np.ndarray:
            table = self._table(run, basis, shown, (*measure.columns, was))
            return self._database.column(sql, clause.params, {"rows": table})

        return self._read(shown, read, compares=True)

    def flip_rows(self, shown: Filter, kind: Flip, limit: int, offset: int) -> pd.DataFrame:
        """`limit` of the questions that flipped in a way, after the first `offset`, worst first.

        Labels, buckets and ranks of the gold section are those of the other run (`was_…`) and of this one.
        """
        shown = replace(_headline(shown), flip=kind)
        sort, clause = Sort(), shown.where()
        sql = statement("page").format(where=clause.sql, order=sort.order())
        params = {**clause.params, "limit": limit, "offset": offset}

        def read(run: LoadedRun, basis: Basis) -> pd.DataFrame:
            places = self._database.column(
                sql, params, {"rows": self._table(run, basis, shown, sort.columns())}
            )
            told = self._columns.table(run, [*_TOLD, *(f"was_{name}" for name in _TOLD)], basis)
            return _flip_frame(run.frame(places, ("q_id", "q")), told.take(pa.array(places)))

        return self._read(shown, read)

    def _only_there(self, shown: Filter) -> int:
        """How many questions the same filter keeps of the other run that this one does not have."""
        if not self._can_compare(shown.vs):
            return 0
        mirrored = replace(shown.without_comparison, run=shown.vs, vs=shown.run)
        (row,) = self._rows("alone", mirrored, ("was_row",), compares=True)
        return int(str(row[0]))


def _headline(shown: Filter) -> Filter:
    return replace(shown, all_variants=False)


def _flip_frame(frame: pd.DataFrame, told: pa.Table) -> pd.DataFrame:
    for name, was in _TOLD.items():
        for source, target in ((f"was_{name}", was), (name, name)):
            kind = "Int32" if name == "section_rank" else object
            frame[target] = pd.array(told.column(source).to_pylist(), dtype=kind)
    return frame
