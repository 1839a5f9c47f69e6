"""Work packages, decisions and risks: a table each, and beside it the item that is open with its history."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import streamlit as st

from proofspan.journal.sprint import EntryKind
from proofspan.services.sprint.types import Item, SprintRecord
from proofspan.ui.sprint.entries import Shown, reveal, saved_note, show_entry
from proofspan.ui.sprint.load import address
from proofspan.ui.sprint.words import (
    KIND_NAMES,
    STATUSES,
    Sign,
    in_order,
    listed,
    marked,
    moment,
    name_of,
    sign_of,
    title_of,
    unmarked,
    words_of,
)
from proofspan.ui.visit.view_state import ViewState, toggle_view
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.controls import line, panel, toggle_button
from proofspan.ui.widgets.copy_button import show_copying
from proofspan.ui.widgets.markup import Piece
from proofspan.ui.widgets.table import NOTHING, Cell, Column, Folding, Grid, Row, show_grid
from proofspan.ui.widgets.text import shortened
from proofspan.wording import counted

#: Characters of a cell, and of a field of an item before "Show more".
MAX_CELL, LIMIT = 200, 3_000
#: Height in CSS pixels of a table of more rows than these, which scrolls.
HEIGHT, MANY = 720, 30
#: The statements of an item that fit a line each; all other fields are texts with a heading.
_FACTS = ("state_note", "status_note", "stream", "owner", "artifacts", "spec_from")
#: Links that others may state: they are shown from both ends.
_LINKED = ("depends_on", "unblocks")
#: Fields that are beside each other where the window is wide.
_PAIR = ("pros", "cons")
#: Fields that the heading of an item shows.
_IN_HEAD = ("title", "state", "status")
#: The most buttons of a filter; the others are found with the search.
MOST_STREAMS = 12

Edit = Callable[[Item], None]


class ItemColumn(NamedTuple):
    """A column of a table of items: its layout, and the cell of an item."""

    layout: Column
    cell: Callable[[Item, SprintRecord], Cell]


def packages_panel(shown: Shown, edit: Edit | None) -> None:
    """Draw the work packages, filtered by status and stream."""
    packages = shown.sprint.record.packages
    if packages:
        done = sum(item.fields.get("status") == "complete" for item in packages)
        about = f"{done:,} of {len(packages):,} complete. A row opens the package with its history."
        with panel("packages", "Work packages", about):
            _package_filters(packages, shown.view)
            kept = [item for item in packages if _is_kept(item, shown.view)]
            if not kept:
                markup.note("No work package has this status and stream.", role="line")
            _items("package", kept, shown, edit)


def decisions_panel(shown: Shown, edit: Edit | None) -> None:
    """Draw the decisions with their states."""
    decisions = shown.sprint.record.decisions
    if decisions:
        signs = [sign.words for item in decisions if (sign := sign_of(item))]
        counts = " · ".join(f"{signs.count(words):,} {words[2:].lower()}" for words in dict.fromkeys(signs))
        about = f"{counts}. A row opens the decision with its reasons and history."
        with panel("decisions", "Decisions", about):
            _items("decision", decisions, shown, edit)


def risks_panel(shown: Shown, edit: Edit | None) -> None:
    """Draw the risks, each with what is done about it."""
    risks = shown.sprint.record.risks
    if risks:
        with panel("risks", "Risks", f"{counted(len(risks), 'risk')} to watch."):
            _items("risk", risks, shown, edit)


def show_item(item: Item, shown: Shown, edit: Edit | None, *, place: str = "") -> None:
    """Draw an item: its fields now, then its history, the oldest entry first.

    With a `place`, which its keys begin with, draw the fields alone: a preview.
    """
    name = f"{place}{item.kind}-{item.key}"
    with st.container(horizontal=True, vertical_alignment="center", key=f"item-head-{name}"):
        title = " · ".join(filter(None, (item.name, unmarked(item.line("title")))))
        markup.note(shortened(title, 200), "h3", role="line", width="content")
        if sign := sign_of(item):
            markup.show(markup.text([Piece(sign.words, sign.kind)], role="line"), width="content")
        if not place:
            with st.container(
                horizontal=True, vertical_alignment="center", wrap=False, width="content", key="item-tools"
            ):
                if edit is not None:
                    st.button("Change", key=f"change-{name}", on_click=edit, args=(item,))
                show_copying("", name="item", key=f"copy-{name}", shows_text=False)
                closed = shown.view.change(item=None).params()
                st.page_link("pages/sprint.py", label="Close", query_params=closed)
    record = shown.sprint.record
    stated = {field: listed(item.fields.get(field)) for field in _FACTS}
    stated["depends_on"], stated["unblocks"] = _before(item, record), _after(item, record)
    facts = [(title_of(item.kind, field), marked(words)) for field, words in stated.items() if words]
    if facts:
        markup.show(markup.facts(facts))
    texts = [
        field for field in in_order(item.kind, item.fields) if field not in (*_IN_HEAD, *_FACTS, *_LINKED)
    ]
    for field in texts:
        if field in _PAIR and all(words_of(item.fields.get(each)) for each in _PAIR):
            if field == _PAIR[0]:
                with st.container(key=f"pair-{name}"):
                    for each in _PAIR:
                        _text(item, each, name)
        else:
            _text(item, field, name)
    if not place:
        _history(item, shown)


def _history(item: Item, shown: Shown) -> None:
    markup.note(f"History · {counted(len(item.history), 'entry', 'entries')}", role="heading")
    with st.container(key="item-history"):
        known = {entry.entry_id for entry in item.history}
        for entry in item.history:
            if entry.corrects not in known:
                show_entry(entry, shown, place="history")


def _text(item: Item, field: str, name: str) -> None:
    words = words_of(item.fields.get(field))
    if words:
        pieces = [Piece(f"{title_of(item.kind, field)}\n", "strong"), *marked(words)]
        markup.show_long(pieces, key=f"field-{field}-{name}", limit=LIMIT)


def _items(kind: EntryKind, items: Sequence[Item], shown: Shown, edit: Edit | None) -> None:
    """Draw a table of items, and the one of them that is open."""
    item = shown.sprint.items.get(shown.view.item or "")
    opened = item if item is not None and item.kind == kind else None

    def table() -> None:
        if items:
            grid = _grid(kind, items, shown, is_beside=opened is not None)
            show_grid(grid, key=f"{kind}-cells", chosen=shown.view.item)

    beside(kind, table, None if opened is None else partial(show_item, opened, shown, edit), shown.view)


def beside(name: str, table: Callable[[], None], opened: Callable[[], None] | None, view: ViewState) -> None:
    """Draw a table and, where a row of it is open, that beside it, or below where the window is narrow."""
    with st.container(key=f"sprint-{'sides' if opened else 'alone'}-{name}"):
        with st.container(key=f"table-of-{name}"):
            table()
        if opened is not None:
            opened_panel(opened, focus=view.item or "")


def opened_panel(draw: Callable[[], None], *, focus: str) -> None:
    """Draw what is open in a frame, and bring it into sight once for each `focus`."""
    with st.container(key="opened", border=True):
        saved_note()
        draw()
    reveal("opened", focus)


def _package_filters(packages: Sequence[Item], view: ViewState) -> None:
    statuses = {str(item.fields.get("status")) for item in packages}
    streams = list(dict.fromkeys(filter(None, (words_of(item.fields.get("stream")) for item in packages))))
    names = {status: sign.words for status, sign in STATUSES.items() if status in statuses}
    if len(names) > 1 or len(streams) > 1:
        with line("packages"):
            if len(names) > 1:
                _toggles("status", "Status", names, view.status)
            if len(streams) > 1:
                shown = {stream: shortened(stream, 40) for stream in streams[:MOST_STREAMS]}
                _toggles("stream", "Stream", shown, view.stream)


def _toggles(field: str, words: str, names: Mapping[str, str], chosen: Sequence[str]) -> None:
    markup.note(words, "muted", width="content")
    for number, (value, name) in enumerate(names.items()):
        toggle_button(
            markup.label(name),
            key=f"{field}-{number}",
            help=markup.label(f"Show only this {words.lower()}, or one more"),
            is_on=value in chosen,
            on_click=partial(toggle_view, field, value),
        )


def _is_kept(item: Item, view: ViewState) -> bool:
    status, stream = str(item.fields.get("status")), words_of(item.fields.get("stream"))
    return (not view.status or status in view.status) and (not view.stream or stream in view.stream)


def _grid(kind: EntryKind, items: Sequence[Item], shown: Shown, *, is_beside: bool) -> Grid:
    """Return the table of items; beside an open one it has the first column alone."""
    columns = _COLUMNS[kind][:1] if is_beside else _COLUMNS[kind]
    record = shown.sprint.record
    rows = tuple(_row(item, shown.view, *(column.cell(item, record) for column in columns)) for item in items)
    width = 15.0 if kind == "package" and not is_beside else None
    first = Column(Cell(KIND_NAMES[kind]), "start", "head", width, None, 3)
    layouts = tuple(column.layout for column in columns)
    return Grid(f"{KIND_NAMES[kind]}s", first, layouts, rows, height=height_of(rows))


def height_of(rows: Sequence[Row]) -> int | None:
    """Return the height of a table, None for one that is shown whole."""
    return HEIGHT if len(rows) > MANY else None


def _row(item: Item, view: ViewState, *cells: Cell) -> Row:
    key = address(item)
    name = shortened(" · ".join(filter(None, (item.name, name_of(item)))), MAX_CELL)
    notes = "" if name_of(item) else shortened(unmarked(item.line("notes")), 100)
    head = Cell(
        name,
        note=notes,
        href=view.change(item=None if view.item == key else key).link("sprint"),
        spoken=f"{KIND_NAMES[item.kind]} {shortened(name, 80)}: open it with its history",
    )
    return Row(head, cells, key=key)


def _cell(value: object) -> Cell:
    words = shortened(unmarked(listed(value)), MAX_CELL)
    return Cell(words) if words else NOTHING


def _before(item: Item, record: SprintRecord) -> str:
    """Return what comes before an item: items that either of the two names, or what it states itself."""
    return ", ".join(record.waits_for.get(item.name) or item.listed("depends_on"))


def _after(item: Item, record: SprintRecord) -> str:
    return ", ".join(record.unblocks.get(item.name) or item.listed("unblocks"))


def _signed(item: Item) -> Cell:
    sign: Sign | None = sign_of(item)
    return Cell(chips=(sign.chip(),)) if sign else NOTHING


def _changed(item: Item) -> Cell:
    last = item.history[-1]
    return Cell(moment(last.at), note=shortened(last.author, 40))


def _plain(field: str, layout: Column) -> ItemColumn:
    """Return the column of a field that is shown as it is."""
    return ItemColumn(layout, lambda item, _: _cell(item.fields.get(field)))


def _column(
    title: str, width: float | None, *, lines: int = 3, folds: float = 0.0, titled: bool = False
) -> Column:
    """Return a column that moves below the item's name in a table narrower than `folds` rem."""
    folding = Folding(folds, "head", titled=titled) if folds else None
    return Column(Cell(title), "start", title.lower().replace(" ", "_"), width, width, lines, folding)


#: The columns of each table after the first, which names the item.
_COLUMNS: Mapping[EntryKind, tuple[ItemColumn, ...]] = {
    "package": (
        ItemColumn(_column("Status", 7.6), lambda item, _: _signed(item)),
        _plain("stream", _column("Stream", 9.0, folds=56.0)),
        _plain("artifacts", _column("Artifact", 13.0, folds=58.0)),
        ItemColumn(
            _column("Depends on", 6.0, folds=40.0, titled=True),
            lambda item, record: _cell(_before(item, record)),
        ),
        _plain("owner", _column("Owner", 6.0, folds=50.0, titled=True)),
        _plain("next", _column("Next step", None, folds=34.0, titled=True)),
    ),
    "decision": (
        ItemColumn(_column("State", 7.6), lambda item, _: _signed(item)),
        ItemColumn(
            _column("Unblocks", 11.0, folds=38.0, titled=True),
            lambda item, record: _cell(_after(item, record)),
        ),
        ItemColumn(_column("Last change", 9.5, folds=32.0), lambda item, _: _changed(item)),
    ),
    "risk": (_plain("mitigation", _column("Mitigation", None, folds=34.0, titled=True)),),
}
