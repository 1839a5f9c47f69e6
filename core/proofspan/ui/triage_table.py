"""The Triage table in the browser: a real table whose rows are links, and what a click in it means.

A small component of our own, because a canvas can be neither read aloud nor copied from, and its rows have no
address. Its three parts are files beside this module, handed over as inline strings, so that nothing is
fetched. The words come from `proofspan.ui.triage_rows`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple
from functools import cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode

import orjson
import pandas as pd
import streamlit as st
from streamlit.errors import StreamlitAPIException

from proofspan.contracts.records import TraceKey
from proofspan.store.filters import Sort
from proofspan.ui.links import script
from proofspan.ui.state import ViewState, question_name, read_view, write_view
from proofspan.ui.theme import LABEL_COLOURS
from proofspan.ui.triage_rows import HEADERS, NOTHING, Header, TableRow, table_rows

ROWS_A_PAGE = 50
#: So many rows stand there whole. Of a longer list thirteen and a half are in sight, and the rest scrolls
#: inside the table, header in sight. A row that is cut says that there are more (see triage_table.js).
ROWS_WHOLE = 15
ROWS_IN_SIGHT = 13.5
ROW_PIXELS = 34
#: Header and frame, beside the rows.
FRAME_PIXELS = 36
#: The one table of the page: the component stays, with its focus, while its rows change.
KEY = "triage-rows"

_NAME = "proofspan_triage_table"
_PAGE = "./question?"
#: The URL parameters that name a question; the rest names the list that it was chosen from.
_OWN = ("q", "p", "s")


def show_table(rows: pd.DataFrame, view: ViewState, *, offsets: Mapping[TraceKey, int] | None = None) -> None:
    """Draws the page of rows. A click on one opens its question, a click on a header sorts in SQL.

    `offsets` is what `table_rows` takes. Where the component cannot be mounted, the bare rows are shown.
    """
    shown = table_rows(rows, offsets)
    data = packed(shown, own_parameters(rows, view), view)
    try:
        _mount(data, height=frame_height(len(shown)))
    except (StreamlitAPIException, TypeError):
        st.caption("The table could not start; these are its rows without their links.")
        frame = pd.DataFrame(shown).drop(columns=["broken", "was"])
        st.dataframe(frame.set_axis([header.title for header in HEADERS.values()], axis=1), hide_index=True)


def own_parameters(rows: pd.DataFrame, view: ViewState) -> list[str]:
    """Return of each row the part of its address that no other row has."""
    return [_encoded(opened(row, view), only=_OWN) for _, row in rows.iterrows()]


def opened(row: pd.Series[Any], view: ViewState) -> ViewState:
    """The state that shows the question of an index row, in the same list."""
    return view.as_list().change(
        q=question_name(row["q_id"], int(row["repeat"])), p=int(row["paraphrase"]), s=int(row["seed"])
    )


def packed(rows: Sequence[TableRow], own: Sequence[str], view: ViewState) -> bytes:
    """What the browser needs, as JSON in UTF-8.

    `rows` holds the texts of a row in the order of `columns`, then the rules that it breaks, what it was in
    another run, and what is its own in its address: `page`, that, `&` and `list` make the whole. While `list`
    stays the same, so does the scroll position. Without a question that ranking can be judged by, `ranked` is
    false, and `broken` without one that breaks a rule.
    """
    return orjson.dumps(
        {
            "page": _PAGE,
            "list": _list_parameters(view),
            "colours": LABEL_COLOURS,
            "ranked": any(row.gold_rank != NOTHING for row in rows),
            "broken": any(row.rules != NOTHING for row in rows),
            "columns": [
                {"name": name, "title": header.title, "help": header.help, **_order(header, view.sort)}
                for name, header in HEADERS.items()
            ],
            "rows": [(*astuple(row), part) for row, part in zip(rows, own, strict=True)],
        }
    )


def frame_height(rows: int) -> int | Literal["content"]:
    """The height in pixels that is kept free for so many rows, so that what follows never jumps.

    A few rows take what they need: in a narrow window they are higher.
    """
    return "content" if rows <= ROWS_WHOLE else int(ROW_PIXELS * ROWS_IN_SIGHT + FRAME_PIXELS)


def sort_after_click(column: str, sort: Sort) -> Sort:
    """The order after a click on a header: the column's own direction first, then the other one."""
    header = HEADERS[column]
    if sort.by != header.sort:
        return Sort(header.sort, header.descending_first)
    return Sort(header.sort, not sort.descending)


def _order(header: Header, sort: Sort) -> dict[str, str]:
    """`aria-sort` and arrow of a header. Worst first is an order of its own, and needs no arrow."""
    if sort.by != header.sort:
        return {"sorted": "", "arrow": ""}
    if sort == Sort():
        return {"sorted": "other", "arrow": ""}
    return (
        {"sorted": "descending", "arrow": "↓"} if sort.descending else {"sorted": "ascending", "arrow": "↑"}
    )


def _list_parameters(view: ViewState) -> str:
    return _encoded(view.as_list())


def _encoded(state: ViewState, *, only: Iterable[str] | None = None) -> str:
    params = state.params()
    names = params if only is None else [name for name in only if name in params]
    return urlencode({name: params[name] for name in names}, doseq=True)


def _mount(data: bytes, *, height: int | Literal["content"]) -> None:
    with st.container(key="triage-table"):
        _component()(key=KEY, data=data, height=height, on_sort_change=_sort)


def _sort() -> None:
    """Sort by the column whose header was clicked; a browser may send anything."""
    column = st.session_state[KEY].get("sort")
    if isinstance(column, str) and column in HEADERS:
        view = read_view()
        sort = sort_after_click(column, view.sort)
        write_view(view.change(sort=sort.by, desc=sort.descending))


@cache
def _component() -> st.components.v2.types.ComponentRenderer:
    """Registered once a process; each part counts as inline because it holds line breaks."""
    html, css = (
        Path(__file__).with_name(f"triage_table.{part}").read_text(encoding="utf-8")
        for part in ("html", "css")
    )
    return st.components.v2.component(_NAME, html=html, css=css, js=script("triage_table.js"))
