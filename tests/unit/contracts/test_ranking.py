"""Ranks are given once, and equal scores are ordered by section and chunk id."""

from __future__ import annotations

from typing import Any

import pytest

from proofspan.contracts.rules.ranking import (
    cited_ties,
    listed_ties,
    repeated,
    scoreless,
    shared_ranks,
)
from proofspan.contracts.rules.run import ids_in


def entry(chunk_id: str, section: str | None, score: Any, **more: Any) -> dict[str, Any]:
    return {"id": chunk_id, "section_id": section, "score": score, **more}


@pytest.mark.parametrize(
    ("entries", "places"),
    [
        ([], []),
        ([entry("b", "2", 0.9), entry("a", "1", 0.8)], []),
        ([entry("a", "1", 0.5), entry("b", "1", 0.5)], []),
        ([entry("b", "1", 0.5), entry("a", "1", 0.5)], [1]),
        ([entry("b", "1", 0.5), entry("a", "2", 0.5)], []),
        ([entry("a", "2", 0.5), entry("b", "1", 0.5)], [1]),
        ([entry("z", "1", 0.9), entry("b", "1", 1), entry("a", "1", 1.0)], [2]),
        # The same chunk twice, no score, a section on one side only: nothing to compare.
        ([entry("a", "1", 0.5), entry("a", "1", 0.5)], []),
        ([entry("b", "1", None), entry("a", "1", None)], []),
        ([entry("b", "1", "x"), entry("a", "1", "x")], []),
        ([entry("b", None, 0.5), entry("a", "1", 0.5)], []),
        ([entry("b", "1", 0.5), "a"], []),
        # Another score decides.
        ([entry("b", "1", 0.5, rerank_score=2), entry("a", "1", 0.5, rerank_score=1)], []),
        ([entry("b", "1", None, score_norm=1), entry("a", "1", None, score_norm=1)], [1]),
        # Without sections: out of order by id and by the section in it.
        ([entry("b", None, 0.5), entry("a", None, 0.5)], [1]),
        (
            [entry("d|r=00000000|s=1|p=009|b=001", None, 1), entry("d|r=00000000|s=2|p=002|b=001", None, 1)],
            [],
        ),
        (
            [entry("e|r=00000000|s=1|p=009|b=001", None, 1), entry("d|r=00000000|s=2|p=002|b=001", None, 1)],
            [],
        ),
        (
            [entry("e|r=00000000|s=2|p=009|b=001", None, 1), entry("d|r=00000000|s=1|p=002|b=001", None, 1)],
            [1],
        ),
        # Both orders of numbers are fixed ones: as text, and by their size.
        ([entry("a", "4.9", 1), entry("b", "4.10", 1)], []),
        ([entry("b", "4.10", 1), entry("a", "4.9", 1)], []),
        ([entry("d|p=999", "4", 1), entry("d|p=1000", "4", 1)], []),
        ([entry("b", "4.10", 1), entry("a", "4.1", 1)], [1]),
    ],
)
def test_ties_in_a_ranked_list(entries: list[Any], places: list[int]) -> None:
    assert [place for place, _ in listed_ties(entries)] == places


def test_a_list_of_wrong_ties_is_one_finding_that_counts_them() -> None:
    entries = [entry(name, "4", 0.25) for name in "dcba"]
    ((place, finding),) = listed_ties(entries)
    assert (place, finding.code, finding.where) == (1, "tie_order", "")
    assert finding.message == (
        "'d' of section '4' is ranked before 'c' of section '4' though they score the same; so are 2 more"
    )
    assert finding.severity == "warning"


def cited(chunk_id: str, rank: Any, norm: Any, section: str = "1", **more: Any) -> dict[str, Any]:
    return {"snippet_id": chunk_id, "section_id": section, "k_pos": rank, "score_norm": norm, **more}


@pytest.mark.parametrize(
    ("items", "places"),
    [
        ([cited("b", 1, 0.5), cited("a", 2, 0.5)], [1]),
        ([cited("a", 2, 0.5), cited("b", 1, 0.5)], [2]),
        ([cited("b", 2, 0.5), cited("a", 1, 0.5)], []),
        ([cited("b", 1, 0.5, section="0"), cited("a", 2, 0.5)], []),
        ([cited("b", 1, 0.5, score_raw=3), cited("a", 2, 0.5, score_raw=2)], []),
        ([cited("b", 1, 0.6), cited("a", 2, 0.5)], []),
        ([cited("b", "1", 0.5), cited("a", 2, 0.5)], []),
        # A reranker may part what the store could not.
        ([cited("b", 2, 0.5, k_final=1), cited("a", 1, 0.5, k_final=2)], []),
        (
            [
                cited("b", 2, 0.5, k_final=1, rerank_score=0.7),
                cited("a", 1, 0.5, k_final=2, rerank_score=0.6),
            ],
            [],
        ),
        (
            [
                cited("b", 2, 0.5, k_final=1, rerank_score=0.7),
                cited("a", 1, 0.5, k_final=2, rerank_score=0.7),
            ],
            [1],
        ),
    ],
)
def test_ties_among_cited_chunks(items: list[Any], places: list[int]) -> None:
    assert [place for place, _ in cited_ties(items)] == places


def test_a_tie_that_is_wrong_by_both_ranks_is_reported_once() -> None:
    reranked = {"k_final": 1, "rerank_score": 0.7}
    items = [cited("b", 1, 0.5, **reranked), cited("a", 2, 0.5, **{**reranked, "k_final": 2})]
    assert [place for place, _ in cited_ties(items)] == [1]


def test_a_repeated_chunk_in_a_list_is_reported_at_its_later_places() -> None:
    entries: list[Any] = [
        "c",
        {"id": "d"},
        {"chunk_id": "c"},
        None,
        {"score": 1},
        {"id": ""},
        {"id": ""},
        "c",
    ]
    assert [(place, problem.code) for place, problem in repeated(ids_in(entries))] == [
        (3, "duplicate_candidate"),
        (8, "duplicate_candidate"),
    ]


def test_two_chunks_cannot_share_a_rank_and_two_citations_of_one_chunk_can() -> None:
    items = [
        cited("a", 1, 1),
        cited("a", 1, 1),
        cited("b", 1, 0.5),
        cited("c", 2, 0.5),
        "d",
        cited("e", 0, 1),
    ]
    ((place, finding),) = shared_ranks(items)
    assert (place, finding.code, finding.where) == (3, "bad_k_pos", "k_pos")
    assert finding.message == "'b' and 'a' both have k_pos 1"
    final = [{"id": "a", "k_final": 4}, {"id": "b", "k_final": 4.0}]
    assert [finding.code for _, finding in shared_ranks(final)] == ["bad_k_final"]


def test_a_list_lacks_scores_where_others_of_it_have_one_or_it_is_ranked_by_them() -> None:
    bare = [{"id": "a"}, {"id": "b", "score": None}, "c"]
    assert list(scoreless(bare, needed=False)) == []
    assert [place for place, _ in scoreless(bare, needed=True)] == [1]
    reranked = [{"id": "a", "pre_score": {"dense": 0.91}, "post_score": {"ce": 0.82}}]
    assert list(scoreless(reranked, needed=True)) == []
    ((place, finding),) = scoreless([{"id": "b", "score_raw": 2}, *bare], needed=False)
    assert (place, finding.code, finding.message) == (2, "missing_score", "2 of 3 candidates have no score")
