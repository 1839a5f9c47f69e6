"""The Spark session, and its errors as problems with a fix."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from proofspan.errors import InputFault, StoreFault
from proofspan.write_errors import FULL

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The most records that a worker is sent together.
RECORDS_A_BATCH = 2_048
_INSTALL = "pip install 'proofspan[spark]'"
_JAVA = "install Java 17 or later, such as Debian's default-jre-headless, or set JAVA_HOME"
#: Parts of Spark's messages, each with a code, what happened, and the fix.
_KNOWN = (
    (
        ("No space left on device", "Disk quota exceeded"),
        "disk_full",
        "a disk of a worker or of the output is full",
        "free some space there, or name other folders with spark.local.dir and --out, and run it again",
    ),
    (
        ("PATH_NOT_FOUND", "Path does not exist", "FileNotFoundException"),
        "missing_file",
        "a path does not exist",
        "check the path as the workers see it",
    ),
    (
        ("FAILED_READ_FILE", "CANNOT_READ_FILE_FOOTER", "not a Parquet file", "is not a Parquet file"),
        "unreadable_file",
        "a file cannot be read",
        "write the file again, or take it out of the folder",
    ),
    (
        ("CANNOT_MERGE_SCHEMA", "Failed to merge", "CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE"),
        "mixed_schemas",
        "files of one table give a column different types",
        "write the table with one schema, or index its parts one by one",
    ),
    (
        ("Timeout", "timed out", "timeout", "UnknownHost", "Connection refused", "NoRouteToHost"),
        "storage_silent",
        "the storage of a path does not answer",
        "check the address and the network, set the connector's timeouts (docs/scale.md), and run it again",
    ),
    (
        (
            "No FileSystem for scheme",
            "UnsupportedFileSystemException",
            "ClassNotFoundException",
            "DATA_SOURCE_NOT_FOUND",
        ),
        "no_connector",
        "Spark lacks the connector for a path or format",
        "start Spark with its package, such as --packages org.apache.hadoop:hadoop-aws:…",
    ),
    (
        ("OutOfMemoryError", "MemoryError"),
        "out_of_memory",
        "a worker ran out of memory",
        "give workers more memory, or lower --broadcast-limit",
    ),
)


def session(given: SparkSession | None, *, master: str | None = None) -> SparkSession:
    """Return the given session, the active one, or a new one. InputFault without PySpark or Java."""
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise InputFault.of("no_pyspark", "PySpark is not installed", fix=_INSTALL) from error
    active = given or SparkSession.getActiveSession()
    if active is not None:
        return active
    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        raise InputFault.of("no_java", "Spark needs Java, which is not on this machine", fix=_JAVA)
    if master is None or master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else workers are the system's python3
    builder = SparkSession.builder.appName("proofspan").config("spark.ui.showConsoleProgress", "false")
    try:
        return builder.master(master or "local[*]").getOrCreate()
    except Exception as error:
        if "JAVA" in str(error).upper():
            raise InputFault.of("no_java", "Spark could not start Java", fix=_JAVA) from error
        raise


@contextmanager
def small_batches(spark: SparkSession) -> Iterator[None]:
    """Give workers few records at a time meanwhile: by default ten thousand are in memory at once."""
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = spark.conf.get(name)
    spark.conf.set(name, str(RECORDS_A_BATCH))
    try:
        yield
    finally:
        spark.conf.set(name, before or "10000")


@contextmanager
def problems(where: str) -> Iterator[None]:
    """Turn errors of Spark and of the file system into a fault that names the place and a fix."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            fix = "free some space there, or name another folder with --out, and run it again"
            raise StoreFault.of(
                "disk_full", "the disk of the output is full", where=where, fix=fix
            ) from error
        message = f"cannot be read or written: {error.strerror or error}"
        fix = "check that the folder exists and may be written on every worker"
        raise StoreFault.of("not_writable", message, where=str(error.filename or where), fix=fix) from error
    except (PySparkException, Py4JError) as error:
        text = str(error)
        for words, code, message, fix in _KNOWN:
            if (word := next((word for word in words if word in text), None)) is not None:
                line = next((line for line in text.splitlines() if word in line), "").strip()[:300]
                raise StoreFault.of(code, f"{message}: {line}", where=where, fix=fix) from error
        first = next((line for line in reversed(text.splitlines()) if "Error" in line), text[:300])
        message = f"Spark could not finish: {first.strip()[:300]}"
        fix = "see Spark's log; nothing that was written so far can be opened, so run it again"
        raise StoreFault.of("spark_failed", message, where=where, fix=fix) from error
