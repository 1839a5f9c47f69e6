"""The sprint's record as page, command and export show it: what the entries add up to, beside the runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from proofspan.contracts.records.records import Json, LineIssue
from proofspan.journal.sprint import EntryKind, SprintEntry
from proofspan.metrics.goals import Verdict
from proofspan.metrics.values import MetricValue


@dataclass(frozen=True, slots=True)
class Item:
    """A goal, work package, decision or risk: its fields now, and the entries that made it, oldest first.

    Entries that a later one corrects are still in the history, and count for nothing.
    """

    kind: EntryKind
    key: str
    fields: Mapping[str, Json]
    history: tuple[SprintEntry, ...]


@dataclass(frozen=True, slots=True)
class GoalNow:
    """A goal of the sprint beside the latest run: `value` and `verdict` are None where nothing is measured.

    `needed` of `questions` have to be right (26 of 37), None for a goal without a share. `moved_by` is the
    last run that changed the number, from `was`. A goal without a metric has its status in the item's
    fields.
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


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """A run of the manifest: what it read and wrote with sha256 (None where the manifest states none).

    `unpinned` counts the findings on its pinning record, `hits` of `judged` questions have the gold section
    first.
    """

    run_id: str
    ts: str | None
    title: str | None
    kind: str | None
    baseline: str | None
    inputs: tuple[tuple[str, str | None], ...]
    outputs: tuple[tuple[str, str | None], ...]
    unpinned: int
    hits: int | None = None
    judged: int | None = None


@dataclass(frozen=True, slots=True)
class AgendaItem:
    """Something to decide or to do next, made from what is pending: `what` in a sentence, the item, what it
    unblocks.
    """

    what: str
    item: Item
    unblocks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SprintRecord:
    """The whole record. `log` has log entries, checkpoints and check-ins, the newest first.

    `sections` are other texts by heading, in their order; `stopped` are sentences of the stop rule that is
    raised; `issues` are lines that hold no entry, `can_write` is "" or the reason why nothing can be added.
    """

    title: str
    goals: tuple[GoalNow, ...] = ()
    packages: tuple[Item, ...] = ()
    decisions: tuple[Item, ...] = ()
    risks: tuple[Item, ...] = ()
    agenda: tuple[AgendaItem, ...] = ()
    ledger: tuple[LedgerRow, ...] = ()
    log: tuple[SprintEntry, ...] = ()
    sections: tuple[Item, ...] = ()
    stopped: tuple[str, ...] = ()
    issues: tuple[LineIssue, ...] = ()
    can_write: str = ""
