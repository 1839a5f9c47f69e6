"""The box that a figure or a table stands in, with a title and the sentence that says what it shows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from proofspan.ui import safe
from proofspan.ui.safe import Piece


@contextmanager
def panel(name: str, title: str, about: str) -> Iterator[None]:
    """A box with a title and the sentence that says what it shows."""
    with st.container(border=True, key=f"figure-{name}"):
        safe.show(
            safe.text([Piece(title, "strong")], role="line"), safe.text([Piece(about, "muted")], role="hint")
        )
        yield
