"""Parts of a page below a line that opens them: nothing of them is computed or sent before."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from proofspan.ui.widgets import markup
from proofspan.ui.widgets.controls import feed


def fold(name: str, title: str, draw: Callable[[], None], *, is_open: bool = False) -> None:
    """Draw a line with `title`; once it is opened, the page runs again and `draw` fills it.

    `is_open`: it begins open, because the address names something inside. Its key is `fold-` and `name`.
    """
    key = f"fold-{name}"
    feed(key, st.session_state.get(key, is_open))  # it stays open when its title changes
    part = st.expander(markup.label(title), key=key, on_change="rerun")
    if part.open:
        with part:
            draw()
