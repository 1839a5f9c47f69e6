"""Two pages; a press on the second reaches the server after Back, while the second still runs."""

from __future__ import annotations

import threading

import streamlit as st
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession

from proofspan.ui.status.fragments import fragment

WAIT_S = 60


@st.cache_resource
def asked() -> threading.Event:
    """Return an event that is set once the server has read a request that came after a press of Back."""
    event = threading.Event()
    request_now = AppSession.request_rerun
    pages: list[str] = []

    def request_rerun(session: AppSession, client_state: ClientState | None) -> None:
        request_now(session, client_state)
        if client_state is not None and (pages or client_state.is_history_navigation):
            pages.append(client_state.page_script_hash)
        if len(pages) == 2:
            event.set()

    AppSession.request_rerun = request_rerun  # type: ignore[method-assign]
    return event


@fragment()
def part() -> None:
    st.text("a part")


def first() -> None:
    st.text("page one")
    part()


def second() -> None:
    st.text("page two")
    st.button("Count")
    if st.button("Wait"):
        st.text("waiting")
        asked().wait(WAIT_S)
    st.text("end of page two")


asked()
pages = st.Page(first, default=True), st.Page(second)
shown = st.navigation([*pages])
st.page_link(pages[1], label="Onwards")
shown.run()
