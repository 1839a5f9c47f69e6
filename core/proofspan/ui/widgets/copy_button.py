"""Buttons that copy a text: a citation to be pasted, the address of the very view.

A small component of our own, because the browser alone can fill the clipboard. The text is shown, at the
latest where the browser refuses, so that it can be marked by hand.
"""

from __future__ import annotations

from functools import cache

import streamlit as st
from streamlit.errors import StreamlitAPIException

from proofspan.resources import text_of
from proofspan.ui.widgets.markup import clean

_NAME = "proofspan_copying"


def show_copying(words: str, *, name: str, key: str, with_link: bool = True, shows_text: bool = True) -> None:
    """Draws a button "Copy NAME" that copies `words`, and `with_link` one that copies the page's address.

    Without `shows_text` the words stand in the button's tip, and are shown where they could not be copied.
    `name` is ours: "citation", "chunk id". Without words there is that other button alone. Where the
    component cannot be mounted, the text is there to be copied by hand.
    """
    data = {"text": clean(words), "name": name, "link": with_link, "shown": shows_text}
    try:
        _component()(key=key, data=data, width="stretch" if shows_text else "content")
    except (StreamlitAPIException, TypeError):
        st.code(clean(words), language=None, wrap_lines=True)


@cache
def _component() -> st.components.v2.types.ComponentRenderer:
    """Registered once a process; each part counts as inline because it holds line breaks."""
    html, css, js = (text_of(f"ui/widgets/copy_button.{part}") for part in ("html", "css", "js"))
    return st.components.v2.component(_NAME, html=html, css=css, js=js)
