"""A question of a run that has a stored report and no traces: what the report's row remembers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from proofspan.contracts.records import Chunk, GoldQuestion, Trace
from proofspan.diagnosis.types import Profile
from proofspan.services.questions import QuestionView, load_question
from proofspan.traces.reports import StoredRow, remembered


def stored_question(
    row: StoredRow,
    *,
    run_id: str,
    chunks: Mapping[str, Chunk],
    gold: Mapping[str, GoldQuestion],
    profile: Profile,
    unpaged: frozenset[str] = frozenset(),
) -> QuestionView:
    """The row as a question: its retrieved and cited ids, with what their chunks add.

    There is no answer to judge, so there is no label of our own either (`QuestionView.row` is None); the
    trace's `raw` is the report's row as it was written.
    """
    trace = with_ids(row, run_id)
    view = load_question(trace, chunks=chunks, gold=gold, corpus=None, profile=profile, unpaged=unpaged)
    return replace(view, trace=replace(view.trace, raw=row.raw), stored=row)


def with_ids(row: StoredRow, run_id: str) -> Trace:
    """What the row remembers, with its ids where a trace line has them."""
    raw = {
        "chunks": [{"id": chunk_id} for chunk_id in row.chunks],
        "citations": [{"chunk_id": chunk_id} for chunk_id in row.citations_in_answer],
    }
    return replace(remembered(row, run_id), raw=raw)
