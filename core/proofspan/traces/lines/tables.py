"""Small JSON or JSONL files that are read whole: chunks, gold questions, stored reports.

Unlike traces they have no writer still at work, so a last line without its line end counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import orjson

from proofspan.contracts.records.records import Json, LineIssue, SourceLine
from proofspan.errors import InputFault
from proofspan.traces.lines.reader import (
    MAX_DEPTH,
    UnusableError,
    is_deeper,
    issue_of,
    open_source,
    parse_line,
    read_lines,
)
from proofspan.traces.lines.sniff import first_byte, foreign_file

T = TypeVar("T")

#: What tells the elements of a JSON array apart; strings as a whole, since they may hold any sign.
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[][{},]', re.DOTALL)
_SPACE = re.compile(rb"[ \t\r\n]*")

#: The largest JSON array that is read whole, in bytes; JSONL has no such bound.
MAX_ARRAY = 1 << 30
_EXCERPT = 1_000


def read_table(
    path: Path, *, file: str, record_of: Callable[[Json, SourceLine], T]
) -> Iterator[T | LineIssue]:
    """Every element of a JSON array, or every line of a JSONL file, as a record or as its issue.

    `record_of` raises `UnusableError` for what is none. In an array the 1-based place of the element stands
    for the line, and offset and length are 0. InputFault where the file as a whole is no such table.
    """
    if first_byte(path) == b"[":
        yield from _elements(path, file, record_of)
        return
    if foreign := foreign_file(path, file=file):
        raise InputFault.of(foreign.code, foreign.message, where=file, fix=foreign.fix)
    for raw in read_lines(path, final=True):
        source = SourceLine(file, raw.line, raw.offset, raw.length)
        try:
            yield record_of(parse_line(raw), source)
        except UnusableError as why:
            yield issue_of(why, source, raw.data)


def read_by_id(
    path: Path,
    *,
    file: str,
    record_of: Callable[[Json], T],
    id_of: Callable[[T], str],
    duplicate: Callable[[T, T, SourceLine], LineIssue],
) -> tuple[dict[str, T], list[LineIssue]]:
    """The records of such a table by their ids, and what is wrong with single lines of it.

    Of several with one id the last counts; `duplicate(record, earlier, source)` says so of each repeat.
    `record_of` raises `UnusableError`; InputFault as `read_table` has it.
    """
    records: dict[str, T] = {}
    issues: list[LineIssue] = []
    for found in read_table(path, file=file, record_of=lambda obj, source: (record_of(obj), source)):
        if isinstance(found, LineIssue):
            issues.append(found)
            continue
        record, source = found
        if (earlier := records.get(id_of(record))) is not None:
            issues.append(duplicate(record, earlier, source))
        records[id_of(record)] = record
    return records, placed(issues, path)


def _elements(path: Path, file: str, record_of: Callable[[Json, SourceLine], T]) -> Iterator[T | LineIssue]:
    for place, element in enumerate(_array(path, file), start=1):
        source = SourceLine(file, place, 0, 0)
        try:
            if is_deeper(element, MAX_DEPTH):
                raise UnusableError(
                    "nested_too_deeply", f"nested more than {MAX_DEPTH} deep", "Flatten the record."
                )
            yield record_of(element, source)
        except UnusableError as why:
            yield issue_of(why, source, _excerpt(element))


def _excerpt(element: Json) -> bytes:
    """How an element of an array begins; nothing of one that is nested deeper than can be written."""
    try:
        return orjson.dumps(element)[:_EXCERPT]
    except orjson.JSONEncodeError:
        return b""


def placed(issues: Sequence[LineIssue], path: Path) -> list[LineIssue]:
    """The issues of `read_table`, those of an array's entries with the line on which the entry begins."""
    if not issues or first_byte(path) != b"[":
        return list(issues)
    lines = entry_lines(path)
    return [entry_issue(issue, lines) for issue in issues]


def entry_issue(issue: LineIssue, lines: Sequence[int]) -> LineIssue:
    """An entry's issue as a person can look it up; `lines` are the array's `entry_lines`."""
    entry = issue.source.line
    source = replace(issue.source, line=lines[entry - 1])
    message = f"entry {entry:,}: {issue.message}"
    return LineIssue.at(source, issue.code, message, issue.fix, issue.excerpt)


def entry_lines(path: Path) -> list[int]:
    """The 1-based line on which each element of a JSON array begins; the file has been read as one."""
    with open_source(path) as source:
        data = source.read(MAX_ARRAY)
    lines: list[int] = []
    depth, line, counted = 0, 1, 0
    for token in _TOKEN.finditer(data):
        sign = token.group()
        depth += (sign in (b"[", b"{")) - (sign in (b"]", b"}"))
        if depth != 1 or sign not in (b"[", b","):
            continue
        begin = _SPACE.match(data, token.end()).end()  # type: ignore[union-attr]  # it matches anything
        line, counted = line + data.count(b"\n", counted, begin), begin
        if data[begin : begin + 1] != b"]":  # an empty array
            lines.append(line)
    return lines


def _array(path: Path, file: str) -> list[Json]:
    _, value = whole_json(path, file=file)
    return value if isinstance(value, list) else [value]


def whole_json(path: Path, *, file: str) -> tuple[bytes, Json]:
    """A file that is one JSON value: its bytes without a byte order mark, and the value.

    InputFault where it is too large, or no JSON.
    """
    with open_source(path) as source:
        data = source.read(MAX_ARRAY + 1)
    if len(data) > MAX_ARRAY:
        reason = f"the JSON is one value larger than {MAX_ARRAY >> 20} MiB"
        raise InputFault.of("array_too_large", reason, where=file, fix="Write it as JSONL instead.")
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        return data, orjson.loads(data)
    except orjson.JSONDecodeError as error:
        reason = f"the file is not valid JSON: {error.msg}"
        where = f"{file}:{error.lineno}"
        raise InputFault.of("not_json", reason, where=where, fix="Write it anew.") from error
