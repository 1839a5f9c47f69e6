"""Work packages, decisions and risks: a table each, and beside it the item that is open with its history."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

import streamlit as st

from proofspan.services.sprint.types import Item
from proofspan.ui.component import component
from proofspan.ui.sprint.entries import Shown, show_entry
from proofspan.ui.sprint.load import address
from proofspan.ui.sprint.words import (
    KIND_NAMES,
    STATUSES,
    Sign,
    in_order,
    listed,
    moment,
    name_of,
    sign_of,
    title_of,
    words_of,
)
from proofspan.ui.visit.view_state import ViewState, change_view
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.controls import line, panel, toggle_button
from proofspan.ui.widgets.copy_button import show_copying
from proofspan.ui.widgets.markup import Piece
from proofspan.ui.widgets.table import NOTHING, Cell, Column, Folding, Grid, Row, show_grid
from proofspan.ui.widgets.text import shortened
from proofspan.wording import counted

#: Characters of a cell, and of a field of an item before "Show more".
MAX_CELL, LIMIT = 200, 3_000
#: Height of a table in CSS pixels before it scrolls.
HEIGHT = 620
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


def packages_panel(shown: Shown, edit: Edit | None) -> None:
    """Draw the work packages, filtered by status and stream."""
    packages, view = shown.sprint.record.packages, shown.view
    if not packages:
        return
    done = sum(item.fields.get("status") == "complete" for item in packages)
    about = f"{done:,} of {len(packages):,} complete. A row opens the package with its history."
    with panel("packages", "Work packages", about):
        _package_filters(packages, view)
        kept = [item for item in packages if _is_kept(item, view)]
        if not kept:
            markup.note("No work package has this status and stream.", role="line")
        with _beside("package", shown, edit) as table:
            if kept and table:
                show_grid(_package_grid(kept, shown), key="package-cells", chosen=view.item)


def decisions_panel(shown: Shown, edit: Edit | None) -> None:
    """Draw the decisions with their states."""
    decisions, view = shown.sprint.record.decisions, shown.view
    if not decisions:
        return
    signs = [sign.words for item in decisions if (sign := sign_of(item))]
    counts = " · ".join(f"{signs.count(words):,} {words[2:].lower()}" for words in dict.fromkeys(signs))
    about = f"{counts}. A row opens the decision with its reasons and history."
    with panel("decisions", "Decisions", about), _beside("decision", shown, edit):
        show_grid(_decision_grid(decisions, shown), key="decision-cells", chosen=view.item)


def risks_panel(shown: Shown, edit: Edit | None) -> None:
    """Draw the risks, each with what is done about it."""
    risks, view = shown.sprint.record.risks, shown.view
    if not risks:
        return
    about = f"{counted(len(risks), 'risk')} to watch."
    with panel("risks", "Risks", about), _beside("risk", shown, edit):
        show_grid(_risk_grid(risks, view), key="risk-cells", chosen=view.item)


def show_item(item: Item, shown: Shown, edit: Edit | None, *, place: str = "") -> None:
    """Draw an item: its fields now, then its history, the oldest entry first.

    With a `place`, which its keys begin with, draw the fields alone: a preview.
    """
    name = f"{place}{item.kind}-{item.key}"
    with st.container(horizontal=True, vertical_alignment="center", key=f"item-head-{name}"):
        title = " · ".join(filter(None, (item.name, words_of(item.fields.get("title")))))
        markup.note(shortened(title, 200), "strong", role="line", width="content")
        if sign := sign_of(item):
            markup.show(markup.text([Piece(sign.words, sign.kind)], role="line"), width="content")
        if not place:
            st.space("stretch")
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
    stated["depends_on"] = ", ".join(record.waits_for.get(item.name, ())) or listed(
        item.fields.get("depends_on")
    )
    stated["unblocks"] = ", ".join(record.unblocks.get(item.name, ())) or listed(item.fields.get("unblocks"))
    facts = [(title_of(item.kind, field), [Piece(words)]) for field, words in stated.items() if words]
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
        pieces = [Piece(f"{title_of(item.kind, field)}\n", "strong"), Piece(words)]
        markup.show_long(pieces, key=f"field-{field}-{name}", limit=LIMIT)


@contextmanager
def _beside(kind: str, shown: Shown, edit: Edit | None) -> Iterator[bool]:
    """Draw a table and, where an item of its kind is open, that beside it, or below where it is narrow."""
    item = shown.sprint.items.get(shown.view.item or "")
    is_open = item is not None and item.kind == kind
    with st.container(key=f"sprint-{'sides' if is_open else 'alone'}-{kind}"):
        with st.container(key=f"table-of-{kind}"):
            yield True
        if is_open and item is not None:
            with st.container(key="opened", border=True):
                show_item(item, shown, edit)
                reveal(address(item))


def reveal(focus: str) -> None:
    """Scroll the open item into sight, once for each `focus`, where it is not."""
    with st.container(key="reveal"):
        component("ui/sprint/reveal")(key="reveal-script", data={"focus": focus})


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
        is_on = value in chosen
        wanted = tuple(each for each in chosen if each != value) if is_on else (*chosen, value)
        toggle_button(
            markup.label(name),
            key=f"{field}-{number}",
            help=markup.label(f"Show only this {words.lower()}, or one more"),
            is_on=is_on,
            on_click=partial(change_view, **{field: wanted}),
        )


def _is_kept(item: Item, view: ViewState) -> bool:
    status, stream = str(item.fields.get("status")), words_of(item.fields.get("stream"))
    return (not view.status or status in view.status) and (not view.stream or stream in view.stream)


def _package_grid(packages: Sequence[Item], shown: Shown) -> Grid:
    rows = [
        _row(
            item,
            shown.view,
            _cell(item.fields.get("stream")),
            _signed(item),
            _cell(item.fields.get("artifacts")),
            _names(shown.sprint.record.waits_for, item),
            _cell(item.fields.get("owner")),
            _cell(item.fields.get("next")),
        )
        for item in packages
    ]
    columns = (
        Column(Cell("Stream"), "start", "stream", 9.0, 7.0, 2, Folding(46.0, "head")),
        Column(Cell("Status"), "start", "status", 7.6, 7.2),
        Column(Cell("Artifact"), "start", "artifacts", 13.0, None, 2, Folding(58.0, "head")),
        Column(Cell("Depends on"), "start", "depends", 6.0, 5.0, 2, Folding(40.0, "head", titled=True)),
        Column(Cell("Owner"), "start", "owner", 6.0, 5.0, 1, Folding(50.0, "head", titled=True)),
        Column(Cell("Next step"), "start", "next", None, None, 3, Folding(34.0, "head", titled=True)),
    )
    return Grid("Work packages", _first("Package", 15.0), columns, tuple(rows), height=HEIGHT)


def _decision_grid(decisions: Sequence[Item], shown: Shown) -> Grid:
    rows = [
        _row(
            item,
            shown.view,
            _signed(item),
            _names(shown.sprint.record.unblocks, item),
            Cell(moment(item.history[-1].at), note=shortened(item.history[-1].author, 40)),
        )
        for item in decisions
    ]
    columns = (
        Column(Cell("State"), "start", "state", 7.2, 7.2),
        Column(Cell("Unblocks"), "start", "unblocks", 11.0, 8.0, 2, Folding(38.0, "head", titled=True)),
        Column(Cell("Last change"), "start", "changed", 9.5, 9.0, 2, Folding(32.0, "head")),
    )
    return Grid("Decisions", _first("Decision"), columns, tuple(rows), height=HEIGHT)


def _risk_grid(risks: Sequence[Item], view: ViewState) -> Grid:
    rows = [_row(item, view, _cell(item.fields.get("mitigation"))) for item in risks]
    columns = (
        Column(Cell("Mitigation"), "start", "mitigation", None, None, 3, Folding(34.0, "head", titled=True)),
    )
    return Grid("Risks", _first("Risk"), columns, tuple(rows), height=HEIGHT)


def _first(title: str, width: float | None = None) -> Column:
    return Column(Cell(title), "start", "head", width, None, 3)


def _row(item: Item, view: ViewState, *cells: Cell) -> Row:
    key = address(item)
    name = shortened(" · ".join(filter(None, (item.name, name_of(item)))), MAX_CELL)
    head = Cell(
        name,
        href=view.change(item=None if view.item == key else key).link("sprint"),
        spoken=f"{KIND_NAMES[item.kind]} {shortened(name, 80)}: open it with its history",
    )
    return Row(head, cells, key=key)


def _cell(value: object) -> Cell:
    words = shortened(listed(value), MAX_CELL)
    return Cell(words) if words else NOTHING


def _names(linked: Mapping[str, Sequence[str]], item: Item) -> Cell:
    return _cell(list(linked.get(item.name, ())))


def _signed(item: Item) -> Cell:
    sign: Sign | None = sign_of(item)
    return Cell(chips=(sign.chip(),)) if sign else NOTHING
