"""The contract's rules that only the run as a whole can judge, over the columns of `proofspan.store.marks`.

What a rule compares a trace with is the rest of its run, so a run that grows is judged anew as a whole: from
three small columns, and in nearly every run nothing else has to be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from proofspan.store.files import read_columns
from proofspan.store.marks import SEVERAL

#: Places of rows in their run, from 0, in order.
_NONE: np.ndarray = np.empty(0, dtype=np.int64)


def late_codes(folder: Path, segments: Sequence[str]) -> dict[int, list[str]]:
    """The codes that the rest of the run gives its rows, by the place of the row; few rows have any.

    A code that a row has of its own is not given again.
    """
    if not segments:
        return {}
    marks = read_columns(folder, segments, ("memory", "offset_unit", "answer_print")).unify_dictionaries()
    found: dict[int, list[str]] = {}
    for code, places in (
        ("memory_desync", _desynced(marks.column("memory"))),
        ("mixed_offset_units", _mixed(folder, segments, marks.column("offset_unit"))),
        ("answer_repeated", _repeated(folder, segments, marks.column("answer_print"))),
    ):
        for place in places.tolist():
            found.setdefault(place, []).append(code)
    return found


def unlike_most(words: pa.ChunkedArray, *, besides: str | None = None) -> np.ndarray:
    """The rows with another word than most have; of equally many words the first in the file counts as most.

    Rows without a word are like any other. `besides` is a word that most can't have.
    """
    column = words.combine_chunks()
    known = column.dictionary.to_pylist()
    if len(known) < 2 and besides not in known:
        return _NONE
    codes = column.indices.fill_null(len(known)).to_numpy(zero_copy_only=False)
    counts = np.bincount(codes, minlength=len(known) + 1)
    counts[-1] = 0
    if besides in known:
        counts[known.index(besides)] = 0
    most = np.flatnonzero(counts == counts.max())
    usual = most[0] if len(most) == 1 else codes[np.argmax(np.isin(codes, most))]
    if counts[usual] == 0:  # every word is `besides`
        usual = len(known)
    return np.flatnonzero((codes != usual) & (codes != len(known)))


def _desynced(states: pa.ChunkedArray) -> np.ndarray:
    """The rows whose `mem_rev` or whose `mem_hash` is not that of most rows that have one."""
    column = states.combine_chunks()
    known = column.dictionary.to_pylist()
    if len(known) < 2:
        return _NONE
    parts = zip(*(state.split(":") for state in known), strict=True)
    words = (pa.array([word or None for word in part], pa.string()).take(column.indices) for part in parts)
    unlike = (unlike_most(pa.chunked_array([part.dictionary_encode()])) for part in words)
    return np.unique(np.concatenate(list(unlike)))


def _mixed(folder: Path, segments: Sequence[str], units: pa.ChunkedArray) -> np.ndarray:
    """The rows in another unit than the run's, but for those whose own rules say so already."""
    places = unlike_most(units, besides=SEVERAL)
    if not len(places):
        return places
    own = read_columns(folder, segments, ("codes",)).column("codes").take(pa.array(places)).to_pylist()
    return places[["mixed_offset_units" not in (codes or ()) for codes in own]]


def _repeated(folder: Path, segments: Sequence[str], prints: pa.ChunkedArray) -> np.ndarray:
    """The rows that are another question's answer over again, each but the first in the file.

    The same question asked under another id may well get the same answer.
    """
    numbers = prints.drop_null().to_numpy()
    ordered = np.sort(numbers)  # half of what counting the distinct ones takes
    if not (ordered[1:] == ordered[:-1]).any():
        return _NONE
    known = np.flatnonzero(prints.is_valid().to_numpy())
    _, first, group, sizes = np.unique(numbers, return_index=True, return_inverse=True, return_counts=True)
    again = np.flatnonzero((sizes[group] > 1) & (first[group] != np.arange(len(numbers))))
    asked = read_columns(folder, segments, ("q_id", "q"))
    of_row, of_first = (asked.take(pa.array(known[rows])) for rows in (again, first[group[again]]))
    differ = [pc.not_equal(of_row.column(name), of_first.column(name)) for name in asked.column_names]
    repeated: np.ndarray = known[again[pc.and_(*differ).to_numpy()]]
    return repeated
