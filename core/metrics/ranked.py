"""One trace's ranked lists against its gold: at which rank, in which bucket, how much of it was found."""

from __future__ import annotations

from typing import Literal, NamedTuple

Bucket = Literal["hit", "score_policy", "retrieval_gap"]
#: Why the ranking metrics leave a trace out.
Unranked = Literal["no_gold", "unanswerable", "gold_unplaced", "no_candidates"]

#: The places after which recall is counted.
CUTS = (1, 5, 10, 20, 50)


class Ranked(NamedTuple):
    """What ranking metrics are made of, in the order of the index's columns; ranks count from 1.

    `unranked` is None where the trace is judged, and then `bucket` is there. `section_rank` is the best rank
    of a candidate of the gold in the last stage, `top_rank` that in the list which the top 20 are read from;
    None: there is none. The rest lies in 0–1, None where it cannot be counted.
    """

    unranked: Unranked | None
    bucket: Bucket | None = None
    section_rank: int | None = None
    top_rank: int | None = None
    section_coverage: float | None = None
    recall_1: float | None = None
    recall_5: float | None = None
    recall_10: float | None = None
    recall_20: float | None = None
    recall_50: float | None = None
    ndcg_10: float | None = None
    reciprocal_rank: float | None = None
