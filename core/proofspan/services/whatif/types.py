"""A what-if: settings changed against a logged run, and what follows from its logged lists alone.

Nothing asks a model. Answers stay as they were logged; where the prompt would hold other chunks, no answer
to it is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from proofspan.diagnosis.types import Profile
from proofspan.metrics.statistics import Mean
from proofspan.metrics.values import MetricValue
from proofspan.services.compare import MetricPair
from proofspan.store.files.types import Flips
from proofspan.wording import counted

#: How equal scores are ordered: by section and chunk id as pinned, by chunk id alone, or as the run
#: logged them.
Ties = Literal["section", "chunk", "logged"]
#: A setting that a sweep may vary.
Swept = Literal["k", "weight", "depth", "top", "rerank", "prompt", "support"]
#: Names with their weights, each name once, in their order.
Weights = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that differ from the logged run; None, "" or empty leaves what was logged.

    `k` (above 0), `weights` of the fused lists (0 or more), `depth` of each list (from 1), `top` of the
    fused list (from 1) and `ties` make the fused list again. `rerank` orders it by a weighted sum of
    features, each normalised to 0–1 within the question, or by one feature; `is_unranked` leaves out the
    reranker's order. `prompt` chunks of the last list (from 1) reach the prompt. `profile` labels by
    another template, `support` (0–1) is the least support of a claim that counts as supported.
    """

    k: float | None = None
    weights: Weights = ()
    depth: int | None = None
    top: int | None = None
    ties: Ties | None = None
    rerank: Weights = ()
    is_unranked: bool = False
    prompt: int | None = None
    profile: Profile | None = None
    support: float | None = None


@dataclass(frozen=True, slots=True)
class LoggedList:
    """A list or feature that the traces log: in how many questions, its longest length, and its range."""

    name: str
    questions: int
    longest: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Logged:
    """The lists and features that a run logs, which can be changed.

    `lists` can be fused, `features` can rerank. `settings` are the run's own, each None where it is not
    known. `reproduced` of `questions` have the logged order when their lists are computed again with these;
    `why` says what cannot be changed and for what reason, a sentence each. `differing` are the ids of the
    questions that do not have the logged order.
    """

    run_id: str
    questions: int
    lists: tuple[LoggedList, ...]
    features: tuple[LoggedList, ...]
    settings: Settings
    reproduced: int
    why: tuple[str, ...] = ()
    differing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The result of settings, beside the logged run: `there` is logged, `here` computed.

    `pairs` are the ranking metrics and label shares with their paired differences, the headline ones first;
    `flips` are by outcome (`section_match_at_1`, `gt_in_top_20`). `changes` has, for bucket, label, cause
    and grounded, (logged value, computed value, questions) with None for what is unknown. `moved` has a row
    for each question of which anything differs, the regressed first: q_id, q, was_rank, rank, was_top_rank,
    top_rank, was_bucket, bucket, was_label, label, was_cause, cause, prompt_changed. `prompts_changed`
    counts the questions whose prompt would hold other chunks; `notes` are sentences about what the numbers
    leave out.
    """

    logged: Logged
    settings: Settings
    pairs: tuple[MetricPair, ...]
    flips: Mapping[str, Flips]
    changes: Mapping[str, tuple[tuple[str | None, str | None, int], ...]]
    moved: pd.DataFrame
    prompts_changed: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """A metric at one value of the swept setting.

    `difference` is paired against the logged run, None without questions of both. `p` is McNemar's of a
    share, else None. `is_clear`: the difference is larger than chance allows for that many tries (Holm).
    """

    value: float
    metric: MetricValue
    difference: Mean | None
    p: float | None
    is_clear: bool
    is_logged: bool


@dataclass(frozen=True, slots=True)
class Sweep:
    """A metric over values of one setting, the others being `settings`; `name` is the weight's list or
    feature.
    """

    swept: Swept
    name: str
    metric_id: str
    settings: Settings
    points: tuple[SweepPoint, ...]

    @property
    def tried(self) -> int:
        """Return how many settings were tried besides the logged one."""
        return sum(not point.is_logged for point in self.points)

    @property
    def sentence(self) -> str:
        """Return how many settings were tried, and how many of them differ by more than chance."""
        clear = sum(point.is_clear for point in self.points)
        beyond = f"{clear:,} differ" if clear > 1 else "1 differs" if clear else "none differs"
        tried = f"{counted(self.tried, 'setting')} tried"
        return f"{tried}: {beyond} from the logged run by more than chance (Holm-corrected, 95 %)."
