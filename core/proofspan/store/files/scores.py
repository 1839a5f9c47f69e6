"""Scores of other tools in the index: a narrow table beside a segment, a row for each score of a trace.

Only segments with scores have the file, so that a run without any costs nothing. A list reads one score as
two columns: its mean in each trace, and its labels there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from proofspan.store.files.run_file import Segment, scores_name
from proofspan.store.files.segment_files import DamagedError, read_table, write_table
from proofspan.traces.records.scores import Score

#: Characters of a label; a longer text is a comment, which no list is filtered by.
MOST_LABEL = 200
_WORD = pa.dictionary(pa.int32(), pa.string())
#: `row` is the trace's place in its segment, from 0; rows are in its order. Number and label are null where
#: the score has none.
SCORE_SCHEMA = pa.schema([("row", pa.int64()), ("name", _WORD), ("number", pa.float64()), ("label", _WORD)])
_LABELS = pa.list_(pa.string())
#: The columns of one score.
SCORE_COLUMNS = pa.schema([("number", pa.float64()), ("labels", _LABELS)])


def export_columns(name: str) -> tuple[str, str]:
    """Return the columns of a score in an export: its number and its labels."""
    return f"score:{name}", f"score_label:{name}"


class ScoreName(NamedTuple):
    """A score that a run has: how many traces, and which numbers and labels there are.

    `lowest` and `highest` are None without any number. `numbers` and `labels` count the different ones.
    """

    name: str
    traces: int
    lowest: float | None
    highest: float | None
    numbers: int
    labels: int

    @property
    def is_ranged(self) -> bool:
        """Whether its numbers say more than its labels do, each of which may be a number in words."""
        return self.numbers > self.labels


class ScoreRows:
    """Collects the scores of a segment, trace by trace."""

    def __init__(self) -> None:
        self._rows: list[int] = []
        self._scores: list[Score] = []

    def add(self, row: int, scores: Iterable[Score]) -> None:
        """Add the scores of the trace at a place."""
        for score in scores:
            self._rows.append(row)
            self._scores.append(score)

    def table(self) -> pa.Table | None:
        """Return them as a table of `SCORE_SCHEMA`, None without any."""
        if not self._scores:
            return None
        labels = (score.label for score in self._scores)
        columns = (
            self._rows,
            [score.name for score in self._scores],
            [score.number for score in self._scores],
            [label if label is None or len(label) <= MOST_LABEL else None for label in labels],
        )
        arrays = [pa.array(each, field.type) for each, field in zip(columns, SCORE_SCHEMA, strict=True)]
        return pa.table(arrays, schema=SCORE_SCHEMA)


def write_scores(folder: Path, name: str, scores: pa.Table) -> None:
    """Write the scores of a segment; the file appears whole or not at all."""
    write_table(folder, name, scores, repeating=("name", "label"))


def read_scores(folder: Path, segments: Sequence[Segment]) -> pa.Table:
    """Return the scores of several segments, with the rows of all of them counted from 0.

    DamagedError where a file is missing or damaged, or has scores of rows that its segment does not have.
    """
    tables, first = [SCORE_SCHEMA.empty_table()], 0
    for segment in segments:
        if segment.scores:
            path = folder / scores_name(segment.name)
            table = read_table(path)
            rows = table.column("row").to_numpy()
            if len(rows) and not 0 <= rows.min() <= rows.max() < segment.rows:
                raise DamagedError(folder, "scores of rows that the index does not have")
            tables.append(table.set_column(0, "row", pa.array(rows + first)))
        first += segment.rows
    return pa.concat_tables(tables).unify_dictionaries()


def names_of(scores: pa.Table) -> list[ScoreName]:
    """Return the scores of a table by name, those of most traces first."""
    asked = [(each, "count_distinct") for each in ("row", "number", "label")]
    asked += [("number", "min"), ("number", "max")]
    found = scores.group_by("name", use_threads=False).aggregate(asked).to_pylist()
    names = [
        ScoreName(
            name=each["name"],
            traces=each["row_count_distinct"],
            lowest=each["number_min"],
            highest=each["number_max"],
            numbers=each["number_count_distinct"],
            labels=each["label_count_distinct"],
        )
        for each in found
    ]
    return sorted(names, key=lambda each: (-each.traces, each.name))


def columns_of(scores: pa.Table, name: str, rows: int) -> pa.Table:
    """Return one score as `SCORE_COLUMNS` of a run with this many rows.

    The number is the mean of those in a trace, null without any; labels are null where the score is not.
    """
    chosen = scores.filter(pc.equal(scores.column("name"), name))
    numbered = chosen.filter(pc.is_valid(chosen.column("number")))
    at, values = numbered.column("row").to_numpy(), numbered.column("number").to_numpy()
    counts = np.bincount(at, minlength=rows)
    # Divided first, as a sum of the greatest numbers is no number.
    means = np.bincount(at, weights=values / np.maximum(counts[at], 1), minlength=rows)
    labelled = chosen.filter(pc.is_valid(chosen.column("label")))
    has = np.zeros(rows, dtype=bool)
    has[chosen.column("row").to_numpy()] = True
    ends = np.cumsum(np.bincount(labelled.column("row").to_numpy(), minlength=rows))
    labels = pa.ListArray.from_arrays(
        pa.array(np.concatenate([[0], ends]), pa.int32()),
        labelled.column("label").cast(pa.string()).combine_chunks(),
        mask=pa.array(~has),
    )
    return pa.table([pa.array(means, mask=counts == 0), labels], schema=SCORE_COLUMNS)
