"""The values of large JSON one after the other, in memory for one value, by finding where each ends.

Brackets outside of strings are found with NumPy for a piece of the file at a time, and only the bytes of one
value are parsed. So the entries of an array of gigabytes are read at nearly the parser's speed.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import orjson

from proofspan.contracts.records.records import Json
from proofspan.traces.lines.reader import BOM, MAX_DEPTH

#: The largest entry that is read, in bytes.
MAX_ENTRY: Final = 64 << 20
#: The largest value of a file that is read, without the entries of its lists.
MAX_REST: Final = 256 << 20

#: Bytes of entries that are parsed together: many small ones cost little more than their values.
_TOGETHER: Final = 64 << 10

_SPACE = b" \t\r\n"
_QUOTE, _OPEN_LIST, _OPEN_OBJECT, _CLOSE_LIST, _CLOSE_OBJECT, _COMMA = range(1, 7)
_BACKSLASH = ord("\\")
_CODES = bytes(b'"[{]},'.find(byte) + 1 for byte in range(256))
_STEP = np.array([0, 0, 1, 1, -1, -1, 0], dtype=np.int64)
_CLOSES = {_OPEN_LIST: _CLOSE_LIST, _OPEN_OBJECT: _CLOSE_OBJECT}
_CLOSER = {_OPEN_LIST: b"]", _OPEN_OBJECT: b"}"}

#: A key and the beginning of its value, and the most bytes of them.
_MEMBER = re.compile(rb'\s*"([^"\\]*)"\s*:\s*(.)', re.DOTALL)
_MOST_KEY = 512

#: The keys from the file's value down to a list, whatever lists are between them; () is an array itself.
ListPath = tuple[str, ...]


class Value(NamedTuple):
    """The bytes of a JSON value, and where it begins.

    `path` is the list that it is an entry of, None for a value of the file itself, without the entries of
    such lists. `number` counts entries, and values of the file, from 1; so does `line`. `size` is its length
    in bytes, and `data` is empty if that is too much. `state` is "begun" for a value that goes on after the
    list whose entries come next, "truncated" where the file breaks off, and "broken" where its brackets do
    not match; after these two no entry follows.
    """

    path: ListPath | None
    number: int
    line: int
    size: int
    data: bytes
    state: Literal["whole", "begun", "truncated", "broken"] = "whole"


class Entries(NamedTuple):
    """Entries of a list that were parsed together; `number` is that of the first."""

    path: ListPath
    number: int
    values: list[Json]


class Signs(NamedTuple):
    """The brackets and commas of a piece outside of strings: places, kinds, and the depth after each."""

    at: npt.NDArray[np.int64]
    kinds: npt.NDArray[np.uint8]
    depth: npt.NDArray[np.int64]


class SignReader:
    """Finds the signs of one piece after the other; none may end within an escape."""

    def __init__(self) -> None:
        self.depth = 0
        self.is_in_text = False

    def signs(self, piece: bytes) -> Signs:
        """Return the signs of the next piece."""
        plain = piece.replace(b"\\\\", b"  ")
        codes = np.frombuffer(plain.translate(_CODES), dtype=np.uint8)
        at = np.flatnonzero(codes != 0)
        kinds = codes[at]
        is_end = is_quote = kinds == _QUOTE
        if b"\\" in plain:  # an escaped quote neither begins nor ends a text
            is_end = is_quote & (np.frombuffer(plain, dtype=np.uint8)[at - 1] != _BACKSLASH)
        is_inside = np.logical_xor.accumulate(is_end) ^ self.is_in_text
        if len(at):
            self.is_in_text = bool(is_inside[-1])
        outside = np.flatnonzero(~(is_quote | is_inside))
        at, kinds = at[outside], kinds[outside]
        depth = np.cumsum(_STEP[kinds]) + self.depth
        if len(at):
            self.depth = int(depth[-1])
        return Signs(at, kinds, depth)


def json_values(pieces: Iterable[bytes], lists: Collection[ListPath] = ((),)) -> Iterator[Value]:
    """Return the values of JSON text, which is one value or several after one another.

    With the list `()` they are the entries of an array, and each value that is no array. With lists such as
    `("results", "items")` they are the entries of these, and the value around them without its entries: as
    far as it goes before the first entry of a list, and whole after the last.
    """
    found = _Reader(lists, parses=False).values(pieces)
    return (each for each in found if isinstance(each, Value))  # all are


def parsed_values(pieces: Iterable[bytes], lists: Collection[ListPath] = ((),)) -> Iterator[Value | Entries]:
    """Return values like `json_values`, but parsed where several entries lie in one piece.

    Entries are yielded as bytes if one of those in their piece is no JSON, or nested more than `MAX_DEPTH`
    deep, so that the caller can say which.
    """
    return _Reader(lists, parses=True).values(pieces)


def later_keys(pieces: Iterable[bytes], *, beyond: int) -> Iterator[tuple[str, bytes]]:
    """Yield the keys of an object that come after its first `beyond` bytes, each with an empty value.

    The empty value is that of its kind: a list, an object, or null.
    """
    signs, place = SignReader(), 0
    pending: bytes | None = None
    for piece in _whole_escapes(pieces):
        found = signs.signs(piece)
        place += len(piece)
        commas = found.at[(found.kinds == _COMMA) & (found.depth == 1)] + 1
        members = [piece[at : at + _MOST_KEY] for at in commas.tolist()]
        if pending is not None:
            members.insert(0, (pending + piece)[:_MOST_KEY])
        pending = None
        for each in members:
            if (member := _MEMBER.match(each)) is None:
                pending = each if len(each) < _MOST_KEY else None
            elif place > beyond:
                empty = {b"[": b"[]", b"{": b"{}"}.get(member[2], b"null")
                yield member[1].decode("utf-8", "replace"), empty


def closed(data: bytes) -> bytes:
    """Return the beginning of a JSON value as a value: cut after a whole entry, its brackets closed.

    The cut is in the outermost list with a whole entry, so that no entry is halved, else after a member.
    Without either it is returned as it is.
    """
    found = SignReader().signs(data[: len(data) - _odd_backslashes(data)])
    # Signs of values that are open at the end: the depth is never less than theirs again.
    is_open = found.depth == np.minimum.accumulate(found.depth[::-1])[::-1]
    opening = is_open & (_STEP[found.kinds] > 0)
    between = is_open & (found.kinds == _COMMA)
    commas = dict(zip(found.depth[between].tolist(), found.at[between].tolist(), strict=True))
    levels = [(kind, commas.get(depth, -1)) for depth, kind in enumerate(found.kinds[opening].tolist(), 1)]
    cuts = [number for number, (_, comma) in enumerate(levels) if comma >= 0]
    if not cuts:
        return data
    level = next((each for each in cuts if levels[each][0] == _OPEN_LIST), cuts[-1])
    return data[: levels[level][1]] + _closers(kind for kind, _ in levels[: level + 1])


def _closers(opened: Iterable[int]) -> bytes:
    return b"".join(reversed([_CLOSER[kind] for kind in opened]))


def _odd_backslashes(piece: bytes) -> int:
    """Return 1 if a piece ends with an odd number of backslashes, within an escape; else 0."""
    return (len(piece) - len(piece.rstrip(b"\\"))) & 1


def _whole_escapes(pieces: Iterable[bytes]) -> Iterator[bytes]:
    left = b""
    for each in pieces:
        piece = left + each
        end = len(piece) - _odd_backslashes(piece)
        left = piece[end:]
        if end:
            yield piece[:end]
    if left:
        yield left


class _Shallow:
    """The signs of a piece that are outside of the entries of the deepest list, or between these.

    `most` is the greatest depth of all signs.
    """

    def __init__(self, found: Signs, deepest: int) -> None:
        places = np.flatnonzero(found.depth - np.minimum(_STEP[found.kinds], 0) <= deepest)
        self._kinds, self._depth = found.kinds[places], found.depth[places]
        self.at: list[int] = found.at[places].tolist()
        self.kinds: list[int] = self._kinds.tolist()
        self.depth: list[int] = self._depth.tolist()
        self.most = int(found.depth.max()) if len(found.depth) else 0
        self._levels: dict[int, tuple[list[int], list[int]]] = {}

    def entries(self, number: int, level: int) -> tuple[list[int], int]:
        """Return the places of the commas of a list at a level from a sign on, and the sign that closes it.

        Without one it is the number of signs.
        """
        if level not in self._levels:
            commas = np.flatnonzero((self._depth == level) & (self._kinds == _COMMA))
            self._levels[level] = commas.tolist(), np.flatnonzero(self._depth < level).tolist()
        between, closings = self._levels[level]
        closing = bisect_left(closings, number)
        end = closings[closing] if closing < len(closings) else len(self.at)
        own = between[bisect_left(between, number) : bisect_left(between, end)]
        return [self.at[each] for each in own], end


class _Kept:
    """The bytes of a value that has begun, without the space before it."""

    def __init__(self, limit: int) -> None:
        self.limit, self.number = limit, 0
        self.clear()

    def clear(self) -> None:
        self.data, self.size, self.line = bytearray(), 0, 0

    def add(self, data: bytes, line: int) -> None:
        """Keep the next bytes, which begin on `line`."""
        if not self.size:
            text = data.lstrip(_SPACE)
            if not text:
                return
            self.number += 1
            self.line = line + data.count(b"\n", 0, len(data) - len(text))
            data = text
        self.size += len(data)
        if self.size <= self.limit:
            self.data += data
        else:
            self.data.clear()

    def value(self, path: ListPath | None) -> Value:
        """Return what has been kept."""
        return Value(path, self.number, self.line, self.size, bytes(self.data))


class _Reader:
    """The state between pieces: the brackets open outside of entries, the file's value, and its entry."""

    def __init__(self, lists: Collection[ListPath], *, parses: bool) -> None:
        self.parses = parses
        self.lists = frozenset(lists)
        #: The depth of the deepest list: an object for each key, and a list around and in each of these.
        self.deepest = 2 * max(map(len, self.lists), default=0) + 1
        self.open: list[tuple[int, ListPath]] = []
        #: The list whose entries are being read, and the depth in it.
        self.path: ListPath | None = None
        self.level = 0
        self.shown: set[ListPath] = set()
        self.outer, self.entry = _Kept(MAX_REST), _Kept(MAX_ENTRY)
        self.line = 1

    def values(self, pieces: Iterable[bytes]) -> Iterator[Value | Entries]:
        """Yield all values."""
        signs, is_first = SignReader(), True
        for piece in _whole_escapes(pieces):
            found = signs.signs(piece)
            done = len(BOM) if is_first and piece.startswith(BOM) else 0
            is_first = False
            shallow = _Shallow(found, self.deepest)
            number = 0
            while number < len(shallow.at):
                if self.path is not None:
                    commas, number = shallow.entries(number, self.level)
                    ends = commas if number == len(shallow.at) else [*commas, shallow.at[number]]
                    if ends:
                        yield from self._entries(piece, done, ends, depth=shallow.most - self.level)
                        done = ends[-1] + (number == len(shallow.at))
                    if number == len(shallow.at):
                        break
                    self.path = None
                at, kind, depth = shallow.at[number], shallow.kinds[number], shallow.depth[number]
                number += 1
                if kind == _COMMA:
                    continue
                self._take(piece[done : at + 1])
                done = at + 1
                if kind in _CLOSER:
                    yield from self._opened(kind, depth)
                elif not self.open or kind != _CLOSES[self.open.pop()[0]]:
                    yield self.outer.value(None)._replace(state="broken")
                    return
                elif depth == 0:
                    yield from self._ended()
            self._take(piece[done:])
        if self.entry.size:
            yield self.entry.value(self.path)._replace(state="truncated")
        if self.open:
            yield self._beginning()._replace(state="truncated")
        elif self.outer.size:
            yield self.outer.value(None)

    def _entries(
        self, piece: bytes, done: int, ends: Sequence[int], *, depth: int
    ) -> Iterator[Value | Entries]:
        """Yield the entries of the list from `done` on, which end before `ends`.

        `depth` is how deep they are nested at the most.
        """
        number = 0
        while number < len(ends):
            is_begun = self.entry.size > 0  # its beginning was in a piece before
            following = number + 1 if is_begun else bisect_right(ends, done + _TOGETHER, number)
            values: list[Json] | None = None
            if self.parses and following > number + 1 and depth <= MAX_DEPTH:
                with suppress(orjson.JSONDecodeError):
                    values = orjson.loads(b"[%b]" % piece[done : ends[following - 1]])
            if values is not None and self.path is not None:
                yield Entries(self.path, self.entry.number + 1, values)
                self.entry.number += len(values)
                self.line += piece.count(b"\n", done, ends[following - 1])
                number, done = following, ends[following - 1] + 1
                continue
            for end in ends[number : max(following, number + 1)]:
                self._take(piece[done:end])
                done = end + 1
                if self.entry.size:
                    yield self.entry.value(self.path)
                    self.entry.clear()
            number = max(following, number + 1)

    def _take(self, data: bytes) -> None:
        (self.outer if self.path is None else self.entry).add(data, self.line)
        self.line += data.count(b"\n")

    def _opened(self, kind: int, depth: int) -> Iterator[Value]:
        """Go on after an opening bracket that is the last of what is kept."""
        path = self.open[-1][1] if self.open else ()
        if self.open and self.open[-1][0] == _OPEN_OBJECT:
            path = (*path, self._key())
        self.open.append((kind, path))
        if kind == _OPEN_LIST and path in self.lists:
            self.path, self.level = path, depth
            if path and path not in self.shown:
                self.shown.add(path)
                yield self._beginning()._replace(state="begun")

    def _key(self) -> str:
        """Return the key before the bracket that is the last of what is kept, as written."""
        before = bytes(self.outer.data[-1_000:-1]).rstrip(_SPACE).removesuffix(b":").rstrip(_SPACE)
        return before[:-1].rpartition(b'"')[2].decode("utf-8", "replace")

    def _beginning(self) -> Value:
        """Return the file's value as far as it goes, its open brackets closed."""
        value = self.outer.value(None)
        if self.path is None:
            return value._replace(data=closed(value.data))
        return value._replace(data=value.data + _closers(kind for kind, _ in self.open))

    def _ended(self) -> Iterator[Value]:
        """Go on after a value of the file."""
        if self.outer.data != b"[]" or () not in self.lists:  # its entries are all there was
            yield self.outer.value(None)
        self.outer.clear()
        self.shown.clear()
