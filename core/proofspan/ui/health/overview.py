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
from proofspan.services.health.run_findings import HEALTH, RunFinding, in_a_sentence, to_fix
from proofspan.services.release import ReleaseVerdict
from proofspan.services.workspace.index_job import IndexJob
from proofspan.services.workspace.open import run_date
from proofspan.store.files.types import RunFacts
from proofspan.store.query.filters import Filter
from proofspan.ui.health.load import Health
from proofspan.ui.help.glossary import term_of
from proofspan.ui.status import background
from proofspan.ui.status.fragments import fragment, run_again_after
from proofspan.ui.status.notices import fault_panel
from proofspan.ui.status.release import verdict_line
from proofspan.ui.visit import session
from proofspan.ui.visit.view_state import ViewState
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.fold import fold
from proofspan.ui.widgets.markup import Piece
from proofspan.ui.widgets.table import NOTHING, Cell, Chip, Column, Folding, Grid, Look, Row, show_grid
from proofspan.ui.widgets.text import sentence_start
from proofspan.wording import counted

_SEVERITIES: Mapping[str, tuple[str, Look]] = {
    "error": ("✗ error", "red"),
    "warning": ("! warning", "yellow"),
    "note": ("note", "quiet"),
}
#: The findings shown before the rest is folded.
FIRST = 8
#: A list narrower than that many rem shows all of a row below its title, and less important columns already
#: below the other width.
NARROW, WIDE = 44, 64


def heading(manifest: Manifest) -> None:
    """Show the workspace's name."""
    markup.page_title("Health", f"  {manifest.name}")


def show_quality(health: Health, verdict: ReleaseVerdict | None, view: ViewState) -> None:
    """Sum up the quality of the run's data in a sentence, then the release check, linked to its reasons."""
    message = in_a_sentence(health.table, health.findings)
    has_errors = any(each.problem.severity == "error" for each in health.findings)
    is_good = not (has_errors or health.pending or to_fix(health.table, health.findings))
    sign = [Piece("✓", "pass"), Piece(" ")] if is_good else []
    markup.show(markup.text([*sign, Piece(message, "strong")], role="verdict"))
    if verdict is None:
        markup.note("Release check: the metrics are being read …", "muted", role="line")
    else:
        markup.show(markup.text(verdict_line(verdict), role="line"))
    query = view.with_nothing_chosen().change(run=health.table.run_id, vs=view.vs).params()
    st.page_link("pages/trends.py", label="See the reasons in Trends", query_params=query)


def files_in_words(report: CheckReport, *, is_full: bool) -> str:
    """`37 artifacts, all as the manifest names them`."""
    wrong = sum(not check.is_good for check in report.artifacts)
    state = f"{wrong:,} with a problem" if wrong else "all as the manifest names them"
    so_far = "" if is_full else " (by name and size; their contents are being read)"
    return f"{counted(len(report.artifacts), 'artifact')}, {state}{so_far}"


def show_pending(keys: Sequence[Hashable | None], job: IndexJob | None) -> None:
    """Show that parts of the page are being read, or citations located by `job`, and rerun it when done.

    One fragment checks all parts: several might rerun the page while a click is on its way.
    """
    at_work = tuple(key for key in keys if key is not None)
    running = job if job is not None and job.is_running else None
    if at_work or running is not None:
        _look(at_work, running)


@fragment()
def _look(keys: tuple[Hashable, ...], job: IndexJob | None) -> None:
    milestones = session.jobs().milestones
    seen = milestones.count
    is_read = all(map(background.tasks().is_done, keys))
    is_located = job is None or not job.is_running
    if (keys and is_read) or (job is not None and is_located):
        st.rerun()
    if keys:
        background.rerun_when_done(keys)
    if job is not None:
        run_again_after(milestones, seen)
    parts = ["parts of this page are being read"] if keys else []
    parts += [] if is_located else ["citations are being located"]
    markup.note(sentence_start(f"{' and '.join(parts)}; the page updates by itself."), "muted")


def show_fixes(health: Health, view: ViewState) -> None:
    """Show all that is to be fixed in one list, the most harmful first, then the run's notes."""
    found = to_fix(health.table, health.findings)
    if found:
        markup.note("What to fix", "h2", role="heading")
        with st.container(key=f"fixes-{len(found[:FIRST])}"):
            show_grid(_fixes(found[:FIRST], view), key="fix-cells")
    if len(found) > FIRST:
        rest = _fixes(found[FIRST:], view)
        fold("fixes", f"{len(found) - FIRST:,} more", lambda: show_grid(rest, key="more-fix-cells"))
    for each in health.findings:
        if each.problem.severity == "note":
            markup.note(each.problem.message.replace("`", ""), "muted")
    if health.pending is not None:
        markup.note("Reading its bundles and its metrics pack …", "muted")


def _fixes(findings: Sequence[RunFinding], view: ViewState) -> Grid:
    """Return a list of findings, each row a link to its questions, or to the page with more about it."""
    rows = []
    for finding in findings:
        problem, title = finding.problem, sentence_start(finding.title)
        word, look = _SEVERITIES[problem.severity]
        href = None
        if finding.shown is not None and finding.page != HEALTH:
            href = linked(view, finding.shown).link(finding.page)
        message = problem.message.replace("`", "")
        spoken = f"{title}: {message} Open it." if href else ""
        term = term_of(problem.code)
        terms = ((title, term),) if term else ()
        head = Cell(title, note=message, tip=problem.code, href=href, spoken=spoken, terms=terms)
        rows.append(Row(head, (Cell(word, look=look), Cell(problem.fix.replace("`", "")))))
    columns = (
        Column(Cell("Severity"), "start", name="severity", width=6.5, folds=Folding(NARROW, "finding")),
        Column(Cell("What to do"), "start", name="fix", lines=4, folds=Folding(NARROW, "finding")),
    )
    corner = Column(Cell("Finding"), "start", name="finding", lines=2)
    return Grid("What to fix", corner, columns, tuple(rows))


def linked(view: ViewState, shown: Filter) -> ViewState:
    """Return the view of a list with this page's profile."""
    return replace(view.with_nothing_chosen(), filter=shown)


#: State of a file → its words and colour.
STATES: Mapping[State, tuple[str, Look]] = {
    "ok": ("as named", "green"),
    "missing": ("missing", "red"),
    "unreadable": ("unreadable", "red"),
    "hash_differs": ("hash differs", "yellow"),
    "wrong_content": ("not usable", "red"),
}
#: The state of a file that can be used only in part.
PARTLY: tuple[str, Look] = ("in part", "yellow")
#: Units of time in seconds, the longest first.
_UNITS = (
    *(("year", 365 * 86_400), ("month", 30 * 86_400), ("day", 86_400)),
    *(("hour", 3_600), ("minute", 60)),
)
#: The number of notes above the table, and of rows of a table.
MAX_NOTES, MOST_ROWS = 5, 500
#: CSS pixels of a table before a button shows the rest.
HEIGHT = 480
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
    notes = [problem.message.replace("`", "") for problem in report.problems if problem.severity == "note"]
    for message in notes[:MAX_NOTES]:
        markup.note(f"{message}.", "muted")
    if len(notes) > MAX_NOTES:
        markup.note(f"{len(notes) - MAX_NOTES:,} more such notes, which proofspan check prints.", "muted")
    checks = _worst_first(report.artifacts)
    has_problems = any(map(_wrong, checks))
    below = Folding(WIDE if has_problems else NARROW, "problem" if has_problems else "artifact", titled=True)
    columns = [
        Column(
            Cell("Artifact"), "start", name="artifact", width=14 if has_problems else None, narrow=10, lines=2
        ),
        Column(Cell("Problem"), "start", name="problem", lines=3),
        Column(
            Cell("Rows", tip="Traces that were read; of other records the lines"),
            align="end",
            name="rows",
            width=5,
            folds=below,
        ),
        Column(Cell("Size"), "end", name="size", width=5.5, folds=below),
        Column(Cell("Changed"), "start", name="changed", width=9, folds=below),
        Column(
            Cell("Hash", tip="The manifest's sha256 against the file's"),
            align="start",
            name="hash",
            width=7.5,
            folds=below,
        ),
    ]
    shown = [
        _artifact(check, rows.get(check.artifact.key), now, has_problems=has_problems)
        for check in checks[:MOST_ROWS]
    ]
    corner = Column(Cell("State"), "start", name="state", width=7.5)
    kept = tuple(each for each in columns if has_problems or each.name != "problem")
    show_grid(Grid("Artifacts of the manifest", corner, kept, tuple(shown), height=HEIGHT), key="artifacts")
    _rest(len(checks), "file")


def _artifact(check: ArtifactCheck, count: int | None, now: float, *, has_problems: bool) -> Row:
    """Return the row of a file; `count` are its records."""
    wrong, key = _wrong(check), check.artifact.key
    words, look = STATES[check.state] if check.is_good or check.state != "ok" else PARTLY
    # The key has its own column.
    messages = "; ".join(problem.message.removeprefix(f"`{key}`: ") for problem in wrong)
    fixes = "; ".join(problem.fix for problem in wrong if problem.fix)
    compared = "not compared" if check.sha256 is None else "agrees" if check.state == "ok" else "differs"
    changed = NOTHING
    with suppress(OSError):  # the file was removed after the check
        if check.file is not None:
            at = check.file.stat().st_mtime
            day = datetime.fromtimestamp(at)
            changed = Cell(age_words(now - at), note=f"{day.day} {day:%b %Y}")
    says, step = text_cell(sentence_start(messages)), text_cell(sentence_start(fixes))
    problem = Cell(says, note=step, tip=f"{says}. {step}") if messages else Cell()
    cells = (
        Cell(text_cell(key), note=text_cell(check.artifact.path)),
        *([problem] if has_problems else []),
        NOTHING if count is None else Cell(f"{count:,}"),
        NOTHING if check.size is None else Cell(size_words(check.size)),
        changed,
        Cell("none given" if check.artifact.sha256 is None else compared),
    )
    return Row(Cell(chips=(Chip(words, look),)), cells)


def _rest(count: int, noun: str) -> None:
    """Show how many rows a table does not have."""
    if count > MOST_ROWS:
        markup.note(f"{counted(count - MOST_ROWS, f'more {noun}')}, which proofspan check lists.", "muted")


def size_words(size: int) -> str:
    """Return a size in bytes as `812 B`, `4.2 kB`, `13 MB`."""
    for unit, length in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= length:
            return f"{size / length:.{0 if size >= 10 * length else 1}f} {unit}"
    return f"{size} B"


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


def text_cell(value: object) -> str:
    """Return text as a single line of at most `MAX_CELL` characters."""
    line = " ".join(markup.clean(str(value)).split())
    return line if len(line) <= MAX_CELL else f"{line[: MAX_CELL - 1]}…"


def runs(manifest: Manifest, view: ViewState, facts: Mapping[str, RunFacts], rows: Mapping[str, int]) -> None:
    """Show all runs with their traces, citations and bundles, each a link that shows the run here.

    Runs without an index have no counts.
    """

    def number(count: int | None) -> Cell:
        return NOTHING if count is None else Cell(f"{count:,}")

    listed = []
    for run in manifest.runs:
        about = facts.get(run.run_id)
        name = text_cell(run.run_id)
        head = Cell(
            name,
            note=text_cell(run.title or ""),
            href=view.with_nothing_chosen().change(run=run.run_id).link("health"),
            spoken=f"{name}: show this run",
        )
        cells = (
            Cell(text_cell(run_date(run))),
            number(about.traces if about else None),
            number(about.line_issues if about else None),
            Cell(_located(about)),
            number(rows.get(run.bundles.key) if run.bundles else None),
        )
        listed.append(Row(head, cells, key=run.run_id))
    below = Folding(NARROW, "run", titled=True)
    columns = (
        Column(Cell("Date"), "start", name="date", width=7.5, folds=Folding(NARROW, "run")),
        Column(Cell("Traces"), "end", name="traces", width=5.5, folds=below),
        Column(Cell("Line issues"), "end", name="issues", width=6.5, folds=below),
        Column(Cell("Citations"), "start", name="citations", width=11, folds=below),
        Column(Cell("Bundles"), "end", name="bundles", width=5.5, folds=below),
    )
    corner = Column(Cell("Run"), "start", name="run", lines=2)
    show_grid(Grid("Runs of this workspace", corner, columns, tuple(listed)), key="runs", chosen=view.run)


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
    if frame.empty:
        markup.note(f"Every line of {run_id} could be read and belongs to something.", "muted", role="line")
        return
    rows = []
    for place, (row, each) in enumerate(frame.head(MOST_ROWS).iterrows()):
        is_declared = row not in undeclared
        chips = () if is_declared else (Chip("not declared", "yellow", _UNDECLARED),)
        cells = (
            Cell(text_cell(sentence_start(each["reason"])), note=text_cell(each["remedy"])),
            Cell(text_cell(each["excerpt"])),
        )
        head = Cell(f"{each['line']:,}", chips=chips, note=text_cell(each["file"]))
        rows.append(Row(head, cells, key=str(place)))
    columns = (
        Column(Cell("Problem"), "start", name="problem", lines=3),
        Column(Cell("The line begins"), "start", name="text", lines=3, folds=Folding(NARROW, "problem")),
    )
    corner = Column(Cell("Line"), "start", name="line", width=14, narrow=9, lines=2)
    name = "Lines that could not be read or belong to nothing"
    show_grid(Grid(name, corner, columns, tuple(rows), height=HEIGHT), key=f"line-issues:{run_id}")
    _rest(len(frame), "line")


_UNDECLARED = "The manifest declares fewer such lines of the file (unreadable_lines)."
