"""Paths into foreign records: parsed, followed, and explained where they lead nowhere.

A path is `a.b`, `a[0]`, `a[]` (each element), `a[key=name]` (the first element whose `key` is `name`; of an
object the object itself, if that is so), `a[json]` (the value that a text holds as JSON) or `["any key"]`.
`.` is the item itself, a leading `$.` starts at the whole source record instead of the current item, and a
leading `$name.` at what the join `name` found.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final, Literal, NamedTuple

import orjson

from proofspan.contracts.records.records import Json
from proofspan.traces.lines.reader import MAX_DEPTH, is_deeper, kind_of


class Sign(Enum):
    """The steps that are neither a key, an index nor a selection."""

    EACH = "[]"
    JSON = "[json]"


class Select(NamedTuple):
    """The first element of a list whose field `name` is `value`, or an object of which that is true."""

    name: str
    value: str

    def fits(self, element: Json) -> bool:
        """Return whether an element is selected."""
        return isinstance(element, dict) and self.name in element and is_text(element[self.name], self.value)


Step = int | str | Select | Sign
#: found; absent: no such path; null: the path is right, and its value is null; unusable: `[]` meets no list,
#: or `[json]` a text that is not JSON.
State = Literal["found", "absent", "null", "unusable"]

#: The longest text that is read as Python writes a list; for longer ones that takes too much memory.
MAX_LITERAL = 1 << 20
#: How many keys a message names, and how many values of a record are searched for a key.
_SHOWN, _SEARCHED = 5, 2_000

_ABSENT: Final = object()
_STEP = re.compile(
    r"""(?P<dot>\.)?(?P<key>[^\s.\[\]"'$]+)
      | \[(?P<index>-?\d{1,6})\] | (?P<sign>\[(?:json)?\]) | \["(?P<quoted>[^"]+)"\]
      | \[(?P<name>[^\s=\[\]"']+)=(?P<value>[^\[\]"]+)\]""",
    re.VERBOSE,
)
_START = re.compile(r"\$(?P<join>[A-Za-z_][\w-]*)?")
_PLAIN_KEY = re.compile(r"[^\s.\[\]\"'$]+")


class Place(NamedTuple):
    """An item to read fields from, the source record that holds it, and that record's 1-based line.

    `joined` has by name what the joins of the groups around found for it.
    """

    item: Json
    root: Json
    line: int
    joined: Mapping[str, Json] = {}


@dataclass(frozen=True, slots=True)
class Broken:
    """The value of a text that should be JSON and is not; `why` names the place."""

    why: str


@dataclass(frozen=True, slots=True)
class Path:
    """A parsed path. It starts at the item, with `start` "$" at the source record, else at a join's value."""

    steps: tuple[Step, ...]
    start: str = ""

    def __str__(self) -> str:
        return written(self.steps, self.start)

    @property
    def is_many(self) -> bool:
        """Return whether it may lead to several values."""
        return Sign.EACH in self.steps

    @property
    def join(self) -> str | None:
        """Return the name of the join that it starts at."""
        return self.start if self.start not in ("", "$") else None

    def all(self, place: Place) -> Iterator[Json]:
        """Yield every value that the path leads to; `Broken` for a text that is not JSON."""
        value = self.begin(place)
        return iter(()) if value is _ABSENT else self._walk(value, 0)

    def state(self, place: Place) -> tuple[State, str]:
        """Return whether there is anything to iterate over, and why not where a text is not JSON."""
        found: dict[State, str] = {}
        for state, why in self._states(self.begin(place), 0):
            found.setdefault(state, why)
        order: tuple[State, ...] = ("unusable", "found", "null", "absent")
        state = next((each for each in order if each in found), "found")
        return state, found.get(state, "")

    def nearest(self, place: Place) -> str:
        """Return what there is instead where the path leads nowhere: how far it goes, and what is near."""
        if (value := self.begin(place)) is _ABSENT:
            return f"the join `{self.start}` found nothing"
        steps = self.steps
        for position, step in enumerate(steps):
            before = written(steps[:position], self.start)
            if step is Sign.EACH:
                if not isinstance(value, list):
                    return f"`{before}` is {_kind_of(value)}, not a list{self._json_hint(value, position)}"
                value = self._leading_on(value, position + 1)
                continue
            child = _child(value, step)
            if isinstance(child, Broken) or child is _ABSENT:
                return self._instead(value, step, position, place)
            value = child
        return f"`{self}` is {_kind_of(value)}"

    def begin(self, place: Place) -> Json:
        """Return the value that it starts at."""
        if not self.start:
            return place.item
        return place.root if self.start == "$" else place.joined.get(self.start, _ABSENT)

    def _walk(self, value: Json, position: int) -> Iterator[Json]:
        for number in range(position, len(self.steps)):
            step = self.steps[number]
            if step is Sign.EACH:
                for element in value if isinstance(value, list) else ():
                    yield from self._walk(element, number + 1)
                return
            value = _child(value, step)
            if value is _ABSENT:
                return
            if isinstance(value, Broken):
                yield self._placed(value, number)
                return
        yield value

    def _states(self, value: Json, position: int) -> Iterator[tuple[State, str]]:
        """Yield the state of each branch; an empty list counts as found."""
        for number in range(position, len(self.steps)):
            step = self.steps[number]
            if value is None or value is _ABSENT:
                break
            if step is Sign.EACH:
                if not isinstance(value, list):
                    yield "unusable", ""
                elif value and number + 1 < len(self.steps):
                    for element in value:
                        yield from self._states(element, number + 1)
                else:
                    yield "found", ""
                return
            value = _child(value, step)
            if isinstance(value, Broken):
                yield "unusable", self._placed(value, number).why
                return
        yield ("absent" if value is _ABSENT else "null" if value is None else "found"), ""

    def _placed(self, broken: Broken, number: int) -> Broken:
        return Broken(f"the text at `{written(self.steps[:number], self.start)}` is not JSON: {broken.why}")

    def _leading_on(self, entries: list[Json], position: int) -> Json:
        """Return the first entry that the next step is possible from, else the first."""
        step = self.steps[position] if position < len(self.steps) else Sign.EACH
        on = (each for each in entries if step is Sign.EACH or _child(each, step) is not _ABSENT)
        return next(on, entries[0] if entries else None)

    def _json_hint(self, value: Json, position: int) -> str:
        if not isinstance(value, str) or isinstance(parsed_text(value), (Broken, str, type(None))):
            return ""
        steps = (*self.steps[:position], Sign.JSON, *self.steps[position:])
        return f"; it holds JSON: write `{written(steps, self.start)}`"

    def _instead(self, value: Json, step: Step, position: int, place: Place) -> str:
        """Return what to write for a step that a value does not have."""
        before, after = self.steps[:position], self.steps[position + 1 :]
        at = written(before, self.start)
        if isinstance(step, Select):
            return f"`{at}` has no entry whose `{step.name}` is {step.value!r}"
        if isinstance(step, int):
            what = f"has {len(value):,} entries" if isinstance(value, list) else f"is {_kind_of(value)}"
            return f"`{at}` {what}"
        if isinstance(value, list):
            steps = (*before, Sign.EACH, step, *after) if isinstance(step, str) else self.steps
            return f"`{at}` is a list: write `{written(steps, self.start)}` for its entries"
        if not isinstance(value, dict):
            return f"`{at}` is {_kind_of(value)}{self._json_hint(value, position)}"
        has = f"{f'`{at}`' if before or self.start else 'the item'} has no `{step}`"
        if near := _nearest_key(str(step), list(value)):
            return f"{has}; near is `{written((*before, near, *after), self.start)}`"
        if elsewhere := _found_below(place.root, str(step)):
            return f"{has}; there is `{written(elsewhere, '' if place.item is place.root else '$')}`"
        return f"{has}; it has {_listed(value)}"


def parse_path(text: str) -> Path:
    """Parse a path. Raises ValueError with the position of the first error."""
    if text == ".":
        return Path(())
    begin = _START.match(text)
    start = "" if begin is None else begin["join"] or "$"
    steps: list[Step] = []
    position = 0 if begin is None else begin.end()
    while position < len(text):
        match = _STEP.match(text, position)
        # A key is first or follows a dot; a bracket may be anywhere.
        if match is None or (match["key"] and bool(match["dot"]) == (not steps and not start)):
            raise ValueError(f"not a path at character {position + 1}: {text!r}")
        index = match["index"]
        steps.append(
            Sign(match["sign"])
            if match["sign"]
            else int(index)
            if index is not None
            else Select(match["name"], match["value"])
            if match["name"]
            else match["key"] or match["quoted"]
        )
        position = match.end()
    if not steps and not start:
        raise ValueError("an empty path; write `.` for the item itself")
    return Path(tuple(steps), start)


def written(steps: tuple[Step, ...], start: str = "") -> str:
    """Return a path as it is written in a mapping."""
    text = "" if not start else "$" if start == "$" else f"${start}"
    for step in steps:
        if isinstance(step, Sign):
            text += step.value
        elif isinstance(step, Select):
            text += f"[{step.name}={step.value}]"
        elif isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f"{'.' if text else ''}{step}" if _PLAIN_KEY.fullmatch(step) else f'["{step}"]'
    return text or "."


def is_text(value: Json, wanted: str) -> bool:
    """Return whether a text, number or boolean is what a mapping has as text: 3 and 3.0 are "3"."""
    if isinstance(value, str):
        return value == wanted
    if isinstance(value, bool):
        return wanted == ("true" if value else "false")
    if isinstance(value, (int, float)):
        with suppress(ValueError):
            return str(value) == wanted or float(wanted) == value
    return False


@lru_cache(maxsize=8)
def parsed_text(text: str) -> Json:
    """Return the value that a text holds as JSON, or as Python writes a list; None for an empty one.

    `Broken` for what is neither. The same text is asked for by each field of a record.
    """
    if not text.strip():
        return None
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        value = _literal(text)
        if value is _ABSENT:
            return Broken(f"{error.msg} (character {error.pos + 1:,})")
    if is_deeper(value, MAX_DEPTH):
        return Broken(f"nested more than {MAX_DEPTH} deep")
    return value


def _literal(text: str) -> Json:
    """Return a list or object as Python writes it, with only what JSON has too."""
    if text.lstrip()[:1] in ("[", "{", "(") and len(text) <= MAX_LITERAL:
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            return orjson.loads(orjson.dumps(ast.literal_eval(text.strip())))
    return _ABSENT


def _child(value: Json, step: Step) -> Json:
    """Return the value at a step; `Broken` if it should be parsed and cannot."""
    if isinstance(step, str):
        return value[step] if isinstance(value, dict) and step in value else _ABSENT
    if isinstance(step, Select):
        if isinstance(value, dict):
            return value if step.fits(value) else _ABSENT
        return next(
            (each for each in value if step.fits(each)) if isinstance(value, list) else iter(()), _ABSENT
        )
    if isinstance(step, int):
        return value[step] if isinstance(value, list) and -len(value) <= step < len(value) else _ABSENT
    return parsed_text(value) if isinstance(value, str) else value


def _kind_of(value: Json) -> str:
    return "empty" if value in ("", [], {}) else kind_of(value)


def _nearest_key(key: str, keys: list[str]) -> str | None:
    wanted, plain = _plain(key), {_plain(each): each for each in reversed(keys)}
    close = difflib.get_close_matches(wanted, plain, 1, 0.6)
    if not close and len(wanted) > 2:
        close = sorted(
            (each for each in plain if len(each) > 2 and (wanted in each or each in wanted)), key=len
        )
    return plain[close[0]] if close else None


def _plain(key: str) -> str:
    return re.sub(r"[\W_]+", "", key[:100]).casefold()


def _found_below(root: Json, key: str) -> tuple[Step, ...] | None:
    """Return the shortest path to an object's key below a record, among its first values."""
    waiting: deque[tuple[tuple[Step, ...], Json]] = deque([((), root)])
    for _ in range(_SEARCHED):
        if not waiting:
            return None
        steps, value = waiting.popleft()
        if isinstance(value, dict):
            if key in value:
                return (*steps, key)
            below = ((name, each) for name, each in value.items() if isinstance(each, (dict, list)))
            waiting += (((*steps, name), each) for name, each in below)
        elif isinstance(value, list) and value:
            waiting.append(((*steps, Sign.EACH), value[0]))
    return None


def _listed(value: Mapping[str, Json]) -> str:
    names = [f"`{name[:60]}`" for name in list(value)[:_SHOWN]]
    more = len(value) - len(names)
    return ", ".join(names) + (f" and {more:,} more keys" if more else "") if names else "no keys"
