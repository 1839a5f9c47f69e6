"""The rank of the gold section of every question over the runs: which question climbs, which falls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import quote_plus

from proofspan.metrics.buckets import BUCKET_NAMES
from proofspan.services.ranks import Place, RankOrder, Ranks
from proofspan.ui.grid import Cell, Column, Grid, Row
from proofspan.ui.state import ViewState, question_name
from proofspan.ui.theme import BUCKET_COLOURS
from proofspan.ui.trends_points import base

ROWS_A_PAGE = 40
#: CSS pixels of the frame; of a longer list the rest scrolls inside.
HEIGHT = 640
ORDERS: Mapping[RankOrder, str] = {"falls": "falls most", "climbs": "climbs most", "question": "by question"}
#: How strong a tint is: a hit, a place in the top 20 (from the second to the last), a gap.
_HIT, _NEAR, _FAR, _GAP = 0.85, 0.8, 0.25, 0.6
_NONE = "–"


def rank_grid(
    known: Ranks,
    q_ids: Sequence[str],
    view: ViewState,
    *,
    runs: Mapping[str, str],
    run: str,
    against: str | None,
) -> Grid:
    """A row a question, a column a run (`runs`: id → title), and last how far it moved against `against`."""
    columns = [Column(Cell(run_id, tip=title)) for run_id, title in runs.items()]
    if against is not None:
        told = f"Places climbed or lost from {against} to {run}; not found counts as place {known.worst + 1}"
        columns.append(Column(Cell("change", tip=told), "end"))
    starts = {run_id: base(view, run_id).link("question") for run_id in runs}
    rows = []
    for q_id in q_ids:
        name = quote_plus(question_name(q_id))
        cells = [
            _cell(known.places[q_id].get(run_id), q_id, run_id, f"{start}&q={name}")
            for run_id, start in starts.items()
        ]
        cells += [_move(known.move(q_id, run, against))] if against is not None else []
        words = known.questions[q_id]
        rows.append(Row(Cell(f"{q_id}  {words}", tip=words), tuple(cells)))
    told = "Rank of the gold section by question and run"
    return Grid(told, "question", tuple(columns), tuple(rows), height=HEIGHT, from_end=True)


def _cell(place: Place | None, q_id: str, run_id: str, address: str) -> Cell:
    if place is None:
        return Cell("", tip=f"{q_id} is not judged in {run_id}")
    told = f"rank {place.rank:,}" if place.rank is not None else "not found"
    return Cell(
        _NONE if place.rank is None else f"{place.rank:,}",
        tip=f"{run_id}: gold section {told} in the last stage; {place.bucket}: {BUCKET_NAMES[place.bucket]}",
        look=BUCKET_COLOURS[place.bucket],
        tone=_tone(place),
        href=address,
        spoken=f"{q_id} in {run_id}: gold section {told}, {place.bucket}; open the question",
    )


def _tone(place: Place) -> float:
    if place.bucket == "hit":
        return _HIT
    if place.bucket == "score_policy":
        return _NEAR - (_NEAR - _FAR) * (min(max(place.rank or 20, 2), 20) - 2) / 18
    return _GAP


def _move(places: int | None) -> Cell:
    if places is None:
        return Cell(_NONE, look="quiet", tip="not judged in both runs")
    if not places:
        return Cell("=", look="quiet", tip="as before")
    if places > 0:
        return Cell(f"▲ {places:,}", look="green", tip=f"climbed {places:,}")
    return Cell(f"▼ {-places:,}", look="red", tip=f"fell {-places:,}")
