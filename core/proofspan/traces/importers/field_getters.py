"""One field of a mapping, compiled: a path into a foreign record, a pattern, and the kind of its value."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

import pyarrow as pa
import pyarrow.compute as pc

from proofspan.contracts.records.records import Json
from proofspan.traces.importers.counts import Tally
from proofspan.traces.importers.paths import Broken, Path, Place, State, parse_path

#: name: an id (a whole number becomes text); text: prose, unchanged; texts: a list of names; box: four
#: sides, returned as a record's `bbox` and `bbox_space`.
Kind = Literal["name", "text", "number", "page", "texts", "box", "any"]
SIDES = 4

MAX_PATTERN = 500
#: Longer values are not searched: no page number follows ten thousand letters.
MAX_VALUE = 10_000

_UNUSABLE: Final = object()
_GROUP = "value"
_TOKEN = re.compile(
    r"\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|\(\?P?<(?P<name>\w+)>|\(\?|(?P<open>\()", re.DOTALL
)


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
        value, state, why = self._value(place)
        if tally is not None:
            count = tally[self.key]
            if state == "absent" and not count.instead and self.path is not None:
                why = self.path.nearest(place)
            count.add(state, place.line, why)
        return value

    def _value(self, place: Place) -> tuple[Json, State, str]:
        """Return the value, None without a usable one, its state, and what a text broke at."""
        if self.path is None:
            value = self._as_kind(self.const)
        else:
            found = list(self.path.all(place))
            values = [each for each in found if each is not None]
            if not values:
                return None, "null" if found else "absent", ""
            broken = next((each for each in values if isinstance(each, Broken)), None)
            if broken is not None:
                return None, "unusable", broken.why
            value = self._as_kind(values if self.path.is_many else values[0])
        return (None, "unusable", "") if value is _UNUSABLE else (value, "found", "")

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
