"""Triage: which questions went wrong, worst first, and what to do about each kind."""

import streamlit as st

from core.contracts.records import LABELS
from core.services.unknown_values import unknown_values
from core.store.filters import Filter
from core.triage.profile import profile_from
from core.ui import (
    export,
    failure_panel,
    safe,
    session,
    shell,
    triage_evidence,
    triage_filters,
    triage_panels,
    triage_table,
    words,
)

opened = session.current()
view = opened.view
store = shell.store_or_progress(opened)
facts = store.run_facts(view.run)
total = store.total(view.run, all_variants=view.filter.all_variants)
matching = store.matching(view.filter)
pages = max(1, -(-matching // triage_table.ROWS_A_PAGE))
view = view.change(at=min(view.at, pages))

cited = session.cited_pages(opened, store, view.run)
off_pages = triage_evidence.page_base(cited.findings) if cited else []
has_citations = facts.placed.citations > 0 if facts.placed else bool(opened.manifest.documents)

# The table is what a person waits for: of what stands above it only the words are sent before it.
lines = sum(map(bool, (opened.manifest.gold, has_citations, off_pages, facts.waiting_bytes)))
above = st.container(key=f"above-{lines:d}", gap="xsmall")
with above:
    triage_panels.heading(view, total=total, profile=opened.profile)
    shell.notes(view.notes)
    shell.waiting_notice(facts.waiting_bytes)
    shell.fault_panel(facts.problems)
    own = profile_from(session.workspace().triage)
    if opened.profile != own:
        triage_panels.profile_notice(opened.profile, own)
    if facts.suggestion:
        triage_panels.template_notice(facts.suggestion, opened.profile)
if matching:
    rows = store.page(
        view.filter,
        view.sort,
        limit=triage_table.ROWS_A_PAGE,
        offset=(view.at - 1) * triage_table.ROWS_A_PAGE,
    )
    triage_table.show_table(rows, view, offsets=cited.offsets if cited else None)

counts = store.counts(view.filter)
options = session.options(opened, store)
with above:
    shell.notes(
        [
            *unknown_values(view.filter, options, store),
            *triage_evidence.waiting_note(facts.placed, view),
        ]
    )
    triage_panels.label_cards(counts, view, unlabelled=store.unlabelled(view.filter))
    gold_counts = store.gold_counts(view.filter)
    omits = view.filter.safety is not None or store.safety_count(Filter(view.run)) > 0
    with st.container(key="toggle-lines", gap="xxsmall"):
        triage_panels.gold_line(gold_counts, view, offered=options["gold"])
        if has_citations:
            triage_evidence.cited_line(
                store.evidence_counts(view.filter),
                facts.placed,
                view,
                folder=opened.manifest.folder,
                job=session.locating(opened, store),
                omitting=store.safety_count(view.filter) if omits else None,
                judged=store.safety_judged(view.filter) if omits else 0,
            )
        if off_pages:
            triage_evidence.page_base_line(off_pages, view)
    with st.container(horizontal=True, vertical_alignment="center", key="filters"):
        triage_filters.filter_bar(options, view, traces=facts.traces, questions=facts.questions)
    with st.container(horizontal=True, vertical_alignment="center", key="sentence"):
        triage_panels.sentence(view, matching=matching, total=total)
        triage_filters.chips(view)
        shell.line_issue_notice(facts, view)
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
                triage_panels.walk_through(view)
            export.export_menu(
                lambda: store.rows(view.filter, view.sort),
                matching=matching,
                name=f"{opened.manifest.name} {view.run}",
            )

if matching:
    triage_panels.paging(matching, view, rows_a_page=triage_table.ROWS_A_PAGE)
    with st.container(key="below"):
        failure_panel.show_failures(
            failure_panel.Failures(
                store.failures(view.filter),
                session.sections_or_none(opened),
                {document.doc_id: document.title or "" for document in opened.manifest.documents},
                opened.manifest.unpaged,
            ),
            view,
        )
        present = [label for label in LABELS if counts.get(label)]
        if present or view.filter.label:
            chosen = [label for label in view.filter.label if label in LABELS]
            lost = triage_panels.lost_gold(gold_counts, view.filter.gold)
            failed = triage_panels.failed_buckets({}, view.filter.bucket)
            triage_panels.next_steps(chosen or present[:1], opened.profile, lost, failed)
elif view.is_filtered:
    triage_panels.nothing_matches(total)
else:
    safe.show(safe.text([safe.Piece(f"{view.run} holds {words.counted(0, 'question')}.", "strong")]))
    shell.empty_run_panels(store, view.run)
