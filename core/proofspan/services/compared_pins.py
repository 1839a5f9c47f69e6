"""What was pinned for two runs, and where it differs: the first place to look for why one is better."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from proofspan.errors import Fault, InputFault, Problem
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Manifest, Run
from proofspan.traces.reader import MAX_DEPTH, is_deeper, open_source

#: The largest record that is read, in bytes, and how deep it is looked into: deeper parts compare whole.
MOST_BYTES = 4 * 1024 * 1024
MOST_DEEP = 12
#: What names the run itself is different in any two.
_OWN = frozenset({"run_id", "ts"})
_ABSENT: Any = object()


@dataclass(frozen=True, slots=True)
class PinDifference:
    """A key whose value differs: `was` in the older run, `now` in the newer, as text; None: not pinned."""

    key: str
    was: str | None
    now: str | None


@dataclass(frozen=True, slots=True)
class Pins:
    """What differs, key by key, and the names of what is the same. `problems`: records that are lost."""

    differing: tuple[PinDifference, ...]
    same: tuple[str, ...]
    problems: tuple[Problem, ...] = ()


def compared_pins(manifest: Manifest, was: Run, now: Run) -> Pins:
    """The manifest's `pinned` of both runs, each with the record that it names."""
    problems: list[Problem] = []
    then, here = ({**_own_pins(run), **_record(manifest, run, problems)} for run in (was, now))
    return pin_differences(then, here, problems=tuple(problems))


def pin_differences(
    was: Mapping[str, Any], now: Mapping[str, Any], *, problems: tuple[Problem, ...] = ()
) -> Pins:
    """Two trees of values, keys sorted; a part that is the same is named once, at its top.

    Values are the same where their JSON is: 1 is not 1.0 and not true.
    """
    differing: list[PinDifference] = []
    same: list[str] = []
    for key, then, here in _leaves("", was, now, 0):
        if then is not _ABSENT and here is not _ABSENT and _json(then) == _json(here):
            same.append(key)
        else:
            differing.append(PinDifference(key, *(None if v is _ABSENT else _words(v) for v in (then, here))))
    return Pins(tuple(differing), tuple(same), problems)


def read_record(manifest: Manifest, run: Run) -> Mapping[str, Any]:
    """The pinning record of a run, empty where it names none. Fault where it cannot be read."""
    if run.record is None:
        return {}
    with open_source(artifact_path(manifest, run.record)) as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise _unusable(run, f"it is larger than {MOST_BYTES:,} bytes")
    try:
        known = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise _unusable(run, f"it is not valid JSON: {error}") from error
    if not isinstance(known, dict):
        raise _unusable(run, "it is no JSON object")
    if is_deeper(known, MAX_DEPTH):
        raise _unusable(run, f"it is nested more than {MAX_DEPTH} deep")
    return known


def _unusable(run: Run, reason: str) -> InputFault:
    return InputFault.of(
        "record_unusable",
        f"the pinning record of {run.run_id} cannot be used: {reason}",
        where=run.record.path if run.record else "",
        remedy="write one JSON object there, or take `record` out of the run's `pinned`",
    )


def _own_pins(run: Run) -> dict[str, Any]:
    return {key: value for key, value in run.pinned.items() if key != "record"}


def _record(manifest: Manifest, run: Run, problems: list[Problem]) -> dict[str, Any]:
    try:
        return {key: value for key, value in read_record(manifest, run).items() if key not in _OWN}
    except Fault as fault:
        problems.extend(fault.problems)
        return {}


def _leaves(key: str, was: Any, now: Any, depth: int) -> Iterator[tuple[str, Any, Any]]:
    """The highest keys below which nothing differs, and the lowest of what does."""
    trees = [value for value in (was, now) if value is not _ABSENT]
    is_tree = all(isinstance(value, Mapping) for value in trees) and depth < MOST_DEEP
    is_same = len(trees) == 2 and bool(key) and _json(was) == _json(now)
    if is_same or not is_tree or not any(trees):
        if key:
            yield key, was, now
        return
    for name in sorted({name for tree in trees for name in tree}):
        then, here = (_ABSENT if tree is _ABSENT else tree.get(name, _ABSENT) for tree in (was, now))
        yield from _leaves(f"{key}.{name}" if key else name, then, here, depth + 1)


def _json(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _words(value: Any) -> str:
    return value if isinstance(value, str) else _json(value).decode("utf-8", "replace")
