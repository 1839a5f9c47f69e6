"""The candidates of one stage as a table: ranks, scores and marks beside the text, numbers as numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import pandas as pd
import streamlit as st

from core.services.questions import CandidateView, StageView
from core.ui.safe import clean

#: A producer may write any number of features; more columns than this would hide the text.
MAX_SCORE_COLUMNS = 12
TEXT_CHARS = 66
#: So much of a chunk is looked at for where its text begins.
READ_CHARS = 1_500
#: Three lines of text, so that a chunk and its marks can be read without a click; up to 4rem nothing wraps.
ROW_PIXELS = 66
HEAD_PIXELS = 36
MAX_ROWS_SEEN = 6
#: Stands in a cell without a value.
NOTHING = "–"
_CHOSEN = "background-color: rgba(240, 180, 60, 0.22)"
#: Two or more lines of `name: value`, then an empty line.
_HEADER = re.compile(r"\A\s*(?:\w[\w .-]{0,30}:[^\n]{0,100}\n){2,20}[^\S\n]*\n")
_GOLD = {"chunk": "gold", "page": "gold page", "section": "gold section"}


def candidate_frame(stage: StageView) -> pd.DataFrame:
    """One row a candidate, in rank order. `page` is the PDF page (from 1), empty where not known.

    The document is named where there are several.
    """
    views = stage.candidates
    documents = [clean(view.candidate.doc_id or "") for view in views]
    frame = pd.DataFrame(
        {
            "rank": [view.candidate.rank for view in views],
            "chunk": [_text_start(view) for view in views],
            "marks": [_marks(view) for view in views],
            "document": documents if len(set(documents) - {""}) > 1 else [""] * len(views),
            "section": [clean(view.candidate.section_id or "") for view in views],
            "page": pd.array([_page(view) for view in views], dtype="Int64"),
            "score": pd.array([view.candidate.score for view in views], dtype="Float64"),
            "was": pd.array([view.was_rank for view in views], dtype="Int64"),
        }
    )
    empty = [name for name in ("score", "was", "document", "section", "marks") if _is_empty(frame[name])]
    return pd.concat([frame.drop(columns=empty), _scores(views)], axis=1)


def show_candidates(
    stage: StageView, *, chosen: str | None, asked: str | None, key: str, on_choose: Callable[[str], None]
) -> None:
    """Draws the table; a click on a row calls `on_choose` with its chunk id. `chosen` is tinted.

    `asked` is the chunk that the URL names, None while a citation or nothing is chosen.
    """
    frame = candidate_frame(stage)
    ids = [view.candidate.chunk_id for view in stage.candidates]
    key = _fresh_key(key, ids, asked)
    st.dataframe(
        frame.style.apply(_tint, axis=None, chosen=[chunk_id == chosen for chunk_id in ids]).format(
            precision=3, na_rep=NOTHING, subset=list(frame.select_dtypes("number").columns)
        ),
        key=key,
        hide_index=True,
        placeholder=NOTHING,
        on_select=lambda: _selected(key, ids, on_choose),
        selection_mode="single-cell",
        height=ROW_PIXELS * min(len(ids), MAX_ROWS_SEEN) + HEAD_PIXELS + 2,
        row_height=ROW_PIXELS,
        column_config={
            "rank": st.column_config.NumberColumn(width=44),
            "chunk": st.column_config.TextColumn(width=196),
            "marks": st.column_config.TextColumn(width=70),
            "document": st.column_config.TextColumn(width=104),
            "section": st.column_config.TextColumn(width=58),
            "page": st.column_config.NumberColumn(width=46, help="PDF page, counted from 1"),
            "score": st.column_config.NumberColumn(width=56),
            "was": st.column_config.NumberColumn(width=42, help="Rank in the stage before"),
        },
    )


def _selected(key: str, ids: Sequence[str], on_choose: Callable[[str], None]) -> None:
    chunk_id = _selected_id(key, ids)
    if chunk_id is not None:
        on_choose(chunk_id)


def _selected_id(key: str, ids: Sequence[str]) -> str | None:
    """The chunk of the selected cell; a selection outlives a change of data, so its row may be gone."""
    state = st.session_state.get(key)
    cells = state["selection"]["cells"] if state else []
    return ids[cells[0][0]] if cells and 0 <= cells[0][0] < len(ids) else None


def _fresh_key(key: str, ids: Sequence[str], asked: str | None) -> str:
    """The table's key, a new one once something else was chosen than its selected row.

    A table keeps its selection for as long as it lives, and a second click on a selected cell tells nothing.
    """
    turns = f"turns:{key}"
    turn = st.session_state.get(turns, 0)
    if _selected_id(f"{key}:{turn}", ids) not in (None, asked):
        turn += 1
        st.session_state[turns] = turn
    return f"{key}:{turn}"


def _tint(frame: pd.DataFrame, *, chosen: Sequence[bool]) -> pd.DataFrame:
    rows = [[_CHOSEN if is_chosen else ""] * frame.shape[1] for is_chosen in chosen]
    return pd.DataFrame(rows, index=frame.index, columns=frame.columns)


def _text_start(view: CandidateView) -> str:
    """How the chunk's text begins, behind a block of `name: value` lines that a chunker put in front."""
    if view.candidate.text is None:
        return f"(no such chunk: {clean(view.candidate.chunk_id)})"
    text = clean(view.candidate.text[:READ_CHARS])
    header = _HEADER.match(text)
    line = " ".join(text[header.end() if header else 0 :].split()) or " ".join(text.split())
    if len(line) <= TEXT_CHARS:
        return line
    whole = line[:TEXT_CHARS].rpartition(" ")[0]
    return f"{whole} …" if len(whole) > TEXT_CHARS // 2 else f"{line[:TEXT_CHARS]}…"


def _marks(view: CandidateView) -> str:
    cited = f"cited {', '.join(map(str, view.cited_by))}" if view.cited_by else ""
    return " · ".join(part for part in (_GOLD.get(view.gold or "", ""), cited) if part)


def _page(view: CandidateView) -> int | None:
    return None if view.candidate.page_idx is None else view.candidate.page_idx + 1


def _scores(views: Iterable[CandidateView]) -> pd.DataFrame:
    """Features, pre and post scores as columns of their own; what is no number stays in the raw record."""
    rows = [
        {
            **_numbers(view.candidate.features, ""),
            **_numbers(view.candidate.pre_score, "pre "),
            **_numbers(view.candidate.post_score, "post "),
        }
        for view in views
    ]
    names = list(dict.fromkeys(name for row in rows for name in row))[:MAX_SCORE_COLUMNS]
    return pd.DataFrame(
        {name: pd.array([row.get(name) for row in rows], dtype="Float64") for name in names},
        index=range(len(rows)),
    )


def _numbers(values: Mapping[str, object], prefix: str) -> dict[str, float]:
    taken = {"rank", "chunk", "marks", "document", "section", "page", "score", "was"}
    return {
        (f"{prefix}{clean(name)}" if f"{prefix}{name}" not in taken else f"feature {clean(name)}"): float(
            value
        )
        for name, value in values.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    }


def _is_empty(column: pd.Series) -> bool:
    return bool(column.isna().all() or (column.astype(str) == "").all())
