"""The chunk file of the output, from a table of chunks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from proofspan.errors import InputFault
from proofspan.spark.schemas import spark_schema
from proofspan.spark.sources import PLACE
from proofspan.store.files.run_file import new_file

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: The chunk file, in the folder of the corpus.
CHUNKS = "chunks.jsonl"
_SIZES = pa.schema(
    [("bytes", pa.int64()), ("chunks", pa.int64()), ("nameless", pa.int64()), ("place", pa.string())]
)
_ID = r'"(chunk_id|id|snippet_id|chunkId|node_id)"\s*:\s*("[^"]|\d)'


def write_chunks(chunks: DataFrame, folder: Path, *, name: str) -> int:
    """Write the chunk file, return its bytes. InputFault where a chunk has no id, or the table is empty."""
    from pyspark.sql import functions as F  # noqa: N812 - its usual name

    has_id = F.col("record").cast("string").rlike(_ID)
    nameless = F.when(~F.coalesce(has_id, F.lit(False)), F.col(PLACE[0]))
    sizes = chunks.agg(
        F.coalesce(F.sum(F.length("record") + 1), F.lit(0)).alias("bytes"),
        F.count(nameless).alias("nameless"),
        F.min(nameless).alias("where"),
    ).first()
    if sizes is not None and sizes["nameless"]:
        raise InputFault.of(
            "chunk_without_id",
            f"{sizes['nameless']:,} chunks have no id",
            where=sizes["where"] or name,
            fix="give every chunk its chunk_id, or leave out the rows without",
        )
    ordered = chunks.coalesce(1).sortWithinPartitions(*PLACE).select("record")
    written = ordered.mapInArrow(WriteLines(folder, CHUNKS), spark_schema(_WRITTEN)).collect()
    if sum(row["lines"] for row in written) == 0:  # an empty table is no chunk file
        raise InputFault.of("no_chunks", "the table of chunks is empty", where=name, fix="name another one")
    return 0 if sizes is None else int(sizes["bytes"])


_WRITTEN = pa.schema([("lines", pa.int64())])


@dataclass(frozen=True, slots=True)
class WriteLines:
    """Writes all records of a partition as a file of lines, which appears whole."""

    folder: Path
    name: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield how many lines there are."""
        count = 0
        with new_file(self.folder, self.name) as part, part.open("wb") as file:
            for batch in batches:
                for record in batch.column(0).to_pylist():
                    file.write((record or b"null").rstrip(b"\r\n") + b"\n")
                count += batch.num_rows
        yield pa.record_batch([pa.array([count], pa.int64())], schema=_WRITTEN)
