"""Recognize a file that is not JSONL at all, so that it is reported once instead of line by line."""

from __future__ import annotations

from pathlib import Path

from proofspan.contracts.records.records import LineIssue, SourceLine
from proofspan.manifest.contents import HEAD, Content, content_of
from proofspan.traces.lines.reader import BOM, UnusableError, issue_of, open_source


def content(path: Path) -> Content:
    """Return the content of a file by its beginning. Raises InputFault if it cannot be read."""
    with open_source(path) as source:
        return content_of(source.read(HEAD))


def foreign_file(path: Path, *, file: str) -> LineIssue | None:
    """Return the issue of a file that is not JSONL, which says what it is; None if its lines can be read."""
    found = content(path)
    if found.code == "lines":
        return None
    with open_source(path) as source:
        first = source.readline(HEAD).rstrip(b"\r\n")
    why = UnusableError(found.code, f"the file is {found.what}", found.fix)
    return issue_of(why, SourceLine(file, 1, 0, len(first)), first)


def first_byte(path: Path) -> bytes:
    """Return the first byte that is neither white space nor a byte order mark, b"" without one."""
    with open_source(path) as source:
        return source.read(HEAD).removeprefix(BOM).lstrip()[:1]
