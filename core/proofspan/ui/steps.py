"""The way from one question of a list to the next, by buttons and keys, the same wherever one is shown."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from proofspan.ui import safe
from proofspan.ui.safe import Piece
from proofspan.ui.state import ViewState, change_view


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The previous or next question of the list: its place in the URL."""

    q: str
    p: int = 0
    s: int = 0


def show_steps(
    position: str,
    *,
    previous: Neighbour | None,
    following: Neighbour | None,
    walk: ViewState | None = None,
) -> None:
    """Where the question stands in the list, and the way on; `walk` is what Walkthrough would show."""
    with st.container(
        horizontal=True, vertical_alignment="center", wrap=False, width="content", gap="small", key="steps"
    ):
        safe.show(safe.text([Piece(position, "muted")], role="hint"), width="content")
        if walk is not None:
            st.page_link(
                "pages/walkthrough.py",
                label="Walk through",
                query_params=walk.params(),
                width="content",
                help="This list one question at a time, large: for a demo",
            )
        _step("← Previous", "K", previous)
        _step("Next →", "J", following)


def _step(words: str, key: str, to: Neighbour | None) -> None:
    place = {"q": to.q, "p": to.p, "s": to.s} if to else {}
    st.button(
        safe.label(words),
        key=f"step-{key}",
        shortcut=key,
        disabled=to is None,
        on_click=change_view,
        kwargs={**place, "cite": None, "chunk": None, "page": None},
    )
