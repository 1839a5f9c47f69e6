"""Widgets that show what the URL says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from proofspan.ui.visit.view_state import ViewState, change_view, read_view
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.markup import Piece

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
        markup.label(words),
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


# A line of counts that filter: each is a toggle, and all of them read as one line of words.


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
    markup.show(markup.text([markup.Piece(about, "muted")], role="hint"))
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


# The way from one question of a list to the next, by buttons and keys, the same wherever one is shown.


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
        markup.show(markup.text([Piece(position, "muted")], role="hint"), width="content")
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
        markup.label(words),
        key=f"step-{key}",
        shortcut=key,
        disabled=to is None,
        on_click=change_view,
        kwargs={**place, "cite": None, "chunk": None, "page": None},
    )


# The box that a figure or a table stands in, with a title and the sentence that says what it shows.


@contextmanager
def panel(name: str, title: str, about: str) -> Iterator[None]:
    """A box with a title and the sentence that says what it shows."""
    with st.container(border=True, key=f"figure-{name}"):
        markup.show(
            markup.text([Piece(title, "strong")], role="line"),
            markup.text([Piece(about, "muted")], role="hint"),
        )
        yield
