"""Follow links inside the dashboard without a page load, so that one press of Back undoes one click.

The browser follows every link itself (`links.js`) and adds one history entry. Where only the server knows the
address, such as for a clicked point of a chart, it asks the browser to follow it.
"""

from __future__ import annotations

import secrets
from functools import cache

import streamlit as st
from streamlit.errors import StreamlitAPIException

from proofspan.resources import text_of

_NAME = "proofspan_links"
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
    try:
        _component()(key=_KEY, data=st.session_state.pop(_ASKED, None))
    except (StreamlitAPIException, TypeError):
        return


@cache
def script(name: str) -> str:
    """Return a component's script, by its path in the package, with the function `follow` before it."""
    return "\n".join(map(text_of, ("ui/visit/links.js", name)))


@cache
def _component() -> st.components.v2.types.ComponentRenderer:
    """Registered once a process; the script counts as inline because it holds line breaks."""
    return st.components.v2.component(_NAME, js=script("ui/visit/links_here.js"))
