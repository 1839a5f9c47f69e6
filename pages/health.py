"""Health: can this run's citations be trusted, and what is to be mended first?"""

import time

import streamlit as st

from proofspan.services.pagebase import writer_of
from proofspan.services.run_lines import run_lines
from proofspan.ui import (
    checks,
    health_artifacts,
    health_codes,
    health_head,
    health_ids,
    health_load,
    health_modes,
    health_parity,
    health_runs,
    notices,
    page_base_panel,
    session,
)

manifest = session.workspace()
opened = session.current() if manifest.runs else session.without_runs(manifest)
view, facts = opened.view, session.run_facts(opened)
full = checks.full_check(opened)
report = full.report if full is not None else checks.known_check(opened)
rows = {**(full.rows if full is not None else {}), **health_runs.trace_rows(opened.manifest, facts)}
audited = health_load.audits(opened, with_documents=health_ids.is_asked())

with st.container(key="health-head"):
    health_head.heading(opened.manifest)
    notices.notes(view.notes)
    verdict = st.container()
    failed = audited.failed if audited is not None else 0
    health_head.show_files(report, is_full=full is not None, failed_audits=failed)
    still_read = st.container()
of_run, of_files = st.container(), st.container()
with of_files:  # before the run: while that has no index, its part of the page ends the script
    health_ids.ids_panel(audited)
    health_artifacts.artifacts(report, rows, now=time.time())
    if manifest.runs:
        health_runs.runs(opened.manifest, view, facts, rows)
    of_bundles = st.container()
    if manifest.runs and opened.manifest.documents:
        page_base_panel.cited_pages(session.cited_pages_of_runs(opened), writer_of(opened.manifest))
pending = [
    checks.full_key(opened) if full is None else None,
    audited.pending if audited is not None else None,
]
with of_run:
    health_artifacts.problems(report)
    if not manifest.runs:
        notices.fault_panel([session.no_runs(manifest)])
        with still_read:
            health_head.show_pending(pending, None)
        st.stop()
    store = notices.store_or_progress(opened)
    health = health_load.load(opened, store)
    audits = audited.audits if audited is not None else ()
    modes = health_load.modes(opened, store, health.table, audits)
    parity = health_load.parity(opened, store, health.table)
    with verdict:
        health_head.show_verdict(health)
    with of_bundles:
        health_runs.bundle_levels(health.levels, view.run)
    with still_read:
        parts = (part.key for part in (modes, parity) if isinstance(part, health_load.Pending))
        locating = session.locating(opened, store) if store.placed_stamp(view.run) is None else None
        health_head.show_pending([*pending, health.pending, *parts], locating)
    health_head.show_first(health, view)
    health_codes.codes_panel(health.table, view, workspace=opened.manifest.name)
    health_head.show_run(health, view)
    health_modes.modes_panel(modes, view)
    health_parity.parity_panel(parity, view)
undeclared = run_lines(store, opened.manifest, opened.run).undeclared.index
health_runs.line_issues(store.line_issues(view.run), undeclared, view.run)
