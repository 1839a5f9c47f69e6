"""Reciprocal rank fusion: worked by hand, and what must hold for any lists."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.records import Candidate
from tools.demo.fusion import rrf


class Entry(NamedTuple):
    chunk_id: str
    section_id: str | None = None


def _list(*chunk_ids: str) -> list[Entry]:
    return [Entry(chunk_id, f"section of {chunk_id}") for chunk_id in chunk_ids]


LISTS = st.lists(
    st.lists(st.sampled_from("abcdefghij"), unique=True, max_size=10).map(lambda ids: _list(*ids)),
    min_size=1,
    max_size=4,
)


def test_the_scores_of_two_lists_worked_by_hand() -> None:
    fused = rrf([_list("a", "b", "c"), _list("c", "a", "d")])
    # a: 1/61 + 1/62, c: 1/63 + 1/61, b: 1/62, d: 1/63
    assert [(each.chunk_id, each.score) for each in fused] == [
        ("a", 0.032522),
        ("c", 0.032266),
        ("b", 0.016129),
        ("d", 0.015873),
    ]
    assert [each.ranks for each in fused] == [(1, 2), (3, 1), (2, None), (None, 3)]


def test_k_weighs_the_first_ranks() -> None:
    # with k = 0 a first place alone (1) beats two third places (2/3), with k = 60 it does not
    lists = [_list("a", "x", "b"), _list("y", "z", "b")]
    assert rrf(lists, k=0)[0].chunk_id == "a"
    assert rrf(lists, k=60)[0].chunk_id == "b"


def test_a_section_that_one_list_leaves_out_comes_from_the_other() -> None:
    lists = [[Entry("x"), Entry("y", "1")], [Entry("y", "1"), Entry("x", "9")]]
    for given_lists in (lists, lists[::-1]):
        assert [(each.chunk_id, each.section_id) for each in rrf(given_lists)] == [("y", "1"), ("x", "9")]


def test_ties_break_by_section_then_by_chunk_id() -> None:
    first = [Entry("late", "2.10"), Entry("zebra", "1")]
    second = [Entry("early", "2.1"), Entry("apple", "1")]
    third = [Entry("nowhere")]
    assert [each.chunk_id for each in rrf([first, second, third])] == [
        "nowhere",
        "early",
        "late",
        "apple",
        "zebra",
    ]


def test_of_a_candidate_listed_twice_the_better_place_counts() -> None:
    assert rrf([_list("a", "b", "a")]) == rrf([_list("a", "b")])


def test_candidates_of_traces_can_be_fused() -> None:
    fused = rrf([[Candidate("a", rank=1, section_id="3.2")]], k=1)
    assert (fused[0].section_id, fused[0].score) == ("3.2", 0.5)


def test_no_list_and_an_empty_list_give_nothing() -> None:
    assert rrf([]) == () == rrf([[]])


@pytest.mark.parametrize(("k", "limit"), [(-1, 20), (60, -1)])
def test_a_negative_parameter_is_refused(k: int, limit: int) -> None:
    with pytest.raises(ValueError, match="count from 0"):
        rrf([_list("a")], k=k, limit=limit)


@given(LISTS)
def test_every_candidate_is_there_once_with_its_ranks(lists: list[list[Entry]]) -> None:
    fused = rrf(lists)
    assert {each.chunk_id for each in fused} == {entry.chunk_id for entries in lists for entry in entries}
    assert len({each.chunk_id for each in fused}) == len(fused)
    for each in fused:
        for rank, entries in zip(each.ranks, lists, strict=True):
            ids = [entry.chunk_id for entry in entries]
            assert (rank is None) == (each.chunk_id not in ids)
            assert rank is None or ids[rank - 1] == each.chunk_id


@pytest.mark.slow
@given(LISTS)
def test_it_is_sorted_as_pinned(lists: list[list[Entry]]) -> None:
    fused = rrf(lists)
    assert list(fused) == sorted(fused, key=lambda each: (-each.score, each.section_id or "", each.chunk_id))


@given(LISTS, st.integers(0, 12))
def test_a_limit_only_cuts(lists: list[list[Entry]], limit: int) -> None:
    assert rrf(lists, limit=limit) == rrf(lists)[:limit]


@given(LISTS)
def test_the_order_of_the_lists_does_not_matter(lists: list[list[Entry]]) -> None:
    ahead = [(each.chunk_id, each.score) for each in rrf(lists)]
    assert ahead == [(each.chunk_id, each.score) for each in rrf(lists[::-1])]


@given(st.lists(st.sampled_from("abcdefghij"), unique=True))
def test_one_list_stays_as_it_is(ids: list[str]) -> None:
    assert [each.chunk_id for each in rrf([_list(*ids)])] == ids
