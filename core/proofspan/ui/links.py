"""Following a link of ours inside the dashboard: the visit goes on, and Back leads to where it came from.

The browser follows every link itself (`links.js`), so that its history gets one entry for each. What only the
server knows, such as the point of a chart that was clicked, it asks the browser to follow.
"""

from __future__ import annotations

import secrets
from functools import cache
from pathlib import Path

import streamlit as st
from streamlit.errors import StreamlitAPIException

_NAME = "proofspan_links"
_KEY = "links"
_ASKED = "links:asked"


def follow(address: str, *, replaces: bool = False) -> None:
    """Ask the browser to show what an address as `ViewState.link` makes it names, in this run.

    What is no address of this dashboard is left alone. `replaces`: Back does not come here again.
    """
    if address.startswith("./"):
        st.session_state[_ASKED] = {"to": address, "replaces": replaces, "asked": secrets.token_hex(8)}


def show_links() -> None:
    """Mount what follows the page's links, once a page; without it they are Streamlit's own."""
    try:
        _component()(key=_KEY, data=st.session_state.pop(_ASKED, None))
    except (StreamlitAPIException, TypeError):
        return


@cache
def script(name: str) -> str:
    """Return a component's script of ours, with the function `follow` before it."""
    return "\n".join(
        Path(__file__).with_name(part).read_text(encoding="utf-8") for part in ("links.js", name)
    )


@cache
def _component() -> st.components.v2.types.ComponentRenderer:
    """Registered once a process; the script counts as inline because it holds line breaks."""
    return st.components.v2.component(_NAME, js=script("links_here.js"))
