"""The documents and traces of a workspace as all visits share them."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from proofspan.services.placer import Placer
from proofspan.traces.joined import needed_trace_file
from proofspan.ui import session, waiting


@st.cache_resource(show_spinner=False)
def placer() -> Placer:
    """Placed spans and drawn pages, remembered for all visits."""
    return Placer(session.pdf_pool())


def plain_traces(opened: session.Opened) -> Path:
    """The run's traces, unpacked or joined. Raises `Fault` where they are lost."""
    return needed_trace_file(opened.manifest, opened.run, cache_dir=session.cache_dir().path)[0]


def try_again(path: Path | None) -> None:
    """Ask anew for what was given up of a document, and for what was worked out without it."""
    if path is not None:
        placer().forget(path)
    waiting.desk().forget()
