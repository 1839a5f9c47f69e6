"""Stored reports: the labels of an earlier pass, shown beside the recomputed ones."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from proofspan.contracts.records.chunk_id import sha1_8
from proofspan.contracts.records.field_values import index_of, text_of, texts_of
from proofspan.contracts.records.records import Json, LineIssue, SourceLine, Trace
from proofspan.traces.lines.reader import UnusableError
from proofspan.traces.lines.tables import read_table
from proofspan.traces.records.identity import record_from


@dataclass(frozen=True, slots=True)
class StoredRow:
    """One row of a stored report. `q_id` is None in the reports of the triage recipe.

    `label` may be unknown to us; `llm_summary` is only shown.
    """

    q: str
    label: str
    source: SourceLine
    why: str = ""
    q_id: str | None = None
    paraphrase: int = 0
    seed: int = 0
    chunks: tuple[str, ...] = ()
    citations_in_answer: tuple[str, ...] = ()
    llm_summary: str | None = None
    raw: Mapping[str, Json] = field(default_factory=dict)


class StoredReport:
    """Assigns the rows to traces: by identity if rows have one, else by question.

    Rows without `q_id` belong, in order, to the traces with the same question, so traces must be looked up
    in the order of their file.
    """

    def __init__(self, rows: Iterable[StoredRow]) -> None:
        #: By identity, or by question.
        self._waiting: dict[tuple[str, int, int] | str, deque[StoredRow]] = defaultdict(deque)
        for row in rows:
            key = row.q if row.q_id is None else (row.q_id, row.paraphrase, row.seed)
            self._waiting[key].append(row)

    def take(self, *, q: str, q_id: str, paraphrase: int = 0, seed: int = 0) -> StoredRow | None:
        """Return and remove the next row of that trace; None when all are taken."""
        waiting = self._waiting.get((q_id, paraphrase, seed)) or self._waiting.get(q)
        return waiting.popleft() if waiting else None

    def unmatched(self) -> list[StoredRow]:
        """Return the rows that no trace has taken, in the order of their file: each is a finding."""
        return sorted(chain.from_iterable(self._waiting.values()), key=lambda row: row.source.line)


def read_report(path: Path, *, file: str) -> tuple[list[StoredRow], list[LineIssue]]:
    """Return the rows of a stored report in file order, and the issues of single lines.

    Raises InputFault if the file cannot be read at all.
    """
    items = list(read_table(path, file=file, record_of=_row))
    rows = [item for item in items if not isinstance(item, LineIssue)]
    return rows, [item for item in items if isinstance(item, LineIssue)]


def _row(obj: Json, source: SourceLine) -> StoredRow:
    obj = record_from("report", obj)
    q, label = obj.get("q", obj.get("question")), obj.get("label")
    if not isinstance(q, str) or not isinstance(label, str):
        raise UnusableError(
            "row_incomplete", "the report row has no q or no label", "Write the report again."
        )
    why = obj.get("why")
    return StoredRow(
        q=q,
        label=label,
        source=source,
        why=why if isinstance(why, str) else "",
        q_id=text_of(obj.get("q_id")) or text_of(obj.get("qid")),
        paraphrase=index_of(obj.get("paraphrase")) or 0,
        seed=index_of(obj.get("seed")) or 0,
        chunks=texts_of(obj.get("chunks")),
        citations_in_answer=texts_of(obj.get("citations_in_answer")),
        llm_summary=summary_in(obj),
        raw=obj,
    )


def summary_in(record: Mapping[str, Json]) -> str | None:
    """Return the summary that a model wrote of a question's checks: auxiliary text that decides nothing."""
    summary = record.get("llm_summary")
    return summary if isinstance(summary, str) and summary.strip() else None


def remembered(row: StoredRow, run_id: str) -> Trace:
    """Return the part of a trace that a report row has, which is not the answer."""
    return Trace(
        q=row.q,
        answer="",
        chunk_ids=row.chunks,
        run_id=run_id,
        q_id=row.q_id or sha1_8(row.q),
        paraphrase=row.paraphrase,
        seed=row.seed,
        source=row.source,
        suspicions=(),
        raw={},
    )
