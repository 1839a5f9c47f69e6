"""Freeze cohorts of questions, count their conversions in runs, and compare ranks between runs."""

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
    """The conversion of a cohort of `questions` in a run.

    `judged` of them have a bucket there, `hits` have the gold section first, `in_top_20` in the top 20. The
    others are not in the run, or cannot be judged in it.
    """

    run_id: str
    questions: int
    judged: int
    hits: int
    in_top_20: int

    def in_words(self, name: str) -> str:
        """`3 of the 6 of RETRIEVAL-GAP converted, 5 in the top 20`, and how many are not judged."""
        lost = self.questions - self.judged
        rest = f"; {lost:,} not judged here" if lost else ""
        converted = f"{self.hits:,} of the {self.questions:,} of {name} converted"
        return f"{converted}, {self.in_top_20:,} in the top 20{rest}"


def conversions(store: Store, manifest: Manifest, cohort: Cohort) -> tuple[Conversion, ...]:
    """Return the conversions of a cohort in all indexed runs, in the manifest's order."""
    indexed = set(store.runs())
    found = []
    for run_id in (run.run_id for run in manifest.runs if run.run_id in indexed):
        counts = store.bucket_counts(Filter(run_id, cohort=cohort.name))
        hits, policy, gap = (counts.get(bucket, 0) for bucket in ("hit", "score_policy", "retrieval_gap"))
        found.append(Conversion(run_id, len(cohort.q_ids), hits + policy + gap, hits, hits + policy))
    return tuple(found)


def freeze_bucket(
    store: Store, manifest: Manifest, name: str, *, run_id: str, bucket: Bucket, again: bool = False
) -> Cohort:
    """Freeze the questions that a run has in a bucket, in the order of its file, and return the cohort.

    Raises InputFault if there are none, or as `proofspan.journal.cohorts.freeze`.
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


RankOrder = Literal["falls", "climbs", "question"]


class Place(NamedTuple):
    """The rank of a question's gold section in a run, from 1; None if it was not found."""

    rank: int | None
    bucket: Bucket


@dataclass(frozen=True, slots=True)
class Ranks:
    """The judged questions by q_id, in that order: their texts, and their places by run that judges them.

    `worst` is the largest rank.
    """

    questions: Mapping[str, str]
    places: Mapping[str, Mapping[str, Place]]
    worst: int = 0

    @classmethod
    def of(cls, rows: pd.DataFrame) -> Ranks:
        """Build from a row per question and run: q_id, q, run_id, section_rank, bucket."""
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
        """Return by how many ranks a question climbed (above 0) or fell; None if not judged in both runs.

        A section that is not found counts as one rank below the worst.
        """
        there, here = (self.places[q_id].get(name) for name in (against or "", run))
        if there is None or here is None:
            return None
        return (there.rank or self.worst + 1) - (here.rank or self.worst + 1)

    def steps(self, was: str, now: str) -> Counter[tuple[Bucket | None, Bucket]]:
        """Count the questions that `now` judges by bucket in `was` (None: not judged) and in `now`."""
        return Counter(
            (there.bucket if (there := places.get(was)) else None, here.bucket)
            for places in self.places.values()
            if (here := places.get(now)) is not None
        )


def sorted_questions(
    known: Ranks, order: RankOrder, find: str, *, run: str, against: str | None
) -> list[str]:
    """Return the q_ids whose id or text contains `find`, in the order requested, then by q_id."""
    needle = fold(find)
    kept = [q_id for q_id, words in known.questions.items() if needle in fold(f"{q_id} {words}")]
    if order == "question":
        return kept
    sign = 1 if order == "falls" else -1
    moves = {q_id: known.move(q_id, run, against) for q_id in kept}
    return sorted(kept, key=lambda q_id: (moves[q_id] is None, sign * (moves[q_id] or 0)))
