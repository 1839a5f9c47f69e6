"""Cohorts in their runs: freezing one from a bucket, and counting how many of its questions came through."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan, nan
from typing import Literal, NamedTuple

import pandas as pd

from proofspan.errors import InputFault
from proofspan.journal.cohorts import Cohort, freeze
from proofspan.manifest.types import Manifest
from proofspan.metrics.ranked import Bucket
from proofspan.services.workspace.open import chosen_run
from proofspan.store.files.columns import fold
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store


@dataclass(frozen=True, slots=True)
class Conversion:
    """What became of a cohort of `questions` in one run.

    `judged` of them have a bucket there; `hits` have the gold section first, `in_top_20` have it there or
    further down among the top 20. The rest is not in the run, or cannot be judged in it.
    """

    run_id: str
    questions: int
    judged: int
    hits: int
    in_top_20: int

    def in_words(self, name: str) -> str:
        """`3 of the 6 of RETRIEVAL-GAP converted, 5 in the top 20`, and how many the run cannot tell of."""
        told = (
            f"{self.hits:,} of the {self.questions:,} of {name} converted, {self.in_top_20:,} in the top 20"
        )
        lost = self.questions - self.judged
        return f"{told}; {lost:,} not judged here" if lost else told


def conversions(store: Store, manifest: Manifest, cohort: Cohort) -> tuple[Conversion, ...]:
    """A stored cohort in every run that has an index, in the manifest's order."""
    indexed = set(store.runs())
    return tuple(_conversion(store, cohort, run.run_id) for run in manifest.runs if run.run_id in indexed)


def freeze_bucket(
    store: Store, manifest: Manifest, name: str, *, run_id: str, bucket: Bucket, again: bool = False
) -> Cohort:
    """Freezes the questions that a run has in a bucket, in the order of its file, and gives the cohort back.

    InputFault where there are none, or as `proofspan.journal.cohorts.freeze`.
    """
    run = chosen_run(manifest, run_id)
    places = store.places(Filter(run.run_id, bucket=(bucket,)), Sort("file"))
    if places.empty:
        raise InputFault.of(
            "empty_cohort",
            f"no question of {run.run_id} is in {bucket}",
            where=str(manifest.folder),
            fix="name another run or bucket; without gold questions no run has any",
        )
    cohort = Cohort(name, tuple(places["q_id"].tolist()), run.run_id, bucket, run.ts)
    freeze(manifest, cohort, again=again)
    return cohort


def _conversion(store: Store, cohort: Cohort, run_id: str) -> Conversion:
    counts = store.bucket_counts(Filter(run_id, cohort=cohort.name))
    hits, policy, gap = (counts.get(bucket, 0) for bucket in ("hit", "score_policy", "retrieval_gap"))
    return Conversion(run_id, len(cohort.q_ids), hits + policy + gap, hits, hits + policy)


# Where the gold section of every question stood in every run: ranks, moves, and steps between buckets.

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
