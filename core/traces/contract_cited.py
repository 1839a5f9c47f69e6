"""The contract's rules for what a trace cites: its payloads, its segments, and where the cited chunks are."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from core.contracts.chunk_ids import UNKNOWN_REVISION, parse
from core.contracts.citation_rules import items_findings, list_findings, section_of
from core.contracts.context import Context
from core.contracts.findings import Finding, shown
from core.contracts.parity import same_text_rev
from core.contracts.payload_rules import CITATION
from core.contracts.records import Json
from core.contracts.section_rules import cross_section
from core.contracts.values import id_of, text_of

#: So many chunks outside the corpus get a finding of their own in one trace; one more counts the rest.
MOST_MISSING = 24

_PLACE = re.compile(r"\[(?P<place>[0-9]+)\]")


class CitedList(NamedTuple):
    """A list of citations as the record has it, and its place in the record."""

    place: str
    items: list[Json]


def cited_lists(raw: Mapping[str, Json]) -> list[CitedList]:
    """The trace's own citations and those of its segments, lists that are empty left out."""
    own = raw.get("citations")
    found = [CitedList("citations", own)] if isinstance(own, list) and own else []
    segments = raw.get("segments")
    for place, segment in enumerate(segments if isinstance(segments, list) else (), start=1):
        items = segment.get("citations") if isinstance(segment, dict) else None
        if isinstance(items, list) and items:
            found.append(CitedList(f"segments[{place}].citations", items))
    return found


def cited_id(item: Json) -> str | None:
    """The chunk that an entry of a list of citations names."""
    return (item if isinstance(item, str) else id_of(item) if isinstance(item, dict) else None) or None


def citation_list_findings(lists: Sequence[CitedList], context: Context) -> Iterator[Finding]:
    """What is wrong with the citations of a trace: each by itself, all together, and each segment's sections.

    A segment may point at the trace's own citations, by id or by repeating them: those are judged once.
    """
    own = lists[0].items if lists and lists[0].place == "citations" else []
    judged = [
        (f"{each.place}[{place}]", item)
        for each in lists
        for place, item in enumerate(each.items, start=1)
        if each.items is own or not (own and (isinstance(item, str) or item in own))
    ]
    items = [item for _, item in judged]
    for finding in (*items_findings(items, context, CITATION), *list_findings(items)):
        yield _moved(finding, [place for place, _ in judged])
    by_id = {cited_id(item): section_of(item) for item in own}
    segments = [each for each in lists if each.items is not own] or lists
    for each in segments:
        sections = [section_of(item) or by_id.get(cited_id(item)) for item in each.items]
        for finding in cross_section(sections, context):
            yield finding.inside(each.place)


def uncited_segments(raw: Mapping[str, Json]) -> Iterator[Finding]:
    """The segments that cite nothing, where others of the same answer do."""
    segments = raw.get("segments")
    parts = (
        [part if isinstance(part, dict) else {} for part in segments] if isinstance(segments, list) else []
    )
    if not any(part.get("citations") for part in parts):
        return
    for place, part in enumerate(parts, start=1):
        text = part.get("text")
        if not part.get("citations") and isinstance(text, str) and text.strip():
            yield Finding("empty_citations", f"segments[{place}].citations", "the segment cites nothing")


def retrieval_findings(cited: Mapping[str, str], retrieved: Collection[str]) -> Iterator[Finding]:
    """The cited chunks that no list of the trace has. `cited` is id → the place that cites it first."""
    for chunk_id, place in cited.items():
        if chunk_id not in retrieved:
            said = (
                f"{shown(chunk_id)} is cited and in none of the lists of {len(retrieved):,} retrieved chunks"
            )
            yield Finding("cited_not_retrieved", place, said)


def corpus_findings(
    places: Mapping[str, str], context: Context, *, dated: Collection[str | None]
) -> Iterator[Finding]:
    """The chunks that the chunk file does not have, and ids whose revision is not their document's.

    `places` is id → its first place in the record. An id that the chunk file has is not held against the
    manifest: then it is chunk file and manifest that differ. Nor are the `dated` ones, whose payload states
    its own `rev`.
    """
    corpus = context.corpus
    strangers = [chunk_id for chunk_id in places if corpus is None or chunk_id not in corpus]
    undated = [chunk_id for chunk_id in strangers if chunk_id not in dated]
    yield from _revisions(undated, places, context)
    if corpus is None:
        return
    for chunk_id in strangers[:MOST_MISSING]:
        yield Finding("not_in_corpus", places[chunk_id], f"{shown(chunk_id)} is not in the chunk file")
    if rest := strangers[MOST_MISSING:]:
        said = f"{len(rest):,} more chunks are not in the chunk file"
        yield Finding("not_in_corpus", places[rest[0]], said)


def _revisions(ids: Sequence[str], places: Mapping[str, str], context: Context) -> Iterator[Finding]:
    """One finding a document and revision, at the first id that has it."""
    if not context.revs:
        return
    said = set()
    for chunk_id in ids:
        parts = parse(chunk_id)
        if parts is None or parts.rev == UNKNOWN_REVISION or (parts.doc_uid, parts.rev) in said:
            continue
        rev = context.revs.get(parts.doc_uid)
        if rev is not None and not same_text_rev(parts.rev, rev):
            said.add((parts.doc_uid, parts.rev))
            message = f"r={parts.rev} in {shown(chunk_id)}, the document's revision is {shown(rev)}"
            yield Finding("rev_mismatch", places[chunk_id], message)


def _moved(finding: Finding, places: Sequence[str]) -> Finding:
    """A finding of a joined list, `[3].tokens`, at the place that its entry has in the record."""
    found = _PLACE.match(finding.field)
    if found is None:
        return finding
    return replace(finding, field=places[int(found["place"]) - 1] + finding.field[found.end() :])


def section_in(entry: Mapping[str, Json], chunk_id: str) -> str | None:
    """The section of a candidate: as it says itself, else as its id does."""
    parts = parse(chunk_id)
    return text_of(entry.get("section_id")) or (parts.sect_path if parts else None)
