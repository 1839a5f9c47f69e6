"""A run that has a report and no traces: its rows are what the report holds."""

from __future__ import annotations

from pathlib import Path

from proofspan.contracts.records import LABELS, LineIssue, SourceLine
from proofspan.diagnosis.types import ReportRow, Signals
from proofspan.errors import InputFault
from proofspan.store.columns import index_row, issue_table, row_table
from proofspan.store.files import write_segment, write_table
from proofspan.store.runfile import Segment, issues_name
from proofspan.traces.reports import StoredRow, read_report, remembered


def report_segment(folder: Path, prefix: str, path: Path, *, file: str, run_id: str) -> Segment:
    """Writes the one segment of such a run. A report that is none gives a segment with one line issue."""
    issues: list[LineIssue]
    try:
        stored, issues = read_report(path, file=file)
    except InputFault as fault:
        problem = fault.problems[0]
        stored, issues = [], [_file_issue(file, problem.code, problem.message, problem.remedy)]
    rows = [index_row(remembered(row, run_id), _verdict_of(row), {}) for row in stored]
    size = path.stat().st_size
    name = f"{prefix}-{0:014d}-{size:014d}.parquet"
    write_segment(folder, name, row_table(rows))
    if issues:
        write_table(folder, issues_name(name), issue_table(issues))
    return Segment(name, 0, size, 1, len(stored), len(rows), len(issues))


def _verdict_of(row: StoredRow) -> ReportRow | None:
    """The stored verdict; None where its label is none of ours."""
    if row.label not in LABELS:
        return None
    cited = row.citations_in_answer
    retrieved = sum(chunk_id in row.chunks for chunk_id in cited)
    signals = Signals(cited=len(cited), cited_retrieved=retrieved)
    return ReportRow(row.q, row.label, row.why, row.chunks, cited, signals)


def _file_issue(file: str, code: str, reason: str, remedy: str) -> LineIssue:
    return LineIssue(SourceLine(file, 1, 0, 0), code, reason, remedy, "")
