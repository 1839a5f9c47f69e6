"""One trace's ranked lists against its gold: at which rank, in which bucket, how much of it was found.

Ranks are places in the list as the trace has it, from 1. Candidates of equal score that follow each other are
a tie, which the pipeline broke by chance: here, and only here, section id and chunk id break it instead, so
that a number does not depend on it. What lists and pages show is the trace's own order. A chunk that a list
holds twice counts once, at its better rank.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import groupby, islice
from math import log2
from operator import eq
from typing import Final, Literal, NamedTuple, get_args

from proofspan.contracts.records.records import Json, StageName, Trace
from proofspan.metrics.relevance import Relevance, Unranked
from proofspan.traces.records.chunks import Places
from proofspan.traces.records.trace_record import (
    LAST_STAGES,
    TOP_STAGES,
    lengths,
    listed,
    place_in,
    score_of,
)

Bucket = Literal["hit", "score_policy", "retrieval_gap"]

#: The gold counts as retrieved if it is among these first candidates.
TOP: Final = 20
#: The places after which recall is counted.
CUTS: Final = (1, 5, 10, 20, 50)
NDCG_CUT: Final = 10
#: Recall where no chunk is known to be relevant.
UNKNOWN: Final[tuple[float | None, ...]] = (None,) * len(CUTS)

#: Rank, chunk id and entry.
Placed = tuple[int, str, Mapping[str, Json]]


class Ranked(NamedTuple):
    """The numbers of ranking metrics; ranks count from 1.

    `unranked` is None for a judged trace, which has a `bucket`. `section_rank` is the best rank of a gold
    candidate in the last stage, `top_rank` that in the list of the top 20, None without one. The rest lies in
    0–1, `recall` after each of `CUTS`; None if it cannot be counted, as the list is shorter or the chunk file
    has no relevant chunks.
    """

    unranked: Unranked | None
    bucket: Bucket | None = None
    section_rank: int | None = None
    top_rank: int | None = None
    section_coverage: float | None = None
    recall: tuple[float | None, ...] = UNKNOWN
    ndcg_10: float | None = None
    reciprocal_rank: float | None = None

    @property
    def columns(self) -> Mapping[str, object]:
        """The outcomes by the name of their column in the index; one that is missing is null."""
        if self.unranked is not None:
            return {"unranked": self.unranked}
        columns = self._asdict()
        recall = columns.pop("recall")
        return columns | {f"recall_{k}": value for k, value in zip(CUTS, recall, strict=True)}


#: The outcome of a trace that has none, by the reason.
LEFT_OUT: Final[Mapping[Unranked, Ranked]] = {reason: Ranked(reason) for reason in get_args(Unranked)}


def ranked(trace: Trace, relevance: Relevance, places: Places) -> Ranked:
    """Return the ranks of the gold in the trace's lists. `places` has the places of chunks without their own.

    Rank 1, nDCG and MRR are read from the last stage, the top 20 and section coverage from the fused list,
    else the retrieved one, else the answerer's chunks, recall@k from the first of these that has k places.
    A list that is there and empty found nothing; a trace without any list is left out.
    """
    if relevance.unranked is not None:
        return LEFT_OUT[relevance.unranked]
    sizes = lengths(trace)

    def first_of(names: Iterable[StageName], *, length: int = 1) -> StageName | None:
        return next((name for name in names if sizes.get(name, 0) >= length), None)

    @cache
    def placed(name: StageName | None) -> list[Placed]:
        return in_judged_order(list(listed(trace, name)), places) if name else []

    @cache
    def ranks(name: StageName) -> list[int]:
        return list(_ranks_of(relevance.relevant, placed(name)).values())

    last = first_of(LAST_STAGES)
    if last is None and "chunks_missing" in trace.suspicions:
        return LEFT_OUT["no_candidates"]
    top = first_of(TOP_STAGES) or last
    # Without a chunk file bare ids would all seem to lie elsewhere.
    if not places and (last or top) and not any(_has_place(relevance, placed(name)) for name in (last, top)):
        return LEFT_OUT["unplaced"]
    section_rank = _first_rank(placed(last), relevance, places)
    top_rank = section_rank if top == last else _first_rank(placed(top), relevance, places)
    is_missed = relevance.is_absent and section_rank is None and top_rank is None
    relevant, extent = (len(each) or int(is_missed) for each in (relevance.relevant, relevance.extent))
    order = ranks(last) if last else []
    recall: list[float | None] = []
    for k in CUTS if relevant else ():
        name = first_of(TOP_STAGES, length=k)
        recall.append(bisect_right(ranks(name), k) / relevant if name else None)
    return Ranked(
        None,
        bucket_of(section_rank, top_rank),
        section_rank,
        top_rank,
        bisect_right([*_ranks_of(relevance.extent, placed(top)).values()], TOP) / extent if extent else None,
        tuple(recall) or UNKNOWN,
        _ndcg(relevance, placed(last))
        if relevance.grades
        else ndcg(tuple(order[: bisect_right(order, NDCG_CUT)]), relevant),
        (1 / order[0] if order else 0.0) if relevant else None,
    )


def bucket_of(section_rank: int | None, top_rank: int | None) -> Bucket:
    """Where ranking failed: not at all, in the order of what was retrieved, or in retrieving it."""
    if section_rank == 1:
        return "hit"
    return "score_policy" if top_rank is not None and top_rank <= TOP else "retrieval_gap"


def _first_rank(placed: Iterable[Placed], relevance: Relevance, places: Places) -> int | None:
    for rank, chunk_id, entry in placed:
        if relevance.rules_out(chunk_id, entry.get("section_id")):
            continue
        if relevance.has(chunk_id, place_in(entry, chunk_id, places)):
            return rank
    return None


def _has_place(relevance: Relevance, placed: Iterable[Placed]) -> bool:
    """Return whether any candidate can be compared with the gold by what its own entry or id says."""
    if relevance.ids:
        return True
    known = (place_in(entry, chunk_id, {}) for _, chunk_id, entry in placed)
    return any((at.section_id if relevance.sections else at.page_idx) is not None for at in known)


def _ndcg(relevance: Relevance, placed: Iterable[Placed]) -> float:
    found = _ranks_of(relevance.relevant, placed).items()
    gains = [(rank, relevance.grades.get(chunk_id, 1)) for chunk_id, rank in found]
    return graded_ndcg(gains, relevance.best_gains)


def _ranks_of(wanted: Container[str], placed: Iterable[Placed]) -> dict[str, int]:
    found: dict[str, int] = {}
    for rank, chunk_id, _ in placed:
        if chunk_id in wanted:
            found.setdefault(chunk_id, rank)
    return found


def in_judged_order(found: list[Placed], places: Places) -> list[Placed]:
    """Return the candidates with neighbours of equal score in the order of section and chunk ids."""
    stated = [entry.get("score") for _, _, entry in found]
    if None not in stated and not any(map(eq, stated, islice(stated, 1, None))):
        return found

    def tie_key(placed: Placed) -> tuple[str, str]:
        _, chunk_id, entry = placed
        return place_in(entry, chunk_id, places).section_id or "", chunk_id

    ordered: list[Placed] = []
    for score, tie in groupby(found, key=lambda placed: score_of(placed[2])):
        members = list(tie)
        if score is not None and len(members) > 1:
            by_id = sorted(members, key=tie_key)
            members = [(rank, *each[1:]) for (rank, *_), each in zip(members, by_id, strict=True)]
        ordered += members
    return ordered


@lru_cache(maxsize=1 << 12)
def ndcg(ranks: tuple[int, ...], relevant: int) -> float | None:
    """Return nDCG@10 with linear gains, from the ranks of the relevant chunks in the first ten places.

    Source: Järvelin and Kekäläinen, ACM TOIS 20 (2002), discounted by log2(rank + 1) as in trec_eval 9.
    """
    if not relevant:
        return None
    ideal = range(1, min(relevant, NDCG_CUT) + 1)
    gain, best = (sum(1 / log2(rank + 1) for rank in each) for each in (ranks, ideal))
    return gain / best


def graded_ndcg(gains: Iterable[tuple[int, int]], best: Sequence[int]) -> float:
    """Return nDCG@10 as `ndcg` does where chunks are relevant in grades, which are the gains as in trec_eval.

    `gains` are ranks with the grades of the relevant chunks there, `best` those of all, the greatest first.
    """
    gain = sum(grade / log2(rank + 1) for rank, grade in gains if rank <= NDCG_CUT)
    ideal = sum(grade / log2(rank + 1) for rank, grade in enumerate(best[:NDCG_CUT], start=1))
    return gain / ideal


# Where ranking failed, in words: what each bucket means, and what to do about many questions in it.
#
# Source: SCORE-POLICY and RETRIEVAL-GAP of the sprint plan (docs/requirements.md), with their levers.
# A reranker orders what was found and finds nothing; recall has to be raised before it.

#: Best first.
BUCKETS: tuple[Bucket, ...] = get_args(Bucket)

BUCKET_MEANINGS: Mapping[Bucket, str] = {
    "hit": "A candidate of the gold section is at rank 1.",
    "score_policy": "The gold section is among the top 20, but another one is first.",
    "retrieval_gap": "The gold section is not among the top 20, so that no later stage can put it first.",
}
#: The fix for questions in a bucket, if there is anything to do.
BUCKET_STEPS: Mapping[Bucket, str] = {
    "score_policy": "Rerank: let a pinned cross-encoder read question and section text over the same top 20.",
    "retrieval_gap": "Hybrid recall: fuse a lexical and a dense retriever, both pinned, into the top 20; a "
    "reranker finds nothing that is not in its list.",
}
#: The fixes in a word or two.
BUCKET_LEVERS: Mapping[Bucket, str] = {"score_policy": "rerank", "retrieval_gap": "hybrid recall"}
