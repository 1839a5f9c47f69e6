"""The Question page in words: its name, its place, its record. Pure; nothing here draws."""

from __future__ import annotations

from proofspan.contracts.records import SourceLine, Trace, TraceKey
from proofspan.services.spans import PageView
from proofspan.ui.safe import Piece
from proofspan.ui.words import counted, lines, variant

#: Characters of a question's id that are shown; an id may be a whole sentence.
MAX_ID = 60
NO_TRACE = (
    "There is no trace behind this row: the run has a stored report alone, and a report keeps no answer."
)


def name_piece(trace: Trace, repeat: int) -> Piece:
    """The question's id and which trace of it: `Q01 · p1 · s0 · #2`; a long id stands whole in the tip."""
    key = TraceKey(trace.run_id or "", trace.q_id, trace.paraphrase, trace.seed, repeat)
    name = " · ".join([short_id(trace.q_id), *variant(key)])
    return Piece(name, "muted", tip=trace.q_id if len(trace.q_id) > MAX_ID else "")


def short_id(q_id: str) -> str:
    """An id in the width of a header."""
    return q_id if len(q_id) <= MAX_ID else f"{q_id[: MAX_ID - 1]}…"


def place_words(view: PageView) -> str:
    """`page_idx 41 · PDF page 42 · printed 41`; the printed label only where the document carries one.

    Of a document without pages `lines 12–14 of 220`.
    """
    if view.text is not None:
        found = view.chosen
        of = counted(view.text.line_count, "line")
        return f"{lines(found.ranges)} of {view.text.line_count:,}" if found and found.ranges else of
    if view.page_idx is None:
        return ""
    of = f" of {view.page_count}" if view.page_count else ""
    printed = f" · printed {view.printed}" if view.printed else ""
    return f"page_idx {view.page_idx} · PDF page {view.page_idx + 1}{of}{printed}"


def source_words(source: SourceLine) -> str:
    """Where a record stands; an entry of a JSON array has a place and no bytes of its own."""
    if not source.length:
        return f"{source.file}, entry {source.line:,}"
    return f"{source.file}, line {source.line:,}, byte {source.offset:,}, {source.length:,} bytes"
