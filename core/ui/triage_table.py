"""The Triage table: an index page as the few columns that a person reads, and what a click in it means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from core.contracts.records import LABELS
from core.store.filters import Sort
from core.triage.gold import GoldRanks
from core.ui import words
from core.ui.safe import clean
from core.ui.state import ViewState, question_name, read_view, write_view
from core.ui.theme import COLOURS_IN_ORDER

ROWS_A_PAGE = 50
#: Rows that are visible at once; the rest of the page scrolls inside the table, header in sight.
ROWS_IN_SIGHT = 13
ROW_PIXELS = 34
#: What a cell holds at most; the whole text stands on the Question page.
MAX_QUESTION = 160
MAX_NUMBERS = 3
NO_LABEL = "no label"


@dataclass(frozen=True, slots=True)
class Header:
    """A column: its title, width in pixels, what a click on it sorts by, and in which direction first."""

    title: str
    width: int
    sort: str
    descending_first: bool = False
    help: str = ""


HEADERS: Mapping[str, Header] = {
    "label": Header("label", 138, "worst", help="Worst first"),
    "question": Header("question", 312, "question"),
    "why": Header("why", 150, "why", help="The rule that decided the label"),
    "section": Header("rank 1 in", 74, "section", help="Section of the candidate at rank 1"),
    "cited": Header("cited", 60, "resolved", help="Citations whose chunk is known, of those cited"),
    "coverage": Header(
        "coverage",
        82,
        "answer_coverage",
        help="Share of the answer's words that the evidence holds, by rarity",
    ),
    "numbers": Header(
        "unsupported",
        102,
        "unsupported",
        descending_first=True,
        help="Numbers that stand nowhere in the evidence",
    ),
    "stands_out": Header("what stands out", 222, "suspicions", descending_first=True),
}


def table_frame(rows: pd.DataFrame) -> pd.DataFrame:
    """The columns of `HEADERS` for a page of index rows, in words and cut to what a cell can show."""
    return pd.DataFrame(
        {
            "label": [[label if isinstance(label, str) else NO_LABEL] for label in rows["label"]],
            "question": [_shortened(question, MAX_QUESTION) for question in rows["q"]],
            "why": [words.why(why) if isinstance(why, str) else "" for why in rows["why"]],
            "section": [_text(section) for section in rows["rank1_section"]],
            "cited": [_cited(*pair) for pair in zip(rows["cited_resolved"], rows["cited"], strict=True)],
            "coverage": pd.to_numeric(rows["answer_coverage"]).to_numpy(),
            "numbers": [_first_few(_list(numbers)) for numbers in rows["numbers_unsupported"]],
            "stands_out": [
                clean(words.stands_out(_list(codes), label=label, coverage=coverage, gold=gold))
                for codes, label, coverage, gold in zip(
                    rows["suspicions"], rows["label"], rows["answer_coverage"], _gold(rows), strict=True
                )
            ],
        }
    )


def show_table(rows: pd.DataFrame, view: ViewState) -> ViewState | None:
    """Draws the page of rows; gives the state that opens a question when a cell was clicked.

    A click on a header sorts in SQL: it changes the URL before the script runs again.
    """
    frame = table_frame(rows)
    key = table_key(view, len(frame))
    event = st.container(key="triage-table").dataframe(
        frame,
        hide_index=True,
        key=key,
        height=ROW_PIXELS * (1 + min(len(frame), ROWS_IN_SIGHT)) + 2,
        row_height=ROW_PIXELS,
        column_config=_column_config(frame, view.sort),
        placeholder="–",
        on_select=lambda: _sort_by_selected_header(key),
        selection_mode=["single-cell", "single-column"],
        alt="Questions of this run, one a row; click a row to open it, a header to sort",
    )
    cells = event["selection"]["cells"]
    if not cells or not 0 <= int(cells[0][0]) < len(rows):
        return None
    return opened(rows.iloc[int(cells[0][0])], view)


def table_key(view: ViewState, rows: int) -> str:
    """The table's key: a new list never inherits the selection of an old one."""
    return f"rows:{view.as_list().link('')}:{rows}"


def opened(row: pd.Series[Any], view: ViewState) -> ViewState:
    """The state that shows the question of an index row, in the same list."""
    return view.as_list().change(
        q=question_name(row["q_id"], int(row["repeat"])), p=int(row["paraphrase"]), s=int(row["seed"])
    )


def sort_after_click(column: str, sort: Sort) -> Sort:
    """The order after a click on a header: the column's own direction first, then the other one."""
    header = HEADERS[column]
    if sort.by != header.sort:
        return Sort(header.sort, header.descending_first)
    return Sort(header.sort, not sort.descending)


def _sort_by_selected_header(key: str) -> None:
    columns = st.session_state[key]["selection"]["columns"]
    if columns and columns[0] in HEADERS:
        view = read_view()
        sort = sort_after_click(columns[0], view.sort)
        write_view(view.change(sort=sort.by, desc=sort.descending))


def _column_config(frame: pd.DataFrame, sort: Sort) -> dict[str, Any]:
    config = {name: _column(name, header, sort) for name, header in HEADERS.items()}
    config["label"] = st.column_config.MultiselectColumn(
        _title(HEADERS["label"], sort),
        width=HEADERS["label"].width,
        pinned=True,
        options=[*LABELS, NO_LABEL],
        color=[*COLOURS_IN_ORDER, "gray"],
    )
    config["numbers"] = st.column_config.MultiselectColumn(
        _title(HEADERS["numbers"], sort),
        width=HEADERS["numbers"].width,
        help=HEADERS["numbers"].help,
        options=sorted({number for numbers in frame["numbers"] for number in numbers}),
        color="red",
    )
    return config


def _column(name: str, header: Header, sort: Sort) -> Any:
    title = _title(header, sort)
    if name == "coverage":
        return st.column_config.NumberColumn(title, width=header.width, help=header.help, format="%.2f")
    return st.column_config.TextColumn(
        title,
        width=header.width,
        help=header.help or None,
        alignment="right" if name in ("section", "cited") else "left",
    )


def _title(header: Header, sort: Sort) -> str:
    if sort.by != header.sort or sort == Sort():
        return header.title
    return f"{header.title} {'↓' if sort.descending else '↑'}"


def _list(values: Any) -> Sequence[str]:
    return () if values is None or isinstance(values, float) else list(values)


def _text(value: Any) -> str:
    return _shortened(value, 40) if isinstance(value, str) and value else "–"


def _shortened(text: str, limit: int) -> str:
    line = " ".join(clean(text[: 4 * limit]).split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def _cited(resolved: Any, cited: Any) -> str:
    return "–" if pd.isna(cited) or not cited else f"{int(resolved)} of {int(cited)}"


def _gold(rows: pd.DataFrame) -> list[GoldRanks | None]:
    """The gold ranks of each row, None where no gold is known."""
    columns = (rows[name] for name in ("gold_known", "gold_seen_rank", "gold_retrieved_rank"))
    return [
        GoldRanks(_rank(seen), _rank(retrieved), None) if known else None
        for known, seen, retrieved in zip(*columns, strict=True)
    ]


def _rank(value: Any) -> int | None:
    return None if pd.isna(value) else int(value)


def _first_few(numbers: Sequence[str]) -> list[str]:
    shown = [_shortened(number, 20) for number in numbers[:MAX_NUMBERS]]
    return [*shown, f"+{len(numbers) - MAX_NUMBERS}"] if len(numbers) > MAX_NUMBERS else shown
