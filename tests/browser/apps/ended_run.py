"""A page whose fragment is asked for while the page runs, by a server that is late.

The server reads that request when the run has ended, and before it has sent what the run drew.
"""

from __future__ import annotations

import threading
import time

import streamlit as st
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType

from proofspan.ui.status.fragments import fragment

WAIT_S = 60


@st.cache_resource
def late_server() -> threading.Event:
    """Make every fragment's request wait for the end of the run; the event is set while one waits."""
    waits = threading.Event()
    request_now = AppSession.request_rerun

    def request_rerun(session: AppSession, client_state: ClientState | None) -> None:
        runner = session._scriptrunner
        if client_state is not None and client_state.fragment_id and runner is not None:
            waits.set()
            deadline = time.monotonic() + WAIT_S
            while runner._requests._state != ScriptRequestType.STOP and time.monotonic() < deadline:
                time.sleep(0.001)
        request_now(session, client_state)

    AppSession.request_rerun = request_rerun  # type: ignore[method-assign]
    return waits


@fragment()
def part() -> None:
    st.button("Part")


waits = late_server()
waits.clear()
part()
if st.button("Count"):
    st.text("counting")
    waits.wait(WAIT_S)
    st.text("counted")
