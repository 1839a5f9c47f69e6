"""The records of another tool's file: JSONL, a JSON array, or one JSON object with records inside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as FilePath

from proofspan.contracts.records.records import Json, LineIssue
from proofspan.errors import InputFault
from proofspan.traces.importers.field_getters import Path
from proofspan.traces.lines.reader import MAX_DEPTH, is_deeper
from proofspan.traces.lines.sniff import first_byte
from proofspan.traces.lines.tables import entry_issue, entry_lines, read_table, whole_json

#: Bytes of a file that is one object: it is parsed as a whole.
MAX_OBJECT = 256 << 20


def read_records(path: FilePath, *, at: Path | None, issues: list[LineIssue]) -> Iterator[tuple[int, Json]]:
    """Yield every record with the 1-based line on which it begins, and add unreadable lines to `issues`.

    `at` leads from each parsed value to its records. Raises InputFault if the file cannot be read at all.
    """
    for line, value in _values(path, issues):
        if at is None:
            yield line, value
        else:
            yield from ((line, record) for record in at.all(value, value))


def _values(path: FilePath, issues: list[LineIssue]) -> Iterator[tuple[int, Json]]:
    lines = entry_lines(path) if first_byte(path) == b"[" else None
    try:
        for item in read_table(path, file=path.name, record_of=lambda value, source: (source.line, value)):
            if isinstance(item, LineIssue):
                issues.append(entry_issue(item, lines) if lines else item)
            else:
                yield (lines[item[0] - 1], item[1]) if lines else item
    except InputFault as fault:
        if fault.problems[0].code != "json_over_lines":
            raise
        _, value = whole_json(path, file=path.name, limit=MAX_OBJECT)
        if is_deeper(value, MAX_DEPTH):
            raise InputFault.of(
                "nested_too_deeply",
                f"nested more than {MAX_DEPTH} deep",
                where=path.name,
                fix="Flatten the records.",
            ) from None
        yield 1, value
