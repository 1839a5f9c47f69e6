"""The page viewer: one page's picture with its spans as boxes over it.

A small component of our own, because a highlight must lie on the page and scale with it. Its three parts are
files beside this module, handed over as inline strings, so that nothing is fetched. The data is one byte
string (see `packed`): bytes reach the browser as they are, JSON would carry a picture as base64.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import orjson
import streamlit as st
from streamlit.errors import StreamlitAPIException

from core.evidence.types import PageImage
from core.services.places import PageSpan
from core.ui.safe import clean

_NAME = "proofspan_page"
_TURNS = {"previous": -1, "next": 1}


def show_page(
    image: PageImage,
    spans: Sequence[PageSpan],
    *,
    alt: str,
    focus: str,
    key: str = "page",
    on_turn: Callable[[int], None] = lambda by: None,
) -> None:
    """Draws the page. `alt` describes the picture in words; the arrow keys call `on_turn` with -1 or 1.

    When `focus` differs from the last call's, the chosen span (else the first cited one) is scrolled into
    view inside the viewer's own frame. Where the component cannot be mounted, the bare picture is shown.
    """
    try:
        _mount(
            key=key,
            data=packed(image, spans, alt=alt, focus=focus),
            on_turn_change=lambda: _turned(key, on_turn),
        )
    except (StreamlitAPIException, TypeError):
        st.caption("The page viewer could not start; this is the page without its highlights.")
        st.image(image.png, output_format="PNG", width="stretch")


def packed(image: PageImage, spans: Sequence[PageSpan], *, alt: str, focus: str) -> bytes:
    """The header's length (4 bytes, big endian), the header as JSON, the PNG.

    `id` is the picture's hash: while it stays the same the browser keeps the picture that it has.
    """
    header = orjson.dumps(
        {
            "id": hashlib.sha1(image.png, usedforsecurity=False).hexdigest(),
            "width": image.width,
            "height": image.height,
            "alt": clean(alt),
            "focus": clean(focus),
            "spans": [_span(span) for span in spans],
        }
    )
    return struct.pack(">I", len(header)) + header + image.png


def _span(span: PageSpan) -> dict[str, object]:
    return {
        "id": clean(span.id),
        "layer": span.layer,
        "tags": [(layer, clean(tag)) for layer, tag in span.tags],
        "rects": span.rects,
        "chosen": span.chosen,
        "verified": span.is_verified,
    }


def _turned(key: str, on_turn: Callable[[int], None]) -> None:
    """Tells of an arrow key; what else a browser may send is none."""
    by = _TURNS.get(str(st.session_state[key].get("turn")))
    if by is not None:
        on_turn(by)


def _mount(*, key: str, data: bytes, on_turn_change: Callable[[], None]) -> None:
    _component()(key=key, data=data, on_turn_change=on_turn_change)


@cache
def _component() -> st.components.v2.types.ComponentRenderer:
    """Registered once a process; each part counts as inline because it holds line breaks."""
    html, css, js = (
        Path(__file__).with_name(f"viewer.{part}").read_text(encoding="utf-8")
        for part in ("html", "css", "js")
    )
    return st.components.v2.component(_NAME, html=html, css=css, js=js)
