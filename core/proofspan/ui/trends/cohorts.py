"""Frozen cohorts: how many of their questions came through in each run, and freezing another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import quote_plus

import streamlit as st

from proofspan.display_names import BUCKET_NAMES
from proofspan.errors import Fault, Problem
from proofspan.journal.cohorts import MAX_NAME, Cohort
from proofspan.manifest.types import Manifest
from proofspan.metrics.ranked import BUCKETS, Bucket
from proofspan.services.metrics.cohorts import Conversion, Place, RankOrder, Ranks, freeze_bucket
from proofspan.services.metrics.trends import RunTrend, Trends
from proofspan.store.query.store import Store
from proofspan.ui.status.notices import fault_panel
from proofspan.ui.trends.load import Converted, base
from proofspan.ui.visit.view_state import ViewState, question_name
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.chart import BUCKET_COLOURS
from proofspan.ui.widgets.controls import panel
from proofspan.ui.widgets.table import Cell, Column, Grid, Row, show_grid
from proofspan.wording import counted

_DONE, _PROBLEMS = "cohort:done", "cohort:problems"


def cohort_panel(
    trends: Trends,
    cohorts: Sequence[Cohort],
    converted: Converted,
    view: ViewState,
    *,
    manifest: Manifest,
    store: Store,
) -> None:
    """Draw the cohorts with their conversions and, where the manifest names a file for them, a form to freeze
    one.
    """
    about = (
        "The same questions over all runs, frozen from a bucket: how many have the gold section first now?"
    )
    with panel("cohorts", "Cohorts", about):
        if cohorts:
            show_grid(cohort_grid(trends, cohorts, converted, view), key="cohort-cells")
        else:
            markup.note("No cohort is frozen yet.", "muted")
        fault_panel(st.session_state.pop(_PROBLEMS, ()))
        if message := st.session_state.pop(_DONE, ""):
            markup.note(message, "strong")
        if manifest.cohorts is None:
            line = "To freeze one, add to the manifest: `cohorts: {path: cohorts.jsonl}`"
            markup.show(markup.text(markup.coded(line), role="hint"))
        else:
            _freezing(trends.current, manifest, store, file=manifest.cohorts.path)


def cohort_grid(trends: Trends, cohorts: Sequence[Cohort], converted: Converted, view: ViewState) -> Grid:
    """Return a row per cohort and a column per run: `3 of 6`, linked to the questions."""
    columns = tuple(Column(Cell(run.run_id, tip=run.run.title or "")) for run in trends.runs)
    rows = tuple(
        Row(
            Cell(cohort.name, note=_origin(cohort)),
            tuple(_cohort_cell(cohort, converted[cohort.name].get(run.run_id), view) for run in trends.runs),
        )
        for cohort in cohorts
    )
    return Grid("Cohorts and how many of their questions converted", "cohort", columns, rows, wide=False)


def _origin(cohort: Cohort) -> str:
    kind = BUCKET_NAMES.get(cohort.bucket or "", "chosen")
    where = f"{kind} in {cohort.run_id}" if cohort.run_id else "chosen by hand"
    return f"{counted(len(cohort.q_ids), 'question')}, {where}"


def _cohort_cell(cohort: Cohort, found: Conversion | None, view: ViewState) -> Cell:
    if found is None or not found.judged:
        return Cell("–", look="quiet", tip="none of them is judged in this run")
    message = found.in_words(cohort.name)
    return Cell(
        f"{found.hits:,} of {found.questions:,}",
        note="frozen here" if cohort.run_id == found.run_id else f"top 20: {found.in_top_20:,}",
        tip=message,
        look="accent",
        tone=0.1 + 0.8 * found.hits / found.questions,
        href=base(view, found.run_id).change(cohort=cohort.name).link(""),
        spoken=f"{found.run_id}: {message}, list them",
    )


def _freezing(run: RunTrend, manifest: Manifest, store: Store, *, file: str) -> None:
    offered = [bucket for bucket in BUCKETS if run.buckets.get(bucket)]
    if not offered:
        return
    usual = next((bucket for bucket in reversed(BUCKETS) if bucket in offered), offered[0])
    with st.popover("Freeze as cohort", key="freeze"):
        bucket = st.selectbox(
            "Bucket",
            offered,
            index=offered.index(usual),
            format_func=lambda each: f"{BUCKET_NAMES[each]} · {run.buckets[each]:,}",
            key="freeze-bucket",
        )
        name = st.text_input(
            "Name",
            key="freeze-name",
            max_chars=MAX_NAME,
            placeholder="RETRIEVAL-GAP",
        ).strip()
        again = st.checkbox("It may take the place of a cohort of that name", key="freeze-again")
        what = f"{counted(run.buckets[bucket], 'question')} of {BUCKET_NAMES[bucket]} in {run.run_id}"
        message = f"Adds one line to {file} in the workspace: {what}{f', named {name}' if name else ''}."
        markup.note(message)
        st.button(
            "Freeze",
            key="freeze-now",
            type="primary",
            disabled=not name,
            on_click=_freeze,
            args=(store, manifest, name, run.run_id, bucket, again),
        )


def _freeze(store: Store, manifest: Manifest, name: str, run_id: str, bucket: Bucket, again: bool) -> None:
    """Write the cohort, and leave the result for the rerun to show."""
    try:
        cohort = freeze_bucket(store, manifest, name, run_id=run_id, bucket=bucket, again=again)
    except Fault as fault:
        problems: tuple[Problem, ...] = tuple(fault.problems)
        st.session_state[_PROBLEMS] = problems
        return
    st.session_state[_DONE] = f"Frozen: {counted(len(cohort.q_ids), 'question')} as {cohort.name}."


# The rank of the gold section of every question over the runs: which question climbs, which falls.

ROWS_A_PAGE = 40
#: CSS pixels of the frame; of a longer list the rest scrolls inside.
HEIGHT = 640
ORDERS: Mapping[RankOrder, str] = {"falls": "falls most", "climbs": "climbs most", "question": "by question"}
#: How strong a tint is: a hit, a place in the top 20 (from the second to the last), a gap.
_HIT, _NEAR, _FAR, _GAP = 0.85, 0.8, 0.25, 0.6
_NONE = "–"


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
    columns = [Column(Cell(run_id, tip=title)) for run_id, title in runs.items()]
    if against is not None:
        tip = f"Ranks gained or lost from {against} to {run}; not found counts as rank {known.worst + 1}"
        columns.append(Column(Cell("change", tip=tip), "end"))
    starts = {run_id: base(view, run_id).link("question") for run_id in runs}
    rows = []
    for q_id in q_ids:
        name = quote_plus(question_name(q_id))
        cells = [
            _rank_cell(known.places[q_id].get(run_id), q_id, run_id, f"{start}&q={name}")
            for run_id, start in starts.items()
        ]
        cells += [_move(known.move(q_id, run, against))] if against is not None else []
        words = known.questions[q_id]
        rows.append(Row(Cell(f"{q_id}  {words}", tip=words), tuple(cells)))
    message = "Rank of the gold section by question and run"
    return Grid(message, "question", tuple(columns), tuple(rows), height=HEIGHT, from_end=True)


def _rank_cell(place: Place | None, q_id: str, run_id: str, address: str) -> Cell:
    if place is None:
        return Cell("", tip=f"{q_id} is not judged in {run_id}")
    message = f"rank {place.rank:,}" if place.rank is not None else "not found"
    return Cell(
        _NONE if place.rank is None else f"{place.rank:,}",
        tip=f"{run_id}: gold section {message} in the last stage; {BUCKET_NAMES[place.bucket]}",
        look=BUCKET_COLOURS[place.bucket],
        tone=_tone(place),
        href=address,
        spoken=f"{q_id} in {run_id}: gold section {message}, {BUCKET_NAMES[place.bucket]}; open the question",
    )


def _tone(place: Place) -> float:
    if place.bucket == "hit":
        return _HIT
    if place.bucket == "score_policy":
        return _NEAR - (_NEAR - _FAR) * (min(max(place.rank or 20, 2), 20) - 2) / 18
    return _GAP


def _move(places: int | None) -> Cell:
    if places is None:
        return Cell(_NONE, look="quiet", tip="not judged in both runs")
    if not places:
        return Cell("=", look="quiet", tip="as before")
    if places > 0:
        return Cell(f"▲ {places:,}", look="green", tip=f"climbed {places:,}")
    return Cell(f"▼ {-places:,}", look="red", tip=f"fell {-places:,}")
