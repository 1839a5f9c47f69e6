"""The state of a question's gold passage in a trace: retrieved, seen, cited, or correctly absent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from proofspan.contracts.records.records import Citation, GoldQuestion, StageName, Trace
from proofspan.diagnosis.labelling import REFUSAL_LABELS
from proofspan.diagnosis.types import ReportRow
from proofspan.traces.records.chunks import Places
from proofspan.traces.records.citations import citations
from proofspan.traces.records.trace_record import NOWHERE, listed, place_in, top_stage

GoldState = Literal["answered", "missed", "dropped", "uncited", "seen", "cited", "declined"]
#: Worst first, as lists are ordered.
GOLD_STATES: tuple[GoldState, ...] = get_args(GoldState)
#: The states in which nothing went wrong.
GOOD_STATES: frozenset[GoldState] = frozenset({"cited", "declined"})


@dataclass(frozen=True, slots=True)
class GoldTarget:
    """The gold that candidates are compared with: chunk ids, section ids, or (doc_id, page_idx) pairs.

    `nothing`: the documents hold no answer, so no candidate is the gold one.
    """

    kind: Literal["chunk", "section", "page", "nothing"]
    wanted: frozenset[object] = frozenset()


@dataclass(frozen=True, slots=True)
class GoldOutcome:
    """The state of the gold passage, with its best 1-based ranks, None if it is not in a list.

    `seen` is the rank among the answerer's chunks, `retrieved` that in the whole list of `stage`, the one
    that the top 20 are read from (None: the trace lists no candidates). `is_refusal`: the answer declines.
    """

    state: GoldState
    seen: int | None = None
    retrieved: int | None = None
    stage: StageName | None = None
    is_refusal: bool = False


def gold_target(gold: GoldQuestion | None) -> GoldTarget | None:
    """Return the narrowest target that the gold names: its chunks, else its sections, else its spans' pages.

    None without gold, or with spans without a page.
    """
    if gold is None:
        return None
    if not gold.answerable:
        return GoldTarget("nothing")
    if gold.chunks:
        return GoldTarget("chunk", frozenset(gold.chunks))
    if sections := frozenset(filter(None, map(str.strip, gold.sections))):
        return GoldTarget("section", sections)
    pages = frozenset((span.doc_id, span.page_idx) for span in gold.spans if span.page_idx is not None)
    return GoldTarget("page", pages) if pages else None


def gold_outcome(
    trace: Trace,
    target: GoldTarget | None,
    verdict: ReportRow | None,
    places: Places,
    cited: Sequence[Citation] | None = None,
) -> GoldOutcome | None:
    """Return the state of the gold passage, None if it cannot be known.

    It cannot without a target, for a trace that lists neither chunks nor another stage, and, if the documents
    hold no answer, without a verdict or an answer. `places` has the places of chunks whose candidates or
    citations have none. `cited` are the trace's citations, if they have been read already.
    """
    if target is None:
        return None
    is_refusal = declines(trace, verdict)
    if target.kind == "nothing":
        if is_refusal:
            return GoldOutcome("declined", is_refusal=True)
        return GoldOutcome("answered") if verdict is not None and trace.answer.strip() else None
    stage = top_stage(trace)
    if stage is None and "chunks_missing" in trace.suspicions:
        return None
    seen = _best(trace, "chunks", target, places)
    retrieved = seen if stage is None or stage == "chunks" else _best(trace, stage, target, places)
    if seen is not None:
        state = "uncited" if is_refusal else _state_of_seen(trace, target, places, cited)
    else:
        state = "missed" if retrieved is None else "dropped"
    return GoldOutcome(state, seen, retrieved, stage, is_refusal)


def declines(trace: Trace, verdict: ReportRow | None) -> bool:
    """Return whether the answer declines: by its label, or in other words without citing anything."""
    if verdict is None:
        return False
    if verdict.label in REFUSAL_LABELS:
        return True
    return "refusal_other_wording" in verdict.suspicions and not citations(trace)


def _state_of_seen(
    trace: Trace, target: GoldTarget, places: Places, cited: Sequence[Citation] | None
) -> GoldState:
    """Return the state by what is cited, for an answerer who saw the gold passage."""
    cited = citations(trace) if cited is None else cited
    if not cited:
        return "seen"
    chunk_ids = {citation.chunk_id for citation in cited}
    if target.kind == "chunk" and not target.wanted.isdisjoint(chunk_ids):
        return "cited"
    listed_places = {
        chunk_id: place_in(entry, chunk_id, places)
        for _, chunk_id, entry in listed(trace, "chunks")
        if chunk_id in chunk_ids
    }
    for citation in cited:
        chunk_id = citation.chunk_id or ""
        # Its place is that of its payload, else of its chunk's record, else of its id.
        known = listed_places.get(chunk_id) or places.get(chunk_id) or NOWHERE
        place = place_in(citation.raw, "", {"": known})
        section_id = place.section_id or citation.section_id or ""
        page_idx = citation.page_idx if place.page_idx is None else place.page_idx
        page = place.doc_id or citation.doc_id, page_idx
        if target.kind == "section":
            is_gold = section_id.strip() in target.wanted
        elif target.kind == "page":
            is_gold = page in target.wanted
        else:  # a citation of a page alone means all chunks there
            gold = (places[each] for each in map(str, target.wanted) if each in places)
            is_page = citation.chunk_id is None and page_idx is not None
            is_gold = is_page and any(page == (each.doc_id, each.page_idx) for each in gold)
        if is_gold:
            return "cited"
    return "uncited"


def _best(trace: Trace, stage: StageName, target: GoldTarget, places: Places) -> int | None:
    for rank, chunk_id, entry in listed(trace, stage):
        value: object = chunk_id
        if target.kind != "chunk":
            place = place_in(entry, chunk_id, places)
            is_section = target.kind == "section"
            value = (place.section_id or "").strip() if is_section else (place.doc_id, place.page_idx)
        if value in target.wanted:
            return rank
    return None
