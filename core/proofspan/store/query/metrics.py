"""What every metric of a list is added up from, by slice (`sql/sums.sql`, `sql/quantiles.sql`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, cast, get_args

import pandas as pd
import pyarrow as pa

from proofspan.manifest.types import Manifest
from proofspan.metrics.catalogue import METRICS, Measure
from proofspan.metrics.ranked import Bucket
from proofspan.metrics.statistics import Z_95
from proofspan.metrics.values import Tally
from proofspan.store.query.database import statement
from proofspan.store.query.derived_columns import Basis
from proofspan.store.query.filters import Filter
from proofspan.store.query.list_reader import Reader
from proofspan.store.query.loaded_runs import LoadedRun, Memory
from proofspan.store.query.metric_sql import HEADLINE, MEASURES, Clause

#: A row of a statement, and a sum in it.
Row = tuple[object, ...]
Exact = int | Decimal
#: By slice and metric: a quantile's value, and those at the ends of its interval.
Ends = Mapping[tuple[object, str], tuple[float | None, ...]]

#: The columns that the statements read besides those of their filter and their slice.
MEASURED = tuple(dict.fromkeys(column for measure in MEASURES.values() for column in measure.columns))
#: Whole numbers of 10^-12: what is added up lies well below a million.
_EXACT = "DECIMAL(18, 12)"
#: Each reason that leaves a trace out, as SQL, with the name of its column: several metrics share one.
_LEFT = {
    left: f"left_{place}"
    for place, left in enumerate(dict.fromkeys(measure.left for measure in MEASURES.values()))
}
#: So many texts of each statement are remembered: there is one for each combination of a filter's parts.
KEPT_STATEMENTS = 64
#: The metrics that are quantiles.
_QUANTILES = tuple(metric_id for metric_id in MEASURES if METRICS[metric_id].kind == "quantile")


@dataclass(slots=True)
class _Sum:
    """What is added up for one metric of one slice."""

    of: int = 0
    total: Exact = 0
    squares: Exact = 0
    left_out: Counter[str] = field(default_factory=Counter)

    def tally(self, measure: Measure) -> Tally:
        left_out = {word: self.left_out[word] for word in measure.reasons if self.left_out[word]}
        return Tally(self.of, float(self.total), float(self.squares), left_out=left_out)


@lru_cache(maxsize=KEPT_STATEMENTS)
def sums_statement(*, where: str, slice_sql: str) -> str:
    """The statement of sums for a list and a way to slice it, both in our own words."""
    return statement("sums").format(
        where=where,
        slice=slice_sql,
        left=", ".join(f"{left} AS {name}" for left, name in _LEFT.items()),
        columns=", ".join(MEASURED),
        reasons=", ".join(_LEFT.values()),
        sums=", ".join(sql for metric_id in MEASURES for sql in _summed(metric_id)),
    )


@lru_cache(maxsize=KEPT_STATEMENTS)
def quantiles_statements(*, where: str, slice_sql: str) -> tuple[tuple[tuple[str, ...], str], ...]:
    """The statements of quantiles, likewise: one a number, with the metrics that are quantiles of it."""
    found = []
    for measure in dict.fromkeys(MEASURES[metric_id] for metric_id in _QUANTILES):
        metric_ids = tuple(metric_id for metric_id in _QUANTILES if MEASURES[metric_id] is measure)
        values = ", ".join(value for metric_id in metric_ids for value in _values(metric_id))
        sql = statement("quantiles").format(
            where=where, slice=slice_sql, value=measure.value, left=measure.left, values=values
        )
        found.append((metric_ids, sql))
    return tuple(found)


def ends_of(metric_ids: Sequence[str], rows: Iterable[Row]) -> Ends:
    """The rows of a statement of quantiles by slice and metric."""
    return {
        (row[0], metric_id): cast("tuple[float | None, ...]", row[3 * place + 1 : 3 * place + 4])
        for row in rows
        for place, metric_id in enumerate(metric_ids)
    }


def tallies_of(sums: Iterable[Row], ends: Ends) -> dict[object, dict[str, Tally]]:
    """The metrics of each slice, the largest slice first, then by name."""
    sizes: Counter[object] = Counter()
    found: dict[object, dict[str, _Sum]] = {}
    for name, *rest in sums:
        reasons, traces, numbers = rest[: len(_LEFT)], cast(int, rest[len(_LEFT)]), rest[len(_LEFT) + 1 :]
        left = dict(zip(_LEFT, cast("list[str | None]", reasons), strict=True))
        sizes[name] += traces
        into = found.setdefault(name, {metric_id: _Sum() for metric_id in MEASURES})
        _add(into, left, traces, iter(cast("list[Exact | None]", numbers)))
    ordered = sorted(sizes, key=lambda name: (-sizes[name], str(name)))
    return {name: _tallies(name, found[name], ends) for name in ordered}


def no_tallies() -> dict[str, Tally]:
    """The metrics of no question at all."""
    return {metric_id: Tally(0) for metric_id in MEASURES}


def _add(
    into: Mapping[str, _Sum], left: Mapping[str, str | None], traces: int, sums: Iterator[Exact | None]
) -> None:
    """Adds the traces of one combination of reasons to a slice."""
    for metric_id, measure in MEASURES.items():
        numbers = [next(sums) or 0 for _ in _summed(metric_id)]
        reason, found = left[measure.left], into[metric_id]
        if reason is not None:
            found.left_out[reason] += traces
            continue
        found.of += int(numbers.pop(0)) if measure.weight else traces
        if numbers:
            found.total += numbers[0]
            found.squares += numbers[-1]


def _tallies(name: object, found: Mapping[str, _Sum], ends: Ends) -> dict[str, Tally]:
    """The metrics of one slice."""
    tallies = {metric_id: found[metric_id].tally(measure) for metric_id, measure in MEASURES.items()}
    for metric_id in _QUANTILES:
        value, low, high = ends.get((name, metric_id), (None, None, None))
        if low is None or high is None:  # so few questions that an end lies beyond them
            low = high = None
        tallies[metric_id] = replace(tallies[metric_id], value=value, low=low, high=high)
    return tallies


@cache
def _summed(metric_id: str) -> tuple[str, ...]:
    """What is added up for a metric, as SQL: its denominator where it has its own, the sum, the squares."""
    measure, kind = MEASURES[metric_id], METRICS[metric_id].kind
    if measure.weight:
        return f"sum({measure.weight})", f"sum({measure.value})"
    if kind == "share":
        return (f"count_if({measure.value})",)
    if kind == "mean":
        square = f"({measure.value}) * ({measure.value})"
        return tuple(f"sum(TRY_CAST({number} AS {_EXACT}))" for number in (measure.value, square))
    return ()


def _values(metric_id: str) -> Iterator[str]:
    """The values at a quantile's rank and at the ends of its interval, as SQL over ranked numbers."""
    quantile = METRICS[metric_id].quantile or 0.0
    around = f"{Z_95} * sqrt(numbers * {quantile * (1 - quantile)})"
    yield _at(f"(numbers * {round(100 * quantile)} + 99) // 100")
    yield _at(f"ceil(numbers * {quantile} - {around})")
    yield _at(f"ceil(numbers * {quantile} + {around})")


def _at(rank: str) -> str:
    return f"min(value) FILTER (rank = {rank})"


# The numbers of a run: every metric of a list, how its questions came out, and how steady they are.

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
