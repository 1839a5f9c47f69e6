"""How the candidates of one question moved from one run to another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from proofspan.services.questions import CandidateView, GoldMark, StageView

Move = Literal["up", "down", "same", "new", "gone"]

#: So far down the lists are compared.
TOP = 20


@dataclass(frozen=True, slots=True)
class Aligned:
    """One chunk in both lists: `was` in the older run, `now` in the newer; None where a list lacks it.

    Ranks count from 1 and may lie beyond the top that is shown.
    """

    chunk_id: str
    was: CandidateView | None
    now: CandidateView | None

    @property
    def was_rank(self) -> int | None:
        """Its rank in the older run."""
        return self.was.candidate.rank if self.was else None

    @property
    def rank(self) -> int | None:
        """Its rank in the newer run."""
        return self.now.candidate.rank if self.now else None

    @property
    def move(self) -> Move:
        """Which way it went."""
        if self.was_rank is None or self.rank is None:
            return "new" if self.was_rank is None else "gone"
        return "same" if self.rank == self.was_rank else "up" if self.rank < self.was_rank else "down"

    @property
    def places(self) -> int:
        """By how many ranks it went up or down; 0 where it is in one list alone."""
        return abs(self.was_rank - self.rank) if self.was_rank is not None and self.rank is not None else 0

    @property
    def view(self) -> CandidateView:
        """The candidate as the newer run has it, else as the older one had it."""
        view = self.now or self.was
        if view is None:
            raise ValueError(f"{self.chunk_id!r} is in neither list")
        return view

    @property
    def gold(self) -> GoldMark | None:
        """By what it is right in either run."""
        return next((each.gold for each in (self.now, self.was) if each and each.gold), None)


def aligned(was: StageView | None, now: StageView | None, *, top: int = TOP) -> tuple[Aligned, ...]:
    """Every chunk among the first `top` of either list, once: by its rank in the newer run, then those that
    are only in the older one.

    A chunk that a list names twice counts where it comes first. One of an earlier build is that of today.
    """
    old, new = _by_chunk(was), _by_chunk(now)
    rows = [
        Aligned(chunk_id, old.get(chunk_id), new.get(chunk_id)) for chunk_id in dict.fromkeys([*new, *old])
    ]
    shown = [row for row in rows if min(row.rank or top + 1, row.was_rank or top + 1) <= top]
    return tuple(sorted(shown, key=lambda row: (row.rank is None, row.rank or 0, row.was_rank or 0)))


def have_nothing_in_common(rows: Sequence[Aligned]) -> bool:
    """Whether both runs list candidates and share none: their chunk ids may come from different builds."""
    moves = {row.move for row in rows}
    return moves == {"new", "gone"}


def _by_chunk(stage: StageView | None) -> Mapping[str, CandidateView]:
    found: dict[str, CandidateView] = {}
    for view in stage.candidates if stage else ():
        found.setdefault(view.id_today, view)
    return found
