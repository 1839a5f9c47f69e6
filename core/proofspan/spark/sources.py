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
#: The class by which Spark reads Delta itself, where its package is on the class path.
_DELTA_OF_SPARK = "io.delta.sql.DeltaSparkSessionExtension"
#: Features of a Delta table, where it has them, that its files alone do not show.
_DELTA_UNREAD = {"typeWidening", "typeWidening-preview"}


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
        table = _delta(spark, path)
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


def _delta(spark: SparkSession, path: str) -> DataFrame:
    """Return the current rows of a Delta table: by Spark's own package if it is there, else by its files."""
    if spark._jvm is not None and _is_on_class_path(spark, _DELTA_OF_SPARK):
        return spark.read.format("delta").load(path)
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    try:
        table = DeltaTable(path)
        beyond = _DELTA_UNREAD.intersection(table.protocol().reader_features or ())
        if any(batch.num_rows for batch in table.deletion_vectors()):
            beyond.add("deletionVectors")
        if table.metadata().configuration.get("delta.columnMapping.mode", "none") != "none":
            beyond.add("columnMapping")
        files = table.file_uris()
    except (DeltaError, OSError, ValueError) as error:
        fix = "repair the table's log, or start Spark with its own package for Delta"
        message = f"the Delta table cannot be read: {' '.join(str(error).split())[:300]}"
        raise InputFault.of("unreadable_file", message, where=path, fix=fix) from error
    if beyond:
        raise InputFault.of(
            "delta_feature",
            f"the Delta table uses {', '.join(sorted(beyond))}, for which its files alone are not enough",
            where=path,
            fix="start Spark with its own package for Delta, or copy the table to Parquet",
        )
    if not files:
        raise InputFault.of("no_rows", "the Delta table has no rows", where=path, fix="name another table")
    return spark.read.option("mergeSchema", "true").option("basePath", path).parquet(*files)


def _is_on_class_path(spark: SparkSession, name: str) -> bool:
    from py4j.protocol import Py4JJavaError

    try:
        spark._jvm.java.lang.Class.forName(
            name, False, spark._jvm.Thread.currentThread().getContextClassLoader()
        )
    except Py4JJavaError:
        return False
    return True


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
