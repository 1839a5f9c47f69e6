"""The contract's rules for a trace's ranked lists: what each candidate states, and the order of the list."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import compress, islice
from operator import eq, gt, itemgetter

from proofspan.contracts.context import Context
from proofspan.contracts.findings import Placed
from proofspan.contracts.offset_rules import mixed_units
from proofspan.contracts.payload_rules import BARE_CANDIDATE, PAYLOAD_MARKS, candidate_demand, item_findings
from proofspan.contracts.ranking_rules import RANKS, SCORES, listed_ties, repeated, scoreless, shared_ranks
from proofspan.contracts.records import Json
from proofspan.contracts.values import id_of
from proofspan.traces.contract_reading import Located, Reading

#: A candidate that states none of these is held to nothing but the order of its list.
_HELD = PAYLOAD_MARKS.union(RANKS, SCORES, {"page"}) - {"score"}
_ID, _SCORE, _SECTION = map(itemgetter, ("id", "score", "section_id"))
_NUMBERS = frozenset({int, float})


def are_clean_lists(reading: Reading) -> bool:
    """Whether nothing is to be found in the ranked lists: no payloads, every score logged, ties in order."""
    return all(_is_clean(entries, is_stage=where != "chunks") for where, entries in reading.lists)


def candidate_findings(reading: Reading) -> Iterator[Located]:
    """Everything that is wrong with the ranked lists."""
    for where, entries in reading.lists:
        for place, finding in _list_findings(entries, reading.live, is_stage=where != "chunks"):
            yield f"{where}[{place}]", finding


def _is_clean(entries: list[Json], *, is_stage: bool) -> bool:
    try:
        keys = set().union(*entries)
        if not _HELD.isdisjoint(keys):
            return False
        ids = list(map(_ID, entries)) if "id" in keys else list(map(id_of, entries))
        if len(set(map(str, ids))) < len(ids):  # 7 and "7" are one
            return False
        if "score" not in keys:
            return not is_stage
        scores = list(map(_SCORE, entries))
        if not _NUMBERS.issuperset(map(type, scores)):
            return False
        tied = list(map(eq, scores, islice(scores, 1, None)))
        return True not in tied or _are_in_order(entries, tied)
    except (KeyError, TypeError):
        return False


def _are_in_order(entries: list[Json], tied: list[bool]) -> bool:
    """Whether entries that are tied with the next one come before it by section and id, both text."""
    sections, ids = list(map(_SECTION, entries)), list(map(_ID, entries))
    "".join(sections), "".join(ids)  # refuses whatever is not text
    keys = list(zip(sections, ids, strict=True))
    return not any(map(gt, compress(keys, tied), compress(islice(keys, 1, None), tied)))


def _list_findings(entries: list[Json], context: Context, *, is_stage: bool) -> Iterator[Placed]:
    bare: list[Json] = []
    for place, entry in enumerate(entries, start=1):
        demand = candidate_demand(entry) if isinstance(entry, dict) else None
        bare.append(entry if demand is BARE_CANDIDATE else None)
        for finding in item_findings(entry, context, demand) if demand else ():
            yield place, finding
    yield from repeated(entries)
    yield from scoreless(bare, needed=is_stage)
    yield from mixed_units(entries)
    yield from shared_ranks(entries)
    yield from listed_ties(entries)
