"""Verdicts on the answers of a page of Triage, made first while the claims of the whole run are checked."""

from __future__ import annotations

from collections.abc import Hashable

import pandas as pd
import pyarrow as pa

from proofspan.contracts.records.records import SourceLine
from proofspan.errors import Fault
from proofspan.services.checking import LABELLED, checked_traces
from proofspan.services.documents.background import Done, Failed
from proofspan.services.question.claims import AnswerChecker
from proofspan.store.query.store import Store
from proofspan.traces.records.traces import read_trace_at
from proofspan.ui.status import background, documents
from proofspan.ui.visit import session


class ShownVerdicts:
    """The verdicts on a page of rows, as `Store.page` returns them without claims.

    `follows` says whether any answer of the run follows the template.
    """

    def __init__(self, opened: session.Opened, store: Store, found: pd.DataFrame, *, follows: bool) -> None:
        self._opened, self._found, self._follows = opened, found, follows
        state = session.indexes_key(opened, store, opened.run.run_id)
        self._key: Hashable = ("verdicts", *state, follows, *found["offset"])

    def frame(self) -> pd.DataFrame | None:
        """Return the rows with their verdicts and claims; None while these are not there."""
        outcome = background.tasks().outcome(self._key)
        if not isinstance(outcome, Done):
            return None
        made: pa.RecordBatch = outcome.value
        columns = {name: made.column(name).to_pylist() for name in made.schema.names}
        shown = [name for name in columns if name in self._found or name == "claims"]
        return self._found.assign(
            **{name: pd.Series(columns[name], self._found.index, dtype=object) for name in shown}
        )

    def request(self) -> None:
        """Have the verdicts made, with a line that says so until the page runs again with them."""
        if background.tasks().outcome(self._key) is not None:
            return  # they are shown, or the files have changed
        opened, found = self._opened, self._found
        try:
            path, lender = documents.plain_traces(opened), session.checker_lender(opened)
            gold, notices = session.gold(opened)[0], session.attachments(opened)
        except Fault:  # a lost file is among the run's own problems
            return
        profile, follows, run_id = opened.profile, self._follows, opened.run.run_id

        def make() -> pa.RecordBatch:
            rows = found.to_dict("records")
            lines = (
                SourceLine(row["file"], int(row["line"]), int(row["offset"]), int(row["length"]))
                for row in rows
            )
            traces = [
                read_trace_at(path, line, run_id=run_id, q_id=row["q_id"])
                for line, row in zip(lines, rows, strict=True)
            ]
            known = [{name: _value(row[name]) for name in LABELLED} for row in rows]
            with lender() as checker:
                return checked_traces(traces, known, AnswerChecker(profile, checker, gold, notices, follows))

        if not isinstance(background.ask(self._key, make, share=0.0), Failed):
            background.hint("Checking the answers shown first …", [self._key])


def _value(cell: object) -> object:
    """Return what a cell holds, None where pandas has a null."""
    return None if isinstance(cell, float) else cell
