"""Triage as files: every row of what is shown, as CSV, JSONL or Markdown, made in pieces as it is written."""

from __future__ import annotations

import csv
import io
import math
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pyarrow.parquet as pq

from proofspan.contracts.records.records import LineIssue
from proofspan.contracts.rules.catalogue import in_order
from proofspan.contracts.rules.finding import Finding
from proofspan.diagnosis.types import ReportRow, Signals, markdown_row, table_head
from proofspan.errors import InputFault, Problem
from proofspan.manifest.types import Manifest, Run
from proofspan.metrics.ranked import CUTS
from proofspan.store.query.rag_traces import Row, rag_traces, sql_dump, table_row
from proofspan.traces.records.identity import Repeats
from proofspan.traces.records.traces import iter_traces
from proofspan.traces.separate.join_cache import needed_trace_file
from proofspan.traces.separate.log_lines import LogRecord, format_log_line, log_records, row_of

#: The columns of CSV and JSONL, in the order of a CSV's header.
COLUMNS: tuple[str, ...] = (
    "run_id",
    "q_id",
    "paraphrase",
    "seed",
    "repeat",
    "label",
    "why",
    "q",
    "answer",
    "rank1_section",
    "rank1_doc",
    "docs",
    "cited",
    "cited_retrieved",
    "cited_resolved",
    "query_coverage",
    "answer_coverage",
    "numbers_unsupported",
    "suspicions",
    "codes",
    "evidence",
    "agreement",
    "gold_state",
    "gold_seen_rank",
    "gold_retrieved_rank",
    "gold_retrieved_stage",
    "q_type",
    "answerable",
    "refused",
    "unranked",
    "bucket",
    "section_rank",
    "top_rank",
    "section_coverage",
    *(f"recall_{k}" for k in CUTS),
    "ndcg_10",
    "reciprocal_rank",
    "citation_precision",
    "citation_recall",
    "anchor_coverage",
    "safety_omitted",
    "about",
    "stored_label",
    "ok",
    "delta_s",
    "lambda_state",
    "latency_ms",
    "file",
    "line",
)

_WHOLE_NUMBERS = frozenset(
    {"paraphrase", "seed", "repeat", "cited", "cited_retrieved", "cited_resolved", "line"}
    | {"gold_seen_rank", "gold_retrieved_rank", "section_rank", "top_rank"}
)

#: Stands for the label where a run has none, in the table of a Markdown file.
NO_LABEL: Any = "no label"

#: So many codes stand in a cell of a Markdown table.
MOST_CODES = 4

#: What makes a spreadsheet take a cell for a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")

Frames = Iterable[pd.DataFrame]


@dataclass(frozen=True, slots=True)
class Export:
    """A kind of file: its name for people, suffix, media type, and the writer of its pieces."""

    title: str
    suffix: str
    mime: str
    pieces: Callable[[Frames], Iterator[str]]


def csv_pieces(frames: Frames) -> Iterator[str]:
    """CSV with a header; lists are joined by "; ", text that a spreadsheet would run gets a `'` first."""
    yield csv_lines([COLUMNS])
    for frame in frames:
        yield csv_lines([cell(record[name]) for name in COLUMNS] for record in records(frame))


def jsonl_pieces(frames: Frames) -> Iterator[str]:
    """One object a line with sorted keys; what is not known is null."""
    for frame in frames:
        yield "".join(
            orjson.dumps(record, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE).decode()
            for record in records(frame)
        )


def markdown_pieces(frames: Frames) -> Iterator[str]:
    """The recipe's table of question, label and why, ready to be pasted into an issue.

    With a bucket and the gold section's rank where any row of the first piece has its ranking judged, and
    with the codes of the contract where any of them breaks a rule.
    """
    pieces = iter(frames)
    first = next(pieces, None)
    if first is None:
        yield table_head()
        return
    more = [
        *(_RANKED if not first["bucket"].isna().all() else ()),
        *([_BREAKS] if any(map(plain, first["codes"])) else ()),
    ]
    head, line = table_head().splitlines()
    yield f"{head}{''.join(f' {column.title} |' for column in more)}\n"
    yield f"{line}{''.join(f'{column.line}|' for column in more)}\n"
    for frame in chain([first], pieces):
        for record in records(frame):
            cells = "".join(f" {column.told(record)} |" for column in more)
            yield f"{markdown_row(_report_row(record)).rstrip()}{cells}\n"


def _rank(record: Mapping[str, Any]) -> str:
    rank = record["section_rank"]
    return "" if record["bucket"] is None else "none" if rank is None else f"{rank:,}"


def _codes(record: Mapping[str, Any]) -> str:
    codes = in_order(record["codes"] or ())
    left_out = f" +{len(codes) - MOST_CODES}" if len(codes) > MOST_CODES else ""
    return ", ".join(codes[:MOST_CODES]).replace("|", "\\|") + left_out


@dataclass(frozen=True, slots=True)
class _Column:
    """A column that the recipe's table has not: its title, the line below it, and what it tells of a row."""

    title: str
    line: str
    told: Callable[[Mapping[str, Any]], str]


_RANKED = (
    _Column("bucket", "---", lambda record: record["bucket"] or ""),
    _Column("gold section at", "---:", _rank),
)
_BREAKS = _Column("breaks", "---", _codes)


#: Kind → how it is written, in the order in which kinds are offered.
EXPORTS: Mapping[str, Export] = {
    "csv": Export("CSV", "csv", "text/csv", csv_pieces),
    "jsonl": Export("JSON lines", "jsonl", "application/x-ndjson", jsonl_pieces),
    "markdown": Export("Markdown table", "md", "text/markdown", markdown_pieces),
}


def records(frame: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """The rows of a frame as plain Python values: lists for arrays, None for what is missing."""
    for values in zip(*(_column(frame[name], name) for name in COLUMNS), strict=True):
        yield dict(zip(COLUMNS, values, strict=True))


def _column(values: pd.Series[Any], name: str) -> list[Any]:
    known = [plain(value) for value in values.tolist()]
    if name in _WHOLE_NUMBERS:  # pandas turns whole numbers into floats where one is missing
        return [None if value is None else int(value) for value in known]
    return known


def _report_row(record: Mapping[str, Any]) -> ReportRow:
    return ReportRow(
        q=record["q"],
        label=record["label"] or NO_LABEL,
        why=record["why"] or "",
        chunks=(),
        citations_in_answer=(),
        signals=Signals(),
    )


def plain(value: Any) -> Any:
    """A value of a frame as a plain Python one: a list for an array, None for what is missing."""
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(item) for item in value]
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return None if math.isnan(value) else value
    return value


def cell(value: Any) -> Any:
    """A plain value in a CSV: lists joined by "; ", and a `'` before what a spreadsheet would run."""
    if value is None:
        return ""
    if isinstance(value, list):
        value = "; ".join(str(item) for item in value)
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return value


def csv_lines(rows: Iterable[Iterable[Any]]) -> str:
    """Rows as lines of a CSV."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\r\n").writerows(rows)  # RFC 4180; so lone \r and \n are quoted
    return buffer.getvalue()


# A run as log lines or as the table `rag_traces`: one record a question and segment, in file order.

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


def record_jsonl_pieces(records: Records, told: Told) -> Iterator[bytes]:
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
    ".jsonl": record_jsonl_pieces,
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
            fix=f"name a file that ends in one of {', '.join(WRITERS)}",
        )
    return WRITERS[suffix]
