"""Health: every file that the manifest names, with its state, rows, age and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

import pandas as pd
import streamlit as st

from proofspan.errors import Problem
from proofspan.manifest.check import ArtifactCheck, CheckReport, State
from proofspan.ui import safe, words
from proofspan.ui.notices import fault_panel
from proofspan.ui.safe import Piece

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
#: Units of time in seconds, the longest first.
_UNITS = (
    *(("year", 365 * 86_400), ("month", 30 * 86_400), ("day", 86_400)),
    *(("hour", 3_600), ("minute", 60)),
)
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


def problems(report: CheckReport) -> None:
    """What is wrong with the manifest and its files; of each kind of problem the first in full."""
    fault_panel(report.others)
    told = [problem for check in _worst_first(report.artifacts) for problem in _wrong(check)]
    for alike in _by_code(told):
        fault_panel(alike[:1])
        if len(alike) > 1:
            more = f"{len(alike) - 1:,} more like this in the table of artifacts."
            safe.show(safe.text([Piece(more, "muted")], role="hint"))


def artifacts(report: CheckReport, rows: Mapping[str, int], *, now: float) -> None:
    """Every file that the manifest names. `now` is the time in seconds."""
    safe.show(safe.text([Piece("Artifacts")], role="heading"))
    notes = [problem.message.replace("`", "") for problem in report.problems if problem.severity == "note"]
    for message in notes[:MAX_NOTES]:
        safe.show(safe.text([Piece(f"{message}.", "muted")], role="hint"))
    if len(notes) > MAX_NOTES:
        more = f"{len(notes) - MAX_NOTES:,} more such notes, which proofspan check prints."
        safe.show(safe.text([Piece(more, "muted")], role="hint"))
    frame = artifact_frame(report.artifacts, rows, now=now)
    row = TALL_ROW_PIXELS if any(map(_wrong, report.artifacts)) else ROW_PIXELS
    st.dataframe(
        frame,
        hide_index=True,
        key="artifacts",
        row_height=row,
        height=table_height(len(frame), row),
        placeholder="–",
        column_config={
            "state": st.column_config.MultiselectColumn(
                width=110,
                options=[*STATE_WORDS.values(), PARTLY],
                color=[*STATE_COLOURS.values(), "yellow"],
                pinned=True,
            ),
            "artifact": st.column_config.TextColumn(width=190),
            "path": st.column_config.TextColumn(width=210),
            "rows": st.column_config.NumberColumn(
                width=70, format="localized", help="Traces that were read; of other records the lines"
            ),
            "size": st.column_config.NumberColumn(width=80, format="bytes"),
            "hash": st.column_config.TextColumn(width=100, help="The manifest's sha256 against the file's"),
            "changed": st.column_config.TextColumn(width=195),
            "what is wrong": st.column_config.TextColumn(width=260),
            "what to do": st.column_config.TextColumn(width=440),
        },
        alt="Artifacts of the manifest",
    )


def artifact_frame(checks: Iterable[ArtifactCheck], rows: Mapping[str, int], *, now: float) -> pd.DataFrame:
    """One row an artifact: state in words, key, what is wrong, what to do, path, rows, size in bytes, when it
    was changed, its hash.

    What is wrong and what to do are left out where there is nothing to say.
    """
    frame = pd.DataFrame(
        [
            {
                "state": [STATE_WORDS[check.state] if check.is_good or check.state != "ok" else PARTLY],
                "artifact": text_cell(check.artifact.key),
                "what is wrong": text_cell(
                    "; ".join(_without_key(problem, check) for problem in _wrong(check))
                ),
                "what to do": text_cell(
                    "; ".join(filter(None, (problem.remedy for problem in _wrong(check))))
                ),
                "path": text_cell(check.artifact.path),
                "rows": rows.get(check.artifact.key),
                "size": check.size,
                "changed": _changed(check, now),
                "hash": _hash_words(check),
            }
            for check in _worst_first(checks)
        ],
        columns=[
            *("state", "artifact", "what is wrong", "what to do", "path", "rows", "size", "changed", "hash")
        ],
    ).astype({"rows": "Int64", "size": "Int64"})
    nothing = [name for name in ("what is wrong", "what to do") if not frame[name].any()]
    return frame.drop(columns=nothing)


def age_words(seconds: float) -> str:
    """How long ago, in one unit that fits: `just now`, `5 minutes ago`, `3 days ago`, `2 years ago`."""
    for unit, length in _UNITS:
        if seconds >= length:
            return f"{words.counted(int(seconds // length), unit)} ago"
    return "just now"


def _changed(check: ArtifactCheck, now: float) -> str | None:
    try:
        changed = check.file.stat().st_mtime if check.file is not None else None
    except OSError:  # it is gone since it was looked at
        return None
    if changed is None:
        return None
    day = datetime.fromtimestamp(changed)
    return f"{age_words(now - changed)} · {day.day} {day:%b %Y}"


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


def table_height(rows: int, row: int = ROW_PIXELS) -> int:
    """Pixels of a table that shows as much as `ROWS_IN_SIGHT` rows of the usual height."""
    return ROW_PIXELS + min(max(rows, 1) * row, ROWS_IN_SIGHT * ROW_PIXELS) + 2


def text_cell(value: object) -> str:
    """What a cell holds of a text: a line of at most so many characters."""
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
