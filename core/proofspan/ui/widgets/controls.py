"""Widgets that show what the URL says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from proofspan.store.files.types import Neighbours
from proofspan.ui.keys import NEXT, PREVIOUS
from proofspan.ui.visit.view_state import ViewState, change_view, question_name
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.markup import Piece

T = TypeVar("T")


def feed(key: str, value: object) -> None:
    """Give a widget of one value the URL's, in every run.

    The browser may draw it first when a second run has replaced what the first one sent. Without a value it
    would begin with the widget's default, and report that as a choice.
    """
    st.session_state[key] = value


def begin(key: str, value: T) -> T | None:
    """Give a widget that somebody may be typing in the URL's value, and return its default.

    The field is overwritten only where it differs; else the default is that value (see `feed`).
    """
    if st.session_state.get(key) == value:
        return value
    st.session_state[key] = value
    return None


def search_field(
    words: str, *, key: str, value: str, placeholder: str, width: int, on_search: Callable[[str], None]
) -> None:
    """Draw a field that searches while somebody types; `value` is what the URL searches for."""
    st.text_input(
        markup.label(words),
        begin(key, value) or "",
        key=key,
        icon=":material/search:",
        placeholder=placeholder,
        label_visibility="collapsed",
        live="300ms",
        width=width,
        on_change=lambda: on_search(st.session_state[key]),
    )


def select(
    words: str,
    names: Mapping[Any, str],
    chosen: object,
    *,
    key: str,
    on_choose: Callable[[Any], None],
    width: int | Literal["stretch"] = "stretch",
    placeholder: str = "",
    is_clearable: bool = False,
    shows_words: bool = False,
) -> None:
    """Draw a choice of one of `names`, which gives each value its text; `chosen` is what the URL says.

    `on_choose` gets the new value: None where it `is_clearable` and was cleared.
    """
    feed(key, chosen)
    st.selectbox(
        markup.label(words),
        list(names),
        key=key,
        index=None if is_clearable else 0,
        format_func=lambda value: markup.clean(names.get(value) or str(value)),
        placeholder=placeholder or None,
        label_visibility="visible" if shows_words else "collapsed",
        width=width,
        on_change=lambda: on_choose(st.session_state[key]),
    )


def segments(
    words: str, names: Mapping[Any, str], chosen: object, *, key: str, on_choose: Callable[[Any], None]
) -> None:
    """Draw a choice of exactly one of a few `names`, side by side; `chosen` is what the URL says."""
    feed(key, chosen)
    st.segmented_control(
        markup.label(words),
        list(names),
        required=True,
        format_func=lambda name: names[name],
        label_visibility="collapsed",
        key=key,
        on_change=lambda: on_choose(st.session_state[key]),
    )


def line(name: str, *, width: markup.Width = "stretch") -> DeltaGenerator:
    """Return the container of a line of toggles, named for the stylesheet. With the width of its content it
    wraps as a whole inside another line.
    """
    return st.container(
        horizontal=True, vertical_alignment="center", gap="xxsmall", width=width, key=f"toggles-{name}"
    )


def toggle_button(
    title: str, *, key: str, help: str, is_on: bool, on_click: Callable[[], None], disabled: bool = False
) -> None:
    """Draw a button with a tick while it is on; another `type` would lose the focus."""
    mark = "*✓* " if is_on else ""
    st.button(f"{mark}{title}", key=key, type="tertiary", help=help, on_click=on_click, disabled=disabled)


def show_steps(beside: Neighbours, what: str, *, walk: ViewState | None = None) -> None:
    """Draw the question's position in its list, `3 of 20 shown`, and the links to its neighbours.

    `what` is what the list holds, `walk` the Walkthrough of the list.
    """
    listed = f"{beside.total:,} {what}"
    position = f"{beside.position:,} of {listed}" if beside.position else f"not among the {listed}"
    with st.container(
        horizontal=True, vertical_alignment="center", wrap=False, width="content", gap="small", key="steps"
    ):
        markup.note(position, "muted", width="content")
        if walk is not None:
            st.page_link(
                "pages/walkthrough.py",
                label="Walk through",
                query_params=walk.params(),
                width="content",
                help="This list one question at a time, large: for a demo",
            )
        for title, key, to in (("← Previous", PREVIOUS, beside.previous), ("Next →", NEXT, beside.next)):
            place: dict[str, Any] = {"cite": None, "chunk": None, "page": None}
            if to is not None:
                place |= {"q": question_name(to.q_id, to.repeat), "p": to.paraphrase, "s": to.seed}
            st.button(
                title,
                key=f"step-{key}",
                shortcut=key,
                disabled=to is None,
                on_click=change_view,
                kwargs=place,
            )


@contextmanager
def panel(
    name: str, title: str, about: str | Sequence[Piece], *, term: str = "", also: Iterable[str] = ()
) -> Iterator[None]:
    """Draw a box with a title, which `term` explains, and a sentence; its figure uses the terms `also`."""
    with st.container(border=True, key=f"figure-{name}"):
        markup.show(
            markup.text([Piece(title, "h2", term=term)], role="line"),
            markup.text([Piece(about, "muted")] if isinstance(about, str) else about, role="hint"),
            markup.also(also),
        )
        yield
