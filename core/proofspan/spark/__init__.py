"""The index of traces that one machine cannot read, made by Apache Spark: `proofspan[spark]`.

    from proofspan import spark
    spark.index("s3://lake/traces", chunks="s3://lake/chunks", out="/shared/index")

`index` makes a workspace that the dashboard and every command open like any other. Only for making it are
Spark and Java needed.
"""

from __future__ import annotations

from proofspan.spark.job import SparkReport, index

__all__ = ["SparkReport", "index"]
