"""The contract's rules for a trace's ranked lists: what each candidate states, and the order of the list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import itemgetter

from core.contracts.context import Context
from core.contracts.findings import Finding
from core.contracts.offset_rules import mixed_units
from core.contracts.payload_rules import PAYLOAD_MARKS, candidate_demand, item_findings
from core.contracts.ranking_rules import RANKS, SCORES, listed_ties, scoreless, shared_ranks
from core.contracts.records import Json
from core.traces.canonical import STAGES, entries_in

#: A candidate that states none of these is held to nothing but the order of its list.
_HELD = PAYLOAD_MARKS.union(RANKS, SCORES, {"page"}) - {"score"}
_SCORE = itemgetter("score")
_NUMBERS = frozenset({int, float})


def candidate_lists(raw: Mapping[str, Json]) -> list[tuple[str, list[Json]]]:
    """The lists of a trace that hold something, each with its place in the record, in pipeline order."""
    if "stages" not in raw:
        entries = entries_in(raw, "chunks")
        return [("chunks", entries)] if entries else []
    places = [(name if name == "chunks" else f"stages.{name}", entries_in(raw, name)) for name in STAGES]
    return [(place, entries) for place, entries in places if entries]


def is_clean_list(entries: list[Json]) -> bool:
    """Whether no rule can find anything in a ranked list: no payloads, every score logged, no two equal."""
    try:
        scores = list(map(_SCORE, entries))
        if len(set(scores)) < len(scores) or not _NUMBERS.issuperset(map(type, scores)):
            return False
        return _HELD.isdisjoint(set().union(*entries))
    except (KeyError, TypeError):
        return False


def list_findings(entries: list[Json], context: Context) -> Iterator[Finding]:
    """Everything that is wrong with one ranked list; fields are relative, `[3].score_norm`."""
    for place, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict):
            continue
        demand = candidate_demand(entry)
        for finding in item_findings(entry, context, demand):
            yield finding.inside(f"[{place}]")
    yield from scoreless(entries)
    yield from mixed_units(entries)
    yield from shared_ranks(entries)
    yield from listed_ties(entries)
