"""Follow links inside the dashboard without a page load, so that one press of Back undoes one click.

The browser follows every link itself (`links.js`) and adds one history entry. Where only the server knows the
address, such as for a clicked point of a chart, it asks the browser to follow it.
"""

from __future__ import annotations

import secrets

import streamlit as st

from proofspan.ui.component import component

_KEY = "links"
_ASKED = "links:asked"


def follow(address: str, *, replaces: bool = False) -> None:
    """Ask the browser to open an address that `ViewState.link` made; for callbacks, before the page is drawn.

    Any other address is ignored. With `replaces`, Back does not return to the current one.
    """
    if address.startswith("./"):
        st.session_state[_ASKED] = {"to": address, "replaces": replaces, "asked": secrets.token_hex(8)}


def show_links() -> None:
    """Mount the component that follows the page's links, once a page; without it Streamlit follows them."""
    component("ui/visit/links_here", scripts=("ui/visit/links.js", "ui/visit/presses.js"))(
        key=_KEY, data=st.session_state.pop(_ASKED, None)
    )
