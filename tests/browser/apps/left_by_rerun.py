"""A page whose fragment asks for the page again just as the reader leaves it."""

from __future__ import annotations

import threading

import streamlit as st
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession

from proofspan.ui.status.fragments import fragment
from proofspan.ui.visit.links import show_links

WAIT_S = 60


@st.cache_resource
def left() -> threading.Event:
    """Return an event that is set once the server has read the request for the second page."""
    event = threading.Event()
    request_now = AppSession.request_rerun

    def request_rerun(session: AppSession, client_state: ClientState | None) -> None:
        request_now(session, client_state)
        if client_state is not None and client_state.is_history_navigation:
            event.set()

    AppSession.request_rerun = request_rerun  # type: ignore[method-assign]
    return event


@fragment()
def part() -> None:
    if st.button("Once it is left"):
        left().wait(WAIT_S)
        st.rerun()
    if st.button("At once"):
        st.rerun()


def first() -> None:
    times = st.session_state["times"] = st.session_state.get("times", 0) + 1
    st.text("page one" if times == 1 else "again")
    part()


def second() -> None:
    st.text("page two")


left()
pages = st.Page(first, default=True), st.Page(second)
shown = st.navigation([*pages])
show_links()
st.page_link(pages[1], label="Onwards")
shown.run()
