"""The buckets in words: each has a meaning, each failure its own next step."""

from __future__ import annotations

from typing import get_args

import pytest

from proofspan.metrics.ranked import BUCKET_MEANINGS, BUCKET_STEPS, BUCKETS, Bucket


def test_every_bucket_is_named_best_first_and_says_what_it_means() -> None:
    assert get_args(Bucket) == BUCKETS
    assert len({BUCKET_MEANINGS[bucket] for bucket in BUCKETS}) == len(BUCKETS)


@pytest.mark.parametrize(
    ("bucket", "lever"), [("score_policy", "rerank"), ("retrieval_gap", "hybrid recall")]
)
def test_a_failure_has_the_lever_that_helps_it(bucket: Bucket, lever: str) -> None:
    assert BUCKET_STEPS[bucket].lower().startswith(lever)


def test_a_hit_needs_no_step() -> None:
    assert "hit" not in BUCKET_STEPS
