"""The citations of an indexed run, read from its index: the trace file is not needed again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from proofspan.contracts.records.records import Citation
from proofspan.store.files.run_file import RunFile, Segment
from proofspan.store.files.segment_files import read_columns, read_table
from proofspan.traces.records.citations import recorded_citations


class CitedTrace(NamedTuple):
    """A trace's row in its segment (from 0), its identity, and what it cites."""

    row: int
    q_id: str
    paraphrase: int
    seed: int
    repeat: int
    citations: tuple[Citation, ...]


def read_citations(folder: Path, run_file: RunFile, segment: Segment) -> Iterator[CitedTrace]:
    """Yield the traces of a segment that cite something, in the order of the file.

    The citations are those of `proofspan.traces.records.citations.citations`. DamagedError where the index
    cannot be read.
    """
    table = read_columns(folder, [segment.name], ("q_id", "paraphrase", "seed", "citations"))
    first, repeats = run_file.rows_before(segment), _repeats(folder, run_file)
    columns = (column.to_pylist() for column in table.columns)
    for row, (q_id, paraphrase, seed, cited) in enumerate(zip(*columns, strict=True)):
        if cited is not None:
            repeat = repeats.get(first + row, 1)
            yield CitedTrace(row, q_id, paraphrase, seed, repeat, recorded_citations(cited))


def _repeats(folder: Path, run_file: RunFile) -> dict[int, int]:
    """Return the `repeat` of the few rows in the joined file, by their row in the run."""
    if run_file.joined is None:
        return {}
    table = read_table(folder / run_file.joined, ["row", "repeat"])
    return dict(zip(*(column.to_pylist() for column in table.columns), strict=True))
