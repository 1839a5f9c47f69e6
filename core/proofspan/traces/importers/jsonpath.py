"""The paths of a mapping: where in a foreign record a value stands.

`a.b`, `a[0]`, `a[]` (each element), `["any key"]`; `.` is the item itself; a leading `$.` starts at the whole
source record instead of the current item.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from proofspan.contracts.records import Json

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
