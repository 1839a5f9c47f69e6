"""A page that is asked for just as its fragment ends: too late to stop it, too early for another thread."""

from __future__ import annotations

import threading
from typing import Any

import streamlit as st
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import ScriptRunner, ScriptRunnerEvent

from proofspan.ui.status.fragments import fragment

WAIT_S = 60


@st.cache_resource
def asked() -> threading.Event:
    """Set once the whole page was asked for; until then no fragment's run is over."""
    event = threading.Event()
    request_now = AppSession.request_rerun
    finish_now = ScriptRunner._on_script_finished

    def request_rerun(session: AppSession, client_state: ClientState | None) -> None:
        request_now(session, client_state)
        if client_state is not None and not client_state.fragment_id:
            event.set()

    def finish(runner: ScriptRunner, context: Any, what: ScriptRunnerEvent, *args: Any) -> None:
        if what == ScriptRunnerEvent.FRAGMENT_STOPPED_WITH_SUCCESS:
            event.wait(WAIT_S)
        finish_now(runner, context, what, *args)

    AppSession.request_rerun = request_rerun  # type: ignore[method-assign]
    ScriptRunner._on_script_finished = finish  # type: ignore[method-assign, assignment]
    return event


@fragment(place="part")
def part() -> None:
    if st.button("Part"):
        asked().clear()
        st.text("waiting")


asked()
st.text("whole page")
part()
if st.button("Count"):
    st.text("counted")
