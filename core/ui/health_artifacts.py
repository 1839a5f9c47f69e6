"""Health: every artifact with its state and remedy, every line that could not be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd
import streamlit as st

from core.errors import Problem
from core.manifest.check import ArtifactCheck, CheckReport, State
from core.manifest.types import Manifest
from core.store.types import RunFacts
from core.ui import safe, words
from core.ui.shell import fault_panel, run_date
from core.ui.state import ViewState, read_view, write_view

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
    "wrong_content": "not usable",
}
#: A file that can be used, and of what it holds not all.
PARTLY = "in part"
#: Notes that are shown in full above the table; more of them say the same of other files.
MAX_NOTES = 5
#: Rows of a table that are visible before it scrolls.
ROWS_IN_SIGHT = 12
ROW_PIXELS = 34
#: Tall enough for three lines of a sentence.
TALL_ROW_PIXELS = 66
#: What of one line is shown; the file holds the rest.
MAX_CELL = 300


def heading(manifest: Manifest, report: CheckReport) -> None:
    """The workspace, where it lies, and the verdict in one sentence."""
    wrong = sum(not check.is_good for check in report.artifacts)
    verdict = f"{words.counted(len(report.artifacts), 'artifact')}, " + (
        f"{wrong:,} with a problem" if wrong else "all as the manifest names them"
    )
    safe.show(
        safe.text([safe.Piece("Workspace"), safe.Piece(f"  {manifest.name}", "muted")], role="title"),
        safe.text([safe.Piece(str(manifest.folder), "code")], role="hint"),
        safe.text([safe.Piece(f"{verdict}.", "strong")], role="line"),
    )


def artifacts(report: CheckReport) -> None:
    """Every file that the manifest names; of each kind of problem the first in full, all in the table."""
    fault_panel(report.others)
    told = [problem for check in _worst_first(report.artifacts) for problem in check.problems]
    wrong = [problem for problem in told if problem.severity != "note"]
    notes = [problem.message.replace("`", "") for problem in told if problem.severity == "note"]
    for alike in _by_code(wrong):
        fault_panel(alike[:1])
        if len(alike) > 1:
            more = f"{len(alike) - 1:,} more like this in the table."
            safe.show(safe.text([safe.Piece(more, "muted")], role="hint"))
    for message in notes[:MAX_NOTES]:
        safe.show(safe.text([safe.Piece(f"{message}.", "muted")], role="hint"))
    if len(notes) > MAX_NOTES:
        more = f"{len(notes) - MAX_NOTES:,} more such notes, which proofspan check prints."
        safe.show(safe.text([safe.Piece(more, "muted")], role="hint"))
    safe.show(safe.text([safe.Piece("Artifacts")], role="heading"))
    frame = artifact_frame(report.artifacts)
    row = TALL_ROW_PIXELS if wrong else ROW_PIXELS
    st.dataframe(
        frame,
        hide_index=True,
        key="artifacts",
        row_height=row,
        height=_height(len(frame), row),
        placeholder="–",
        column_config={
            "state": st.column_config.MultiselectColumn(
                width=118,
                options=[*STATE_WORDS.values(), PARTLY],
                color=[*STATE_COLOURS.values(), "yellow"],
                pinned=True,
            ),
            "artifact": st.column_config.TextColumn(width=200),
            "path": st.column_config.TextColumn(width=230),
            "size": st.column_config.NumberColumn(width=80, format="bytes"),
            "hash": st.column_config.TextColumn(width=110, help="The manifest's sha256 against the file's"),
            "what is wrong": st.column_config.TextColumn(width=260),
            "what to do": st.column_config.TextColumn(width=440),
        },
    )


def artifact_frame(checks: Iterable[ArtifactCheck]) -> pd.DataFrame:
    """One row an artifact: state in words, key, path, size in bytes, its hash, what is wrong, what to do.

    The last two are left out where there is nothing to say.
    """
    frame = pd.DataFrame(
        [
            {
                "state": [STATE_WORDS[check.state] if check.is_good or check.state != "ok" else PARTLY],
                "artifact": _cell(check.artifact.key),
                "what is wrong": _cell("; ".join(_without_key(problem, check) for problem in _wrong(check))),
                "what to do": _cell("; ".join(filter(None, (problem.remedy for problem in _wrong(check))))),
                "path": _cell(check.artifact.path),
                "size": check.size,
                "hash": _hash_words(check),
            }
            for check in _worst_first(checks)
        ],
        columns=["state", "artifact", "what is wrong", "what to do", "path", "size", "hash"],
    )
    nothing = [name for name in ("what is wrong", "what to do") if not frame[name].any()]
    return frame.drop(columns=nothing)


def _by_code(problems: Iterable[Problem]) -> list[list[Problem]]:
    """The problems of one kind together, in the order in which each kind first comes."""
    found: dict[str, list[Problem]] = {}
    for problem in problems:
        found.setdefault(problem.code, []).append(problem)
    return list(found.values())


def _wrong(check: ArtifactCheck) -> list[Problem]:
    """What is wrong with an artifact; notes are no faults."""
    return [problem for problem in check.problems if problem.severity != "note"]


def _worst_first(checks: Iterable[ArtifactCheck]) -> list[ArtifactCheck]:
    return sorted(checks, key=lambda check: (check.state == "ok", check.is_good, not _wrong(check)))


def runs(manifest: Manifest, view: ViewState, facts: Mapping[str, RunFacts]) -> None:
    """Every run with how many of its lines could not be read; a click on one shows it everywhere."""
    safe.show(safe.text([safe.Piece("Runs")], role="heading"))
    key = f"runs:{view.run}"
    st.dataframe(
        run_frame(manifest, facts),
        hide_index=True,
        key=key,
        row_height=ROW_PIXELS,
        height=_height(len(manifest.runs)),
        placeholder="not indexed",
        column_config={
            "run": st.column_config.TextColumn(width=120),
            "title": st.column_config.TextColumn(width=380),
            "date": st.column_config.TextColumn(width=120),
            "traces": st.column_config.NumberColumn(width=100, format="localized"),
            "line issues": st.column_config.NumberColumn(
                width=120, format="localized", help="Lines that could not be read or belong to nothing"
            ),
        },
        on_select=lambda: _choose_run(key, [run.run_id for run in manifest.runs]),
        selection_mode="single-cell",
        alt="Runs of this workspace; click one to show its lines below",
    )


def run_frame(manifest: Manifest, facts: Mapping[str, RunFacts]) -> pd.DataFrame:
    """One row a run; counts are missing where it has no index yet."""
    known = [facts.get(run.run_id) for run in manifest.runs]
    return pd.DataFrame(
        {
            "run": [_cell(run.run_id) for run in manifest.runs],
            "title": [_cell(run.title or "") for run in manifest.runs],
            "date": [_cell(run_date(run)) for run in manifest.runs],
            "traces": pd.array([about.traces if about else None for about in known], dtype="Int64"),
            "line issues": pd.array([about.line_issues if about else None for about in known], dtype="Int64"),
        }
    )


def line_issues(frame: pd.DataFrame, run_id: str) -> None:
    """The lines of one run that hold no record: file, line, reason, remedy and the raw text as text."""
    safe.show(safe.text([safe.Piece(f"Line issues of {run_id}")], role="heading"))
    if frame.empty:
        safe.show(
            safe.text(
                [safe.Piece(f"Every line of {run_id} could be read and belongs to something.", "muted")],
                role="line",
            )
        )
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
        key=f"line-issues:{run_id}",
        row_height=TALL_ROW_PIXELS,
        height=TALL_ROW_PIXELS * min(len(shown), ROWS_IN_SIGHT) + ROW_PIXELS + 2,
        column_config={
            "line": st.column_config.NumberColumn(width=80, format="localized"),
            "reason": st.column_config.TextColumn(width=280),
            "what to do": st.column_config.TextColumn(width=280),
            "the line begins": st.column_config.TextColumn(width=360),
            "file": st.column_config.TextColumn(width=200),
        },
    )


def _height(rows: int, row: int = ROW_PIXELS) -> int:
    """Pixels of a table that shows as much as `ROWS_IN_SIGHT` rows of the usual height."""
    return ROW_PIXELS + min(max(rows, 1) * row, ROWS_IN_SIGHT * ROW_PIXELS) + 2


def _cell(value: object) -> str:
    line = " ".join(safe.clean(str(value)).split())
    return line if len(line) <= MAX_CELL else f"{line[: MAX_CELL - 1]}…"


def _without_key(problem: Problem, check: ArtifactCheck) -> str:
    """The message without the artifact's key, which stands in its own column."""
    return problem.message.removeprefix(f"`{check.artifact.key}`: ")


def _hash_words(check: ArtifactCheck) -> str:
    if check.artifact.sha256 is None:
        return "none given"
    if check.sha256 is None:
        return "not compared"
    return "agrees" if check.state == "ok" else "differs"


def _choose_run(key: str, run_ids: Sequence[str]) -> None:
    cells = st.session_state[key]["selection"]["cells"]
    if cells and 0 <= int(cells[0][0]) < len(run_ids):
        write_view(read_view().change(run=run_ids[int(cells[0][0])]))
