"""What was found in documents, kept from run to run: an answer costs milliseconds, remembering it none.

A file for each state of a document, named by its print and the locator's version. Deleting the folder loses
nothing, a damaged file counts as empty, and several processes may add to it at once.
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
from proofspan.store.files.segment_files import DamagedError, read_table, write_table

#: So many answers are kept of one document, the latest; so many bytes of all, those used last.
MOST_ANSWERS = 200_000
MOST_BYTES = 256 << 20
FOLDER = "answers"


class Answer(NamedTuple):
    """What became of a quote that was looked for; fields as in
    `proofspan.store.files.located.PLACED_SCHEMA`.
    """

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

#: The hash of a query → its answer.
Answers = Mapping[bytes, Answer]


class Remembered:
    """The answers that lie in a cache folder. StoreFault where that cannot be written."""

    def __init__(self, cache_dir: Path, version: str) -> None:
        self._folder = cache_dir / FOLDER
        self._version = version

    def of(self, document: Fingerprint, *, is_text: bool) -> dict[bytes, Answer]:
        """What is known of a document in this state."""
        path = self._path(document, is_text)
        with suppress(OSError):
            os.utime(path)  # those that are not used any more make room first
        return _read(path)

    def keep(self, document: Fingerprint, answers: Answers, *, is_text: bool) -> None:
        """Add answers to those that are there by now."""
        path = self._path(document, is_text)
        with writing_to(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            with turn(self._folder):
                known = _read(path) | dict(answers)
                kept = list(known.items())[-MOST_ANSWERS:]
                columns = zip(*((asked, *answer) for asked, answer in kept), strict=True)
                arrays = [pa.array(c, f.type) for c, f in zip(columns, ANSWER_SCHEMA, strict=True)]
                write_table(self._folder, path.name, pa.table(arrays, schema=ANSWER_SCHEMA))
                self._make_room()

    def _path(self, document: Fingerprint, is_text: bool) -> Path:
        known = repr((self._version, document, is_text))
        return self._folder / f"{hashlib.sha256(known.encode()).hexdigest()[:32]}.parquet"

    def _make_room(self) -> None:
        """Removes the files that were not used for longest, and what a process that died has left behind."""
        room = MOST_BYTES
        found = [(path.stat(), path) for path in self._folder.iterdir() if path.name != "lock"]
        for status, path in sorted(found, key=lambda each: -each[0].st_mtime_ns):
            room -= status.st_size
            if room < 0 or path.suffix != ".parquet":
                path.unlink(missing_ok=True)


def _read(path: Path) -> dict[bytes, Answer]:
    """A file's answers in the order in which they came; none of one that is missing or damaged."""
    try:
        table = read_table(path)
    except DamagedError:
        return {}
    if table.schema != ANSWER_SCHEMA:
        return {}
    columns = (column.to_pylist() for column in table.columns)
    return {asked: Answer(*answer) for asked, *answer in zip(*columns, strict=True)}
