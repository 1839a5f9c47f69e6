"""Two candidate lists as one: every chunk once, with the way it went."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofspan.contracts.records.records import Candidate
from proofspan.services.compare import Aligned, aligned, have_nothing_in_common
from proofspan.services.question.view import CandidateView, GoldMark, StageView


def stage(*names: str, gold: str = "") -> StageView:
    """A list of chunks in rank order; `gold` is the gold one."""
    return StageView(
        "fused", tuple(candidate(name, rank, name == gold) for rank, name in enumerate(names, start=1))
    )


def candidate(name: str, rank: int, is_gold: bool = False) -> CandidateView:
    mark: GoldMark | None = "chunk" if is_gold else None
    return CandidateView(Candidate(name, rank), None, (), mark)


def moves(rows: tuple[Aligned, ...]) -> list[tuple[str, int | None, int | None, str]]:
    return [
        (row.chunk_id, row.was_rank, row.rank, f"{row.move} {row.places}" if row.places else row.move)
        for row in rows
    ]


def test_chunks_are_ordered_by_their_new_rank_with_lost_ones_below() -> None:
    rows = aligned(stage("a", "b", "c", "d"), stage("c", "a", "e"))
    assert moves(rows) == [
        ("c", 3, 1, "up 2"),
        ("a", 1, 2, "down 1"),
        ("e", None, 3, "new"),
        ("b", 2, None, "gone"),
        ("d", 4, None, "gone"),
    ]


def test_a_rank_beyond_the_shown_ones_is_still_a_rank() -> None:
    rows = aligned(stage("a", "b", "c"), stage("c", "b", "a"), top=1)
    assert moves(rows) == [("c", 3, 1, "up 2"), ("a", 1, 3, "down 2")]


def test_a_repeated_chunk_counts_where_it_comes_first() -> None:
    assert moves(aligned(stage("a", "b", "a"), stage("a", "b"))) == [("a", 1, 1, "same"), ("b", 2, 2, "same")]


@pytest.mark.parametrize(("was", "now"), [(None, stage("a")), (stage("a"), None), (None, None)])
def test_a_trace_without_candidates_has_none(was: StageView | None, now: StageView | None) -> None:
    rows = aligned(was, now)
    assert len(rows) == sum(each is not None for each in (was, now))
    assert not have_nothing_in_common(rows)


def test_lists_that_share_no_chunk_say_so() -> None:
    assert have_nothing_in_common(aligned(stage("a"), stage("b")))
    assert not have_nothing_in_common(aligned(stage("a", "c"), stage("b", "c")))


def test_gold_is_known_from_either_list() -> None:
    (row,) = aligned(stage("a", gold="a"), stage("a"))
    assert row.gold == "chunk"


chunks = st.lists(st.sampled_from("abcdefgh"), max_size=10)


@settings(max_examples=60)
@given(chunks, chunks, st.integers(1, 6))
def test_every_candidate_of_the_top_is_there_once(was: list[str], now: list[str], top: int) -> None:
    old, new = list(dict.fromkeys(was)), list(dict.fromkeys(now))
    rows = aligned(stage(*old), stage(*new), top=top)
    names = [row.chunk_id for row in rows]
    assert sorted(names) == sorted({*old[:top], *new[:top]})
    for row in rows:
        assert row.was_rank == (old.index(row.chunk_id) + 1 if row.chunk_id in old else None)
        assert row.rank == (new.index(row.chunk_id) + 1 if row.chunk_id in new else None)
    ranks = [row.rank for row in rows if row.rank is not None]
    assert ranks == sorted(ranks)
