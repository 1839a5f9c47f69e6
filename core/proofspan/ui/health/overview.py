"""Health: the verdict on a run, what to fix first, findings of the run, artifacts, runs and line issues."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

import pandas as pd
import streamlit as st

from proofspan.errors import Problem
from proofspan.evidence.bundles import LEVELS, Level
from proofspan.manifest.check import ArtifactCheck, CheckReport, State
from proofspan.manifest.types import Manifest
from proofspan.services.health.run_findings import FIRST, HEALTH, fix_first, in_a_sentence
from proofspan.services.release import ReleaseVerdict
from proofspan.services.workspace.index_job import IndexJob
from proofspan.store.files.types import RunFacts
from proofspan.store.query.filters import Filter
from proofspan.ui.health.load import Health
from proofspan.ui.status import background
from proofspan.ui.status.fragments import fragment
from proofspan.ui.status.notices import fault_panel, run_date
from proofspan.ui.status.release import show_verdict
from proofspan.ui.visit.view_state import ViewState, read_view, write_view
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.controls import panel
from proofspan.ui.widgets.markup import Piece
from proofspan.ui.widgets.table import Cell, Column, Grid, Look, Row, show_grid
from proofspan.ui.widgets.text import sentence_start
from proofspan.wording import counted

_SEVERITIES: Mapping[str, tuple[str, Look]] = {
    "error": ("✗ error", "red"),
    "warning": ("! warning", "yellow"),
    "note": ("note", "quiet"),
}
#: What a card's link is called, by the page that it opens.
_OPENS = {
    "": ("pages/triage.py", "Open these questions"),
    "trends": ("pages/trends.py", "See its numbers in Trends"),
    "walkthrough": ("pages/walkthrough.py", "Walk through its bundles"),
}


def heading(manifest: Manifest) -> None:
    """Show the workspace's name and folder."""
    markup.page_title("Health", f"  {manifest.name}")
    markup.note(str(manifest.folder), "code")


def show_release(verdict: ReleaseVerdict | None, view: ViewState) -> None:
    """Show the release verdict on the run, with the link to its checks."""
    with st.container(border=True, key="gate"):
        if verdict is None:
            markup.note("Release check: the metrics are being read …", "muted")
            return
        show_verdict(verdict, view, most=3)
        query = view.with_nothing_chosen().change(run=verdict.run_id, vs=view.vs).params()
        st.page_link("pages/trends.py", label="See all checks in Trends", query_params=query)


def show_quality(health: Health) -> None:
    """Sum up the quality of the run's data in a sentence: no verdict, which the release check gives."""
    message = in_a_sentence(health.table, health.findings)
    markup.show(markup.text([Piece("Data of "), Piece(message, "strong")], role="line"))


def show_files(report: CheckReport, *, is_full: bool, failed_audits: int = 0) -> None:
    """Show the state of the workspace's files and of its chunk ids in a sentence."""
    wrong = sum(not check.is_good for check in report.artifacts)
    state = f"{wrong:,} with a problem" if wrong else "all as the manifest names them"
    so_far = "" if is_full else " (by name and size; their contents are being read)"
    audits = f"; {counted(failed_audits, 'failed audit')} of chunk ids" if failed_audits else ""
    message = f"Workspace: {counted(len(report.artifacts), 'artifact')}, {state}{so_far}{audits}."
    markup.note(message, role="line")


def show_pending(keys: Sequence[Hashable | None], job: IndexJob | None) -> None:
    """Show that parts of the page are being read, or citations located by `job`, and rerun it when done.

    One fragment checks all parts: several might rerun the page while a click is on its way.
    """
    at_work = tuple(key for key in keys if key is not None)
    running = job if job is not None and job.is_running else None
    if at_work or running is not None:
        _look(at_work, running)


@fragment(run_every=background.LOOK_S)
def _look(keys: tuple[Hashable, ...], job: IndexJob | None) -> None:
    is_read = all(map(background.tasks().is_done, keys))
    is_located = job is None or not job.is_running
    if (keys and is_read) or (job is not None and is_located):
        st.rerun()
    parts = ["parts of this page are being read"] if keys else []
    parts += [] if is_located else ["citations are being located"]
    markup.note(sentence_start(f"{' and '.join(parts)}; the page updates by itself."), "muted")


def show_first(health: Health, view: ViewState) -> None:
    """Show a card for each finding to fix first, and how many more there are."""
    findings = fix_first(health.table, health.findings)
    if not findings:
        return
    markup.note("Fix first", "h2", role="heading")
    with st.container(key="health-cards"):
        for number, finding in enumerate(findings[:FIRST]):
            with st.container(border=True, key=f"card-of-finding-{number}"):
                markup.note(sentence_start(finding.title), "h3", role="line")
                markup.show(
                    markup.text(markup.coded(finding.problem.message, "muted"), role="hint"),
                    markup.text(markup.coded(finding.problem.fix), role="hint"),
                )
                if finding.shown is not None and finding.page != HEALTH:
                    script, title = _OPENS[finding.page]
                    st.page_link(script, label=title, query_params=linked(view, finding.shown).params())
    if len(findings) > FIRST:
        markup.note(f"{len(findings) - FIRST:,} more below.", "muted")


def show_run(health: Health, view: ViewState) -> None:
    """Show the findings about the run as a whole, each with its fix and a link."""
    about = "Findings about the run as a whole, and about the files committed with it."
    with panel("run", f"{health.table.run_id} as a whole", about):
        if health.pending is not None:
            markup.note("Reading its bundles and its metrics pack …", "muted")
        if health.findings:
            rows = []
            for finding in health.findings:
                problem, title = finding.problem, sentence_start(finding.title)
                word, look = _SEVERITIES[problem.severity]
                href = None
                if finding.shown is not None and finding.page != HEALTH:
                    href = linked(view, finding.shown).link(finding.page)
                spoken = f"{title}: {problem.message} Open it." if href else ""
                message = problem.message.replace("`", "")
                head = Cell(title, note=message, tip=problem.code, href=href, spoken=spoken)
                rows.append(Row(head, (Cell(word, look=look), Cell(problem.fix.replace("`", "")))))
            columns = tuple(Column(Cell(name), "start") for name in ("Severity", "What to do"))
            show_grid(Grid("Findings of the run", "Finding", columns, tuple(rows)), key="run-cells")
        elif health.pending is None:
            parts = "files, report, metrics pack, citations and bundles"
            markup.note(f"No data-quality issues found in its {parts}.", role="line")


def linked(view: ViewState, shown: Filter) -> ViewState:
    """Return the view of a list with this page's profile."""
    return replace(view.with_nothing_chosen(), filter=shown)


#: State of a file → its words and colour.
STATES: Mapping[State, tuple[str, str]] = {
    "ok": ("as named", "green"),
    "missing": ("missing", "red"),
    "unreadable": ("unreadable", "red"),
    "hash_differs": ("hash differs", "yellow"),
    "wrong_content": ("not usable", "red"),
}
#: The state of a file that can be used only in part.
PARTLY = ("in part", "yellow")
#: Units of time in seconds, the longest first.
_UNITS = (
    *(("year", 365 * 86_400), ("month", 30 * 86_400), ("day", 86_400)),
    *(("hour", 3_600), ("minute", 60)),
)
#: The number of notes above the table.
MAX_NOTES = 5
#: Rows of a table that are visible before it scrolls.
ROWS_IN_SIGHT = 12
ROW_PIXELS = 34
#: Tall enough for three lines of a sentence.
TALL_ROW_PIXELS = 66
#: The number of characters shown of a line.
MAX_CELL = 300


def problems(report: CheckReport) -> None:
    """Show the problems of the manifest and its files, the first of each kind in full."""
    fault_panel(report.others)
    by_code: dict[str, list[Problem]] = {}
    for check in _worst_first(report.artifacts):
        for problem in _wrong(check):
            by_code.setdefault(problem.code, []).append(problem)
    for alike in by_code.values():
        fault_panel(alike[:1])
        if len(alike) > 1:
            markup.note(f"{len(alike) - 1:,} more like this in the table of artifacts.", "muted")


def artifacts(report: CheckReport, rows: Mapping[str, int], *, now: float) -> None:
    """Show the table of all files that the manifest names; `now` is the time in seconds."""
    markup.note("Artifacts", "h2", role="heading")
    notes = [problem.message.replace("`", "") for problem in report.problems if problem.severity == "note"]
    for message in notes[:MAX_NOTES]:
        markup.note(f"{message}.", "muted")
    if len(notes) > MAX_NOTES:
        markup.note(f"{len(notes) - MAX_NOTES:,} more such notes, which proofspan check prints.", "muted")
    rows_of: list[dict[str, object]] = []
    for check in _worst_first(report.artifacts):
        wrong, key = _wrong(check), check.artifact.key
        words, _ = STATES[check.state] if check.is_good or check.state != "ok" else PARTLY
        # The key has its own column.
        compared = "not compared" if check.sha256 is None else "agrees" if check.state == "ok" else "differs"
        messages = (problem.message.removeprefix(f"`{key}`: ") for problem in wrong)
        changed = None
        with suppress(OSError):  # the file was removed after the check
            if check.file is not None:
                at = check.file.stat().st_mtime
                day = datetime.fromtimestamp(at)
                changed = f"{age_words(now - at)} · {day.day} {day:%b %Y}"
        rows_of.append(
            {
                "State": [words],
                "Artifact": text_cell(key),
                "What is wrong": text_cell("; ".join(messages)),
                "What to do": text_cell("; ".join(problem.fix for problem in wrong if problem.fix)),
                "Path": text_cell(check.artifact.path),
                "Rows": rows.get(key),
                "Size": check.size,
                "Changed": changed,
                "Hash": "none given" if check.artifact.sha256 is None else compared,
            }
        )
    names = ["State", "Artifact", "What is wrong", "What to do", "Path", "Rows", "Size", "Changed", "Hash"]
    frame = pd.DataFrame(rows_of, columns=names).astype({"Rows": "Int64", "Size": "Int64"})
    frame = frame.drop(columns=[name for name in names[2:4] if not frame[name].any()])  # of what is wrong
    row = TALL_ROW_PIXELS if any(map(_wrong, report.artifacts)) else ROW_PIXELS
    st.dataframe(
        frame,
        hide_index=True,
        key="artifacts",
        row_height=row,
        height=table_height(len(frame), row),
        placeholder="–",
        column_config={
            "State": st.column_config.MultiselectColumn(
                width=110,
                options=[words for words, _ in (*STATES.values(), PARTLY)],
                color=[colour for _, colour in (*STATES.values(), PARTLY)],
                pinned=True,
            ),
            "Artifact": st.column_config.TextColumn(width=190),
            "Path": st.column_config.TextColumn(width=210),
            "Rows": st.column_config.NumberColumn(
                width=70, format="localized", help="Traces that were read; of other records the lines"
            ),
            "Size": st.column_config.NumberColumn(width=80, format="bytes"),
            "Hash": st.column_config.TextColumn(width=100, help="The manifest's sha256 against the file's"),
            "Changed": st.column_config.TextColumn(width=195),
            "What is wrong": st.column_config.TextColumn(width=260),
            "What to do": st.column_config.TextColumn(width=440),
        },
        alt="Artifacts of the manifest",
    )


def age_words(seconds: float) -> str:
    """Return an age in one unit: `just now`, `5 minutes ago`, `3 days ago`, `2 years ago`."""
    for unit, length in _UNITS:
        if seconds >= length:
            return f"{counted(int(seconds // length), unit)} ago"
    return "just now"


def _wrong(check: ArtifactCheck) -> list[Problem]:
    """Return the problems of an artifact except notes."""
    return [problem for problem in check.problems if problem.severity != "note"]


def _worst_first(checks: Iterable[ArtifactCheck]) -> list[ArtifactCheck]:
    return sorted(checks, key=lambda check: (check.state == "ok", check.is_good, not _wrong(check)))


def table_height(rows: int, row: int = ROW_PIXELS) -> int:
    """Return the pixels of a table with at most `ROWS_IN_SIGHT` rows of the usual height in view."""
    return ROW_PIXELS + min(max(rows, 1) * row, ROWS_IN_SIGHT * ROW_PIXELS) + 2


def text_cell(value: object) -> str:
    """Return text as a single line of at most `MAX_CELL` characters."""
    line = " ".join(markup.clean(str(value)).split())
    return line if len(line) <= MAX_CELL else f"{line[: MAX_CELL - 1]}…"


def runs(manifest: Manifest, view: ViewState, facts: Mapping[str, RunFacts], rows: Mapping[str, int]) -> None:
    """Show all runs with their traces, citations and bundles; a click on one chooses it.

    Runs without an index have no counts.
    """
    markup.note("Runs", "h2", role="heading")
    key = f"runs:{view.run}"

    def choose_run() -> None:
        cells = st.session_state[key]["selection"]["cells"]
        if cells and 0 <= int(cells[0][0]) < len(manifest.runs):
            write_view(read_view().change(run=manifest.runs[int(cells[0][0])].run_id))

    known = [facts.get(run.run_id) for run in manifest.runs]
    bundles = [rows.get(run.bundles.key) if run.bundles else None for run in manifest.runs]
    frame = pd.DataFrame(
        {
            "Run": [text_cell(run.run_id) for run in manifest.runs],
            "Title": [text_cell(run.title or "") for run in manifest.runs],
            "Date": [text_cell(run_date(run)) for run in manifest.runs],
            "Traces": pd.array([about.traces if about else None for about in known], dtype="Int64"),
            "Line issues": pd.array([about.line_issues if about else None for about in known], dtype="Int64"),
            "Citations": [_located(about) for about in known],
            "Bundles": pd.array(bundles, dtype="Int64"),
        }
    )
    st.dataframe(
        frame,
        hide_index=True,
        key=key,
        row_height=ROW_PIXELS,
        height=table_height(len(manifest.runs)),
        placeholder="–",
        column_config={
            "Run": st.column_config.TextColumn(width=110),
            "Title": st.column_config.TextColumn(width=300),
            "Date": st.column_config.TextColumn(width=110),
            "Traces": st.column_config.NumberColumn(width=90, format="localized"),
            "Line issues": st.column_config.NumberColumn(
                width=100, format="localized", help="Lines that could not be read or belong to nothing"
            ),
            "Citations": st.column_config.TextColumn(
                width=190, help="How many were located on the pages of their documents"
            ),
            "Bundles": st.column_config.NumberColumn(width=90, format="localized"),
        },
        on_select=choose_run,
        selection_mode="single-cell",
        alt="Runs of this workspace; click one to show it",
    )


def trace_rows(manifest: Manifest, facts: Mapping[str, RunFacts]) -> dict[str, int]:
    """Return the number of traces of each run's trace file, by the artifact's key."""
    listed = ((run.traces, facts.get(run.run_id)) for run in manifest.runs)
    return {traces.key: about.traces for traces, about in listed if traces is not None and about is not None}


def _located(about: RunFacts | None) -> str:
    if about is None:
        return "not indexed"
    if about.placed is None:
        return "not located yet"
    if not about.placed.citations:
        return "none"
    return f"{about.placed.located:,} of {about.placed.citations:,} located"


def bundle_levels(levels: Mapping[Level, int], run_id: str) -> None:
    """Show the levels of a run's stored bundles."""
    if levels:
        counts = ", ".join(f"{levels[level]:,} {level}" for level in LEVELS if levels.get(level))
        markup.note(f"{run_id}: {counted(sum(levels.values()), 'bundle')}, {counts}.", "muted")


def line_issues(frame: pd.DataFrame, undeclared: pd.Index, run_id: str) -> None:
    """Show the lines of a run without a record: file, line, problem, fix and the raw text.

    `undeclared` are the rows of files with more such lines than the manifest declares.
    """
    markup.note(f"Line issues of {run_id}", "h2", role="heading")
    if frame.empty:
        markup.note(f"Every line of {run_id} could be read and belongs to something.", "muted", role="line")
        return
    shown = pd.DataFrame(
        {
            "Line": frame["line"],
            "Declared": ["no" if row in undeclared else "yes" for row in frame.index],
            "Reason": frame["reason"].map(text_cell),
            "What to do": frame["remedy"].map(text_cell),
            "The line begins": frame["excerpt"].map(text_cell),
            "File": frame["file"].map(text_cell),
        }
    )
    st.dataframe(
        shown,
        hide_index=True,
        key=f"line-issues:{run_id}",
        row_height=TALL_ROW_PIXELS,
        height=TALL_ROW_PIXELS * min(len(shown), ROWS_IN_SIGHT) + ROW_PIXELS + 2,
        column_config={
            "Line": st.column_config.NumberColumn(width=80, format="localized"),
            "Declared": st.column_config.TextColumn(
                width=80, help="Whether the manifest declares as many lines of the file (unreadable_lines)"
            ),
            "Reason": st.column_config.TextColumn(width=260),
            "What to do": st.column_config.TextColumn(width=260),
            "The line begins": st.column_config.TextColumn(width=340),
            "File": st.column_config.TextColumn(width=180),
        },
        alt="Lines that could not be read or belong to nothing",
    )
