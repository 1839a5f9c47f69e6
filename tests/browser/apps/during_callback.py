"""A page whose press is answered by a callback that runs until the server knows of the next press."""

from __future__ import annotations

import time

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from proofspan.ui.status.fragments import correct_fragment_requests

WAIT_S = 60


def choose() -> None:
    """Wait for another request of the page, then write the address and keep the choice."""
    context = get_script_run_ctx()
    assert context is not None
    assert context.script_requests is not None
    until = time.monotonic() + WAIT_S
    while context.script_requests._state.name != "RERUN" and time.monotonic() < until:
        time.sleep(0.01)
    st.query_params["chosen"] = "yes"
    st.session_state["kept"] = "kept"


correct_fragment_requests()
st.text(st.session_state.get("kept", "nothing"))
st.button("Choose", on_click=choose)
st.button("Count")
