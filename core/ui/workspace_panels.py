"""The Workspace page: every artifact with its state and remedy, every line that could not be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd
import streamlit as st

from core.errors import Problem
from core.manifest.check import ArtifactCheck, CheckReport, State
from core.manifest.types import Manifest
from core.ui import safe, words
from core.ui.shell import fault_panel, run_title
from core.ui.state import ViewState

STATE_COLOURS: Mapping[State, str] = {
    "ok": "green",
    "missing": "red",
    "unreadable": "red",
    "hash_differs": "yellow",
    "wrong_content": "red",
}
STATE_WORDS: Mapping[State, str] = {
    "ok": "as named",
    "missing": "missing",
    "unreadable": "unreadable",
    "hash_differs": "hash differs",
    "wrong_content": "other content",
}
#: Rows of a table that are visible before it scrolls.
ROWS_IN_SIGHT = 12
ROW_PIXELS = 34
#: What of one line is shown; the file holds the rest.
MAX_CELL = 300


def heading(manifest: Manifest, report: CheckReport) -> None:
    """The workspace, where it lies, and the verdict in one sentence."""
    wrong = sum(check.state != "ok" for check in report.artifacts)
    verdict = f"{words.counted(len(report.artifacts), 'artifact')}, " + (
        f"{wrong:,} with a problem" if wrong else "all as the manifest names them"
    )
    safe.show(
        safe.text([safe.Piece("Workspace"), safe.Piece(f"  {manifest.name}", "muted")], role="title"),
        safe.text([safe.Piece(str(manifest.folder), "code")], role="hint"),
        safe.text([safe.Piece(f"{verdict}.", "strong")], role="line"),
    )


def findings(report: CheckReport) -> None:
    """Everything that `proofspan check` reports, errors first."""
    fault_panel(report.problems)


def artifacts(report: CheckReport) -> None:
    """Every file that the manifest names."""
    safe.show(safe.text([safe.Piece("Artifacts")], role="heading"))
    frame = artifact_frame(report.artifacts)
    st.dataframe(
        frame,
        hide_index=True,
        key="artifacts",
        row_height=ROW_PIXELS,
        height=_height(len(frame)),
        placeholder="–",
        column_config={
            "state": st.column_config.MultiselectColumn(
                width=124, options=list(STATE_WORDS.values()), color=list(STATE_COLOURS.values())
            ),
            "artifact": st.column_config.TextColumn(width=220),
            "path": st.column_config.TextColumn(width=300),
            "size": st.column_config.NumberColumn(width=100, format="bytes"),
            "hash": st.column_config.TextColumn(width=140, help="Whether the manifest's sha256 was compared"),
        },
    )


def artifact_frame(checks: Iterable[ArtifactCheck]) -> pd.DataFrame:
    """One row an artifact: its state in words, key, path, size in bytes and what became of its hash."""
    return pd.DataFrame(
        [
            {
                "state": [STATE_WORDS[check.state]],
                "artifact": _cell(check.artifact.key),
                "path": _cell(check.artifact.path),
                "size": check.size,
                "hash": _hash_words(check),
            }
            for check in checks
        ],
        columns=["state", "artifact", "path", "size", "hash"],
    )


def runs(manifest: Manifest, view: ViewState, issues: Mapping[str, int]) -> None:
    """Every run with how many of its lines could not be read; a click shows them below."""
    safe.show(safe.text([safe.Piece("Lines that could not be read")], role="heading"))
    with st.container(key="runs"):
        for run in manifest.runs:
            count = issues.get(run.run_id)
            told = "not indexed yet" if count is None else words.counted(count, "line")
            st.page_link(
                "pages/workspace.py",
                label=f"{safe.label(run_title(run))} — {f'**{told}**' if run.run_id == view.run else told}",
                query_params=view.params(run=run.run_id),
            )


def line_issues(frame: pd.DataFrame, run_id: str) -> None:
    """The lines of one run that hold no record: file, line, reason, remedy and the raw text as text."""
    if frame.empty:
        safe.show(safe.text([safe.Piece(f"Every line of {run_id} could be read.", "muted")], role="line"))
        return
    shown = pd.DataFrame(
        {
            "line": frame["line"],
            "reason": frame["reason"].map(_cell),
            "what to do": frame["remedy"].map(_cell),
            "the line begins": frame["excerpt"].map(_cell),
            "file": frame["file"].map(_cell),
        }
    )
    st.dataframe(
        shown,
        hide_index=True,
        key="line-issues",
        row_height=ROW_PIXELS,
        height=_height(len(shown)),
        column_config={
            "line": st.column_config.NumberColumn(width=80, format="localized"),
            "reason": st.column_config.TextColumn(width=280),
            "what to do": st.column_config.TextColumn(width=280),
            "the line begins": st.column_config.TextColumn(width=360),
            "file": st.column_config.TextColumn(width=200),
        },
    )


def _height(rows: int) -> int:
    return ROW_PIXELS * (1 + min(max(rows, 1), ROWS_IN_SIGHT)) + 2


def _cell(value: object) -> str:
    line = " ".join(safe.clean(str(value)).split())
    return line if len(line) <= MAX_CELL else f"{line[: MAX_CELL - 1]}…"


def _hash_words(check: ArtifactCheck) -> str:
    if check.artifact.sha256 is None:
        return "none given"
    if check.sha256 is None:
        return "not compared"
    return "agrees" if check.state == "ok" else "differs"


def problem_count(problems: Iterable[Problem]) -> int:
    """How many of them are errors: the number beside the page's name."""
    return sum(problem.severity == "error" for problem in problems)
