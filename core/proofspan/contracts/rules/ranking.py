"""The rules of scores and ranks: logged, in range, no place given twice, ties by section and chunk id."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from proofspan.contracts.records.chunk_id import parse
from proofspan.contracts.records.field_values import id_of, index_of, number_of, text_of
from proofspan.contracts.records.records import Json
from proofspan.contracts.rules.finding import Finding, Placed, shown

#: What a citation's score is called.
CITATION_SCORES = ("score_raw", "score_norm")
#: What a candidate's score is called.
CANDIDATE_SCORES = ("score", *CITATION_SCORES)
#: Every score that can decide an order: a tie is one only where none of them differs.
SCORES = (*CANDIDATE_SCORES, "rerank_score")
#: A reranker's scores, before and after it, by name or alone.
STAGE_SCORES = ("post_score", "pre_score")
RANKS = ("k_pos", "k_final")
_NUMBERS = re.compile("([0-9]+)")
#: A normalized score may be so far out of 0 to 1: a cosine in 32 bits is rounded.
ROUNDING = 1e-6

_MISSING_SCORE = Finding("missing_score", "score_raw", "neither score_raw nor score_norm is logged")
_MISSING_K_POS = Finding("missing_k_pos", "k_pos", "k_pos is missing")


def score_findings(item: Mapping[str, Json], *, needed: Sequence[str] = ()) -> Iterator[Finding]:
    """What is wrong with a record's scores. One of the `needed` must be there, unless none is needed."""
    for name in SCORES:
        value = item.get(name)
        if value is None:
            continue
        number = number_of(value)
        if number is None:
            yield Finding(f"wrong_type_{name}", name, f"{name} is {shown(value)}, no number")
        elif name == "score_norm" and not -ROUNDING <= number <= 1 + ROUNDING:
            yield Finding("bad_score_norm", name, f"score_norm is {shown(value)}, not from 0 to 1")
    if needed and all(item.get(name) is None for name in needed):
        yield _MISSING_SCORE


def rank_findings(item: Mapping[str, Json], *, needs_k_pos: bool) -> Iterator[Finding]:
    """What is wrong with a record's own k_pos and k_final."""
    for name in RANKS:
        value = item.get(name)
        if value is None:
            if needs_k_pos and name == "k_pos":
                yield _MISSING_K_POS
        elif rank_of(value) is None:
            yield Finding(f"bad_{name}", name, f"{name} is {shown(value)}, no whole number from 1")


def rank_of(value: Json) -> int | None:
    """A rank: a whole number from 1; None for all else."""
    number = index_of(value)
    return number if number is not None and number >= 1 else None


def shared_ranks(items: Sequence[Json]) -> Iterator[Placed]:
    """Where two different chunks claim one k_pos or one k_final."""
    for name in RANKS:
        holders: dict[int, str] = {}
        for place, item in enumerate(items, start=1):
            if type(item) is not dict:
                continue
            rank, chunk_id = rank_of(item.get(name)), id_of(item)
            if rank is None or not chunk_id:
                continue
            holder = holders.setdefault(rank, chunk_id)
            if holder != chunk_id:
                said = f"{shown(chunk_id)} and {shown(holder)} both have {name} {rank}"
                yield place, Finding(f"bad_{name}", name, said)


def cited_ties(items: Sequence[Json]) -> Iterator[Placed]:
    """Where cited chunks of equal score have ranks against the order of section and chunk id.

    k_pos is held against the scores before reranking, k_final against all of them, a rerank score among them.
    """
    found: dict[Placed, None] = {}
    for name in RANKS:
        ranked = [
            (rank, place, item)
            for place, item in enumerate(items, start=1)
            if type(item) is dict and (rank := rank_of(item.get(name))) is not None
        ]
        if name == "k_final":
            ranked = [each for each in ranked if each[2].get("rerank_score") is not None]
            decide: Sequence[str] = SCORES
        else:
            decide = CITATION_SCORES
        ranked.sort(key=lambda each: each[:2])
        wrong = [
            (first, second)
            for (_, first, item), (_, second, other) in pairwise(ranked)
            if _is_wrong_tie(item, other, decide)
        ]
        found.update(dict.fromkeys(_tie_finding(items, wrong)))
    yield from found


def listed_ties(entries: Sequence[Json]) -> Iterator[Placed]:
    """Where neighbours of equal score in a ranked list are not in the order of section and chunk id."""
    pairs = enumerate(pairwise(entries), start=1)
    wrong = [(place, place + 1) for place, (item, other) in pairs if _is_wrong_tie(item, other, SCORES)]
    yield from _tie_finding(entries, wrong)


def repeated(entries: Sequence[Json]) -> Iterator[Placed]:
    """Where a chunk stands in a ranked list, of objects or of ids alone, that stands in it further up."""
    first: dict[str, int] = {}
    for place, entry in enumerate(entries, start=1):
        chunk_id = id_of(entry) if isinstance(entry, dict) else text_of(entry)
        if chunk_id and first.setdefault(chunk_id, place) != place:
            said = f"{shown(chunk_id)} stands at {first[chunk_id]} and again at {place}"
            yield place, Finding("duplicate_candidate", "", said)


def scoreless(entries: Sequence[Json], *, needed: bool) -> Iterator[Placed]:
    """One finding for the entries of a ranked list that have no score, at the first.

    A list without any score is one only where scores are `needed`: else it makes no claim to be ranked.
    """
    objects = [(place, entry) for place, entry in enumerate(entries, start=1) if type(entry) is dict]
    names = (*SCORES, *STAGE_SCORES)
    without = [place for place, entry in objects if all(entry.get(name) is None for name in names)]
    if without and (needed or len(without) < len(objects)):
        said = f"{len(without):,} of {len(objects):,} candidates have no score"
        yield without[0], Finding("missing_score", "score", said)


def _is_wrong_tie(item: Json, other: Json, scores: Iterable[str]) -> bool:
    """Whether two records, the first ranked before the second, score the same and are out of order."""
    if type(item) is not dict or type(other) is not dict:
        return False
    if any(item.get(name) != other.get(name) for name in scores):
        return False
    if all(number_of(item.get(name)) is None for name in scores):
        return False
    chunk_id, other_id = id_of(item), id_of(other)
    if not chunk_id or not other_id or chunk_id == other_id:
        return False
    section, other_section = text_of(item.get("section_id")), text_of(other.get("section_id"))
    if section is not None and other_section is not None:
        return _is_after((section, chunk_id), (other_section, other_id))
    if section is not None or other_section is not None:
        return False
    parts, other_parts = parse(chunk_id), parse(other_id)
    paths = (parts.sect_path, other_parts.sect_path) if parts and other_parts else ("", "")
    return chunk_id > other_id and _is_after((paths[0], chunk_id), (paths[1], other_id))


def _is_after(place: tuple[str, str], other: tuple[str, str]) -> bool:
    """Whether section and id come after the others, as text and with their numbers by size: 4.9 and 4.10.

    Either order is one that does not change from run to run.
    """
    return place > other and [*map(_by_size, place)] > [*map(_by_size, other)]


def _by_size(text: str) -> list[tuple[int, str]]:
    """Text and numbers in turn, each number after those with fewer digits."""
    parts = enumerate(_NUMBERS.split(text))
    return [(len(part.lstrip("0")), part.lstrip("0")) if at % 2 else (0, part) for at, part in parts]


def _tie_finding(items: Sequence[Json], wrong: Sequence[tuple[int, int]]) -> Iterator[Placed]:
    """One finding for all wrong ties of a list, at the first; `wrong` are the 1-based places of the pairs."""
    if not wrong:
        return
    first, second = wrong[0]
    item, other = items[first - 1], items[second - 1]
    named = [
        shown(id_of(each)) + (f" of section {shown(section)}" if (section := each.get("section_id")) else "")
        for each in (item, other)
    ]
    more = f"; so are {len(wrong) - 1:,} more" if len(wrong) > 1 else ""
    said = f"{named[0]} is ranked before {named[1]} though they score the same{more}"
    yield first, Finding("tie_order", "", said)
