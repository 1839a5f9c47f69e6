"""Background tasks of a page, and placeholders for what is not ready: the rest of the page never waits long.

All visits share one `BackgroundTasks`. A part that is not ready after a moment is a placeholder. The task
itself has the page run again when it is done.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

import streamlit as st

from proofspan.errors import Problem
from proofspan.services.documents.background import BackgroundTasks, Done, Failed, Waiting
from proofspan.services.documents.document_cache import COSTLY
from proofspan.ui.status.fragments import fragment, waker
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.markup import Piece

T = TypeVar("T")

#: Seconds that a page waits: what is cached, and most of what is not, is ready by then.
PATIENCE_S = 0.35
#: Seconds to wait for each of several tasks when the patience is used up: most are cached.
LEAST_S = 0.02
#: Seconds after which a thread that computes lets another run, a tenth of Python's. A page's thread waits as
#: long after each file that it looks at, some hundreds, while a task computes.
SWITCH_S = 0.0005
#: Seconds after which the placeholder reports that it takes long.
LONG_S = 2.5
#: Height of the placeholder in CSS pixels, about that of the page.
HEIGHT = 620


@st.cache_resource(show_spinner=False)
def tasks() -> BackgroundTasks:
    """Return the background tasks of all visits."""
    sys.setswitchinterval(SWITCH_S)
    return BackgroundTasks()


def ask(key: Hashable, make: Callable[[], T], *, share: float = 1.0) -> Done[T] | Failed | Waiting:
    """Return what `make` returns, or that it is not there yet. `make` must not use Streamlit.

    A page that asks for several things waits for each a `share` of its patience.
    """
    return tasks().get(key, make, PATIENCE_S * share)


class Several:
    """Many small tasks that a page shows together, with one patience for all of them.

    Their results are not kept. `awaited` are the keys of those that are not done.
    """

    def __init__(self) -> None:
        self._left = PATIENCE_S
        self.awaited: list[Hashable] = []

    def ask(self, key: Hashable, make: Callable[[], T]) -> Done[T] | Failed | Waiting:
        """Return what `make` returns, or that it is not there yet. `make` must not use Streamlit."""
        started = time.monotonic()
        outcome = tasks().get(key, make, max(self._left, LEAST_S), once=True)
        self._left -= time.monotonic() - started
        if isinstance(outcome, Waiting):
            self.awaited.append(key)
        return outcome


def placeholder(words: str, keys: Sequence[Hashable], *, key: str) -> None:
    """Draw an empty page that says what is being worked on, and rerun when all of `keys` are done."""
    with st.container(
        key=key,
        border=True,
        height=HEIGHT,
        horizontal_alignment="center",
        vertical_alignment="center",
    ):
        _look(words, tuple(keys), time.monotonic())


def hint(words: str, keys: Sequence[Hashable]) -> None:
    """Draw the same as a line of text."""
    _look(words, tuple(keys), time.monotonic())


def rerun_after(keys: Sequence[Hashable]) -> None:
    """Rerun the page when all of `keys` are done, and draw nothing."""
    _look("", tuple(keys), time.monotonic())


def is_worth_another_try(problem: Problem | None) -> bool:
    """Return whether a document was given up that may be read when it is tried again."""
    return problem is not None and problem.code in COSTLY


def rerun_when_done(keys: Sequence[Hashable]) -> None:
    """Rerun the page when all of `keys` are done; for a fragment that is being drawn."""
    if (found := waker()) is not None:
        tasks().when_done(found.name, keys, found.wake)


@fragment()
def _look(words: str, keys: tuple[Hashable, ...], since: float) -> None:
    if all(map(tasks().is_done, keys)):
        st.rerun()
    rerun_when_done(keys)
    if not words:
        return
    lines, found = [words], waker()
    is_long = time.monotonic() - since >= LONG_S
    if not is_long and found is not None:
        found.wake_part(after=LONG_S)
    if is_long:
        lines.append("This takes long. A document is given up after 10 s.")
    markup.show(*(markup.text([Piece(line, "muted")], role="hint") for line in lines), width="content")
