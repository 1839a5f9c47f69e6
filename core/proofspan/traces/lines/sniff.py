"""Recognize a file that is not JSONL at all, so that it is reported once instead of line by line."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import orjson

from proofspan.contracts.records.records import LineIssue, SourceLine
from proofspan.manifest.sniff import csv_columns
from proofspan.traces.lines.reader import UnusableError, issue_of, open_source

#: How many bytes at the start of a file are read, and how many of its first lines are examined.
HEAD = 64 * 1024
LINES = 20

_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "Zstandard",
    b"PK\x03\x04": "a ZIP archive",
    b"PAR1": "Parquet",
    b"%PDF": "a PDF",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
    b"SQLite format 3\x00": "an SQLite database",
}
_FIX = "Write one JSON object a line, or name the right file."


def foreign_file(path: Path, *, file: str) -> LineIssue | None:
    """Return the issue of a file that is not JSONL, which says what it is; None if its lines can be read."""
    with open_source(path) as source:
        head = source.read(HEAD)
    why = _foreign(head)
    if why is None:
        return None
    first = head.splitlines()[0]
    return issue_of(why, SourceLine(file, 1, 0, len(first)), first)


def first_byte(path: Path) -> bytes:
    """Return the first byte that is neither white space nor a byte order mark, b"" without one."""
    with open_source(path) as source:
        return _stripped(source.read(HEAD))[:1]


def _foreign(head: bytes) -> UnusableError | None:
    for magic, kind in _MAGIC.items():
        if head.startswith(magic):
            return UnusableError("not_jsonl", f"the file is {kind}, not JSONL", _FIX)
    text = _stripped(head)
    lines = [line for line in text.splitlines() if line.strip()][:LINES]
    for line in lines:
        with suppress(orjson.JSONDecodeError):
            if line.lstrip().startswith(b"{") and isinstance(orjson.loads(line), dict):
                return None
    if not lines or (len(text) == len(lines[0]) and len(head) == HEAD):
        return None  # one line longer than the head: it may be an object
    opening = lines[0].strip()
    if opening.startswith(b"["):
        return UnusableError("json_array", "the file is one JSON array, not JSONL", _FIX)
    if opening == b"{":
        return UnusableError("json_over_lines", "the file is JSON over several lines, not JSONL", _FIX)
    if opening.startswith(b"<"):
        return UnusableError("not_jsonl", "the file is HTML or XML, not JSONL", _FIX)
    if not opening.startswith((b"{", b'"{')) and (columns := csv_columns(lines)):
        message = f"the file is CSV with {len(columns)} columns ({', '.join(columns)[:80]}), not JSONL"
        return UnusableError("is_csv", message, "Convert it to JSONL: one JSON object a row.")
    return None


def _stripped(head: bytes) -> bytes:
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()
