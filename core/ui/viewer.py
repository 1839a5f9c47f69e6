"""The page viewer: one page's picture with its spans as boxes over it, that can be read, chosen and zoomed.

A small component of our own, because a highlight must lie on the page and scale with it. Its parts are files
beside this module, handed over as inline strings, so that nothing is fetched. What it sends back is checked
by `core.ui.viewer_sent`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeVar

import streamlit as st
from streamlit.errors import StreamlitAPIException

from core.evidence.types import Picture
from core.services.places import Percent
from core.ui.viewer_page import Height, ViewerPage, packed
from core.ui.viewer_sent import chosen_span, turned_to

__all__ = ["Height", "ViewerPage", "show_page"]

T = TypeVar("T")

_NAME = "proofspan_page"
#: The script is these files in this order.
SCRIPTS = ("viewer",)


def show_page(
    page: ViewerPage,
    *,
    key: str = "page",
    height: Height = "panel",
    on_turn: Callable[[int], None],
    on_choose: Callable[[str], None],
    detail: Callable[[Percent, int], Picture | None] | None = None,
) -> None:
    """Draws the page. `on_turn` is called with another page_idx of the document, `on_choose` with the id of a
    span of the page or of `page.order`; both before the script runs again.

    `height` "stage" takes what the window leaves, and leaves the left and right keys to its page. `detail`
    draws a part of the page anew: a region in percent and the wanted width in pixels. Where the component
    cannot be mounted, the bare picture is shown.
    """
    try:
        _component()(
            key=key,
            data=packed(page, key=key, height=height),
            on_turn_change=lambda: _tell(turned_to(_sent(key, "turn"), page), on_turn),
            on_choose_change=lambda: _tell(chosen_span(_sent(key, "choose"), page), on_choose),
        )
    except (StreamlitAPIException, TypeError):
        st.caption("The page viewer could not start; this is the page without its highlights.")
        is_png = page.image.mime == "image/png"
        st.image(page.image.data, output_format="PNG" if is_png else "JPEG", width="stretch")


def _sent(key: str, event: str) -> object:
    return st.session_state[key].get(event)


def _tell(value: T | None, listener: Callable[[T], None]) -> None:
    """Calls the listener with what the browser sent, if that is something."""
    if value is not None:
        listener(value)


@cache
def _component() -> st.components.v2.types.ComponentRenderer:
    """Registered once a process; each part counts as inline because it holds line breaks."""
    js = "\n".join(_read(f"{name}.js") for name in SCRIPTS)
    return st.components.v2.component(_NAME, html=_read("viewer.html"), css=_read("viewer.css"), js=js)


def _read(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
