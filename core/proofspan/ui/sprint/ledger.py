"""The run ledger, derived from the manifest, and the record's other sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import PurePosixPath

import streamlit as st

from proofspan.metrics.statistics import share_in_words
from proofspan.services.sprint.types import Item, LedgerRow
from proofspan.ui.sprint.entries import LIMIT, Shown
from proofspan.ui.sprint.items import beside, height_of
from proofspan.ui.sprint.load import address
from proofspan.ui.sprint.words import in_order, marked, moment, name_of, title_of, words_of
from proofspan.ui.visit.view_state import ViewState
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.controls import panel
from proofspan.ui.widgets.copy_button import show_copying
from proofspan.ui.widgets.markup import Piece
from proofspan.ui.widgets.table import NOTHING, Cell, Column, Folding, Grid, Row, show_grid
from proofspan.ui.widgets.text import shortened
from proofspan.wording import counted

#: Hexadecimal digits of a hash in the table; the opened run has all of them.
DIGITS = 12


def ledger_panel(shown: Shown) -> None:
    """Draw a row per run with what it read and wrote; an opened run has its hashes in full."""
    rows, view = shown.sprint.record.ledger, shown.view
    if not rows:
        return
    about = "From the manifest: nothing here is typed. A row opens the run's files with their whole sha256."
    with panel("ledger", "Run ledger", about):
        opened = next((row for row in rows if view.item == f"run:{row.run_id}"), None)

        def table() -> None:
            grid = _ledger_grid(rows, view, is_beside=opened is not None)
            show_grid(grid, key="ledger-cells", chosen=view.item)

        beside("run", table, None if opened is None else partial(_run, opened, view), view)


def sections(shown: Shown) -> None:
    """Draw the other texts of the record, each folded."""
    texts = [item for item in shown.sprint.record.sections if item.fields.keys() - {"title"}]
    if texts:
        markup.note("Other sections", "h2", role="heading")
        with st.container(key="sprint-sections"):
            for item in texts:
                _section(item, shown)


def _section(item: Item, shown: Shown) -> None:
    is_open = shown.view.item == address(item)
    title = markup.label(name_of(item) or item.key, limit=120)
    with st.expander(title, expanded=is_open, key=f"section-{item.key}"):
        for field, value in in_order(item.kind, item.fields).items():
            if field != "title":
                name = [] if field == "text" else [Piece(f"{title_of(item.kind, field)}\n", "strong")]
                key = f"section-{item.key}-{field}"
                markup.show_long([*name, *marked(words_of(value))], key=key, limit=LIMIT)
        if item.history:
            last = item.history[-1]
            markup.note(f"{moment(last.at)} · {shortened(last.author, 60)}", "muted")


def _ledger_grid(rows: Sequence[LedgerRow], view: ViewState, *, is_beside: bool) -> Grid:
    columns: tuple[Column, ...] = (
        Column(Cell("Gold first", tip="Questions whose gold section is at rank 1"), "end", "hits", 7.5, 6.4),
        Column(Cell("When"), "start", "when", 9.2, 8.0, 1, Folding(40.0, "head")),
        Column(Cell("Read"), "start", "read", 13.5, None, 3, Folding(54.0, "head", titled=True)),
        Column(Cell("Written"), "start", "written", 13.5, None, 3, Folding(54.0, "head", titled=True)),
        Column(Cell("Pinning"), "start", "pinning", 7.6, 7.0, 2, Folding(30.0, "head")),
    )
    first = Column(Cell("Run"), "start", "head", lines=3)
    shown = 1 if is_beside else len(columns)
    listed = tuple(Row(row.head, row.cells[:shown], row.key) for row in _ledger_rows(rows, view))
    return Grid("Run ledger", first, columns[:shown], listed, height=height_of(listed))


def _ledger_rows(rows: Sequence[LedgerRow], view: ViewState) -> Iterator[Row]:
    """Yield a row per run; one that read the files of an earlier run names that run."""
    first: dict[tuple[tuple[str, str | None], ...], str] = {}
    for row in rows:
        earlier = first.setdefault(row.inputs, row.run_id)
        read = _files(row.inputs) if earlier == row.run_id else Cell(f"as {earlier}", look="quiet")
        yield _ledger_row(row, read, view)


def _ledger_row(row: LedgerRow, read: Cell, view: ViewState) -> Row:
    key = f"run:{row.run_id}"
    title = " · ".join(filter(None, (row.run_id, row.title)))
    head = Cell(
        shortened(title, 160),
        note=shortened(" · ".join(filter(None, (row.kind, _origin(row)))), 80),
        href=view.change(item=None if view.item == key else key).link("sprint"),
        spoken=f"{shortened(title, 80)}: open its files",
    )
    hits = NOTHING
    if row.hits is not None and row.judged:
        hits = Cell(f"{row.hits:,} of {row.judged:,}", note=share_in_words(row.hits, row.judged))
    pins = NOTHING if row.unpinned is None else Cell("✓ complete", look="green")
    if row.unpinned:
        pins = Cell(f"! {counted(row.unpinned, 'gap')}", look="yellow")
    return Row(head, (hits, Cell(moment(row.ts or "")), read, _files(row.outputs), pins), key=key)


def _origin(row: LedgerRow) -> str:
    if row.parent:
        return f"computed from {row.parent}"
    return f"after {row.baseline}" if row.baseline else ""


def _files(files: Sequence[tuple[str, str | None]]) -> Cell:
    if not files:
        return NOTHING
    name, sha = files[0]
    more = f"and {counted(len(files) - 1, 'more file')}" if len(files) > 1 else ""
    return Cell(f"{shortened(PurePosixPath(name).name, 30)} {sha[:DIGITS] if sha else 'no hash'}", note=more)


def _run(row: LedgerRow, view: ViewState) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="item-head-run"):
        markup.note(
            shortened(f"{row.run_id} · {row.title or ''}", 160), "strong", role="line", width="content"
        )
        st.space("stretch")
        files = (*row.inputs, *row.outputs)
        lines = [f"{sha}  {name}" for name, sha in files if sha]
        show_copying("\n".join(lines), name="hashes", key="copy-hashes", shows_text=False)
        st.page_link("pages/sprint.py", label="Close", query_params=view.change(item=None).params())
    for title, named in (("Read", row.inputs), ("Written", row.outputs)):
        if named:
            markup.note(title, role="heading")
            markup.show(
                markup.facts(
                    [
                        (name, [Piece(sha, "code") if sha else Piece("no hash given", "muted")])
                        for name, sha in named
                    ]
                )
            )
    base = view.with_nothing_chosen().change(run=row.run_id)
    with st.container(horizontal=True, key="links-of-run"):
        st.page_link("pages/trends.py", label="Its numbers in Trends", query_params=base.params())
        if row.unpinned:
            title = f"{counted(row.unpinned, 'gap')} of its pinning record"
            st.page_link("pages/health.py", label=title, query_params=base.params())
