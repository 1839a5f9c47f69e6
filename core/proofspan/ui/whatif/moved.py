"""The questions that move: their rank, bucket, label and cause as logged and as computed."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from typing import Any, Literal

import pandas as pd
import streamlit as st

from proofspan.diagnosis.types import question_cell
from proofspan.display_names import BUCKET_NAMES, CAUSE_NAMES, LABEL_NAMES, NO_LABEL
from proofspan.metrics.ranked import BUCKETS
from proofspan.services.compare import labels_in_words, ranks_in_words
from proofspan.services.rows import Column as ExportColumn
from proofspan.services.rows import Layout, exports
from proofspan.services.whatif.types import WhatIf
from proofspan.ui.triage.panels import paging
from proofspan.ui.visit.view_state import ViewState, question_name
from proofspan.ui.whatif.asked import MOVED, Asked, change_asked
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.controls import segments
from proofspan.ui.widgets.export_menu import export_menu
from proofspan.ui.widgets.table import Cell, Column, Folding, Grid, Look, Row, show_grid
from proofspan.ui.widgets.text import shortened
from proofspan.wording import counted

ROWS_A_PAGE = 10
#: Characters of a question and of its id.
MAX_QUESTION, MAX_ID = 160, 40

_TITLES: Mapping[str, str] = {
    "": "All",
    "regressed": "Regressed",
    "fixed": "Fixed",
    "cause": "Other cause",
    "label": "Other label",
    "prompt": "Other prompt",
}
_VALUES: Mapping[str, Mapping[str, str]] = {
    "bucket": BUCKET_NAMES,
    "cause": CAUSE_NAMES,
    "label": LABEL_NAMES,
}
_NONE: Mapping[str, str] = {"bucket": "Not judged", "cause": "Unknown", "label": NO_LABEL}
_COLUMNS = (
    *("run_id", "q_id", "q", "move", "was_rank", "rank", "was_bucket", "bucket"),
    *("was_label", "label", "was_cause", "cause", "prompt_changed"),
)
_CELLS = (
    ExportColumn("move", lambda row: row["move"] or ""),
    ExportColumn("q_id", lambda row: question_cell(row["q_id"])),
    ExportColumn("question", lambda row: question_cell(row["q"])),
    ExportColumn("gold at rank", lambda row: ranks_in_words(row["was_rank"], row["rank"])),
    ExportColumn("bucket", lambda row: ranks_in_words(row["was_bucket"], row["bucket"])),
    ExportColumn("label", lambda row: labels_in_words(row["was_label"], row["label"])),
    ExportColumn("cause", lambda row: ranks_in_words(row["was_cause"], row["cause"])),
)
#: The exports of the questions that move; the Markdown table is for a pull request.
MOVED_EXPORTS = exports(
    Layout(_COLUMNS, frozenset({"was_rank", "rank"}), lambda _: _CELLS), "csv", "jsonl", "markdown"
)


def questions(found: WhatIf, asked: Asked, view: ViewState, *, workspace: str) -> None:
    """Draw the questions of which anything differs, those that regressed first, and their export."""
    rows = with_moves(found.moved)
    shown = ordered(limited(rows, asked.moved), asked.moved_by)
    with st.container(horizontal=True, vertical_alignment="center", key="moved-head"):
        about = "logged → computed, only what differs"
        markup.titled(
            f"{counted(len(rows), 'question')} {'moves' if len(rows) == 1 else 'move'} ",
            about,
            width="content",
        )
        st.space("stretch")
        if len(rows):
            name = f"{workspace} {view.run}"
            export_menu(
                lambda: iter([shown.assign(run_id=view.run)[list(_COLUMNS)]]),
                matching=len(shown),
                name=name,
                stem="whatif",
                exports=MOVED_EXPORTS,
            )
    if not len(rows):
        markup.note("Nothing moves: every rank, bucket, label and cause is as it was logged.", role="line")
        return
    counts = {kind: len(limited(rows, kind)) for kind in ("", *MOVED)}
    names = {kind: f"{title} {counts[kind]:,}" for kind, title in _TITLES.items() if counts[kind] or not kind}
    if asked.moved and asked.moved not in names:
        names[asked.moved] = f"{_change_words(asked.moved)} {len(shown):,}"
    if len(names) > 1:
        segments(
            "Questions to list",
            names,
            asked.moved,
            key="moved-kind",
            on_choose=lambda kind: change_asked(asked.now().change(moved=kind)),
        )
    at = min(view.at, max(1, -(-len(shown) // ROWS_A_PAGE)))
    page = shown.iloc[(at - 1) * ROWS_A_PAGE : at * ROWS_A_PAGE]
    if len(page):
        changing = [name for name in (*_VALUES, "prompt") if len(limited(shown, name))]
        grid = moved_grid(page, asked, view, changing)
        show_grid(
            grid,
            key="grid-moved",
            on_sort=lambda name: change_asked(asked.now().change(moved_by=_next(asked, name))),
        )
    else:
        markup.note("No question moves in this way.", role="line")
    paging(len(shown), view, rows_a_page=ROWS_A_PAGE)


def with_moves(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with `move`: "regressed" where the bucket is worse, "fixed" where it is better, or "".

    Only hits count as right: from one miss to another is neither.
    """
    was, now = ((rows[name] == BUCKETS[0]) for name in ("was_bucket", "bucket"))
    known = rows["was_bucket"].notna() & rows["bucket"].notna()
    move = pd.Series("", index=rows.index, dtype=object)
    return rows.assign(move=move.mask(known & was & ~now, "regressed").mask(known & ~was & now, "fixed"))


def limited(rows: pd.DataFrame, moved: str) -> pd.DataFrame:
    """Return the rows of one kind of move, or of one change such as `bucket:hit>score_policy`."""
    if moved in ("regressed", "fixed"):
        return rows[rows["move"] == moved]
    if moved in _VALUES:
        return rows[rows[moved].fillna("") != rows[f"was_{moved}"].fillna("")]
    if moved == "prompt":
        return rows[rows["prompt_changed"].astype(bool)]
    name, _, change = moved.partition(":")
    if name not in _VALUES:
        return rows
    was, _, now = change.partition(">")
    return rows[(rows[f"was_{name}"].fillna("") == was) & (rows[name].fillna("") == now)]


def ordered(rows: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return the rows by a column, reversed with a `-` in front; unchanged without one."""
    name = by.removeprefix("-")
    if not name:
        return rows
    keys = rows[{"question": "q"}.get(name, name)]
    if name in _VALUES:
        worst_first = list(_VALUES[name]) if name != "bucket" else list(BUCKETS)[::-1]
        keys = keys.map({value: place for place, value in enumerate(worst_first)})
    order = keys.sort_values(ascending=not by.startswith("-"), kind="stable", na_position="last").index
    return rows.loc[order]


def _next(asked: Asked, name: str) -> str:
    """Return the order after a click on a header: its own, then reversed, then the usual one."""
    return {name: f"-{name}", f"-{name}": ""}.get(asked.moved_by, name)


def moved_grid(rows: pd.DataFrame, asked: Asked, view: ViewState, changing: Container[str]) -> Grid:
    """Return a row per question, which opens it in the logged run, with the columns that are `changing`."""
    listed = []
    for record in rows.to_dict("records"):
        name = question_name(str(record["q_id"]))
        to = view.as_list().change(q=name, at=view.at)
        question = shortened(str(record["q"] or name), MAX_QUESTION)
        move = str(record["move"])
        look: Look = "red" if move == "regressed" else "green" if move == "fixed" else ""
        was, now = (None if pd.isna(record[each]) else int(record[each]) for each in ("was_rank", "rank"))
        head = Cell(
            question,
            href=to.link("question"),
            tip=name,
            spoken=f"{name}: {question}. {move.capitalize()}. Open the question",
        )
        tops = [None if pd.isna(record[each]) else int(record[each]) for each in ("was_top_rank", "top_rank")]
        note = move.capitalize() or (
            "" if was != now or tops[0] == tops[1] else f"fused {ranks_in_words(*tops)}"
        )
        rank = Cell(ranks_in_words(was, now), note=note, look=look, tip=_rank_tip(was, now))
        prompt = "other" if record["prompt_changed"] else ""
        cells = (
            rank,
            *(_value_cell(name, record) for name in ("bucket", "cause", "label")),
            Cell(prompt, look="quiet", tip="The prompt would hold other chunks: no answer to it is known."),
        )
        listed.append(Row(head, cells, key=name))

    def column(name: str, title: str, width: float, *, below: float = 0.0, **more: Any) -> Column:
        folds = Folding(below, "question", titled=True) if below else None
        return Column(Cell(title), "start", name, width, folds=folds, **more)

    def sorts(name: str) -> dict[str, Any]:
        ways: Mapping[str, Literal["ascending", "descending"]] = {name: "ascending", f"-{name}": "descending"}
        return {"sorts": True, "sorted": ways.get(asked.moved_by, "")}

    every = (
        column("rank", "Gold rank", 6.2, **sorts("rank")),
        column("bucket", "Bucket", 8.6, below=46, lines=3, **sorts("bucket")),
        column("cause", "Cause", 9.6, below=38, lines=3, **sorts("cause")),
        column("label", "Label", 8.2, below=54, lines=3, **sorts("label")),
        column("prompt", "Prompt", 4.6, below=50, lines=2),
    )
    first = Column(Cell("Question"), "start", "question", lines=3, **sorts("question"))
    kept = [place for place, each in enumerate(every) if each.name == "rank" or each.name in changing]
    rows_kept = tuple(replace(row, cells=tuple(row.cells[place] for place in kept)) for row in listed)
    columns = tuple(every[place] for place in kept)
    return Grid(f"Questions of {view.run} that move", first, columns, rows_kept)


def _value_cell(name: str, record: Mapping[Any, Any]) -> Cell:
    codes = [value if isinstance(value, str) else "" for value in (record[f"was_{name}"], record[name])]
    words = [_VALUES[name].get(code, code) if code else _NONE[name] for code in codes]
    if codes[0] == codes[1]:
        return Cell("")
    return Cell(" → ".join(words), tip=" → ".join(codes))


def _rank_tip(was: int | None, now: int | None) -> str:
    ranks = ["not in the list" if rank is None else f"rank {rank:,}" for rank in (was, now)]
    return f"The gold section: {' before, '.join(ranks)} now"


def _change_words(moved: str) -> str:
    """Return `Hit → Ranking miss` of `bucket:hit>score_policy`."""
    name, _, change = moved.partition(":")
    return " → ".join(_VALUES[name].get(code, code) if code else _NONE[name] for code in change.split(">"))
