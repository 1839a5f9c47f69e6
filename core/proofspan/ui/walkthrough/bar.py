"""The bar of the Walkthrough: what is shown, the slides, and buttons and keys that lead to the others.

A component of our own, because keys have to work wherever the focus is, and the browser grants the full
screen only to the key press itself. It also sends what is shown to the window of the speaker's notes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TypeGuard

import orjson
import streamlit as st

from proofspan.ui.component import component
from proofspan.ui.widgets.markup import clean

KEY = "walk-bar"
#: More slides than this have a slider in place of dots.
MOST_DOTS = 14
#: The largest whole number that JavaScript counts exactly.
_MAX = 2**53


@dataclass(frozen=True, slots=True)
class Bar:
    """The content of the bar: the 0-based `slide` of `total` (-1: not in the list), the names of document and
    place with a tip, and the `spoken` text for screen readers.

    Of the citations `cites`, `cite` is chosen. `titles` name the slides, empty where there are too many.
    `speaker` are the texts of the speaker's notes by name.
    """

    slide: int
    total: int
    cites: tuple[int, ...] = ()
    cite: int | None = None
    present: bool = False
    document: str = ""
    place: str = ""
    tip: str = ""
    spoken: str = ""
    titles: tuple[str, ...] = ()
    speaker: Mapping[str, str] = field(default_factory=dict)


def show_bar(bar: Bar, *, on_act: Callable[[int, int | None, bool], None]) -> None:
    """Draw the bar. `on_act` is called before the script runs again, with what was requested.

    That is another slide, a citation, and whether the page is presented.
    """
    texts = {name: clean(getattr(bar, name)) for name in ("document", "place", "tip", "spoken")}
    titles = [clean(title) for title in bar.titles]
    speaker = {name: clean(text) for name, text in bar.speaker.items()}
    # Counted, so that the browser knows which press was answered.
    presses = int(st.session_state.get("walk-presses", 0))

    def acted() -> None:
        action = action_from(st.session_state[KEY].get("act"), bar.total)
        if action is not None:
            to, cite, present, st.session_state["walk-presses"] = action
            on_act(to, cite, present)

    data = {**asdict(bar), **texts, "titles": titles, "speaker": speaker, "presses": presses}
    component("ui/walkthrough/bar")(key=KEY, data=orjson.dumps(data), on_act_change=acted)


def action_from(sent: object, total: int) -> tuple[int, int | None, bool, int] | None:
    """Return slide, citation, presenting and presses, if a bar over `total` slides can send them."""
    if not isinstance(sent, Mapping):
        return None
    to, cite, present, presses = (sent.get(name) for name in ("to", "cite", "present", "presses"))
    if not isinstance(present, bool) or (cite is not None and not is_count(cite, 1)):
        return None
    if not is_count(to, -1) or not is_count(presses, 0) or to >= total:
        return None
    return to, cite, present, presses


def is_count(value: object, least: int) -> TypeGuard[int]:
    """Return whether a value that a browser sent is a whole number from `least` on."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < _MAX
