"""Two pages, and a server that reads the request of the first page's fragment when the second page runs."""

from __future__ import annotations

import asyncio
import threading

import streamlit as st
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession

from proofspan.ui.status.fragments import fragment

WAIT_S = 60


@st.cache_resource
def late_server() -> tuple[threading.Event, threading.Event]:
    """Hold every fragment's request back until the second page has begun; then the second event is set."""
    begun, delivered = threading.Event(), threading.Event()
    held: list[ClientState] = []
    request_now = AppSession.request_rerun

    def deliver(session: AppSession) -> None:
        if not begun.is_set():
            asyncio.get_running_loop().call_later(0.01, deliver, session)
            return
        request_now(session, held.pop())
        delivered.set()

    def request_rerun(session: AppSession, client_state: ClientState | None) -> None:
        if client_state is not None and client_state.fragment_id:
            held.append(client_state)
            deliver(session)
        else:
            request_now(session, client_state)

    AppSession.request_rerun = request_rerun  # type: ignore[method-assign]
    return begun, delivered


@fragment()
def part() -> None:
    st.button("Part")


def first() -> None:
    st.text("page one")
    part()


def second() -> None:
    begun, delivered = late_server()
    st.text("page two")
    begun.set()
    delivered.wait(WAIT_S)
    if st.button("Again"):
        st.text("counted")


late_server()
pages = st.Page(first, default=True), st.Page(second)
shown = st.navigation([*pages])
st.page_link(pages[1], label="Onwards")
shown.run()
