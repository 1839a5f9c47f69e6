"""The typical failures that the shown run shows: why it is thought so, and what mends each."""

from __future__ import annotations

import streamlit as st

from proofspan.services.failure_modes import FailureMode
from proofspan.ui import safe
from proofspan.ui.boxes import panel
from proofspan.ui.health_head import linked
from proofspan.ui.health_load import Pending
from proofspan.ui.safe import Piece
from proofspan.ui.state import ViewState
from proofspan.ui.words import sentence_start


def modes_panel(modes: tuple[FailureMode, ...] | Pending, view: ViewState) -> None:
    """A card a failure, once they are known; a sentence where none shows."""
    about = "Failures that retrieval and chunk ids often have, each with what was counted for it here."
    with panel("modes", "What this looks like", about):
        if isinstance(modes, Pending):
            told = "Looking for what the findings have in common …"
            safe.show(safe.text([Piece(told, "muted")], role="hint"))
            return
        if not modes:
            said = f"None of the seven typical failures shows in {view.run}."
            safe.show(safe.text([Piece(said)], role="line"))
            return
        with st.container(key="health-modes"):
            for mode in modes:
                with st.container(border=True, key=f"card-of-{mode.name}"):
                    _card(mode, view)


def _card(mode: FailureMode, view: ViewState) -> None:
    safe.show(
        safe.text([Piece(mode.symptom, "strong")], role="line"),
        safe.text(safe.coded(mode.next_step), role="hint"),
    )
    for because in mode.because:
        said = sentence_start(because.said)
        if because.shown is None:
            safe.show(safe.text([Piece(said, "muted")], role="hint"))
        else:
            params = linked(view, because.shown).params()
            st.page_link("pages/triage.py", label=safe.label(said, limit=200), query_params=params)
