"""Where the gold section of every question stood in every run: ranks, moves, and steps between buckets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan, nan
from typing import Literal, NamedTuple

import pandas as pd

from proofspan.metrics.ranked import Bucket
from proofspan.store.folding import fold

RankOrder = Literal["falls", "climbs", "question"]


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
        numbers = rows["section_rank"].to_numpy(dtype="float64", na_value=nan).tolist()
        ranks = [None if isnan(number) else int(number) for number in numbers]
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

    def steps(self, was: str, now: str) -> Counter[tuple[Bucket | None, Bucket]]:
        """How many questions that `now` judges had which bucket in `was` (None: not judged), and have now."""
        return Counter(
            (there.bucket if (there := places.get(was)) else None, here.bucket)
            for places in self.places.values()
            if (here := places.get(now)) is not None
        )


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
