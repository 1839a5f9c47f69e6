"""Keep what a person has typed or chosen on an answer and not saved, for the visit, and save it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import streamlit as st

from proofspan.errors import Fault, Problem
from proofspan.journal.annotations import Annotation, Target, append, now
from proofspan.manifest.types import Manifest
from proofspan.ui.visit.author import author

_DRAFTS, _SAVED = "review:drafts", "review:saved"


class About(NamedTuple):
    """The answer that is reviewed: `answer` is the id of its text, `rules` what the rules say of it."""

    target: Target
    answer: str
    rules: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Draft:
    """The fields as they are now. `waiting` is what could not be saved yet, and `problems` why.

    Something that waits keeps its time, so that saving it again writes no second line.
    """

    is_open: bool = False
    cause: str = ""
    label: str = ""
    tags: str = ""
    text: str = ""
    waiting: Annotation | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to save."""
        return not (self.cause or self.label or self.tags.strip(" ,") or self.text.strip())


def draft_of(target: Target) -> Draft:
    """Return what was typed on an answer so far."""
    return _drafts().get(target, Draft())


def change(target: Target, **fields: Any) -> None:
    """Change some fields of a draft as it is now: it may have changed since what was pressed was drawn."""
    _drafts()[target] = replace(draft_of(target), **fields)


def toggle(target: Target) -> None:
    """Open the fields, or close them."""
    change(target, is_open=not draft_of(target).is_open)


def discard(target: Target) -> None:
    """Forget what could not be saved; what was typed stays."""
    change(target, waiting=None, problems=())


def saved() -> frozenset[str]:
    """Return the ids of the lines that this visit has saved."""
    return frozenset(st.session_state.get(_SAVED, ()))


def agree(manifest: Manifest, about: About) -> None:
    """Save that the person agrees with the rules, with the tags and the note that were typed."""
    save(manifest, about.target, _verdict(about, agrees=True))


def choose(manifest: Manifest, about: About, correct: str) -> None:
    """Save another correctness, with what else was chosen and typed."""
    draft = draft_of(about.target)
    verdict = replace(
        _verdict(about, agrees=False),
        correct=correct,
        cause=draft.cause or None,
        label=draft.label or None,
    )
    save(manifest, about.target, verdict)


def save_typed(manifest: Manifest, about: About) -> None:
    """Save what was chosen and typed: a verdict with another cause or label, else a note."""
    draft = draft_of(about.target)
    verdict = _verdict(about, agrees=False)
    if draft.cause or draft.label:
        save(manifest, about.target, replace(verdict, cause=draft.cause or None, label=draft.label or None))
    elif not draft.is_empty:
        save(manifest, about.target, replace(verdict, kind="note", agrees=None, rules={}))


def assign(manifest: Manifest, about: About, name: str) -> None:
    """Save who is asked to look at the answer; "" for nobody any more."""
    assignee = " ".join(name.split()) or None
    line = Annotation("assignment", about.target, author(), answer=about.answer, assignee=assignee)
    save(manifest, about.target, line)


def withdraw(manifest: Manifest, entry: Annotation) -> None:
    """Save that an own line no longer counts."""
    line = Annotation("withdrawal", entry.target, entry.author, withdraws=entry.entry_id)
    save(manifest, entry.target, line)


def save_waiting(manifest: Manifest, target: Target) -> None:
    """Save what could not be saved before."""
    if (waiting := draft_of(target).waiting) is not None:
        save(manifest, target, waiting)


def save(manifest: Manifest, target: Target, annotation: Annotation) -> None:
    """Append a line; only then does it count as saved. What was typed stays where that fails.

    Without a name the line waits until one is given.
    """
    dated = replace(annotation, author=annotation.author or author(), at=annotation.at or now())
    if not dated.author:
        change(target, waiting=dated, problems=())
        return
    try:
        (written,) = append(manifest, dated)
    except Fault as fault:
        # Under which name it is written may be what has to be corrected.
        waiting = replace(dated, author="" if dated.kind != "withdrawal" else dated.author)
        change(target, waiting=waiting, problems=tuple(fault.problems))
        return
    st.session_state[_SAVED] = saved() | {written.entry_id}
    if written.kind in ("withdrawal", "assignment"):  # what is typed belongs to a verdict or a note
        discard(target)
    else:
        _drafts().pop(target, None)


def _verdict(about: About, *, agrees: bool) -> Annotation:
    draft = draft_of(about.target)
    tags = (" ".join(each.split()) for each in draft.tags.split(","))
    return Annotation(
        "verdict",
        about.target,
        author(),
        answer=about.answer,
        agrees=agrees,
        rules=about.rules,
        tags=tuple(dict.fromkeys(filter(None, tags))),
        text=draft.text.replace("\r\n", "\n").strip() or None,
    )


def _drafts() -> dict[Target, Draft]:
    drafts: dict[Target, Draft] = st.session_state.setdefault(_DRAFTS, {})
    return drafts
