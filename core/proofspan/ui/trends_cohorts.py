"""Frozen cohorts: how many of their questions came through in each run, and freezing another one."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from proofspan.errors import Fault, Problem
from proofspan.journal.cohorts import MAX_NAME, Cohort
from proofspan.manifest.types import Manifest
from proofspan.metrics.buckets import BUCKET_NAMES, BUCKETS
from proofspan.metrics.ranked import Bucket
from proofspan.services.cohorts import Conversion, freeze_bucket
from proofspan.services.trends import RunTrend, Trends
from proofspan.store.queries import Store
from proofspan.ui import safe
from proofspan.ui.boxes import panel
from proofspan.ui.grid import Cell, Column, Grid, Row, show_grid
from proofspan.ui.notices import fault_panel
from proofspan.ui.safe import Piece
from proofspan.ui.state import ViewState
from proofspan.ui.trends_load import Converted
from proofspan.ui.trends_points import base
from proofspan.ui.words import counted

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
    """The cohorts with their conversions, and where the manifest names a file for them, freezing one."""
    about = (
        "The same questions over all runs, frozen from a bucket: how many have the gold section first now?"
    )
    with panel("cohorts", "Cohorts", about):
        if cohorts:
            show_grid(cohort_grid(trends, cohorts, converted, view), key="cohort-cells")
        else:
            safe.show(safe.text([Piece("No cohort is frozen yet.", "muted")], role="hint"))
        fault_panel(st.session_state.pop(_PROBLEMS, ()))
        if told := st.session_state.pop(_DONE, ""):
            safe.show(safe.text([Piece(told, "strong")], role="hint"))
        if manifest.cohorts is None:
            line = "To freeze one, add to the manifest: `cohorts: {path: cohorts.jsonl}`"
            safe.show(safe.text(safe.coded(line), role="hint"))
        else:
            _freezing(trends.current, manifest, store, file=manifest.cohorts.path)


def cohort_grid(trends: Trends, cohorts: Sequence[Cohort], converted: Converted, view: ViewState) -> Grid:
    """A row a cohort, a column a run: `3 of 6`, and the questions to open."""
    columns = tuple(Column(Cell(run.run_id, tip=run.run.title or "")) for run in trends.runs)
    rows = tuple(
        Row(
            Cell(cohort.name, note=_origin(cohort)),
            tuple(_cell(cohort, converted[cohort.name].get(run.run_id), view) for run in trends.runs),
        )
        for cohort in cohorts
    )
    return Grid("Cohorts and how many of their questions converted", "cohort", columns, rows, wide=False)


def _origin(cohort: Cohort) -> str:
    where = f"{cohort.bucket or 'chosen'} in {cohort.run_id}" if cohort.run_id else "chosen by hand"
    return f"{counted(len(cohort.q_ids), 'question')}, {where}"


def _cell(cohort: Cohort, found: Conversion | None, view: ViewState) -> Cell:
    if found is None or not found.judged:
        return Cell("–", look="quiet", tip="none of them is judged in this run")
    said = found.in_words(cohort.name)
    return Cell(
        f"{found.hits:,} of {found.questions:,}",
        note="frozen here" if cohort.run_id == found.run_id else f"top 20: {found.in_top_20:,}",
        tip=said,
        look="accent",
        tone=0.1 + 0.8 * found.hits / found.questions,
        href=base(view, found.run_id).change(cohort=cohort.name).link(""),
        spoken=f"{found.run_id}: {said}, list them",
    )


def _freezing(run: RunTrend, manifest: Manifest, store: Store, *, file: str) -> None:
    """A bucket, a name, and what would be written where."""
    offered = [bucket for bucket in BUCKETS if run.buckets.get(bucket)]
    if not offered:
        return
    usual = next((bucket for bucket in reversed(BUCKETS) if bucket in offered), offered[0])
    with st.popover("Freeze as cohort", key="freeze"):
        bucket = st.selectbox(
            "Bucket",
            offered,
            index=offered.index(usual),
            format_func=lambda each: f"{each} · {BUCKET_NAMES[each]} · {run.buckets[each]:,}",
            key="freeze-bucket",
        )
        name = st.text_input(
            "Name",
            key="freeze-name",
            max_chars=MAX_NAME,
            placeholder="RETRIEVAL-GAP",
        ).strip()
        again = st.checkbox("It may take the place of a cohort of that name", key="freeze-again")
        what = f"{counted(run.buckets[bucket], 'question')} of {bucket} in {run.run_id}"
        told = f"Adds one line to {file} in the workspace: {what}{f', named {name}' if name else ''}."
        safe.show(safe.text([Piece(told)], role="hint"))
        st.button(
            "Freeze",
            key="freeze-now",
            type="primary",
            disabled=not name,
            on_click=_freeze,
            args=(store, manifest, name, run.run_id, bucket, again),
        )


def _freeze(store: Store, manifest: Manifest, name: str, run_id: str, bucket: Bucket, again: bool) -> None:
    """Writes the cohort; what came of it is told by the page that follows."""
    try:
        cohort = freeze_bucket(store, manifest, name, run_id=run_id, bucket=bucket, again=again)
    except Fault as fault:
        problems: tuple[Problem, ...] = tuple(fault.problems)
        st.session_state[_PROBLEMS] = problems
        return
    st.session_state[_DONE] = f"Frozen: {counted(len(cohort.q_ids), 'question')} as {cohort.name}."
