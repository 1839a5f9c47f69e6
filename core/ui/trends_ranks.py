"""The rank of the gold section of every question over the runs: which question climbs, which falls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from core.metrics.buckets import BUCKET_NAMES
from core.metrics.ranked import Bucket
from core.store.folding import fold
from core.ui.grid import Cell, Column, Grid, Row
from core.ui.state import RankOrder, ViewState, question_name
from core.ui.trends_points import BUCKET_HUES, base

ROWS_A_PAGE = 40
#: CSS pixels of the frame; of a longer list the rest scrolls inside.
HEIGHT = 640
ORDERS: Mapping[RankOrder, str] = {"falls": "falls most", "climbs": "climbs most", "question": "by question"}
#: How strong a tint is: a hit, a place in the top 20 (from the second to the last), a gap.
_HIT, _NEAR, _FAR, _GAP = 0.85, 0.8, 0.25, 0.6
_NONE = "–"


class Place(NamedTuple):
    """Where a question's gold section stood in a run: its rank from 1 on, None where it was not found."""

    rank: int | None
    bucket: Bucket


@dataclass(frozen=True, slots=True)
class Ranks:
    """The judged questions by q_id, in that order: their words, and their places by run.

    A run that does not judge a question is not among its places. `worst` is the largest rank there is.
    """

    questions: Mapping[str, str]
    places: Mapping[str, Mapping[str, Place]]
    worst: int = 0

    @classmethod
    def of(cls, rows: pd.DataFrame) -> Ranks:
        """From one row a question and run: q_id, q, run_id, section_rank, bucket; later words stand."""
        places: dict[str, dict[str, Place]] = {}
        questions: dict[str, str] = {}
        ranks = [None if pd.isna(rank) else int(rank) for rank in rows["section_rank"]]
        columns = (rows[name].tolist() for name in ("q_id", "q", "run_id", "bucket"))
        for q_id, q, run_id, bucket, rank in zip(*columns, ranks, strict=True):
            questions[q_id] = q
            places.setdefault(q_id, {})[run_id] = Place(rank, bucket)
        order = sorted(questions)
        worst = max((rank for rank in ranks if rank is not None), default=0)
        return cls({one: questions[one] for one in order}, {one: places[one] for one in order}, worst)

    def move(self, q_id: str, run: str, against: str | None) -> int | None:
        """How many places a question climbed (above 0) or fell; None where not both runs judge it.

        A section that is not found counts as one place behind the worst rank there is.
        """
        there, here = (self.places[q_id].get(name) for name in (against or "", run))
        if there is None or here is None:
            return None
        return (there.rank or self.worst + 1) - (here.rank or self.worst + 1)


def sorted_questions(
    known: Ranks, order: RankOrder, find: str, *, run: str, against: str | None
) -> list[str]:
    """The q_ids whose id or words hold `find`, in the order asked for; equal moves stand by q_id."""
    needle = fold(find)
    kept = [q_id for q_id, words in known.questions.items() if needle in fold(f"{q_id} {words}")]
    if order == "question":
        return kept
    sign = 1 if order == "falls" else -1
    moves = {q_id: known.move(q_id, run, against) for q_id in kept}
    return sorted(kept, key=lambda q_id: (moves[q_id] is None, sign * (moves[q_id] or 0)))


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
        columns.append(Column(Cell(f"{against} → {run}", tip=told), "end"))
    rows = []
    for q_id in q_ids:
        cells = [_cell(known.places[q_id].get(run_id), q_id, run_id, view) for run_id in runs]
        cells += [_move(known.move(q_id, run, against))] if against is not None else []
        words = known.questions[q_id]
        rows.append(Row(Cell(f"{q_id}  {words}", tip=words), tuple(cells)))
    name = "Rank of the gold section by question and run"
    return Grid(name, "question", tuple(columns), tuple(rows), height=HEIGHT)


def _cell(place: Place | None, q_id: str, run_id: str, view: ViewState) -> Cell:
    if place is None:
        return Cell("", tip=f"{q_id} is not judged in {run_id}")
    told = f"rank {place.rank:,}" if place.rank is not None else "not found"
    return Cell(
        _NONE if place.rank is None else f"{place.rank:,}",
        tip=f"{run_id}: gold section {told} in the last stage; {place.bucket}: {BUCKET_NAMES[place.bucket]}",
        look=BUCKET_HUES[place.bucket],
        tone=_tone(place),
        href=base(view, run_id).change(q=question_name(q_id)).link("question"),
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
