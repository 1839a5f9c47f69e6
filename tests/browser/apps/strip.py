"""The evidence strip alone: `?pages=97`, `?page=8` the shown page, `?all=1` with every page marked."""

from __future__ import annotations

import streamlit as st

from proofspan.services.page.strip_marks import PageMark
from proofspan.ui.viewer.strip import draw_strip, page_strip
from proofspan.ui.widgets import markup

HOSTILE = "<img src=x onerror=alert(1)>"

query = st.query_params
page_count, shown = int(query.get("pages", "97")), int(query.get("page", "8"))
some = [PageMark(8, (1, 2), 0, (1,)), PageMark(41, (), 1, (3,)), PageMark(96, (), 0, tuple(range(1, 30)))]
marks = [PageMark(page, (1,), 1, (1,)) for page in range(page_count)] if "all" in query else some
markup.stylesheet()
labels = [f"{HOSTILE}{page}" for page in range(min(page_count, 200))]
draw_strip(
    page_strip(marks, page_count=page_count, page_idx=shown, labels=labels),
    key="strip",
    on_go=lambda page_idx: query.update(page=str(page_idx)),
)
st.text(f"shown:{shown}")
