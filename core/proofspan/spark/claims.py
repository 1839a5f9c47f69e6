"""The claims of a whole run, segment by segment, in Spark's Python workers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from proofspan.contracts.chunk_ids.redirects import Redirect
from proofspan.contracts.records.records import GoldQuestion, Trace
from proofspan.services.passes.checking import LABELLED, answer_checker, checked_batch
from proofspan.services.question.claims import AnswerChecker
from proofspan.spark.joined import (
    Page,
    gold_places,
    labeller_by,
    mentioned,
    redirects_at,
    with_successors,
)
from proofspan.spark.labels import FILE, LabelRecords, inputs_of, lines_of, manifest_at
from proofspan.spark.layout import index_of_run
from proofspan.spark.schemas import spark_schema
from proofspan.spark.segments import record_file
from proofspan.store.files.checked import CLAIMS_FOLDER, part_name, write_part
from proofspan.store.files.run_file import Segment
from proofspan.store.files.segment_files import read_columns
from proofspan.store.index.kernel import trace_lines
from proofspan.store.index.labelling import read_side_file
from proofspan.traces.lines.worker_process import collector_paused
from proofspan.traces.records.citations import citations
from proofspan.traces.records.gold import read_gold
from proofspan.traces.records.trace_record import place_by_id
from proofspan.traces.records.traces import trace_of_line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: A segment to check; `follows` is whether any answer of its run follows the template.
TO_CHECK = "run string, segment string, follows boolean"
CHECKED = pa.schema([("run", pa.string()), ("segment", pa.string()), ("rows", pa.int64())])
#: A chunk that a segment is checked against, or all those of a page.
_NEEDED = pa.schema(
    [
        ("run", pa.string()),
        ("segment", pa.string()),
        ("chunk_id", pa.string()),
        ("doc_id", pa.string()),
        ("page_idx", pa.int64()),
    ]
)
#: Records read together.
_TOGETHER = 128


@lru_cache(maxsize=2)
def _checker(path: Path, cache: Path, follows: bool) -> AnswerChecker:
    return answer_checker(inputs_of(manifest_at(path), "", cache), follows=follows)


def check_segments(todo: DataFrame, chunks: DataFrame | None, check: CheckSegments) -> DataFrame:
    """Check the answers of segments (`TO_CHECK`), and return rows of `CHECKED`.

    `chunks` are those of `proofspan.spark.joined`, of which each segment gets those that it needs; None where
    each worker reads the chunk file.
    """
    from pyspark.sql import functions as F  # noqa: N812 - its usual name

    if chunks is None:
        return todo.mapInArrow(check, spark_schema(CHECKED))
    needed = todo.mapInArrow(NeededChunks(check), spark_schema(_NEEDED))
    pages = needed.filter("page_idx IS NOT NULL").select("run", "segment", "doc_id", "page_idx").distinct()
    on_pages = chunks.select("chunk_id", F.col("doc_id").alias("of"), F.col("page_idx").alias("at"))
    is_there = pages["doc_id"].eqNullSafe(on_pages["of"]) & (pages["page_idx"] == on_pages["at"])
    keys = ("run", "segment", "chunk_id")
    ids = needed.filter("chunk_id IS NOT NULL").select(*keys)
    ids = ids.unionByName(pages.join(on_pages, is_there).select(*keys)).distinct()
    texts = ids.join(chunks.select("chunk_id", "line"), "chunk_id").select("run", "segment", "line")

    def checked(segment: pa.Table, lines: pa.Table) -> pa.Table:  # Spark counts a function's arguments
        return check.by_lines(segment, lines)

    by_segment = todo.groupBy("run", "segment").cogroup(texts.groupBy("run", "segment"))
    return by_segment.applyInArrow(checked, spark_schema(CHECKED))


@dataclass(frozen=True, slots=True)
class CheckSegments:
    """Checks the answers of segments, and writes the file of each under its name, in one step."""

    label: LabelRecords
    out: Path

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches of `CHECKED`."""
        for batch in batches:
            for row in batch.to_pylist():
                checker = _checker(self.label.manifest, self.label.cache, row["follows"])
                yield self._checked(row["run"], row["segment"], checker)

    def by_lines(self, segments: pa.Table, lines: pa.Table) -> pa.Table:
        """Return rows of `CHECKED` for a segment and the lines of the chunks that it needs."""
        labeller, inputs = (
            labeller_by(self.label, lines),
            inputs_of(manifest_at(self.label.manifest), "", self.label.cache),
        )
        rows = segments.to_pylist()
        checkers = (answer_checker(inputs, follows=row["follows"], labeller=labeller) for row in rows)
        done = (
            self._checked(row["run"], row["segment"], each) for row, each in zip(rows, checkers, strict=True)
        )
        return pa.Table.from_batches(done, CHECKED)

    def _checked(self, run_id: str, segment: str, checker: AnswerChecker) -> pa.RecordBatch:
        with collector_paused():
            rows = check_segment(self.out, run_id, segment, checker)
        return pa.record_batch([[run_id], [segment], pa.array([rows])], schema=CHECKED)


def check_segment(out: Path, run_id: str, name: str, checker: AnswerChecker) -> int:
    """Check the answers of a segment by its records and its rows, and return how many there are."""
    index = index_of_run(out, run_id)
    known = read_columns(index, [name], LABELLED)

    def batches() -> Iterator[pa.RecordBatch]:
        row = 0
        for lines in _records(out, run_id, name) if known.num_rows else ():
            of_index = known.slice(row, lines.num_rows)
            yield checked_batch(lines, of_index, checker, file=FILE, run_id=run_id or None)
            row += lines.num_rows

    (index / CLAIMS_FOLDER).mkdir(exist_ok=True)
    segment = Segment(name, 0, 0, 1, 0, known.num_rows, 0)
    return write_part(index, part_name(segment), batches())


def _records(out: Path, run_id: str, segment: str) -> Iterator[pa.RecordBatch]:
    """Yield the records of a segment as lines."""
    with pq.ParquetFile(index_of_run(out, run_id).parent / record_file(segment)) as records:
        yield from map(lines_of, records.iter_batches(batch_size=_TOGETHER, columns=["record"]))


@dataclass(frozen=True, slots=True)
class NeededChunks:
    """Finds the chunks that the answers of segments are checked against.

    Those that a record may name by their ids, those of cited pages, and those of gold's pages and beside
    these.
    """

    check: CheckSegments

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches of `_NEEDED`."""
        path, cache = self.check.label.manifest, self.check.label.cache
        redirects = redirects_at(path, cache)
        gold = read_side_file(inputs_of(manifest_at(path), "", cache).gold, read_gold)[0]
        places = gold_places(cache)
        for batch in batches:
            for row in batch.to_pylist():
                found: set[tuple[str | None, str | None, int | None]] = set()
                for raw in chain.from_iterable(
                    map(trace_lines, _records(self.check.out, row["run"], row["segment"]))
                ):
                    trace = trace_of_line(raw, file=FILE, run_id=row["run"] or None)
                    if not isinstance(trace, Trace):
                        continue
                    pages = [(each.doc_id, each.page_idx) for each in citations(trace)]
                    if (question := gold.get(trace.q_id)) is not None:
                        pages += _pages_of(question, places, redirects)
                    ids = with_successors(mentioned(trace), redirects)
                    found.update((each, None, None) for each in ids)
                    found.update((None, *page) for page in pages if page[1] is not None)
                columns = tuple(zip(*found, strict=True)) or ((), (), ())
                keys = ([row[name]] * len(found) for name in ("run", "segment"))
                arrays = [
                    pa.array(column, field.type)
                    for column, field in zip((*keys, *columns), _NEEDED, strict=True)
                ]
                yield pa.record_batch(arrays, schema=_NEEDED)


def _pages_of(
    gold: GoldQuestion, places: Mapping[str, Page], redirects: Mapping[str, Redirect]
) -> list[Page]:
    """Return the pages of a gold question's passages, and those beside them."""
    ids = with_successors(gold.chunks, redirects)
    pages = [places[each] if each in places else place_by_id(each)[::2] for each in ids]
    pages += [(span.doc_id, span.page_idx) for span in gold.spans]
    return [(doc_id, page + step) for doc_id, page in pages if page is not None for step in (-1, 0, 1)]
