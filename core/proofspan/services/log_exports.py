"""A run as log lines or as the table `rag_traces`: one record a question and segment, in file order."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import orjson
import pyarrow.parquet as pq

from proofspan.contracts.findings import Finding
from proofspan.contracts.records import LineIssue
from proofspan.errors import InputFault, Problem
from proofspan.manifest.types import Manifest, Run
from proofspan.store.rag_traces import Row, rag_traces, sql_dump, table_row
from proofspan.traces.identity import Repeats
from proofspan.traces.joined import needed_trace_file
from proofspan.traces.log_records import log_records, row_of
from proofspan.traces.logline import LogRecord, format_log_line
from proofspan.traces.traces import iter_traces

#: Rows that go through the view at once.
BATCH = 10_000
_PIECE = 1 << 20


@dataclass(slots=True)
class Told:
    """What an export has to say of what it wrote: rows, findings by code with the first of each, what is left
    out."""

    rows: int = 0
    findings: Counter[str] = field(default_factory=Counter)
    first: dict[str, Finding] = field(default_factory=dict)
    unread: int = 0
    declared: int = 0
    variants: int = 0

    def add(self, findings: Iterable[Finding]) -> None:
        """Counts the findings of one more row."""
        self.rows += 1
        for finding in findings:
            self.findings[finding.code] += 1
            self.first.setdefault(finding.code, finding)

    def problems(self) -> list[Problem]:
        """One a code, then what was left out."""
        found = [
            Problem(
                code,
                f"{first.message}: {self.findings[code]:,} of {self.rows:,} rows, first {first.record_id}",
                code,
                first.next_step,
            )
            for code, first in self.first.items()
        ]
        if self.unread:
            said = f"{self.unread:,} line{'s' * (self.unread != 1)} could not be read: left out"
            if self.unread == self.declared:
                found.append(Problem("lines_unreadable_declared", f"{said}, as declared", severity="note"))
            else:
                found.append(Problem("lines_unreadable", said, "", "proofspan check WORKSPACE"))
        if self.variants:
            said = f"{self.variants:,} paraphrases, seeds and repeats are left out"
            note = Problem("variants_left_out", said, "", "--all-variants writes them too", severity="note")
            found.append(note)
        return found


def records_of(
    manifest: Manifest, run: Run, told: Told, *, cache_dir: Path, all_variants: bool = False
) -> Iterator[LogRecord]:
    """The run's log records in the order of its traces. InputFault where it has no traces.

    A record names its question by `qid` alone: of several traces of a question only that of paraphrase 0 and
    seed 0 has its rows, unless all are asked for.
    """
    path, found = needed_trace_file(manifest, run, cache_dir=cache_dir)
    told.declared = sum(artifact.unreadable_lines or 0 for artifact in run.trace_artifacts)
    told.unread += len(found.issues)
    repeats = Repeats()
    for item in iter_traces(path, file=found.file, run_id=run.run_id, final=found.is_final):
        if isinstance(item, LineIssue):
            told.unread += 1
            continue
        key = repeats.key_of(item)
        if all_variants or (key.paraphrase, key.seed, key.repeat) == (0, 0, 1):
            yield from log_records(item, pinned=run.pinned)
        else:
            told.variants += 1


Records = Callable[[Told], Iterator[LogRecord]]


def log_pieces(records: Records, told: Told) -> Iterator[bytes]:
    """One log line a record."""
    for record in records(told):
        told.add(())
        yield format_log_line(record).encode() + b"\n"


def jsonl_pieces(records: Records, told: Told) -> Iterator[bytes]:
    """One row of the table a line, values as the trace has them."""
    for record in records(told):
        told.add(table_row(record)[1])
        yield orjson.dumps(row_of(record), option=orjson.OPT_APPEND_NEWLINE)


def sql_pieces(records: Records, told: Told) -> Iterator[bytes]:
    """DDL and rows. The records are read twice: a column that some row lacks is declared without NOT NULL."""
    passed = Told()
    lacking = {finding.field for record in records(passed) for finding in table_row(record)[1]}
    for piece in sql_dump(_rows(records, told), nullable=lacking):
        yield piece.encode()


def parquet_pieces(records: Records, told: Told) -> Iterator[bytes]:
    """The view's rows with its types, JSON as text."""
    rows = _rows(records, told)
    with tempfile.TemporaryFile() as file:
        writer = None
        while True:
            table = rag_traces(list(islice(rows, BATCH)))
            writer = writer or pq.ParquetWriter(file, table.schema, compression="zstd")
            if not table.num_rows:
                break
            writer.write_table(table)
        writer.close()
        file.seek(0)
        while piece := file.read(_PIECE):
            yield piece


def _rows(records: Records, told: Told) -> Iterator[Row]:
    for record in records(told):
        row, findings = table_row(record)
        told.add(findings)
        yield row


#: The suffix of a file → what is written into it as `rag_traces`.
WRITERS: Mapping[str, Callable[[Records, Told], Iterator[bytes]]] = {
    ".jsonl": jsonl_pieces,
    ".parquet": parquet_pieces,
    ".sql": sql_pieces,
}


def writer_for(kind: str, output: str) -> Callable[[Records, Told], Iterator[bytes]]:
    """What writes `log` or `rag_traces` to that output; stdout takes JSONL. InputFault for another suffix."""
    if kind == "log":
        return log_pieces
    suffix = ".jsonl" if output == "-" else Path(output).suffix.lower()
    if suffix not in WRITERS:
        raise InputFault.of(
            "unknown_suffix",
            f"nothing is known of how to write the table into a file {suffix or 'without a suffix'}",
            where=output,
            remedy=f"name a file that ends in one of {', '.join(WRITERS)}",
        )
    return WRITERS[suffix]
