"""The top of Health: what the page is of, the verdict, and what to mend first."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

import streamlit as st

from proofspan.manifest.check import CheckReport
from proofspan.manifest.types import Manifest
from proofspan.services.health_words import FIRST, Mend, mend_first, verdict
from proofspan.services.indexing import IndexJob
from proofspan.services.run_contract import HEALTH, RunFinding
from proofspan.store.filters import Filter
from proofspan.ui import safe, waiting
from proofspan.ui.boxes import panel
from proofspan.ui.fragments import fragment
from proofspan.ui.grid import Cell, Column, Grid, Look, Row, show_grid
from proofspan.ui.health_load import Health
from proofspan.ui.safe import Piece
from proofspan.ui.state import ViewState
from proofspan.ui.words import counted, sentence_start

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
    """Whose health it is, and where it lies."""
    safe.show(
        safe.text([Piece("Health"), Piece(f"  {manifest.name}", "muted")], role="title"),
        safe.text([Piece(str(manifest.folder), "code")], role="hint"),
    )


def show_verdict(health: Health) -> None:
    """The run in one sentence."""
    is_good = not any(finding.severity == "error" for finding in health.findings) and not health.broken_on
    said = verdict(health.table, health.findings, health.broken_on)
    safe.show(
        safe.text(
            [Piece("✓" if is_good else "✗", "pass" if is_good else "fail"), Piece(f" {said}")], role="verdict"
        )
    )


def show_files(report: CheckReport, *, is_full: bool, failed_audits: int = 0) -> None:
    """The workspace's files in one sentence, and how many audits of its chunk ids fail."""
    wrong = sum(not check.is_good for check in report.artifacts)
    told = f"{counted(len(report.artifacts), 'artifact')}, "
    told += f"{wrong:,} with a problem" if wrong else "all as the manifest names them"
    so_far = "" if is_full else " (as far as their names and sizes tell; they are being read)"
    told += so_far
    if failed_audits:
        fails = "fails" if failed_audits == 1 else "fail"
        told += f"; {counted(failed_audits, 'audit')} of the chunk ids {fails}"
    safe.show(safe.text([Piece(f"Workspace: {told}.")], role="line"))


def show_pending(keys: Sequence[Hashable | None], job: IndexJob | None) -> None:
    """That parts of the page are still being read, or citations located by `job`; it runs anew when they are.

    One part looks for all: each that looked for itself might run the page anew while a click is on its way.
    """
    at_work = tuple(key for key in keys if key is not None)
    running = job if job is not None and job.is_running else None
    if at_work or running is not None:
        _look(at_work, running)


@fragment(run_every=waiting.LOOK_S)
def _look(keys: tuple[Hashable, ...], job: IndexJob | None) -> None:
    is_read = all(map(waiting.desk().is_done, keys))
    is_located = job is None or not job.is_running
    if (keys and is_read) or (job is not None and is_located):
        st.rerun()
    parts = [*(["parts of this page are still being read"] if keys else [])]
    parts += [] if is_located else ["citations are being located"]
    said = f"{' and '.join(parts)}; what is missing comes by itself."
    safe.show(safe.text([Piece(sentence_start(said), "muted")], role="hint"))


def show_first(health: Health, view: ViewState) -> None:
    """What to mend first, a card each, and how much more there is."""
    found = mend_first(health.table, health.findings)
    if not found:
        return
    safe.show(safe.text([Piece("Mend first")], role="heading"))
    with st.container(key="health-cards"):
        for number, mend in enumerate(found[:FIRST]):
            with st.container(border=True, key=f"card-of-mend-{number}"):
                _card(mend, view)
    if len(found) > FIRST:
        more = f"{len(found) - FIRST:,} more below."
        safe.show(safe.text([Piece(more, "muted")], role="hint"))


def show_run(health: Health, view: ViewState) -> None:
    """All that is true of the run as a whole: what it is, what to do, and the way to it."""
    about = "What speaks against the run as a whole, and against what was committed beside it."
    with panel("run", f"{health.table.run_id} as a whole", about):
        if health.pending is not None:
            told = "Reading its bundles and its metrics pack …"
            safe.show(safe.text([Piece(told, "muted")], role="hint"))
        if health.findings:
            show_grid(run_grid(health.findings, view), key="run-cells")
        elif health.pending is None:
            said = "Nothing: lines, report, metrics pack, pages, figures, pins and bundles are in order."
            safe.show(safe.text([Piece(said)], role="line"))


def run_grid(findings: Sequence[RunFinding], view: ViewState) -> Grid:
    """A row a finding, errors first."""
    columns = tuple(Column(Cell(name), "start") for name in ("", "what to do"))
    rows = tuple(_run_row(finding, view) for finding in findings)
    return Grid("Findings of the run", "of the run", columns, rows)


def _run_row(finding: RunFinding, view: ViewState) -> Row:
    word, look = _SEVERITIES[finding.severity]
    title = sentence_start(finding.title)
    opens = finding.shown is not None and finding.page != HEALTH
    href = linked(view, finding.shown).link(finding.page) if opens and finding.shown is not None else None
    spoken = f"{title}: {finding.said} Open it." if href else ""
    head = Cell(title, note=finding.said.replace("`", ""), tip=finding.code, href=href, spoken=spoken)
    return Row(head, (Cell(word, look=look), Cell(finding.next_step.replace("`", ""))))


def linked(view: ViewState, shown: Filter) -> ViewState:
    """A list as this page reads its runs: what its links begin with."""
    return replace(ViewState(profile=view.profile), filter=shown)


def _card(mend: Mend, view: ViewState) -> None:
    safe.show(
        safe.text([Piece(sentence_start(mend.title), "strong")], role="line"),
        safe.text(safe.coded(mend.said, "muted"), role="hint"),
        safe.text(safe.coded(mend.next_step), role="hint"),
    )
    if mend.shown is not None and mend.page != HEALTH:
        script, told = _OPENS[mend.page]
        st.page_link(script, label=told, query_params=linked(view, mend.shown).params())
