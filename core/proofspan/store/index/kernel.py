"""The kernel of the index: lines of traces as Arrow in, rows of the index as Arrow out.

It reads no file and knows no process: `proofspan.store.index.scan` calls it on the ranges of a file, and any
other engine may call it on batches of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa

from proofspan.contracts.records.records import LineIssue, Trace
from proofspan.contracts.rules.context import Context
from proofspan.diagnosis.suggest import add_facts
from proofspan.store.files.columns import Row, row_table
from proofspan.store.files.scores import SCORE_SCHEMA, ScoreRows
from proofspan.store.index.labelling import Labeller
from proofspan.traces.lines.reader import MAX_LINE, RawLine, open_source, raw_line
from proofspan.traces.records.scores import scores_of
from proofspan.traces.records.traces import trace_of_line

#: Lines of a trace file, blank ones included. `record` may end with its line end. `line` counts from 1,
#: `offset` is in bytes; `length`, in bytes without the line end, is null where `record` is the whole line and
#: else that of a line of which `record` is only the beginning.
LINE_SCHEMA = pa.schema(
    [("record", pa.binary()), ("line", pa.int64()), ("offset", pa.int64()), ("length", pa.int64())]
)
#: About how many bytes of a file become one batch of lines.
BLOCK = 4 << 20
#: How many traces are labelled together.
BATCH = 32
_NEWLINE = ord("\n")


def line_batches(
    path: Path, *, offset: int = 0, line: int = 1, end: int | None = None, final: bool = False
) -> Iterator[pa.RecordBatch]:
    """Yield the lines of a file as batches of `LINE_SCHEMA`, which share the memory that was read.

    The arguments are those of `proofspan.traces.lines.reader.read_lines`, and so are the lines, but that
    `trace_lines` leaves out the blank ones. Raises InputFault if the file cannot be opened.
    """
    limit = (1 << 62) if end is None else end
    with open_source(path) as file:
        file.seek(offset)
        while offset < limit:
            block = _whole_lines(file, limit - offset)
            size, length = len(block), None
            last = block.rfind(b"\n") + 1
            if size - last >= MAX_LINE + 2:  # too long: its beginning is enough to report it
                skipped, tail = _skip_line(file, limit - offset - size, block[-2:])
                if not final and not tail.endswith(b"\n"):
                    size, block = last, block[:last]
                elif skipped:
                    size += skipped
                    length = size - last - len(tail) + len(tail.rstrip(b"\r\n"))
                    block = block[: last + MAX_LINE + 1]
            elif last < size and not final:  # still being written
                size, block = last, block[:last]
            if not block:
                return
            batch = _batch(block, line=line, offset=offset, last=length)
            yield batch
            offset, line = offset + size, line + batch.num_rows


def _whole_lines(file: BinaryIO, room: int) -> bytes:
    """Read a block and to the end of its last line, of which at most `MAX_LINE` and two bytes are read."""
    block = file.read(min(BLOCK, room))
    if block.endswith(b"\n"):
        return block
    read = len(block) - block.rfind(b"\n") - 1
    return block + file.readline(max(0, min(MAX_LINE + 2 - read, room - len(block))))


def _skip_line(file: BinaryIO, room: int, tail: bytes) -> tuple[int, bytes]:
    """Skip the rest of a line that ends with `tail` so far; return its bytes, and its last two."""
    skipped = 0
    while not tail.endswith(b"\n") and (more := file.readline(min(BLOCK, room - skipped))):
        skipped += len(more)
        tail = (tail + more)[-2:]
    return skipped, tail


def _batch(block: bytes, *, line: int, offset: int, last: int | None) -> pa.RecordBatch:
    """Return a block of whole lines as a batch; `last` is the length of its last line if that is cut."""
    ends = np.flatnonzero(np.frombuffer(block, np.uint8) == _NEWLINE) + 1
    if not len(ends) or ends[-1] < len(block):
        ends = np.append(ends, len(block))
    count = len(ends)
    edges = np.concatenate([[0], ends])
    records = pa.Array.from_buffers(
        pa.binary(), count, [None, pa.py_buffer(edges.astype(np.int32)), pa.py_buffer(block)]
    )
    lengths = pa.nulls(count, pa.int64())
    if last is not None:
        lengths = pa.concat_arrays([lengths[:-1], pa.array([last], pa.int64())])
    columns = [records, pa.array(np.arange(line, line + count)), pa.array(offset + edges[:-1]), lengths]
    return pa.record_batch(columns, schema=LINE_SCHEMA)


def trace_lines(lines: pa.RecordBatch) -> Iterator[RawLine]:
    """Yield the lines of a batch of `LINE_SCHEMA` that are not blank, as `read_lines` does."""
    columns = (lines.column(name).to_pylist() for name in LINE_SCHEMA.names)
    for data, line, offset, length in zip(*columns, strict=True):
        raw = raw_line(data, line=line, offset=offset, length=length)
        if raw is not None:
            yield raw


class Indexed(NamedTuple):
    """The rows of `ROW_SCHEMA` of some lines, the lines that are no trace, and scores of `SCORE_SCHEMA`."""

    rows: pa.Table
    issues: list[LineIssue]
    scores: pa.Table | None


@dataclass(frozen=True, slots=True)
class Kernel:
    """Makes rows of the index from lines of traces. Belongs to one thread.

    `file` is the name of the lines' file in issues, `run_id` the manifest's; `context` is that of
    `Labeller.context`.
    """

    file: str
    run_id: str | None
    labeller: Labeller
    context: Context

    def __call__(self, lines: pa.RecordBatch, facts: MutableMapping[str, int]) -> Indexed:
        """Return the rows of a batch of `LINE_SCHEMA`, in its order, and count its traces into `facts`.

        `facts` are those of `proofspan.diagnosis.suggest`, of the lines before in the same range. Nothing is
        counted any more once an answer follows the template, since one is enough.
        """
        issues: list[LineIssue] = []
        scores = ScoreRows()
        table = row_table(self._rows(self._traces(lines, issues), facts, scores))
        return Indexed(table, issues, scores.table())

    def _traces(self, lines: pa.RecordBatch, issues: list[LineIssue]) -> Iterator[Trace]:
        for raw in trace_lines(lines):
            item = trace_of_line(raw, file=self.file, run_id=self.run_id)
            if isinstance(item, LineIssue):
                issues.append(item)
            else:
                yield item

    def _rows(
        self, traces: Iterator[Trace], facts: MutableMapping[str, int], scores: ScoreRows
    ) -> Iterator[Row]:
        place = 0
        while batch := list(islice(traces, BATCH)):
            for trace, (row, verdict) in zip(batch, self.labeller.rows(batch, self.context), strict=True):
                yield row
                if "scores" in trace.raw:
                    scores.add(place, scores_of(trace.raw))
                place += 1
                if verdict is not None and "following" not in facts:
                    add_facts(facts, trace, verdict, self.labeller.profile)


def joined(pieces: Sequence[Indexed]) -> Indexed:
    """Return several results as one, in order."""
    rows = pa.concat_tables([piece.rows for piece in pieces]) if pieces else row_table(())
    issues = [issue for piece in pieces for issue in piece.issues]
    tables, first = [], 0
    for piece in pieces:
        if piece.scores is not None:
            at = piece.scores.column("row").to_numpy() + first
            tables.append(piece.scores.set_column(0, SCORE_SCHEMA.field("row"), pa.array(at)))
        first += piece.rows.num_rows
    scores = pa.concat_tables(tables).unify_dictionaries().combine_chunks() if tables else None
    return Indexed(rows, issues, scores)
