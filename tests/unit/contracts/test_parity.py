"""Like is compared with like: what a citation says, and what the log beside it says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.rules.parity import (
    index_name,
    same_analyzer,
    same_embed_model,
    same_index,
    same_rev,
    same_text_rev,
)


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("faiss:2f7d...9a", index_name("2f7d...9a", "faiss"), True),
        ("faiss:2f7d...9a", index_name("2f7d...9a"), True),
        ("faiss:2f7d...9a", "2f7d...9a", True),
        ("faiss:2f7d", index_name("2f7d", "qdrant"), False),
        ("faiss:2f7d", "faiss:2f7e", False),
        ("2f7d", "2f7e", False),
        (" FAISS:2F7D ", "faiss : 2f7d", True),
        ("faiss:sha256:2f7d", "sha256:2f7d", True),
        ("bm25+lsa:9b7f", "bm25:9b7f", False),
        ("", "faiss:2f7d", True),
        (" ", "faiss:2f7d", True),
    ],
)
def test_an_index_is_its_hash_and_its_store_where_both_name_it(a: str, b: str, same: bool) -> None:
    assert same_index(a, b) is same
    assert same_index(b, a) is same


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("bge-large-en-v1.5:mean", "bge-large-en-v1.5", True),
        ("bge-large-en-v1.5:mean", "bge-large-en-v1.5:cls", False),
        ("bge-large-en-v1.5:mean", "BGE-large-en-v1.5 : Mean", True),
        ("bge-large-en-v1.5:mean", "bge-base-en-v1.5:mean", False),
        ("bge-large-en-v1.5", "bge-large-en", False),
        ("BAAI/bge-large-en-v1.5", "bge-large-en-v1.5:mean", True),
        ("BAAI/bge-large-en-v1.5", "other/bge-large-en-v1.5", False),
        ("lsa-128:mean", "none", False),
        ("", "bge-large-en-v1.5", True),
    ],
)
def test_a_model_is_its_name_and_its_pooling_where_both_name_it(a: str, b: str, same: bool) -> None:
    assert same_embed_model(a, b) is same
    assert same_embed_model(b, a) is same


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("lowercase+ascii_fold", "lowercase+ascii_fold", True),
        ("lowercase+ascii_fold", " Lowercase + ASCII_fold", True),
        ("lowercase+ascii_fold", "lowercase", False),
        ("lowercase+ascii_fold", "ascii_fold+lowercase", False),
        ("lowercase+ascii_fold", "", True),
    ],
)
def test_an_analyzer_is_its_steps_in_their_order(a: str, b: str, same: bool) -> None:
    assert same_analyzer(a, b) is same
    assert same_analyzer(b, a) is same


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("3b91f2a", "3b91f2a", True),
        ("3b91f2a", "3B91F2A ", True),
        ("3b91f2a", "3b91f2a94c0d8e7711aa22bb33cc44dd55ee66ff", True),
        ("3b91f2", "3b91f2a94c0d8e7711aa22bb33cc44dd55ee66ff", False),
        ("3b91f2a", "3b91f2b", False),
        ("2024-01", "2024-01-15", False),
        ("", "3b91f2a", True),
    ],
)
def test_a_revision_may_be_a_commit_cut_short(a: str, b: str, same: bool) -> None:
    assert same_rev(a, b) is same
    assert same_rev(b, a) is same


@pytest.mark.parametrize(
    ("in_id", "rev", "same"),
    [
        ("d06d89ab", "d06d89ab", True),
        ("d06d89ab", "0bce068b", False),
        ("d06d89ab1234", "d06d89ab1235", False),
        ("d06d89ab", "3b91f2a", True),
        ("d06d89ab", "3b91f2a94c0d8e7711aa22bb33cc44dd55ee66ff", True),
        ("d06d89ab", "d06d89ab1234", True),
        ("d06d89ab", "release1", True),
    ],
)
def test_the_revision_in_an_id_is_compared_only_with_a_hash_of_the_same_length(
    in_id: str, rev: str, same: bool
) -> None:
    assert same_text_rev(in_id, rev) is same


@given(st.text(max_size=12), st.text(max_size=12))
def test_parity_is_of_both_sides_and_holds_of_itself(a: str, b: str) -> None:
    for is_same in (same_index, same_embed_model, same_analyzer, same_rev):
        assert is_same(a, a)
        assert is_same(a, b) == is_same(b, a)
