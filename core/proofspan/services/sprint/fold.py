"""Fold the entries of a sprint's record: items with their fields, the log, who waits for whom."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from proofspan.contracts.records.records import Json
from proofspan.errors import Problem
from proofspan.journal.sprint import EntryKind, SprintEntry
from proofspan.services.sprint.types import Item

LOG_KINDS: Final[tuple[EntryKind, ...]] = ("log", "checkpoint", "checkin")
PREFIX: Final = "WP-"


class Folded(NamedTuple):
    """The items by kind and key in the order of their first entries, and the log, oldest first.

    `corrected` is the id of the entry that corrects it, by the corrected one's.
    """

    items: Mapping[tuple[EntryKind, str], Item]
    log: tuple[SprintEntry, ...]
    corrected: Mapping[str, str]

    def of(self, kind: EntryKind) -> tuple[Item, ...]:
        """Return the items of a kind in their order."""
        return tuple(item for item in self.items.values() if item.kind == kind)


def fold(entries: Iterable[SprintEntry]) -> Folded:
    """Add up the entries in their order.

    A later field replaces an earlier one, and a corrected entry counts for nothing.
    """
    listed = list(entries)
    corrected = {entry.corrects: entry.entry_id for entry in listed if entry.corrects is not None}
    fields: dict[tuple[EntryKind, str], dict[str, Json]] = {}
    history: dict[tuple[EntryKind, str], list[SprintEntry]] = {}
    log = []
    for entry in listed:
        if entry.kind in LOG_KINDS:
            log.append(entry)
            continue
        place = (entry.kind, key_of(entry.kind, entry.key))
        history.setdefault(place, []).append(entry)
        now = fields.setdefault(place, {})
        if entry.entry_id not in corrected:
            now.update(entry.fields)
    items = {
        (kind, key): Item(kind, key, without_empty(fields[kind, key]), tuple(past))
        for (kind, key), past in history.items()
    }
    order = sorted(range(len(log)), key=lambda at: (log[at].at, at))
    return Folded(items, tuple(log[at] for at in order), corrected)


def key_of(kind: EntryKind, key: str) -> str:
    """Return an item's key without the `WP-` that work packages may have in texts."""
    is_package = kind in ("package", "checkin") and key[: len(PREFIX)].upper() == PREFIX
    return key[len(PREFIX) :] if is_package and len(key) > len(PREFIX) else key


def without_empty(fields: Mapping[str, Json]) -> dict[str, Json]:
    """Return the fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None and value != []}


class Links(NamedTuple):
    """The names of the items after and before each item, by its name, and what is wrong with them."""

    unblocks: Mapping[str, tuple[str, ...]]
    waits_for: Mapping[str, tuple[str, ...]]
    problems: tuple[Problem, ...]


def links(decisions: Sequence[Item], packages: Sequence[Item]) -> Links:
    """Return what each decision and work package unblocks and waits for, whichever of the two states it.

    An unknown reference, one to itself, and a circle are problems; the links of a circle stay.
    """
    items = {item.name: item for item in (*decisions, *packages)}
    after: dict[str, dict[str, None]] = {name: {} for name in items}
    problems = []
    for item in items.values():
        for field_name in ("unblocks", "depends_on"):
            for named in item.listed(field_name):
                other = _resolved(named, items)
                if other is None or other == item.name:
                    what = "which is neither a decision nor a work package" if other is None else "itself"
                    message = f"{field_name} names {named}, {what}"
                    fix = "add the item, or take the reference out by an entry of its own"
                    problems.append(Problem("unknown_reference", message, item.name, fix, severity="warning"))
                    continue
                first, second = (item.name, other) if field_name == "unblocks" else (other, item.name)
                after[first][second] = None
    for circle in _circles(after):
        message = f"{' → '.join(circle)} wait for each other"
        fix = "take one of these references out by an entry of its own"
        problems.append(Problem("circular_reference", message, circle[0], fix, severity="warning"))
    before: dict[str, list[str]] = {name: [] for name in items}
    for name, others in after.items():
        for other in others:
            before[other].append(name)
    return Links(
        {name: tuple(others) for name, others in after.items() if others},
        {name: tuple(others) for name, others in before.items() if others},
        tuple(problems),
    )


def _resolved(named: str, items: Mapping[str, Item]) -> str | None:
    """Return the name of the item that is meant, None if it is unknown: a decision before a package."""
    if named in items and not named.upper().startswith(PREFIX):
        return named
    package = PREFIX + key_of("package", named)
    return package if package in items else named if named in items else None


def _circles(after: Mapping[str, Mapping[str, None]]) -> Iterator[list[str]]:
    """Yield one circle of each group of items that wait for each other, beginning and ending with an item.

    A walk in depth with a stack of its own: a record may have thousands of items in a row.
    """
    done: set[str] = set()
    for start in after:
        if start in done:
            continue
        path, on_path = [start], {start: 0}
        stack = [(start, iter(after[start]))]
        while stack:
            name, others = stack[-1]
            following = next(others, None)
            if following is None:
                stack.pop()
                path.pop()
                del on_path[name]
                done.add(name)
            elif following in on_path:
                yield [*path[on_path[following] :], following]
            elif following not in done:
                on_path[following] = len(path)
                path.append(following)
                stack.append((following, iter(after[following])))


_NAME = r"(?:WP-)?[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*-?\d+[A-Za-z0-9]*"
_AND = r"(?:\s*(?:→|->|/|,|and|&|\+)\s*)"
_AFTER_WORDS = re.compile(rf"(?:depends on|waits for)\s+\**({_NAME}(?:{_AND}{_NAME})*)", re.IGNORECASE)
_BEFORE_WORDS = re.compile(rf"unblocks?\s+\**({_NAME}(?:{_AND}{_NAME})*)", re.IGNORECASE)


def named_after(text: str) -> list[str]:
    """Return the items that a text states to depend on: `depends on D2 → D3` names D2 and D3."""
    return _named(_AFTER_WORDS, text)


def named_before(text: str) -> list[str]:
    """Return the items that a text states to unblock: `unblocks **D3 / WP-A2**` names D3 and WP-A2."""
    return _named(_BEFORE_WORDS, text)


def _named(words: re.Pattern[str], text: str) -> list[str]:
    found = (name for match in words.finditer(text) for name in re.findall(_NAME, match[1]))
    return list(dict.fromkeys(found))


def agenda_links(text: str) -> dict[str, list[str]]:
    """Return what the lines of an agenda unblock, by the item that each line names first."""
    found: dict[str, list[str]] = {}
    for line in text.split("\n"):
        after = named_before(line)
        subject = re.search(_NAME, line.partition("nblock")[0]) if after else None
        if subject is not None:
            found[key_of("package", subject[0])] = after
    return found
