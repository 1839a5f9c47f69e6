"""The candidates of one question in two runs as one grid: where each chunk was, where it is, what it says."""

from __future__ import annotations

from collections.abc import Sequence

from proofspan.services.compared_candidates import Aligned
from proofspan.ui.candidate_rows import beginning_of
from proofspan.ui.grid import Cell, Column, Grid, Look, Row
from proofspan.ui.state import ViewState

#: How the move of a gold chunk looks; whether that of another is good nobody knows.
_LOOKS: dict[str, Look] = {"up": "green", "new": "green", "down": "red", "gone": "red"}
_GOLD = {"chunk": "gold", "page": "gold page", "section": "gold section"}
#: Of more rows the rest scrolls inside the frame, in CSS pixels.
HEIGHT = 560


def candidates_grid(rows: Sequence[Aligned], view: ViewState) -> Grid:
    """A row a chunk, by its rank now, then those that are gone; a link shows its place in both runs."""
    columns = (
        Column(Cell(f"in {view.vs}", tip="Rank then"), "end"),
        Column(Cell(f"in {view.run}", tip="Rank now"), "end"),
        Column(Cell("move"), "start"),
        Column(Cell(""), "start"),
    )
    name = f"Candidates of {view.vs} and of {view.run}, by chunk"
    return Grid(name, "chunk", columns, tuple(_row(row, view) for row in rows), height=HEIGHT)


def _row(row: Aligned, view: ViewState) -> Row:
    text, tip = beginning_of(row.view)
    head = Cell(
        text,
        note=_place(row),
        tip=tip,
        href=view.change(chunk=row.chunk_id, cite=None, page=None).link("compare"),
        spoken=f"{text}. {move_spoken(row)}. Show its place.",
    )
    look: Look = _LOOKS.get(row.move, "quiet") if row.gold else "quiet"
    return Row(
        head,
        (
            Cell(_rank(row.was_rank)),
            Cell(_rank(row.rank)),
            Cell(move_words(row), look=look, tip=move_spoken(row)),
            Cell(" · ".join(_marks(row, view)), look="green" if row.gold else "orange"),
        ),
    )


def _place(row: Aligned) -> str:
    """`section 9.1.3 · p. 73`, as far as it is known."""
    candidate = row.view.candidate
    section = f"section {candidate.section_id}" if candidate.section_id else ""
    page = f"p. {candidate.page_idx + 1:,}" if candidate.page_idx is not None else ""
    return " · ".join(filter(None, (section, page)))


def move_words(row: Aligned) -> str:
    """`↑3`, `↓1`, `=`, `new`, `gone`."""
    return {"up": f"↑{row.places:,}", "down": f"↓{row.places:,}", "same": "="}.get(row.move, row.move)


def move_spoken(row: Aligned) -> str:
    """The same to be heard: `up 3, from rank 5 to 2`."""
    if row.move in ("new", "gone"):
        return f"new at rank {row.rank}" if row.move == "new" else f"gone, was at rank {row.was_rank}"
    if row.move == "same":
        return f"stays at rank {row.rank}"
    return f"{row.move} {row.places}, from rank {row.was_rank} to {row.rank}"


def _marks(row: Aligned, view: ViewState) -> list[str]:
    """What the gold question expects, and which of the answers cites it."""
    cited = [run for run, each in ((view.vs, row.was), (view.run, row.now)) if each and each.cited_by]
    gold = [_GOLD[row.gold]] if row.gold else []
    return [*gold, *([f"cited in {' and '.join(map(str, cited))}"] if cited else [])]


def _rank(rank: int | None) -> str:
    return "–" if rank is None else f"{rank:,}"
