"""The way from a warning that may be left out to its page."""

from __future__ import annotations

import streamlit as st

from core.services.questions import QuestionView
from core.ui import safe
from core.ui.safety_words import notice_pages
from core.ui.state import change_view


def show_pages(view: QuestionView) -> None:
    """A button for each page that holds one; nothing where nothing is left out."""
    pages = notice_pages(view)
    if not pages:
        return
    with st.container(horizontal=True, gap="small", key="notice-pages"):
        for page in pages:
            st.button(
                safe.label(page.words),
                key=f"notice-{page.cite}-{page.page_idx}",
                type="tertiary",
                on_click=change_view,
                kwargs={"cite": page.cite, "chunk": None, "page": page.page_idx},
            )
