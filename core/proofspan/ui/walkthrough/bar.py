"""The bar of the Walkthrough: what is shown, the way to the next bundle, presenting; by buttons and by keys.

A small component of our own, because keys are to work wherever the focus is, and the full screen is granted
to the very press. Its parts are files beside this module, handed over as inline strings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import TypeGuard

import orjson
import streamlit as st
from streamlit.errors import StreamlitAPIException

from proofspan.resources import text_of
from proofspan.ui.widgets.markup import clean

_NAME = "proofspan_walk_bar"
KEY = "walk-bar"
#: Numbers that a browser can count to; what is beyond was not sent by the bar.
_MOST = 2**53


@dataclass(frozen=True, slots=True)
class Bar:
    """What the bar shows: the 0-based `position` of `total` (-1: not in the list), document and place in
    words, and what a screen reader says; `cites` can be chosen, `cite` is. `present`: somebody presents.
    """

    position: int
    total: int
    cites: tuple[int, ...]
    cite: int | None
    present: bool
    document: str
    place: str
    said: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """What somebody wants to see; `presses` counts, so that the browser knows what has been answered."""

    to: int
    cite: int | None
    present: bool
    presses: int


def show_bar(bar: Bar, *, on_act: Callable[[Wanted], None]) -> None:
    """Draws the bar. `on_act` is called before the script runs again. Where it cannot be mounted, the place
    is told, and the list is left to Triage."""
    told = {name: clean(getattr(bar, name)) for name in ("document", "place", "said")}
    data = {**asdict(bar), **told, "presses": _presses()}
    try:
        _component()(key=KEY, data=orjson.dumps(data), on_act_change=lambda: _acted(bar, on_act))
    except (StreamlitAPIException, TypeError):
        st.caption("The keys could not start; choose the next question in Triage.")


def wanted_from(sent: object, total: int) -> Wanted | None:
    """What the browser sent, if it is something that a bar over `total` bundles can send."""
    if not isinstance(sent, Mapping):
        return None
    to, cite, present, presses = (sent.get(name) for name in ("to", "cite", "present", "presses"))
    if not isinstance(present, bool) or (cite is not None and not _is_count(cite, 1)):
        return None
    if not _is_count(to, -1) or not _is_count(presses, 0) or to >= total:
        return None
    return Wanted(to, cite, present, presses)


def _is_count(value: object, least: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < _MOST


def _acted(bar: Bar, on_act: Callable[[Wanted], None]) -> None:
    wanted = wanted_from(st.session_state[KEY].get("act"), bar.total)
    if wanted is not None:
        st.session_state["walk-presses"] = wanted.presses
        on_act(wanted)


def _presses() -> int:
    return int(st.session_state.get("walk-presses", 0))


@cache
def _component() -> st.components.v2.types.ComponentRenderer:
    """Registered once a process; each part counts as inline because it holds line breaks."""
    html, css, js = (text_of(f"ui/walkthrough/bar.{part}") for part in ("html", "css", "js"))
    return st.components.v2.component(_NAME, html=html, css=css, js=js)
