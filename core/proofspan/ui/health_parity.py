"""Written against read: what the run pins beside what its traces log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proofspan.services.parity import ParityRow
from proofspan.store.filters import Filter
from proofspan.ui import safe
from proofspan.ui.boxes import panel
from proofspan.ui.grid import Cell, Column, Grid, Look, Row, show_grid
from proofspan.ui.health_head import linked
from proofspan.ui.health_load import Parity, Pending
from proofspan.ui.safe import Piece
from proofspan.ui.state import ViewState
from proofspan.ui.words import counted

#: So many values are named, the most frequent first; and so many characters of each.
NAMED, MAX_VALUE = 3, 60
_VERDICTS: Mapping[bool | None, tuple[str, Look]] = {
    True: ("✓ the same", "green"),
    False: ("✗ differs", "red"),
    None: ("not compared", "quiet"),
}


def parity_panel(found: Parity | Pending, view: ViewState) -> None:
    """A row a thing that has to be the same, once the run's traces were read for what they log."""
    about = (
        "The index, the model and the analyzer that the manifest pins, and the documents' revisions, beside "
        f"what the traces of {view.run} log of them."
    )
    with panel("parity", "Written against read", about):
        if isinstance(found, Pending):
            safe.show(safe.text([Piece("Reading the traces for what they log …", "muted")], role="hint"))
        elif found.rows:
            show_grid(parity_grid(found.rows, found.differing, view), key="parity-cells")
            if not found.logged.is_all:
                read = f"Of the first {counted(found.logged.traces, 'trace')}."
                safe.show(safe.text([Piece(read, "muted")], role="hint"))
        else:
            said = (
                "Nothing is pinned and nothing is logged: nobody can tell whether the reader reads what the "
                "writer wrote."
            )
            safe.show(safe.text([Piece(said)], role="line"))


def parity_grid(rows: Sequence[ParityRow], differing: Mapping[str, int], view: ViewState) -> Grid:
    """Name, verdict, what is written, what is read and how often, and the questions that differ."""
    columns = (
        *(Column(Cell(name), "start") for name in ("verdict", "written", "read")),
        Column(Cell("questions that differ"), "end"),
    )
    cells = (Row(Cell(row.name), tuple(_cells(row, differing, view))) for row in rows)
    return Grid("Written against read", "", columns, tuple(cells))


def _cells(row: ParityRow, differing: Mapping[str, int], view: ViewState) -> list[Cell]:
    word, look = _VERDICTS[row.is_same]
    told = [f"{_short(each.value)} × {each.traces:,}" for each in row.read[:NAMED]]
    more = f"and {len(row.read) - NAMED:,} more" if len(row.read) > NAMED else ""
    count = differing.get(row.code, 0)
    return [
        Cell(word, look=look),
        Cell(_short(row.written), tip=row.written) if row.written else Cell("not pinned", look="quiet"),
        Cell("; ".join(told), note=more) if told else Cell("not logged", look="quiet"),
        _questions(row, count, view) if row.is_same is False and count else Cell("–", look="quiet"),
    ]


def _questions(row: ParityRow, count: int, view: ViewState) -> Cell:
    href = linked(view, Filter(view.run, code=(row.code,))).link("")
    return Cell(f"{count:,}", href=href, spoken=f"{row.name}: {counted(count, 'question')} that differ, list")


def _short(value: str) -> str:
    return value if len(value) <= MAX_VALUE else f"{value[: MAX_VALUE - 1]}…"
