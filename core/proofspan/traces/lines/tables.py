"""Complete JSON or JSONL files: chunks, gold questions, stored reports.

Unlike trace files they do not grow, so a last line without its line end counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import orjson

from proofspan.contracts.records.records import Json, LineIssue, SourceLine
from proofspan.errors import InputFault
from proofspan.traces.lines.reader import (
    EXCERPT,
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

#: The tokens that separate the elements of a JSON array; strings as a whole, since they may contain any.
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[][{},]', re.DOTALL)
_SPACE = re.compile(rb"[ \t\r\n]*")

#: The largest JSON array that is read whole, in bytes; JSONL has no such bound.
MAX_ARRAY = 1 << 30


def read_table(
    path: Path, *, file: str, record_of: Callable[[Json, SourceLine], T]
) -> Iterator[T | LineIssue]:
    """Yield every element of a JSON array, or every line of a JSONL file, as a record or as its issue.

    `record_of` raises `UnusableError` for what is no record. In an array `source.line` is the 1-based
    position of the element for `record_of`, the line on which it begins in an issue; offset and length are 0.
    Raises InputFault for an unreadable file.
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
    id_name: str,
    is_meant: Callable[[T], bool] = lambda record: False,
) -> tuple[dict[str, T], list[LineIssue]]:
    """Return the records of such a file by their attribute `id_name`, and the issues of single lines.

    Of several records with one id the last counts, and each repeat is an issue unless `is_meant` says of it
    that it is meant to replace the earlier one. Raises InputFault as `read_table` does.
    """
    records: dict[str, T] = {}

    def keep(obj: Json, _: SourceLine) -> None:
        record = record_of(obj)
        record_id: str = getattr(record, id_name)
        earlier = records.get(record_id)
        records[record_id] = record
        if earlier is not None and not is_meant(record):
            content = "the same" if record == earlier else "different"
            message = (
                f"the {id_name} {record_id!r} occurs before, with {content} content; the last one counts"
            )
            fix = f"Give every record its own {id_name}."
            raise UnusableError(f"duplicate_{id_name}", message, fix, shown=record_id[:EXCERPT])

    return records, [item for item in read_table(path, file=file, record_of=keep) if item is not None]


def _elements(path: Path, file: str, record_of: Callable[[Json, SourceLine], T]) -> Iterator[T | LineIssue]:
    _, value = whole_json(path, file=file)
    lines: list[int] = []
    for place, element in enumerate(value, start=1):
        source = SourceLine(file, place, 0, 0)
        try:
            if is_deeper(element, MAX_DEPTH):
                raise UnusableError(
                    "nested_too_deeply", f"nested more than {MAX_DEPTH} deep", "Flatten the record."
                )
            yield record_of(element, source)
        except UnusableError as why:
            beginning = b""
            with suppress(orjson.JSONEncodeError):  # too deep to be written
                beginning = orjson.dumps(element)
            lines = lines or entry_lines(path)
            placed = UnusableError(why.code, f"entry {place:,}: {why.message}", why.fix, why.shown)
            yield issue_of(placed, replace(source, line=lines[place - 1]), beginning)


def entry_lines(path: Path) -> list[int]:
    """Return the 1-based line on which each element of a JSON array begins."""
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


def whole_json(path: Path, *, file: str, limit: int = MAX_ARRAY) -> tuple[bytes, Json]:
    """Return the bytes, without a byte order mark, and the value of a file that is one JSON value.

    Raises InputFault if it has more than `limit` bytes, or is not JSON.
    """
    with open_source(path) as source:
        data = source.read(limit + 1).removeprefix(b"\xef\xbb\xbf")
    if len(data) > limit:
        code = "object_too_large" if data.lstrip()[:1] == b"{" else "array_too_large"
        message = f"the JSON is one value larger than {limit >> 20} MiB"
        raise InputFault.of(code, message, where=file, fix="Write it as JSONL instead.")
    try:
        return data, orjson.loads(data)
    except orjson.JSONDecodeError as error:
        message = f"the file is not valid JSON: {error.msg}"
        where = f"{file}:{error.lineno}"
        raise InputFault.of("not_json", message, where=where, fix="Correct the JSON at this line.") from error
