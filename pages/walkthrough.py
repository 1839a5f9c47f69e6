"""Walkthrough: one evidence bundle at a time, large and calm, for showing them to somebody."""

from functools import partial

import streamlit as st

from proofspan.services.documents.background import Done, Failed
from proofspan.ui.status import background, notices
from proofspan.ui.visit import session
from proofspan.ui.visit.view_state import change_view
from proofspan.ui.walkthrough import load, panels
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.markup import Piece

#: Characters shown of a question; a very long one scrolls.
MAX_QUESTION = 1_500

opened = session.current()
store = notices.store_or_progress(opened)
walk = load.walk(opened, store)
state, stop, position = load.place(opened.view, walk.playlist, store)
notes = load.notes(state, walk, position)

if stop is None:
    notices.notes(notes)
    panels.nothing(state, has_ids=bool(state.ids))
else:
    outcome, work = load.scene(walk, stop, state)
    scene = outcome.value if isinstance(outcome, Done) else None
    view = scene.slide.view if scene else load.question(walk, stop)
    top, title, answer, page, bar, exhibits = panels.stage()
    with top:
        panels.top_line(
            position,
            len(walk.playlist),
            scene,
            about=f"Proofspan · {opened.manifest.name} · {opened.run.run_id}",
        )
        panels.playlist_menu(
            state, walk.playlist, walk.materials.stored, whole=partial(load.whole, opened, store, walk)
        )
    with title:
        markup.show(markup.text([Piece(stop.q, "h1")], role="title", limit=MAX_QUESTION))
    with page:
        if scene is not None:
            panels.page(scene, see=state.see)
        elif isinstance(outcome, Failed):
            panels.no_page(outcome.fault.problems[0])
        else:
            with st.container(key="walk-no-page"):
                background.hint("Opening the page …", [work])
    with answer:
        panels.answer(view, scene, on_choose=lambda cite: change_view(cite=cite, chunk=None, page=None))
    with exhibits:
        panels.exhibits(scene, notes, on_more=partial(load.show_more, stop))
    # Last: the bar reports to the browser that its press was answered, and by then everything is there.
    with bar:
        panels.bar(scene, state, walk.playlist, position)
    load.ahead(walk, position)
if state.present:  # hide everything but the evidence
    markup.page_stylesheet("walkthrough", "presenting")
