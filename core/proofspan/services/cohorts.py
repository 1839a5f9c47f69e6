"""Cohorts in their runs: freezing one from a bucket, and counting how many of its questions came through."""

from __future__ import annotations

from dataclasses import dataclass

from proofspan.errors import InputFault
from proofspan.journal.cohorts import Cohort, freeze
from proofspan.manifest.types import Manifest
from proofspan.metrics.ranked import Bucket
from proofspan.services.workspace import chosen_run
from proofspan.store.filters import Filter, Sort
from proofspan.store.queries import Store


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
            remedy="name another run or bucket; without gold questions no run has any",
        )
    cohort = Cohort(name, tuple(places["q_id"].tolist()), run.run_id, bucket, run.ts)
    freeze(manifest, cohort, again=again)
    return cohort


def _conversion(store: Store, cohort: Cohort, run_id: str) -> Conversion:
    counts = store.bucket_counts(Filter(run_id, cohort=cohort.name))
    hits, policy, gap = (counts.get(bucket, 0) for bucket in ("hit", "score_policy", "retrieval_gap"))
    return Conversion(run_id, len(cohort.q_ids), hits + policy + gap, hits, hits + policy)
