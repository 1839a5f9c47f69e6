"""The chunks that a readable alias names, to choose from where documents share it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from proofspan.contracts.records.chunk_id import named_by
from proofspan.contracts.records.records import Chunk
from proofspan.ui.visit.view_state import ViewState
from proofspan.ui.widgets import markup
from proofspan.wording import counted

#: Characters shown of a chunk's text.
SHOWN = 60


def named_chunks(name: str, chunks: Mapping[str, Chunk]) -> list[Chunk]:
    """Return the chunks that an alias names, in reading order; `chunks` are by id, former ids too."""
    own = (chunk_id for chunk_id, chunk in chunks.items() if chunk.chunk_id == chunk_id)
    return [chunks[chunk_id] for chunk_id in named_by(name, own)]


def show_choice(alias: str, named: Sequence[Chunk], view: ViewState) -> None:
    """Link each chunk that an alias names, or say that no chunk has it; `view` is the state to open it in."""
    if not named:
        markup.note(f"No chunk of this workspace has the alias {alias}.", "muted")
        return
    ask = ": choose one." if len(named) > 1 else ":"
    markup.note(f"{alias} is the alias of {counted(len(named), 'chunk')}{ask}", "muted")
    with st.container(gap="xsmall", key="chunk-choice"):
        for chunk in named:
            begins = " ".join(chunk.text.split())
            words = begins if len(begins) <= SHOWN else f"{begins[:SHOWN]}…"
            place = (chunk.doc_id, f"section {chunk.section_id}" if chunk.section_id else None, words)
            st.page_link(
                "pages/question.py",
                label=markup.label(" · ".join(filter(None, place))),
                help=markup.label(chunk.chunk_id),
                query_params=view.change(chunk=chunk.chunk_id, cite=None, page=None).params(),
                width="content",
            )
