"""What pages and commands ask of an index. Every question is one file in `sql/`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa

from proofspan.contracts.records.records import LABELS, Label, SourceLine, TraceKey
from proofspan.diagnosis.gold import GOLD_STATES, GoldState
from proofspan.diagnosis.suggest import suggest_profile
from proofspan.diagnosis.types import profile_from
from proofspan.manifest.types import Manifest
from proofspan.store.files.citations import CitedTrace, read_citations
from proofspan.store.files.columns import parse_setting
from proofspan.store.files.evidence_states import EVIDENCE_STATES, EvidenceState
from proofspan.store.files.located import PLACED_SCHEMA, PlacedFile
from proofspan.store.files.types import (
    FailureCount,
    Found,
    Neighbours,
    PlacedFacts,
    RunFacts,
    failure_count,
)
from proofspan.store.query.comparison import Comparing
from proofspan.store.query.database import statement
from proofspan.store.query.derived_columns import Basis
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.loaded_runs import ALL_COLUMNS, LoadedRun, Memory, record_of
from proofspan.store.query.metric_sql import FAILS, HEADLINE
from proofspan.store.query.metrics import Measuring
from proofspan.store.query.rule_counts import Counting

#: Filter name → its values, each with a count.
Choices = dict[str, tuple[tuple[str, int], ...]]

#: The columns of a page: all that a table row may show. The rest stays on disk until it is asked for.
PAGE_COLUMNS = (
    *("q_id", "paraphrase", "seed", "repeat", "q", "label", "severity", "why", "stored_label"),
    *("rank1_section", "rank1_doc"),
    *("gold_state", "gold_is_refusal", "gold_seen_rank", "gold_retrieved_rank"),
    *("unranked", "bucket", "section_rank", "top_rank"),
    *("cited", "cited_retrieved", "cited_resolved", "query_coverage", "answer_coverage"),
    *("numbers_unsupported", "suspicions", "codes", "safety_omitted", "evidence", "agreement"),
)
#: What a page tells of the run that is compared with.
WAS_COLUMNS = ("was_label", "was_bucket")
_INNER = {"row", "q_folded", "answer_folded", "evidence_severity", "cited_print"}
_INNER |= {"memory", "offset_unit", "answer_print", "citations", "settings"}
#: The columns of an export and of a single row.
FULL_COLUMNS = tuple(name for name in ALL_COLUMNS if name not in _INNER)
#: What a list can be narrowed to, and the columns that tell, but for the documents'.
_CHOICES = ("suspicion", "code", "doc", "section", "gold", "bucket", "type", "state")
_CHOSEN_BY = ("suspicions", "codes", "rank1_section", "gold_state", "bucket", "q_type", "lambda_state")
#: Those of a step through a list.
PLACE_COLUMNS = ("q_id", "paraphrase", "seed", "repeat", "q", "label", "line", "offset", "length")
#: Those of a citation.
CITATION_COLUMNS = tuple(name for name in PLACED_SCHEMA.names if name != "row")

#: Rows of an export that become a piece together; of a longer list the run's columns are in memory.
EXPORT_ROWS = 5_000
#: So many orders of lists are remembered for stepping from question to question, and so many runs' choices.
KEPT_ORDERS, KEPT_OPTIONS = 16, 64


class Store(Measuring, Comparing, Counting):
    """The index of a workspace, read with its manifest's profile. Safe for several threads.

    An index that is rebuilt while it is looked at is picked up with the next call. StoreFault where a run
    has no index yet, or a query fails.
    """

    def __init__(self, manifest: Manifest, cache_dir: Path) -> None:
        super().__init__(manifest, cache_dir)
        self._profile = profile_from(manifest.triage)
        self._orders: Memory[np.ndarray] = Memory(self._kept, most=KEPT_ORDERS)
        self._options: Memory[Choices] = Memory(self._kept, most=KEPT_OPTIONS)

    def counts(self, shown: Filter) -> dict[Label, int]:
        """Traces by label, for the filter without its label part; every label is there."""
        found = self._counts("label", replace(shown, label=()))
        return {label: found.get(label, 0) for label in LABELS}

    def unlabelled(self, shown: Filter) -> int:
        """Traces without a label, for the filter without its label part."""
        return self._counts("label", replace(shown, label=())).get(None, 0)

    def gold_counts(self, shown: Filter) -> dict[GoldState, int]:
        """Traces by what became of their gold, for the filter without its gold part; every state is there."""
        found = self._counts("gold_state", replace(shown, gold=()))
        return {state: found.get(state, 0) for state in GOLD_STATES}

    def evidence_counts(self, shown: Filter) -> dict[EvidenceState, int]:
        """Traces by what became of their citations, for the filter without its evidence part.

        Every state is there, and a trace may be in several; empty while the run's citations are not located.
        """
        if self._kept.with_run(shown.run, lambda run: run.placed()) is None:
            return {}
        found = self._counts("evidence", replace(shown, evidence=()), by="evidence")
        return {state: found.get(state, 0) for state in EVIDENCE_STATES}

    def safety_count(self, shown: Filter) -> int:
        """How many traces may leave out a warning or caution, for the filter without its safety part."""
        return self.matching(replace(shown, safety=True))

    def safety_judged(self, shown: Filter) -> int:
        """Of how many `safety_count` is: the traces with a citation, chunks and a catalogue to judge by."""
        return self.safety_count(shown) + self.matching(replace(shown, safety=False))

    def failures(self, shown: Filter) -> tuple[FailureCount, ...]:
        """Where traces fail, for the filter without `about` and `fails`; a trace is in one entry.

        Entries come in the order of their places.
        """
        rows = self._rows(
            "failures", replace(shown, about=(), fails=None), ("about", *FAILS.columns), fails=FAILS.sql
        )
        return tuple(map(failure_count, rows))

    def placed(self, run: str) -> pd.DataFrame | None:
        """Every citation of a run with where it stands, in the order of the traces.

        None while the citations are not located, or the index or a document is no longer what it was then.
        The columns are those of `proofspan.store.files.located.PLACED_SCHEMA` but for `row`.
        """
        return self._kept.with_run(run, lambda loaded: loaded.citations(CITATION_COLUMNS))

    def placed_stamp(self, run: str) -> str | None:
        """Changes whenever `placed` does, for keys of caches; None while the citations are not located."""
        known = self._kept.with_run(run, lambda loaded: loaded.placed())
        return None if known is None else f"{self.stamp(run)} {known.digest}"

    def total(self, run: str, *, all_variants: bool = False) -> int:
        """How many questions (or traces, with all variants) the run has."""
        return self.matching(Filter(run, all_variants=all_variants))

    def matching(self, shown: Filter) -> int:
        """How many traces pass the filter."""
        return int(str(self._rows("matching", shown, ())[0][0]))

    def page(self, shown: Filter, sort: Sort, *, limit: int, offset: int) -> pd.DataFrame:
        """`limit` rows of the list after the first `offset`, with `PAGE_COLUMNS`, `run_id` and `file`.

        Beside another run also with `WAS_COLUMNS`: what the same traces got there, null where there are none.
        """

        def read(run: LoadedRun, basis: Basis) -> pd.DataFrame:
            rows = self._query(run, basis, "page", shown, sort, {"limit": limit, "offset": offset})
            frame = self._frame(run, shown.run, rows, PAGE_COLUMNS)
            if basis.other is None:
                return frame
            was = self._columns.table(run, WAS_COLUMNS, basis).take(pa.array(rows))
            return frame.assign(**{name: was.column(name).to_pylist() for name in WAS_COLUMNS})

        return self._read(shown, read, compares=True)

    def rows(self, shown: Filter, sort: Sort) -> Iterator[pd.DataFrame]:
        """The whole list in pieces, with every column, for an export."""

        def read(run: LoadedRun, basis: Basis) -> tuple[LoadedRun, np.ndarray]:
            run.table(FULL_COLUMNS)  # an index that is replaced meanwhile changes nothing any more
            return run, self._order(run, basis, shown, sort)

        run, order = self._read(shown, read)
        for start in range(0, len(order), EXPORT_ROWS):
            yield self._frame(run, shown.run, order[start : start + EXPORT_ROWS], FULL_COLUMNS)

    def places(self, shown: Filter, sort: Sort) -> pd.DataFrame:
        """The whole list in the order of `page`: what names a trace, its line in the file, and its label.

        The columns are `PLACE_COLUMNS`, `run_id` and `file`: enough to step through it without asking again.
        """

        def read(run: LoadedRun, basis: Basis) -> pd.DataFrame:
            return self._frame(run, shown.run, self._order(run, basis, shown, sort), PLACE_COLUMNS)

        return self._read(shown, read)

    def neighbours(self, shown: Filter, sort: Sort, key: TraceKey) -> Neighbours:
        """The questions before and after one, in the order of `page`."""

        def read(run: LoadedRun, basis: Basis) -> Neighbours:
            order = self._order(run, basis, shown, sort)
            row = self._place(run, key)
            places = np.flatnonzero(order == (-1 if row is None else row))
            if len(places) == 0:
                first = self._key(run, shown.run, order[0]) if len(order) else None
                return Neighbours(None, first, None, len(order))
            place = int(places[0])
            before = self._key(run, shown.run, order[place - 1]) if place else None
            after = self._key(run, shown.run, order[place + 1]) if place + 1 < len(order) else None
            return Neighbours(before, after, place + 1, len(order))

        return self._read(shown, read)

    def find(self, key: TraceKey) -> Found | None:
        """A trace by its identity; None where the run has none such."""

        def read(run: LoadedRun) -> Found | None:
            row = self._place(run, key)
            if row is None:
                return None
            record = record_of(self._frame(run, key.run_id, [row], FULL_COLUMNS))
            line, offset, length = (int(str(record[name])) for name in ("line", "offset", "length"))
            return Found(SourceLine(run.run_file.file, line, offset, length), record)

        return self._kept.with_run(key.run_id, read)

    def same_answer(self, key: TraceKey) -> TraceKey | None:
        """The first other trace with the same candidates, answer and citations; None where there is none."""

        def read(run: LoadedRun) -> TraceKey | None:
            row = self._place(run, key)
            tables = {"rows": run.table(("answer_print",))}
            found = self._database.rows(statement("alike"), {"row": row}, tables)
            first = int(str(found[0][0])) if found else row
            return None if first is None or first == row else self._key(run, key.run_id, first)

        return self._kept.with_run(key.run_id, read)

    def same_question(self, q_id: str) -> pd.DataFrame:
        """All traces of a question in every indexed run, with every column, runs in the manifest's order."""
        frames = [self.traces_of(q_id, run) for run in self.runs()]
        filled = [frame for frame in frames if len(frame)]
        return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=_names(FULL_COLUMNS))

    def traces_of(self, q_id: str, run: str) -> pd.DataFrame:
        """All traces of a question in one run, with every column, the headline one first."""

        def read(loaded: LoadedRun) -> pd.DataFrame:
            table = loaded.table(("q_id", "paraphrase", "seed", "repeat"))
            rows = self._database.column(statement("question"), {"q_id": q_id}, {"rows": table})
            return self._frame(loaded, run, rows, FULL_COLUMNS)

        return self._kept.with_run(run, read)

    def options(self, run: str) -> Choices:
        """What the run's list can be narrowed to: filter name → values with their headline traces.

        The names are `suspicion`, `code`, `doc`, `section`, `state`, and `gold`, `bucket` and `type` (without
        values where the run has no gold); the most frequent value comes first.
        """
        return self._kept.with_run(run, self._choices)

    def settings(self, run: str) -> list[tuple[str, str, str, int]]:
        """Return what the traces of a run log of index, model, analyzer and revisions, most frequent first.

        Each entry is field, document (of a revision, else ""), value, and how many traces log it.
        """
        counted = self._kept.with_run(run, lambda loaded: loaded.list_counts("settings"))
        return sorted(
            ((*parse_setting(text), traces) for text, traces in counted), key=lambda each: (-each[3], *each)
        )

    def citations(self, run: str) -> list[CitedTrace]:
        """Return what the traces of a run cite, in the order of its file; other traces are left out."""

        def read(loaded: LoadedRun) -> list[CitedTrace]:
            about, folder = loaded.run_file, loaded.folder
            return [trace for segment in about.segments for trace in read_citations(folder, about, segment)]

        return self._kept.with_run(run, read)

    def line_issues(self, run: str) -> pd.DataFrame:
        """The lines of the run's files that could not be read: file, line, offset, length, code, reason, …"""
        return self._kept.with_run(run, lambda loaded: loaded.issues())

    def run_facts(self, run: str) -> RunFacts:
        """What stands beside the run's numbers."""

        def read(loaded: LoadedRun) -> RunFacts:
            about = loaded.run_file
            repeat = loaded.table(["repeat"]).column("repeat").to_numpy()
            return RunFacts(
                run_id=run,
                file=about.file,
                profile=self._profile,
                traces=about.rows,
                questions=self.total(run),
                repeats=int((repeat > 1).sum()),
                line_issues=about.line_issues,
                unmatched=about.unmatched,
                waiting_bytes=about.waiting_bytes,
                from_report=about.from_report,
                problems=about.problems,
                suggestion=suggest_profile(about.facts, self._profile),
                placed=_placed_facts(loaded.placed()),
            )

        return self._kept.with_run(run, read)

    def _choices(self, run: LoadedRun) -> Choices:
        return self._options.get_or_make((run,), "", lambda: self._counted_choices(run))

    def _counted_choices(self, run: LoadedRun) -> Choices:
        tables = {"rows": run.table((*HEADLINE.columns, *_CHOSEN_BY))}
        headline = self._database.column(statement("rows").format(where=HEADLINE.sql), {}, tables)
        found = [
            *self._database.rows(statement("options").format(where=HEADLINE.sql), {}, tables),
            *(("doc", doc, traces) for doc, traces in run.list_counts("docs", headline)),
        ]
        found.sort(key=lambda choice: (-int(str(choice[2])), str(choice[1])))
        return {
            name: tuple((str(value), int(str(traces))) for kind, value, traces in found if kind == name)
            for name in _CHOICES
        }

    def _query(
        self,
        run: LoadedRun,
        basis: Basis,
        name: str,
        shown: Filter,
        sort: Sort,
        params: Mapping[str, object],
    ) -> np.ndarray:
        clause = shown.where()
        sql = statement(name).format(where=clause.sql, order=sort.order())
        table = self._table(run, basis, shown, sort.columns())
        return self._database.column(sql, {**clause.params, **params}, {"rows": table})

    def _counts(
        self, column: Literal["label", "gold_state", "evidence"], shown: Filter, *, by: str = "counts"
    ) -> dict[object, int]:
        known = self._known_sums(shown) if column == "label" else None
        if known:
            return dict(known.labels.items())
        found = self._rows(by, shown, (column,), column=column)
        return {value: int(str(count)) for value, count in found}

    def _order(self, run: LoadedRun, basis: Basis, shown: Filter, sort: Sort) -> np.ndarray:
        """All rows of a list in order; the last few lists are remembered."""
        states = (run,) if basis.other is None else (run, basis.other)
        return self._orders.get_or_make(
            states, (shown, sort, basis.cohort), lambda: self._query(run, basis, "ordered", shown, sort, {})
        )

    def _place(self, run: LoadedRun, key: TraceKey) -> int | None:
        identity = {"q_id": key.q_id, "paraphrase": key.paraphrase, "seed": key.seed, "repeat": key.repeat}
        found = self._database.rows(statement("find"), identity, {"rows": run.table(tuple(identity))})
        return int(str(found[0][0])) if found else None

    def _key(self, run: LoadedRun, name: str, row: int) -> TraceKey:
        record = record_of(run.frame([row], ("q_id", "paraphrase", "seed", "repeat")))
        paraphrase, seed, repeat = (int(str(record[part])) for part in ("paraphrase", "seed", "repeat"))
        return TraceKey(name, str(record["q_id"]), paraphrase, seed, repeat)

    def _frame(
        self, run: LoadedRun, name: str, rows: Sequence[int] | np.ndarray, columns: Sequence[str]
    ) -> pd.DataFrame:
        frame = run.frame(rows, columns)
        frame.insert(0, "run_id", name)
        frame["file"] = run.run_file.file
        return frame


def _placed_facts(placed: PlacedFile | None) -> PlacedFacts | None:
    if placed is None:
        return None
    looked_for = placed.citations - placed.counts.get("not_placed", 0)
    return PlacedFacts(placed.citations, looked_for, placed.counts)


def _names(columns: Sequence[str]) -> list[str]:
    return ["run_id", *columns, "file"]
