"""The What-if page: how would this run have ranked with other settings, and is that more than chance?"""

import streamlit as st

from proofspan.ui.status import notices, release
from proofspan.ui.visit import session
from proofspan.ui.whatif import controls, load, moved, result, save, sweep
from proofspan.ui.whatif.asked import ask
from proofspan.ui.widgets import markup
from proofspan.wording import counted

opened = session.current()
view = opened.view
store = notices.store_or_progress(opened)
facts = store.run_facts(view.run)
has_gold = opened.manifest.gold is not None

place = st.container(horizontal=True, vertical_alignment="center", key="whatif-head")
with place:
    result.heading(view)
notices.notes(view.notes)
notices.fault_panel(facts.problems)
if facts.from_report:
    result.report_only(view.run)
elif not facts.questions:
    markup.note(f"{view.run} holds {counted(0, 'question')}.", "strong", role="text")
    notices.empty_run_panels(store, view.run)
elif (found := load.lists(opened, store)) is not None:
    key = load.lists_key(opened, store)
    logged = load.logged(key, found)
    asked = ask(view, logged)
    notices.notes(asked.notes)
    computed = load.what_if(key, found, asked.settings)
    if asked.changed:
        with place:
            save.popover(opened, store, computed, asked)
    save.saved(opened, asked)
    release.wait_for_claims(opened, store)
    result.trust(logged, view)
    with st.container(key="whatif"):
        with st.container(key="whatif-answer"):
            result.verdict(computed, asked, view, has_gold=has_gold)
            result.cards(computed, view)
        with st.container(key="whatif-settings", border=True):
            controls.panel(
                asked,
                logged,
                opened.profile,
                is_reranked=load.is_reranked(found),
                is_checked=found.is_checked,
            )
        with st.container(key="whatif-details"):
            result.changes(computed, asked, view)
            if asked.changed:
                moved.questions(computed, asked, view, workspace=opened.manifest.name)
            sweep.panel(key, found, computed, asked, view)
            if asked.changed:
                result.metrics(computed.pairs, view)
