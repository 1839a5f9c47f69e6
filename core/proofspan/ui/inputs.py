"""Widgets that show what the URL says."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from proofspan.ui import safe

T = TypeVar("T")


def feed(key: str, value: object) -> None:
    """Give a widget of one value the URL's, in every run.

    The browser may draw it first when a second run has replaced what the first one sent. Without a value it
    would then begin with the widget's default, and report that as somebody's choice.
    """
    st.session_state[key] = value


def begin(key: str, value: T) -> T | None:
    """Give a widget that somebody may be typing or picking in the URL's value, and return its default.

    What is in the field is overwritten only where it differs; else the default is that value (see `feed`).
    """
    if st.session_state.get(key) == value:
        return value
    st.session_state[key] = value
    return None


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
    st.text_input(
        safe.label(words),
        begin(key, value) or "",
        key=key,
        icon=":material/search:",
        placeholder=placeholder,
        label_visibility="collapsed",
        live="300ms",
        width=width,
        on_change=on_change,
        args=args,
    )
