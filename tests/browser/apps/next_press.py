"""Wait in the middle of a run of an app."""

from __future__ import annotations

import time

from streamlit.runtime.scriptrunner import get_script_run_ctx

WAIT_S = 60


def wait_for_next_press() -> None:
    """Wait until the server knows of another request of the page."""
    context = get_script_run_ctx()
    assert context is not None
    assert context.script_requests is not None
    until = time.monotonic() + WAIT_S
    while context.script_requests._state.name != "RERUN" and time.monotonic() < until:
        time.sleep(0.01)
