"""One small Spark for all tests here: two threads, two shuffle partitions."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The session; skipped without PySpark or Java."""
    pytest.importorskip("pyspark", reason="PySpark is not installed: pip install -r requirements-spark.lock")
    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        pytest.skip("Java is not installed: Debian has it as default-jre-headless")
    from pyspark.sql import SparkSession

    core = str(Path(__file__).parents[2] / "core")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (core, os.environ.get("PYTHONPATH")))))
        folder = tmp_path_factory.mktemp("spark")
        settings = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.local.dir": str(folder / "local"),
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            # A few rows are not worth compiling for.
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.sql.adaptive.enabled": "false",
            "spark.driver.memory": "1g",
        }
        # The second number lets a task that fails be tried again, as on a cluster.
        builder = SparkSession.builder.master("local[2,4]").appName("tests")
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()
