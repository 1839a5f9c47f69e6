"""Located citations from the index, for documents that are not open.

Rows are those of `Store.placed`, one per citation; None if the run's citations are not located.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from proofspan.contracts.records.records import TraceKey
from proofspan.evidence.types import Difference, FoundSpan
from proofspan.services.page.target import cite_id

#: A number differs; the index does not record which.
_SOME_FIGURE = Difference("", "", "number")


def of_question(rows: pd.DataFrame | None, key: TraceKey) -> dict[str, FoundSpan]:
    """Return status and page of a question's located citations, by the id of their passage."""
    if rows is None:
        return {}
    is_own = (rows["q_id"] == key.q_id) & (rows["repeat"] == key.repeat)
    is_own &= (rows["paraphrase"] == key.paraphrase) & (rows["seed"] == key.seed)
    looked_for = rows[is_own & (rows["status"] != "not_placed")]
    return {cite_id(row["number"]): _found(row) for row in looked_for.to_dict("records")}


def citing(rows: pd.DataFrame | None, chunk_id: str, *, run_id: str) -> dict[TraceKey, int]:
    """Return the run's traces that cite a chunk, in order, with the number of the first such citation."""
    if rows is None:
        return {}
    traces: dict[TraceKey, int] = {}
    for row in rows[rows["chunk_id"] == chunk_id].to_dict("records"):
        key = TraceKey(run_id, row["q_id"], int(row["paraphrase"]), int(row["seed"]), int(row["repeat"]))
        traces.setdefault(key, int(row["number"]))
    return traces


def _found(row: Mapping[Hashable, Any]) -> FoundSpan:
    return FoundSpan(
        row["status"],
        None if pd.isna(row["page_idx"]) else int(row["page_idx"]),
        _is_true(row["page_mismatch"]),
        0.0 if pd.isna(row["agreement"]) else float(row["agreement"]),
        differences=(_SOME_FIGURE,) if _is_true(row["numbers_differ"]) else (),
    )


def _is_true(value: Any) -> bool:
    return bool(pd.notna(value) and value)
