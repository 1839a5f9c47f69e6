"""Files that are one JSON value, checked entry by entry, and problems that only the text of JSON shows.

A parser keeps the last of two equal keys and rounds long integers. Both are rare, and finding them means
parsing a line again, ten times slower; so `is_exact` rules them out for nearly all lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import orjson

from proofspan.contracts.records.records import Json
from proofspan.contracts.rules.catalogue import problem
from proofspan.contracts.rules.context import shown
from proofspan.errors import Problem
from proofspan.manifest.contents import Content
from proofspan.mojibake import first_change
from proofspan.traces.lines.encodings import change_in
from proofspan.traces.lines.reader import MAX_DEPTH, Number, Pairs, is_deeper, parse_as_written
from proofspan.traces.lines.tables import entry_lines, whole_json
from proofspan.wording import counted


class Entry(NamedTuple):
    """An entry, its 1-based line, and the problems of its text. `obj` is None if it is no record."""

    line: int
    obj: dict[str, Json] | None
    problems: tuple[Problem, ...]


def is_whole_json(content: Content) -> bool:
    """Return whether a file of this content is one JSON value rather than one a line."""
    return content.code in ("json_array", "json_over_lines")


def read_entries(path: Path, *, file: str) -> Iterator[Entry]:
    """Yield the entries of an array, or the one object. Raises InputFault if the file cannot be read."""
    data, value = whole_json(path, file=file)
    entries, lines = (value, entry_lines(path)) if type(value) is list else ([value], [1])
    # Text that is too deep to be parsed again has entries that are too deep.
    is_sound = is_deeper(value, MAX_DEPTH + 1) or is_exact(data, value)
    exact: list[tuple[Problem, ...]] = [()] * len(entries)
    if not is_sound:
        written = parse_as_written(data.decode("utf-8"))
        exact = [tuple(_walk(each, "")) for each in (written if type(written) is list else [written])]
    is_damaged = any(change_in(line) is not None for line in data.split(b"\n"))
    for line, entry, problems in zip(lines, entries, exact, strict=True):
        if type(entry) is not dict:
            yield Entry(line, None, (problem("not_an_object", "", "the entry is not an object"),))
        elif is_deeper(entry, MAX_DEPTH):
            message = f"arrays and objects are nested more than {MAX_DEPTH} deep"
            yield Entry(line, None, (problem("nested_too_deeply", "", message),))
        else:
            damage = damage_problems(orjson.dumps(entry), entry) if is_damaged else ()
            yield Entry(line, entry, (*problems, *damage))


#: The range of 64-bit integers, signed or not.
SMALLEST, LARGEST = -(1 << 63), (1 << 64) - 1
#: No number with fewer digits is out of that range.
_DIGITS = 19
_LONG_NUMBER = re.compile(rb"[0-9]{19}")
_KEY_END = re.compile(rb'"[ \t\r\n]*:')
#: How many characters of a key or number are shown.
_SHOWN = 60


def is_exact(line: bytes, value: Json) -> bool:
    """Return True if parsing `value` from the line lost nothing for certain.

    Written out again it is the same line, or it has as many keys as the line has colons for them, and no long
    number.
    """
    if orjson.dumps(value) == line:
        return True
    if _LONG_NUMBER.search(line) is not None:
        return False
    keys = 0
    waiting: list[Iterable[Json]] = [[value]]
    for node in waiting:  # grows during the iteration
        for each in node:
            if type(each) is dict:
                keys += len(each)
                waiting.append(each.values())
            elif type(each) is list:
                waiting.append(each)
    return len(_KEY_END.findall(line)) == keys


def exact_problems(data: bytes) -> tuple[Problem, ...]:
    """Return duplicate keys and integers beyond 64 bits, in the order of the text, each with its place.

    `data` is JSON that the strict reader accepts: UTF-8, not nested too deeply.
    """
    return tuple(_walk(parse_as_written(data.decode("utf-8")), ""))


def damage_problems(data: bytes, obj: Mapping[str, Json]) -> tuple[Problem, ...]:
    """Return the problem of a record whose text was decoded wrongly, at its first such key, else value."""
    if change_in(data) is None:
        return ()
    for is_key in (True, False):
        for place, text in _texts(obj, "", is_key=is_key):
            if (change := first_change(text)) is not None:
                return (problem("mojibake", place, f"{'the key ' if is_key else ''}{change}"),)
    return ()


def _texts(value: Json, place: str, *, is_key: bool) -> Iterator[tuple[str, str]]:
    """Yield the keys of a value, or its texts, with their places."""
    if type(value) is str and not is_key:
        yield place, value
    elif type(value) is list:
        for number, each in enumerate(value, start=1):
            yield from _texts(each, f"{place}[{number}]", is_key=is_key)
    elif type(value) is dict:
        for key, each in value.items():
            inside = f"{place}.{_shown(key)}" if place else _shown(key)
            if is_key:
                yield inside, key
            yield from _texts(each, inside, is_key=is_key)


def byte_order_mark() -> Problem:
    """Return the problem of a file that begins with a byte order mark."""
    return problem("byte_order_mark", "", "the file begins with a byte order mark (EF BB BF)")


def crlf_problem(lines: int) -> Problem:
    """Return the problem, once a file, of `lines` lines that end with CR LF."""
    return problem("crlf", "", f"{counted(lines, 'line')} with CR LF at the end, this one first")


def _walk(value: Json, place: str) -> Iterator[Problem]:
    if type(value) is Number:
        # Python refuses to parse very long ones.
        is_short = len(value) < _DIGITS or not value.lstrip("-").isdigit()
        if not is_short and (len(value) > 2 * _DIGITS or not SMALLEST <= int(value) <= LARGEST):
            yield problem("integer_too_large", place, f"the integer {_shown(value)} does not fit in 64 bits")
    elif type(value) is Pairs:
        seen: set[str] = set()
        for key, each in value:
            inside = f"{place}.{_shown(key)}" if place else _shown(key)
            if key in seen:
                yield problem("duplicate_key", inside, f"duplicate key {shown(key)} in an object")
            seen.add(key)
            yield from _walk(each, inside)
    elif type(value) is list:
        for number, each in enumerate(value, start=1):
            yield from _walk(each, f"{place}[{number}]")


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
