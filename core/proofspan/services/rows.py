"""Write rows as CSV, JSON, JSON lines or a Markdown table: the exports of all pages and commands."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np
import orjson
import pandas as pd

from proofspan.wording import spreadsheet_text

Kind = Literal["csv", "json", "jsonl", "markdown"]
Frames = Iterable[pd.DataFrame]
#: A row as plain Python values: lists for arrays, None for missing values.
Record = Mapping[str, Any]

#: Title for people, suffix and media type of each kind.
_FILES: Mapping[Kind, tuple[str, str, str]] = {
    "csv": ("CSV", "csv", "text/csv"),
    "json": ("JSON", "json", "application/json"),
    "jsonl": ("JSON lines", "jsonl", "application/x-ndjson"),
    "markdown": ("Markdown table", "md", "text/markdown"),
}


class Column(NamedTuple):
    """A column of a Markdown table: its title, its cell of a record, and the line below the title."""

    title: str
    cell: Callable[[Record], str]
    rule: str = "---"


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of an export.

    `whole` are columns of whole numbers, which pandas turns into floats if one is missing. `markdown` chooses
    the columns of a Markdown table by the first piece of its rows, None for an empty table. `json` are
    columns that hold JSON as text.
    """

    columns: tuple[str, ...]
    whole: frozenset[str] = frozenset()
    markdown: Callable[[pd.DataFrame | None], Sequence[Column]] = lambda _: ()
    json: frozenset[str] = frozenset()

    def records(self, frame: pd.DataFrame) -> Iterator[dict[str, Any]]:
        """Yield the rows of a frame as plain values."""
        columns = ([plain(value) for value in frame[name].tolist()] for name in self.columns)
        for values in zip(*columns, strict=True):
            row = dict(zip(self.columns, values, strict=True))
            yield row | {name: int(row[name]) for name in self.whole if row[name] is not None}

    def values(self, frame: pd.DataFrame) -> Iterator[dict[str, Any]]:
        """Yield the same for JSON, into which columns of JSON go as they are."""
        for row in self.records(frame):
            held = (name for name in self.json if row[name] is not None)
            yield row | {name: orjson.Fragment(row[name]) for name in held}


@dataclass(frozen=True, slots=True)
class Export:
    """A kind of file: its title, suffix, media type, and the writer of its pieces of text."""

    title: str
    suffix: str
    mime: str
    pieces: Callable[[Frames], Iterator[str]]


def exports(layout: Layout, *kinds: Kind) -> dict[str, Export]:
    """Return the exports of some rows by kind, in the order in which a menu offers them."""
    return {kind: Export(*_FILES[kind], partial(write_rows, kind=kind, layout=layout)) for kind in kinds}


def write_rows(frames: Frames, kind: Kind, layout: Layout) -> Iterator[str]:
    """Write rows in pieces.

    A CSV has a header. JSON has sorted keys and null for missing values.
    """
    if kind == "csv":
        yield csv_lines([layout.columns])
        for frame in frames:
            yield csv_lines([row[name] for name in layout.columns] for row in layout.records(frame))
    elif kind == "jsonl":
        option = orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
        for frame in frames:
            yield "".join(orjson.dumps(row, option=option).decode() for row in layout.values(frame))
    elif kind == "json":
        option = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
        records = [row for frame in frames for row in layout.values(frame)]
        yield orjson.dumps(records, option=option).decode()
    else:
        pieces = iter(frames)
        first = next(pieces, None)
        columns = layout.markdown(first)
        yield markdown_head([column.title for column in columns], [column.rule for column in columns])
        for frame in chain([] if first is None else [first], pieces):
            rows = ((column.cell(row) for column in columns) for row in layout.records(frame))
            yield "".join(map(markdown_line, rows))


def markdown_head(titles: Sequence[str], rules: Sequence[str]) -> str:
    """Return the two lines that open a Markdown table."""
    return f"{markdown_line(titles)}|{'|'.join(rules)}|\n"


def markdown_line(cells: Iterable[str]) -> str:
    """Return a line of a Markdown table from escaped cells."""
    return f"| {' | '.join(cells)} |\n"


def markdown_cell(text: str) -> str:
    """Return text on one line that neither ends its cell nor starts a tag."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def plain(value: Any) -> Any:
    """Return a value of a frame as a plain Python one: a list for an array, None for a missing value."""
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(item) for item in value]
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and math.isnan(value) else value


def csv_lines(rows: Iterable[Iterable[Any]]) -> str:
    """Return rows of plain values as lines of a CSV after RFC 4180, so that lone \\r and \\n are quoted.

    Lists are joined by "; ", and a `'` comes before what a spreadsheet would run.
    """

    def cell(value: Any) -> Any:
        if isinstance(value, list):
            value = "; ".join("" if item is None else str(item) for item in value)
        return spreadsheet_text(value) if isinstance(value, str) else value

    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\r\n").writerows(map(cell, row) for row in rows)
    return buffer.getvalue()
