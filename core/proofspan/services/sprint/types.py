"""The sprint's record as page, command and export show it: what the entries add up to, beside the runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from proofspan.contracts.records.records import Json, LineIssue
from proofspan.errors import Problem
from proofspan.journal.sprint import EntryKind, SprintEntry
from proofspan.metrics.goals import Verdict
from proofspan.metrics.values import MetricValue

#: Something to decide, something that can be done now, something that waits for others.
Action = Literal["decide", "do", "wait"]


@dataclass(frozen=True, slots=True)
class Item:
    """A goal, work package, decision or risk: its fields now, and the entries that made it, oldest first.

    Entries that a later one corrects are still in the history, and count for nothing. No field is None or an
    empty list. The key of a work package has no `WP-`.
    """

    kind: EntryKind
    key: str
    fields: Mapping[str, Json]
    history: tuple[SprintEntry, ...] = ()

    @property
    def name(self) -> str:
        """The item as others refer to it: `WP-A1`, `D2`."""
        return f"WP-{self.key}" if self.kind == "package" else self.key

    def line(self, field_name: str) -> str:
        """Return a field of one value, "" if it is not set."""
        value = self.fields.get(field_name)
        return "" if value is None or isinstance(value, list) else str(value)

    def listed(self, field_name: str) -> tuple[str, ...]:
        """Return a field that is a list of texts, () if it is not set."""
        value = self.fields.get(field_name)
        return tuple(value) if isinstance(value, list) else ()


@dataclass(frozen=True, slots=True)
class GoalNow:
    """A goal of the sprint beside the latest run: `value` and `verdict` are None where nothing is measured.

    `needed` of `questions` have to be right (26 of 37), None for a goal without a share. `moved_by` is the
    last run that changed the number, from `was`; None for a number that has not changed since the first run.
    A goal without a metric has its status in the item's fields. `why` says why nothing is measured.
    """

    item: Item
    metric_id: str | None
    run_id: str | None = None
    value: MetricValue | None = None
    verdict: Verdict | None = None
    needed: int | None = None
    questions: int | None = None
    moved_by: str | None = None
    was: MetricValue | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """A run of the manifest: what it read and wrote with sha256 (None where the manifest states none).

    `unpinned` counts the findings on its pinning record, None where they were not looked for; `hits` of
    `judged` questions have the gold section first. `parent` is the run that a derived run was computed from.
    """

    run_id: str
    ts: str | None
    title: str | None
    kind: str | None
    baseline: str | None
    inputs: tuple[tuple[str, str | None], ...]
    outputs: tuple[tuple[str, str | None], ...]
    unpinned: int | None = None
    hits: int | None = None
    judged: int | None = None
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class AgendaItem:
    """Something to decide or to do next, made from what is pending: `what` in a sentence, the item.

    `unblocks` and `waits_for` are names of items; only an action `wait` waits for some.
    """

    what: str
    item: Item
    unblocks: tuple[str, ...] = ()
    waits_for: tuple[str, ...] = ()
    action: Action = "decide"


@dataclass(frozen=True, slots=True)
class SprintRecord:
    """The whole record. `log` has log entries, checkpoints and check-ins, the newest first.

    `entries` are all entries in the order of the file. `sections` are other texts by heading, in their order,
    among them the heading and the introduction of each part under its name in `PARTS`. `stopped` are
    sentences of the stop rule that is raised, `issues` are lines that hold no entry, `problems` are about
    references of items, `can_write` is "" or the reason why nothing can be added.

    `unblocks` and `waits_for` are the names of the items after and before each item, by its name.
    `corrected` is the `entry_id` of the entry that corrects it, by the `entry_id` of the corrected one.
    """

    title: str
    sprint: Item | None = None
    goals: tuple[GoalNow, ...] = ()
    packages: tuple[Item, ...] = ()
    decisions: tuple[Item, ...] = ()
    risks: tuple[Item, ...] = ()
    agenda: tuple[AgendaItem, ...] = ()
    ledger: tuple[LedgerRow, ...] = ()
    log: tuple[SprintEntry, ...] = ()
    sections: tuple[Item, ...] = ()
    entries: tuple[SprintEntry, ...] = ()
    stopped: tuple[str, ...] = ()
    issues: tuple[LineIssue, ...] = ()
    problems: tuple[Problem, ...] = ()
    can_write: str = ""
    unblocks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    waits_for: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    corrected: Mapping[str, str] = field(default_factory=dict)


#: Keys of sections that are the heading and the introduction of a part of the record.
PARTS = ("preface", "goals", "packages", "agenda", "log", "decisions", "risks")
