"""Walkthrough: one evidence bundle at a time, large and calm, for showing them to somebody."""

from functools import partial

import streamlit as st

from proofspan.services.bundles.walkthrough_best import refusal_of
from proofspan.services.documents.background import Done, Failed
from proofspan.ui.status import background, notices
from proofspan.ui.status.documents import PageLabels
from proofspan.ui.visit import session
from proofspan.ui.visit.view_state import change_view
from proofspan.ui.walkthrough import load, panels
from proofspan.ui.walkthrough.playlists.playlist import playlist_menu
from proofspan.ui.walkthrough.speaker import show_speaker
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.markup import Piece

#: Characters shown of a question; a very long one is cut off in sight and whole in its tip.
MAX_QUESTION, LONG_QUESTION = 1_500, 100

opened = session.current()
about = f"Proofspan · {opened.manifest.name} · {opened.run.run_id}"
if opened.view.speaker:
    show_speaker(opened.view.speaker, about=about)
    st.stop()
with st.container(key="walk-state"):  # always there, so that the rest keeps its place
    if opened.view.present:  # hide everything but the evidence
        markup.page_stylesheet("walkthrough", "presenting")
store = notices.store_or_progress(opened)
walk = load.walk(opened, store)
state, stop, slide = load.place(opened.view, walk, store)
notes = load.notes(state, walk, slide)
count = len(walk.playlist)

if stop is None and not count:
    notices.notes(notes)
    panels.nothing(state, has_ids=bool(state.ids))
    st.stop()
top, title, answer, page, exhibits, bar = panels.stage(is_question=stop is not None)
menu = partial(
    playlist_menu,
    state,
    walk,
    folder=str(opened.manifest.folder),
    whole=partial(load.whole, opened, store, walk),
    pictures=partial(load.thumbnails, walk),
)
if stop is None:
    with top:
        panels.top_line(about)
        menu()
    with answer:
        notices.notes(notes)
        (panels.end_slide if state.end else panels.title_slide)(opened, walk, state)
    with bar:
        words = "The end" if state.end else panels.playlist_name(state, walk)
        speaker = panels.speaker_texts(walk, slide, title=words)
        panels.bar(walk, state, slide, speaker=speaker)
else:
    outcome, work = load.scene(walk, stop, state)
    scene = outcome.value if isinstance(outcome, Done) else None
    view = scene.slide.view if scene else load.question(walk, stop)
    row, expected = load.row(store, stop), load.expected(opened, stop)
    refusal = refusal_of(row)
    if refusal == "unknown" and view is not None and view.citations:
        refusal = None  # an answer with evidence, too: guests see all of it
    chips = panels.chips(row, refusal, scene)
    with top:
        panels.top_line(about, slide, count, chips=chips)
        menu()
    with title:
        asked = Piece(stop.q, "h1", tip=stop.q[:MAX_QUESTION] if len(stop.q) > LONG_QUESTION else "")
        markup.show(markup.text([asked], role="title", limit=MAX_QUESTION))
    with page:
        if refusal is not None:
            panels.nothing_cited()
        elif scene is not None:
            panels.page(scene, see=state.see)
        elif isinstance(outcome, Failed):
            panels.no_page(outcome.fault.problems[0])
        else:
            with st.container(key="walk-no-page"):
                background.hint("Opening the page …", [work])
    with answer:
        if refusal is not None:
            titles = [document.title or document.doc_id for document in opened.manifest.documents]
            panels.refusal(refusal, view, documents=titles, expected=expected)
        else:
            panels.answer(view, scene, on_choose=lambda cite: change_view(cite=cite, chunk=None, page=None))
            panels.findings(row, scene, PageLabels(opened.manifest))
    with exhibits:
        evidence = scene if refusal is None else None
        panels.exhibits(evidence, notes, on_more=partial(load.show_more, stop))
    # Last: the bar reports to the browser that its press was answered, and by then everything is there.
    with bar:
        speaker = panels.speaker_texts(walk, slide, title=stop.q, expected=expected, verdict=chips)
        panels.bar(walk, state, slide, scene=evidence, speaker=speaker)
load.ahead(walk, slide)
