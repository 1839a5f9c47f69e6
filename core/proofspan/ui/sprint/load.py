"""The sprint's record as the page shows it: read again only when its file, or a run, has changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from proofspan.contracts.records.records import Json
from proofspan.journal.sprint import SprintEntry
from proofspan.services.sprint.fold import LOG_KINDS, key_of
from proofspan.services.sprint.record import sprint_record
from proofspan.services.sprint.types import Item, SprintRecord
from proofspan.services.workspace.open import default_run
from proofspan.store.query.store import Store
from proofspan.ui.sprint.words import day_of, in_order, words_of
from proofspan.ui.status.workspace_status import state_of_files
from proofspan.ui.visit import session
from proofspan.ui.visit.view_state import ViewState


class Change(NamedTuple):
    """A field that an entry sets, from `was`, None where it had no value, or a correction sets it again."""

    name: str
    was: Json
    now: Json


@dataclass(frozen=True, slots=True)
class Sprint:
    """The record with what the page looks up in it.

    `items` are by their address (`decision:D2`), `entries` by id, the newest first, `changes` the fields
    that an entry of an item changed, and `corrections` the entries that correct it.
    """

    record: SprintRecord
    items: Mapping[str, Item]
    entries: Mapping[str, SprintEntry]
    changes: Mapping[str, tuple[Change, ...]]
    corrections: Mapping[str, tuple[SprintEntry, ...]]

    @classmethod
    def of(cls, record: SprintRecord) -> Sprint:
        """Return the record with its lookups."""
        goals = tuple(goal.item for goal in record.goals)
        items = (*goals, *record.packages, *record.decisions, *record.risks, *record.sections)
        corrections: dict[str, tuple[SprintEntry, ...]] = {}
        for entry in record.entries:
            if entry.corrects:
                corrections[entry.corrects] = (*corrections.get(entry.corrects, ()), entry)
        newest = sorted(enumerate(record.entries), key=lambda each: (each[1].at, each[0]), reverse=True)
        return cls(
            record=record,
            items={address(item): item for item in items},
            entries={entry.entry_id: entry for _, entry in newest},
            changes={key: each for item in items for key, each in _changes(item, corrections).items()},
            corrections=corrections,
        )

    def item_of(self, entry: SprintEntry) -> Item | None:
        """Return the item that an entry sets fields of."""
        return self.items.get(f"{entry.kind}:{key_of(entry.kind, entry.key)}")

    def logged(self, view: ViewState) -> list[SprintEntry]:
        """Return the entries that the address asks for, the newest first.

        Without a kind these are the entries of the running log, in a search those of every kind. Corrections
        are beside what they correct, unless that is not shown.
        """
        kinds = view.kind or (() if view.find else LOG_KINDS)
        needle = view.find.casefold()

        def is_asked(entry: SprintEntry) -> bool:
            return (
                (not kinds or entry.kind in kinds)
                and view.author in (None, entry.author)
                and view.day in (None, day_of(entry))
                and (not needle or needle in text_of(entry))
            )

        found = {entry.entry_id: entry for entry in self.entries.values() if is_asked(entry)}
        return [entry for entry in found.values() if not entry.corrects or entry.corrects not in found]


def load(opened: session.Opened, store: Store) -> Sprint:
    """Return the workspace's record. Raises Fault where its file cannot be read."""
    runs = (run.run_id for run in opened.manifest.runs)
    key = (*session.indexes_key(opened, store, *runs), *state_of_files(opened))
    return session.cached("sprint", key, lambda: Sprint.of(sprint_record(opened.manifest, store)), most=2)


def latest(opened: session.Opened) -> session.Opened | None:
    """Return the workspace with its latest run shown, None without runs."""
    run = default_run(opened.manifest)
    return replace(opened, view=opened.view.change(run=run.run_id, vs=None), run=run) if run else None


def address(item: Item) -> str:
    """Return what names an item in the page's address."""
    return f"{item.kind}:{item.key}"


def text_of(entry: SprintEntry) -> str:
    """Return all words of an entry, case folded, for a search."""
    return "\n".join((entry.key, entry.author, *map(words_of, entry.fields.values()))).casefold()


def authors(entries: Iterable[SprintEntry]) -> list[str]:
    """Return who wrote the entries, by name."""
    return sorted({entry.author for entry in entries}, key=str.casefold)


def days(entries: Sequence[SprintEntry]) -> dict[str, int]:
    """Return how many entries each day has, the newest day first."""
    counts: dict[str, int] = {}
    for entry in entries:
        counts[day_of(entry)] = counts.get(day_of(entry), 0) + 1
    return counts


def _changes(item: Item, corrections: Mapping[str, object]) -> dict[str, tuple[Change, ...]]:
    """Return the changed fields of each entry of an item; what was corrected counts for nothing after it."""
    known: dict[str, Json] = {}
    found = {}
    for entry in item.history:
        found[entry.entry_id] = tuple(
            Change(name, None if entry.corrects else known.get(name), now)
            for name, now in in_order(item.kind, entry.fields).items()
            if entry.corrects or known.get(name) != now
        )
        if entry.entry_id not in corrections:
            known |= entry.fields
    return found
