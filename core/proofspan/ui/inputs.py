"""Widgets that show what the URL says."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from proofspan.ui import safe


def feed(key: str, value: object) -> None:
    """Gives a widget the URL's value. Set only where it differs, so that typing is never overwritten."""
    if st.session_state.get(key) != value:
        st.session_state[key] = value


def search_field(
    words: str,
    *,
    key: str,
    value: str,
    placeholder: str,
    width: int,
    on_change: Callable[..., None],
    args: tuple[str, ...] = (),
) -> None:
    """A field that searches while somebody types; `value` is what the URL searches for."""
    feed(key, value)
    st.text_input(
        safe.label(words),
        key=key,
        icon=":material/search:",
        placeholder=placeholder,
        label_visibility="collapsed",
        live="300ms",
        width=width,
        on_change=on_change,
        args=args,
    )
