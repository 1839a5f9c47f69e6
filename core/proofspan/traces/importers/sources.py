"""The records of a mapping's source: JSON, JSONL, CSV or Parquet; those that `where` keeps, grouped."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path as FilePath
from tempfile import TemporaryDirectory

import orjson

from proofspan.contracts.records.records import Json, LineIssue, SourceLine
from proofspan.errors import InputFault, Problem
from proofspan.manifest.contents import HEAD
from proofspan.traces.importers.conditions import BrokenJsonError, Condition
from proofspan.traces.importers.counts import FieldCount, Tally
from proofspan.traces.importers.paths import Broken, Path, Place
from proofspan.traces.lines.encodings import damage_of
from proofspan.traces.lines.reader import EXCERPT, MAX_DEPTH, is_deeper
from proofspan.traces.lines.rows import is_parquet, is_table, read_csv, read_parquet
from proofspan.traces.lines.sniff import first_byte
from proofspan.traces.lines.tables import entry_lines, read_table, whole_json
from proofspan.traces.lines.unpack import is_packed, open_plain, plain_source, temporary_folder

#: Bytes of a file that is one object: it is parsed as a whole.
MAX_OBJECT = 256 << 20
#: The most bytes of a file whose records are grouped without being sorted: all are held in memory.
MAX_UNSORTED = 1 << 30
#: The key of a group's records, in the record that they become.
ROWS = "rows"


@dataclass(slots=True)
class Noticed:
    """The report of a reading: unreadable lines, problems of the file, and counts of what was left out."""

    issues: list[LineIssue] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    tally: Tally = field(default_factory=dict)


@dataclass(slots=True)
class Source:
    """A file of records. `at` leads to the records of a value, `where` keeps some of them.

    With `group_by`, the records with the same values there become one, `{"rows": [...]}`, in the order of the
    first of each.
    """

    path: FilePath
    at: Path | None = None
    where: tuple[Condition, ...] = ()
    group_by: tuple[Path, ...] = ()
    fix_encoding: bool = False
    _copies: TemporaryDirectory[str] | None = None
    _is_sorted: bool | None = None

    def records(self, noticed: Noticed | None = None) -> Iterator[tuple[int, Json]]:
        """Yield the records with their 1-based lines, of tables with the numbers of their rows.

        Raises InputFault for a file that cannot be used.
        """
        kept = self._kept(noticed or Noticed())
        if not self.group_by:
            yield from kept
            return
        if self._is_sorted is None:
            self._is_sorted = self._keys_are_together()
        if not self._is_sorted:
            if self.path.stat().st_size > MAX_UNSORTED:
                message = (
                    f"records of one group are apart, and more than {MAX_UNSORTED >> 30} GiB are not sorted"
                )
                fix = f"Sort the source by {', '.join(f'`{each}`' for each in self.group_by)}."
                raise InputFault.of("not_sorted", message, where=self.path.name, fix=fix)
            if noticed is not None:
                message = "records of one group are apart: all are held in memory"
                fix = "Sort a large source by what `group_by` names."
                noticed.problems.append(Problem("not_sorted", message, self.path.name, fix, severity="note"))
        yield from self._grouped(kept, noticed or Noticed())

    def damage(self) -> Problem | None:
        """Return the warning for text that was decoded wrongly, if it is not repaired."""
        if self.fix_encoding or self._holds_parquet() or is_packed(self.path):
            return None
        return damage_of(self.path, file=self.path.name)

    @property
    def plain(self) -> FilePath:
        """Return the file, or a copy that is unpacked or repaired."""
        fix = self.fix_encoding and not self._holds_parquet()
        if fix or is_packed(self.path):
            self._copies = self._copies or temporary_folder()
            return plain_source(self.path, cache_dir=FilePath(self._copies.name), fix_encoding=fix)
        return self.path

    def _holds_parquet(self) -> bool:
        return is_parquet(_head(self.path))

    def _kept(self, noticed: Noticed) -> Iterator[tuple[int, Json]]:
        count = noticed.tally.get("where") if self.where else None
        for line, value in values_of(self.plain, self.path.name, noticed):
            for record in [value] if self.at is None else self.at.all(Place(value, value, line)):
                if isinstance(record, Broken):
                    noticed.issues.append(_issue(self.path.name, line, "json_in_text", record.why, value))
                elif is_kept(self.where, Place(record, record, line), count):
                    yield line, record

    def _key_of(self, record: Json, line: int) -> bytes | Broken | None:
        """Return a hash of the values that group a record; None if one of them is missing.

        Kept are small hashes: what orjson writes keeps a kilobyte of memory each.
        """
        place = Place(record, record, line)
        values = [next(path.all(place), None) for path in self.group_by]
        broken = next((each for each in values if isinstance(each, Broken)), None)
        if broken is not None or None in values:
            return broken
        return hashlib.blake2b(orjson.dumps(values), digest_size=16).digest()

    def _keys_are_together(self) -> bool:
        seen: set[bytes] = set()
        keys = (self._key_of(record, line) for line, record in self._kept(Noticed()))
        for key, _ in groupby(each for each in keys if isinstance(each, bytes)):
            if key in seen:
                return False
            seen.add(key)
        return True

    def _keyed(
        self, records: Iterator[tuple[int, Json]], noticed: Noticed
    ) -> Iterator[tuple[bytes, int, Json]]:
        count = noticed.tally.get("group_by")
        for line, record in records:
            key = self._key_of(record, line)
            if isinstance(key, bytes):
                yield key, line, record
            else:
                place = Place(record, record, line)
                why = (
                    key.why
                    if isinstance(key, Broken)
                    else "; ".join(
                        each.nearest(place) for each in self.group_by if next(each.all(place), None) is None
                    )
                )
                message = f"the record is in no group: {why}"
                noticed.issues.append(_issue(self.path.name, line, "no_group", message, record))
            if count is not None:
                count.add("found" if isinstance(key, bytes) else "absent", line)

    def _grouped(self, records: Iterator[tuple[int, Json]], noticed: Noticed) -> Iterator[tuple[int, Json]]:
        keyed = self._keyed(records, noticed)
        if self._is_sorted:
            for _, group in groupby(keyed, key=lambda each: each[0]):
                members = list(group)
                yield members[0][1], {ROWS: [record for _, _, record in members]}
            return
        groups: dict[bytes, tuple[int, list[Json]]] = {}
        for key, line, record in keyed:
            groups.setdefault(key, (line, []))[1].append(record)
        for line, rows in groups.values():
            yield line, {ROWS: rows}


def is_kept(where: tuple[Condition, ...], place: Place, count: FieldCount | None) -> bool:
    """Return whether all conditions hold for an item, and count it as found or absent."""
    if not where:
        return True
    try:
        kept, why = all(each.holds(place) for each in where), ""
    except BrokenJsonError as error:
        kept, why = False, str(error)
    if count is not None:
        count.add("unusable" if why else "found" if kept else "absent", place.line, why)
    return kept


def unit_of(path: FilePath) -> str:
    """Return what the records of a file are counted by: "row" of a table, else "line"."""
    with open_plain(path) as source:
        return "row" if is_table(source.read(HEAD)) else "line"


def values_of(path: FilePath, file: str, noticed: Noticed) -> Iterator[tuple[int, Json]]:
    """Yield each value of JSONL or an array, the one object, or each row of a table, with its line or row."""
    head = _head(path)
    if is_parquet(head):
        yield from _as_far_as_readable(read_parquet(path), noticed)
    elif is_table(head):
        with open_plain(path) as table:
            yield from read_csv(table, head, noted=_noted(file, noticed))
    else:
        yield from _json_values(path, file, noticed)


def _head(path: FilePath) -> bytes:
    with open_plain(path) as source:
        return source.read(HEAD)


def _noted(file: str, noticed: Noticed) -> Callable[[str, str, str, str, bool], None]:
    def note(code: str, message: str, place: str, fix: str, _lost: bool) -> None:
        problem = Problem(code, message, f"{file}: {place}", fix)
        if code not in ("bad_utf8", "more_cells") or all(each.code != code for each in noticed.problems):
            noticed.problems.append(problem)

    return note


def _as_far_as_readable(rows: Iterator[tuple[int, Json]], noticed: Noticed) -> Iterator[tuple[int, Json]]:
    """Yield the rows; a file that cannot be read on after the first is a problem, not a Fault."""
    has_begun = False
    try:
        for row in rows:
            yield row
            has_begun = True
    except InputFault as fault:
        if not has_begun:
            raise
        noticed.problems += fault.problems


def _json_values(path: FilePath, file: str, noticed: Noticed) -> Iterator[tuple[int, Json]]:
    lines = entry_lines(path) if first_byte(path) == b"[" else None
    try:
        for item in read_table(path, file=file, record_of=lambda value, source: (source.line, value)):
            if isinstance(item, LineIssue):
                noticed.issues.append(item)
            else:
                yield (lines[item[0] - 1], item[1]) if lines else item
    except InputFault as fault:
        if fault.problems[0].code != "json_over_lines":
            raise
        _, value = whole_json(path, file=file, limit=MAX_OBJECT)
        if is_deeper(value, MAX_DEPTH):
            message, fix = f"nested more than {MAX_DEPTH} deep", "Flatten the records."
            raise InputFault.of("nested_too_deeply", message, where=file, fix=fix) from None
        yield 1, value


def _issue(file: str, line: int, code: str, message: str, record: Json) -> LineIssue:
    excerpt = orjson.dumps(record, default=str).decode("utf-8", "replace")[:EXCERPT]
    fix = "Correct the record, or the path in the mapping."
    return LineIssue.at(SourceLine(file, line, 0, 0), code, message, fix, excerpt)
