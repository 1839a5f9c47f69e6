"""Stability of answers over paraphrases and seeds of a question.

The pipeline logs a state (λ) with every trace. Independently, all traces of a question may have the same
section at rank 1, cite the same chunks and get the same label, or not. Where the two disagree, the log is the
one to doubt.

Source: the target for λ in docs/requirements.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from proofspan.metrics.statistics import share_in_words
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.metric_sql import PARAPHRASES, SEEDS
from proofspan.store.query.store import Store

Aspect = Literal["rank1", "cited", "label"]
#: Aspects that can stay the same.
ASPECTS: Mapping[Aspect, str] = {"rank1": "top section", "cited": "cited chunks", "label": "label"}
CONVERGENT = ("convergent",)


@dataclass(frozen=True, slots=True)
class Steadiness:
    """The stability of one question over its traces, not counting repeats.

    `stays` holds for each aspect whether all traces agree, None if unknown. `states` are the distinct λ
    states that were logged.
    """

    q_id: str
    q: str
    traces: int
    paraphrases: int
    seeds: int
    stays: Mapping[Aspect, bool | None]
    states: tuple[str, ...] = ()

    @property
    def changing(self) -> tuple[Aspect, ...]:
        """Return the aspects that change."""
        return tuple(aspect for aspect in ASPECTS if self.stays[aspect] is False)

    @property
    def is_steady(self) -> bool | None:
        """Return whether everything stays; None if nothing changes but something is unknown."""
        if self.changing:
            return False
        return True if all(self.stays[aspect] for aspect in ASPECTS) else None


@dataclass(frozen=True, slots=True)
class Share:
    """Questions with a property, of those for which it is known."""

    part: int
    whole: int

    @property
    def words(self) -> str:
        """Return `23 of 41, 56 % (41–70 %)`."""
        if not self.whole:
            return "nothing to count"
        return f"{self.part:,} of {self.whole:,}, {share_in_words(self.part, self.whole)}"


@dataclass(frozen=True, slots=True)
class Stability:
    """The stability of a run: its questions with several traces, the least stable first.

    `once` counts the questions that were asked once, of which nothing is known.
    """

    questions: tuple[Steadiness, ...]
    once: int = 0

    def staying(self, aspect: Aspect) -> Share:
        """Return the share of questions of which this aspect stays."""
        return _share(question.stays[aspect] for question in self.questions)

    @property
    def steady(self) -> Share:
        """Return the share of questions of which everything stays."""
        return _share(question.is_steady for question in self.questions)

    @property
    def enough(self) -> int:
        """Return how many were asked in at least three paraphrases with two seeds."""
        return sum(each.paraphrases >= PARAPHRASES and each.seeds >= SEEDS for each in self.questions)

    @property
    def convergent_by_log_alone(self) -> Share:
        """Return the share of questions that change although they log only convergent."""
        return _share(bool(each.changing) for each in self.questions if each.states == CONVERGENT)


def run_stability(store: Store, run_id: str) -> Stability:
    """Return the stability of a run's questions."""
    frame = store.variants(run_id)
    several = frame[frame["traces"] > 1]
    names: dict[str, str] = {}
    if len(several):
        places = store.places(Filter(run_id), Sort("file"))
        names = dict(zip(places["q_id"].tolist(), places["q"].tolist(), strict=True))
    return Stability(least_steady_first(_steadiness(several, names)), once=len(frame) - len(several))


def question_stability(store: Store, run_id: str, q_id: str) -> Steadiness | None:
    """Return the stability of one question of a run; None if it was asked once."""
    frame = store.variants(run_id)
    place = int(frame["q_id"].searchsorted(q_id))  # the questions are in order
    found = frame.iloc[place : place + 1]
    return next(iter(_steadiness(found[(found["q_id"] == q_id) & (found["traces"] > 1)], {})), None)


def least_steady_first(questions: Iterable[Steadiness]) -> tuple[Steadiness, ...]:
    """Sort by the number of changing aspects, then of states, then by q_id."""
    return tuple(sorted(questions, key=lambda each: (-len(each.changing), -len(each.states), each.q_id)))


def _steadiness(frame: pd.DataFrame, names: Mapping[str, str]) -> Iterator[Steadiness]:
    for row in frame.to_dict("records"):
        same = {aspect: row[f"same_{aspect}"] for aspect in ASPECTS}
        yield Steadiness(
            q_id=row["q_id"],
            q=names.get(row["q_id"], ""),
            traces=int(row["traces"]),
            paraphrases=int(row["paraphrases"]),
            seeds=int(row["seeds"]),
            stays={aspect: None if pd.isna(value) else bool(value) for aspect, value in same.items()},
            states=() if row["states"] is None else tuple(row["states"]),
        )


def _share(values: Iterable[bool | None]) -> Share:
    known = [each for each in values if each is not None]
    return Share(sum(known), len(known))
