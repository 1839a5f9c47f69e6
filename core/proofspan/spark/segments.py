"""Labelled records become the files of an index, and those of the records, in Spark's Python workers.

A task writes each file under a name made from its contents, in one step. So a task that is repeated, or run
twice at once, writes the same files; and what no list names does not exist for readers.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from proofspan.contracts.records.records import LineIssue, SourceLine
from proofspan.spark.labels import FILE, UNREADABLE, LabelRecords
from proofspan.spark.layout import index_of_run
from proofspan.spark.schemas import WRITTEN
from proofspan.spark.sources import PLACE
from proofspan.store.files.columns import ROW_SCHEMA, issue_table, row_table
from proofspan.store.files.run_file import issues_name, new_file, scores_name
from proofspan.store.files.scores import SCORE_SCHEMA, write_scores
from proofspan.store.files.segment_files import write_segment, write_table
from proofspan.traces.lines.record_list import offset_of, write_records
from proofspan.traces.lines.worker_process import collector_paused

#: The most rows of a segment, and their bytes with those of their records; but for those of one more batch.
SEGMENT_ROWS, SEGMENT_BYTES = 10_000, 32 << 20
#: The rows of which a zone map says the values.
ZONE_ROWS = 4_096


@dataclass(frozen=True, slots=True)
class WriteSegments:
    """Labels records and writes them as segments, each of one run and label and of bounded size."""

    out: Path
    label: LabelRecords

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches of `WRITTEN`."""
        with collector_paused():
            yield from self.written(self.label(batches))

    def written(self, labelled: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Write batches of `LABELLED`, each of one run and folder, and yield batches of `WRITTEN`.

        The largest segment so far is written when all together are as large as one may be.
        """
        waiting: dict[tuple[str, str], list[pa.RecordBatch]] = {}
        sizes: Counter[tuple[str, str]] = Counter()
        rows = 0
        for batch in labelled:
            group = batch.column("run")[0].as_py(), batch.column("folder")[0].as_py()
            waiting.setdefault(group, []).append(batch)
            sizes[group] += batch.nbytes
            rows += batch.num_rows
            if sizes.total() >= SEGMENT_BYTES or rows >= SEGMENT_ROWS:
                ((group, _),) = sizes.most_common(1)
                del sizes[group]
                rows -= sum(each.num_rows for each in waiting[group])
                yield from self._written(waiting.pop(group), *group)
        for group, rest in waiting.items():
            yield from self._written(rest, *group)

    def _written(self, batches: list[pa.RecordBatch], run_id: str, folder: str) -> Iterator[pa.RecordBatch]:
        order = [(name, "ascending") for name in ("q_id", "paraphrase", "seed", *PLACE)]
        table = pa.Table.from_batches(batches).combine_chunks().sort_by(order)
        batches.clear()
        index, count = index_of_run(self.out, run_id), table.num_rows
        name = f"label={folder}/{_digest(table)}.parquet"
        records = record_file(name)
        places = [offset_of(records, row) for row in range(count)]
        lengths = pc.binary_length(table.column("record")).cast(pa.int64())
        for path in (index / f"label={folder}", (index.parent / records).parent):
            path.mkdir(parents=True, exist_ok=True)
        with new_file((index.parent / records).parent, Path(records).name) as part:
            write_records(part, table.column("record").combine_chunks())
        facts: Counter[str] = Counter()
        for text in table.column("facts").drop_null().to_pylist():
            facts.update(orjson.loads(text))
        is_rows = folder != UNREADABLE
        rows, issues = row_table(()), []
        if is_rows:
            rows = table.select(ROW_SCHEMA.names).cast(ROW_SCHEMA)
            for column, values in (
                ("line", pa.array(np.arange(1, count + 1))),
                ("offset", pa.array(places, pa.int64())),
                ("length", lengths),
            ):
                rows = rows.set_column(ROW_SCHEMA.get_field_index(column), ROW_SCHEMA.field(column), values)
        else:
            issues = _issues(table, places, lengths.to_pylist())
            write_table(index, issues_name(name), issue_table(issues))
        write_segment(index, name, rows, zones=ZONE_ROWS)
        scored = _write_scores(index, name, table)
        yield _batch(
            {
                "run": [run_id],
                "segment": [name],
                "row": [-1],
                "rows": [rows.num_rows],
                "issues": [len(issues)],
                "scored": [scored],
                "facts": [orjson.dumps(facts).decode()],
            }
        )
        if is_rows:
            yield _marks(table, run_id, name)


def record_file(segment: str) -> str:
    """Return the file of a segment's records, relative to the folder of its run."""
    return f"records/{segment.removeprefix('label=').replace('/', '-')}"


def _digest(table: pa.Table) -> str:
    digest = hashlib.sha256()
    for name in (*PLACE, "record"):
        for buffer in table.column(name).combine_chunks().buffers():
            if buffer is not None:
                digest.update(buffer)
    return digest.hexdigest()[:16]


def _issues(table: pa.Table, offsets: list[int], lengths: list[int]) -> list[LineIssue]:
    named = (table.column(f"issue_{name}").to_pylist() for name in ("code", "reason", "remedy", "excerpt"))
    return [
        LineIssue.at(SourceLine(FILE, row + 1, offsets[row], lengths[row]), code, reason, remedy, excerpt)
        for row, (code, reason, remedy, excerpt) in enumerate(zip(*named, strict=True))
    ]


def _write_scores(index: Path, name: str, table: pa.Table) -> int:
    found = [
        (row, *score)
        for row, text in enumerate(table.column("scores").to_pylist())
        if text is not None
        for score in orjson.loads(text)
    ]
    if found:
        columns = zip(*found, strict=True)
        arrays = [pa.array(each, field.type) for each, field in zip(columns, SCORE_SCHEMA, strict=True)]
        write_scores(index, scores_name(name), pa.table(arrays, schema=SCORE_SCHEMA))
    return len(found)


def _marks(table: pa.Table, run_id: str, name: str) -> pa.RecordBatch:
    """Return what the rules over a run compare."""
    count = table.num_rows
    mixed = ["mixed_offset_units" in (codes or ()) for codes in table.column("codes").to_pylist()]
    prints = [
        hashlib.blake2b(q.encode("utf-8", "replace"), digest_size=16).digest()
        for q in table.column("q").to_pylist()
    ]
    of_rows = (*PLACE, "q_id", "paraphrase", "seed", "memory", "offset_unit", "answer_print")
    columns = {each: table.column(each).combine_chunks() for each in of_rows}
    columns |= {"run": pa.repeat(run_id, count), "segment": pa.repeat(name, count), "row": np.arange(count)}
    return _batch(columns | {"q_print": prints, "has_mixed": mixed})


def _batch(columns: dict[str, object]) -> pa.RecordBatch:
    count = len(next(iter(columns.values())))  # type: ignore[arg-type]
    arrays = [
        pa.array(columns[field.name], field.type) if field.name in columns else pa.nulls(count, field.type)
        for field in WRITTEN
    ]
    return pa.record_batch(arrays, schema=WRITTEN)
