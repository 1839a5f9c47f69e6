"""A JSON array, or one object spread over lines: read at once, and judged entry by entry like lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from proofspan.contracts.findings import Finding
from proofspan.contracts.records import Json
from proofspan.traces.checks import QuickLook, exact_entries
from proofspan.traces.reader import MAX_DEPTH, is_deeper
from proofspan.traces.sniff import first_byte, foreign_file
from proofspan.traces.tables import entry_lines, whole_json


class Entry(NamedTuple):
    """An entry, the line on which it begins, and what its bytes tell. `obj` is None where it is no record."""

    line: int
    obj: dict[str, Json] | None
    found: tuple[Finding, ...]


def is_whole_json(path: Path, *, file: str) -> bool:
    """Whether a file is one JSON value rather than one a line."""
    if first_byte(path) == b"[":
        return True
    foreign = foreign_file(path, file=file)
    return foreign is not None and foreign.code == "json_over_lines"


def read_entries(path: Path, *, file: str) -> Iterator[Entry]:
    """The entries of an array, or the one object. InputFault where the file is too large, or no JSON."""
    data, value = whole_json(path, file=file)
    entries, lines = (value, entry_lines(path)) if type(value) is list else ([value], [1])
    is_sound = is_deeper(value, MAX_DEPTH + 1) or QuickLook(data).is_sound(data, value)
    found = [()] * len(entries) if is_sound else exact_entries(data)
    for line, entry, told in zip(lines, entries, found, strict=True):
        if (why := _unusable(entry)) is not None:
            yield Entry(line, None, (why,))
        else:
            yield Entry(line, entry, told)


def _unusable(entry: Json) -> Finding | None:
    if type(entry) is not dict:
        return Finding("not_an_object", "", "the entry is no object")
    if is_deeper(entry, MAX_DEPTH):
        return Finding("nested_too_deeply", "", f"arrays and objects are nested more than {MAX_DEPTH} deep")
    return None
