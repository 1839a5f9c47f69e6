"""The lists that settings lead to, and where the gold is in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from proofspan.contracts.records.records import StageName
from proofspan.metrics import fusion
from proofspan.metrics.fusion import Flags, Numbers, Ranks
from proofspan.metrics.ranked import CUTS, NDCG_CUT, TOP, bucket_of, graded_ndcg, ndcg
from proofspan.services.whatif.lists import Counts, Lists
from proofspan.services.whatif.types import Settings, Ties
from proofspan.traces.records.trace_record import LAST_STAGES, TOP_STAGES

#: A rank that no list has.
_FAR = np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True, eq=False)
class NewLists:
    """The stages that settings change: places, places as metrics see them, and scores, NaN without one.

    A stage that is left out holds nothing. `unscored` counts the candidates that the reranker did not score,
    `unfused` the questions with candidates that are in no list, `lacking` those that lack the features to be
    reranked by, `chosen` those whose logged prompt is not the beginning of the last list.
    """

    ranks: Mapping[StageName, Ranks]
    judged: Mapping[StageName, Ranks]
    scores: Mapping[StageName, Numbers]
    unscored: int = 0
    unfused: int = 0
    lacking: int = 0
    chosen: int = 0


def fuses(settings: Settings) -> bool:
    """Return whether settings make the fused list again."""
    return bool(settings.weights) or any(
        value is not None for value in (settings.k, settings.depth, settings.top, settings.ties)
    )


@dataclass(frozen=True, slots=True)
class FusionSettings:
    """All that a fused list is made by. `top` None leaves each question the length that it has."""

    names: tuple[str, ...]
    k: float
    weights: tuple[float, ...]
    depth: int | None
    top: int | None
    ties: Ties


def fused(
    lists: Lists, by: FusionSettings, sources: Mapping[str, Ranks], rows: slice = slice(None)
) -> tuple[Ranks, Ranks, Numbers]:
    """Return the places of a fused list, those that metrics see, and its scores, of some questions."""
    ranks = [sources[name][rows] for name in by.names]
    scores = fusion.rrf(ranks, k=by.k, weights=by.weights, depth=by.depth)
    among = np.zeros(scores.shape, np.bool_)
    for rank, weight in zip(ranks, by.weights, strict=True):
        if weight > 0:
            among |= fusion.held(rank, by.depth)
    most = among.sum(axis=1)
    if by.top is not None:
        most = np.minimum(most, by.top)
    ties = _ties(lists, by.ties)
    ordered = fusion.order(scores, among, None if ties is None else ties[rows])
    found = fusion.places(ordered, most)
    judged = found if by.ties == "section" else _judged(found, scores)
    return found, judged, np.where(found > 0, scores, np.nan)


def _judged(places: Ranks, scores: Numbers) -> Ranks:
    """Return places with equal scores in the order in which metrics break ties: that of the columns."""
    held = places > 0
    return fusion.places(fusion.order(scores, held), held.sum(axis=1))


def _ties(lists: Lists, ties: Ties) -> Ranks | None:
    if ties == "section":
        return None
    if ("ties", ties) not in lists.kept:
        width = lists.shape[1]
        before = np.full(lists.shape, width, np.int32)
        if ties == "chunk":
            for row, ids in enumerate(lists.ids):
                before[row, sorted(range(len(ids)), key=ids.__getitem__)] = range(len(ids))
        else:  # as the run had them: in its fused list, then behind these as they were retrieved
            first, then = lists.ranks["fused"], lists.ranks["retrieved"]
            before = np.where(first > 0, first, np.where(then > 0, then, width) + width).astype(np.int32)
        lists.kept["ties", ties] = before
    known: Ranks = lists.kept["ties", ties]
    return known


def new_lists(
    lists: Lists, settings: Settings, by: FusionSettings | None, sources: Mapping[str, Ranks]
) -> NewLists:
    """Return the lists that settings lead to; `by` is what the fused list is made by, None to leave it."""
    ranks: dict[StageName, Ranks] = dict(lists.ranks)
    judged: dict[StageName, Ranks] = dict(lists.judged)
    scores: dict[StageName, Numbers] = {}
    unscored = unfused = lacking = 0
    if by is not None:
        held = np.any([sources[name] > 0 for name in by.names], axis=0)
        unfused = int(((lists.ranks["fused"] > 0) & ~held).any(axis=1).sum())
        ranks["fused"], judged["fused"], scores["fused"] = fused(lists, by, sources)
    if settings.is_unranked:
        nothing = np.zeros(lists.shape, np.int32)
        ranks["reranked"] = judged["reranked"] = nothing
    elif by is not None and lists.sizes["reranked"].any():
        again = _reranked_again(lists, ranks["fused"])
        ranks["reranked"], scores["reranked"], unscored = again
        judged["reranked"] = _judged_where(again[0], again[1])
    if settings.rerank and not settings.is_unranked:
        lacking = _rerank(lists, settings, ranks, judged, scores)
    chosen = _cut_prompt(lists, settings, ranks, judged)
    return NewLists(ranks, judged, scores, unscored, unfused, lacking, chosen)


def _judged_where(places: Ranks, scores: Numbers) -> Ranks:
    """Return places as metrics see them, where candidates without a score come last as they are."""
    return _judged(places, np.where(np.isfinite(scores), scores, -1e12 - places))


def _reranked_again(lists: Lists, first: Ranks) -> tuple[Ranks, Numbers, int]:
    """Return the reranker's order of a new list by its logged scores, and how many of it have none.

    These follow the others in their own order. Where a question's scores are not logged its order counts.
    """
    logged, scores = lists.ranks["reranked"], lists.scores["reranked"]
    has_scores = (np.isfinite(scores) | (logged == 0)).all(axis=1, keepdims=True)
    known = (logged > 0) & (first > 0)
    by = np.where(has_scores, scores, -logged.astype(np.float64))
    behind = (by[logged > 0].min() if (logged > 0).any() else 0.0) - 1.0
    keys = np.where(known, by, behind - first)
    reranks = lists.sizes["reranked"] > 0
    most = np.where(reranks, (first > 0).sum(axis=1), 0)
    top = np.where(lists.sizes["fused"] > 0, lists.sizes["fused"], lists.sizes["retrieved"])
    shorter = reranks & (lists.sizes["reranked"] < top)
    most = np.where(shorter, np.minimum(most, lists.sizes["reranked"]), most)
    found = fusion.places(fusion.order(keys, first > 0), most)
    missing = int(((found > 0) & ~known).sum())
    return found, np.where((found > 0) & known & has_scores, scores, np.nan), missing


def _rerank(
    lists: Lists,
    settings: Settings,
    ranks: dict[StageName, Ranks],
    judged: dict[StageName, Ranks],
    scores: dict[StageName, Numbers],
) -> int:
    """Order the top list of each question by logged features; return how many questions lack these."""
    names = [name for name, _ in settings.rerank]
    features = [lists.features[name] for name in names]
    top = np.where((ranks["fused"] > 0).any(axis=1, keepdims=True), ranks["fused"], ranks["retrieved"])
    among = top > 0
    total = fusion.weighted_sum(features, [weight for _, weight in settings.rerank], among)
    known = np.any([among & np.isfinite(feature) for feature in features], axis=0).any(axis=1)
    there = among.any(axis=1)
    found = fusion.places(
        fusion.order(total, among, _ties(lists, settings.ties or "section")), among.sum(axis=1)
    )
    rows = (known & there)[:, None]
    ranks["reranked"] = np.where(rows, found, ranks["reranked"])
    judged["reranked"] = np.where(rows, _judged(found, total), judged["reranked"])
    before = scores.get("reranked", lists.scores["reranked"])
    scores["reranked"] = np.where(rows, np.where(among, total, np.nan), before)
    return int((there & ~known).sum())


def last_of(ranks: Mapping[StageName, Ranks], *, with_chunks: bool = True) -> Ranks:
    """Return the places in the last list of each question."""
    found = ranks["chunks"] if with_chunks else np.zeros_like(ranks["chunks"])
    for name in reversed(LAST_STAGES[:-1]):
        found = np.where((ranks[name] > 0).any(axis=1, keepdims=True), ranks[name], found)
    return found


def _cut_prompt(
    lists: Lists, settings: Settings, ranks: dict[StageName, Ranks], judged: dict[StageName, Ranks]
) -> int:
    """Let the beginning of the last list reach the prompt; return how many prompts were chosen otherwise.

    Without a size the prompt keeps the logged one, and is as logged where the last list is.
    """
    logged, was, now = lists.ranks["chunks"], last_of(lists.ranks), last_of(ranks)
    sizes = (logged > 0).sum(axis=1)
    moved = (was != now).any(axis=1)
    is_chosen = (sizes > 0) & (np.where(was <= sizes[:, None], was, 0) != logged).any(axis=1)
    if settings.prompt is not None:
        moved = np.ones_like(moved)
        sizes = np.full_like(sizes, settings.prompt)
    cut = np.where((now > 0) & (now <= sizes[:, None]), now, 0).astype(np.int32)
    ranks["chunks"] = np.where(moved[:, None], cut, logged)
    kept = ranks["chunks"] > 0
    far = np.where(
        kept & (judged["chunks"] > 0), -judged["chunks"].astype(np.float64), -1e9 - ranks["chunks"]
    )
    again = fusion.places(fusion.order(far, kept), kept.sum(axis=1))
    judged["chunks"] = np.where(moved[:, None], again, judged["chunks"])
    return int((moved & is_chosen).sum())


def sizes_of(lists: Lists, new: NewLists) -> dict[StageName, Counts]:
    """Return the lengths of the lists; those of unchanged ones count entries without an id."""
    found: dict[StageName, Counts] = {}
    for name, ranks in new.ranks.items():
        same = (ranks == lists.ranks[name]).all(axis=1)
        found[name] = np.where(same, lists.sizes[name], (ranks > 0).sum(axis=1)).astype(np.int32)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """Where the gold is: a number for each question, NaN for none; `rows` are those that may differ."""

    rows: NDArray[np.bool_]
    section_rank: Numbers
    top_rank: Numbers
    section_coverage: Numbers
    recall: Mapping[int, Numbers]
    ndcg_10: Numbers
    reciprocal_rank: Numbers
    bucket: list[str]


def outcomes(lists: Lists, new: NewLists) -> Outcomes:
    """Return where the gold is in new lists, as `proofspan.metrics.ranked.ranked` has it of their traces."""
    sizes = sizes_of(lists, new)
    is_new = {name: (new.judged[name] != lists.judged[name]).any(axis=1) for name in new.judged}
    rows = lists.is_judged & np.any(
        [*is_new.values(), *(sizes[name] != lists.sizes[name] for name in sizes)], axis=0
    )
    gold = {
        name: np.where(is_new[name][:, None], lists.gold_anywhere, lists.gold[name]) for name in new.judged
    }
    first_gold = {name: _first(new.judged[name], gold[name]) for name in new.judged}
    section_rank = _chosen(first_gold, sizes, LAST_STAGES)
    top_rank = _chosen(first_gold, sizes, TOP_STAGES)
    missed = lists.is_absent & np.isnan(section_rank) & np.isnan(top_rank)
    relevant = np.where(lists.relevant_of > 0, lists.relevant_of, missed).astype(np.float64)
    extent = np.where(lists.extent_of > 0, lists.extent_of, missed).astype(np.float64)
    recall = {}
    for cut in CUTS:
        counts = {name: _within(new.judged[name], lists.relevant, cut) for name in TOP_STAGES}
        recall[cut] = _share(_chosen(counts, sizes, TOP_STAGES, least=cut), relevant)
    covered = {name: _within(new.judged[name], lists.extent, TOP) for name in TOP_STAGES}
    best = {name: _first(new.judged[name], lists.relevant) for name in LAST_STAGES}
    reciprocal = 1.0 / _chosen(best, sizes, LAST_STAGES)
    bits = {name: _bits(new.judged[name], lists.relevant) for name in LAST_STAGES}
    gains = np.nan_to_num(_chosen(bits, sizes, LAST_STAGES)).astype(int)
    with np.errstate(invalid="ignore"):
        ranked = [
            _gain(each, of) if of else np.nan
            for each, of in zip(gains.tolist(), relevant.astype(int).tolist(), strict=True)
        ]
    for row, (grades, best_gains) in lists.graded.items():
        name = next((name for name in LAST_STAGES if sizes[name][row]), LAST_STAGES[-1])
        places = new.judged[name][row]
        found = [(int(places[column]), grade) for column, grade in grades.items() if places[column] > 0]
        ranked[row] = graded_ndcg(found, best_gains)
    buckets = [
        bucket_of(None if at != at else int(at), None if top != top else int(top))
        for at, top in zip(section_rank.tolist(), top_rank.tolist(), strict=True)
    ]
    return Outcomes(
        rows,
        section_rank,
        top_rank,
        _share(np.nan_to_num(_chosen(covered, sizes, TOP_STAGES)), extent),
        recall,
        np.array(ranked),
        np.where(relevant > 0, np.nan_to_num(reciprocal), np.nan),
        list(buckets),
    )


def _first(places: Ranks, wanted: Flags) -> Numbers:
    """Return the first place of a wanted candidate, NaN without one."""
    found = np.where(wanted & (places > 0), places, _FAR).min(axis=1, initial=_FAR)
    return np.where(found < _FAR, found, np.nan)


def _within(places: Ranks, wanted: Flags, cut: int) -> Numbers:
    counts: Numbers = (wanted & (places > 0) & (places <= cut)).sum(axis=1).astype(np.float64)
    return counts


def _bits(places: Ranks, wanted: Flags) -> Numbers:
    """Return the first places of wanted candidates as the bits of a number."""
    within = wanted & (places > 0) & (places <= NDCG_CUT)
    bits: Numbers = np.where(within, 1 << np.clip(places - 1, 0, NDCG_CUT), 0).sum(axis=1).astype(np.float64)
    return bits


@lru_cache(maxsize=1 << 14)
def _gain(bits: int, relevant: int) -> float:
    ranks = tuple(place + 1 for place in range(NDCG_CUT) if bits >> place & 1)
    return ndcg(ranks, relevant) or 0.0


def _chosen(
    values: Mapping[StageName, Numbers],
    sizes: Mapping[StageName, Counts],
    names: tuple[StageName, ...],
    *,
    least: int = 1,
) -> Numbers:
    """Return the value of the first stage that has at least so long a list, NaN without one."""
    found = np.full(len(sizes["chunks"]), np.nan)
    for name in reversed(names):
        found = np.where(sizes[name] >= least, values[name], found)
    return found


def _share(part: Numbers, of: Numbers) -> Numbers:
    return np.where(of > 0, part / np.where(of > 0, of, 1.0), np.nan)
