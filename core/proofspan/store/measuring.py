"""The numbers of a run: every metric of a list, how its questions came out, and how steady they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

import pandas as pd
import pyarrow as pa

from proofspan.manifest.types import Manifest
from proofspan.metrics.ranked import Bucket
from proofspan.metrics.values import Tally
from proofspan.store.beside import Basis
from proofspan.store.clauses import HEADLINE, Clause
from proofspan.store.filters import Filter
from proofspan.store.kept import Memory
from proofspan.store.loaded import LoadedRun
from proofspan.store.reading import Reader
from proofspan.store.statements import statement
from proofspan.store.sums import (
    MEASURED,
    ends_of,
    no_tallies,
    quantiles_statements,
    sums_statement,
    tallies_of,
)

Slice = Literal["section", "document", "type", "bucket"]

#: So many slices are told apart, the largest.
MOST_SLICES = 200
#: So many runs' sums are remembered.
KEPT_SUMS = 256
#: Each way to slice a list as SQL, with the column that it reads. A question is in every section (or page)
#: and every document that it is about, those included that hold others.
_SLICES: Mapping[Slice, tuple[str, str]] = {
    "section": ("unnest(list_filter(about, lambda place: contains(place, '#')))", "about"),
    "document": ("unnest(list_filter(about, lambda place: NOT contains(place, '#')))", "about"),
    "type": ("q_type", "q_type"),
    "bucket": ("bucket", "bucket"),
}
_OUTCOMES = ("label", "bucket", "lambda_state", "unranked", "refused", "top_rank")
_RANKED = ("section_rank", "top_rank", "bucket")
_RANKS = ["q_id", "q", "run_id", *_RANKED]
_VARIED = ("q_id", "paraphrase", "seed", "repeat", "rank1_section", "cited_print", "label", "lambda_state")


@dataclass(frozen=True, slots=True)
class RunSums:
    """All that is added up over the headline traces of a whole run, one a question.

    `measures` are the metrics by id; `labels`, `buckets` and `states` count questions by label, bucket and
    logged λ state (None: not labelled, not judged, not logged); `refusals` those of which both can be said by
    (declines?, gold in the top 20?).
    """

    measures: Mapping[str, Tally]
    labels: Mapping[str | None, int]
    buckets: Mapping[Bucket | None, int]
    states: Mapping[str | None, int]
    refusals: Mapping[tuple[bool, bool], int]


class Measuring(Reader):
    """What metrics are made of.

    Metrics count headline traces, one a question, also where a list shows all variants.
    """

    def __init__(self, manifest: Manifest, cache_dir: Path) -> None:
        super().__init__(manifest, cache_dir)
        self._sums: Memory[RunSums] = Memory(self._kept, most=KEPT_SUMS)

    def run_sums(self, runs: Sequence[str]) -> dict[str, RunSums]:
        """The sums of several whole runs, at once and remembered: much quicker than run by run."""
        return self._kept.with_runs(runs, lambda loaded: dict(zip(runs, self._summed(loaded), strict=True)))

    def measure(self, shown: Filter) -> dict[str, Tally]:
        """Every metric of the questions that a filter keeps, by id; evidence bundles are not in the index."""
        shown = replace(shown, all_variants=False)
        if not shown.is_narrowed:
            return dict(self.run_sums([shown.run])[shown.run].measures)
        found = self._sliced(shown, "0", ())
        return found["0"] if found else no_tallies()

    def measure_by(self, shown: Filter, by: Slice) -> dict[str, dict[str, Tally]]:
        """The same by slice: the largest first, then by name; at most `MOST_SLICES`.

        A section's or document's name is a place as `Filter.about` takes it; a question counts in all that
        it is about. Questions without a type, or a bucket, are in no slice.
        """
        sql, column = _SLICES[by]
        return self._sliced(replace(shown, all_variants=False), sql, (column,))

    def bucket_counts(self, shown: Filter) -> dict[Bucket | None, int]:
        """Questions by bucket, for the filter without its bucket part; every bucket is there, None last.

        None are those whose ranking cannot be judged.
        """
        shown = replace(shown, bucket=())
        known = self._known_sums(shown)
        return dict(known.buckets) if known else _buckets(self._count(shown, "bucket"))

    def state_counts(self, shown: Filter) -> dict[str | None, int]:
        """Questions by the λ state that they log, for the filter without its state part; None: none.

        The most frequent state comes first.
        """
        shown = replace(shown, state=())
        known = self._known_sums(shown)
        return dict(known.states) if known else _states(self._count(shown, "lambda_state"))

    def refusal_table(self, shown: Filter) -> dict[tuple[bool, bool], int]:
        """Judged questions by (does the answer decline?, does the gold stand in the top 20?)."""
        shown = replace(shown, all_variants=False)
        known = self._known_sums(shown)
        if known:
            return dict(known.refusals)
        return _refusals(_by_kind(self._rows("outcomes", shown, _OUTCOMES, slice="0"))["refusal"])

    def ranks(self, runs: Sequence[str]) -> pd.DataFrame:
        """Where the gold section stood in several runs: judged questions, by the order of the runs and q_id.

        The columns are `q_id`, `q`, `run_id`, and `section_rank`, `top_rank`, `bucket` as the index has them.
        A run without an index is left out.
        """
        indexed = [run for run in dict.fromkeys(runs) if self._can_compare(run)]
        if not indexed:
            return pd.DataFrame(columns=_RANKS)

        def read(loaded: Sequence[LoadedRun]) -> pd.DataFrame:
            table = self._columns.tables(loaded, ("q", "q_id", *HEADLINE.columns, "unranked", *_RANKED))
            sql = statement("ranks").format(where=HEADLINE.sql)
            found = self._database.table(sql, {}, {"rows": table})
            columns = {name: found.column(name).to_pylist() for name in ("q_id", "q", *_RANKED)}
            columns["run_id"] = [indexed[place] for place in found.column("run").to_pylist()]
            frame = pd.DataFrame(columns, columns=_RANKS, dtype=object)
            return frame.astype({"section_rank": "Int32", "top_rank": "Int32"})

        return self._kept.with_runs(indexed, read)

    def variants(self, run: str, *, q_id: str | None = None) -> pd.DataFrame:
        """How steady each question of a run, or one of them, is over its paraphrases and seeds, by q_id.

        `traces` counts its traces without repeats, `paraphrases` and `seeds` the different ones.
        `same_rank1`, `same_cited` and `same_label` say whether all traces have the same rank-1 section, cited
        chunks and label; missing with one trace alone, or where a trace has none and the others agree.
        `states` are the different λ states that were logged, in order.
        """

        def read(loaded: LoadedRun) -> pd.DataFrame:
            rows = self._columns.table(loaded, _VARIED)
            found = self._database.table(statement("variants"), {"q_id": q_id}, {"rows": rows})
            frame = pd.DataFrame({name: found.column(name).to_pylist() for name in found.column_names})
            return frame.astype(dict.fromkeys(("same_rank1", "same_cited", "same_label"), "boolean"))

        return self._kept.with_run(run, read)

    def _sliced(self, shown: Filter, slice_sql: str, columns: Sequence[str]) -> dict[str, dict[str, Tally]]:
        where = shown.where()

        def read(run: LoadedRun, basis: Basis) -> dict[str, dict[str, Tally]]:
            table = self._table(run, basis, shown, (*MEASURED, *columns))
            found = self._tallies(table, where, slice_sql, most=MOST_SLICES)
            return {str(name): tallies for name, tallies in found.items()}

        return self._read(shown, read)

    def _tallies(
        self, table: pa.Table, where: Clause, slice_sql: str, *, most: int
    ) -> dict[object, dict[str, Tally]]:
        """The metrics of the rows that a condition keeps, by slice."""
        tables = {"rows": table}
        ends: dict[tuple[object, str], tuple[float | None, ...]] = {}
        for metric_ids, sql in quantiles_statements(where=where.sql, slice_sql=slice_sql):
            ends |= ends_of(metric_ids, self._database.rows(sql, where.params, tables))
        sql = sums_statement(where=where.sql, slice_sql=slice_sql)
        return tallies_of(self._database.rows(sql, {**where.params, "most": most}, tables), ends)

    def _known_sums(self, shown: Filter) -> RunSums | None:
        """The sums of a whole run, if they were worked out already: one count alone does not pay for it."""
        if shown.is_narrowed:
            return None
        return self._kept.with_run(shown.run, lambda run: self._sums.get((run,), ""))

    def _count(self, shown: Filter, column: Literal["bucket", "lambda_state"]) -> dict[str | None, int]:
        return _words(self._rows("counts", shown, (column,), column=column))

    def _summed(self, runs: Sequence[LoadedRun]) -> list[RunSums]:
        """The sums of whole runs: what is not known yet is worked out at once."""
        known = [self._sums.get((run,), "") for run in runs]
        missing = [run for run, sums in zip(runs, known, strict=True) if sums is None]
        found = iter(self._added_up(missing) if missing else ())
        return [
            self._sums.keep((run,), "", next(found)) if sums is None else sums
            for run, sums in zip(runs, known, strict=True)
        ]

    def _added_up(self, runs: Sequence[LoadedRun]) -> list[RunSums]:
        names = (*MEASURED, *HEADLINE.columns, *_OUTCOMES)
        table = self._columns.tables(runs, names)
        measures = self._tallies(table, HEADLINE, "run", most=len(runs))
        sql = statement("outcomes").format(where=HEADLINE.sql, slice="run")
        outcomes = self._database.rows(sql, {}, {"rows": table})
        return [
            _run_sums(measures.get(place, no_tallies()), [row for row in outcomes if row[0] == place])
            for place in range(len(runs))
        ]


def _run_sums(measures: Mapping[str, Tally], outcomes: Sequence[tuple[object, ...]]) -> RunSums:
    found = _by_kind(outcomes)
    return RunSums(
        measures,
        found["label"],
        _buckets(found["bucket"]),
        _states(found["state"]),
        _refusals(found["refusal"]),
    )


def _by_kind(rows: Sequence[tuple[object, ...]]) -> dict[str, dict[str | None, int]]:
    """Rows of `sql/outcomes.sql` of one slice, by kind."""
    kinds = ("label", "bucket", "state", "refusal")
    return {kind: _words(row[2:] for row in rows if row[1] == kind) for kind in kinds}


def _words(rows: Iterable[tuple[object, ...]]) -> dict[str | None, int]:
    """Rows of a word, or none, and a count."""
    return {None if word is None else str(word): int(str(count)) for word, count in rows}


def _states(counts: Mapping[str | None, int]) -> dict[str | None, int]:
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0] or "")))


def _buckets(counts: Mapping[str | None, int]) -> dict[Bucket | None, int]:
    return {bucket: counts.get(bucket, 0) for bucket in (*get_args(Bucket), None)}


def _refusals(counts: Mapping[str | None, int]) -> dict[tuple[bool, bool], int]:
    return {
        (refused, found): counts.get(f"{int(refused)}{int(found)}", 0)
        for refused in (True, False)
        for found in (True, False)
    }
