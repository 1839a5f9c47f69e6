"""What the contract's rules need of a trace, read once: what it lists, what it cites, what the run pins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from proofspan.contracts.context import Context
from proofspan.contracts.findings import Finding
from proofspan.contracts.records import Json, Trace
from proofspan.contracts.values import id_of
from proofspan.traces.answer_block import Block, auditable_block
from proofspan.traces.canonical import STAGES, entries_in
from proofspan.traces.citations import citation_ids_in_text

#: A place in the record, and a finding whose field is seen from there.
Located = tuple[str, Finding]

#: Where a joined trace's citations may come from that hold no payload: ids of an answer, lines of a log.
JOINED = ("cited_chunks", "log")

_PLACES = {name: name if name == "chunks" else f"stages.{name}" for name in STAGES}


class Listed(NamedTuple):
    """Entries as the record has them, and the place of their list in the record: `stages.fused`."""

    place: str
    entries: list[Json]


class Reading(NamedTuple):
    """A trace, as its rules read it.

    `live` is `context` with what the trace logs itself of index, embedding model and analyzer where the run
    pins nothing. `lists` are its ranked lists, `cited` the lists of citations (its own, then those of its
    segments), empty ones left out. `in_text` are the ids of `citations: […]` in the answer, `block` is the
    auditable answer in it.
    """

    trace: Trace
    raw: Mapping[str, Json]
    context: Context
    live: Context
    declines: bool
    lists: tuple[Listed, ...]
    cited: tuple[Listed, ...]
    in_text: tuple[str, ...]
    block: Block | None

    @property
    def is_joined(self) -> bool:
        """Whether the citations are ids of an answer's record or lines of a log, which hold no payload."""
        return self.raw.get("citations_from") in JOINED


def reading_of(trace: Trace, context: Context, *, declines: bool) -> Reading:
    """The trace, read for its rules."""
    raw, answer = trace.raw, trace.answer
    return Reading(
        trace,
        raw,
        context,
        _live(raw, context),
        declines,
        _ranked(raw),
        _cited(raw),
        citation_ids_in_text(answer),
        auditable_block(answer),
    )


def cited_id(item: Json) -> str | None:
    """The chunk that an entry of a list of citations names."""
    return (item if isinstance(item, str) else id_of(item) if isinstance(item, dict) else None) or None


def _live(raw: Mapping[str, Json], context: Context) -> Context:
    if context.index_hash is None and _says(raw, "index_hash"):
        context = replace(context, index_hash=raw["index_hash"])
    if context.embed_model is None and _says(raw, "embed_model"):
        context = replace(context, embed_model=raw["embed_model"])
    if context.analyzer is None and _says(raw, "analyzer"):
        context = replace(context, analyzer=raw["analyzer"])
    return context


def _says(raw: Mapping[str, Json], name: str) -> bool:
    return name in raw and isinstance(value := raw[name], str) and bool(value.strip())


def _ranked(raw: Mapping[str, Json]) -> tuple[Listed, ...]:
    if "stages" not in raw:
        entries = entries_in(raw, "chunks")
        return (Listed("chunks", entries),) if entries else ()
    found = []
    for name in STAGES:
        if entries := entries_in(raw, name):
            found.append(Listed(_PLACES[name], entries))
    return tuple(found)


def _cited(raw: Mapping[str, Json]) -> tuple[Listed, ...]:
    own, segments = raw.get("citations"), raw.get("segments")
    first = (Listed("citations", own),) if isinstance(own, list) and own else ()
    if not isinstance(segments, list):
        return first
    found = []
    for place, segment in enumerate(segments, start=1):
        items = segment.get("citations") if isinstance(segment, dict) else None
        if isinstance(items, list) and items:
            found.append(Listed(f"segments[{place}].citations", items))
    return (*first, *found)
