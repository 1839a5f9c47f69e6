"""A JSON array, or one object spread over lines: read at once, and judged entry by entry like lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import orjson

from proofspan.contracts.records.records import Json
from proofspan.contracts.rules.finding import Finding, shown
from proofspan.traces.lines.reader import MAX_DEPTH, is_deeper
from proofspan.traces.lines.sniff import first_byte, foreign_file
from proofspan.traces.lines.tables import entry_lines, whole_json


class Entry(NamedTuple):
    """An entry, the line on which it begins, and what its bytes tell. `obj` is None where it is no record."""

    line: int
    obj: dict[str, Json] | None
    found: tuple[Finding, ...]


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
    is_sound = is_deeper(value, MAX_DEPTH + 1) or QuickLook(data).is_sound(data, value)
    found = [()] * len(entries) if is_sound else exact_entries(data)
    for line, entry, told in zip(lines, entries, found, strict=True):
        if (why := _unusable(entry)) is not None:
            yield Entry(line, None, (why,))
        else:
            yield Entry(line, entry, told)


def _unusable(entry: Json) -> Finding | None:
    if type(entry) is not dict:
        return Finding("not_an_object", "", "the entry is no object")
    if is_deeper(entry, MAX_DEPTH):
        return Finding("nested_too_deeply", "", f"arrays and objects are nested more than {MAX_DEPTH} deep")
    return None


# What only the bytes of a line tell: a parser keeps the last of two equal keys, and rounds a long integer.
#
# Both are rare, and to look for them exactly means parsing a line again, ten times slower. So there are quick
# tests that rule them out; what they cannot rule out is read exactly.

#: What a 64-bit integer, signed or not, can hold.
SMALLEST, LARGEST = -(1 << 63), (1 << 64) - 1
#: No fewer digits pass those bounds.
_DIGITS = 19
#: Any digit as 0, any white space as a blank.
_SIGNS = bytes.maketrans(b"0123456789\t\r\n", b"0000000000   ")
_MANY_DIGITS, _APART = b"0" * _DIGITS, b" :"
#: So much of a key or number is shown.
_SHOWN = 60


class _Pairs(tuple[tuple[str, Json], ...]):
    """An object as it is written: its keys in order, each as often as it stands there."""

    __slots__ = ()


class _TooLarge(str):
    """The digits of an integer beyond 64 bits."""

    __slots__ = ()


class QuickLook:
    """Rules out, line by line, what has to be looked for exactly; `data` are the lines together.

    Whoever writes one line without blanks between values mostly writes all of them so, and then the quickest
    test of all will do: what was read, written out again, is the same line. `same_key` False leaves out keys
    that stand twice.
    """

    def __init__(self, data: bytes, *, same_key: bool = True) -> None:
        self._data, self._same_key = data, same_key
        self._is_compact = same_key
        self._signs: bytes | None = None
        self._may_be_large = self._may_be_apart = True

    def is_sound(self, line: bytes, value: Json) -> bool:
        """Whether reading `value` from the line lost nothing; True is certain."""
        if self._is_compact:
            if orjson.dumps(value) == line:
                return True
            self._is_compact = False
        if self._signs is None:
            self._signs = self._data.translate(_SIGNS)
            self._may_be_large = _MANY_DIGITS in self._signs
            self._may_be_apart = _APART in self._signs
        if self._may_be_large and _MANY_DIGITS in line.translate(_SIGNS):
            return False
        return not (self._same_key and self._may_repeat_key(line, value))

    def _may_repeat_key(self, line: bytes, value: Json) -> bool:
        """As many keys are left in the value as there are places for one in the text: then none was lost.

        A colon outside strings follows its key's quote, or white space.
        """
        places = line.count(b'":')
        if self._may_be_apart:
            places += line.translate(_SIGNS).count(_APART)
        return places != _keys_in(value)


def exact_findings(data: bytes) -> tuple[Finding, ...]:
    """Keys that stand twice and integers beyond 64 bits, in the order of the text, each with its place.

    `data` is JSON that the strict reader took: not nested too deeply, UTF-8.
    """
    return tuple(_walk(_parse(data.decode("utf-8")), ""))


def exact_entries(data: bytes) -> list[tuple[Finding, ...]]:
    """The same for a JSON array, entry by entry; any other value counts as the only entry."""
    value = _parse(data.decode("utf-8"))
    entries = value if type(value) is list else [value]
    return [tuple(_walk(entry, "")) for entry in entries]


def repeated_key(pairs: Sequence[tuple[str, Json]]) -> str | None:
    """The first key that an object, given as its pairs, has twice; None where it has each once."""
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            return key
        seen.add(key)
    return None


def byte_order_mark() -> Finding:
    """The finding of a file that begins with a byte order mark."""
    return Finding("byte_order_mark", "", "the file begins with a byte order mark (EF BB BF)")


def crlf(lines: int) -> Finding:
    """The finding, once a file, of `lines` lines that end with CR LF."""
    ends = "line ends" if lines == 1 else "lines end"
    return Finding("crlf", "", f"{lines:,} {ends} with CR LF, this one first")


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


def _walk(value: Json, place: str) -> Iterator[Finding]:
    if type(value) is _TooLarge:
        said = f"the integer {_shown(value)} does not fit in 64 bits"
        yield Finding("integer_too_large", place, said)
    elif type(value) is _Pairs:
        seen: set[str] = set()
        for key, each in value:
            inside = f"{place}.{_shown(key)}" if place else _shown(key)
            if key in seen:
                yield Finding("duplicate_key", inside, f"the key {shown(key)} stands twice in an object")
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
