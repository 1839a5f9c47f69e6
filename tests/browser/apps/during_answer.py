"""A page whose script answers a press, in a run that lasts until the server knows of the next press."""

from __future__ import annotations

import time

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from proofspan.ui.status.fragments import correct_fragment_requests

WAIT_S = 60

correct_fragment_requests()
st.text(st.session_state.get("kept", "nothing"))
st.text(f"counted {st.session_state.get('counted', 0)}")
if st.button("Keep"):
    context = get_script_run_ctx()
    assert context is not None
    assert context.script_requests is not None
    until = time.monotonic() + WAIT_S
    while context.script_requests._state.name != "RERUN" and time.monotonic() < until:
        time.sleep(0.01)
    st.text("keeping")
    st.session_state["kept"] = "kept"
    st.rerun()
    st.session_state["kept"] = "went on after its end"
if st.button("Count"):
    st.session_state["counted"] = st.session_state.get("counted", 0) + 1
    st.rerun()
