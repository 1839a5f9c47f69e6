"""The questions that were fixed and those that regressed, as grids with the way to each of them. Pure."""

from __future__ import annotations

from typing import Any

import pandas as pd

from proofspan.services.compared_flips import FlipKind, labels_in_words, ranks_in_words
from proofspan.store.filters import Sort
from proofspan.ui.grid import Cell, Column, Grid, Row
from proofspan.ui.state import ViewState, question_name

#: So many rows of each list stand on a page.
ROWS_A_PAGE = 20
#: Characters of a question and of its id.
MAX_QUESTION, MAX_ID = 140, 40


def flips_grid(rows: pd.DataFrame, view: ViewState, kind: FlipKind) -> Grid:
    """A row a question, which opens both answers side by side: the rank of its gold section and its label,
    then and now. A click on a header sorts."""
    columns = (
        Column(_header("gold at rank", "section_rank", view), "end"),
        Column(_header("label", "label", view), "start"),
        Column(Cell(""), "start"),
    )
    listed = tuple(_row(record, view) for record in rows.to_dict("records"))
    told = "were fixed" if kind == "fixed" else "regressed"
    return Grid(
        f"Questions that {told} in {view.run} against {view.vs}", "question", columns, listed, wide=False
    )


def _header(text: str, by: str, view: ViewState) -> Cell:
    """A header that sorts by its column, then the other way round, then as before."""
    sort = view.sort
    if sort.by != by:
        after, arrow, way = Sort(by), "", "ascending"
    elif not sort.descending:
        after, arrow, way = Sort(by, descending=True), " ↑", "descending"
    else:
        after, arrow, way = Sort(), " ↓", "worst first"
    href = view.change(sort=after.by, desc=after.descending).link("compare")
    return Cell(f"{text}{arrow}", href=href, spoken=f"{text}: sort {way}")


def _row(record: dict[Any, Any], view: ViewState) -> Row:
    name = question_name(str(record["q_id"]))
    here = view.change(q=name, p=0, s=0, cite=None, chunk=None, page=None)
    question = _shortened(str(record["q"]), MAX_QUESTION)
    was, now = (_rank(record[column]) for column in ("was_rank", "section_rank"))
    label = labels_in_words(_text(record["was_label"]), _text(record["label"]))
    return Row(
        Cell(
            question,
            note=_shortened(name, MAX_ID),
            tip=name if len(name) > MAX_ID else "",
            href=here.link("compare"),
            spoken=f"{name}, both answers side by side: {question}",
        ),
        (
            Cell(ranks_in_words(was, now)),
            Cell(label.replace("_", "_\u200b")),  # a long name breaks there
            Cell("Question", href=here.link("question"), spoken=f"{name} on the Question page"),
        ),
    )


def _rank(value: Any) -> int | None:
    return None if pd.isna(value) else int(value)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _shortened(text: str, limit: int) -> str:
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"
