"""A JSON array, or one object spread over lines: read at once, and judged entry by entry like lines."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import orjson

from proofspan.contracts.records.records import Json
from proofspan.contracts.rules.catalogue import problem
from proofspan.contracts.rules.context import shown
from proofspan.errors import Problem
from proofspan.traces.lines.reader import MAX_DEPTH, is_deeper
from proofspan.traces.lines.sniff import first_byte, foreign_file
from proofspan.traces.lines.tables import entry_lines, whole_json


class Entry(NamedTuple):
    """An entry, the line on which it begins, and what its bytes tell. `obj` is None where it is no record."""

    line: int
    obj: dict[str, Json] | None
    problems: tuple[Problem, ...]


def is_whole_json(path: Path, *, file: str) -> bool:
    """Whether a file is one JSON value rather than one a line."""
    if first_byte(path) == b"[":
        return True
    foreign = foreign_file(path, file=file)
    return foreign is not None and foreign.code == "json_over_lines"


def read_entries(path: Path, *, file: str) -> Iterator[Entry]:
    """The entries of an array, or the one object. InputFault where the file is too large, or no JSON."""
    data, value = whole_json(path, file=file)
    entries, lines = (value, entry_lines(path)) if type(value) is list else ([value], [1])
    is_sound = is_deeper(value, MAX_DEPTH + 1) or is_exact(data, value)
    exact = [()] * len(entries) if is_sound else exact_entries(data)
    for line, entry, problems in zip(lines, entries, exact, strict=True):
        if (why := _unusable(entry)) is not None:
            yield Entry(line, None, (why,))
        else:
            yield Entry(line, entry, problems)


def _unusable(entry: Json) -> Problem | None:
    if type(entry) is not dict:
        return problem("not_an_object", "", "the entry is no object")
    if is_deeper(entry, MAX_DEPTH):
        return problem("nested_too_deeply", "", f"arrays and objects are nested more than {MAX_DEPTH} deep")
    return None


# What only the bytes of a line tell: a parser keeps the last of two equal keys, and rounds a long integer.
#
# Both are rare, and to look for them exactly means parsing a line again, ten times slower. So there are quick
# tests that rule them out; what they cannot rule out is read exactly.

#: What a 64-bit integer, signed or not, can hold.
SMALLEST, LARGEST = -(1 << 63), (1 << 64) - 1
#: No number of fewer digits passes those bounds.
_DIGITS = 19
_LONG_NUMBER = re.compile(rb"[0-9]{19}")
_KEY_END = re.compile(rb'"[ \t\r\n]*:')
#: So much of a key or number is shown.
_SHOWN = 60


class _Pairs(tuple[tuple[str, Json], ...]):
    """An object as it is written: its keys in order, each as often as it stands there."""

    __slots__ = ()


class _TooLarge(str):
    """The digits of an integer beyond 64 bits."""

    __slots__ = ()


def is_exact(line: bytes, value: Json, same_key: bool = True) -> bool:
    """True if parsing `value` from the line surely lost nothing: written out again it is the same line, or
    it has as many keys as the line has colons for them, and no long number.

    With `same_key` False repeated keys are not looked for.
    """
    if same_key and orjson.dumps(value) == line:
        return True
    if _LONG_NUMBER.search(line) is not None:
        return False
    return not same_key or len(_KEY_END.findall(line)) == _keys_in(value)


def exact_problems(data: bytes) -> tuple[Problem, ...]:
    """Keys that stand twice and integers beyond 64 bits, in the order of the text, each with its place.

    `data` is JSON that the strict reader took: not nested too deeply, UTF-8.
    """
    return tuple(_walk(_parse(data.decode("utf-8")), ""))


def exact_entries(data: bytes) -> list[tuple[Problem, ...]]:
    """The same for a JSON array, entry by entry; any other value counts as the only entry."""
    value = _parse(data.decode("utf-8"))
    entries = value if type(value) is list else [value]
    return [tuple(_walk(entry, "")) for entry in entries]


def byte_order_mark() -> Problem:
    """The finding of a file that begins with a byte order mark."""
    return problem("byte_order_mark", "", "the file begins with a byte order mark (EF BB BF)")


def crlf_problem(lines: int) -> Problem:
    """The finding, once a file, of `lines` lines that end with CR LF."""
    ends = "line ends" if lines == 1 else "lines end"
    return problem("crlf", "", f"{lines:,} {ends} with CR LF, this one first")


def _keys_in(value: Json) -> int:
    """How many keys all objects in a value have together."""
    keys = 0
    waiting: list[Iterable[Json]] = [[value]]
    for node in waiting:  # which grows meanwhile
        for each in node:
            if type(each) is dict:
                keys += len(each)
                waiting.append(each.values())
            elif type(each) is list:
                waiting.append(each)
    return keys


def _walk(value: Json, place: str) -> Iterator[Problem]:
    if type(value) is _TooLarge:
        said = f"the integer {_shown(value)} does not fit in 64 bits"
        yield problem("integer_too_large", place, said)
    elif type(value) is _Pairs:
        seen: set[str] = set()
        for key, each in value:
            inside = f"{place}.{_shown(key)}" if place else _shown(key)
            if key in seen:
                yield problem("duplicate_key", inside, f"the key {shown(key)} stands twice in an object")
            seen.add(key)
            yield from _walk(each, inside)
    elif type(value) is list:
        for number, each in enumerate(value, start=1):
            yield from _walk(each, f"{place}[{number}]")


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _integer(digits: str) -> str | None:
    """Nothing for an integer that fits; Python itself refuses to read very long ones."""
    if len(digits) <= _DIGITS - 1 or (len(digits) <= 2 * _DIGITS and SMALLEST <= int(digits) <= LARGEST):
        return None
    return _TooLarge(digits)


_parse: Callable[[str], Json] = json.JSONDecoder(
    object_pairs_hook=_Pairs, parse_int=_integer, parse_float=lambda _: None
).decode
