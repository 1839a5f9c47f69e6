"""The page viewer: one page's picture with its spans as boxes over it, that can be read, chosen and zoomed.

A small component of our own, because a highlight must lie on the page and scale with it. Its parts are files
beside this module, handed over as inline strings, so that nothing is fetched. A second component, its wire,
carries what must not make the whole page run again: that the viewer is alive, and parts of the page drawn
anew. What a browser sends is checked by `proofspan.ui.viewer.viewer`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TypeVar

import streamlit as st
from streamlit.errors import StreamlitAPIException

from proofspan.evidence.types import Picture
from proofspan.resources import text_of
from proofspan.services.page.shapes import Percent
from proofspan.services.page.zoom import snapped
from proofspan.ui.status.fragments import fragment
from proofspan.ui.viewer import page_data
from proofspan.ui.viewer.page_data import Asked, Height, ViewerPage, packed, packed_wire
from proofspan.ui.widgets.markup import clean

__all__ = ["Height", "ViewerPage", "show_page"]

T = TypeVar("T")
Detail = Callable[[Percent, int], Picture | None]

#: Scripts and styles are these files in this order.
SCRIPTS = (
    "js/wires.js",
    "js/main.js",
    "js/boxes.js",
    "js/tags.js",
    "js/layers.js",
    "js/bar.js",
    "js/zoom.js",
    "js/detail.js",
    "js/keys.js",
    "js/card.js",
)
STYLES = ("viewer.css", "viewer_bar.css")
WIRE_SCRIPTS = ("js/wires.js", "js/wire.js")

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
            page_data.watch(page, _is_alive, key=key)
    except (StreamlitAPIException, TypeError):
        page_data.show(page)


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
    return "\n".join(text_of(f"ui/viewer/{name}") for name in names)


# What a browser says of the page viewer, checked: whatever else it may send is nothing. Pure.

#: A request's name is the picture's id, four numbers and a width.
MAX_NAME = 120
MAX_WIDTH = 8_192


def turned_to(sent: object, page: ViewerPage) -> int | None:
    """The page_idx to go to: another page of the document than the shown one."""
    if not isinstance(sent, int) or isinstance(sent, bool) or sent == page.image.page.page_idx:
        return None
    return sent if 0 <= sent < (page.page_count or 0) else None


def chosen_span(sent: object, page: ViewerPage) -> str | None:
    """The id of a span: of one on the page, or of one that the order goes through."""
    if not isinstance(sent, str):
        return None
    ids = {clean(span_id): span_id for span_id in (*page.order, *(span.id for span in page.spans))}
    return ids.get(sent)


def asked_for(sent: object, page: ViewerPage) -> Asked | None:
    """A part of the very page that is shown, in percent of it, and the pixels wanted across it."""
    if not isinstance(sent, Mapping) or sent.get("id") != page.picture_id:
        return None
    name, width, region = sent.get("asked"), sent.get("width"), _region(sent.get("region"))
    if not isinstance(name, str) or len(name) > MAX_NAME or region is None:
        return None
    if not isinstance(width, int) or isinstance(width, bool) or not 1 <= width <= MAX_WIDTH:
        return None
    return Asked(clean(name), page.picture_id, region, width)


def _region(sent: object) -> Percent | None:
    """Left, top, width and height within the page."""
    if not isinstance(sent, list) or len(sent) != 4:
        return None
    if not all(isinstance(side, int | float) and not isinstance(side, bool) for side in sent):
        return None
    left, top, width, height = (float(side) for side in sent)
    if not all(map(math.isfinite, (left, top, width, height))) or width <= 0 or height <= 0:
        return None
    is_inside = left >= 0 and top >= 0 and left + width <= 100.01 and top + height <= 100.01
    return (left, top, width, height) if is_inside else None
