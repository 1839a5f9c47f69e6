"""Trends: is the last run better, on which questions, and may it ship?"""

from functools import partial

import streamlit as st

from proofspan.ui import (
    notices,
    recipe_panel,
    safe,
    session,
    stability_panel,
    trends_charts,
    trends_cohorts,
    trends_load,
    trends_panels,
    trends_verdict,
    words,
)

opened = session.current()
view = opened.view
store = notices.store_or_progress(opened)
trends = trends_load.load(opened, store)
facts = store.run_facts(view.run)

trends_panels.heading(trends, view)
notices.notes(view.notes)
trends_panels.missing_runs(trends.missing, partial(session.others_are_indexed, opened))
notices.waiting_notice(facts.waiting_bytes)
notices.line_issue_notice(facts, view)
notices.fault_panel((*facts.problems, *trends.current.measured.problems))
if trends.current.questions:
    known = trends_load.ranks(opened, store, trends)
    trends_panels.scope(trends, view, has_gold=opened.manifest.gold is not None)
    trends_verdict.show_verdict(trends_load.gate(opened, store, trends), view)
    trends_verdict.show_cards(trends, trends_load.flips(opened, store, trends), view)
    trends_charts.headline_charts(trends, view)
    trends_charts.outcome_charts(trends, known, view)
    trends_charts.answer_charts(trends, view)
    with trends_charts.side_by_side("matrices"):
        trends_panels.refusals(trends.current, view)
        trends_panels.bucket_flow(trends, trends_load.moves(opened, store, trends), view)
    cohorts, converted = trends_load.cohorts(opened, store, trends)
    trends_cohorts.cohort_panel(trends, cohorts, converted, view, manifest=opened.manifest, store=store)
    trends_panels.rank_panel(trends, known, view)
    trends_panels.metrics_panel(
        trends,
        view,
        trends_load.slices(opened, store, view.by) if view.by else None,
        workspace=opened.manifest.name,
    )
    measured, steady = trends.current.measured, trends_load.stability(opened, store)
    with st.container(border=True, key="figure-recipe"):
        recipe_panel.show_recipe(opened, store, measured, steady)
    with st.container(border=True, key="figure-stability"):
        stability_panel.show_stability(steady, measured.values["lambda_convergent"], view)
else:
    safe.show(safe.text([safe.Piece(f"{view.run} holds {words.counted(0, 'question')}.", "strong")]))
    notices.empty_run_panels(store, view.run)
