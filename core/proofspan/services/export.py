"""Export a run: the rows of Triage as tables, and its records as log lines or as the table `rag_traces`."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

import numpy as np
import orjson
import pandas as pd
import pyarrow.parquet as pq

from proofspan.contracts.records.records import Json, LineIssue, Trace, TraceKey
from proofspan.contracts.rules.catalogue import Finding, in_order
from proofspan.diagnosis.types import question_cell
from proofspan.errors import InputFault, Problem
from proofspan.journal.annotations import Annotations, Target
from proofspan.manifest.types import Manifest, Run
from proofspan.metrics.ranked import CUTS
from proofspan.services.rows import Column, Export, Frames, Layout, Record, exports, markdown_cell, plain
from proofspan.store.files.checked import CLAIM_STATUSES
from proofspan.store.files.scores import export_columns
from proofspan.store.query.rag_traces import Row, rag_traces, sql_dump, table_row
from proofspan.store.query.score_conditions import number_words
from proofspan.traces.exports.reviews import REVIEW_COLUMNS, review_columns, review_of
from proofspan.traces.records.identity import Repeats
from proofspan.traces.records.traces import iter_traces
from proofspan.traces.separate.join_cache import trace_file
from proofspan.traces.separate.log_lines import LogRecord, format_log_line, log_records, row_of
from proofspan.wording import counted

#: The columns of CSV and JSONL, in the order of a CSV's header.
COLUMNS: tuple[str, ...] = (
    *("run_id", "q_id", "paraphrase", "seed", "repeat", "label", "why", "q", "answer"),
    *("rank1_section", "rank1_doc", "docs", "cited", "cited_retrieved", "cited_resolved"),
    *("query_coverage", "answer_coverage", "numbers_unsupported", "suspicions", "codes"),
    *("evidence", "agreement"),
    *("support", "contradictions", "claim_count", *(f"claims_{status}" for status in CLAIM_STATUSES)),
    *("claim_statuses", "difference_kinds"),
    *("grounded", "correct", "cause", "certainty", "cause_sentence", "harm"),
    *("gold_state", "gold_seen_rank", "gold_retrieved_rank", "gold_retrieved_stage"),
    *("q_type", "answerable", "refused", "unranked", "bucket", "section_rank", "top_rank"),
    *("section_coverage", *(f"recall_{k}" for k in CUTS), "ndcg_10", "reciprocal_rank"),
    *("citation_precision", "citation_recall", "anchor_coverage", "safety_omitted", "about"),
    *("stored_label", "llm_summary", "ok", "delta_s", "lambda_state", "latency_ms", "file", "line", "claims"),
)

_WHOLE_NUMBERS = frozenset(
    {"paraphrase", "seed", "repeat", "cited", "cited_retrieved", "cited_resolved", "line"}
    | {"gold_seen_rank", "gold_retrieved_rank", "section_rank", "top_rank"}
    | {"contradictions", "claim_count", "harm", *(f"claims_{status}" for status in CLAIM_STATUSES)}
)
#: The most codes in a cell of a Markdown table.
MOST_CODES = 4


def _rank(record: Record) -> str:
    rank = record["section_rank"]
    return "" if record["bucket"] is None else "none" if rank is None else f"{rank:,}"


def _codes(record: Record) -> str:
    codes = in_order(record["codes"] or ())
    left_out = f" +{len(codes) - MOST_CODES}" if len(codes) > MOST_CODES else ""
    return ", ".join(codes[:MOST_CODES]).replace("|", "\\|") + left_out


def _verdict_cell(name: str) -> Callable[[Record], str]:
    return lambda record: markdown_cell(record[name] or "")


def _markdown_columns(first: pd.DataFrame | None) -> list[Column]:
    """Choose the report's columns, the verdict's and the ranking's if any row has them, and broken rules."""
    columns = [
        Column("q", lambda record: question_cell(record["q"])),
        Column("label", lambda record: f"**{record['label'] or 'no label'}**"),
        Column("why", lambda record: record["why"] or ""),
    ]
    if first is not None and not first["cause"].isna().all():
        columns += [Column(name, _verdict_cell(name)) for name in ("grounded", "correct", "cause")]
        columns.append(Column("because", _verdict_cell("cause_sentence")))
    if first is not None and not first["bucket"].isna().all():
        columns.append(Column("bucket", lambda record: record["bucket"] or ""))
        columns.append(Column("gold section at", _rank, "---:"))
    if first is not None and any(map(plain, first["codes"])):
        columns.append(Column("breaks", _codes))
    return columns


def triage_exports(scores: Sequence[str] = (), *, has_reviews: bool = False) -> dict[str, Export]:
    """Return the exports of Triage by kind, with the columns of some scores, and of people's verdicts."""
    own = [name for score in scores for name in export_columns(score)]
    own += REVIEW_COLUMNS if has_reviews else ()

    def markdown(first: pd.DataFrame | None) -> list[Column]:
        people = [Column("people", _people_cell)] if has_reviews else []
        return [*_markdown_columns(first), *map(_score_column, scores), *people]

    in_json = frozenset({"claims", "review_notes"} & {*COLUMNS, *own})
    layout = Layout((*COLUMNS, *own), _WHOLE_NUMBERS, markdown, json=in_json)
    return exports(layout, "csv", "jsonl", "markdown")


def with_reviews(frames: Frames, annotations: Annotations) -> Iterator[pd.DataFrame]:
    """Yield the rows of a list with the columns of people's verdicts and notes."""
    for frame in frames:
        names = ("run_id", "q_id", "paraphrase", "seed", "answer")
        reviews = [
            review_columns(
                review_of(annotations, Target(run, q_id, int(paraphrase), int(seed)), answer or "")
            )
            for run, q_id, paraphrase, seed, answer in zip(
                *(frame[name].tolist() for name in names), strict=True
            )
        ]
        for each in reviews:
            if "review_notes" in each:
                each["review_notes"] = orjson.dumps(each["review_notes"]).decode()
        yield frame.assign(**{name: _objects(each.get(name) for each in reviews) for name in REVIEW_COLUMNS})


def _objects(values: Iterable[Json]) -> np.ndarray:
    """Return values, which may be lists, as a column."""
    given = [*values]
    column = np.empty(len(given), dtype=object)
    column[:] = given
    return column


def _people_cell(record: Record) -> str:
    """Return who gave which verdict; "disputed" first where they give different ones."""
    parts = (record[f"review_{name}"] for name in ("author", "agrees", "correct"))
    people = zip(*(each if isinstance(each, list) else [each] for each in parts), strict=False)
    words = [
        f"{author}: {correct or ('agrees' if agrees else 'does not agree')}"
        for author, agrees, correct in people
        if author
    ]
    return markdown_cell("; ".join([*(["disputed"] if record["review_disputed"] else []), *words]))


def _score_column(score: str) -> Column:
    number, labels = export_columns(score)

    def cell(record: Record) -> str:
        words = [] if record[number] is None else [number_words(record[number])]
        return markdown_cell(" ".join([*words, ", ".join(record[labels] or ())]).strip())

    return Column(markdown_cell(score), cell)


#: The exports of Triage by kind.
EXPORTS = triage_exports()


#: Rows that go through the view `rag_traces` at once.
BATCH = 10_000
_PIECE = 1 << 20


@dataclass(slots=True)
class RecordExport:
    """The records of a run, and what was counted while they were read.

    Counted are rows, findings by code with the first of each, and the lines and variants left out. A record
    names its question by `qid` alone, so only the trace of paraphrase 0 and seed 0 is written unless
    `all_variants` are requested. `only` are the traces to write, None for all.
    """

    manifest: Manifest
    run: Run
    cache_dir: Path
    all_variants: bool = False
    only: frozenset[TraceKey] | None = None
    rows: int = field(default=0, init=False)
    findings: Counter[str] = field(default_factory=Counter, init=False)
    first: dict[str, Finding] = field(default_factory=dict, init=False)
    unread: int = field(default=0, init=False)
    variants: int = field(default=0, init=False)

    def traces(self) -> Iterator[Trace]:
        """Yield the traces in file order. Raises InputFault if the run has none."""
        traces = trace_file(self.manifest, self.run, cache_dir=self.cache_dir)
        path = traces.needed_path
        self.unread += len(traces.issues)
        repeats = Repeats()
        for item in iter_traces(path, file=traces.file, run_id=self.run.run_id, final=traces.is_final):
            if isinstance(item, LineIssue):
                self.unread += 1
                continue
            key = repeats.key_of(item)
            if self.only is not None and key not in self.only:
                continue
            if self.all_variants or (key.paraphrase, key.seed, key.repeat) == (0, 0, 1):
                yield item
            else:
                self.variants += 1

    def records(self) -> Iterator[LogRecord]:
        """Yield the log records in the order of the traces. Raises InputFault if the run has no traces."""
        for trace in self.traces():
            for record in log_records(trace, pinned=self.run.pinned):
                self.rows += 1
                yield record

    def table(self) -> Iterator[tuple[LogRecord, Row]]:
        """Yield each record with its row of the table `rag_traces`."""
        for record in self.records():
            row, findings = table_row(record)
            for finding in findings:
                self.findings[finding.code] += 1
                self.first.setdefault(finding.code, finding)
            yield record, row

    def problems(self) -> list[Problem]:
        """Return a problem per code, then those about lines left out."""
        problems = []
        for code, first in self.first.items():
            where = f"{self.findings[code]:,} of {self.rows:,} rows, first {first.record_id}"
            problems.append(Problem(code, f"{first.message}: {where}", code, first.fix))
        if self.unread:
            message = f"{counted(self.unread, 'line')} could not be read and are left out"
            if self.unread == sum(each.unreadable_lines or 0 for each in self.run.trace_artifacts):
                code, message = "lines_unreadable_declared", f"{message}, as declared"
                problems.append(Problem(code, message, severity="note"))
            else:
                problems.append(Problem("lines_unreadable", message, fix="proofspan check WORKSPACE"))
        if self.variants:
            message = f"{self.variants:,} paraphrases, seeds and repeats are left out"
            fix = "--all-variants writes them too"
            problems.append(Problem("variants_left_out", message, fix=fix, severity="note"))
        return problems


def log_pieces(export: RecordExport) -> Iterator[bytes]:
    """Yield a log line per record."""
    return (format_log_line(record).encode() + b"\n" for record in export.records())


def record_jsonl_pieces(export: RecordExport) -> Iterator[bytes]:
    """Yield a row of the table per line, with the values of the trace."""
    return (orjson.dumps(row_of(record), option=orjson.OPT_APPEND_NEWLINE) for record, _ in export.table())


def sql_pieces(export: RecordExport) -> Iterator[bytes]:
    """Yield DDL and rows. Reads the records twice, as columns with gaps are declared without NOT NULL."""
    lacking = {finding.where for record in replace(export).records() for finding in table_row(record)[1]}
    for piece in sql_dump((row for _, row in export.table()), nullable=lacking):
        yield piece.encode()


def parquet_pieces(export: RecordExport) -> Iterator[bytes]:
    """Yield a Parquet file with the view's types, JSON as text."""
    rows = (row for _, row in export.table())
    with tempfile.TemporaryFile() as file:
        table = rag_traces(list(islice(rows, BATCH)))
        with pq.ParquetWriter(file, table.schema, compression="zstd") as writer:
            while table.num_rows:
                writer.write_table(table)
                table = rag_traces(list(islice(rows, BATCH)))
        file.seek(0)
        while piece := file.read(_PIECE):
            yield piece


Writer = Callable[[RecordExport], Iterator[bytes]]
#: Suffix of the file → writer of the table `rag_traces`.
WRITERS: Mapping[str, Writer] = {
    ".jsonl": record_jsonl_pieces,
    ".parquet": parquet_pieces,
    ".sql": sql_pieces,
}


def writer_for(kind: str, output: str) -> Writer:
    """Return the writer of `log` or `rag_traces` for an output; stdout takes JSONL.

    Raises InputFault for an unknown suffix.
    """
    if kind == "log":
        return log_pieces
    suffix = ".jsonl" if output == "-" else Path(output).suffix.lower()
    if suffix not in WRITERS:
        raise InputFault.of(
            "unknown_suffix",
            f"the table cannot be written into a file {suffix or 'without a suffix'}",
            where=output,
            fix=f"name a file that ends in one of {', '.join(WRITERS)}",
        )
    return WRITERS[suffix]
