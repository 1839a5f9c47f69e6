"""The page's address, which a browser may know later than the server.

A run that changes the address notifies the browser, and requests that the browser sends before that still
carry the old address: a fragment that runs again by itself, a second click, a viewer that asks for its
picture. Taken literally they would undo the choice just made. So the last address written replaces those
before it, for as long as such a request may be on its way.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

#: Seconds, longer than any run takes on a busy machine, since a request waits for the run before it. An older
#: address may also come from Back or from a link; those are recognised.
LATE_S = 60.0

Address = tuple[tuple[str, tuple[str, ...]], ...]
_WRITTEN = "address:written"


@dataclass(frozen=True, slots=True)
class Written:
    """The last address of a page (by Streamlit's hash of its script), those it replaced, and when."""

    page: str
    now: Address
    replaced: frozenset[Address]
    at: float


def read() -> dict[str, list[str]]:
    """Return the parameters of the page's address: the browser's, or those that have replaced them since."""
    asked, written = _asked(), _written()
    if written is not None and asked in written.replaced:
        st.query_params.from_dict({name: list(values) for name, values in written.now})
        asked = written.now
    elif written is None or asked != written.now:
        st.session_state.pop(_WRITTEN, None)
    return {name: list(values) for name, values in asked}


def write(params: Mapping[str, str | list[str]]) -> None:
    """Make these the address's only parameters."""
    before, written = _asked(), _written()
    st.query_params.from_dict(params)
    now = _asked()
    known = written.replaced if written is not None and before in (written.now, *written.replaced) else ()
    replaced = {before, *known} - {now}
    st.session_state[_WRITTEN] = Written(_page(), now, frozenset(replaced), time.monotonic())


def _asked() -> Address:
    """Return the parameters of this run, in alphabetical order."""
    params = st.query_params
    return tuple((name, tuple(params.get_all(name))) for name in sorted(params))


def _written() -> Written | None:
    """Return what was written last, while requests from before may still arrive; Back is no such request."""
    written: Written | None = st.session_state.get(_WRITTEN)
    if written is None or written.page != _page() or time.monotonic() - written.at > LATE_S:
        return None
    context = get_script_run_ctx(suppress_warning=True)
    return None if context is not None and context.is_history_navigation else written


def _page() -> str:
    context = get_script_run_ctx(suppress_warning=True)
    return context.page_script_hash if context is not None else ""
