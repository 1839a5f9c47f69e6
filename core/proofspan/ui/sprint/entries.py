"""One entry of the record, wherever it is shown: in the running log, in an item's history, as a preview.

All of it was written by people, so it is plain text; its line breaks stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import streamlit as st

from proofspan.contracts.records.records import Json
from proofspan.journal.sprint import SprintEntry
from proofspan.services.sprint.fold import LOG_KINDS
from proofspan.services.sprint.types import Item
from proofspan.ui.component import component
from proofspan.ui.sprint import drafts
from proofspan.ui.sprint.load import Change, Sprint
from proofspan.ui.sprint.words import (
    KIND_NAMES,
    in_order,
    listed,
    marked,
    moment,
    state_sign,
    status_sign,
    title_of,
    unmarked,
    words_of,
)
from proofspan.ui.visit.view_state import ViewState
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.copy_button import show_copying
from proofspan.ui.widgets.markup import Kind, Piece
from proofspan.ui.widgets.text import shortened

#: Where entries are shown: below an item, in a history or a preview, what it still has is not repeated.
Place = Literal["log", "history", "preview"]
#: A text, or two that are beside each other where the window is wide: a check-in as given, and the notes.
Block = tuple[Sequence[Piece], ...]
#: Characters of a text before "Show more", and of a value that takes no line of its own.
LIMIT, SHORT = 3_000, 80
#: Characters of a field of a checkpoint that is a row of a table.
MAX_FACT = 1_500
#: Fields that an entry's heading shows.
_IN_HEAD = ("title", "day", "date")


@dataclass(frozen=True, slots=True)
class Shown:
    """The record, the page's address, and what starts the correction of an entry: entries are drawn with it.

    `correct` is None where nothing can be written.
    """

    sprint: Sprint
    view: ViewState
    correct: Callable[[SprintEntry], None] | None = None


def show_entry(entry: SprintEntry, shown: Shown, *, place: Place) -> None:
    """Draw an entry with who wrote it when, and below it its corrections, which strike it through.

    In the log its title opens it, and the open one has tools.
    """
    corrections = shown.sprint.corrections.get(entry.entry_id, ())
    is_open = place == "log" and shown.view.item == f"entry:{entry.entry_id}"
    name = f"{'open' if is_open else 'is'}-entry-{place}-{entry.entry_id}"
    with st.container(key=name):
        if is_open:
            saved_note()
        with st.container(horizontal=True, vertical_alignment="center", key=f"head-of-{name}"):
            _head(entry, shown, place=place, is_open=is_open)
            if shown.correct is not None and not corrections and (is_open or place == "history"):
                _correct_button(entry, shown.correct, key=f"correct-{name}")
            if is_open:
                show_copying("", name="entry", key=f"copy-{name}", shows_text=False)
                closed = shown.view.change(item=None).params()
                st.page_link("pages/sprint.py", label="Close", query_params=closed)
        blocks = _blocks(entry, shown.sprint, place=place, is_void=bool(corrections))
        if facts := _as_facts(entry, is_void=bool(corrections)):
            markup.show(markup.facts(facts))
            blocks = iter(())
        for number, block in enumerate(blocks):
            with st.container(key=f"{'sides' if len(block) > 1 else 'block'}-of-{name}-{number}"):
                for side, pieces in enumerate(block):
                    markup.show_long(pieces, key=f"{name}-{number}-{side}", limit=LIMIT)
    for correction in corrections:
        with st.container(key=f"correction-{place}-{correction.entry_id}"):
            show_entry(correction, shown, place=place)


def saved_note() -> None:
    """Draw once that an entry was saved."""
    words = drafts.saved()
    if words:
        with st.container(key="saved"):
            markup.show(markup.text([Piece("✓ Saved", "pass"), Piece(f" {words}")], role="line"))


def reveal(part: Literal["opened", "writing"], focus: str) -> None:
    """Bring what is open, or the form, into sight, once for each `focus` and after each save.

    When the item `focus` is closed, the focus returns to the link that opened it.
    """
    with st.container(key=f"reveal-{part}"):
        component("ui/sprint/reveal")(
            key=f"reveal-{part}-script",
            data={"part": part, "item": focus, "focus": f"{focus} {drafts.times_saved()}"},
        )


def title_words(entry: SprintEntry) -> str:
    """Return what an entry is called: its own title, else its kind with its key."""
    own = unmarked(words_of(entry.fields.get("title"))) if entry.kind in LOG_KINDS else ""
    if entry.kind == "checkpoint":
        day, date = (words_of(entry.fields.get(name)) for name in ("day", "date"))
        about = " · ".join(filter(None, (f"Day {day} checkpoint" if day else "Checkpoint", date)))
        return f"{about} · {own}" if own else about
    if entry.kind == "checkin":
        return " · ".join(filter(None, (f"{entry.key} check-in".strip(), own)))
    return own or f"{KIND_NAMES[entry.kind]} {entry.key}".strip()


def _head(entry: SprintEntry, shown: Shown, *, place: Place, is_open: bool) -> None:
    title, who = shortened(title_words(entry), 160), f"{moment(entry.at)} · {shortened(entry.author, 60)}"
    who += " · correction" if entry.corrects else ""
    if place == "log" and not is_open:
        opened = shown.view.change(item=f"entry:{entry.entry_id}").params()
        st.page_link("pages/sprint.py", label=markup.label(title, limit=160), query_params=opened)
    elif entry.kind in LOG_KINDS:
        markup.note(title, "strong", role="line", width="content")
    markup.note(who, "muted", width="content", tip=entry.at)


def _correct_button(entry: SprintEntry, correct: Callable[[SprintEntry], None], *, key: str) -> None:
    help = "Writes a new entry beside this one, which stays"
    st.button("Correct", key=key, type="tertiary", help=help, on_click=correct, args=(entry,))


def _blocks(entry: SprintEntry, sprint: Sprint, *, place: Place, is_void: bool) -> Iterator[Block]:
    """Yield the texts of an entry; those of a void one are struck through."""
    kind: Kind = "removed" if is_void else "plain"
    if entry.kind not in LOG_KINDS:
        item = sprint.item_of(entry) if place != "log" else None
        yield (list(_changed(entry, sprint.changes.get(entry.entry_id, ()), kind, item)),)
        return
    shown_above: tuple[str, ...] = _IN_HEAD
    if entry.kind == "log":
        yield from _log_blocks(entry, kind)
        shown_above = (*_IN_HEAD, "text", "notes", "parts")
    for name, value in in_order(entry.kind, entry.fields).items():
        if name not in shown_above:
            yield ([Piece(f"{title_of(entry.kind, name)}\n", "strong"), *marked(words_of(value), kind)],)


def _as_facts(entry: SprintEntry, *, is_void: bool) -> list[tuple[str, Sequence[Piece]]]:
    """Return a checkpoint or check-in as a short table; [] for others, and for one with a long text."""
    if entry.kind not in ("checkpoint", "checkin"):
        return []
    kind: Kind = "removed" if is_void else "plain"
    fields = in_order(entry.kind, entry.fields)
    words = {name: words_of(value) for name, value in fields.items() if name not in _IN_HEAD}
    if any(len(text) > MAX_FACT for text in words.values()):
        return []
    return [(title_of(entry.kind, name), marked(text, kind)) for name, text in words.items() if text]


def _log_blocks(entry: SprintEntry, kind: Kind) -> Iterator[Block]:
    """Yield what a log entry and each of its parts has: the check-in as it was given, and the notes on it."""
    parts = entry.fields.get("parts")
    for part in ({**entry.fields, "title": ""}, *(parts if isinstance(parts, list) else ())):
        title, raw, beside_it = (words_of(part.get(name)) for name in ("title", "text", "notes"))
        given = [Piece(f"{unmarked(title)}\n", "strong")] if title else []
        given += [Piece(raw, kind)] if raw else []
        notes = [Piece("Orchestrator notes\n", "strong"), *marked(beside_it, kind)] if beside_it else []
        if given or notes:
            yield tuple(filter(None, (given, notes)))


def _changed(entry: SprintEntry, changes: Sequence[Change], kind: Kind, item: Item | None) -> Iterator[Piece]:
    """Yield a line per changed field; what the `item` still has as it was first set is only named."""
    same = []
    for change in changes:
        title = title_of(entry.kind, change.name)
        was, now = (_value(change.name, value) for value in (change.was, change.now))
        is_above = item is not None and item.fields.get(change.name) == change.now
        if is_above and change.name not in ("state", "status") and (len(now) > SHORT or change.was is None):
            same.append(title)
            continue
        yield Piece(f"{title}: ", "muted")
        if was:
            is_short = max(len(was), len(now)) <= SHORT and "\n" not in was + now
            yield Piece(f"{was} → " if is_short else "changed to\n", "muted")
        yield from marked(now or "nothing", kind)
        yield Piece("\n")
    if same:
        yield Piece(f"As above: {', '.join(same)}", "muted")


def _value(name: str, value: Json) -> str:
    words = words_of(value)
    sign = state_sign(words) if name == "state" else status_sign(words) if name == "status" else None
    if sign is not None:
        return sign.words
    line = listed(value)
    return line if len(line) <= SHORT and "\n" not in line else words
