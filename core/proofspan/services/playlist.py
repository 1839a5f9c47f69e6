"""The list that a Walkthrough goes through: its traces in order, each with the line that holds it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from proofspan.contracts.records import SourceLine, TraceKey


@dataclass(frozen=True, slots=True)
class Stop:
    """One trace of a list. `is_labelled` is False where the index has no label for it."""

    key: TraceKey
    source: SourceLine
    q: str
    is_labelled: bool


@dataclass(frozen=True, slots=True)
class Playlist:
    """Traces in order; positions count from 0. `unknown` are names that were asked for and are not there.

    It holds columns and no records: a list may have a hundred thousand lines.
    """

    columns: Mapping[str, Sequence[Any]]
    rows: Sequence[int]
    places: Mapping[TraceKey, int]
    unknown: tuple[str, ...] = field(default=())

    @classmethod
    def of(cls, frame: pd.DataFrame) -> Playlist:
        """All of `Store.places`, in its order."""
        columns = {str(name): frame[name].tolist() for name in frame.columns}
        return cls._over(columns, range(len(frame)))

    @classmethod
    def _over(
        cls, columns: Mapping[str, Sequence[Any]], rows: Sequence[int], unknown: Iterable[str] = ()
    ) -> Playlist:
        places = {_key(columns, row): place for place, row in enumerate(rows)}
        return cls(columns, rows, places, tuple(unknown))

    def only(self, keys: Collection[TraceKey]) -> Playlist:
        """The list with these traces alone, in its own order."""
        rows = [row for row in self.rows if _key(self.columns, row) in keys]
        return self._over(self.columns, rows)

    def picked(self, named: Mapping[str, TraceKey]) -> Playlist:
        """These traces in the order of their names; those that the list does not hold are `unknown`."""
        found = {name: self.places.get(key) for name, key in named.items()}
        rows = [self.rows[place] for place in found.values() if place is not None]
        return self._over(self.columns, rows, (name for name, place in found.items() if place is None))

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Stop]:
        return map(self.at, range(len(self)))

    def at(self, place: int) -> Stop:
        """The trace at a position from 0; IndexError beyond the list's end."""
        row, columns = self.rows[place], self.columns
        file, line, offset, length = (columns[name][row] for name in ("file", "line", "offset", "length"))
        source = SourceLine(str(file), int(line), int(offset), int(length))
        is_labelled = isinstance(columns["label"][row], str)
        return Stop(_key(columns, row), source, str(columns["q"][row]), is_labelled)

    def place(self, key: TraceKey) -> int | None:
        """Where a trace stands, None where the list does not hold it."""
        return self.places.get(key)


def _key(columns: Mapping[str, Sequence[Any]], row: int) -> TraceKey:
    paraphrase, seed, repeat = (int(columns[name][row]) for name in ("paraphrase", "seed", "repeat"))
    return TraceKey(str(columns["run_id"][row]), str(columns["q_id"][row]), paraphrase, seed, repeat)
