"""Read JSONL lines with their places, and parse them.

Offsets are those of the file on disk, so that a drill-down can seek to a record. A last line without its line
end may still be being written: it is left out, unless the caller says that the file is final.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import orjson

from proofspan.contracts.records.records import Json, LineIssue, SourceLine
from proofspan.errors import InputFault

#: The longest line that is read, in bytes; a longer one is a line issue.
MAX_LINE = 16 * 1024 * 1024
#: The deepest nesting of arrays and objects that is accepted.
MAX_DEPTH = 64
#: How many characters of a bad line are kept to be shown.
EXCERPT = 200

#: The value of a key that does not exist.
ABSENT: Final = object()

BOM = b"\xef\xbb\xbf"
#: The remedy for bytes that are not UTF-8.
NOT_UTF8: Final = (
    "Write the file as UTF-8, or let it be read as Windows-1252: --fix-encoding, in a manifest "
    "`fix_encoding: true`."
)
_BUFFER = 1 << 20
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_KEPT_OF_LONG = 4 * EXCERPT
#: The parser's message for a value that is nested too deeply for it, though it is JSON.
_PARSER_DEPTH = "depth limit exceeded"


class RawLine(NamedTuple):
    """A line that is not blank. `data` is the file's `[offset, offset + length)`, without its line end.

    `data` of a line longer than `MAX_LINE` is only its beginning: `len(data) < length`.
    """

    line: int
    offset: int
    length: int
    data: bytes


class UnusableError(Exception):
    """A line cannot become a record. Never leaves this package: it is turned into a `LineIssue`.

    `shown` is the issue's excerpt, where that is not the beginning of the line.
    """

    def __init__(self, code: str, message: str, fix: str, shown: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.fix, self.shown = code, message, fix, shown


class Pairs(tuple[tuple[str, Json], ...]):
    """The keys and values of an object as written, in order, duplicates included."""

    __slots__ = ()


class Number(str):
    """A number as written."""

    __slots__ = ()


#: Parses a text with objects as `Pairs` and numbers as `Number`.
parse_as_written: Callable[[str], Json] = json.JSONDecoder(
    object_pairs_hook=Pairs, parse_int=Number, parse_float=Number
).decode


def open_source(path: Path, buffering: int = _BUFFER) -> BinaryIO:
    """Open a file for reading. Raises InputFault if it is missing, not a regular file, or not readable."""
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            kind = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
            raise InputFault.of("not_a_file", f"this is {kind}", where=str(path), fix="Name a file.")
        return path.open("rb", buffering=buffering)
    except FileNotFoundError as error:
        fix = "Check the path; in a workspace, `proofspan check` lists every file that is missing."
        raise InputFault.of("missing_file", "the file does not exist", where=str(path), fix=fix) from error
    except OSError as error:
        message = f"the file cannot be read: {error.strerror or error}"
        fix = "Check its permissions and its disk."
        raise InputFault.of("unreadable_file", message, where=str(path), fix=fix) from error


def read_lines(
    path: Path, *, offset: int = 0, line: int = 1, end: int | None = None, final: bool = False
) -> Iterator[RawLine]:
    """Yield every line of `path` that is not blank, in order.

    `offset` is the beginning of a line, `line` its 1-based number. With `end` the file counts as ending
    there: reading to a line boundary and then on from it gives the same as reading at once. Lines end with LF
    or CRLF; a byte order mark at the beginning is left out. A last line without its line end is included only
    if `final`. Raises InputFault if the file cannot be opened.
    """
    with open_source(path) as file:
        file.seek(offset)
        yield from lines_of(file, offset=offset, line=line, end=end, final=final)


def lines_of(
    file: BinaryIO, *, offset: int = 0, line: int = 1, end: int | None = None, final: bool = False
) -> Iterator[RawLine]:
    """Yield every line like `read_lines`, of a file that is open at `offset`."""
    limit = (1 << 62) if end is None else end
    position = offset
    while position < limit:
        room = limit - position
        data = file.readline(min(MAX_LINE + 2, room))
        if not data:
            return
        size, tail = len(data), data[-2:]
        while size >= MAX_LINE + 2 and not tail.endswith(b"\n"):  # too long: the rest is skipped
            more = file.readline(min(_BUFFER, room - size))
            if not more:
                break
            size += len(more)
            tail = (tail + more)[-2:]
        if not final and not tail.endswith(b"\n"):
            return
        length = None if size == len(data) else size - len(tail) + len(tail.rstrip(b"\r\n"))
        raw = raw_line(data, line=line, offset=position, length=length)
        if raw is not None:
            yield raw
        position += size
        line += 1


def raw_line(data: bytes, *, line: int, offset: int, length: int | None = None) -> RawLine | None:
    """Return a line of a file as it is read, with or without its line end; None for a blank one.

    `length` is given, without the line end, where `data` is only the beginning of a line that is too long.
    """
    if length is None:
        data = data.rstrip(b"\r\n")
        length = len(data)
    if offset == 0 and data.startswith(BOM):
        data, offset, length = data[3:], 3, length - 3
    if not data or (length == len(data) and data.isspace()):
        return None
    return RawLine(line, offset, length, data if length <= MAX_LINE else data[:_KEPT_OF_LONG])


def unfinished_bytes(path: Path) -> int:
    """Return the number of bytes after the last line end; 0 for a file that ends with one, or is empty."""
    with open_source(path) as file:
        size = end = file.seek(0, 2)
        while end > 0:
            start = max(0, end - _BUFFER)
            file.seek(start)
            at = file.read(end - start).rfind(b"\n")
            if at >= 0:
                return size - (start + at + 1)
            end = start
        return size


def parse_line(raw: RawLine) -> Json:
    """Return the line's JSON value. Raises UnusableError if it is too long or deep, or no UTF-8 JSON."""
    refuse_overlong(raw)
    data = raw.data
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as bad:
            message = f"byte {bad.start + 1} of the line is not valid UTF-8"
            raise UnusableError("bad_utf8", message, NOT_UTF8) from None
        if error.msg != _PARSER_DEPTH:
            message = f"the line is not valid JSON: {error.msg} (character {error.pos + 1})"
            fix = "Write one JSON object a line; NaN and Infinity are not JSON."
            raise UnusableError("not_json", message, fix) from None
        is_too_deep = True
    else:
        is_too_deep = len(data.translate(None, _NO_BRACKETS)) > 2 * MAX_DEPTH and is_deeper(value, MAX_DEPTH)
    if is_too_deep:
        message = f"arrays and objects are nested more than {MAX_DEPTH} deep"
        raise UnusableError("nested_too_deeply", message, "Flatten the record.")
    return value


def refuse_overlong(raw: RawLine) -> None:
    """Raise UnusableError for a line of which only the beginning was kept."""
    if len(raw.data) != raw.length:
        message = f"the line has {raw.length:,} bytes; at most {MAX_LINE:,} are read"
        fix = "Keep pictures and whole documents out of the records."
        raise UnusableError("line_too_long", message, fix)


def issue_of(why: UnusableError, source: SourceLine, data: bytes) -> LineIssue:
    """Build the line issue that says why the line at `source` is no record.

    Its excerpt are the first 200 characters of `data`, with U+FFFD for bytes that are not UTF-8.
    """
    shown = data[: 4 * EXCERPT].decode("utf-8", "replace")[:EXCERPT] if why.shown is None else why.shown
    return LineIssue.at(source, why.code, why.message, why.fix, shown)


def is_deeper(value: Json, limit: int) -> bool:
    """Return whether arrays and objects nest more than `limit` deep, without recursion."""
    level = [value]
    for _ in range(limit):
        level = [
            child
            for node in level
            for child in (node.values() if type(node) is dict else node if type(node) is list else ())
            if type(child) is dict or type(child) is list
        ]
        if not level:
            return False
    return True


def wrong(name: str, value: Json, *, wanted: str = "text") -> UnusableError:
    """Return the error of a missing value or one of the wrong type; the code has the field's name."""
    if value is ABSENT:
        return UnusableError(f"{name}_missing", f"{name} is missing", f'Give every line its "{name}".')
    code = f"{name.split()[-1]}_wrong_type"
    return UnusableError(code, f"{name} is {kind_of(value)}, not {wanted}", f"Write {name} as {wanted}.")


def kind_of(value: Json) -> str:
    """Return the kind of a JSON value for a message."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    kinds = {str: "text", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return kinds[type(value)]
