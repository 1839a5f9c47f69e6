"""The titles of browser tabs, which differ by page, run and question: `Q82 · R006 · Question · Proofspan`."""

from __future__ import annotations

from proofspan.ui.visit.routes import (
    COMPARE_TITLE,
    OPEN_TITLE,
    QUESTION_TITLE,
    REPORT_TITLE,
    WALKTHROUGH_TITLE,
)
from proofspan.ui.visit.view_state import ViewState
from proofspan.ui.widgets.markup import clean
from proofspan.ui.widgets.text import shortened

NAME = "Proofspan"
SIDEBAR_PIXELS = 240
#: Characters of an id; a tab shows fewer.
MOST = 60


def tab_title(page: str, view: ViewState | None) -> str:
    """Return the tab's title for a page by its title; without `view` no workspace can be opened."""
    parts: list[str | None] = []
    if view is not None and page != OPEN_TITLE:
        if page == QUESTION_TITLE and view.q is None:
            parts.append(view.chunk)
        if page in (QUESTION_TITLE, WALKTHROUGH_TITLE, COMPARE_TITLE):
            parts.append(view.q)
        run = shortened(view.run, MOST)
        is_compared = page in (COMPARE_TITLE, REPORT_TITLE) and view.vs
        parts.append(f"{run} against {shortened(view.vs or '', MOST)}" if is_compared else run)
    return clean(" · ".join([shortened(part, MOST) for part in parts if part] + [page, NAME]))
