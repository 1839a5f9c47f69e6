"""Trends: is the last run better, on which questions, and is it ready for release?"""

from functools import partial

import streamlit as st

from proofspan.ui.status import notices, release
from proofspan.ui.trends import charts, load, metrics_table, panels, ranks
from proofspan.ui.trends import cohorts as trends_cohorts
from proofspan.ui.visit import session
from proofspan.ui.widgets import markup
from proofspan.wording import counted

opened = session.current()
view = opened.view
store = notices.store_or_progress(opened)
trends = load.load(opened, store)
facts = store.run_facts(view.run)

panels.heading(trends, view)
notices.notes(view.notes)
panels.missing_runs(trends.missing, partial(session.others_are_indexed, opened))
notices.waiting_notice(facts.waiting_bytes)
notices.line_issue_notice(facts, view)
notices.fault_panel((*facts.problems, *trends.current.measured.problems))
if trends.current.questions:
    known = load.ranks(opened, store, trends)
    panels.scope(trends, view, has_gold=opened.manifest.gold is not None)
    panels.show_gate(release.verdict_of(opened, store), view)
    release.wait_for_claims(opened, store)
    pairs = load.pairs(opened, store, trends)
    panels.show_cards(trends, pairs, load.flips(opened, store, trends), view)
    charts.figures(trends, known, view)
    with charts.side_by_side("matrices"):
        panels.refusals(trends.current, view)
        panels.bucket_flow(trends, load.moves(opened, store, trends), view)
    cohorts, converted = load.cohorts(opened, store, trends)
    trends_cohorts.cohort_panel(trends, cohorts, converted, view, manifest=opened.manifest, store=store)
    ranks.rank_panel(trends, known, view)
    metrics_table.metrics_panel(
        trends,
        pairs,
        view,
        load.slices(opened, store, view.by) if view.by else None,
        workspace=opened.manifest.name,
    )
    measured, steady = trends.current.measured, load.stability(opened, store)
    with st.container(border=True, key="figure-stability"):
        panels.show_stability(steady, measured.values["lambda_convergent"], view)
else:
    markup.note(f"{view.run} holds {counted(0, 'question')}.", "strong", role="text")
    notices.empty_run_panels(store, view.run)
