"""Trends: is the last run better, on which questions, and is it ready for release?"""

from functools import partial

from proofspan.ui.status import notices, release
from proofspan.ui.trends import agreement, charts, load, metrics_table, panels, ranks
from proofspan.ui.trends import cohorts as trends_cohorts
from proofspan.ui.visit import session
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.fold import fold
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
    pairs = load.pairs(opened, store, trends)
    measured = trends.current.measured
    panels.scope(trends, view, has_gold=opened.manifest.gold is not None)
    panels.show_gate(release.verdict_of(opened, store), view)
    release.wait_for_claims(opened, store)
    panels.show_cards(trends, pairs, view)
    charts.figures(trends, view, lambda: load.ranks(opened, store, trends))
    fold(
        "ranks",
        "Gold rank by question",
        lambda: ranks.rank_panel(trends, load.ranks(opened, store, trends), view),
        is_open=bool(view.order or view.find or view.leaf > 1),
    )
    fold(
        "metrics",
        "All metrics",
        lambda: metrics_table.metrics_panel(
            trends,
            pairs,
            view,
            load.slices(opened, store, view.by) if view.by else None,
            workspace=opened.manifest.name,
        ),
        is_open=bool(view.by or measured.differences),
    )
    fold("refusals", "Refusals and next steps", lambda: panels.refusals(trends.current, view))
    fold(
        "cohorts",
        "Cohorts",
        lambda: trends_cohorts.cohort_panel(
            trends, *load.cohorts(opened, store, trends), view, manifest=opened.manifest, store=store
        ),
    )
    if opened.manifest.annotations is not None:
        fold(
            "agreement",
            "Agreement of people and rules",
            lambda: agreement.agreement_panel(opened, store, view),
        )
    fold(
        "stability",
        "Stability under paraphrase",
        lambda: panels.show_stability(
            load.stability(opened, store), measured.values["lambda_convergent"], view
        ),
    )
else:
    markup.note(f"{view.run} holds {counted(0, 'question')}.", "strong", role="text")
    notices.empty_run_panels(store, view.run)
