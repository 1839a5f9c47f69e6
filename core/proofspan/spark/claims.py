"""The claims of a whole run, segment by segment, in Spark's Python workers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from proofspan.services.checking import LABELLED, answer_checker, checked_batch
from proofspan.services.question.claims import AnswerChecker
from proofspan.spark.labels import FILE, inputs_of, lines_of, manifest_at
from proofspan.spark.layout import index_of_run
from proofspan.spark.segments import record_file
from proofspan.store.files.checked import CLAIMS_FOLDER, part_name, write_part
from proofspan.store.files.run_file import Segment
from proofspan.store.files.segment_files import read_columns

#: A segment to check; `follows` is whether any answer of its run follows the template.
TO_CHECK = "run string, segment string, follows boolean"
CHECKED = pa.schema([("run", pa.string()), ("segment", pa.string()), ("rows", pa.int64())])


@lru_cache(maxsize=2)
def _checker(path: Path, cache: Path, follows: bool) -> AnswerChecker:
    return answer_checker(inputs_of(manifest_at(path), "", cache), follows=follows)


@dataclass(frozen=True, slots=True)
class CheckSegments:
    """Checks the answers of segments, and writes the file of each under its name, in one step."""

    manifest: Path
    cache: Path
    out: Path

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches of `CHECKED`."""
        for batch in batches:
            for row in batch.to_pylist():
                checker = _checker(self.manifest, self.cache, row["follows"])
                rows = check_segment(self.out, row["run"], row["segment"], checker)
                yield pa.record_batch([[row["run"]], [row["segment"]], pa.array([rows])], schema=CHECKED)


def check_segment(out: Path, run_id: str, name: str, checker: AnswerChecker) -> int:
    """Check the answers of a segment by its records and its rows, and return how many there are."""
    index = index_of_run(out, run_id)
    known = read_columns(index, [name], LABELLED)

    def batches() -> Iterator[pa.RecordBatch]:
        row = 0
        with pq.ParquetFile(index.parent / record_file(name)) as records:
            for batch in records.iter_batches(batch_size=128, columns=["record"]) if known.num_rows else ():
                of_index = known.slice(row, batch.num_rows)
                yield checked_batch(lines_of(batch), of_index, checker, file=FILE, run_id=run_id or None)
                row += batch.num_rows

    (index / CLAIMS_FOLDER).mkdir(exist_ok=True)
    segment = Segment(name, 0, 0, 1, 0, known.num_rows, 0)
    return write_part(index, part_name(segment), batches())
