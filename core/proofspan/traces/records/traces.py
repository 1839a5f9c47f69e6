"""Trace files: every line a record or a line issue, and one record again by its place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from proofspan.contracts.records.records import LineIssue, SourceLine, Trace
from proofspan.errors import InputFault
from proofspan.traces.lines.reader import (
    RawLine,
    UnusableError,
    issue_of,
    open_source,
    parse_line,
    read_lines,
)
from proofspan.traces.lines.sniff import foreign_file
from proofspan.traces.records.trace_record import trace_from


def iter_traces(
    path: Path,
    *,
    file: str,
    run_id: str | None,
    offset: int = 0,
    line: int = 1,
    end: int | None = None,
    final: bool = False,
) -> Iterator[Trace | LineIssue]:
    """Every line of a trace file as a record or as the issue that says why it is none, in file order.

    `file` is the name that records and issues carry, `run_id` the manifest's (None for a bare file); the
    rest is as in `read_lines`. A file that is no JSONL at all gives a single issue. InputFault where the
    file cannot be opened.
    """
    if offset == 0 and (foreign := foreign_file(path, file=file)):
        yield foreign
        return
    for raw in read_lines(path, offset=offset, line=line, end=end, final=final):
        yield trace_of_line(raw, file=file, run_id=run_id)


def trace_of_line(raw: RawLine, *, file: str, run_id: str | None) -> Trace | LineIssue:
    """The record of one line, or its issue."""
    source = SourceLine(file, raw.line, raw.offset, raw.length)
    try:
        obj = parse_line(raw)
    except UnusableError as why:
        return issue_of(why, source, raw.data)
    return trace_from(obj, source, run_id=run_id, data=raw.data)


def read_trace_at(path: Path, source: SourceLine, *, run_id: str | None, q_id: str | None = None) -> Trace:
    """The record at a place that an index remembers.

    InputFault where the file no longer holds a trace exactly there (of that `q_id`, where one is given).
    """
    trace = trace_of_line(line_at(path, source), file=source.file, run_id=run_id)
    if isinstance(trace, LineIssue):
        raise _changed(source, trace.message)
    if q_id is not None and trace.q_id != q_id:
        raise _changed(source, f"it holds question {trace.q_id} now")
    return trace


def line_at(path: Path, source: SourceLine) -> RawLine:
    """The bytes at the place, when they are one whole line still."""
    with open_source(path) as file:
        begin = max(source.offset - 1, 0)
        file.seek(begin)
        before = file.read(source.offset - begin)
        data = file.read(source.length)
        after = file.read(2)
    at_start = before in (b"", b"\n") or source.offset == 3
    at_end = after == b"" or after.startswith((b"\n", b"\r\n"))
    if len(data) != source.length or b"\n" in data or not (at_start and at_end):
        raise _changed(source, "no line begins and ends there now")
    return RawLine(source.line, source.offset, source.length, data)


def _changed(source: SourceLine, reason: str) -> InputFault:
    return InputFault.of(
        "line_changed",
        f"the line is not what it was when it was indexed: {reason}",
        where=f"{source.file}:{source.line}",
        fix="Build the index anew: proofspan index WORKSPACE",
    )
