"""Traces and chunks as DataFrames of records: from Parquet, Delta or JSONL by path, or from a DataFrame."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from proofspan.errors import InputFault

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

#: Columns of a table that hold whole records as text.
RECORD_COLUMNS = ("record", "value")
#: Where a record comes from; together they order the records of a source as it has them.
PLACE = ("place_file", "place_block", "place_row")
_LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz", ".json", ".txt")
_FORMATS = ("parquet", "delta", "jsonl")


def records(
    source: DataFrame | str | PurePath,
    *,
    spark: SparkSession,
    name: str,
    needed: Sequence[Sequence[str]],
    format: str | None = None,
) -> DataFrame:
    """Return a source as the columns `record` (binary), `PLACE`, and `run_id` where it has one.

    `needed` are columns of a table, each with its other names; `name` is used in problems. A table with a
    column `record` or `value` of text holds a JSON object in each; else a row is the object. `format` is that
    of a path, by default by its name: Delta where it has a `_delta_log`, else JSONL or Parquet.
    InputFault where a column is missing.
    """
    from pyspark.sql import DataFrame

    if isinstance(source, DataFrame):
        return _records(source, place=(), name=name, needed=needed)
    path, kind = str(source), format or _format_of(spark, str(source))
    if kind not in _FORMATS:
        raise InputFault.of(
            "unknown_format",
            f"no table is of format {kind!r}",
            where=path,
            fix="name parquet, delta or jsonl",
        )
    place = ("_metadata.file_path", "_metadata.file_block_start")
    if kind == "jsonl":
        table = spark.read.option("lineSep", "\n").text(path)
    elif kind == "delta":
        table = spark.read.format("delta").load(path)
    else:
        table = spark.read.option("mergeSchema", "true").parquet(path)
    return _records(table, place=place, name=path, needed=needed)


def _format_of(spark: SparkSession, path: str) -> str:
    if path.lower().rstrip("/").endswith(_LINES):
        return "jsonl"
    jvm = spark._jvm
    if jvm is None:
        return "parquet"
    log = jvm.org.apache.hadoop.fs.Path(path.rstrip("/") + "/_delta_log")
    has_log = log.getFileSystem(spark._jsc.hadoopConfiguration()).exists(log)
    return "delta" if has_log else "parquet"


def _records(
    table: DataFrame, *, place: Sequence[str], name: str, needed: Sequence[Sequence[str]]
) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812 - its usual name

    kinds = dict(table.dtypes)
    whole = next((each for each in RECORD_COLUMNS if kinds.get(each) in ("string", "binary")), None)
    columns: list[Column] = []
    if whole is not None:
        columns.append(F.col(whole).cast("binary").alias("record"))
    else:
        for names in needed:
            if not any(each in kinds for each in names):
                found = ", ".join(table.columns[:12]) or "none"
                message = f"the table has no column `{names[0]}`; its columns are {found}"
                also = f" (or `{'`, `'.join(names[1:])}`)" if names[1:] else ""
                fix = f"rename a column to `{names[0]}`{also}, or give records as JSON in a column `record`"
                raise InputFault.of("column_missing", message, where=name, fix=fix)
        columns.append(
            F.to_json(F.struct(*(F.col(f"`{each}`") for each in table.columns)))
            .cast("binary")
            .alias("record")
        )
    values = [F.col(each) for each in place] or [F.lit(""), F.lit(0)]
    kinds_of_place = ("string", "long")
    for value, column, kind in zip(values, PLACE, kinds_of_place, strict=False):
        columns.append(value.cast(kind).alias(column))
    columns.append(F.monotonically_increasing_id().alias(PLACE[2]))
    run = F.lit(None)
    if "run_id" in kinds:
        run = F.col("run_id")
    elif whole is not None:
        run = F.get_json_object(F.col(whole).cast("string"), "$.run_id")
    return table.select(*columns, run.cast("string").alias("run_id"))
