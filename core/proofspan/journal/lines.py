"""A journal's lines: read with what is wrong with each, and appended so that a save is a save.

One line a save, under a lock, flushed to the disk before anybody is told that it is written. Nothing that
stands in the file is ever changed: a last line that its writer never finished gets its line end with the next
save and stays, as a line issue.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, NoReturn

import orjson

from proofspan.contracts.records.records import Json, LineIssue, SourceLine
from proofspan.errors import InputFault

#: What people write stays far below this; more is some other file.
MAX_BYTES = 64 * 1024 * 1024
EXCERPT = 200

_BOM = b"\xef\xbb\xbf"
_MEND = "Correct the line in an editor; it is kept as it is until then."


class Entry(NamedTuple):
    """One line that is a JSON object: what it says, where it stands, and as it is written."""

    record: Mapping[str, Json]
    source: SourceLine
    text: bytes

    def issue(self, code: str, message: str, fix: str) -> LineIssue:
        """What is wrong with the record for those who know what it should be."""
        return _issue(self.source, self.text, code, message, fix)


Read = tuple[tuple[Entry, ...], tuple[LineIssue, ...]]


class Journal:
    """A journal that is open and locked: nobody else adds a line meanwhile."""

    def __init__(self, stream: BinaryIO, path: Path, file: str) -> None:
        self._stream, self._path, self._file = stream, path, file

    def read(self) -> Read:
        """The lines that are there now. InputFault as `read_journal`."""
        self._stream.seek(0)
        return _entries(_all_of(self._stream, self._path), self._file)

    def append(self, record: Mapping[str, Json]) -> None:
        """Adds the record as one line; on return it is on the disk.

        InputFault where it cannot be written, or is too much for a journal.
        """
        line = orjson.dumps(dict(record), option=orjson.OPT_SORT_KEYS) + b"\n"
        size = self._stream.seek(0, os.SEEK_END)
        if size + len(line) > MAX_BYTES:
            raise _too_large(self._path)
        if size:
            self._stream.seek(size - 1)
            line = line if self._stream.read(1) == b"\n" else b"\n" + line
        try:
            _write_all(self._stream.fileno(), line)
            os.fsync(self._stream.fileno())
            _sync_folder(self._path.parent)
        except OSError as error:
            _refuse(self._path, error)


@contextmanager
def open_journal(path: Path, *, file: str) -> Iterator[Journal]:
    """The journal at `path`, made if it is not there, locked until the block ends.

    `file` is its name in messages. A link is not followed: it may lead anywhere by now. InputFault where it
    cannot be opened or written.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        stream = os.fdopen(os.open(path, flags, 0o666), "r+b", buffering=0)
    except OSError as error:
        _refuse(path, error)
    with stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            _refuse(path, OSError(errno.EINVAL, "it is no regular file"))
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield Journal(stream, path, file)


def read_journal(path: Path, *, file: str) -> Read:
    """The lines of a journal in their order, and an issue for each that is no JSON object.

    A journal that does not exist has no lines yet. InputFault where it cannot be read, or is larger than a
    journal can be.
    """
    try:
        with path.open("rb") as stream:
            data = _all_of(stream, path)
    except FileNotFoundError:
        return (), ()
    except OSError as error:
        reason = f"the journal cannot be read: {error.strerror or error}"
        raise InputFault.of(
            "unreadable_file", reason, where=str(path), fix="Check its permissions."
        ) from error
    return _entries(data, file)


def _all_of(stream: BinaryIO, path: Path) -> bytes:
    pieces, size = [], 0
    while piece := stream.read(min(1 << 20, MAX_BYTES + 1 - size)):
        pieces.append(piece)
        size += len(piece)
        if size > MAX_BYTES:
            raise _too_large(path)
    return b"".join(pieces)


def _entries(data: bytes, file: str) -> Read:
    entries: list[Entry] = []
    issues: list[LineIssue] = []
    offset = 0
    for number, line in enumerate(data.split(b"\n"), start=1):
        text = line.removeprefix(_BOM) if number == 1 else line
        if text.strip():
            source = SourceLine(file, number, offset, len(line))
            found = _parsed(text, source, is_ended=offset + len(line) < len(data))
            if isinstance(found, Entry):
                entries.append(found)
            else:
                issues.append(found)
        offset += len(line) + 1
    return tuple(entries), tuple(issues)


def _parsed(text: bytes, source: SourceLine, *, is_ended: bool) -> Entry | LineIssue:
    """The line's object. A last line without its line end is one too where it is whole."""
    try:
        record = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        if is_ended:
            return _issue(source, text, "not_json", f"the line is not valid JSON: {error.msg}", _MEND)
        return _issue(source, text, "unfinished_line", "the last line was never finished", _MEND)
    if not isinstance(record, dict):
        return _issue(source, text, "not_an_object", "the line is no JSON object", _MEND)
    return Entry(record, source, text)


def _issue(source: SourceLine, text: bytes, code: str, message: str, fix: str) -> LineIssue:
    excerpt = text[: 4 * EXCERPT].decode("utf-8", "replace")[:EXCERPT]
    return LineIssue.at(source, code, message, fix, excerpt)


def _write_all(handle: int, data: bytes) -> None:
    """Writes in one call where the system lets us, so that no reader sees half a line."""
    while data:
        data = data[os.write(handle, data) :]


def _sync_folder(folder: Path) -> None:
    """The name of a new file is part of its folder: without this a crash could lose the whole file."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _too_large(path: Path) -> InputFault:
    return InputFault.of(
        "journal_too_large",
        f"the journal would be larger than {MAX_BYTES >> 20} MiB",
        where=str(path),
        fix="Name another file in the manifest, or keep what is old under another name.",
    )


def _refuse(path: Path, error: OSError) -> NoReturn:
    reason = "it is a link" if error.errno == errno.ELOOP else error.strerror or str(error)
    raise InputFault.of(
        "journal_not_written",
        f"the journal cannot be written: {reason}",
        where=str(path),
        fix="Name a regular file in a folder that you may write to, with room on its disk.",
    ) from error
