"""What only the run as a whole tells: repeats, codes of rules over the run, labels of its stored report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from proofspan.contracts.codes import in_order
from proofspan.contracts.records import LineIssue
from proofspan.store.columns import Row
from proofspan.store.files import read_columns
from proofspan.store.late import late_codes
from proofspan.traces.reports import StoredReport, StoredRow

#: One row for each trace of which there is something to tell; `row` is its place in the run, from 0.
JOINED_SCHEMA = pa.schema(
    [
        ("row", pa.int64()),
        ("repeat", pa.int32()),
        ("stored_label", pa.string()),
        ("late", pa.list_(pa.string())),
        ("late_codes", pa.list_(pa.string())),
    ]
)

IDENTITY = ["q_id", "paraphrase", "seed"]


@dataclass(frozen=True, slots=True)
class Joined:
    """The sparse table of `JOINED_SCHEMA`, and the report rows that belong to no trace."""

    table: pa.Table
    unmatched: tuple[LineIssue, ...]


def join_run(folder: Path, segments: Sequence[str], stored: Sequence[StoredRow]) -> Joined:
    """Numbers the repeats and gives each trace its late codes and its stored label, in the file's order."""
    codes = late_codes(folder, segments)
    if not stored and not _has_repeats(folder, segments):
        return Joined(_table([(place, 1, None, [], codes[place]) for place in sorted(codes)]), ())
    report = StoredReport(stored)
    rows: list[Row] = []
    seen: dict[tuple[str, int, int], int] = {}
    for place, (q_id, paraphrase, seed, q, label) in enumerate(_identities(folder, segments)):
        identity = (q_id, paraphrase, seed)
        repeat = seen[identity] = seen.get(identity, 0) + 1
        row = report.take(q=q, q_id=q_id, paraphrase=paraphrase, seed=seed) if stored else None
        late = ["duplicate_question"] if repeat > 1 else []
        of_run = in_order([*late, *codes.get(place, ())])
        if not of_run and row is None:
            continue
        if row is not None and label is not None and row.label != label:
            late.append("report_stale")
        rows.append((place, repeat, row.label if row else None, late, of_run))
    return Joined(_table(rows), tuple(_unmatched(row) for row in report.unmatched()))


def _table(rows: Sequence[Row]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else ((),) * len(JOINED_SCHEMA)
    arrays = [pa.array(values, field.type) for values, field in zip(columns, JOINED_SCHEMA, strict=True)]
    return pa.table(arrays, schema=JOINED_SCHEMA)


def _has_repeats(folder: Path, segments: Sequence[str]) -> bool:
    """Whether any identity comes twice: quick to tell, and seldom so."""
    if not segments:
        return False
    table = read_columns(folder, segments, IDENTITY)
    numbers = [pc.cast(table.column(name), pa.string()) for name in ("paraphrase", "seed")]
    identities = pc.binary_join_element_wise(table.column("q_id"), *numbers, "\n")
    return bool(pc.count_distinct(identities).as_py() < table.num_rows)


def _identities(folder: Path, segments: Sequence[str]) -> Iterator[tuple[str, int, int, str, str | None]]:
    for name in segments:
        table = read_columns(folder, [name], (*IDENTITY, "q", "label"))
        yield from zip(*(column.to_pylist() for column in table.columns), strict=True)


def _unmatched(row: StoredRow) -> LineIssue:
    return LineIssue(
        source=row.source,
        code="report_row_unmatched",
        reason=f"no trace of the run belongs to this row of its report ({row.q_id or row.q[:60]!r})",
        remedy="Write the report anew from this run's traces.",
        excerpt=row.q[:200],
    )
