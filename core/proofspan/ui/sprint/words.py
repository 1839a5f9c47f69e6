"""The words of the sprint's record: kinds of entries, states and statuses with their signs, fields."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from proofspan.contracts.records.records import Json
from proofspan.journal.sprint import EntryKind, SprintEntry
from proofspan.services.sprint.fields import FIELDS
from proofspan.services.sprint.types import Item
from proofspan.ui.widgets.markup import Kind, Piece
from proofspan.ui.widgets.table import Chip, Look
from proofspan.ui.widgets.text import shortened

KIND_NAMES: Mapping[EntryKind, str] = {
    "log": "Log entry",
    "checkpoint": "Checkpoint",
    "checkin": "Check-in",
    "decision": "Decision",
    "package": "Work package",
    "risk": "Risk",
    "goal": "Goal",
    "section": "Section",
    "sprint": "About the sprint",
}


#: Words with an emphasis: **bold** and `code`.
_MARKS = re.compile(r"\*\*([^*\n]+)\*\*|`([^`\n]+)`")


class Sign(NamedTuple):
    """A state in a word with its sign, and its colour in a table and in a text, which repeats them."""

    words: str
    look: Look
    kind: Kind

    def chip(self) -> Chip:
        """Return it for a cell of a table."""
        return Chip(self.words, self.look)


STATES: Mapping[str, Sign] = {
    "LOCKED": Sign("✓ Locked", "green", "pass"),
    "ACCEPTED": Sign("✓ Accepted", "green", "pass"),
    "PROPOSED": Sign("? Proposed", "yellow", "warn"),
    "PENDING": Sign("… Pending", "gray", "badge"),
    "REJECTED": Sign("✗ Rejected", "red", "fail"),
}
STATUSES: Mapping[str, Sign] = {
    "blocked": Sign("✗ Blocked", "red", "fail"),
    "in_progress": Sign("▸ In progress", "yellow", "warn"),
    "pending": Sign("… Pending", "gray", "badge"),
    "complete": Sign("✓ Complete", "green", "pass"),
    "dropped": Sign("– Dropped", "gray", "badge"),
}


def title_of(kind: EntryKind, name: str) -> str:
    """Return a field's title, that of a field that is not known made of its name."""
    return _TITLES[kind].get(name) or f"{name[:1].upper()}{name[1:].replace('_', ' ')}"


def in_order(kind: EntryKind, fields: Mapping[str, Json]) -> dict[str, Json]:
    """Return the fields in the order of the kind's form, others after them."""
    known = [name for name in _TITLES[kind] if name in fields]
    return {name: fields[name] for name in (*known, *sorted(fields.keys() - _TITLES[kind].keys()))}


_TITLES = {kind: {each.name: each.label for each in known} for kind, known in FIELDS.items()}


def words_of(value: Json) -> str:
    """Return a field's value as plain text; several items of a list are lines with a bullet each."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Sequence) and not isinstance(value, str):
        words = [words_of(each) for each in value]
        return words[0] if len(words) == 1 else "\n".join(f"• {_indented(each)}" for each in words)
    if isinstance(value, Mapping):
        return "\n".join(filter(None, map(words_of, value.values())))
    return str(value)


def _indented(words: str) -> str:
    return words.replace("\n", "\n   ")


def listed(value: Json) -> str:
    """Return a field's value on one line, the items of a list with dots between them."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        words = [text for text in map(words_of, value) if text]
        return words[0] if len(words) == 1 else " · ".join(text.removesuffix(".") for text in words)
    return words_of(value)


def marked(words: str, kind: Kind = "plain") -> list[Piece]:
    """Return a text in pieces: **words** and `words` without their marks, as strong and as code.

    The words themselves stay plain text. A text of another kind stays as it is.
    """
    if kind != "plain":
        return [Piece(words, kind)]
    parts = enumerate(_MARKS.split(words))
    return [Piece(part, ("plain", "strong", "code")[place % 3]) for place, part in parts if part]


def unmarked(words: str) -> str:
    """Return a line of text without such marks, for a title or a cell."""
    return "".join(piece.text for piece in marked(words))


def name_of(item: Item) -> str:
    """Return what an item is called: its title, else its own text."""
    return unmarked(words_of(item.fields.get("title")) or words_of(item.fields.get("text")))


def sign_of(item: Item) -> Sign | None:
    """Return the state of a decision or the status of a work package, None for anything else."""
    if item.kind == "decision":
        return state_sign(words_of(item.fields.get("state")))
    return status_sign(words_of(item.fields.get("status"))) if item.kind == "package" else None


def state_sign(state: str) -> Sign | None:
    """Return the sign of a decision's state; one of other words is shown as it is."""
    return STATES.get(state) or (Sign(shortened(state, 30), "gray", "badge") if state else None)


def status_sign(status: str) -> Sign | None:
    """Return the same of a work package's status."""
    return STATUSES.get(status) or (Sign(shortened(status, 30), "gray", "badge") if status else None)


def day_of(entry: SprintEntry) -> str:
    """Return the day of an entry, in UTC as it was written: `2026-02-26`."""
    return entry.at[:10]


def day_in_words(day: str) -> str:
    """Return `Thursday 26 Feb 2026`, or the text itself where it is no date."""
    try:
        date = datetime.fromisoformat(day)
    except ValueError:
        return day
    return f"{date:%A} {date.day} {date:%b %Y}"


def moment(at: str) -> str:
    """Return `26 Feb, 18:02 UTC`, or the text itself where it is no time."""
    try:
        time = datetime.fromisoformat(at)
    except ValueError:
        return shortened(at, 30)
    if time.tzinfo is not None:
        time = time.astimezone(UTC)
    return f"{time.day} {time:%b}, {time:%H:%M} UTC" if "T" in at else f"{time.day} {time:%b}"
