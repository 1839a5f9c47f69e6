"""Where the gold passage stood in a trace's lists: the rank it was retrieved at, the rank it was seen at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from core.contracts.records import GoldQuestion, StageName, Trace
from core.traces.canonical import listed, ranked_places, top_stage
from core.traces.chunks import Places

#: `seen`: among the answerer's chunks; `dropped`: retrieved, but not among them; `missed`: not retrieved.
GoldState = Literal["seen", "dropped", "missed"]
#: Worst first, as a list of choices offers them.
GOLD_STATES: tuple[GoldState, ...] = ("missed", "dropped", "seen")


@dataclass(frozen=True, slots=True)
class GoldTarget:
    """What a candidate has to be to be the gold one: a chunk id, a section id, or a (doc_id, page_idx)."""

    kind: Literal["chunk", "section", "page"]
    wanted: frozenset[object]


@dataclass(frozen=True, slots=True)
class GoldRanks:
    """Best 1-based ranks of a gold candidate, None where no candidate of the list is one.

    `seen` is the rank among the answerer's chunks, `retrieved` that in the whole list of `stage`, the one
    that the top 20 are read from (None: the trace lists no candidates).
    """

    seen: int | None
    retrieved: int | None
    stage: StageName | None

    @property
    def state(self) -> GoldState:
        """What became of the gold passage."""
        if self.seen is not None:
            return "seen"
        return "missed" if self.retrieved is None else "dropped"


def gold_target(gold: GoldQuestion | None) -> GoldTarget | None:
    """The narrowest thing that the gold names: its chunks, else its sections, else its spans' pages.

    None where there is nothing to look for: no gold, an unanswerable question, or spans without a page.
    """
    if gold is None or not gold.answerable:
        return None
    if gold.chunks:
        return GoldTarget("chunk", frozenset(gold.chunks))
    if sections := frozenset(filter(None, map(str.strip, gold.sections))):
        return GoldTarget("section", sections)
    pages = frozenset((span.doc_id, span.page_idx) for span in gold.spans if span.page_idx is not None)
    return GoldTarget("page", pages) if pages else None


def gold_ranks(trace: Trace, target: GoldTarget | None, places: Places) -> GoldRanks | None:
    """The ranks of the gold passage; None where they cannot be known.

    That is without a target, and where the trace leaves out its chunks and lists no other stage. `places`
    says where a chunk lies whose candidate does not.
    """
    stage = top_stage(trace)
    if target is None or (stage is None and "chunks_missing" in trace.suspicions):
        return None
    seen = _best(trace, "chunks", target, places)
    retrieved = seen if stage is None or stage == "chunks" else _best(trace, stage, target, places)
    return GoldRanks(seen, retrieved, stage)


def _best(trace: Trace, stage: StageName, target: GoldTarget, places: Places) -> int | None:
    found = _ranked(trace, stage, target, places)
    return next((rank for rank, place in found if place in target.wanted), None)


def _ranked(
    trace: Trace, stage: StageName, target: GoldTarget, places: Places
) -> Iterator[tuple[int, object]]:
    """Each candidate's rank with what the target compares."""
    if target.kind == "chunk":
        return ((rank, chunk_id) for rank, chunk_id, _ in listed(trace, stage))
    candidates = ranked_places(trace, stage, places)
    if target.kind == "section":
        return ((each.rank, (each.section_id or "").strip()) for each in candidates)
    return ((each.rank, (each.doc_id, each.page_idx)) for each in candidates)
