"""Foreign records → native ones, by a compiled mapping. Pure: nothing here touches the disk."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from proofspan.contracts.records.chunk_id import Passage, mint_passages
from proofspan.contracts.records.records import Json
from proofspan.traces.importers.field_getters import Place, Tally, read_all
from proofspan.traces.importers.mapping import GoldMapping, Group, TraceMapping

#: The document of a chunk whose source names none.
NO_DOCUMENT = "unknown"

Record = dict[str, Json]
PLACE = ("bbox", "bbox_space", "page_label")


@dataclass(slots=True)
class Pool:
    """Every chunk met so far. Chunks without an id of their own wait here until all are known.

    `own` holds those with one: of several texts under one id the first counts, the others are conflicts.
    `placed` has what was first said of a chunk's place beside its page: its box, the label printed there.
    """

    passages: set[Passage] = field(default_factory=set)
    own: dict[str, Passage] = field(default_factory=dict)
    conflicts: Counter[str] = field(default_factory=Counter)
    skipped: int = 0
    placed: dict[Passage, Record] = field(default_factory=dict)
    ids: Mapping[Passage, str] = field(default_factory=dict)

    def meet(self, candidate: Mapping[str, Json]) -> None:
        """Takes note of a candidate's chunk."""
        passage = passage_of(candidate)
        if passage is not None and (place := {name: candidate[name] for name in PLACE if name in candidate}):
            self.placed.setdefault(passage, place)
        if (chunk_id := candidate.get("id")) is None:
            if passage is None:
                self.skipped += 1
            else:
                self.passages.add(passage)
        elif passage is not None and self.own.setdefault(str(chunk_id), passage).text != passage.text:
            self.conflicts[str(chunk_id)] += 1

    def mint(self) -> None:
        """Gives ids to the chunks that came without: to be called once, when all have been met."""
        self.ids = mint_passages(self.passages)

    def id_of(self, candidate: Mapping[str, Json]) -> str | None:
        """The candidate's chunk id; None for one that has neither id nor text."""
        if (chunk_id := candidate.get("id")) is not None:
            return str(chunk_id)
        passage = passage_of(candidate)
        return None if passage is None else self.ids[passage]

    def chunks(self) -> Iterator[Record]:
        """The chunk records, by id."""
        every = {**{chunk_id: passage for passage, chunk_id in self.ids.items()}, **self.own}
        for chunk_id in sorted(every):
            yield _chunk(chunk_id, every[chunk_id]) | self.placed.get(every[chunk_id], {})

    def doc_ids(self) -> set[str]:
        """The documents that chunks name."""
        named = {passage.doc_id for passage in (*self.passages, *self.own.values())}
        return named - {NO_DOCUMENT}


def passage_of(candidate: Mapping[str, Json]) -> Passage | None:
    """The chunk that a candidate shows, None where it has no text."""
    text = candidate.get("text")
    if text is None:
        return None
    doc_id = candidate.get("doc_id", NO_DOCUMENT)
    return Passage(doc_id, candidate.get("page"), text, candidate.get("section_id"))


def items(group: Group, place: Place, tally: Tally | None = None) -> Iterator[Place]:
    """The group's own items below a place; the place itself where it has no `each`."""
    if group.each is None:
        yield place
        return
    if tally is not None:
        tally.add(group.key, group.each.state(place.item, place.root), place.line)
    for item in group.each.all(place.item, place.root):
        yield replace(place, item=item)


def candidates(mapping: TraceMapping, place: Place, tally: Tally | None) -> dict[str, list[Record]]:
    """Each stage's ranked list, as the mapping's own fields (page already 0-based)."""
    return {
        name: [read_all(group.fields, item, tally) for item in items(group, place, tally)]
        for name, group in mapping.stages.items()
    }


def trace(mapping: TraceMapping, place: Place, pool: Pool, *, run_id: str) -> Record:
    """The native trace line. KeyError "q" where the record has no question."""
    own = read_all(mapping.own.fields, place, None)
    stages = {
        name: [_candidate(each, pool) for each in found if pool.id_of(each) is not None]
        for name, found in candidates(mapping, place, None).items()
    }
    record: Record = {"run_id": run_id, **_identity(own)}
    if mapping.seen is not None:
        record["chunks"] = stages[mapping.seen]
        record["stages"] = stages
    if "answer" in own:
        record["answer"] = own["answer"]
    if mapping.citations is not None:
        found = [read_all(mapping.citations.fields, item, None) for item in items(mapping.citations, place)]
        record["citations"] = [_renamed(each, {"id": "snippet_id", "page": "page_idx"}) for each in found]
    copied = read_all(mapping.copied, place, None)
    return {**record, **{name: value for name, value in copied.items() if name not in record}}


def gold_spans(mapping: GoldMapping, place: Place, tally: Tally | None) -> list[Record]:
    """The places of the truth, those without a document or a quote left out."""
    if mapping.spans is None:
        return []
    found = [read_all(mapping.spans.fields, item, tally) for item in items(mapping.spans, place, tally)]
    return [span for span in found if "doc_id" in span and "quote" in span]


def gold(mapping: GoldMapping, place: Place, pool: Pool) -> Record:
    """The native gold question. KeyError "q" where the record has no question."""
    own = read_all(mapping.own.fields, place, None)
    spans = gold_spans(mapping, place, None)
    record: Record = {**_identity(own), "answerable": True}
    record |= {name: value for name, value in own.items() if name not in record}
    if mapping.spans_as_chunks:
        record["chunks"] = [pool.id_of(span_as_candidate(span)) for span in spans]
    if mapping.spans is not None:
        record["spans"] = [_renamed(span, {"page": "page_idx"}) for span in spans]
    return record


def span_as_candidate(span: Mapping[str, Json]) -> Record:
    """A gold span as if it had been retrieved."""
    return _renamed(span, {"quote": "text"})


def _identity(own: Mapping[str, Json]) -> Record:
    question = own["q"]
    return {"q_id": own["q_id"], "q": question} if "q_id" in own else {"q": question}


def _candidate(found: Mapping[str, Json], pool: Pool) -> Record:
    names = {"page": "page_idx"}
    rest = {name: value for name, value in found.items() if name not in ("id", "text")}
    return {"id": pool.id_of(found), **_renamed(rest, names)}


def _renamed(record: Mapping[str, Json], names: Mapping[str, str]) -> Record:
    return {names.get(name, name): value for name, value in record.items()}


def _chunk(chunk_id: str, passage: Passage) -> Record:
    data = passage.text.encode("utf-8", "replace")
    record: Record = {"chunk_id": chunk_id}
    if passage.doc_id != NO_DOCUMENT:
        record["doc_id"] = passage.doc_id
    if passage.section_id is not None:
        record["section_id"] = passage.section_id
    if passage.page_idx is not None:
        record["page_idx"] = passage.page_idx
    digest = hashlib.sha1(data, usedforsecurity=False).hexdigest()
    return {**record, "text": passage.text, "hash": f"sha1:{digest}"}
