"""The lines of a journal: read with the issues of single lines, appended so that a save is safe on the disk.

A line is added under a lock and flushed before it counts as written. Existing lines are never changed: an
unfinished last line gets its line end with the next save and stays, as a line issue.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, NamedTuple, NoReturn

import orjson

from proofspan.contracts.records.records import Json, LineIssue, SourceLine
from proofspan.errors import InputFault
from proofspan.manifest.put_files import flush_folder
from proofspan.write_errors import write_refusal

#: Journals stay far below this; a larger file is something else.
MAX_BYTES = 64 * 1024 * 1024
EXCERPT = 200
#: How many hexadecimal digits of the sha256 the id of a line has.
ID_DIGITS = 16
#: How long to wait for another process that writes, and how long between attempts, in seconds.
WAIT_S, _PAUSE_S = 10, 0.01

_BOM = b"\xef\xbb\xbf"
_FIX = "Correct the line in an editor; until then it stays as it is."


class Entry(NamedTuple):
    """A line that is a JSON object, with its place and its text."""

    record: Mapping[str, Json]
    source: SourceLine
    text: bytes

    def issue(self, code: str, message: str, fix: str) -> LineIssue:
        """Return an issue of the record."""
        return _issue(self.source, self.text, code, message, fix)


Read = tuple[tuple[Entry, ...], tuple[LineIssue, ...]]


class Journal:
    """An open and locked journal: nobody else adds a line meanwhile."""

    def __init__(self, stream: BinaryIO, path: Path, file: str) -> None:
        self._stream, self._path, self._file = stream, path, file

    def read(self) -> Read:
        """Return the current lines. Raises InputFault as `read_journal` does."""
        self._stream.seek(0)
        return _entries(_read_all(self._stream, self._path), self._file)

    def append(self, record: Mapping[str, Json]) -> None:
        """Add the record as one line; on return it is on the disk. Raises InputFault as `append_all`."""
        self.append_all([record])

    def append_all(self, records: Iterable[Mapping[str, Json]]) -> None:
        """Add each record as one line; on return all are on the disk.

        Raises InputFault if they cannot be written, or make the journal too large.
        """
        lines = b"".join(orjson.dumps(dict(each), option=orjson.OPT_SORT_KEYS) + b"\n" for each in records)
        if not lines:
            return
        size = self._stream.seek(0, os.SEEK_END)
        if size + len(lines) > MAX_BYTES:
            raise _too_large(self._path)
        if size:
            self._stream.seek(size - 1)
            lines = lines if self._stream.read(1) == b"\n" else b"\n" + lines
        try:
            while lines:  # one call where the system allows it, so that no reader sees half a line
                lines = lines[os.write(self._stream.fileno(), lines) :]
            os.fsync(self._stream.fileno())
            # A new file's name is part of its folder: without this a crash could lose the whole file.
            flush_folder(self._path.parent)
        except OSError as error:
            _refuse(self._path, error)


@contextmanager
def open_journal(path: Path, *, file: str) -> Iterator[Journal]:
    """Open the journal at `path`, creating it if necessary, and lock it until the block ends.

    `file` is its name in messages. Links are not followed: they may lead anywhere. Raises InputFault if it
    cannot be opened or written.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        stream = os.fdopen(os.open(path, flags, 0o666), "r+b", buffering=0)
    except OSError as error:
        _refuse(path, error)
    with stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            _refuse(path, OSError(errno.EINVAL, "it is not a regular file"))
        _lock(stream, path)
        yield Journal(stream, path, file)


def content_id(content: Mapping[str, Json]) -> str:
    """Return the id that follows from a line's content; "" for a content that is not JSON."""
    try:
        data = orjson.dumps(content, option=orjson.OPT_SORT_KEYS)
    except (TypeError, ValueError):
        return ""
    return sha256(data).hexdigest()[:ID_DIGITS]


def _lock(stream: BinaryIO, path: Path) -> None:
    """Wait for the others that add lines. Raises InputFault if one of them does not end."""
    until = time.monotonic() + WAIT_S
    while True:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() >= until:
                message = f"another process has been writing to it for {WAIT_S} seconds"
                fix = "Try again; if that process hangs, end it."
                raise InputFault.of("journal_busy", message, where=str(path), fix=fix) from error
            time.sleep(_PAUSE_S)
        else:
            return


def read_journal(path: Path, *, file: str) -> Read:
    """Return the lines of a journal in order, and an issue for each that is not a JSON object.

    A journal that does not exist has no lines. Raises InputFault if it cannot be read, or is too large.
    """
    try:
        with path.open("rb") as stream:
            return _entries(_read_all(stream, path), file)
    except FileNotFoundError:
        return (), ()
    except OSError as error:
        message = f"the journal cannot be read: {error.strerror or error}"
        fix = "Check its permissions."
        raise InputFault.of("unreadable_file", message, where=str(path), fix=fix) from error


def _read_all(stream: BinaryIO, path: Path) -> bytes:
    data = b""
    while piece := stream.read(MAX_BYTES + 1 - len(data)):  # an unbuffered stream may return less
        data += piece
        if len(data) > MAX_BYTES:
            raise _too_large(path)
    return data


def _entries(data: bytes, file: str) -> Read:
    """Return the objects, and the issues of other lines. A whole last line counts without its line end."""
    lines = data.split(b"\n")
    entries, issues = entries_in(enumerate(lines, start=1), file)
    if issues and issues[-1].source.line == len(lines) and issues[-1].code == "not_json":
        last = replace(issues[-1], code="unfinished_line", message="the last line is unfinished")
        issues = (*issues[:-1], last)
    return entries, issues


def entries_in(lines: Iterable[tuple[int, bytes]], file: str) -> Read:
    """Return the objects in numbered lines, and an issue for each other line that is not blank."""
    entries: list[Entry] = []
    issues: list[LineIssue] = []
    offset = 0
    for number, line in lines:
        text = line.removeprefix(_BOM) if number == 1 else line
        source = SourceLine(file, number, offset, len(line))
        offset += len(line) + 1
        if not text.strip():
            continue
        try:
            record = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            message = f"the line is not valid JSON: {error.msg}"
            issues.append(_issue(source, text, "not_json", message, _FIX))
            continue
        if isinstance(record, dict):
            entries.append(Entry(record, source, text))
        else:
            issues.append(_issue(source, text, "not_an_object", "the line is not a JSON object", _FIX))
    return tuple(entries), tuple(issues)


def _issue(source: SourceLine, text: bytes, code: str, message: str, fix: str) -> LineIssue:
    excerpt = text[: 4 * EXCERPT].decode("utf-8", "replace")[:EXCERPT]
    return LineIssue.at(source, code, message, fix, excerpt)


def _too_large(path: Path) -> InputFault:
    message = f"the journal would be larger than {MAX_BYTES >> 20} MiB"
    fix = "Name another file in the manifest, or move the old lines to another file."
    return InputFault.of("journal_too_large", message, where=str(path), fix=fix)


def _refuse(path: Path, error: OSError) -> NoReturn:
    why = write_refusal(error, path)
    reason = "it is a link" if error.errno == errno.ELOOP else why.reason
    message = f"the journal cannot be written: {reason}"
    fix = f"{why.fix[:1].upper()}{why.fix[1:]}."
    raise InputFault.of("journal_not_written", message, where=str(path), fix=fix) from error
