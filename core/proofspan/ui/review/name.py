"""The field for a person's name, wherever something is written for the first time."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from proofspan.ui.visit.author import MAX_NAME, author, remember_author
from proofspan.ui.widgets.controls import begin


def ask_author(key: str, placeholder: str, on_named: Callable[[], object] | None = None) -> None:
    """Draw the field for the name, and call `on_named` once there is one. `placeholder` says its purpose."""

    def name_it() -> None:
        remember_author(st.session_state[key])
        if author() and on_named is not None:
            on_named()

    given = begin(key, author()) or ""
    st.text_input("Your name", given, key=key, max_chars=MAX_NAME, placeholder=placeholder, on_change=name_it)
