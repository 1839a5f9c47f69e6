"""Where ranking failed, in words: what each bucket means, and what to do about many questions in it.

Source: SCORE-POLICY and RETRIEVAL-GAP of the sprint plan (docs/requirements.md), with their levers.
A reranker orders what was found and finds nothing; recall has to be raised before it.
"""

from __future__ import annotations

from collections.abc import Mapping

from proofspan.metrics.ranked import Bucket

#: Best first. Each bucket with the few words that stand beside it.
BUCKET_NAMES: Mapping[Bucket, str] = {
    "hit": "gold section first",
    "score_policy": "in the top 20, not first",
    "retrieval_gap": "not in the top 20",
}
BUCKETS: tuple[Bucket, ...] = tuple(BUCKET_NAMES)

_MEANING: Mapping[Bucket, str] = {
    "hit": "A candidate of the gold section stands at rank 1.",
    "score_policy": "The gold section is among the top 20, and another one stands first.",
    "retrieval_gap": "The gold section is not among the top 20, so that no later stage can put it first.",
}
_STEP: Mapping[Bucket, str] = {
    "score_policy": "Rerank: let a pinned cross-encoder read question and section text over the same top 20.",
    "retrieval_gap": "Hybrid recall: fuse a lexical and a dense retriever, both pinned, into the top 20; a "
    "reranker finds nothing that is not in its list.",
}
#: The same in a word or two.
BUCKET_LEVERS: Mapping[Bucket, str] = {"score_policy": "rerank", "retrieval_gap": "hybrid recall"}


def bucket_meaning(bucket: Bucket) -> str:
    """What a bucket says, in one sentence."""
    return _MEANING[bucket]


def bucket_step(bucket: Bucket) -> str | None:
    """What to do about questions in this bucket, in one sentence; None where nothing is to be done."""
    return _STEP.get(bucket)
