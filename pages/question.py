"""Question: one answer, why it has its label, and the page that its evidence stands on."""

from functools import partial

import streamlit as st

from proofspan.services.question_findings import broken_rules
from proofspan.services.regions import region_of
from proofspan.services.spans import targets_of
from proofspan.services.stability import question_stability
from proofspan.ui import (
    answer_panel,
    chunk_panel,
    evidence_panel,
    findings_panel,
    notices,
    page_panel,
    placements,
    question_ahead,
    question_load,
    question_panels,
    question_place,
    session,
)
from proofspan.ui.other_runs import show_other_runs
from proofspan.ui.state import read_view, write_view
from proofspan.ui.variants_panel import show_variants

asked = read_view()
if asked.q is None and asked.chunk is not None:
    chunk_panel.show_chunk(asked.chunk)
    st.stop()

opened = session.current()
notices.notes(opened.view.notes)
store = notices.store_or_progress(opened)
facts = store.run_facts(opened.run.run_id)
state = question_place.with_question(opened.view, store)
if state != opened.view:
    write_view(state)
key = state.key

if key is None:
    notices.fault_panel(facts.problems)
    if not facts.traces:
        notices.empty_run_panels(store, opened.run.run_id)
    question_panels.nothing_to_open(is_filtered=state.is_filtered)
elif (instead := question_place.trace_instead(store, key)) is not None:
    question_panels.no_such_variant(key, instead)
else:
    bad_lines = partial(question_load.bad_lines, opened, store, key)
    place = question_place.find(store, state, key, bad_lines=bad_lines)
    loaded = question_load.question(opened, key, place.source, is_labelled=place.is_labelled)
    view = loaded.view
    targets = targets_of(view)
    chosen = question_load.chosen_target(loaded, targets, cite=state.cite, chunk=state.chunk)
    notices.notes(question_place.passage_notes(view, state, chosen))
    question_panels.header(
        view,
        repeat=key.repeat,
        position=place.position,
        previous=place.previous,
        following=place.following,
    )
    notices.fault_panel((*facts.problems, *loaded.problems))

    answer, page, reading = question_panels.sides()
    with reading:
        with st.container(border=True, key="why", gap="xsmall"):
            question_panels.why(view, stored_label=place.stored_label, ranking=place.ranking)
            step = st.container()
        question_panels.candidates(
            view,
            chosen=question_place.chunk_of(view, chosen),
            stage=state.stage,
        )
        runs = [run.run_id for run in opened.manifest.runs]
        show_other_runs(
            partial(question_place.other_runs, store, key, runs=runs),
            current=state.run,
            at_work=partial(session.others_are_indexed, opened),
        )
        if (
            steady := question_stability(store, key.run_id, key.q_id)
            if facts.traces > facts.questions
            else None
        ):
            show_variants(steady, partial(store.traces_of, key.q_id, key.run_id), state)
        broken = broken_rules(store, opened.manifest, key, view, codes=place.codes, corpus=loaded.chunks)
        findings_panel.show_findings(broken, state)
        below = st.container(key="belonging")
        question_panels.raw_record(view)

    shown = question_load.placed(opened, chosen, targets, page=state.page) if chosen else None
    found = placements.of_question(session.placed(opened, store), key) | dict(shown.found if shown else {})
    with answer:
        answer_panel.answer(view, shown, found)
    seen = question_load.seen(opened, shown, state.see) if shown else None
    with page:
        if shown is not None and not shown.is_pending:
            notices.notes(question_place.outline_notes(state, seen))
        region = region_of(seen, shown) if seen and shown else None
        level = page_panel.page(shown, view=view, region=region)
    with step:
        question_panels.next_step(view, found)
    with below:
        if shown is not None and not shown.is_pending:
            evidence_panel.belonging(question_load.attached_to(opened, shown))
    with level:
        if shown is None or not shown.is_pending:
            evidence_panel.level(question_load.level(opened, loaded, key))
    beside = place.following
    following = state.change(q=beside.q, p=beside.p, s=beside.s).key if beside else None
    question_ahead.make_ready(opened, store, shown=shown, targets=targets, following=following)
