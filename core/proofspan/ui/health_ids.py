"""Chunk ids: can they be trusted to say where each chunk stands?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from proofspan.contracts.chunk_audit import Audit, Status
from proofspan.ui import safe
from proofspan.ui.boxes import panel
from proofspan.ui.grid import Cell, Column, Grid, Look, Row, show_grid
from proofspan.ui.health_load import Audited
from proofspan.ui.safe import Piece
from proofspan.ui.words import sentence_start

#: What an audit asks.
QUESTIONS: Mapping[str, str] = {
    "unique": "Is every id there once?",
    "format": "Do ids follow the format?",
    "place": "Do ids name their chunk's place?",
    "order": "Do sorted ids follow the reading order?",
    "revision": "Is the revision the document's?",
    "recomputed": "Do revisions come out again?",
    "at_place": "Does each text stand at its place?",
    "citation_match_sample": "Do offsets meet the gold, on a sample?",
    "citation_match": "Do offsets meet the gold, on all?",
    "one_to_one": "Do older ids go on one to one?",
}
_VERDICTS: Mapping[Status, tuple[str, Look]] = {
    "pass": ("✓ passes", "green"),
    "fail": ("✗ fails", "red"),
    "unknown": ("not known", "quiet"),
}
#: Session key: whether the documents are to be opened.
_ASKED = "chunk-ids:documents"


def ids_panel(found: Audited | None) -> None:
    """A row an audit; a button where no document was opened yet. Nothing without a chunk file."""
    if found is None:
        return
    audits, extractor = found.audits, found.extractor
    about = "Audits of the chunk file: its ids, its reading order, and its offsets against the gold."
    about += f" Documents were read by {extractor}." if extractor else ""
    with panel("ids", "Chunk ids", about):
        if audits:
            show_grid(audit_grid(audits), key="audit-cells")
            _examples(audits)
        if found.pending is not None:
            safe.show(safe.text([Piece("Auditing the chunk file …", "muted")], role="hint"))
        elif extractor is None:
            st.button(
                "Check against the documents",
                key="audit-documents",
                help="Opens every document: are revisions recomputed, and does each text stand at its place?",
                on_click=_ask,
            )


def is_asked() -> bool:
    """Whether this visit wants the documents opened."""
    return bool(st.session_state.get(_ASKED))


def audit_grid(audits: Sequence[Audit]) -> Grid:
    """What each audit asks, how it came out, what it counted and what to do."""
    has_step = any(map(_step, audits))
    names = ("result", "counted", *(["what to do"] if has_step else []))
    columns = tuple(Column(Cell(name), "start") for name in names)
    rows = tuple(_row(audit, with_step=has_step) for audit in audits)
    return Grid("Audits of the chunk file", "audit", columns, rows)


def _row(audit: Audit, *, with_step: bool) -> Row:
    word, look = _VERDICTS[audit.status]
    said = sentence_start(audit.said)
    steps = [Cell(_step(audit))] if with_step else []
    return Row(Cell(QUESTIONS.get(audit.name, audit.name)), (Cell(word, look=look), Cell(said), *steps))


def _step(audit: Audit) -> str:
    return audit.next_step.replace("`", "") if audit.status == "fail" else ""


def _examples(audits: Sequence[Audit]) -> None:
    """The first findings of what failed, behind a fold."""
    found = [(audit, finding) for audit in audits if audit.status == "fail" for finding in audit.examples]
    if not found:
        return
    with st.expander("First chunks that fail", key="audit-examples"):
        for audit, finding in found:
            told = [Piece(f"{finding.record_id or QUESTIONS[audit.name]} ", "code"), Piece(finding.message)]
            safe.show(safe.text(told, role="hint"))


def _ask() -> None:
    st.session_state[_ASKED] = True
