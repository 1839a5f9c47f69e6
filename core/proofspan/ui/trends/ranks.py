"""The rank of the gold section of every question over the runs: which question climbs, which falls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import quote_plus

import streamlit as st

from proofspan.display_names import BUCKET_NAMES
from proofspan.metrics.values import left_out_in_words
from proofspan.services.metrics.cohorts import RankOrder, Ranks, sorted_questions
from proofspan.services.metrics.run_metrics import Trends
from proofspan.ui.trends.charts import base
from proofspan.ui.visit.view_state import ViewState, change_view, question_name
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.chart import BUCKET_COLOURS
from proofspan.ui.widgets.controls import search_field, segments
from proofspan.ui.widgets.table import Cell, Column, Grid, Row, show_grid
from proofspan.wording import counted

ROWS_A_PAGE = 40
#: CSS pixels of the frame; of a longer list the rest scrolls inside.
HEIGHT = 640
ORDERS: Mapping[RankOrder, str] = {"falls": "Falls most", "climbs": "Climbs most", "question": "By question"}
#: How strong a tint is: a hit, a place in the top 20 (from the second to the last), a gap.
_HIT, _NEAR, _FAR, _GAP = 0.85, 0.8, 0.25, 0.6


def rank_panel(trends: Trends, known: Ranks, view: ViewState) -> None:
    """Draw the heat map of ranks with its order, its search and its pages."""
    other = trends.other.run_id if trends.other is not None else None
    run = trends.current.run_id
    about = (
        "Rank of the gold section in the last stage: 1 is a hit, – is not found. "
        "Click a number to open the question."
    )
    markup.note(about, "muted")
    if not known.questions:
        left_out = left_out_in_words(trends.current.measured.values["section_match_at_1"])
        markup.note(f"Nothing to count: {left_out or 'no questions'}.")
        return
    order = view.order or ("falls" if other else "question")
    with st.container(horizontal=True, vertical_alignment="center", key="trend-sort"):
        if other is not None:
            segments(
                "Sorted by",
                ORDERS,
                order,
                key="rank-order",
                on_choose=lambda chosen: change_view(order=chosen, leaf=1),
            )
        search_field(
            "Search questions",
            key="rank-find",
            value=view.find,
            placeholder="Search questions …",
            width=220,
            on_search=lambda words: change_view(find=words, leaf=1),
        )
    found = sorted_questions(known, order, view.find, run=run, against=other)
    pages = max(1, -(-len(found) // ROWS_A_PAGE))
    leaf = min(view.leaf, pages)
    if not found:
        markup.note("No judged question holds these words.", "strong")
        return
    shown = found[(leaf - 1) * ROWS_A_PAGE : leaf * ROWS_A_PAGE]
    titles = {each.run_id: each.run.title or "" for each in trends.runs}
    show_grid(rank_grid(known, shown, view, runs=titles, run=run, against=other), key="rank-cells")
    with st.container(horizontal=True, vertical_alignment="center"):
        message = f"{len(shown):,} of {counted(len(found), 'judged question')}"
        markup.note(message, "muted", width="content")
        if pages > 1:
            key = f"leaf:{leaf}"
            turn = lambda: change_view(leaf=int(st.session_state[key]))  # noqa: E731
            st.pagination(pages, default=leaf, key=key, on_change=turn)


def rank_grid(
    known: Ranks,
    q_ids: Sequence[str],
    view: ViewState,
    *,
    runs: Mapping[str, str],
    run: str,
    against: str | None,
) -> Grid:
    """Return a row per question, a column per run (`runs`: id → title), and how far it moved against
    `against`.
    """

    def rank(q_id: str, run_id: str, address: str) -> Cell:
        place = known.places[q_id].get(run_id)
        if place is None:
            return Cell("", tip=f"{q_id} is not judged in {run_id}")
        message = f"rank {place.rank:,}" if place.rank is not None else "not found"
        tone = _HIT if place.bucket == "hit" else _GAP
        if place.bucket == "score_policy":
            tone = _NEAR - (_NEAR - _FAR) * (min(max(place.rank or 20, 2), 20) - 2) / 18
        bucket = BUCKET_NAMES[place.bucket]
        return Cell(
            "–" if place.rank is None else f"{place.rank:,}",
            tip=f"{run_id}: gold section {message} in the last stage; {bucket}",
            look=BUCKET_COLOURS[place.bucket],
            tone=tone,
            href=address,
            spoken=f"{q_id} in {run_id}: gold section {message}, {bucket}; open the question",
        )

    def move(places: int | None) -> Cell:
        if places is None:
            return Cell("–", look="quiet", tip="not judged in both runs")
        if not places:
            return Cell("=", look="quiet", tip="as before")
        if places > 0:
            return Cell(f"▲ {places:,}", look="green", tip=f"climbed {places:,}")
        return Cell(f"▼ {-places:,}", look="red", tip=f"fell {-places:,}")

    columns = [Column(Cell(run_id, tip=title)) for run_id, title in runs.items()]
    if against is not None:
        tip = f"Ranks gained or lost from {against} to {run}; not found counts as rank {known.worst + 1}"
        columns.append(Column(Cell("Change", tip=tip), "end"))
    starts = {run_id: base(view, run_id).link("question") for run_id in runs}
    rows = []
    for q_id in q_ids:
        name = quote_plus(question_name(q_id))
        cells = [rank(q_id, run_id, f"{start}&q={name}") for run_id, start in starts.items()]
        cells += [move(known.move(q_id, run, against))] if against is not None else []
        words = known.questions[q_id]
        rows.append(Row(Cell(f"{q_id}  {words}", tip=words), tuple(cells)))
    title = "Rank of the gold section by question and run"
    return Grid(title, "Question", tuple(columns), tuple(rows), height=HEIGHT, from_end=True)
