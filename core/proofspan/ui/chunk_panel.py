"""A chunk on its own, as `?chunk=ID` without a question opens it: its text, its place, who cites it."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from proofspan.contracts.records import TraceKey
from proofspan.services.regions import region_of
from proofspan.traces.redirects import redirect_of
from proofspan.ui import (
    evidence_panel,
    notices,
    page_panel,
    placements,
    question_load,
    question_words,
    safe,
    session,
)
from proofspan.ui.copying import show_copying
from proofspan.ui.question_panels import sides
from proofspan.ui.redirect_words import leading
from proofspan.ui.safe import Piece
from proofspan.ui.state import question_name, read_view
from proofspan.ui.words import counted, variant

#: So many answers that cite a chunk are linked; their number is told.
MAX_CITING = 12


def show_chunk(chunk_id: str) -> None:
    """Draws the chunk. No index is waited for, and a workspace without runs will do.

    Raises `Fault` where the workspace cannot be opened or has no such chunk.
    """
    manifest = session.workspace()
    opened = session.current() if manifest.runs else session.without_runs(manifest)
    notices.notes(opened.view.notes)
    shown = question_load.chunk_view(opened, chunk_id, page=opened.view.page)
    store = session.index(opened).store if manifest.runs else None
    rows = session.placed(opened, store) if store is not None else None
    safe.show(safe.text([Piece("Chunk", "strong")], role="line"))
    show_copying(chunk_id, name="chunk id", key="chunk-id", with_link=False)
    if (redirect := redirect_of(session.chunks(opened)[0], chunk_id)) is not None:
        safe.show(safe.text([Piece(leading(redirect), "muted")], role="hint"))
    text, place, below = sides()
    with text:
        safe.show_long([Piece(shown.target.query.quote)], key=f"chunk:{chunk_id}")
        _citing(placements.citing(rows, chunk_id, run_id=opened.run.run_id))
    seen = question_load.seen(opened, shown, opened.view.see)
    with place:
        page_panel.chunk_alone(shown, region=region_of(seen, shown) if seen else None)
    with below:
        if not shown.is_pending:
            evidence_panel.belonging(question_load.attached_to(opened, shown))


def _citing(citing: Mapping[TraceKey, int]) -> None:
    """The way to the questions of this run whose answers cite the chunk."""
    if not citing:
        return
    told = f"Cited by {counted(len(citing), 'answer')} of this run:"
    safe.show(safe.text([Piece(told, "muted")], role="hint"))
    with st.container(horizontal=True, gap="small", key="citing"):
        for key, number in list(citing.items())[:MAX_CITING]:
            name = question_name(key.q_id, key.repeat)
            st.page_link(
                "pages/question.py",
                label=safe.label(" · ".join([question_words.short_id(key.q_id), *variant(key)])),
                query_params=read_view()
                .change(run=key.run_id, q=name, p=key.paraphrase, s=key.seed, cite=number, chunk=None)
                .params(),
                width="content",
            )
