"""A page beside the default one that ends its first run when its fragment has been asked for."""

from __future__ import annotations

import threading

import streamlit as st
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession

from proofspan.ui.status.fragments import fragment

WAIT_S = 60


@st.cache_resource
def asked() -> threading.Event:
    """Set once a fragment was asked for."""
    event = threading.Event()
    request_now = AppSession.request_rerun

    def request_rerun(session: AppSession, client_state: ClientState | None) -> None:
        request_now(session, client_state)
        if client_state is not None and client_state.fragment_id:
            event.set()

    AppSession.request_rerun = request_rerun  # type: ignore[method-assign]
    return event


@fragment()
def part() -> None:
    if st.button("Part"):
        st.text("counted")


def home() -> None:
    st.text("home")


def beside() -> None:
    part()
    st.text("drawn")
    asked().wait(WAIT_S)


asked()
st.navigation([st.Page(home, default=True), st.Page(beside)]).run()
