"""The way from a warning that may be left out to its place on its page."""

from __future__ import annotations

import streamlit as st

from proofspan.services.questions import QuestionView
from proofspan.ui import safe
from proofspan.ui.safety_words import notice_ways
from proofspan.ui.state import change_view


def show_ways(view: QuestionView) -> None:
    """A button for each notice that shows it on its page; nothing where nothing is left out."""
    ways = notice_ways(view)
    if not ways:
        return
    with st.container(horizontal=True, gap="small", key="notice-pages"):
        for place, way in enumerate(ways):
            st.button(
                safe.label(way.words),
                key=f"notice-{place}",
                type="tertiary",
                on_click=change_view,
                kwargs={"cite": way.cite, "chunk": None, "page": way.page_idx, "see": way.attachment_id},
            )
