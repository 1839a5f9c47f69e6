"""Drafts of entries: what somebody has typed so far, kept for the session, and the entry that it becomes.

A draft of an item holds the fields as they were when it was begun, and becomes an entry of those fields alone
that were changed: what others change meanwhile stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import MappingProxyType

import streamlit as st

from proofspan.contracts.records.records import Json
from proofspan.errors import Problem
from proofspan.journal.sprint import EntryKind, SprintEntry, entry_id_of
from proofspan.services.sprint.draft import drafted
from proofspan.services.sprint.fields import FIELDS, Shape
from proofspan.services.sprint.fold import LOG_KINDS
from proofspan.ui.sprint.load import Sprint
from proofspan.ui.sprint.words import words_of

_DRAFTS, _ACTIVE = "sprint:drafts", "sprint:active"
_OPENED, _SAVED, _SAVES = "sprint:opened", "sprint:saved", "sprint:saves"
#: The kinds that can be added, in the order of their buttons.
ADDED: tuple[EntryKind, ...] = ("log", "checkpoint", "checkin", "decision", "package", "risk", "goal")


#: What a new item begins with.
_FIRST: Mapping[EntryKind, Mapping[str, Json]] = {
    "decision": {"state": "PROPOSED"},
    "package": {"status": "pending"},
}


@dataclass(frozen=True, slots=True)
class Draft:
    """An entry that is being written: `values` are the texts of its fields, `base` those that it began with.

    `key` is "" for an item that is new, whose id is then typed as `values["key"]`. `seen` are the entries
    that were there when it was begun, `extra` the fields of the entry that it corrects. `at` is when it was
    first saved, so that saving again writes no second entry.
    """

    kind: EntryKind
    key: str = ""
    corrects: str | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    base: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, Json] = field(default_factory=dict)
    seen: frozenset[str] = frozenset()
    is_previewed: bool = False
    at: str = ""
    problems: tuple[Problem, ...] = ()

    @property
    def name(self) -> str:
        """Its name among the drafts of this session."""
        return f"{self.kind}-{self.key}-{self.corrects or ''}"

    @property
    def is_item(self) -> bool:
        """Return whether it sets fields of an item that may be there already."""
        return self.kind not in LOG_KINDS

    def entry(self, author: str, at: str) -> SprintEntry:
        """Return the entry that it becomes, with its id."""
        is_change = self.is_item and bool(self.key) and self.corrects is None
        is_whole = not is_change and self.corrects is None
        fields: dict[str, Json] = dict(self.extra)
        for each in FIELDS[self.kind]:
            was, now = (texts.get(each.name, "").strip() for texts in (self.base, self.values))
            if now or now != was:
                value = value_of(each.shape, now)
                if value is None and not is_change:
                    fields.pop(each.name, None)
                elif is_whole or now != was:
                    fields[each.name] = value
        key = self.key or self.values.get("key", "")
        entry = drafted(
            self.kind, key, at=at, author=author, fields=fields, corrects=self.corrects, keep_empty=True
        )
        if self.corrects is None:
            return entry
        entry = replace(entry, key=self.key)  # as the corrected one has it
        return replace(entry, entry_id=entry_id_of(entry))


def begin(
    sprint: Sprint,
    kind: EntryKind,
    key: str = "",
    *,
    corrects: SprintEntry | None = None,
    fields: Mapping[str, Json] = MappingProxyType({}),
) -> None:
    """Open the draft of such an entry, or begin one with `fields`, or with those of the item or the entry."""
    if corrects is not None:
        fields = corrects.fields
    elif (item := sprint.items.get(f"{kind}:{key}")) is not None:
        fields = item.fields
    elif not fields and not key:
        fields = _FIRST.get(kind, {})
    texts = {each.name: typed(each.shape, fields.get(each.name)) for each in FIELDS[kind]}
    draft = Draft(
        kind=kind,
        key=key,
        corrects=corrects.entry_id if corrects is not None else None,
        values=texts,
        base=texts,
        extra=fields if corrects is not None else {},
        seen=frozenset(sprint.entries),
    )
    drafts = _drafts()
    drafts.setdefault(draft.name, draft)
    st.session_state[_ACTIVE] = draft.name


def open_form(sprint: Sprint, kind: EntryKind, key: str = "", *, corrects: SprintEntry | None = None) -> None:
    """Open a draft and bring its form into sight."""
    st.session_state[_OPENED] = times_opened() + 1
    begin(sprint, kind, key, corrects=corrects)


def times_opened() -> int:
    """Return how many times this session opened the form."""
    return int(st.session_state.get(_OPENED, 0))


def keep_saved(words: str) -> None:
    """Keep what was saved until the page has shown it."""
    st.session_state[_SAVED] = words
    st.session_state[_SAVES] = times_saved() + 1


def times_saved() -> int:
    """Return how many entries this session saved."""
    return int(st.session_state.get(_SAVES, 0))


def saved() -> str:
    """Return what was saved and has not been shown yet, once."""
    return str(st.session_state.pop(_SAVED, ""))


def active() -> Draft | None:
    """Return the draft that is open, None without one."""
    return _drafts().get(st.session_state.get(_ACTIVE, ""))


def put(draft: Draft) -> None:
    """Keep a draft as it is now."""
    _drafts()[draft.name] = draft


def fill(draft: Draft, fields: Mapping[str, Json]) -> None:
    """Fill in what is known of a checkpoint where nothing else was typed."""
    known = {each.name: typed(each.shape, fields.get(each.name)) for each in FIELDS[draft.kind]}
    free = [name for name, text in draft.values.items() if not text.strip() or text == draft.base.get(name)]
    values = {**draft.values, **{name: known[name] for name in free if name in known}}
    put(replace(draft, values=values, base={**draft.base, **known}, problems=()))


def drop(draft: Draft) -> None:
    """Forget a draft, and close it."""
    _drafts().pop(draft.name, None)
    st.session_state.pop(_ACTIVE, None)


def now() -> str:
    """Return the time of an entry that is written now."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def typed(shape: Shape, value: Json) -> str:
    """Return a field's value as it is typed; lines after the first of an item are indented."""
    if not isinstance(value, list):
        return words_of(value)
    if shape == "keys":
        return ", ".join(map(words_of, value))
    return "\n".join(words_of(item).replace("\n", "\n  ") for item in value)


def value_of(shape: Shape, text: str) -> Json:
    """Return the value of what was typed, None of nothing. A number that cannot be read stays a text."""
    text = text.replace("\r\n", "\n").strip()
    if not text:
        return None
    if shape == "number":
        return int(text) if text.isascii() and text.isdigit() else text
    if shape == "keys":
        return [key for key in text.replace(",", " ").replace(";", " ").split() if key]
    if shape != "list":
        return text
    items: list[str] = []
    for line in text.split("\n"):
        if items and line[:1].isspace() and line.strip():
            items[-1] += f"\n{line.strip()}"
        elif line.strip():
            items.append(line.strip().removeprefix("• ").removeprefix("- "))
    return items


def _drafts() -> dict[str, Draft]:
    drafts: dict[str, Draft] = st.session_state.setdefault(_DRAFTS, {})
    return drafts
