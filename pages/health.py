"""Health: can this run's citations be trusted, and what has to be fixed first?"""

import time

import streamlit as st

from proofspan.services.health.run_findings import run_lines
from proofspan.services.page_base import writer_of
from proofspan.traces.contract import is_foreign
from proofspan.ui.health import load, overview, rules
from proofspan.ui.status import notices, release, workspace_status
from proofspan.ui.visit import session

opened = session.current(needs_run=False)
manifest, view = opened.manifest, opened.view
head = st.container(key="health-head")
with head:
    overview.heading(manifest)
    notices.notes(view.notes)
facts, damaged = session.run_facts(opened)
load.prepare(opened)
full = workspace_status.full_check(opened)
report, counts = full or (workspace_status.known_check(opened), {})
rows = {**counts, **overview.trace_rows(manifest, facts)}
audited = load.audits(opened, with_documents=rules.is_asked())

with head:
    notices.fault_panel(damaged)
    verdict = st.container()
    overview.show_files(report, is_full=full is not None, failed_audits=audited.failed)
    still_read = st.container()
of_run, of_files = st.container(), st.container()
with of_files:  # before the run: while that has no index, its part of the page ends the script
    if manifest.chunks is not None:
        rules.ids_panel(audited)
    overview.artifacts(report, rows, now=time.time())
    if manifest.runs:
        overview.runs(opened.manifest, view, facts, rows)
    of_bundles = st.container()
    if manifest.runs and opened.manifest.documents:
        rules.cited_pages(session.cited_pages_of_runs(opened), writer_of(opened.manifest))
pending = [
    workspace_status.full_key(opened) if full is None else None,
    audited.pending,
]
with of_run:
    overview.problems(report)
    if not manifest.runs:
        notices.fault_panel([session.no_runs(manifest)])
        with still_read:
            overview.show_pending(pending, None)
        st.stop()
    store = notices.store_or_progress(opened)
    health = load.load(opened, store)
    modes_key, modes = load.modes(opened, store, health.table, audited.audits)
    load.remember_problems(opened, report, health, audited)
    ready, ready_key = release.verdict_when_ready(opened, store)
    with verdict:
        overview.show_release(ready, view)
        overview.show_quality(health)
    with of_bundles:
        overview.bundle_levels(health.levels, view.run)
    with still_read:
        locating = session.locating(opened, store) if store.placed_stamp(view.run) is None else None
        pending += [health.pending, ready_key, modes_key if modes is None else None]
        overview.show_pending(pending, locating)
    overview.show_first(health, view)
    rules.codes_panel(
        health.table, view, workspace=opened.manifest.name, is_foreign=is_foreign(opened.manifest, opened.run)
    )
    overview.show_run(health, view)
    rules.modes_panel(modes, view)
    rules.parity_panel(health.parity, health.table.questions_by("code"), view)
undeclared = run_lines(store, opened.manifest, opened.run).undeclared.index
overview.line_issues(store.line_issues(view.run), undeclared, view.run)
