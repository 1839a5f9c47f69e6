"""Question: one answer, why it has its label, and the page that its evidence stands on."""

import streamlit as st

from core.services.spans import targets_of
from core.ui import question_load, question_panels, question_place, session, shell
from core.ui.state import write_view

opened = session.current()
shell.notes(opened.view)
store = shell.store_or_progress(opened)
facts = store.run_facts(opened.run.run_id)
state = question_place.with_question(opened.view, store)
if state != opened.view:
    write_view(state)
key = state.key

if key is None and state.chunk is not None:
    question_panels.chunk_alone(
        question_load.chunk_view(opened, state.chunk, page=state.page), chunk_id=state.chunk
    )
elif key is None:
    shell.fault_panel(facts.problems)
    if not facts.traces:
        shell.empty_run_panels(store, opened.run.run_id)
    question_panels.nothing_to_open(is_filtered=state.is_filtered)
else:
    place = question_place.find(store, state, key)
    loaded = question_load.question(opened, key, place.source, is_labelled=place.is_labelled)
    view = loaded.view
    question_panels.header(view, position=place.position, previous=place.previous, following=place.following)
    shell.fault_panel((*facts.problems, *loaded.problems))

    targets = targets_of(view)
    chosen = question_load.chosen_target(loaded, targets, cite=state.cite, chunk=state.chunk)
    answer, page, reading = question_panels.sides()
    with reading:
        with st.container(border=True):
            question_panels.why(view)
        question_panels.candidates(
            view,
            chosen=question_place.chunk_of(view, chosen),
            asked=state.chunk,
            stage=state.stage,
        )
        question_panels.other_runs(question_place.other_runs(store, key), current=state.run)
        question_panels.raw_record(view)

    shown = question_load.placed(opened, chosen, targets, page=state.page) if chosen else None
    with answer:
        question_panels.answer(view, shown)
    with page:
        question_panels.page(shown, view=view)
