"""The sprint's record: entries that people append to the file of the manifest's `sprint`, one a line.

An entry sets fields of the goal, work package, decision or risk that it names, or is a log entry by itself.
The present state is what the entries add up to, in the order of the file. Nothing is ever replaced: a later
entry, or one that corrects an earlier one, is beside it with its own author and time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from proofspan.contracts.records.records import Json, SourceLine

#: `log` is a check-in with notes, `checkpoint` and `checkin` follow the templates of the sprint plan,
#: `section` is any other text of a record: authorities, diagnosis, constraints, future work.
EntryKind = Literal[
    "sprint", "goal", "package", "decision", "risk", "log", "checkpoint", "checkin", "section"
]
ENTRY_KINDS: tuple[EntryKind, ...] = get_args(EntryKind)
#: The states of a decision and the statuses of a work package.
DecisionState = Literal["PROPOSED", "PENDING", "ACCEPTED", "LOCKED", "REJECTED"]
PackageStatus = Literal["pending", "in_progress", "complete", "blocked", "dropped"]


@dataclass(frozen=True, slots=True)
class SprintEntry:
    """A line of the record. `at` is ISO 8601 in UTC, `key` the item's id ("D2", "A1"; "" for a log entry).

    `fields` are the entry's own fields, which data/schemas/sprint-1.0.json describes. `corrects` is the
    `entry_id` of the entry that it corrects. `entry_id` follows from the content, so that two files can be
    merged.
    """

    kind: EntryKind
    key: str
    at: str
    author: str
    fields: Mapping[str, Json] = field(default_factory=dict)
    corrects: str | None = None
    entry_id: str = ""
    source: SourceLine | None = None
