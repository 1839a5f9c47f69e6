"""Trace files: every line as a record or an issue, and one record again by its place."""

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
from proofspan.traces.lines.record_list import is_record_list, record_at, records_of
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
    """Yield every line of a trace file, in order, as a record or as the issue that prevents it.

    `file` is the name in records and issues, `run_id` the manifest's (None for a bare file); the other
    arguments are those of `read_lines`. A file that is not JSONL at all gives a single issue. Raises
    InputFault if the file cannot be opened.
    """
    if is_record_list(path):
        for raw in records_of(path):
            yield trace_of_line(raw, file=file, run_id=run_id)
        return
    if offset == 0 and (foreign := foreign_file(path, file=file)):
        yield foreign
        return
    for raw in read_lines(path, offset=offset, line=line, end=end, final=final):
        yield trace_of_line(raw, file=file, run_id=run_id)


def trace_of_line(raw: RawLine, *, file: str, run_id: str | None) -> Trace | LineIssue:
    """Return the record of one line, or its issue."""
    source = SourceLine(file, raw.line, raw.offset, raw.length)
    try:
        obj = parse_line(raw)
    except UnusableError as why:
        return issue_of(why, source, raw.data)
    return trace_from(obj, source, run_id=run_id, data=raw.data)


def read_trace_at(path: Path, source: SourceLine, *, run_id: str | None, q_id: str | None = None) -> Trace:
    """Return the record at a place that an index has.

    Raises InputFault if there is no longer a trace at exactly that place (of that `q_id`, if given).
    """
    trace = trace_of_line(line_at(path, source), file=source.file, run_id=run_id)
    if isinstance(trace, LineIssue):
        raise _changed(source, trace.message)
    if q_id is not None and trace.q_id != q_id:
        raise _changed(source, f"it is question {trace.q_id} now")
    return trace


def line_at(path: Path, source: SourceLine) -> RawLine:
    """Return the bytes at the place. Raises InputFault if they are no longer one whole line."""
    if is_record_list(path):
        found = record_at(path, source)
        if found is None or found.length != source.length:
            raise _changed(source, "no record is there now")
        return found
    begin = max(source.offset - 1, 0)
    start = source.offset - begin
    with open_source(path, buffering=0) as file:  # a buffer would read a MiB for each line
        file.seek(begin)
        read = file.read(start + source.length + 2)
    before, data, after = read[:start], read[start : start + source.length], read[start + source.length :]
    at_start = before in (b"", b"\n") or source.offset == 3
    at_end = after.lstrip(b"\r")[:1] in (b"", b"\n")
    if len(data) != source.length or b"\n" in data or not (at_start and at_end):
        raise _changed(source, "no line begins and ends there now")
    return RawLine(source.line, source.offset, source.length, data)


def _changed(source: SourceLine, message: str) -> InputFault:
    message = f"the line has changed since it was indexed: {message}"
    fix = "Build the index again: proofspan index WORKSPACE"
    return InputFault.of("line_changed", message, where=f"{source.file}:{source.line}", fix=fix)
