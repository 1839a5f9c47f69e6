"""The verdicts and the cited text of a page of Triage, made before those of the whole run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from pathlib import Path

import pandas as pd
import pyarrow as pa

from proofspan.contracts.records.records import SourceLine, Trace
from proofspan.diagnosis.verdicts.types import Cause, Correct
from proofspan.errors import Fault
from proofspan.services.documents.background import Done, Failed
from proofspan.services.passes.checking import LABELLED, checked_traces
from proofspan.services.passes.locating import states_of
from proofspan.services.question.claims import AnswerChecker
from proofspan.store.query.store import Store
from proofspan.traces.records.traces import read_trace_at
from proofspan.ui.status import background, documents
from proofspan.ui.visit import session

#: What makes columns of the rows of some traces; the rows are those of `Store.page`.
_Make = Callable[[Sequence[Trace], Sequence[Mapping[Hashable, object]]], pa.Table | pa.RecordBatch]


class ShownFirst:
    """The columns of the rows on a page that the run does not have yet, as `Store.page` returns the others.

    `claims` and `citations` say which are wanted; `follows` says whether any answer of the run follows the
    template.
    """

    def __init__(
        self,
        opened: session.Opened,
        store: Store,
        found: pd.DataFrame,
        *,
        claims: bool,
        citations: bool,
        follows: bool,
    ) -> None:
        self._opened, self._found, self._follows = opened, found, follows
        state = (*session.indexes_key(opened, store, opened.run.run_id), follows, *found["offset"])
        wanted: dict[str, Callable[[], _Make]] = {}
        if claims:
            wanted["claims"] = self._claims
        if citations:
            wanted["evidence"] = self._citations
        self._wanted = {(name, *state): make for name, make in wanted.items()}

    def frame(self) -> pd.DataFrame:
        """Return the rows with all that is made so far."""
        frame = self._found
        for key in self._wanted:
            outcome = background.tasks().outcome(key)
            if isinstance(outcome, Done):
                made: pa.Table | pa.RecordBatch = outcome.value
                names = [name for name in made.schema.names if name in frame or name == "claims"]
                columns = {name: made.column(name).to_pylist() for name in names}
                frame = frame.assign(**{name: _series(values, frame) for name, values in columns.items()})
        return frame

    @staticmethod
    def verdicts(frame: pd.DataFrame) -> Counter[tuple[Cause | None, Correct | None]]:
        """Count the verdicts that were made of the rows of `frame`, by cause and correctness."""
        return Counter(zip(frame["cause"], frame["correct"], strict=True) if "claims" in frame else ())

    def request(self) -> None:
        """Have them made, and the page run again with them. Draws nothing: the page says what is checked."""
        waiting: list[Hashable] = []
        for key, prepare in self._wanted.items():
            if background.tasks().outcome(key) is not None:
                continue  # it is shown, or the files have changed
            try:
                task = partial(self._make, documents.plain_traces(self._opened), prepare())
            except Fault:  # a lost file is among the run's own problems
                continue
            if not isinstance(background.ask(key, task, share=0.0), Failed):
                waiting.append(key)
        if waiting:
            background.rerun_after(waiting)

    def _make(self, path: Path, make: _Make) -> pa.Table | pa.RecordBatch:
        rows = self._found.to_dict("records")
        traces = [
            read_trace_at(
                path,
                SourceLine(row["file"], int(row["line"]), int(row["offset"]), int(row["length"])),
                run_id=self._opened.run.run_id,
                q_id=row["q_id"],
            )
            for row in rows
        ]
        return make(traces, rows)

    def _claims(self) -> _Make:
        opened, follows = self._opened, self._follows
        lender, profile = session.checker_lender(opened), opened.profile
        gold, notices = session.gold(opened)[0], session.attachments(opened)

        def make(traces: Sequence[Trace], rows: Sequence[Mapping[Hashable, object]]) -> pa.RecordBatch:
            known = [{name: _value(row[name]) for name in LABELLED} for row in rows]
            with lender() as checker:
                return checked_traces(traces, known, AnswerChecker(profile, checker, gold, notices, follows))

        return make

    def _citations(self) -> _Make:
        manifest, pool = self._opened.manifest, session.pdf_pool()
        chunks = session.chunks(self._opened)[0] if manifest.chunks is not None else {}
        return lambda traces, rows: states_of(manifest, traces, chunks, pool)


def _value(cell: object) -> object:
    """Return what a cell holds, None where pandas has a null."""
    return None if isinstance(cell, float) else cell


def _series(values: Sequence[object], frame: pd.DataFrame) -> pd.Series:
    return pd.Series(values, frame.index, dtype=object)
