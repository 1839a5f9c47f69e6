"""The bar of the Walkthrough: what is shown, and buttons and keys for the next bundle and for presenting.

A component of our own, because keys have to work wherever the focus is, and the browser grants the full
screen only to the key press itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import TypeGuard

import orjson
import streamlit as st

from proofspan.resources import text_of
from proofspan.ui.widgets.markup import clean

KEY = "walk-bar"
#: The largest whole number that JavaScript counts exactly.
_MAX = 2**53


@dataclass(frozen=True, slots=True)
class Bar:
    """The content of the bar: the 0-based `position` of `total` (-1: not in the list), the names of document
    and place, and the `spoken` text for screen readers. Of the citations `cites`, `cite` is chosen."""

    position: int
    total: int
    cites: tuple[int, ...]
    cite: int | None
    present: bool
    document: str
    place: str
    spoken: str


@dataclass(frozen=True, slots=True)
class Action:
    """A request of the user; `presses` counts, so that the browser knows which press was answered."""

    to: int
    cite: int | None
    present: bool
    presses: int


def show_bar(bar: Bar, *, on_act: Callable[[Action], None]) -> None:
    """Draw the bar. `on_act` is called before the script runs again."""
    texts = {name: clean(getattr(bar, name)) for name in ("document", "place", "spoken")}
    presses = int(st.session_state.get("walk-presses", 0))

    def acted() -> None:
        action = action_from(st.session_state[KEY].get("act"), bar.total)
        if action is not None:
            st.session_state["walk-presses"] = action.presses
            on_act(action)

    data = orjson.dumps({**asdict(bar), **texts, "presses": presses})
    _component()(key=KEY, data=data, on_act_change=acted)


def action_from(sent: object, total: int) -> Action | None:
    """Return what the browser sent, if it is something that a bar over `total` bundles can send."""
    if not isinstance(sent, Mapping):
        return None
    to, cite, present, presses = (sent.get(name) for name in ("to", "cite", "present", "presses"))
    if not isinstance(present, bool) or (cite is not None and not _is_count(cite, 1)):
        return None
    if not _is_count(to, -1) or not _is_count(presses, 0) or to >= total:
        return None
    return Action(to, cite, present, presses)


def _is_count(value: object, least: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < _MAX


@cache
def _component() -> st.components.v2.types.ComponentRenderer:
    html, css, js = (text_of(f"ui/walkthrough/bar.{part}") for part in ("html", "css", "js"))
    return st.components.v2.component("proofspan_walk_bar", html=html, css=css, js=js)
