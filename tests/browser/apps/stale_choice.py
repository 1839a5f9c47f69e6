"""A choice that shows what the address says, beside links to another address, a button and a box."""

from __future__ import annotations

import streamlit as st

from proofspan.ui.visit.links import show_links
from proofspan.ui.visit.stale_values import correct_stale_values
from proofspan.ui.widgets.controls import select

RUNS = {name: name for name in ("one", "two")}


def choose(run: str) -> None:
    """Write the choice to the address."""
    st.query_params["run"] = run


def page() -> None:
    shown = st.query_params.get("run", "one")
    select("Run", RUNS, shown, key="run", on_choose=choose)
    st.text(f"run {shown}")
    st.text(f"question {st.query_params.get('q', 'none')}")
    st.page_link(only, label="Two", query_params={"run": "two"})
    st.page_link(only, label="Its question", query_params={"run": "two", "q": "1"})
    if st.checkbox("Mark", on_change=lambda: None):
        st.text("marked")
    if st.button("Count"):
        st.text("counted")


correct_stale_values()
only = st.Page(page)
show_links()
st.navigation([only]).run()
