"""Parts of a page that run again by themselves, each in a place of its own.

Streamlit sends what a fragment drew in a full run only if the fragment's own next run has not begun
meanwhile. Where it has, the browser takes the fragment's old elements away at the end of the full run, moves
those after them up, and then draws the fragment over the first of them. In a container that holds nothing
else there is none to draw over.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import streamlit as st

P = ParamSpec("P")


def fragment(
    *, run_every: float | None = None, place: str | None = None
) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """A decorator like `st.fragment`: the function runs again alone, every so many seconds if asked to.

    `place` is the key of its container, for a stylesheet.
    """

    def decorated(function: Callable[P, None]) -> Callable[P, None]:
        drawn = st.fragment(function, run_every=run_every)  # noqa: TID251

        @wraps(function)
        def in_its_place(*args: P.args, **kwargs: P.kwargs) -> None:
            with st.container(key=place):
                drawn(*args, **kwargs)

        return in_its_place

    return decorated
