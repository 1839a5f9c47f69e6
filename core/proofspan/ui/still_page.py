"""A page with its boxes as a still picture: what stands in for the viewer where it does not start."""

from __future__ import annotations

import time
from collections.abc import Callable

import streamlit as st

from proofspan.ui import safe
from proofspan.ui.fragments import fragment
from proofspan.ui.viewer_page import ViewerPage

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
    safe.show(
        safe.text([safe.Piece(_SAID, "muted")], role="hint"),
        safe.page_picture(page.image, page.spans, alt=page.alt),
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
