"""Repeats and the rules over a whole run, as aggregations and windows of Spark.

The same as `proofspan.store.index.run_rules`, which reads a run's columns in one process.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from proofspan.contracts.rules.catalogue import in_order
from proofspan.spark.layout import index_of_run
from proofspan.spark.schemas import spark_schema
from proofspan.spark.sources import PLACE
from proofspan.store.files.columns import SEVERAL
from proofspan.store.files.segment_files import write_table
from proofspan.store.index.run_rules import JOINED_SCHEMA

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: The name of the file in the folder of an index.
JOINED = "joined.parquet"
_DONE = pa.schema([("run", pa.string()), ("rows", pa.int64())])


def write_joined(written: DataFrame, first_rows: Mapping[tuple[str, str], int], out: Path) -> dict[str, int]:
    """Write each run's `joined` file, where it needs one, and return its rows by run.

    `written` are the rows of `WRITTEN`, `first_rows` the place in the run of the first row of each segment.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812 - its usual name

    spark = written.sparkSession
    rows = written.filter("row >= 0").withColumn("place", F.struct(*PLACE))
    first = Window.partitionBy("run", "q_id", "paraphrase", "seed").orderBy("place")
    same = Window.partitionBy("run", "answer_print").orderBy("place")
    earliest = F.first(F.struct("q_id", "q_print", "place")).over(same)
    rows = rows.withColumn("repeat", F.row_number().over(first)).withColumn("earliest", earliest)
    rows = rows.withColumn(
        "is_repeated",
        F.col("answer_print").isNotNull()
        & (F.col("earliest.place") != F.col("place"))
        & (F.col("earliest.q_id") != F.col("q_id"))
        & (F.col("earliest.q_print") != F.col("q_print")),
    )
    # Each part of the state of memory, and the unit of offsets, with the word that most rows of the run have.
    for name, word in (
        ("memory_rev", F.split("memory", ":")[0]),
        ("memory_hash", F.split("memory", ":")[1]),
        ("unit", F.when(F.col("offset_unit") != SEVERAL, F.col("offset_unit"))),
    ):
        rows = rows.withColumn(name, word)
        counted = (
            rows.filter(f"{name} <> ''")
            .groupBy("run", name)
            .agg(F.count("*").alias("n"), F.min("place").alias("first_place"))
        )
        order = Window.partitionBy("run").orderBy(F.desc("n"), "first_place")
        most = counted.withColumn("rank", F.row_number().over(order)).filter("rank = 1")
        rows = rows.join(F.broadcast(most.select("run", F.col(name).alias(f"most_{name}"))), "run", "left")
    rows = rows.withColumn(
        "is_desynced",
        F.coalesce(
            ((F.col("memory_rev") != "") & (F.col("memory_rev") != F.col("most_memory_rev")))
            | ((F.col("memory_hash") != "") & (F.col("memory_hash") != F.col("most_memory_hash"))),
            F.lit(False),
        ),
    ).withColumn(
        "is_mixed",
        F.col("offset_unit").isNotNull()
        & ~F.col("has_mixed")
        & (F.col("offset_unit") != F.coalesce("most_unit", F.lit(""))),
    )
    found = rows.filter("repeat > 1 OR is_repeated OR is_desynced OR is_mixed")
    known = [(*key, row) for key, row in first_rows.items()]
    starts = spark.createDataFrame(known, "run string, segment string, first_row long")
    found = found.join(F.broadcast(starts), ["run", "segment"]).select(
        "run",
        (F.col("first_row") + F.col("row")).alias("row"),
        "repeat",
        "is_desynced",
        "is_mixed",
        "is_repeated",
    )
    write = WriteJoined(out)

    def of_group(table: pa.Table) -> pa.Table:  # Spark counts the arguments of a function, not of an object
        return write(table)

    done = found.groupBy("run").applyInArrow(of_group, spark_schema(_DONE))
    return {row["run"]: row["rows"] for row in done.collect()}


@dataclass(frozen=True, slots=True)
class WriteJoined:
    """Writes the joined file of a run: few of its rows are in it."""

    out: Path

    def __call__(self, table: pa.Table) -> pa.Table:
        """Return the run and how many rows were written."""
        table = table.sort_by("row")
        run_id = table.column("run")[0].as_py()
        rows = pa.Table.from_pylist(list(_rows(table)), JOINED_SCHEMA)
        write_table(index_of_run(self.out, run_id), JOINED, rows)
        return pa.table([[run_id], [rows.num_rows]], schema=_DONE)


def _rows(table: pa.Table) -> Iterator[dict[str, object]]:
    for row in table.to_pylist():
        late = ["duplicate_question"] if row["repeat"] > 1 else []
        codes = [
            code
            for code, column in (
                ("memory_desync", "is_desynced"),
                ("mixed_offset_units", "is_mixed"),
                ("answer_repeated", "is_repeated"),
            )
            if row[column]
        ]
        of_run = in_order([*late, *codes])
        yield {"row": row["row"], "repeat": row["repeat"], "late": late, "late_codes": of_run}
