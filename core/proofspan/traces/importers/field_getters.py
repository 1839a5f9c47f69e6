"""One field of a mapping, compiled: from a foreign record to a value of the kind that the field needs."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal

import pyarrow as pa
import pyarrow.compute as pc

from proofspan.contracts.records.records import Json

#: name: an id (a whole number is spelled out); text: prose as it stands; texts: a list of names; box: four
#: sides, read as a record's `bbox` with its `bbox_space`.
Kind = Literal["name", "text", "number", "page", "texts", "box", "any"]
SIDES = 4

_UNUSABLE: Final = object()
_ABSENT: Final = object()


@dataclass(slots=True)
class Tally:
    """How often each field was found, per mapping key, and the line of the first value that was unusable."""

    counts: Counter[tuple[str, State]] = field(default_factory=Counter)
    first_unusable: dict[str, int] = field(default_factory=dict)

    def add(self, key: str, state: State, line: int) -> None:
        """Counts one reading of a field."""
        self.counts[key, state] += 1
        if state == "unusable":
            self.first_unusable.setdefault(key, line)


@dataclass(frozen=True, slots=True)
class Place:
    """What a field is read from: the item, the source record that it belongs to, and that record's line."""

    item: Json
    root: Json
    line: int


@dataclass(frozen=True, slots=True)
class Getter:
    """One field. `base` is the number of a document's first page, for pages; `space` a box is measured in."""

    key: str
    kind: Kind
    path: Path | None = None
    const: Json = None
    find: Callable[[str], str | None] | None = None
    base: int = 0
    space: str | None = None

    def read(self, place: Place, tally: Tally | None) -> Json:
        """The value, None where the record has none or one that cannot be used; both are counted apart."""
        value = self._value(place)
        if self.kind == "box" and isinstance(value, list):
            value = {"bbox": value, "bbox_space": self.space}
        if tally is not None:
            state: State = "absent" if value is _ABSENT else "unusable" if value is _UNUSABLE else "found"
            tally.add(self.key, state, place.line)
        return None if value is _ABSENT or value is _UNUSABLE else value

    def _value(self, place: Place) -> Json:
        if self.path is None:
            return _as_kind(self.const, self.kind, self.base)
        if self.path.is_many:
            found = [value for value in self.path.all(place.item, place.root) if value is not None]
            value: Json = found or None
        else:
            value = self.path.one(place.item, place.root)
        if value is None:
            return _ABSENT
        if self.find is not None:
            if isinstance(value, bool) or not isinstance(value, (str, int, float)):
                return _UNUSABLE
            value = self.find(str(value))
            if value is None:
                return _UNUSABLE
        return _as_kind(value, self.kind, self.base)


def getter_from(key: str, kind: Kind, spec: str | Mapping[str, Json]) -> Getter:
    """The field that a mapping spells. ValueError where its path or pattern is none."""
    if isinstance(spec, str):
        spec = {"path": spec}
    base = int(spec.get("base", 0))
    if "const" in spec:
        return Getter(key, kind, const=spec["const"], base=base)
    path = parse_path(spec["path"])
    if path.is_many and kind not in ("texts", "any"):
        raise ValueError("`[]` gives several values where one is wanted; put it into `each`")
    find = group_finder(spec["regex"]) if "regex" in spec else None
    return Getter(key, kind, path, find=find, base=base, space=spec.get("space"))


def read_all(getters: Iterable[tuple[str, Getter]], place: Place, tally: Tally | None) -> dict[str, Json]:
    """The fields that were found, by name, in the getters' order; a box as its two fields."""
    record: dict[str, Json] = {}
    for name, getter in getters:
        value = getter.read(place, tally)
        if value is not None:
            record |= value if getter.kind == "box" else {name: value}
    return record


def _as_kind(value: Json, kind: Kind, base: int) -> Json:
    if kind == "any":
        return value
    if kind == "text":
        return value if isinstance(value, str) else _UNUSABLE
    if kind == "name":
        return _name(value)
    if kind == "texts":
        names = [_name(each) for each in (value if isinstance(value, list) else [value])]
        return _UNUSABLE if _UNUSABLE in names else names
    if kind == "box":
        return _sides(value)
    number = _number(value)
    if number is None:
        return _UNUSABLE
    if kind == "number":
        return number
    return int(number) - base if number >= base and number == int(number) else _UNUSABLE


def _name(value: Json) -> Json:
    if isinstance(value, str) and value:
        return value
    return str(value) if type(value) is int else _UNUSABLE


def _sides(value: Json) -> Json:
    """Four numbers; `_UNUSABLE` where there are others."""
    sides = [_number(side) for side in value] if isinstance(value, list) else []
    return sides if len(sides) == SIDES and None not in sides else _UNUSABLE


def _number(value: Json) -> float | int | None:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return value


# The paths of a mapping: where in a foreign record a value stands.
#
# `a.b`, `a[0]`, `a[]` (each element), `["any key"]`; `.` is the item itself; a leading `$.` starts at the
# whole source record instead of the current item.

#: A list index, a key, or "each element".
Step = int | str | Literal[None]
EACH: Final = None
#: What a record has where a mapping looks.
State = Literal["found", "absent", "unusable"]

_NOWHERE: Final = object()
_STEP = re.compile(
    r"""(?P<dot>\.)?(?P<key>[^\s.\[\]"'$]+)
      | \[(?P<index>-?\d{1,6})\] | (?P<each>\[\]) | \["(?P<quoted>[^"]+)"\]""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Path:
    """A parsed path. `from_root`: it starts at the source record, not at the item at hand."""

    steps: tuple[Step, ...]
    from_root: bool = False

    @property
    def is_many(self) -> bool:
        """Whether it may lead to several values."""
        return EACH in self.steps

    def all(self, item: Json, root: Json) -> Iterator[Json]:
        """Every value that the path leads to; nothing where a step leads nowhere."""
        return _walk(root if self.from_root else item, self.steps)

    def one(self, item: Json, root: Json) -> Json:
        """The value, None where there is none."""
        return next(self.all(item, root), None)

    def state(self, item: Json, root: Json) -> State:
        """Whether there is anything to go through; "unusable" where `[]` stands on what is no list."""
        found = set(_states(root if self.from_root else item, self.steps))
        order: tuple[State, ...] = ("unusable", "found")
        return next((state for state in order if state in found), "absent")


def parse_path(text: str) -> Path:
    """The path that `text` spells. ValueError with the place where it stops being one."""
    if text == ".":
        return Path(())
    from_root = text.startswith("$")
    rest = text[1:] if from_root else text
    steps: list[Step] = []
    position = 0
    while position < len(rest):
        match = _STEP.match(rest, position)
        if match is None or not _joins(match, first=not steps and not from_root):
            raise ValueError(f"not a path at character {position + 1 + from_root}: {text!r}")
        steps.append(_step(match))
        position = match.end()
    if not steps and not from_root:
        raise ValueError("an empty path; write `.` for the item itself")
    return Path(tuple(steps), from_root)


def _joins(match: re.Match[str], *, first: bool) -> bool:
    """A key stands first or after a dot; a bracket stands anywhere."""
    return match["key"] is None or bool(match["dot"]) != first


def _step(match: re.Match[str]) -> Step:
    if match["each"]:
        return EACH
    if match["index"] is not None:
        return int(match["index"])
    return match["key"] or match["quoted"]


def _walk(value: Json, steps: tuple[Step, ...]) -> Iterator[Json]:
    for position, step in enumerate(steps):
        if step is EACH:
            if isinstance(value, list):
                for element in value:
                    yield from _walk(element, steps[position + 1 :])
            return
        value = _below(value, step)
        if value is _NOWHERE:
            return
    yield value


def _states(value: Json, steps: tuple[Step, ...]) -> Iterator[State]:
    """What each branch comes to; an empty list is one that was found."""
    for position, step in enumerate(steps):
        if value is None or value is _NOWHERE:
            break
        if step is EACH:
            rest = steps[position + 1 :]
            if not isinstance(value, list):
                yield "unusable"
            elif rest and value:
                for element in value:
                    yield from _states(element, rest)
            else:
                yield "found"
            return
        value = _below(value, step)
    yield "absent" if value is None or value is _NOWHERE else "found"


def _below(value: Json, step: int | str) -> Json:
    if isinstance(step, int):
        return value[step] if isinstance(value, list) and -len(value) <= step < len(value) else _NOWHERE
    return value[step] if isinstance(value, dict) and step in value else _NOWHERE


# A mapping's regular expressions, run by RE2: its time is linear, so no pattern can hang an import.
#
# Python's own engine backtracks, and `(a+)+$` on forty letters takes it for ever; Arrow carries RE2.

MAX_PATTERN = 500
#: Longer values are not searched: a page number does not stand behind ten thousand letters.
MAX_VALUE = 10_000

_GROUP = "value"
_TOKEN = re.compile(
    r"\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|\(\?P?<(?P<name>\w+)>|\(\?|(?P<open>\()", re.DOTALL
)


def group_finder(pattern: str) -> Callable[[str], str | None]:
    """A function that gives what the pattern's one group holds in a text, None where nothing matches.

    ValueError where the pattern is too long, is none that RE2 reads, or has not exactly one group.
    """
    if len(pattern) > MAX_PATTERN:
        raise ValueError(f"is longer than {MAX_PATTERN} characters")
    named = _named(pattern)
    try:
        pc.extract_regex(pa.array([""]), pattern=named)
    except pa.ArrowInvalid as error:
        raise ValueError(f"is no regular expression of RE2: {error}") from None

    @lru_cache(maxsize=4096)
    def find(text: str) -> str | None:
        if len(text) > MAX_VALUE:
            return None
        found = pc.extract_regex(pa.array([text]), pattern=named)[0].as_py()
        return None if found is None else str(found[_GROUP])

    return find


def _named(pattern: str) -> str:
    """The pattern with its only group named, as Arrow wants it."""
    groups = [match for match in _TOKEN.finditer(pattern) if match["name"] or match["open"]]
    if len(groups) != 1:
        raise ValueError(f"has {len(groups)} groups in parentheses; exactly one says what is wanted")
    start, end = groups[0].span()
    return f"{pattern[:start]}(?P<{_GROUP}>{pattern[end:]}"
