"""Health: every run with its index, its citations and its bundles, and the lines that hold no record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from proofspan.evidence.bundles import LEVELS, Level
from proofspan.manifest.types import Manifest
from proofspan.store.types import RunFacts
from proofspan.ui import safe
from proofspan.ui.health_artifacts import ROW_PIXELS, ROWS_IN_SIGHT, TALL_ROW_PIXELS, table_height, text_cell
from proofspan.ui.notices import run_date
from proofspan.ui.safe import Piece
from proofspan.ui.state import ViewState, read_view, write_view
from proofspan.ui.words import counted


def runs(manifest: Manifest, view: ViewState, facts: Mapping[str, RunFacts], rows: Mapping[str, int]) -> None:
    """Every run with its lines, citations and bundles; a click on one shows it everywhere."""
    safe.show(safe.text([Piece("Runs")], role="heading"))
    key = f"runs:{view.run}"
    st.dataframe(
        run_frame(manifest, facts, rows),
        hide_index=True,
        key=key,
        row_height=ROW_PIXELS,
        height=table_height(len(manifest.runs)),
        placeholder="–",
        column_config={
            "run": st.column_config.TextColumn(width=110),
            "title": st.column_config.TextColumn(width=300),
            "date": st.column_config.TextColumn(width=110),
            "traces": st.column_config.NumberColumn(width=90, format="localized"),
            "line issues": st.column_config.NumberColumn(
                width=100, format="localized", help="Lines that could not be read or belong to nothing"
            ),
            "citations": st.column_config.TextColumn(
                width=190, help="How many were looked for on the pages of their documents"
            ),
            "bundles": st.column_config.NumberColumn(width=90, format="localized"),
        },
        on_select=lambda: _choose_run(key, [run.run_id for run in manifest.runs]),
        selection_mode="single-cell",
        alt="Runs of this workspace; click one to show it",
    )


def trace_rows(manifest: Manifest, facts: Mapping[str, RunFacts]) -> dict[str, int]:
    """The traces of each run's trace file, by the artifact's key, as the index has them."""
    listed = ((run.traces, facts.get(run.run_id)) for run in manifest.runs)
    return {traces.key: about.traces for traces, about in listed if traces is not None and about is not None}


def run_frame(manifest: Manifest, facts: Mapping[str, RunFacts], rows: Mapping[str, int]) -> pd.DataFrame:
    """One row a run; what its index tells is missing where it has none yet."""
    known = [facts.get(run.run_id) for run in manifest.runs]
    bundles = [rows.get(run.bundles.key) if run.bundles else None for run in manifest.runs]
    return pd.DataFrame(
        {
            "run": [text_cell(run.run_id) for run in manifest.runs],
            "title": [text_cell(run.title or "") for run in manifest.runs],
            "date": [text_cell(run_date(run)) for run in manifest.runs],
            "traces": pd.array([about.traces if about else None for about in known], dtype="Int64"),
            "line issues": pd.array([about.line_issues if about else None for about in known], dtype="Int64"),
            "citations": [_located(about) for about in known],
            "bundles": pd.array(bundles, dtype="Int64"),
        }
    )


def _located(about: RunFacts | None) -> str:
    if about is None:
        return "not indexed"
    if about.placed is None:
        return "not located yet"
    if not about.placed.citations:
        return "none"
    return f"{about.placed.placed:,} of {about.placed.citations:,} looked for"


def bundle_levels(levels: Mapping[Level, int], run_id: str) -> None:
    """What the stored bundles of a run show; nothing where it has none."""
    if levels:
        counts = ", ".join(f"{levels[level]:,} {level}" for level in LEVELS if levels.get(level))
        said = f"{run_id}: {counted(sum(levels.values()), 'bundle')}, {counts}."
        safe.show(safe.text([Piece(said, "muted")], role="hint"))


def line_issues(frame: pd.DataFrame, undeclared: pd.Index, run_id: str) -> None:
    """The lines of one run that hold no record: file, line, reason, remedy and the raw text as text.

    `undeclared` are the rows of files with more such lines than the manifest declares.
    """
    safe.show(safe.text([Piece(f"Line issues of {run_id}")], role="heading"))
    if frame.empty:
        safe.show(
            safe.text(
                [Piece(f"Every line of {run_id} could be read and belongs to something.", "muted")],
                role="line",
            )
        )
        return
    shown = pd.DataFrame(
        {
            "line": frame["line"],
            "declared": ["no" if row in undeclared else "yes" for row in frame.index],
            "reason": frame["reason"].map(text_cell),
            "what to do": frame["remedy"].map(text_cell),
            "the line begins": frame["excerpt"].map(text_cell),
            "file": frame["file"].map(text_cell),
        }
    )
    st.dataframe(
        shown,
        hide_index=True,
        key=f"line-issues:{run_id}",
        row_height=TALL_ROW_PIXELS,
        height=TALL_ROW_PIXELS * min(len(shown), ROWS_IN_SIGHT) + ROW_PIXELS + 2,
        column_config={
            "line": st.column_config.NumberColumn(width=80, format="localized"),
            "declared": st.column_config.TextColumn(
                width=80, help="Whether the manifest declares as many lines of the file (unreadable_lines)"
            ),
            "reason": st.column_config.TextColumn(width=260),
            "what to do": st.column_config.TextColumn(width=260),
            "the line begins": st.column_config.TextColumn(width=340),
            "file": st.column_config.TextColumn(width=180),
        },
        alt="Lines that could not be read or belong to nothing",
    )


def _choose_run(key: str, run_ids: Sequence[str]) -> None:
    cells = st.session_state[key]["selection"]["cells"]
    if cells and 0 <= int(cells[0][0]) < len(run_ids):
        write_view(read_view().change(run=run_ids[int(cells[0][0])]))
