"""Question: one answer, the verdict on it, and the page of its evidence."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from proofspan.contracts.records.records import Chunk, TraceKey
from proofspan.errors import Fault
from proofspan.services.opening.summary import tools_of
from proofspan.services.page.target import targets_of
from proofspan.services.page.view import region_of
from proofspan.services.question.rules import broken_rules
from proofspan.services.question.variants import question_stability
from proofspan.store.query.filters import Filter
from proofspan.ui.question import (
    answer as answer_panel,
)
from proofspan.ui.question import (
    attachments,
    card,
    chunk,
    load,
    navigation,
    panels,
    steps,
    verdict,
)
from proofspan.ui.question.navigation import show_other_runs
from proofspan.ui.question.panels import show_variants
from proofspan.ui.review import gold as review_gold
from proofspan.ui.review import panel as review_panel
from proofspan.ui.status import documents, notices
from proofspan.ui.viewer import page_panel
from proofspan.ui.visit import session
from proofspan.ui.visit.view_state import read_view, write_view
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.chunk_choice import show_choice

asked = read_view()
if asked.q is None and asked.chunk is not None:
    chunk.show_chunk(asked.chunk)
    st.stop()

opened = session.current()
notices.notes(opened.view.notes)
store = notices.store_or_progress(opened)
facts = store.run_facts(opened.run.run_id)
state = navigation.with_question(opened.view, store)
if state != opened.view:
    write_view(state)
key = state.key

if key is None:
    notices.fault_panel(facts.problems)
    if not facts.traces:
        notices.empty_run_panels(store, opened.run.run_id)
    panels.nothing_to_open(is_filtered=state.is_filtered)
elif isinstance(
    place := navigation.find(store, state, key, bad_lines=partial(load.bad_lines, opened, store, key)),
    TraceKey,
):
    panels.no_such_variant(key, place)
else:
    beside = store.neighbours(state.filter, state.sort, key)
    try:
        loaded = load.question(opened, key, place.source, is_labelled=place.row["label"] is not None)
    except Fault as fault:  # its file was replaced: the page runs again once it is indexed
        notices.fault_panel(fault.problems)
        st.stop()
    view = loaded.view
    choice: Sequence[Chunk] = ()
    if (asked_chunk := state.chunk) is not None:
        chunk_id, choice = load.chunk_named(loaded.chunks, asked_chunk)
        state = state.change(chunk=chunk_id)
    targets = targets_of(view)
    labels = documents.PageLabels(opened.manifest)
    claims = load.claims(opened, loaded, follows=facts.suggestion is None, labels=labels)
    evidence = claims.targets.get(state.at_claim or 0) if claims else None
    chosen = load.chosen_target(loaded, targets, cite=state.cite, chunk=state.chunk, evidence=evidence)
    notices.notes(navigation.passage_notes(view, state, chosen, claims=len(claims.lines) if claims else 0))
    if choice:
        show_choice(asked_chunk or "", choice, state)
    of = steps.place_name(key, chosen.id if chosen else None, state.page, state.beside)
    wire = panels.header(
        view, repeat=key.repeat, beside=beside, has_verdict=claims is not None, of=steps.header_marks(key, of)
    )
    with st.container(key="judged"):
        if claims is not None:
            verdict.banner(view, claims.verdict, claims=claims.targets, labels=labels)
        notices.fault_panel((*facts.problems, *loaded.problems))
        steps.drawn(key)

    shown = load.placed(opened, chosen, targets, page=state.page) if chosen else None
    apart = load.gold_apart(shown, targets) if shown else None
    gold_page = None
    if shown and apart and state.beside:
        page_idx = state.page if shown.target == apart[0] else None
        shown = load.placed(opened, apart[0], targets, page=page_idx)
        gold_page = load.placed(opened, apart[1], targets, page=None)
    found = load.indexed_citations(store.placed(key.run_id, q_id=key.q_id), key) | dict(
        shown.found if shown else {}
    )
    seen = load.seen(opened, shown, state.see) if shown else None
    region = region_of(seen, shown) if seen and shown else None

    # From top to bottom: what is drawn later would move what a reader is about to click.
    answer, page, reading = panels.sides()
    with answer:
        answer_panel.answer(
            view, shown, found, claims, claim=state.at_claim, of=markup.place("answer", of), labels=labels
        )
    with page:
        if shown is not None and not shown.is_pending:
            notices.notes(navigation.outline_notes(state, seen))
        level = page_panel.page(
            shown,
            view=view,
            region=region,
            claims=claims,
            apart=apart,
            gold_page=gold_page,
            of=of,
            labels=labels,
        )
    with wire:
        steps.show_steps_ahead(beside, partial(navigation.key_at, store), shown=shown, targets=targets)
    with reading:
        answer_panel.claims_panel(view, claims, chosen=state.at_claim, of=steps.question_mark(key))
        steps.drawn(key)
        if claims is None:
            panels.why(view, place.row, has_verdict=False, labels=labels)
        else:
            verdict.trail(view, claims.verdict.trail, labels)
        judged = claims.verdict if claims else None
        causes = store.verdict_counts(Filter(run=key.run_id), "cause") if judged else {}
        verdict.next_step(view, judged, found, causes=causes, shown=state)
        steps.drawn(key)
        reviewed = review_panel.about(key, view, claims.verdict if claims else None)
        gold_line = partial(review_gold.gold_line, opened.manifest, view, shown, labels)
        review_panel.review(opened, reviewed, gold_line)
        steps.drawn(key)
        runs = [run.run_id for run in opened.manifest.runs]
        at_work = partial(session.others_are_indexed, opened)
        show_other_runs(store, key, judged, runs=runs, at_work=at_work)
        if claims is not None:
            panels.why(view, place.row, has_verdict=True, labels=labels)
        panels.scores(view, tools=tools_of(opened.manifest.folder))
        panels.candidates(
            view,
            chosen=chosen.chunk_id if chosen else None,
            stage=state.stage,
            titles={each.doc_id: each.title or each.doc_id for each in opened.manifest.documents},
            labels=labels,
            of=steps.question_mark(key),
        )
        steps.drawn(key)
        if (
            steady := question_stability(store, key.run_id, key.q_id)
            if facts.traces > facts.questions
            else None
        ):
            show_variants(
                steady,
                partial(store.traces_of, key.q_id, key.run_id),
                state,
                of=steps.question_mark(key),
            )
        broken = broken_rules(
            store, opened.manifest, key, view, codes=place.row["codes"] or (), corpus=loaded.chunks
        )
        panels.show_findings(broken, state)
        with st.container(key="belonging"):
            if shown is not None and not shown.is_pending:
                attachments.show_belonging(opened, shown)
        with st.container(horizontal=True, vertical_alignment="center", key="copying"):
            panels.copy_for_llm(view, claims)
            card.show_card(opened, view, shown, claims)
        panels.raw_record(view)
        steps.drawn(key)
    with level:
        markup.show(markup.place("level", of))
        if shown is None or not shown.is_pending:
            attachments.show_level(opened, loaded, key)
    load.prefetch(opened, store, shown=shown, targets=targets, beside=beside)
