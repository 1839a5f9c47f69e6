"""A page whose script answers a press, in a run that lasts until the server knows of the next press."""

from __future__ import annotations

import streamlit as st

from proofspan.ui.status.fragments import correct_fragment_requests
from tests.browser.apps.next_press import wait_for_next_press

correct_fragment_requests()
st.text(st.session_state.get("kept", "nothing"))
st.text(f"counted {st.session_state.get('counted', 0)}")
if st.button("Keep"):
    wait_for_next_press()
    st.text("keeping")
    st.session_state["kept"] = "kept"
    st.rerun()
    st.session_state["kept"] = "went on after its end"
if st.button("Count"):
    st.session_state["counted"] = st.session_state.get("counted", 0) + 1
    st.rerun()
