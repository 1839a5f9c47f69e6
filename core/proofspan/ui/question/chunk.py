"""A chunk without a question, as `?chunk=ID` opens it: its text, its place, and the answers that cite it."""

from __future__ import annotations

from itertools import islice

import streamlit as st

from proofspan.contracts.records.chunk_id import alias_of
from proofspan.services.page.view import region_of
from proofspan.traces.records.redirects import redirects_of
from proofspan.ui.question import attachments, load
from proofspan.ui.question.panels import sides
from proofspan.ui.status import notices
from proofspan.ui.viewer import page_panel
from proofspan.ui.visit import session
from proofspan.ui.visit.view_state import question_name, read_view
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.chunk_choice import show_choice
from proofspan.ui.widgets.copy_button import show_copying
from proofspan.ui.widgets.markup import Piece
from proofspan.ui.widgets.text import variant
from proofspan.ui.wording import question
from proofspan.ui.wording.citation import leading
from proofspan.wording import counted

#: Answers linked that cite a chunk; all are counted.
MAX_CITING = 12


def show_chunk(name: str) -> None:
    """Show the chunk of an id or alias without waiting for an index; a workspace without runs is enough.

    An alias of several chunks shows these to choose from. Raises `Fault` if the workspace cannot be opened or
    has no such chunk.
    """
    opened = session.current(needs_run=False)
    notices.notes(opened.view.notes)
    chunk_id, choice = load.chunk_named(session.chunks(opened)[0], name)
    markup.page_title("Chunk")
    if chunk_id is None:
        show_choice(name, choice, opened.view)
        return
    shown = load.chunk_view(opened, chunk_id, page=opened.view.page)
    store = session.index(opened)[0] if opened.manifest.runs else None
    rows = session.placed(opened, store) if store is not None else None
    show_copying(chunk_id, name="chunk id", key="chunk-id", with_link=False)
    if alias := alias_of(chunk_id):
        show_copying(alias, name="alias", key="chunk-alias", with_link=False)
    if (redirect := redirects_of(session.chunks(opened)[0]).get(chunk_id)) is not None:
        markup.note(leading(redirect), "muted")
    text, place, below = sides()
    with text:
        markup.show_long([Piece(shown.target.query.quote)], key=f"chunk:{chunk_id}")
        if citing := load.citing(rows, chunk_id, run_id=opened.run.run_id):
            markup.note(f"Cited by {counted(len(citing), 'answer')} of this run:", "muted")
            with st.container(horizontal=True, gap="small", key="citing"):
                for key, number in islice(citing.items(), MAX_CITING):
                    name = question_name(key.q_id, key.repeat)
                    link = read_view().change(
                        run=key.run_id, q=name, p=key.paraphrase, s=key.seed, cite=number, chunk=None
                    )
                    st.page_link(
                        "pages/question.py",
                        label=markup.label(" · ".join([question.short_id(key.q_id), *variant(key)])),
                        query_params=link.params(),
                        width="content",
                    )
    seen = load.seen(opened, shown, opened.view.see)
    with place:
        page_panel.chunk_alone(shown, region=region_of(seen, shown) if seen else None)
    with below:
        if not shown.is_pending:
            attachments.show_belonging(opened, shown)
