"""A page with a button in a fragment, which stays or goes with a run that waits for a press of it."""

from __future__ import annotations

import time

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from proofspan.ui.status.fragments import fragment

WAIT_S = 60


def choose() -> None:
    st.session_state["chosen"] = st.session_state.get("chosen", 0) + 1


def part() -> None:
    st.button("Choose", key="choose", on_click=choose)
    st.text(f"chosen {st.session_state.get('chosen', 0)}")


def wait_for_press() -> None:
    context = get_script_run_ctx()
    assert context is not None
    assert context.script_requests is not None
    until = time.monotonic() + WAIT_S
    while context.script_requests._state.name != "RERUN" and time.monotonic() < until:
        time.sleep(0.01)


def page() -> None:
    stays, goes, is_waiting = st.button("Stay"), st.button("Go"), st.toggle("Once a press waits")
    if is_waiting and (stays or goes):
        wait_for_press()
    if goes:
        st.session_state["is_gone"] = True
    if st.session_state.get("is_gone"):
        part()
        st.text("whole")
    else:
        fragment()(part)()


st.navigation([st.Page(page, title="Page")]).run()
