"""The buckets in words: each has a meaning, each failure its own next step."""

from __future__ import annotations

from typing import get_args

import pytest

from proofspan.metrics.ranked import BUCKETS, Bucket, bucket_meaning, bucket_step


def test_every_bucket_is_named_best_first_and_says_what_it_means() -> None:
    assert get_args(Bucket) == BUCKETS
    assert len({bucket_meaning(bucket) for bucket in BUCKETS}) == len(BUCKETS)


@pytest.mark.parametrize(
    ("bucket", "lever"), [("score_policy", "rerank"), ("retrieval_gap", "hybrid recall")]
)
def test_a_failure_has_the_lever_that_helps_it(bucket: Bucket, lever: str) -> None:
    assert (bucket_step(bucket) or "").lower().startswith(lever)


def test_a_hit_needs_no_step() -> None:
    assert bucket_step("hit") is None
