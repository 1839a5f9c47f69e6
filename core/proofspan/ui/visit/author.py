"""The name under which this browser writes: asked for once, and kept by the browser."""

from __future__ import annotations

import streamlit as st

from proofspan.ui.component import component

#: Characters of a name.
MAX_NAME = 100
_AUTHOR, _KEEPER = "author", "kept-author"


def author() -> str:
    """Return the name under which this visit writes, "" before it was given."""
    return str(st.session_state.get(_AUTHOR, ""))


def remember_author(name: str) -> None:
    """Write under this name from now on; an empty one changes nothing."""
    if words := " ".join(name.split()):
        st.session_state[_AUTHOR] = words


def keep_author() -> None:
    """Draw what keeps the name in the browser, and gives it back to a later visit. It is not visible."""

    def give_back() -> None:
        sent = st.session_state[_KEEPER].get("name")  # the browser may send anything
        if not author() and isinstance(sent, str) and len(sent) <= MAX_NAME:
            remember_author(sent)

    data = {"name": author(), "most": MAX_NAME}
    component("ui/visit/author")(key=_KEEPER, data=data, on_name_change=give_back, height=0)
