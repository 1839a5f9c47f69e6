"""Values of rows that depend on the whole run: repeats, rules over the run, labels of its stored report.

A run that grows is checked again as a whole, from three small columns; in nearly every run nothing else has
to be read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from proofspan.contracts.records.records import LineIssue
from proofspan.contracts.rules.catalogue import in_order
from proofspan.contracts.rules.run import usual
from proofspan.store.files.columns import SEVERAL, table_of
from proofspan.store.files.segment_files import read_columns
from proofspan.traces.records.stored_reports import StoredReport, StoredRow


def _late_codes(folder: Path, segments: Sequence[str]) -> dict[int, list[str]]:
    """Return the codes of rules over the run, by row; few rows have any.

    A code that a row already has is left out.
    """
    if not segments:
        return {}
    marks = read_columns(folder, segments, ("memory", "offset_unit", "answer_print")).unify_dictionaries()
    mixed = unlike_most(marks.column("offset_unit"), besides=SEVERAL)
    if len(mixed):  # except those that have the code already
        own = read_columns(folder, segments, ("codes",)).column("codes").take(pa.array(mixed)).to_pylist()
        mixed = mixed[["mixed_offset_units" not in (codes or ()) for codes in own]]
    found: dict[int, list[str]] = {}
    for code, places in (
        ("memory_desync", _desynced(marks.column("memory"))),
        ("mixed_offset_units", mixed),
        ("answer_repeated", _repeated(folder, segments, marks.column("answer_print"))),
    ):
        for place in places.tolist():
            found.setdefault(place, []).append(code)
    return found


def unlike_most(words: pa.ChunkedArray, *, besides: str | None = None) -> np.ndarray:
    """Return the rows with another word than most have; rows without a word are like any other.

    `besides` is a word that cannot be that of most.
    """
    counts = _counts(words)
    most = usual({word: count for word, count in counts.items() if word != besides})
    return _rows_with(words, counts.keys() - {most})


def _counts(words: pa.ChunkedArray) -> dict[str, int]:
    counted = pc.value_counts(words.cast(pa.string()).drop_null().combine_chunks())
    return dict(zip(*(part.to_pylist() for part in counted.flatten()), strict=True))


def _rows_with(words: pa.ChunkedArray, wanted: set[str]) -> np.ndarray:
    known = pa.array(sorted(wanted), pa.string())
    return np.flatnonzero(pc.is_in(words.cast(pa.string()), known).to_numpy())


def _desynced(states: pa.ChunkedArray) -> np.ndarray:
    """Return the rows whose `mem_rev` or `mem_hash` is not that of most rows that have one."""
    counts = _counts(states)
    wanted: set[str] = set()
    for part in (0, 1):
        words: Counter[str] = Counter()
        for state, count in counts.items():
            words[state.split(":")[part]] += count
        most = usual(words)
        wanted |= {state for state in counts if state.split(":")[part] not in ("", most)}
    return _rows_with(states, wanted)


def _repeated(folder: Path, segments: Sequence[str], prints: pa.ChunkedArray) -> np.ndarray:
    """Return the rows that repeat another question's answer, except the first in the file.

    The same question under another id may well get the same answer.
    """
    numbers = prints.drop_null().to_numpy()
    ordered = np.sort(numbers)  # half the time of counting distinct ones
    if not (ordered[1:] == ordered[:-1]).any():
        return np.empty(0, dtype=np.int64)
    known = np.flatnonzero(prints.is_valid().to_numpy())
    _, first, group, sizes = np.unique(numbers, return_index=True, return_inverse=True, return_counts=True)
    again = np.flatnonzero((sizes[group] > 1) & (first[group] != np.arange(len(numbers))))
    asked = read_columns(folder, segments, ("q_id", "q"))
    of_row, of_first = (asked.take(pa.array(known[rows])) for rows in (again, first[group[again]]))
    differ = [pc.not_equal(of_row.column(name), of_first.column(name)) for name in asked.column_names]
    repeated: np.ndarray = known[again[pc.and_(*differ).to_numpy()]]
    return repeated


#: One row per trace that differs from the defaults; `row` is its place in the run, from 0.
JOINED_SCHEMA = pa.schema(
    [
        ("row", pa.int64()),
        ("repeat", pa.int32()),
        ("stored_label", pa.string()),
        ("stored_summary", pa.string()),
        ("late", pa.list_(pa.string())),
        ("late_codes", pa.list_(pa.string())),
    ]
)

IDENTITY = ["q_id", "paraphrase", "seed"]


def join_run(
    folder: Path, segments: Sequence[str], stored: Sequence[StoredRow]
) -> tuple[pa.Table, tuple[LineIssue, ...]]:
    """Number the repeats, and add codes over the run, stored labels and summaries, in the file's order.

    Return a sparse table of `JOINED_SCHEMA`, and the report rows that belong to no trace.
    """
    codes = _late_codes(folder, segments)
    rows: list[dict[str, object]] = []
    has_repeats = False
    if segments and not stored:
        table = read_columns(folder, segments, IDENTITY)
        numbers = [pc.cast(table.column(name), pa.string()) for name in ("paraphrase", "seed")]
        identities = pc.binary_join_element_wise(table.column("q_id"), *numbers, "\n")
        has_repeats = pc.count_distinct(identities).as_py() < table.num_rows
    if not stored and not has_repeats:
        for place in sorted(codes):
            rows.append({"row": place, "repeat": 1, "late": [], "late_codes": codes[place]})
        return table_of(rows, JOINED_SCHEMA), ()
    report = StoredReport(stored)
    seen: Counter[tuple[str, int, int]] = Counter()
    tables = (read_columns(folder, [name], (*IDENTITY, "q", "label")) for name in segments)
    columns = ([column.to_pylist() for column in table.columns] for table in tables)
    traces = chain.from_iterable(zip(*each, strict=True) for each in columns)
    for place, (q_id, paraphrase, seed, q, label) in enumerate(traces):
        seen[q_id, paraphrase, seed] += 1
        repeat = seen[q_id, paraphrase, seed]
        row = report.take(q=q, q_id=q_id, paraphrase=paraphrase, seed=seed) if stored else None
        late = ["duplicate_question"] if repeat > 1 else []
        of_run = in_order([*late, *codes.get(place, ())])
        if not of_run and row is None:
            continue
        if row is not None and label is not None and row.label != label:
            late.append("report_stale")
        of_report = {"stored_label": row.label, "stored_summary": row.llm_summary} if row else {}
        rows.append({"row": place, "repeat": repeat, **of_report, "late": late, "late_codes": of_run})
    unmatched = (
        LineIssue.at(
            source=row.source,
            code="report_row_unmatched",
            message=f"no trace of the run belongs to this row of its report ({row.q_id or row.q[:60]!r})",
            fix="Write the report again from this run's traces.",
            excerpt=row.q[:200],
        )
        for row in report.unmatched()
    )
    return table_of(rows, JOINED_SCHEMA), tuple(unmatched)
