"""Cached answers of locating: what was found in a document for a query, for all runs and workspaces.

One file per state of a document, named by its fingerprint and the locator's version. The folder may be
deleted at any time, a damaged file counts as empty, and several processes may add to it at once.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from proofspan.fingerprints import Fingerprint
from proofspan.store.files.cache_dir import turn, writing_to
from proofspan.store.files.columns import table_of
from proofspan.store.files.segment_files import DamagedError, read_table, write_table

#: How many answers are kept per document, the latest; how many bytes of all, those used last.
MOST_ANSWERS = 200_000
MOST_BYTES = 256 << 20
FOLDER = "answers"


class Answer(NamedTuple):
    """The result for one quote; fields as in `proofspan.store.files.located.PLACED_SCHEMA`."""

    status: str
    page_idx: int | None
    page_mismatch: bool
    agreement: float
    numbers_differ: bool
    tells_page: bool


ANSWER_SCHEMA = pa.schema(
    [
        ("asked", pa.binary()),
        ("status", pa.string()),
        ("page_idx", pa.int64()),
        ("page_mismatch", pa.bool_()),
        ("agreement", pa.float64()),
        ("numbers_differ", pa.bool_()),
        ("tells_page", pa.bool_()),
    ]
)


class LocateCache:
    """The answers in a cache folder. StoreFault where that cannot be written."""

    def __init__(self, cache_dir: Path, version: str) -> None:
        self._folder = cache_dir / FOLDER
        self._version = version

    def of(self, document: Fingerprint, *, is_text: bool) -> dict[bytes, Answer]:
        """Return the answers on a document in this state."""
        path = self._path(document, is_text)
        with suppress(OSError):
            os.utime(path)  # the files that are not used make room first
        return _read(path)

    def keep(self, document: Fingerprint, answers: Mapping[bytes, Answer], *, is_text: bool) -> None:
        """Add answers, by the hash of their query, to the stored ones."""
        path = self._path(document, is_text)
        with writing_to(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            with turn(self._folder):
                stored = list((_read(path) | dict(answers)).items())[-MOST_ANSWERS:]
                rows = [{"asked": asked, **answer._asdict()} for asked, answer in stored]
                write_table(self._folder, path.name, table_of(rows, ANSWER_SCHEMA))
                self._make_room()

    def _path(self, document: Fingerprint, is_text: bool) -> Path:
        identity = repr((self._version, document, is_text))
        return self._folder / f"{hashlib.sha256(identity.encode()).hexdigest()[:32]}.parquet"

    def _make_room(self) -> None:
        """Remove the least recently used files, and unfinished ones of processes that died."""
        room = MOST_BYTES
        files = [(path.stat(), path) for path in self._folder.iterdir() if path.name != "lock"]
        for status, path in sorted(files, key=lambda each: -each[0].st_mtime_ns):
            room -= status.st_size
            if room < 0 or path.suffix != ".parquet":
                path.unlink(missing_ok=True)


def _read(path: Path) -> dict[bytes, Answer]:
    """Return a file's answers in the order they were added; none of a missing or damaged file."""
    try:
        table = read_table(path)
    except DamagedError:
        table = ANSWER_SCHEMA.empty_table()
    if table.schema != ANSWER_SCHEMA:
        return {}
    columns = (column.to_pylist() for column in table.columns)
    return {asked: Answer(*answer) for asked, *answer in zip(*columns, strict=True)}
