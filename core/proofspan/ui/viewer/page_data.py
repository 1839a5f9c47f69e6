"""What the page viewer draws, and the bytes that carry it to the browser.

The data is one byte string: bytes reach the browser as they are, JSON would carry a picture as base64.
"""

from __future__ import annotations

import hashlib
import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Literal

import orjson
import streamlit as st

from proofspan.evidence.types import PageImage, Picture
from proofspan.services.page.shapes import PageSpan, Percent
from proofspan.ui.status.fragments import fragment
from proofspan.ui.viewer.span_cards import SpanCard
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.markup import clean

Height = Literal["panel", "stage"]

#: So many passages before and after the chosen one are named: the keys go from one to the next.
NEAR = 50


@dataclass(frozen=True, slots=True)
class ViewerPage:
    """A page with its spans. `alt` describes the picture in words, `cards` the spans, by their id.

    When `focus` differs from the last call's, `region` (percent of the page) is flashed and scrolled into
    view, without one the chosen span, else the first cited one. `order` are the ids of all passages that
    "next span" goes through, on whatever page, and `chosen` is the one that it goes on from. Without a
    `page_count` no other page can be turned to.
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

    @property
    def picture_id(self) -> str:
        """The picture's hash: while it stays the same the browser keeps the picture that it has."""
        return hashlib.sha1(self.image.data, usedforsecurity=False).hexdigest()


def packed(page: ViewerPage, *, key: str, height: Height, with_picture: bool = True) -> bytes:
    """The header's length (4 bytes, big endian), the header as JSON, the picture unless the browser has it.

    `natural` is the page's width in CSS pixels at its true size.
    """
    image = page.image
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
        "spans": [_span(span) for span in page.spans],
        "cards": {clean(span_id): asdict(card) for span_id, card in page.cards.items()},
        **_near(page),
    }
    return _framed(header, image.data if with_picture else b"")


@dataclass(frozen=True, slots=True)
class Asked:
    """A part of the page that a browser wants drawn anew: percent of the page, pixels across.

    `name` is the browser's word for the request, `picture_id` the picture that it belongs to.
    """

    name: str
    picture_id: str
    region: Percent
    width: int


def packed_wire(
    *, key: str, is_alive_known: bool, asked: Asked | None = None, picture: Picture | None = None
) -> bytes:
    """What goes over the viewer's wire, framed as `packed` has the page: the answer to `asked`, if any.

    An answer without a picture: the request could not be met, and what is there stays.
    """
    header: dict[str, object] = {"key": key, "is_alive_known": is_alive_known}
    if asked is not None:
        header |= {
            "asked": asked.name,
            "id": asked.picture_id,
            "region": asked.region,
            "wanted": asked.width,
            "width": picture.width if picture else 0,
            "mime": picture.mime if picture else "",
        }
    return _framed(header, picture.data if picture else b"")


def _framed(header: Mapping[str, object], picture: bytes) -> bytes:
    json = orjson.dumps(header)
    return struct.pack(">I", len(json)) + json + picture


def _near(page: ViewerPage) -> dict[str, object]:
    """The passages around the chosen one: its place among all of them, and the ids near it."""
    here = page.order.index(page.chosen) if page.chosen in page.order else -1
    start = max(0, here - NEAR)
    return {
        "span_count": len(page.order),
        "span_at": here,
        "near": [clean(span_id) for span_id in page.order[start : max(here, 0) + NEAR + 1]],
        "near_at": here - start if here >= 0 else -1,
    }


def _span(span: PageSpan) -> dict[str, object]:
    return {
        "id": clean(span.id),
        "layer": span.layer,
        "tags": [(layer, clean(tag)) for layer, tag in span.tags],
        "rects": span.rects,
        "chosen": span.chosen,
        "verified": span.is_verified,
    }


# A page with its boxes as a still picture: what stands in for the viewer where it does not start.

#: A viewer that was not heard of for so long does not come; looked after every so often.
PATIENCE_S = 4.0
EVERY_S = 2.0
_AWAITED = "viewer:awaited"
_SAID = (
    "The page viewer did not start in this browser. This is the page with its boxes as a picture: they are "
    "chosen in the lists beside it."
)


def show(page: ViewerPage) -> None:
    """The picture with its boxes, below a sentence that says why."""
    markup.show(
        markup.text([markup.Piece(_SAID, "muted")], role="hint"),
        markup.page_picture(page.image, page.spans, alt=page.alt),
    )


def watch(page: ViewerPage, is_alive: Callable[[], bool], *, key: str) -> None:
    """Shows the picture once the viewer was awaited for `PATIENCE_S`; nothing where it is there.

    `key` tells viewers of one page apart.
    """
    fragment(run_every=EVERY_S, place=f"viewer-beside-{key}-still")(_look)(page, is_alive)


def _look(page: ViewerPage, is_alive: Callable[[], bool]) -> None:
    waited = awaited(st.session_state.get(_AWAITED), time.monotonic())
    st.session_state[_AWAITED] = waited
    if not is_alive() and waited[1] - waited[0] >= PATIENCE_S:
        show(page)


def awaited(before: tuple[float, float] | None, now: float) -> tuple[float, float]:
    """Since when and until when the viewer was awaited without a break, in seconds of one clock.

    `before` is the answer to the last look; who was elsewhere in between begins to wait anew.
    """
    return (before[0] if before and now - before[1] <= 2 * EVERY_S else now), now
