"""A page with a button in a fragment, which stays or goes with a run that waits for a press of it."""

from __future__ import annotations

import streamlit as st

from proofspan.ui.status.fragments import fragment
from tests.browser.apps.next_press import wait_for_next_press


def choose() -> None:
    st.session_state["chosen"] = st.session_state.get("chosen", 0) + 1


def part() -> None:
    st.button("Choose", key="choose", on_click=choose)
    st.text(f"chosen {st.session_state.get('chosen', 0)}")


def page() -> None:
    stays, goes, is_waiting = st.button("Stay"), st.button("Go"), st.toggle("Once a press waits")
    if is_waiting and (stays or goes):
        wait_for_next_press()
    if goes:
        st.session_state["is_gone"] = True
    if st.session_state.get("is_gone"):
        part()
        st.text("whole")
    else:
        fragment()(part)()


st.navigation([st.Page(page, title="Page")]).run()
