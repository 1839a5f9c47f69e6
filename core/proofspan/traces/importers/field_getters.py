"""One field of a mapping, compiled: a path into a foreign record, a pattern, and the kind of value to return.

A path is `a.b`, `a[0]`, `a[]` (each element), `a[key=name]` (the first element whose `key` is `name`, in a
list of keys with values) or `["any key"]`. `.` is the item itself, and a leading `$.` starts at the whole
source record instead of the current item.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from proofspan.contracts.records.records import Json

#: name: an id (a whole number becomes text); text: prose, unchanged; texts: a list of names; box: four
#: sides, returned as a record's `bbox` and `bbox_space`.
Kind = Literal["name", "text", "number", "page", "texts", "box", "any"]
State = Literal["found", "absent", "unusable"]


class Select(NamedTuple):
    """The first element of a list whose field `name` is `value`."""

    name: str
    value: str


#: A list index, a key, `EACH` element, or one that is selected.
Step = int | str | Select | Literal[None]
EACH: Final = None
SIDES = 4

MAX_PATTERN = 500
#: Longer values are not searched: no page number follows ten thousand letters.
MAX_VALUE = 10_000

_UNUSABLE: Final = object()
_ABSENT: Final = object()
_STEP = re.compile(
    r"""(?P<dot>\.)?(?P<key>[^\s.\[\]"'$]+)
      | \[(?P<index>-?\d{1,6})\] | (?P<each>\[\]) | \["(?P<quoted>[^"]+)"\]
      | \[(?P<name>[^\s=\[\]"']+)=(?P<value>[^\[\]"]+)\]""",
    re.VERBOSE,
)
_GROUP = "value"
_TOKEN = re.compile(
    r"\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|\(\?P?<(?P<name>\w+)>|\(\?|(?P<open>\()", re.DOTALL
)


@dataclass(slots=True)
class FieldCount:
    """How often a field was found, was absent, or had an unusable value, first on line `first_unusable`."""

    key: str
    found: int = 0
    absent: int = 0
    unusable: int = 0
    first_unusable: int | None = None

    def add(self, state: State, line: int) -> None:
        """Count one reading of the field."""
        setattr(self, state, getattr(self, state) + 1)
        if state == "unusable" and self.first_unusable is None:
            self.first_unusable = line


#: The counts of all fields of a mapping, by mapping key.
Tally = Mapping[str, FieldCount]


class Place(NamedTuple):
    """An item to read fields from, the source record that holds it, and that record's 1-based line."""

    item: Json
    root: Json
    line: int


@dataclass(frozen=True, slots=True)
class Path:
    """A parsed path; with `from_root` it starts at the source record instead of the current item."""

    steps: tuple[Step, ...]
    from_root: bool = False

    @property
    def is_many(self) -> bool:
        """Return whether it may lead to several values."""
        return EACH in self.steps

    def all(self, item: Json, root: Json) -> Iterator[Json]:
        """Yield every value that the path leads to."""
        return _walk(root if self.from_root else item, self.steps)

    def state(self, item: Json, root: Json) -> State:
        """Return whether there is anything to iterate over; "unusable" where `[]` meets no list."""
        states = set(_states(root if self.from_root else item, self.steps))
        return "unusable" if "unusable" in states else "found" if "found" in states else "absent"


@dataclass(frozen=True, slots=True)
class Getter:
    """A compiled field. `base` is the number of a document's first page; `space` is the unit of a box."""

    key: str
    kind: Kind
    path: Path | None = None
    const: Json = None
    find: Callable[[str], str | None] | None = None
    base: int = 0
    space: str | None = None

    def read(self, place: Place, tally: Tally | None) -> Json:
        """Return the value, None if it is absent or unusable; the tally counts the two separately."""
        if self.path is None:
            value = self._as_kind(self.const)
        elif values := [each for each in self.path.all(place.item, place.root) if each is not None]:
            value = self._as_kind(values if self.path.is_many else values[0])
        else:
            value = _ABSENT
        if tally is not None:
            state: State = "absent" if value is _ABSENT else "unusable" if value is _UNUSABLE else "found"
            tally[self.key].add(state, place.line)
        return None if value is _ABSENT or value is _UNUSABLE else value

    def _as_kind(self, value: Json) -> Json:
        if self.find is not None:
            is_plain = isinstance(value, (str, int, float)) and not isinstance(value, bool)
            value = self.find(str(value)) if is_plain else None
            if value is None:
                return _UNUSABLE
        match self.kind:
            case "any":
                return value
            case "text":
                return value if isinstance(value, str) else _UNUSABLE
            case "name":
                return _name(value)
            case "texts":
                names = [_name(each) for each in (value if isinstance(value, list) else [value])]
                return _UNUSABLE if _UNUSABLE in names else names
            case "box":
                sides = [_number(side) for side in value] if isinstance(value, list) else []
                is_box = len(sides) == SIDES and None not in sides
                return {"bbox": sides, "bbox_space": self.space} if is_box else _UNUSABLE
        number = _number(value)
        if number is None:
            return _UNUSABLE
        if self.kind == "number":
            return number
        return int(number) - self.base if number >= self.base and number == int(number) else _UNUSABLE


def getter_from(key: str, kind: Kind, spec: str | Mapping[str, Json]) -> Getter:
    """Compile a field of a mapping. Raises ValueError for an invalid path or pattern."""
    if isinstance(spec, str):
        spec = {"path": spec}
    base = int(spec.get("base", 0))
    if "const" in spec:
        return Getter(key, kind, const=spec["const"], base=base)
    path = parse_path(spec["path"])
    if path.is_many and kind not in ("texts", "any"):
        raise ValueError("`[]` gives several values for a field that has one; put it into `each`")
    find = group_finder(spec["regex"]) if "regex" in spec else None
    return Getter(key, kind, path, find=find, base=base, space=spec.get("space"))


def read_all(getters: Iterable[tuple[str, Getter]], place: Place, tally: Tally | None) -> dict[str, Json]:
    """Return the fields that were found, by name, in the getters' order; a box as its two fields."""
    record: dict[str, Json] = {}
    for name, getter in getters:
        value = getter.read(place, tally)
        if value is not None:
            record |= value if getter.kind == "box" else {name: value}
    return record


def parse_path(text: str) -> Path:
    """Parse a path. Raises ValueError with the position of the first error."""
    if text == ".":
        return Path(())
    from_root = text.startswith("$")
    rest = text[1:] if from_root else text
    steps: list[Step] = []
    position = 0
    while position < len(rest):
        match = _STEP.match(rest, position)
        # A key is first or follows a dot; a bracket may be anywhere.
        if match is None or (match["key"] and bool(match["dot"]) == (not steps and not from_root)):
            raise ValueError(f"not a path at character {position + 1 + from_root}: {text!r}")
        index = match["index"]
        steps.append(
            EACH
            if match["each"]
            else int(index)
            if index is not None
            else Select(match["name"], match["value"])
            if match["name"]
            else match["key"] or match["quoted"]
        )
        position = match.end()
    if not steps and not from_root:
        raise ValueError("an empty path; write `.` for the item itself")
    return Path(tuple(steps), from_root)


def group_finder(pattern: str) -> Callable[[str], str | None]:
    """Return a function that extracts the pattern's one group from a text, None where nothing matches.

    RE2 runs the pattern: its time is linear, while Python's engine backtracks for ever on `(a+)+$`. Arrow
    includes RE2. Raises ValueError if the pattern is too long, invalid, or has not exactly one group.
    """
    if len(pattern) > MAX_PATTERN:
        raise ValueError(f"is longer than {MAX_PATTERN} characters")
    groups = [match for match in _TOKEN.finditer(pattern) if match["name"] or match["open"]]
    if len(groups) != 1:
        raise ValueError(f"has {len(groups)} groups in parentheses; it needs exactly one, around the value")
    start, end = groups[0].span()
    named = f"{pattern[:start]}(?P<{_GROUP}>{pattern[end:]}"  # Arrow extracts named groups only
    try:
        pc.extract_regex(pa.array([""]), pattern=named)
    except pa.ArrowInvalid as error:
        raise ValueError(f"is not a regular expression of RE2: {error}") from None

    @lru_cache(maxsize=4096)
    def find(text: str) -> str | None:
        if len(text) > MAX_VALUE:
            return None
        match = pc.extract_regex(pa.array([text]), pattern=named)[0].as_py()
        return None if match is None else str(match[_GROUP])

    return find


def _name(value: Json) -> Json:
    if isinstance(value, str) and value:
        return value
    return str(value) if type(value) is int else _UNUSABLE


def _number(value: Json) -> float | int | None:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return value


def _walk(value: Json, steps: tuple[Step, ...]) -> Iterator[Json]:
    for position, step in enumerate(steps):
        if step is EACH:
            for element in value if isinstance(value, list) else ():
                yield from _walk(element, steps[position + 1 :])
            return
        value = _child(value, step)
        if value is _ABSENT:
            return
    yield value


def _states(value: Json, steps: tuple[Step, ...]) -> Iterator[State]:
    """Yield the state of each branch; an empty list counts as found."""
    for position, step in enumerate(steps):
        if value is None or value is _ABSENT:
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
        value = _child(value, step)
    yield "absent" if value is None or value is _ABSENT else "found"


def _child(value: Json, step: int | str | Select) -> Json:
    if isinstance(step, Select):
        entries = value if isinstance(value, list) else ()
        named = (each for each in entries if isinstance(each, dict) and step.name in each)
        return next((each for each in named if str(each[step.name]) == step.value), _ABSENT)
    if isinstance(step, int):
        return value[step] if isinstance(value, list) and -len(value) <= step < len(value) else _ABSENT
    return value[step] if isinstance(value, dict) and step in value else _ABSENT
