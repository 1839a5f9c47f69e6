"""The page viewer alone with a made-up page: `?spans=3`, `?height=stage`, `?region=1`, `?size=tall`, `?long`.
`?parts`: the first span is a part of a passage, the second only the passage.

What was asked for is written so that a test can read it: above it the last turn and choice as `turned:` and
`chosen:`, below it the last detail as `detail:`.
"""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from proofspan.evidence.pdf.png import encode_png
from proofspan.evidence.types import PageImage, PageInfo, Picture
from proofspan.services.page.shapes import Layer, PageSpan, Percent
from proofspan.ui.viewer.span_cards import SpanCard
from proofspan.ui.viewer.viewer import ViewerPage, show_page
from proofspan.ui.widgets import markup

LAYERS: tuple[Layer, ...] = ("cited", "gold", "retrieved")
SIZES = {"page": (600, 800), "tall": (15, 1_500), "wide": (2_000, 2_000)}
PAGES = 97
BLUE = (40, 60, 220)


def picture(width: int, height: int) -> bytes:
    """White paper with a blue bar in its middle."""
    row = bytes((255, 255, 255)) * width
    marked = (
        row[: 3 * (width // 4)] + bytes(BLUE) * (width // 2) + row[: 3 * (width - width // 4 - width // 2)]
    )
    rows = [marked if 0.45 * height < at < 0.55 * height else row for at in range(height)]
    return encode_png(b"".join(rows), width, height)


def spans(count: int, chosen: str) -> tuple[PageSpan, ...]:
    """Return spans in rows of forty, each with a name of its own."""
    step = 100 / max(10, -(-count // 40) + 1)
    made = []
    for number in range(count):
        layer = LAYERS[number % 3]
        rect: Percent = (5 + 2.2 * (number % 40), step * (number // 40) + 1, 1.8, step * 0.6)
        name = f"{layer}:{number}"
        made.append(PageSpan(name, layer, ((layer, f"{layer} {number}"),), (rect,), name == chosen))
    return tuple(made)


def detail(region: Percent, width: int) -> Picture:
    st.session_state["detail"] = f"{region} {width}"
    height = max(1, round(width * region[3] / region[2]))
    return Picture(picture(width, height), width, height)


query = st.query_params
page_idx, chosen = int(query.get("page", "8")), query.get("chosen", "cited:0")
width, height = SIZES[query.get("size", "page")]
shown = spans(int(query.get("spans", "3")), chosen)
if "parts" in query:
    around: Percent = (4.0, 0.5, 60.0, 20.0)
    shown = (
        replace(shown[0], extent=(around,)),
        replace(shown[1], rects=(), extent=((4.0, 40.0, 60.0, 20.0),)),
    )
long = "<b>long</b> " * (5_000 if "long" in query else 1)
chars = min(5_000, 100_000 // max(1, len(shown)))
words = ("exact: word for word", ("score 0.500",), long[:chars], max(0, len(long) - chars))
cards = {span.id: SpanCard(span.tags[0][1], *words) for span in shown}
markup.stylesheet()
st.text(f"turned:{page_idx} chosen:{chosen}")
show_page(
    ViewerPage(
        PageImage(
            picture(width, height),
            width,
            height,
            PageInfo(page_idx, width * 0.72, height * 0.72, 0, None),
            (1, 0, 0, 1, 0, 0),
        ),
        shown,
        cards,
        alt=f"made-up page {page_idx + 1}",
        focus=f"{chosen}@{page_idx}",
        page_count=PAGES,
        order=(*(span.id for span in shown), "elsewhere:1"),
        chosen=chosen,
        region=(30.0, 90.0, 20.0, 5.0) if "region" in query else None,
    ),
    height="stage" if query.get("height") == "stage" else "panel",
    on_turn=lambda to: query.update(page=str(to)),
    on_choose=lambda span_id: query.update(chosen=span_id),
    render=detail,
)
st.text(f"detail:{st.session_state.get('detail', '')}")
