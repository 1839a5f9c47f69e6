"""Reciprocal rank fusion: one list out of several that score in different units.

Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning
Methods" (SIGIR 2009): a candidate's score is the sum of 1 / (k + rank) over the lists that hold it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from proofspan.metrics import fusion


class Rankable(Protocol):
    """An item of a ranked list, such as `proofspan.contracts.records.records.Candidate`."""

    @property
    def chunk_id(self) -> str: ...
    @property
    def section_id(self) -> str | None: ...


class Fused(NamedTuple):
    """A candidate of the fused list. `ranks` are its 1-based ranks in the lists, None where it is in none."""

    chunk_id: str
    section_id: str | None
    score: float
    ranks: tuple[int | None, ...]


def rrf(lists: Sequence[Iterable[Rankable]], *, k: int = 60, limit: int = 20) -> tuple[Fused, ...]:
    """The best `limit` candidates of all lists together, each list best first.

    Ranks are places in the list from 1; of a candidate that a list holds twice the better place counts.
    Scores are those of `proofspan.metrics.fusion.rrf`, so that the order of the lists changes nothing but
    `ranks`. Of sections that differ for one candidate the first in order counts. Ties break by section id,
    then chunk id; no section comes first. ValueError where k or limit is negative.
    """
    if k < 0 or limit < 0:
        raise ValueError(f"k and limit count from 0, not k={k}, limit={limit}")
    sections: dict[str, str | None] = {}
    ranks: dict[str, list[int | None]] = {}
    for place, candidates in enumerate(lists):
        for rank, candidate in enumerate(candidates, start=1):
            named = (sections.get(candidate.chunk_id), candidate.section_id)
            sections[candidate.chunk_id] = min((name for name in named if name is not None), default=None)
            own = ranks.setdefault(candidate.chunk_id, [None] * len(lists))
            own[place] = own[place] or rank
    columns = np.array([[rank or 0 for rank in own] for own in ranks.values()], np.int32)
    scores = fusion.rrf(list(columns.T), k=k).tolist() if ranks else []
    fused = [
        Fused(id_, sections[id_], score, tuple(own))
        for (id_, own), score in zip(ranks.items(), scores, strict=True)
    ]
    return tuple(sorted(fused, key=_order)[:limit])


def _order(fused: Fused) -> tuple[float, str, str]:
    return -fused.score, fused.section_id or "", fused.chunk_id
