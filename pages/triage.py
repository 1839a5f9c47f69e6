"""Triage: which questions went wrong, worst first, and what to do about each kind."""

from dataclasses import replace

import streamlit as st

from proofspan.contracts.records.records import LABELS
from proofspan.diagnosis.types import profile_from
from proofspan.services.page_base import worth_saying
from proofspan.services.question.filter_values import unknown_values
from proofspan.store.query.filters import Filter
from proofspan.ui.status import notices
from proofspan.ui.triage import failure_map, filters, panels, table
from proofspan.ui.visit import session
from proofspan.ui.widgets import export_menu, markup
from proofspan.ui.widgets.controls import line
from proofspan.wording import counted

opened = session.current()
view = opened.view
store = notices.store_or_progress(opened)
facts = store.run_facts(view.run)
total = store.total(view.run, all_variants=view.filter.all_variants)
matching = store.matching(view.filter)
pages = max(1, -(-matching // table.ROWS_A_PAGE))
view = view.change(at=min(view.at, pages))

cited = session.cited_pages(opened, store, view.run)
# Findings on cited pages as a whole that only a change at their source would fix.
off_pages = [finding for finding in worth_saying(cited.findings) if finding.is_systematic] if cited else []
has_citations = facts.placed.citations > 0 if facts.placed else bool(opened.manifest.documents)
can_have_claims = opened.manifest.chunks is not None and not facts.from_report
has_claims = bool(facts.checked.claims) if facts.checked else can_have_claims

# People wait for the table: of the panels above it, only the words are sent first.
has_gold, vs = opened.manifest.gold is not None, view.vs if view.vs in store.runs() else None
lines = 2 * has_gold + sum(map(bool, (has_citations, has_claims, off_pages, facts.waiting_bytes, vs)))
above = st.container(key=f"above-{lines:d}", gap="xsmall")
with above:
    with st.container(horizontal=True, vertical_alignment="center", key="head"):
        panels.heading(view, opened.manifest.runs, total=total, profile=opened.profile)
    notices.notes(view.notes)
    notices.waiting_notice(facts.waiting_bytes)
    notices.fault_panel(facts.problems)
    own = profile_from(session.workspace().triage)
    if opened.profile != own:
        panels.profile_notice(opened.profile, own)
    if facts.suggestion:
        panels.template_notice(facts.suggestion, opened.profile)
job = session.locating(opened, store) if has_citations or has_claims else None
if matching:
    rows = store.page(
        view.filter,
        view.sort,
        limit=table.ROWS_A_PAGE,
        offset=(view.at - 1) * table.ROWS_A_PAGE,
    )
    # Where claims are being checked, their columns are there already: no row moves when they are filled.
    has_columns = has_claims and (facts.checked is not None or (job is not None and job.is_running))
    table.show_table(rows, view, offsets=cited.offsets if cited else None, has_claims=has_columns)

counts = store.counts(view.filter)
options = session.options(opened, store)
with above:
    notices.notes(unknown_values(view.filter, options, store))
    if facts.placed is None and view.filter.evidence:
        notices.notes(["Nothing matches the filter on cited text until citations are located."])
    asks_claims = view.filter.claim or view.filter.difference or view.filter.support
    if facts.checked is None and (asks_claims or view.filter.contradictions is not None):
        notices.notes(["Nothing matches the filter on claims until they are checked."])
    if view.vs and vs is None:
        notices.notes([f"Run {view.vs} is not indexed, so nothing is compared with it."])
    moved = store.transitions(replace(view.filter, label=()), "label") if vs else []
    panels.label_cards(counts, view, moved=moved)
    gold_counts = store.gold_counts(view.filter)
    omits = has_citations and (
        view.filter.safety is not None or store.matching(Filter(view.run, safety=True)) > 0
    )
    buckets = store.bucket_counts(view.filter) if has_gold else {}
    with st.container(key="toggle-lines", gap="xxsmall"):
        panels.gold_line(gold_counts, view, offered=options["gold"])
        if vs:
            outcomes = panels.outcomes_for(view, has_gold=has_gold)
            flips = store.flips(replace(view.filter, outcome=outcomes[0]))
            panels.flip_line(flips, view, outcomes=outcomes)
        with line("mixed"):
            if options["bucket"] or view.filter.bucket:
                panels.bucket_line(buckets, view)
            if omits:
                omitting, other = (store.matching(replace(view.filter, safety=of)) for of in (True, False))
                panels.safety_line(omitting, omitting + other, view)
        # Each has a line of its own while it is pending: what is found later has room there.
        if has_citations:
            panels.cited_line(
                store.evidence_counts(view.filter),
                facts.placed,
                view,
                folder=opened.manifest.folder,
                job=job,
            )
        if has_claims:
            panels.claims_line(
                store.claim_counts(view.filter),
                facts.checked,
                view,
                folder=opened.manifest.folder,
                job=job,
            )
        if off_pages:
            panels.page_base_line(off_pages, view)
    with st.container(horizontal=True, vertical_alignment="center", key="filters"):
        filters.filter_bar(
            options,
            view,
            traces=facts.traces,
            questions=facts.questions,
            cohorts=[(cohort.name, len(cohort.q_ids)) for cohort in session.cohorts(opened).values()],
            has_claims=has_claims and facts.checked is not None,
        )
    with st.container(horizontal=True, vertical_alignment="center", key="sentence"):
        panels.sentence(view, matching=matching, total=total)
        is_toggled = vs is not None and view.filter.flip in panels.FLIPS_SHOWN
        filters.chips(view, elsewhere={"flip"} if is_toggled else ())
        notices.line_issue_notice(facts, view)
        st.space("stretch")
        with st.container(
            horizontal=True,
            vertical_alignment="center",
            width="content",
            wrap=False,
            gap="small",
            key="onward",
        ):
            if matching:
                panels.walk_through(view)
            export_menu.export_menu(
                lambda: store.rows(view.filter, view.sort, with_claims=True),
                matching=matching,
                name=f"{opened.manifest.name} {view.run}",
            )

if matching:
    panels.paging(matching, view, rows_a_page=table.ROWS_A_PAGE)
    with st.container(key="below"):
        failure_map.show_failures(
            store.failures(view.filter),
            view,
            sections=session.sections_or_none(opened),
            titles={document.doc_id: document.title or "" for document in opened.manifest.documents},
            unpaged=opened.manifest.unpaged,
        )
        present = [label for label in LABELS if counts.get(label)]
        if present or view.filter.label:
            chosen = [label for label in view.filter.label if label in LABELS]
            panels.next_steps(chosen or present[:1], view, opened.profile, gold_counts, buckets)
elif view.is_filtered:
    panels.nothing_matches(total)
else:
    markup.note(f"{view.run} holds {counted(0, 'question')}.", "strong", role="text")
    notices.empty_run_panels(store, view.run)
