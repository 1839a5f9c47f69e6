"""A line of counts that filter: each is a toggle, and all of them read as one line of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from proofspan.ui import safe
from proofspan.ui.state import change_view, read_view


@dataclass(frozen=True, slots=True)
class Toggle:
    """One value of a filter: how many questions it leaves, and our own words for it (`title`, `help`)."""

    value: str
    count: int
    title: str
    help: str


def line(name: str, *, width: Literal["stretch", "content"] = "stretch") -> DeltaGenerator:
    """The place of one such line; the style sheet knows it by the name. As wide as its `content`, it can
    stand in another line and wraps as a whole."""
    return st.container(
        horizontal=True, vertical_alignment="center", gap="xxsmall", width=width, key=f"toggles-{name}"
    )


def show_toggles(name: str, about: str, toggles: Sequence[Toggle], chosen: Sequence[str]) -> None:
    """The toggles of the filter `name`, after a word or two on what they count."""
    safe.show(safe.text([safe.Piece(about, "muted")], role="hint"))
    for each in toggles:
        told = "*✓* " if each.value in chosen else ""  # another `type` would lose the focus
        st.button(
            f"{told}**{each.count:,}** {each.title}",
            key=f"{name}-{each.value}",
            type="tertiary",
            help=each.help,
            on_click=toggle,
            args=(name, each.value),
        )


def toggle(name: str, value: str) -> None:
    """Adds a value to the filter `name` in the URL, or takes it away."""
    chosen: tuple[str, ...] = getattr(read_view().filter, name)
    without = tuple(other for other in chosen if other != value)
    change_view(**{name: without if value in chosen else (*chosen, value)})
