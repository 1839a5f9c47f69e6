"""Frozen cohorts: how many of their questions came through in each run, and freezing another one."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from proofspan.display_names import BUCKET_NAMES
from proofspan.errors import Fault
from proofspan.journal.cohorts import MAX_NAME, Cohort
from proofspan.manifest.types import Manifest
from proofspan.metrics.ranked import BUCKETS
from proofspan.services.metrics.cohorts import Conversion, freeze_bucket
from proofspan.services.metrics.run_metrics import RunTrend, Trends
from proofspan.store.query.store import Store
from proofspan.ui.status.notices import fault_panel
from proofspan.ui.trends.charts import base
from proofspan.ui.trends.load import Converted
from proofspan.ui.visit.view_state import ViewState
from proofspan.ui.widgets import markup
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
    """Draw the cohorts with their conversions and, where the manifest names their file, a form to freeze."""
    about = (
        "The same questions over all runs, frozen from a bucket: how many have the gold section first now?"
    )
    markup.note(about, "muted")
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
    elif any(trends.current.buckets.get(bucket) for bucket in BUCKETS):
        with st.popover("Freeze as cohort", key="freeze"):
            _freezing(trends.current, manifest, store, file=manifest.cohorts.path)


def cohort_grid(trends: Trends, cohorts: Sequence[Cohort], converted: Converted, view: ViewState) -> Grid:
    """Return a row per cohort and a column per run: `3 of 6`, linked to the questions."""

    def cell(cohort: Cohort, found: Conversion | None) -> Cell:
        if found is None or not found.judged:
            return Cell("–", look="quiet", tip="none of them is judged in this run")
        message = found.in_words(cohort.name)
        return Cell(
            f"{found.hits:,} of {found.questions:,}",
            note="frozen here" if cohort.run_id == found.run_id else f"top\u00a020:\u00a0{found.in_top_20:,}",
            tip=message,
            look="accent",
            tone=0.1 + 0.8 * found.hits / found.questions,
            href=base(view, found.run_id).change(cohort=cohort.name).link(""),
            spoken=f"{found.run_id}: {message}, list them",
        )

    rows = []
    for cohort in cohorts:
        kind = BUCKET_NAMES.get(cohort.bucket or "", "chosen")
        origin = f"{kind} in {cohort.run_id}" if cohort.run_id else "chosen by hand"
        head = Cell(cohort.name, note=f"{counted(len(cohort.q_ids), 'question')}, {origin}")
        found = converted[cohort.name]
        rows.append(Row(head, tuple(cell(cohort, found.get(run.run_id)) for run in trends.runs)))
    columns = tuple(Column(Cell(run.run_id, tip=run.run.title or "")) for run in trends.runs)
    title = "Cohorts and how many of their questions converted"
    return Grid(title, "Cohort", columns, tuple(rows), wide=False)


def _freezing(run: RunTrend, manifest: Manifest, store: Store, *, file: str) -> None:
    offered = [bucket for bucket in BUCKETS if run.buckets.get(bucket)]
    bucket = st.selectbox(
        "Bucket",
        offered,
        index=len(offered) - 1,  # the worst
        format_func=lambda each: f"{BUCKET_NAMES[each]} · {run.buckets[each]:,}",
        key="freeze-bucket",
    )
    name = st.text_input("Name", key="freeze-name", max_chars=MAX_NAME, placeholder="RETRIEVAL-GAP").strip()
    again = st.checkbox("It may take the place of a cohort of that name", key="freeze-again")
    what = f"{counted(run.buckets[bucket], 'question')} of {BUCKET_NAMES[bucket]} in {run.run_id}"
    markup.note(f"Adds one line to {file} in the workspace: {what}{f', named {name}' if name else ''}.")

    def freeze() -> None:
        """Write the cohort, and leave the result for the rerun to show."""
        try:
            cohort = freeze_bucket(store, manifest, name, run_id=run.run_id, bucket=bucket, again=again)
        except Fault as fault:
            st.session_state[_PROBLEMS] = tuple(fault.problems)
            return
        st.session_state[_DONE] = f"Frozen: {counted(len(cohort.q_ids), 'question')} as {cohort.name}."

    st.button("Freeze", key="freeze-now", type="primary", disabled=not name, on_click=freeze)
