"""The page viewer: a page's picture with its spans as boxes over it that can be read, chosen and zoomed.

A component of our own, because a highlight must lie on the page and scale with it. A second component, the
wire, carries what must not rerun the page script: details, which are parts of the page rendered more finely.
Scripts and styles are passed inline, so that nothing is fetched. Data goes to the browser as bytes, since
JSON would carry a picture as base64. Whatever a browser sends is validated here.
"""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from typing import TypeVar

import orjson
import streamlit as st

from proofspan.evidence.types import PageImage, Picture
from proofspan.resources import text_of
from proofspan.services.page.shapes import PageSpan, Percent
from proofspan.services.page.text_under import paragraphs_of
from proofspan.services.page.zoom import snapped
from proofspan.ui.claims.claim_list import LINKS
from proofspan.ui.status.fragments import fragment
from proofspan.ui.viewer.span_cards import SpanCard
from proofspan.ui.widgets.markup import Size, clean

T = TypeVar("T")
Render = Callable[[Percent, int], Picture | None]

#: Concatenated in this order.
_PARTS = (
    "wires",
    "main",
    "boxes",
    "tags",
    "layers",
    "bar",
    "zoom",
    "detail",
    "keys",
    "card",
    "claims",
    "jump",
    "words",
)
SCRIPTS = tuple(f"js/{part}.js" for part in _PARTS)
STYLES = ("viewer.css", "viewer_bar.css")
WIRE_SCRIPTS = ("js/wires.js", "js/wire.js")

#: Passages sent before and after the chosen one; the keys step through them.
NEAR = 50
#: Longest name of a detail request: the picture's id, four numbers and a width.
MAX_NAME = 120
#: Widest detail, in pixels.
MAX_WIDTH = 8_192


@dataclass(frozen=True, slots=True)
class ViewerPage:
    """A page with its spans; `alt` describes the picture in words, `cards` the spans, by their id.

    When `focus` differs from the last call's, `region` (percent of the page) is flashed and scrolled into
    view, without one the chosen span, else the first cited one. `order` has the ids of all passages that
    "next span" steps through, on whatever page, starting from `chosen`. Without a `page_count` the page
    cannot be turned. `answer` names the answer whose claims have the ids `claims`: their boxes follow by
    `proofspan.ui.viewer.claim_places`. `of` names what the page is shown for (see `markup.place`).
    """

    image: PageImage
    spans: tuple[PageSpan, ...]
    cards: Mapping[str, SpanCard]
    alt: str
    focus: str
    page_count: int | None = None
    order: tuple[str, ...] = ()
    chosen: str = ""
    region: Percent | None = None
    answer: str = ""
    claims: tuple[str, ...] = ()
    of: str = ""

    @property
    def picture_id(self) -> str:
        """The picture's hash: while it stays the same the browser keeps the picture that it has."""
        return hashlib.sha1(self.image.data, usedforsecurity=False).hexdigest()


@dataclass(frozen=True, slots=True)
class DetailRequest:
    """A part of the page that a browser wants more finely: percent of the page, pixels across.

    `name` is the browser's name of the request, `picture_id` the picture that it belongs to.
    """

    name: str
    picture_id: str
    region: Percent
    width: int


def show_page(
    page: ViewerPage,
    *,
    key: str = "page",
    height: Size = "panel",
    on_turn: Callable[[int], None],
    on_choose: Callable[[str], None],
    render: Render | None = None,
) -> None:
    """Draw the page. `on_turn` is called with another page_idx of the document, `on_choose` with the id of a
    span of the page or of `page.order`; both before the script runs again.

    `height` "stage" fills the window, and leaves the left and right keys to the page script. `render` draws a
    detail: a region in percent and the requested width in pixels.
    """
    # A viewer that was mounted in the last run still has its picture; one that lost it requests it.
    mark = f"sent:{key}"
    last = st.session_state.get(mark) if key in st.session_state else None
    st.session_state[mark] = page.picture_id
    _viewer()(
        key=key,
        data=packed(page, key=key, height=height, with_picture=last != page.picture_id),
        on_turn_change=lambda: _notify(key, "turn", partial(turned_to, page=page), on_turn),
        on_choose_change=lambda: _notify(key, "choose", partial(chosen_span, page=page), on_choose),
        on_lost_change=lambda: st.session_state.pop(mark, None),
    )
    fragment(place=f"viewer-wire-{key}")(_wire_of)(page, key, render)


def packed(page: ViewerPage, *, key: str, height: Size, with_picture: bool = True) -> bytes:
    """Return the header's length (4 bytes, big endian), the header as JSON, and the picture if requested.

    `natural` is the page's width in CSS pixels at its true size. The page's text goes with the picture: the
    browser keeps both.
    """
    image = page.image
    here = page.order.index(page.chosen) if page.chosen in page.order else -1
    start = max(0, here - NEAR)
    header = {
        "key": key,
        "height_of": height,
        "id": page.picture_id,
        "mime": image.mime,
        "width": image.width,
        "height": image.height,
        "natural": image.page.width * 96 / 72,
        "page_idx": image.page.page_idx,
        "page_count": page.page_count,
        "alt": clean(page.alt),
        "focus": clean(page.focus),
        "region": page.region,
        "chosen": clean(page.chosen),
        "answer": page.answer,
        "of": page.of,
        "spans": [
            {
                "id": clean(span.id),
                "layer": span.layer,
                "tags": [(layer, clean(tag)) for layer, tag in span.tags],
                "rects": span.rects or span.extent,
                "extent": span.extent if span.rects else (),
                "bare": not span.rects,
                "chosen": span.chosen,
                "verified": span.is_verified,
            }
            for span in page.spans
        ],
        "cards": {clean(span_id): asdict(card) for span_id, card in page.cards.items()},
        "span_count": len(page.order),
        "span_at": here,
        "near": [clean(span_id) for span_id in page.order[start : max(here, 0) + NEAR + 1]],
        "near_at": here - start if here >= 0 else -1,
    }
    if not with_picture:
        return _framed(header, b"")
    paragraphs, left_out = paragraphs_of(image)
    header["text"] = {"paragraphs": [clean(each) for each in paragraphs], "left_out": left_out}
    return _framed(header, image.data)


def packed_detail(
    *, key: str, requested: DetailRequest | None = None, picture: Picture | None = None
) -> bytes:
    """Return the wire's data, framed like `packed`: the answer to `requested`, if any.

    Without a picture the request could not be met, and the browser keeps what it shows.
    """
    header: dict[str, object] = {"key": key}
    if requested is not None:
        header |= {
            "asked": requested.name,
            "id": requested.picture_id,
            "region": requested.region,
            "wanted": requested.width,
            "width": picture.width if picture else 0,
            "mime": picture.mime if picture else "",
        }
    return _framed(header, picture.data if picture else b"")


def _framed(header: Mapping[str, object], picture: bytes) -> bytes:
    json = orjson.dumps(header)
    return struct.pack(">I", len(json)) + json + picture


def turned_to(sent: object, page: ViewerPage) -> int | None:
    """Return the requested page_idx; None unless it is another page of the document."""
    if not isinstance(sent, int) or isinstance(sent, bool) or sent == page.image.page.page_idx:
        return None
    return sent if 0 <= sent < (page.page_count or 0) else None


def chosen_span(sent: object, page: ViewerPage) -> str | None:
    """Return the id of the chosen span; None unless it is on the page or in its order."""
    spans = (span.id for span in page.spans)
    ids = {clean(span_id): span_id for span_id in (*page.order, *spans, *page.claims)}
    return ids.get(sent) if isinstance(sent, str) else None


def requested_detail(sent: object, page: ViewerPage) -> DetailRequest | None:
    """Return the requested detail; None unless it is well formed and belongs to the shown picture."""
    if not isinstance(sent, Mapping) or sent.get("id") != page.picture_id:
        return None
    name, width, region = sent.get("asked"), sent.get("width"), sent.get("region")
    if not isinstance(name, str) or len(name) > MAX_NAME or not isinstance(region, list) or len(region) != 4:
        return None
    if not all(isinstance(side, int | float) and not isinstance(side, bool) for side in region):
        return None
    left, top, across, down = (float(side) for side in region)
    is_inside = left >= 0 and top >= 0 and left + across <= 100.01 and top + down <= 100.01
    if not (is_inside and across > 0 and down > 0):
        return None
    if not isinstance(width, int) or isinstance(width, bool) or not 1 <= width <= MAX_WIDTH:
        return None
    return DetailRequest(clean(name), page.picture_id, (left, top, across, down), width)


def _wire_of(page: ViewerPage, key: str, render: Render | None) -> None:
    """Mount the wire with the answer to the last detail request."""
    wire, slot = f"{key}-wire", f"detail:{key}"
    requested: DetailRequest | None = st.session_state.pop(slot, None)
    picture = render(requested.region, requested.width) if requested and render else None

    def remember(requested: DetailRequest) -> None:
        """Keep a request until the wire is mounted, snapped to the grid of details at the same scale."""
        region = snapped(requested.region)
        width = min(MAX_WIDTH, math.ceil(requested.width * region[2] / requested.region[2]))
        st.session_state[slot] = replace(requested, region=region, width=width)

    _wire()(
        key=wire,
        data=packed_detail(key=key, requested=requested, picture=picture),
        on_ask_change=lambda: _notify(wire, "ask", partial(requested_detail, page=page), remember),
    )


def _notify(key: str, event: str, read: Callable[[object], T | None], listener: Callable[[T], None]) -> None:
    if (value := read(st.session_state[key].get(event))) is not None:
        listener(value)


@cache
def _viewer() -> st.components.v2.types.ComponentRenderer:
    """Registered once a process; each part counts as inline because it holds line breaks."""
    html, css, js = _joined(["viewer.html"]), _joined(STYLES), f"{text_of(LINKS)}\n{_joined(SCRIPTS)}"
    return st.components.v2.component("proofspan_page", html=html, css=css, js=js)


@cache
def _wire() -> st.components.v2.types.ComponentRenderer:
    js = _joined(WIRE_SCRIPTS)
    return st.components.v2.component("proofspan_wire", html="<span hidden></span>\n", js=js)


def _joined(names: Sequence[str]) -> str:
    return "\n".join(text_of(f"ui/viewer/{name}") for name in names)
