"""A page that waits for a task, which ends when a file is there."""

from __future__ import annotations

import os
import time
from pathlib import Path

import streamlit as st

from proofspan.services.documents.background import Done
from proofspan.ui.status import background

GATE = Path(os.environ["GATE"])
WAIT_S = 60


def work() -> str:
    deadline = time.monotonic() + WAIT_S
    while not GATE.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    return "made"


st.session_state.setdefault("words", "")
if st.text_input("Words", key="words"):
    st.text("typed")
outcome = background.tasks().get("task", work, 0)
if isinstance(outcome, Done):
    st.text(outcome.value)
else:
    background.hint("waiting", ["task"])
