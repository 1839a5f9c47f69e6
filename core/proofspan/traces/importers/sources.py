"""The records of a foreign file: JSONL, a JSON array, or one JSON object with a list of records inside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as FilePath

import orjson

from proofspan.contracts.records.records import Json, LineIssue, SourceLine
from proofspan.errors import InputFault
from proofspan.traces.importers.field_getters import Path
from proofspan.traces.lines.reader import MAX_DEPTH, is_deeper, open_source
from proofspan.traces.lines.sniff import first_byte
from proofspan.traces.lines.tables import entry_issue, entry_lines, read_table

#: A file that is one JSON object is read whole; larger ones are refused.
MAX_OBJECT = 256 * 1024 * 1024


def read_records(path: FilePath, *, at: Path | None) -> Iterator[tuple[int, Json] | LineIssue]:
    """Every record with the 1-based line that it begins on, or why there is none.

    `at` leads from each parsed value to its records. InputFault where the file cannot be used at all.
    """
    for found in _values(path):
        if isinstance(found, LineIssue) or at is None:
            yield found
        else:
            line, value = found
            yield from ((line, record) for record in at.all(value, value))


def _values(path: FilePath) -> Iterator[tuple[int, Json] | LineIssue]:
    try:
        lines = entry_lines(path) if first_byte(path) == b"[" else None
        for found in read_table(path, file=path.name, record_of=_placed):
            if lines is None:
                yield found
            elif isinstance(found, LineIssue):
                yield entry_issue(found, lines)
            else:
                place, value = found
                yield lines[place - 1], value
    except InputFault as fault:
        if fault.problems[0].code != "json_over_lines":
            raise
        yield 1, _object(path)


def _placed(value: Json, source: SourceLine) -> tuple[int, Json]:
    return source.line, value


def _object(path: FilePath) -> Json:
    with open_source(path) as source:
        data = source.read(MAX_OBJECT + 1)
    where = path.name
    if len(data) > MAX_OBJECT:
        reason = f"a JSON object of more than {MAX_OBJECT >> 20} MiB"
        raise InputFault.of("object_too_large", reason, where=where, fix="Write its records as JSONL.")
    try:
        value = orjson.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        reason = f"neither JSONL nor one JSON value: {error.msg}"
        fix = "Mend the JSON at this line, or write one record a line."
        raise InputFault.of("not_json", reason, where=f"{where}:{error.lineno}", fix=fix) from error
    if is_deeper(value, MAX_DEPTH):
        reason = f"nested more than {MAX_DEPTH} deep"
        raise InputFault.of("nested_too_deeply", reason, where=where, fix="Flatten the records.")
    return value
