"""Metrics as partials that add up: one row for some segments, summed by Spark to one row a run.

The sums are those of the store's own SQL. Quantiles do not add up: of their numbers there are histograms.
`lambda_convergent` compares the variants of a question, which may be in several segments, and is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from proofspan.contracts.records.records import LABELS
from proofspan.metrics.catalogue import METRICS
from proofspan.spark.layout import METRICS as FOLDER
from proofspan.spark.layout import index_of_run
from proofspan.spark.run_wide import JOINED
from proofspan.spark.schemas import spark_schema
from proofspan.store.files.checked import CheckedFile, CheckedPart, claims_version, part_name
from proofspan.store.files.run_file import RunFile, Segment
from proofspan.store.files.segment_files import read_table
from proofspan.store.query.database import Database
from proofspan.store.query.loaded_runs import LoadedRun
from proofspan.store.query.metric_sql import HEADLINE, MEASURES
from proofspan.store.query.metrics import MEASURED, sums_statement, tallies_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: What a question's variants together have, which no segment knows.
_OF_VARIANTS = ("converges", "unconverged")
#: The metrics that are sums over traces.
SUMMED: Final = tuple(
    metric_id
    for metric_id, measure in MEASURES.items()
    if METRICS[metric_id].kind != "quantile" and not set(_OF_VARIANTS) & set(measure.columns)
)
_PARTS = ("of", "total", "squares")
#: The two by two of a question: gold section first or not, and the answer ok or not.
TABLE: Final = ("first_ok", "first_not_ok", "other_ok", "other_not_ok")
#: Bins of latency (ms): eight an octave from 1/16 ms, so that a quantile is within 5 %; of ΔS: 1/256 each.
BINS: Final = 256
_OCTAVE, _LOWEST = 8, -4
HISTOGRAMS: Final = ("latency_ms", "delta_s")
#: About how many rows are measured together.
TOGETHER: Final = 50_000
#: One row for some segments, then one a run. `questions` counts the headline traces, of which all others are.
PARTIALS = pa.schema(
    [
        ("run", pa.string()),
        ("traces", pa.int64()),
        ("questions", pa.int64()),
        *((f"label_{label}", pa.int64()) for label in (*LABELS, "none")),
        *((f"{metric_id}__{part}", pa.float64()) for metric_id in SUMMED for part in _PARTS),
        *((f"section_first__{name}", pa.int64()) for name in TABLE),
        *((f"{name}__histogram", pa.list_(pa.int64())) for name in HISTOGRAMS),
    ]
)
#: A segment to measure: `first_row` is its place in the run.
TO_MEASURE = "run string, segment string, rows long, first_row long, is_checked boolean"


def write_metrics(todo: DataFrame, out: Path) -> None:
    """Write one row a run: the sums of the partials of its segments (`TO_MEASURE`)."""
    parts = todo.mapInArrow(MeasureSegments(out), spark_schema(PARTIALS))
    sums = parts.groupBy("run").applyInArrow(added, spark_schema(PARTIALS))
    sums.coalesce(1).sortWithinPartitions("run").write.parquet(str(out / FOLDER))


def added(parts: pa.Table) -> pa.Table:
    """Return the sums of the partials of one run. (As SQL they would take Spark longer to compile.)"""
    parts, sums = parts.combine_chunks(), {"run": parts.column("run")[0].as_py()}
    for field in PARTIALS:
        if pa.types.is_list(field.type):
            counts = np.array(parts.column(field.name).to_pylist(), dtype=np.int64)
            sums[field.name] = counts.sum(axis=0).tolist()
        elif field.name != "run":
            sums[field.name] = pc.sum(parts.column(field.name)).as_py()
    return pa.Table.from_pylist([sums], PARTIALS)


@dataclass(frozen=True, slots=True)
class MeasureSegments:
    """Measures segments, those of a run together up to `TOGETHER` rows: a query costs more than its rows."""

    out: Path

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches of `PARTIALS`."""
        waiting: dict[str, list[pa.Table]] = {}
        rows = 0
        for batch in batches:
            for row in batch.to_pylist():
                if row["rows"]:
                    waiting.setdefault(row["run"], []).append(self._table(**row))
                    rows += row["rows"]
                if rows >= TOGETHER:
                    yield from map(self._measured, waiting, waiting.values())
                    waiting, rows = {}, 0
        yield from map(self._measured, waiting, waiting.values())

    def _measured(self, run: str, tables: list[pa.Table]) -> pa.RecordBatch:
        table = pa.concat_tables(tables).unify_dictionaries()
        sql, params = sums_statement(where=HEADLINE.sql, slice_sql="'run'"), {"most": 1}
        tallies = tallies_of(_database().rows(sql, params, {"rows": table}), {}).get("run")
        values: dict[str, object] = {"run": run, "traces": table.num_rows}
        for metric_id in SUMMED:
            tally = tallies[metric_id] if tallies else None
            of, total, squares = (tally.of, tally.total, tally.squares) if tally else (0, 0.0, 0.0)
            values |= zip((f"{metric_id}__{part}" for part in _PARTS), (of, total, squares), strict=True)
        columns = (table.column(name).to_numpy(zero_copy_only=False) for name in HEADLINE.columns)
        paraphrase, seed, repeat = columns
        chosen = table.filter(pa.array((paraphrase == 0) & (seed == 0) & (repeat == 1)))
        labels = chosen.column("label").cast(pa.string()).to_pylist()
        values["questions"] = len(labels)
        values |= {f"label_{label}": labels.count(label) for label in LABELS}
        values["label_none"] = labels.count(None)
        ranks, unranked = (chosen.column(name).to_pylist() for name in ("section_rank", "unranked"))
        judged = [
            (rank == 1, label == "ok")
            for rank, why, label in zip(ranks, unranked, labels, strict=True)
            if why is None and label is not None
        ]
        pairs = ((True, True), (True, False), (False, True), (False, False))
        values |= {
            f"section_first__{name}": judged.count(pair) for name, pair in zip(TABLE, pairs, strict=True)
        }
        for name in HISTOGRAMS:
            numbers = chosen.column(name).drop_null().to_numpy()
            values[f"{name}__histogram"] = histogram(name, numbers)
        return pa.RecordBatch.from_pylist([values], PARTIALS)

    def _table(self, *, run: str, segment: str, rows: int, first_row: int, is_checked: bool) -> pa.Table:
        folder = index_of_run(self.out, run)
        alone = Segment(segment, 0, 0, 1, rows, rows, 0)
        parts = (CheckedPart(segment, part_name(alone)),)
        checked = CheckedFile(claims_version(), "", parts) if is_checked else None
        names = [name for name in (*MEASURED, *HEADLINE.columns) if name not in (*_OF_VARIANTS, "repeat")]
        table = LoadedRun(folder, RunFile("", "", None, (alone,)), None, checked).table(names)
        repeat = np.ones(rows, np.int32)
        if (folder / JOINED).exists():
            joined = read_table(folder / JOINED, ["row", "repeat"])
            at = joined.column("row").to_numpy() - first_row
            here = (at >= 0) & (at < rows)
            repeat[at[here]] = joined.column("repeat").to_numpy()[here]
        table = table.append_column("repeat", pa.array(repeat))
        return table.append_column("converges", pa.nulls(rows, pa.bool_())).append_column(
            "unconverged", pa.nulls(rows, pa.string())
        )


@cache
def _database() -> Database:
    return Database()


def histogram(name: str, numbers: np.ndarray) -> list[int]:
    """Return how many numbers are in each bin; those outside are in the first or the last."""
    if name == "latency_ms":
        with np.errstate(divide="ignore", invalid="ignore"):
            places = np.floor((np.log2(np.maximum(numbers, 1e-300)) - _LOWEST) * _OCTAVE)
    else:
        places = np.floor(numbers * BINS)
    counts: list[int] = np.bincount(np.clip(places, 0, BINS - 1).astype(int), minlength=BINS).tolist()
    return counts


def quantile(name: str, counts: Sequence[int], share: float) -> float | None:
    """Return about the number that a share of all does not exceed, the middle of its bin; None without."""
    ends = np.cumsum(counts)
    if not len(ends) or not ends[-1]:
        return None
    place = int(np.searchsorted(ends, np.ceil(share * ends[-1])))
    if name == "latency_ms":
        return float(2.0 ** ((place + 0.5) / _OCTAVE + _LOWEST))
    return (place + 0.5) / BINS
