"""Health: can this run's citations be trusted, and what has to be fixed first?"""

import time
from collections.abc import Hashable

import streamlit as st

from proofspan.services.health.run_findings import run_lines
from proofspan.services.page_base import writer_of
from proofspan.traces.contract import is_foreign
from proofspan.ui.health import load, overview, rules
from proofspan.ui.status import notices, release, workspace_status
from proofspan.ui.visit import session
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.fold import fold
from proofspan.wording import counted

opened = session.current(needs_run=False)
manifest, view = opened.manifest, opened.view
overview.heading(manifest)
notices.notes(view.notes)
facts, damaged = session.run_facts(opened)
load.prepare(opened)
full = workspace_status.full_check(opened)
report, counts = full or (workspace_status.known_check(opened), {})
rows = {**counts, **overview.trace_rows(manifest, facts)}
audited = load.audits(opened, with_documents=rules.is_asked())
files = overview.files_in_words(report, is_full=full is not None)
pending: list[Hashable | None] = [
    workspace_status.full_key(opened) if full is None else None,
    audited.pending,
]

notices.fault_panel(damaged)
with st.container(border=True, key="gate"):
    verdict = st.container(gap="xxsmall")
    failed = f"; {counted(audited.failed, 'failed audit')} of chunk ids" if audited.failed else ""
    markup.note(f"Workspace: {files}{failed}.")
    still_read = st.container()
of_run, of_files, of_lines = st.container(), st.container(), st.container()
with of_files:  # before the run: while that has no index, its part of the page ends the script
    if manifest.chunks is not None:
        fold("ids", f"Chunk ids: {rules.ids_in_words(audited)}", lambda: rules.ids_panel(audited))
    fold(
        "files",
        f"Files: {len(report.artifacts):,}",
        lambda: overview.artifacts(report, rows, now=time.time()),
    )
    if manifest.runs:
        fold("runs", f"Runs: {len(manifest.runs):,}", lambda: overview.runs(manifest, view, facts, rows))
    if manifest.runs and manifest.documents:
        cited = lambda: rules.cited_pages(session.cited_pages_of_runs(opened), writer_of(manifest))  # noqa: E731
        fold("pages", "Cited pages", cited)
with of_run:
    overview.problems(report)
    if not manifest.runs:
        notices.fault_panel([session.no_runs(manifest)])
        with still_read:
            overview.show_pending(pending, None)
        st.stop()
    store = notices.store_or_progress(opened)
    health = load.load(opened, store)
    load.remember_problems(opened, report, health, audited)
    ready, ready_key = release.verdict_when_ready(opened, store)
    with verdict:
        overview.show_quality(health, ready, view)
        overview.bundle_levels(health.levels, view.run)
    overview.show_fixes(health, view)
    fold(
        "codes",
        "Findings by run",
        lambda: rules.codes_panel(
            health.table, view, workspace=manifest.name, is_foreign=is_foreign(manifest, opened.run)
        ),
    )

    def show_causes() -> None:
        key, modes = load.modes(opened, store, health.table, audited.audits)
        pending.append(key if modes is None else None)
        rules.modes_panel(modes, view)

    fold("modes", "Likely causes", show_causes)
    fold(
        "parity",
        f"Index and query configuration: {rules.parity_in_words(health.parity)}",
        lambda: rules.parity_panel(health.parity, health.table.questions_by("code"), view),
    )
with of_lines:
    issues = store.line_issues(view.run)

    def show_lines() -> None:
        undeclared = run_lines(store, manifest, opened.run).undeclared.index
        overview.line_issues(issues, undeclared, view.run)

    fold("lines", f"Line issues of {view.run}: {len(issues):,}", show_lines)
with still_read:
    locating = session.locating(opened, store) if store.placed_stamp(view.run) is None else None
    overview.show_pending([*pending, health.pending, ready_key], locating)
