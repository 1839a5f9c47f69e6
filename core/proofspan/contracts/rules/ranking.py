"""The rules of scores and ranks: logged, in range, each rank given once, ties by section and chunk id."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from proofspan.contracts.records.chunk_id import parse
from proofspan.contracts.records.field_values import id_of, index_of, number_of, text_of
from proofspan.contracts.records.records import Json
from proofspan.contracts.rules.catalogue import Placed, Rule, missing, plain_problem, problem
from proofspan.contracts.rules.context import shown
from proofspan.errors import Problem

#: The score fields of a citation.
CITATION_SCORES = ("score_raw", "score_norm")
#: The score fields of a candidate.
CANDIDATE_SCORES = ("score", *CITATION_SCORES)
#: All scores that can decide an order: candidates tie only if none of them differs.
SCORES = (*CANDIDATE_SCORES, "rerank_score")
#: Those, and a reranker's before and after it, by name or alone.
_ANY_SCORE = (*SCORES, "post_score", "pre_score")
RANKS = ("k_pos", "k_final")
#: How far a normalized score may lie outside 0 to 1: a cosine in 32 bits is rounded.
ROUNDING = 1e-6

_NUMBERS = re.compile("([0-9]+)")


@Rule(
    "missing_score",
    "ranking",
    "no score",
    "Neither score_raw nor score_norm is logged, so the order cannot be checked.",
    "Let the adapter pass the store's score on.",
)
def score_problems(item: Mapping[str, Json], *, needed: Sequence[str] = ()) -> Iterator[Problem]:
    """Check a record's scores. One of the `needed` must be there, unless none is needed."""
    has_needed = not needed
    for name in SCORES:
        value = item.get(name)
        if value is None:
            continue
        has_needed = has_needed or name in needed
        number = number_of(value)
        if number is None:
            yield problem(f"wrong_type_{name}", name, f"{name} is {shown(value)}, not a number")
        elif name == "score_norm" and not -ROUNDING <= number <= 1 + ROUNDING:
            yield problem("bad_score_norm", name, f"score_norm is {shown(value)}, not from 0 to 1")
    if not has_needed:
        yield plain_problem("missing_score", "score_raw", "neither score_raw nor score_norm is logged")


@Rule(
    "bad_k_final",
    "ranking",
    "k_final wrong",
    "A k_final is not a whole number from 1, or two different chunks share one.",
    "Count ranks from 1 and give each rank to one chunk.",
)
@Rule(
    "bad_k_pos",
    "ranking",
    "k_pos wrong",
    "A k_pos is not a whole number from 1, or two different chunks share one.",
    "Count ranks from 1 and give each rank to one chunk.",
)
@Rule(
    "missing_k_pos",
    "ranking",
    "no rank before reranking",
    "k_pos is not logged, so the rank in the store's list is unknown.",
    "Log the rank in the store's list, from 1, as k_pos.",
)
def rank_problems(item: Mapping[str, Json], *, needs_k_pos: bool) -> Iterator[Problem]:
    """Check a record's own k_pos and k_final."""
    for name in RANKS:
        value = item.get(name)
        if value is None:
            if needs_k_pos and name == "k_pos":
                yield missing("k_pos")
        elif rank_of(value) is None:
            yield problem(f"bad_{name}", name, f"{name} is {shown(value)}, not a whole number from 1")


def rank_of(value: Json) -> int | None:
    """Return a rank, a whole number from 1; None for all else."""
    number = index_of(value)
    return number if number is not None and number >= 1 else None


def shared_ranks(items: Sequence[Json]) -> Iterator[Placed]:
    """Find two different chunks with one k_pos or one k_final."""
    for name in RANKS:
        holders: dict[int, str] = {}
        for place, item in enumerate(items, start=1):
            if type(item) is not dict or name not in item:
                continue
            rank, chunk_id = rank_of(item[name]), id_of(item)
            if rank is None or not chunk_id:
                continue
            holder = holders.setdefault(rank, chunk_id)
            if holder != chunk_id:
                message = f"{shown(chunk_id)} and {shown(holder)} both have {name} {rank}"
                yield place, problem(f"bad_{name}", name, message)


@Rule(
    "tie_order",
    "ranking",
    "ties out of order",
    "Candidates of equal score are not ordered by section and chunk id, so the order may change from run "
    "to run.",
    "Break ties by (score_norm descending, section_id, snippet_id).",
    "warning",
)
def cited_ties(items: Sequence[Json]) -> Iterator[Placed]:
    """Find cited chunks of equal score whose ranks contradict the order of section and chunk id.

    k_pos is compared with the scores before reranking, k_final with all of them, if a rerank score is there.
    """
    placed: dict[Placed, None] = {}
    for name in RANKS:
        ranked = [
            (rank, place, item)
            for place, item in enumerate(items, start=1)
            if type(item) is dict and (rank := rank_of(item.get(name))) is not None
        ]
        scores: Sequence[str] = CITATION_SCORES
        if name == "k_final":
            ranked = [each for each in ranked if each[2].get("rerank_score") is not None]
            scores = SCORES
        ranked.sort(key=lambda each: each[:2])
        wrong = [
            (first, second)
            for (_, first, item), (_, second, other) in pairwise(ranked)
            if _is_wrong_tie(item, other, scores)
        ]
        placed.update(dict.fromkeys(_tie_problem(items, wrong)))
    yield from placed


def listed_ties(entries: Sequence[Json]) -> Iterator[Placed]:
    """Find neighbours of equal score in a ranked list that are not in the order of section and chunk id."""
    pairs = enumerate(pairwise(entries), start=1)
    wrong = [
        (place, place + 1)
        for place, (item, other) in pairs
        if type(item) is type(other) is dict
        and item.get("score") == other.get("score")
        and _is_wrong_tie(item, other, SCORES)
    ]
    yield from _tie_problem(entries, wrong)


@Rule(
    "duplicate_candidate",
    "ranking",
    "chunk twice in one list",
    "A chunk occurs in a ranked list more than once and takes the place of another.",
    "Keep the best rank of each chunk when lists are joined.",
    "warning",
)
def repeated(ids: Sequence[str | None]) -> Iterator[Placed]:
    """Find chunks that occur twice in a ranked list, given as the ids of its entries."""
    if len(set(ids)) == len(ids):
        return
    first: dict[str, int] = {}
    for place, chunk_id in enumerate(ids, start=1):
        if chunk_id and first.setdefault(chunk_id, place) != place:
            message = f"{shown(chunk_id)} is at {first[chunk_id]} and again at {place}"
            yield place, problem("duplicate_candidate", "", message)


def scoreless(entries: Sequence[Json], *, needed: bool) -> Iterator[Placed]:
    """Find the first of the entries of a ranked list that have no score.

    A list without any score is a breach only if scores are `needed`; else it does not claim to be ranked.
    """
    without = [
        place
        for place, entry in enumerate(entries, start=1)
        if type(entry) is dict
        and entry.get("score") is None
        and all(entry.get(name) is None for name in _ANY_SCORE)
    ]
    objects = sum(type(entry) is dict for entry in entries) if without else 0
    if without and (needed or len(without) < objects):
        message = f"{len(without):,} of {objects:,} candidates have no score"
        yield without[0], problem("missing_score", "score", message)


def _is_wrong_tie(item: Mapping[str, Json], other: Mapping[str, Json], scores: Iterable[str]) -> bool:
    """True if two records, the first ranked before the second, have equal scores and are out of order."""
    if any(item.get(name) != other.get(name) for name in scores):
        return False
    if all(number_of(item.get(name)) is None for name in scores):
        return False
    chunk_id, other_id = id_of(item), id_of(other)
    if not chunk_id or not other_id or chunk_id == other_id:
        return False
    section, other_section = text_of(item.get("section_id")), text_of(other.get("section_id"))
    if (section is None) != (other_section is None):
        return False
    if section is None or other_section is None:
        if chunk_id <= other_id:
            return False
        parts, other_parts = parse(chunk_id), parse(other_id)
        section, other_section = (
            (parts.sect_path, other_parts.sect_path) if parts and other_parts else ("", "")
        )
    # As text and with numbers by size (4.9, 4.10): either order is reproducible, so both are accepted.
    place, other_place = (section, chunk_id), (other_section, other_id)
    return place > other_place and [*map(_by_size, place)] > [*map(_by_size, other_place)]


def _by_size(text: str) -> list[tuple[int, str]]:
    """Split into text and numbers, each number sorting after those with fewer digits."""
    parts = enumerate(_NUMBERS.split(text))
    return [(len(part.lstrip("0")), part.lstrip("0")) if at % 2 else (0, part) for at, part in parts]


def _tie_problem(items: Sequence[Json], wrong: Sequence[tuple[int, int]]) -> Iterator[Placed]:
    """Report all wrong ties of a list at the first; `wrong` are the 1-based places of the pairs."""
    if not wrong:
        return
    first, second = wrong[0]
    item, other = items[first - 1], items[second - 1]
    named = [
        shown(id_of(each)) + (f" of section {shown(section)}" if (section := each.get("section_id")) else "")
        for each in (item, other)
    ]
    more = f"; so are {len(wrong) - 1:,} more" if len(wrong) > 1 else ""
    message = f"{named[0]} is ranked before {named[1]} though they score the same{more}"
    yield first, problem("tie_order", "", message)
