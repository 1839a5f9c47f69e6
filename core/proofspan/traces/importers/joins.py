"""Joins of a mapping: items of one list with those of another, by their places or by a key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from proofspan.contracts.records.records import Json
from proofspan.traces.importers.counts import FieldCount
from proofspan.traces.importers.paths import Broken, Path, Place, State, parse_path

#: The partner of an item that has none.
NONE: Final = object()


@dataclass(slots=True)
class _Index:
    """The entries of the list that was looked at last by key, or why there are none."""

    of: Json = NONE
    entries: Mapping[str, Json] = field(default_factory=dict)
    state: State = "found"
    why: str = ""


@dataclass(frozen=True, slots=True)
class Join:
    """A list or object that items are joined with, counted under `key`.

    With `on`, the item's value there is the entry's at `to`, or the key of an object; else the first item
    goes with the first entry, and so on.
    """

    name: str
    key: str
    source: Path
    on: Path | None = None
    to: Path | None = None
    index: _Index = field(default_factory=_Index, compare=False)

    def partners(self, above: Place, items: Sequence[Place], count: FieldCount | None) -> list[Json]:
        """Return for each item what it is joined with, `NONE` for none. `source` starts at `above`."""
        if self.on is None:
            return self._by_place(above, items, count)
        if self.index.of is not (start := self.source.begin(above)):
            self._read(above)
            self.index.of = start
        found = []
        for item in items:
            name = _key_of(next(self.on.all(item), None))
            partner = NONE if name is None else self.index.entries.get(name, NONE)
            found.append(partner)
            if count is not None:
                state: State = "found" if partner is not NONE else self.index.state
                is_missing = partner is NONE and state == "found"
                no_key = f"there is no `{self.on}`" if name is None else f"no entry for {name[:60]!r}"
                count.add(
                    "absent" if is_missing else state, item.line, no_key if is_missing else self.index.why
                )
        return found

    def _by_place(self, above: Place, items: Sequence[Place], count: FieldCount | None) -> list[Json]:
        """Join by places; not lists of different lengths, of which any entry may be missing."""
        entries, state, why = _entries(self.source, above)
        if isinstance(entries, dict):
            state, why = "unusable", f"`{self.source}` is an object; name the items' key by `on`"
        elif state == "found" and len(entries) != len(items):
            why = f"{len(items):,} items, but {len(entries):,} entries of `{self.source}`"
            state = "unusable"
        if count is not None and (items or state == "unusable"):
            count.add(state, above.line, why)
        if state != "found":
            return [NONE] * len(items)
        return [NONE if each is None else each for each in entries]

    def _read(self, above: Place) -> None:
        entries, state, why = _entries(self.source, above)
        by_key: dict[str, Json] = {}
        if isinstance(entries, dict):
            by_key = {name: each for name, each in entries.items() if each is not None}
        elif self.to is not None:
            for each in entries:
                name = _key_of(next(self.to.all(above._replace(item=each)), None))
                if name is not None:
                    by_key.setdefault(name, each)
        elif state == "found":
            state, why = "unusable", f"`{self.source}` is a list; name the key of its entries by `to`"
        self.index.entries, self.index.state, self.index.why = by_key, state, why


def join_from(name: str, key: str, spec: Mapping[str, str]) -> Join:
    """Compile a join. Raises ValueError for an invalid path."""
    on, to = (parse_path(spec[each]) if each in spec else None for each in ("on", "to"))
    return Join(name, key, parse_path(spec["from"]), on, to)


def _entries(path: Path, above: Place) -> tuple[Json, State, str]:
    """Return the list or object at a path; an empty list and why, where nothing is there."""
    values = list(path.all(above))
    broken = next((each for each in values if isinstance(each, Broken)), None)
    if broken is not None:
        return [], "unusable", broken.why
    if path.is_many:
        state, why = path.state(above)
        return values, state, why if state != "absent" else path.nearest(above)
    if not values or values[0] is None:
        return [], "null" if values else "absent", "" if values else path.nearest(above)
    if isinstance(values[0], (list, dict)):
        return values[0], "found", ""
    return [], "unusable", f"`{path}` is neither a list nor an object"


def _key_of(value: Json) -> str | None:
    """Return a value as a key: whole numbers are as good as their text."""
    if isinstance(value, str):
        return value
    return str(value) if type(value) is int else None
