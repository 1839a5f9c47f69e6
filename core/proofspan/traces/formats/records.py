"""The records of a source one after the other, whatever file they are in: JSON, JSONL, CSV, Parquet.

Files packed with gzip or Zstandard are unpacked as they are read. Memory is bounded by the largest record.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

import orjson

from proofspan.contracts.records.records import Json
from proofspan.errors import Fault, InputFault
from proofspan.manifest.contents import HEAD, LINES, content_of
from proofspan.traces.formats.types import Reading, Sample, Shape
from proofspan.traces.lines.http_text import http_messages, is_http_text
from proofspan.traces.lines.json_values import (
    Entries,
    Value,
    closed,
    json_values,
    later_keys,
    parsed_values,
)
from proofspan.traces.lines.reader import (
    MAX_DEPTH,
    MAX_LINE,
    RawLine,
    UnusableError,
    is_deeper,
    lines_of,
    parse_line,
)
from proofspan.traces.lines.rows import is_parquet, is_table, read_csv, read_parquet
from proofspan.traces.lines.unpack import open_plain, plain_pieces

T = TypeVar("T")

#: Records by which a format is recognized.
SAMPLED = 20
#: The size of a large object, and the bytes at its beginning by which its format is recognized.
_LARGE, _SAMPLED_SIZE = 1 << 20, 1 << 18
#: Names of a folder or an archive by which a format is recognized.
_MOST_NAMES = 10_000
_ZIP = b"PK\x03\x04"
_JSON_BEGINS = ("[", "{", '"')
#: What Python's json writes for numbers that JSON has not.
_NOT_FINITE = re.compile(rb"[:,\[]\s*-?(?:NaN|Infinity)\b")

#: The beginning of a table that pandas writes by columns: {"NAME": {"0": VALUE, "1": …}, …}.
_BY_COLUMNS = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"[^"]+"\s*:\s*\{\s*"0"\s*:')
#: The beginning of a list or a dictionary as Python writes it.
_PYTHON = re.compile(r"\[?\s*\{?\s*'")


def sample_of(path: Path) -> Sample:
    """Return the beginning of a source. Raises InputFault if it cannot be read."""
    if path.is_dir():
        return Sample(
            path, "folder", names=tuple(sorted(each.name for each in islice(path.iterdir(), _MOST_NAMES)))
        )
    head = head_of(path)
    if head.startswith(_ZIP):
        names: tuple[str, ...] = ()
        with suppress(zipfile.BadZipFile, OSError, ValueError), zipfile.ZipFile(path) as archive:
            names = tuple(archive.namelist()[:_MOST_NAMES])
        return Sample(path, "zip", head, names=names)
    shape = shape_of(path, head)
    if shape in ("text", "other"):
        return Sample(path, shape, head)
    found: tuple[Mapping[str, Json], ...] = ()
    with suppress(Fault):
        if shape == "object":
            found = _beginning(path)
        else:
            found = tuple(record for _, record in islice(read_records(path, Reading(path.name)), SAMPLED))
    return Sample(path, shape, head, found)


def head_of(path: Path) -> bytes:
    """Return the first bytes of a file, unpacked. Raises InputFault if it cannot be read."""
    with open_plain(path) as source:
        return source.read(HEAD)


def _beginning(path: Path) -> tuple[Mapping[str, Json], ...]:
    """Return the first object of a file; of a large one, lists that go on hold only their first entries."""
    with open_plain(path) as source:
        data = source.read(_LARGE)
    if len(data) == _LARGE:
        facts = path.stat()
        return beginning_of_large(path, facts.st_size, facts.st_mtime_ns)
    return tuple(record for _, record in islice(read_records(path, Reading(path.name)), SAMPLED))


@lru_cache(1)  # those who read a file ask for it again
def beginning_of_large(path: Path, size: int, mtime: int) -> tuple[Mapping[str, Json], ...]:
    """Return the first object of a large file of this size and time in ns; none where it cannot be read."""
    with open_plain(path) as source:
        data = source.read(_SAMPLED_SIZE)
    with suppress(orjson.JSONDecodeError):
        first = orjson.loads(closed(data.removeprefix(b"\xef\xbb\xbf")))
        if isinstance(first, dict):
            later = later_keys(plain_pieces(path), beyond=_SAMPLED_SIZE)
            return ({**{name: orjson.loads(value) for name, value in later}, **first},)
    return ()


def shape_of(path: Path, head: bytes) -> Shape:
    """Return how the records of a file are written, by its beginning."""
    if is_http_text(head):
        return "http"
    if is_table(head):
        return "table"
    if _BY_COLUMNS.match(head):
        return "array"
    code, begin = content_of(head).code, head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if code in ("json_over_lines", "json_array", "json_values_over_lines"):
        return "array" if begin == b"[" else "object"
    if code == "lines" and begin == b"[":
        return "array"
    if code == "lines" and begin == b"{":
        return "object" if _goes_on(path, head) else "lines"
    return "text" if code in ("is_trec", "is_log", "lines") else "other"


def _goes_on(path: Path, head: bytes) -> bool:
    """Return whether a file whose first line is longer than its head is one object, also one that breaks off.

    The line is longer than lines are read, or it is no object, and none of the lines after it is one.
    """
    if len(head) < HEAD or b"\n" in head.strip():
        return False
    with open_plain(path) as source:
        if not any(source.readline(HEAD).endswith(b"\n") for _ in range(MAX_LINE // HEAD + 1)):
            return True
    with open_plain(path) as source:
        return not any(_is_object(source.readline(MAX_LINE)) for _ in range(LINES))


def _is_object(line: bytes) -> bool:
    with suppress(orjson.JSONDecodeError):
        return isinstance(orjson.loads(line.removeprefix(b"\xef\xbb\xbf")), dict)
    return False


def read_records(path: Path, reading: Reading) -> Iterator[tuple[str, dict[str, Json]]]:
    """Yield the objects of a file with their places: "line 3", "entry 3", "row 3".

    What is no object is a problem of `reading`. Raises InputFault for a file that is neither JSON, JSONL,
    CSV nor Parquet.
    """
    head = head_of(path)
    shape = shape_of(path, head)
    if is_parquet(head):
        rows = read_parquet(path, reading.on_bytes)
        items: Iterator[tuple[str, Json]] = ((f"row {number:,}", row) for number, row in rows)
    elif shape == "table":
        items = _csv(path, head, reading)
    elif _BY_COLUMNS.match(head):
        items = _rows(path, reading)
    elif shape in ("object", "array"):
        items = ((place, value) for _, place, value in _values(path, reading, ((),)))
    elif shape == "lines":
        items = _lines(path, reading)
    elif shape == "http":
        items = _http(path, reading)
    else:
        found = content_of(head)
        message = f"the file is {found.what}" if found.what else "the file is neither JSON nor a table"
        raise InputFault.of("not_records", message, where=path.name, fix=found.fix or "Name another file.")
    for place, value in _as_far_as_readable(items, reading):
        reading.records += 1
        if isinstance(value, dict):
            yield place, value
        else:
            reading.problem("not_an_object", "is no JSON object", place, "Write one object for each record.")


def read_lists(
    path: Path, reading: Reading, *lists: str, rest: dict[str, Json]
) -> Iterator[tuple[str, str, dict[str, Json]]]:
    """Yield the entries of long lists of an object, in memory for one: the list's name, the place, the entry.

    A list is named by the keys down to it, such as "results.items", whatever lists are between them. `rest`
    has the object around the entry: before the first entry of a list as far as it goes, and all of it, with
    its lists empty, at the end. Of a file with many objects it has the one that the entry is in, lists and
    all. What is no object is a problem. Raises InputFault like `read_records`.
    """
    paths = {tuple(name.split(".")): name for name in lists}
    if shape_of(path, head_of(path)) != "object":
        for place, record in read_records(path, reading):
            rest.clear()
            rest.update(record)
            for keys, name in paths.items():
                for number, entry in enumerate(_entries(record, keys), start=1):
                    yield from _object(name, f"{place}, {name} {number:,}", entry, reading)
        return
    for found, place, value in _as_far_as_readable(_values(path, reading, tuple(paths)), reading):
        if found is None:
            rest.clear()
            rest.update(value if isinstance(value, dict) else {})
        else:
            reading.records += 1
            yield from _object(paths[found], place, value, reading)


def _as_far_as_readable(items: Iterator[T], reading: Reading) -> Iterator[T]:
    """Yield the items; a file that cannot be read on after the first is a problem, not a Fault."""
    has_begun = False
    try:
        for item in items:
            yield item
            has_begun = True
    except InputFault as fault:
        if not has_begun:
            raise
        reading.records += 1
        for each in fault.problems:
            reading.problem(each.code, each.message, "the rest", each.fix)


def _object(
    name: str, place: str, entry: Json, reading: Reading
) -> Iterator[tuple[str, str, dict[str, Json]]]:
    if isinstance(entry, dict):
        yield name, place, entry
    else:
        reading.problem("not_an_object", "is no JSON object", place, "Write one object for each record.")


def _entries(value: Json, keys: tuple[str, ...]) -> Iterator[Json]:
    """Yield the entries of the list at `keys`."""
    if isinstance(value, list):
        yield from chain.from_iterable(_entries(each, keys) for each in value) if keys else value
    elif keys and isinstance(value, dict):
        yield from _entries(value.get(keys[0]), keys[1:])


def _lines(path: Path, reading: Reading) -> Iterator[tuple[str, Json]]:
    with open_plain(path, reading.on_bytes) as source:
        for raw in lines_of(source, final=True):
            place = f"line {raw.line:,}"
            try:
                yield place, parsed(raw, place, reading)
            except UnusableError as why:
                reading.records += 1
                reading.problem(why.code, why.message, place, why.fix)


def _http(path: Path, reading: Reading) -> Iterator[tuple[str, Json]]:
    """Yield the events of a stream, named by their `type`, or the values of a body."""
    with open_plain(path) as source:
        for message in http_messages(source):
            place = f"line {message.line:,}"
            if not message.is_json:
                fix = "Save the stream again; what is before that has been read."
                reading.problem("not_json", "the data of this event are no JSON", place, fix, lost=False)
                continue
            for each in json_values([message.data]) if not message.event else [message]:
                value = parsed(RawLine(message.line, 0, len(each.data), each.data), place, reading)
                if message.event and isinstance(value, dict):
                    value = {"type": message.event, **value}
                yield place, value


def _csv(path: Path, head: bytes, reading: Reading) -> Iterator[tuple[str, Json]]:
    def noted(code: str, message: str, place: str, fix: str, lost: bool) -> None:
        reading.records += lost
        reading.problem(code, message, place, fix, lost=lost)

    with open_plain(path, reading.on_bytes) as source:
        for number, row in read_csv(source, head, noted=noted):
            yield f"row {number:,}", row


def _rows(path: Path, reading: Reading) -> Iterator[tuple[str, Json]]:
    """Yield the rows of a table that is written by columns."""
    for _, place, value in _values(path, reading, ()):
        columns = value if isinstance(value, dict) else {}
        tables = {name: each for name, each in columns.items() if isinstance(each, dict)}
        if tables.keys() != columns.keys():
            yield place, value
            continue
        for number in dict.fromkeys(chain.from_iterable(tables.values())):
            yield f"row {number}", {name: cells.get(number) for name, cells in tables.items()}


def _values(
    path: Path, reading: Reading, lists: tuple[tuple[str, ...], ...]
) -> Iterator[tuple[tuple[str, ...] | None, str, Json]]:
    """Yield the values of JSON with the list that each is an entry of, and its place."""
    is_cut_off = False
    for each in parsed_values(plain_pieces(path, reading.on_bytes), lists):
        if is_cut_off:
            return  # the value around an entry that is cut off
        if isinstance(each, Entries):
            name = ".".join(each.path) or "entry"
            for number, value in enumerate(each.values, start=each.number):
                yield each.path, f"{name} {number:,}", value
            continue
        if each.path is None:
            place = "the object" if each.number == 1 else f"value {each.number:,}"
        else:
            place = f"{'.'.join(each.path) or 'entry'} {each.number:,}"
        is_around = each.path is None and lists != ((),)
        if each.state in ("truncated", "broken"):
            is_cut_off = True
            yield from _cut_off(each, place, reading, is_around=is_around)
            continue
        try:
            if not each.data:
                fix = "Keep pictures and whole documents out of the records."
                raise UnusableError("too_large", f"has {each.size:,} bytes, which is too much", fix)
            value = parsed(RawLine(each.line, 0, len(each.data), each.data), place, reading)
        except UnusableError as why:
            reading.records += not is_around
            where = f"{place} (line {each.line:,})"
            reading.problem(why.code, why.message, where, why.fix, lost=not is_around)
            continue
        yield each.path, place, value


def _cut_off(
    each: Value, place: str, reading: Reading, *, is_around: bool
) -> Iterator[tuple[tuple[str, ...] | None, str, Json]]:
    """Note that a file ends too early, and yield what can be read of its last value."""
    value: Json = None
    if each.state == "truncated":
        with suppress(orjson.JSONDecodeError):
            value = orjson.loads(each.data)
    is_lost = not is_around and value is None
    reading.records += is_lost
    what = "the file ends within it" if each.state == "truncated" else "its brackets do not match"
    fix = "Export it again; what is before that has been read."
    reading.problem(each.state, what, f"{place} (line {each.line:,})", fix, lost=is_lost)
    if value is not None and value != []:
        yield each.path, place, value


def parsed(raw: RawLine, place: str, reading: Reading) -> Json:
    """Return a JSON value, NaN and infinite numbers as null. Raises UnusableError for what is not JSON."""
    try:
        return parse_line(raw)
    except UnusableError as why:
        if why.code != "not_json" or not _NOT_FINITE.search(raw.data):
            raise
        try:
            value = json.loads(raw.data, parse_constant=lambda _: None)
        except (ValueError, RecursionError):
            raise why from None
        if is_deeper(value, MAX_DEPTH):
            raise
        message = "has NaN or Infinity, which JSON does not have; it is read as null"
        reading.problem("not_finite", message, place, "Write null for what has no value.", lost=False)
        return value


def json_of(value: Json) -> Json:
    """Return the JSON or Python value of a text, as tools write lists into cells; others as they are."""
    if type(value) is str and value.startswith(_JSON_BEGINS):
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            if _PYTHON.match(value):
                return python_of(value)
    return value


def python_of(text: str) -> Json:
    """Return the list or dictionary that a text holds as Python writes it; other texts as they are."""
    with suppress(ValueError, SyntaxError, RecursionError, MemoryError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # escapes that Python does not know
        value = ast.literal_eval(text)
        return value if _is_json(value, MAX_DEPTH) else text
    return text


def _is_json(value: object, depth: int) -> bool:
    """Return whether a Python value is one that JSON has, at most `depth` levels deep."""
    if isinstance(value, dict):
        return depth > 0 and all(
            isinstance(key, str) and _is_json(each, depth - 1) for key, each in value.items()
        )
    if isinstance(value, list):
        return depth > 0 and all(_is_json(each, depth - 1) for each in value)
    return value is None or isinstance(value, str | int | float | bool)
