"""A page whose press is answered by a callback that runs until the server knows of the next press."""

from __future__ import annotations

import streamlit as st

from proofspan.ui.status.fragments import correct_fragment_requests
from tests.browser.apps.next_press import wait_for_next_press


def choose() -> None:
    """Wait for another request of the page, then write the address and keep the choice."""
    wait_for_next_press()
    st.query_params["chosen"] = "yes"
    st.session_state["kept"] = "kept"


correct_fragment_requests()
st.text(st.session_state.get("kept", "nothing"))
st.button("Choose", on_click=choose)
st.button("Count")
