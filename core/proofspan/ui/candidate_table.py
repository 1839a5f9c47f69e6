"""The candidates of one stage as a table that can be read aloud, copied from, and chosen from.

A small component of our own, because a canvas can do none of that and keeps a selection of its own. Its parts
are files beside this module, handed over as inline strings, so that nothing is fetched. The words come from
`proofspan.ui.candidate_rows`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

import orjson
import pandas as pd
import streamlit as st
from streamlit.errors import StreamlitAPIException

from proofspan.services.questions import StageView
from proofspan.ui.candidate_rows import COLUMNS, NOTHING, CandidateRow, candidate_rows, columns_of

_NAME = "proofspan_candidates"
#: The one table of the page: it stays, with its focus and its scroll, while its rows change.
KEY = "candidates"


def show_candidates(stage: StageView, *, chosen: str | None, on_choose: Callable[[str], None]) -> None:
    """Draws the table; a row that is chosen calls `on_choose` with its chunk id. `chosen` has the bar.

    Where the component cannot be mounted, the bare rows are shown.
    """
    rows = candidate_rows(stage)
    names = {name_of(row.chunk_id): row.chunk_id for row in rows}
    try:
        _component()(
            key=KEY, data=packed(rows, chosen=chosen), on_choose_change=lambda: _chosen(names, on_choose)
        )
    except (StreamlitAPIException, TypeError):
        st.caption("The table could not start; these are its rows.")
        frame = pd.DataFrame([{name: getattr(row, name) for name in columns_of(rows)} for row in rows])
        st.dataframe(frame.astype(str), hide_index=True)


def packed(rows: Sequence[CandidateRow], *, chosen: str | None) -> bytes:
    """What the browser needs, as JSON in UTF-8; the rows stay the same whatever is chosen."""
    columns = columns_of(rows)
    return orjson.dumps(
        {
            "columns": [
                {"name": name, "title": COLUMNS[name][0], "help": COLUMNS[name][1]} for name in columns
            ],
            "rows": [
                {
                    "name": name_of(row.chunk_id),
                    "tip": row.tip,
                    "besides": row.besides,
                    **{name: getattr(row, name) for name in columns},
                }
                for row in rows
            ],
            "chosen": None if chosen is None else name_of(chosen),
            "nothing": NOTHING,
        }
    )


def name_of(chunk_id: str) -> str:
    """A chunk in the browser: an id may be as long, and hold, whatever it likes."""
    return hashlib.sha1(chunk_id.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()[:16]


def _chosen(names: Mapping[str, str], on_choose: Callable[[str], None]) -> None:
    """Tells of a row that was chosen; what else a browser may send is none."""
    sent = st.session_state[KEY].get("choose")
    if isinstance(sent, str) and sent in names:
        on_choose(names[sent])


@cache
def _component() -> st.components.v2.types.ComponentRenderer:
    """Registered once a process; each part counts as inline because it holds line breaks."""
    html, css, js = (
        Path(__file__).with_name(f"candidate_table.{part}").read_text(encoding="utf-8")
        for part in ("html", "css", "js")
    )
    return st.components.v2.component(_NAME, html=html, css=css, js=js)
