"""Parts of a page that run again by themselves, each in a container of its own.

Streamlit sends what a fragment drew in a full run only if the fragment's own next run has not begun
meanwhile. Where it has, the browser takes the fragment's old elements away at the end of the full run, moves
those after them up, and then draws the fragment over the first of them. In a container with nothing else
there is no such element.

A fragment inside another is sent without the container that the outer one drew for it, and the browser gives
up the whole page over that. So fragments are never nested.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec

import streamlit as st

from proofspan.ui.status.fragment_requests import correct_fragment_requests

P = ParamSpec("P")

_is_inside: ContextVar[bool] = ContextVar("is_inside", default=False)


def fragment(
    *, run_every: float | None = None, place: str | None = None
) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Decorate a function like `st.fragment`: it runs again alone, every `run_every` seconds if given.

    `place` is the key of its container, for a stylesheet. Raises RuntimeError where it is drawn inside
    another fragment.
    """
    correct_fragment_requests()

    def decorated(function: Callable[P, None]) -> Callable[P, None]:
        @wraps(function)
        def inside(*args: P.args, **kwargs: P.kwargs) -> None:
            before = _is_inside.set(True)
            try:
                function(*args, **kwargs)
            finally:
                _is_inside.reset(before)

        drawn = st.fragment(inside, run_every=run_every)  # noqa: TID251

        @wraps(function)
        def in_its_place(*args: P.args, **kwargs: P.kwargs) -> None:
            if _is_inside.get():
                raise RuntimeError(f"the fragment {function.__name__} is drawn inside another")
            with st.container(key=place):
                drawn(*args, **kwargs)

        return in_its_place

    return decorated
