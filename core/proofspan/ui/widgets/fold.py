"""Parts of a page below a line that opens them: nothing of them is computed or sent before."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from proofspan.ui.widgets import markup
from proofspan.ui.widgets.controls import feed


def fold(name: str, title: str, draw: Callable[[], None], *, is_open: bool = False) -> None:
    """Draw a line with `title`; once it is opened, the page runs again and `draw` fills it.

    `is_open`: it begins open, because the address names something inside. Its key is `fold-` and `name`; a
    visit remembers which folds are open.
    """
    key, kept = f"fold-{name}", f"unfolded:{name}"
    # It stays as it is when its title changes, and when the reader comes back to the page.
    feed(key, st.session_state.get(key, st.session_state.get(kept, is_open)))
    part = st.expander(markup.label(title), key=key, on_change="rerun")
    st.session_state[kept] = part.open
    if part.open:
        with part:
            draw()
