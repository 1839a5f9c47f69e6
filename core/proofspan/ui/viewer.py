"""The page viewer: one page's picture with its spans as boxes over it, that can be read, chosen and zoomed.

A small component of our own, because a highlight must lie on the page and scale with it. Its parts are files
beside this module, handed over as inline strings, so that nothing is fetched. A second component, its wire,
carries what must not make the whole page run again: that the viewer is alive, and parts of the page drawn
anew. What a browser sends is checked by `proofspan.ui.viewer_sent`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TypeVar

import streamlit as st
from streamlit.errors import StreamlitAPIException

from proofspan.evidence.types import Picture
from proofspan.services.details import snapped
from proofspan.services.places import Percent
from proofspan.ui import still_page
from proofspan.ui.fragments import fragment
from proofspan.ui.viewer_page import Asked, Height, ViewerPage, packed, packed_wire
from proofspan.ui.viewer_sent import MAX_WIDTH, asked_for, chosen_span, turned_to

__all__ = ["Height", "ViewerPage", "show_page"]

T = TypeVar("T")
Detail = Callable[[Percent, int], Picture | None]

#: Scripts and styles are these files in this order.
SCRIPTS = (
    "viewer_wires.js",
    "viewer_main.js",
    "viewer_boxes.js",
    "viewer_tags.js",
    "viewer_layers.js",
    "viewer_bar.js",
    "viewer_zoom.js",
    "viewer_detail.js",
    "viewer_keys.js",
    "viewer_card.js",
)
STYLES = ("viewer.css", "viewer_bar.css")
WIRE_SCRIPTS = ("viewer_wires.js", "viewer_wire.js")

#: Whether the viewer's script was heard of in this session.
ALIVE = "viewer:alive"


def show_page(
    page: ViewerPage,
    *,
    key: str = "page",
    height: Height = "panel",
    on_turn: Callable[[int], None],
    on_choose: Callable[[str], None],
    detail: Detail | None = None,
) -> None:
    """Draws the page. `on_turn` is called with another page_idx of the document, `on_choose` with the id of a
    span of the page or of `page.order`; both before the script runs again.

    `height` "stage" takes what the window leaves, and leaves the left and right keys to its page. `detail`
    draws a part of the page anew: a region in percent and the wanted width in pixels. Where the component
    cannot be mounted, or the browser does not start it, a still picture with the same boxes stands there.
    """
    try:
        _viewer()(
            key=key,
            data=packed(page, key=key, height=height, with_picture=_is_picture_wanted(page, key)),
            on_turn_change=lambda: _tell(turned_to(_sent(key, "turn"), page), on_turn),
            on_choose_change=lambda: _tell(chosen_span(_sent(key, "choose"), page), on_choose),
            on_lost_change=lambda: st.session_state.pop(_sent_key(key), None),
        )
        fragment(place=f"viewer-beside-{key}")(_wire_beside)(page, key, detail)
        if not _is_alive():
            still_page.watch(page, _is_alive, key=key)
    except (StreamlitAPIException, TypeError):
        still_page.show(page)


def _is_picture_wanted(page: ViewerPage, key: str) -> bool:
    """Whether the picture has to be sent: a viewer that was there in the last run has the one sent last.

    One that lost it all the same asks for it.
    """
    last = st.session_state.get(_sent_key(key)) if key in st.session_state else None
    st.session_state[_sent_key(key)] = page.picture_id
    return last != page.picture_id


def _sent_key(key: str) -> str:
    return f"sent:{key}"


def _wire_beside(page: ViewerPage, key: str, detail: Detail | None) -> None:
    """The wire: what the viewer asks for besides another page or span, and the answer."""
    wire = f"{key}-wire"
    asked: Asked | None = st.session_state.pop(f"asked:{key}", None)
    picture = detail(asked.region, asked.width) if asked and detail else None
    with st.container(key=f"viewer-wire-{key}"):
        _wire()(
            key=wire,
            data=packed_wire(key=key, is_alive_known=_is_alive(), asked=asked, picture=picture),
            on_ask_change=lambda: _tell(asked_for(_sent(wire, "ask"), page), lambda ask: _note(key, ask)),
            on_alive_change=_heard,
        )


def _note(key: str, asked: Asked) -> None:
    """Keeps a request until the wire is drawn, as fine as asked, on the grid of remembered details."""
    region = snapped(asked.region)
    width = min(MAX_WIDTH, math.ceil(asked.width * region[2] / asked.region[2]))
    st.session_state[f"asked:{key}"] = replace(asked, region=region, width=width)


def _is_alive() -> bool:
    return ALIVE in st.session_state


def _heard() -> None:
    st.session_state[ALIVE] = True


def _sent(key: str, event: str) -> object:
    return st.session_state[key].get(event)


def _tell(value: T | None, listener: Callable[[T], None]) -> None:
    """Calls the listener with what the browser sent, if that is something."""
    if value is not None:
        listener(value)


@cache
def _viewer() -> st.components.v2.types.ComponentRenderer:
    """Registered once a process; each part counts as inline because it holds line breaks."""
    html, css, js = _joined(["viewer.html"]), _joined(STYLES), _joined(SCRIPTS)
    return st.components.v2.component("proofspan_page", html=html, css=css, js=js)


@cache
def _wire() -> st.components.v2.types.ComponentRenderer:
    js = _joined(WIRE_SCRIPTS)
    return st.components.v2.component("proofspan_wire", html="<span hidden></span>\n", js=js)


def _joined(names: Sequence[str]) -> str:
    return "\n".join(Path(__file__).with_name(name).read_text(encoding="utf-8") for name in names)
