"""Values of rows that depend on the whole run: repeats, rules over the run, labels of its stored report.

Rows that were joined before are kept. New ones are compared with the marks of all segments
(`proofspan.store.files.marks`); only where words are mixed or there is a stored report is every row read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from proofspan.contracts.records.records import LineIssue
from proofspan.contracts.rules.catalogue import in_order
from proofspan.contracts.rules.run import usual
from proofspan.store.files.columns import SEVERAL, table_of
from proofspan.store.files.marks import Marks, marks_of, summed
from proofspan.store.files.run_file import RunFile, Segment
from proofspan.store.files.segment_files import read_columns, read_table
from proofspan.traces.records.stored_reports import StoredReport, StoredRow

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

#: The codes of rules over the run, each a bit of a row.
_CODES = ("duplicate_question", "memory_desync", "mixed_offset_units", "answer_repeated")
_REPEATED = 1 << _CODES.index("answer_repeated")
#: The codes of every combination of bits, in their order.
_COMBINED = [
    in_order([code for bit, code in enumerate(_CODES) if bits >> bit & 1]) for bits in range(1 << len(_CODES))
]


def join_run(
    folder: Path, segments: Sequence[Segment], stored: Sequence[StoredRow], earlier: RunFile | None = None
) -> tuple[pa.Table, tuple[LineIssue, ...]]:
    """Number the repeats, and add codes over the run, stored labels and summaries, in the file's order.

    Rows of segments that an `earlier` index begins with are as they were there. Return a sparse table of
    `JOINED_SCHEMA`, and the report rows that belong to no trace.
    """
    count, kept = sum(segment.rows for segment in segments), 0
    repeats, bits = np.ones(count, np.int32), np.zeros(count, np.uint8)
    if earlier is not None:
        same = [one == other for one, other in zip(earlier.segments, segments, strict=False)]
        kept = (*same, False).index(False)
        _take_over(folder, earlier, sum(segment.rows for segment in segments[:kept]), repeats, bits)
    marks = [marks_of(folder, segment.name) for segment in segments]
    _number_repeats(marks, kept, repeats)
    _mark_repeated_answers(marks, kept, bits)
    names = [segment.name for segment in segments]
    for code, rows in (
        ("duplicate_question", repeats > 1),
        ("memory_desync", _desynced(folder, names, summed(each.memory for each in marks))),
        ("mixed_offset_units", _mixed(folder, names, summed(each.units for each in marks))),
    ):
        bits[rows] |= 1 << _CODES.index(code)
    if stored:
        return _with_report(folder, names, stored, repeats, bits)
    late = np.flatnonzero(bits)
    if not len(late):  # the first array from NumPy would import numpy.ma
        return JOINED_SCHEMA.empty_table(), ()
    lists = pa.array(_COMBINED, JOINED_SCHEMA.field("late").type)
    nothing = pa.nulls(len(late), pa.string())
    columns = [late, repeats[late], nothing, nothing]
    columns += [lists.take(pa.array(each)) for each in (bits[late] & 1, bits[late])]
    return pa.table(columns, schema=JOINED_SCHEMA), ()


def _take_over(folder: Path, earlier: RunFile, count: int, repeats: np.ndarray, bits: np.ndarray) -> None:
    """Take over the repeats and repeated answers of the first rows: they depend on no later row."""
    if earlier.joined is None:
        return
    joined = read_table(folder / earlier.joined, ["row", "repeat", "late_codes"])
    rows = joined.column("row").to_numpy()
    first = rows < count
    repeats[rows[first]] = joined.column("repeat").to_numpy()[first]
    codes = joined.column("late_codes").combine_chunks()
    having = pc.list_parent_indices(codes).filter(pc.equal(pc.list_flatten(codes), "answer_repeated"))
    answered = rows[having.to_numpy()]
    bits[answered[answered < count]] |= _REPEATED


def _placed(marks: Sequence[Marks], kept: int, names: tuple[str, str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of an array of the marks after the first, and their rows in the run."""
    starts = np.cumsum([0, *(len(each.identities) for each in marks)])[kept:-1]
    values, rows = ([getattr(each, name) for each in marks[kept:]] for name in names)
    placed = [each + start for each, start in zip(rows, starts, strict=True)]
    return np.concatenate(values), np.concatenate(placed)


def _number_repeats(marks: Sequence[Marks], kept: int, repeats: np.ndarray) -> None:
    """Number the traces of one identity in the order of the file, from the segment at `kept` on."""
    if kept == len(marks):
        return
    values, rows = _placed(marks, kept, ("identities", "identity_rows"))
    order = np.lexsort((rows, values))
    values, rows = values[order], rows[order]
    numbers = 1 + np.arange(len(values)) - _group_starts(values)
    for each in marks[:kept]:
        numbers += np.searchsorted(each.identities, values, "right")
        numbers -= np.searchsorted(each.identities, values, "left")
    repeats[rows] = numbers


def _group_starts(values: np.ndarray) -> np.ndarray:
    """Return for each place of sorted values the first with the same value."""
    places = np.arange(len(values))
    places[1:][values[1:] == values[:-1]] = 0
    return np.maximum.accumulate(places)


def _mark_repeated_answers(marks: Sequence[Marks], kept: int, bits: np.ndarray) -> None:
    """Mark the rows that repeat another question's answer, except the first in the file.

    The same question under another id may well get the same answer.
    """
    if kept == len(marks):
        return
    answers, rows = _placed(marks, kept, ("answers", "answer_rows"))
    order = np.lexsort((rows, answers))
    answers, rows = answers[order], rows[order]
    ids = np.concatenate([each.ids for each in marks[kept:]])[order]
    questions = np.concatenate([each.questions for each in marks[kept:]])[order]
    first = _group_starts(answers)
    first_ids, first_questions, is_again = ids[first], questions[first], first != np.arange(len(first))
    for each in reversed(marks[:kept]):
        if len(each.answers):
            at = np.searchsorted(each.answers, answers)
            found = each.answers[np.minimum(at, len(each.answers) - 1)] == answers
            first_ids[found], first_questions[found] = each.ids[at[found]], each.questions[at[found]]
            is_again |= found
    bits[rows[is_again & (ids != first_ids) & (questions != first_questions)]] |= _REPEATED


def _desynced(folder: Path, names: Sequence[str], counts: dict[str, int]) -> np.ndarray:
    """Return the rows whose `mem_rev` or `mem_hash` is not that of most rows that have one."""
    wanted: set[str] = set()
    for part in (0, 1):
        words: Counter[str] = Counter()
        for state, count in counts.items():
            words[state.split(":")[part]] += count
        most = usual(words)
        wanted |= {state for state in counts if state.split(":")[part] not in ("", most)}
    return _rows_with(folder, names, "memory", wanted)


def _mixed(folder: Path, names: Sequence[str], counts: dict[str, int]) -> np.ndarray:
    """Return the rows whose unit of offsets is not that of most, except those that have the code already."""
    rows = _rows_with(folder, names, "offset_unit", unlike_most(counts, besides=SEVERAL))
    if len(rows):
        own = read_columns(folder, names, ("codes",)).column("codes").take(pa.array(rows)).to_pylist()
        rows = rows[["mixed_offset_units" not in (codes or ()) for codes in own]]
    return rows


def unlike_most(counts: dict[str, int], *, besides: str | None = None) -> set[str]:
    """Return the words that are not the most frequent one; `besides` is a word that cannot be that."""
    return counts.keys() - {usual({word: count for word, count in counts.items() if word != besides})}


def _rows_with(folder: Path, names: Sequence[str], column: str, wanted: Collection[str]) -> np.ndarray:
    if not wanted:
        return np.empty(0, np.int64)
    words = read_columns(folder, names, (column,)).column(column).cast(pa.string())
    return np.flatnonzero(pc.is_in(words, pa.array(sorted(wanted), pa.string())).to_numpy())


def _with_report(
    folder: Path, names: Sequence[str], stored: Sequence[StoredRow], repeats: np.ndarray, bits: np.ndarray
) -> tuple[pa.Table, tuple[LineIssue, ...]]:
    """Return the rows that differ from the defaults, and those of the report without a trace."""
    report, rows = StoredReport(stored), []
    tables = (read_columns(folder, [name], ("q_id", "paraphrase", "seed", "q", "label")) for name in names)
    columns = ([column.to_pylist() for column in table.columns] for table in tables)
    traces = chain.from_iterable(zip(*each, strict=True) for each in columns)
    for place, (q_id, paraphrase, seed, q, label) in enumerate(traces):
        row = report.take(q=q, q_id=q_id, paraphrase=paraphrase, seed=seed)
        if not bits[place] and row is None:
            continue
        late = list(_COMBINED[bits[place] & 1])
        if row is not None and label is not None and row.label != label:
            late.append("report_stale")
        of_report = {"stored_label": row.label, "stored_summary": row.llm_summary} if row else {}
        of_run = {"late": late, "late_codes": _COMBINED[bits[place]]}
        rows.append({"row": place, "repeat": repeats[place], **of_report, **of_run})
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
