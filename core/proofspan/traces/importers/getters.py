"""One field of a mapping, compiled: from a foreign record to a value of the kind that the field needs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from proofspan.contracts.records import Json
from proofspan.traces.importers.jsonpath import Path, State, parse_path
from proofspan.traces.importers.regex import group_finder

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
