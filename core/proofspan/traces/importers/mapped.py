"""`import mapped`: any JSON or JSONL of RAG results, by a YAML mapping.

The source is read twice: first to collect every chunk, since a minted id depends on all chunks of the same
page, then to write the traces one by one.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import orjson

from proofspan.contracts.records.chunk_id import Passage, mint_passages
from proofspan.contracts.records.records import Json, LineIssue, SourceLine
from proofspan.errors import Fault, InputFault, Problem
from proofspan.manifest.paths import resolve_reference
from proofspan.traces.importers.field_getters import Path as JsonPath
from proofspan.traces.importers.field_getters import Place, Tally, read_all
from proofspan.traces.importers.mapping import GoldMapping, Group, ImportMapping, TraceMapping, load_mapping
from proofspan.traces.importers.sources import read_records
from proofspan.traces.importers.workspace import Converted, FieldCount, Importer, Record

#: The document of a chunk whose source names none.
NO_DOCUMENT = "unknown"
#: The fields of a chunk's place beside its page.
PLACE = ("bbox", "bbox_space", "page_label")


def convert(source: Path, files: Mapping[str, Path]) -> Converted:
    """Convert `source` by the mapping in `files["mapping"]`."""
    return _Conversion(load_mapping(files["mapping"]), source).converted()


MAPPED = Importer(
    name="mapped",
    description="Turn any JSON or JSONL of RAG results into a workspace, by a YAML mapping. "
    "data/mappings has examples.",
    convert=convert,
    files={"mapping": "YAML file that maps the source's fields."},
)


@dataclass(slots=True)
class _Pool:
    """Every chunk of the source. `passages` are those without an id; they get one when all are known.

    `own` are those with an id: the first text under an id counts, others are conflicts. `placed` has the
    first known box and page label of each chunk.
    """

    passages: set[Passage] = field(default_factory=set)
    own: dict[str, Passage] = field(default_factory=dict)
    conflicts: Counter[str] = field(default_factory=Counter)
    skipped: int = 0
    placed: dict[Passage, Record] = field(default_factory=dict)
    ids: Mapping[Passage, str] = field(default_factory=dict)

    def add(self, candidate: Record) -> None:
        passage = _passage_of(candidate)
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
        """Assign ids to the chunks without one, once all have been added."""
        self.ids = mint_passages(self.passages)

    def id_of(self, candidate: Record) -> str | None:
        """Return the candidate's chunk id; None if it has neither id nor text."""
        if (chunk_id := candidate.get("id")) is not None:
            return str(chunk_id)
        passage = _passage_of(candidate)
        return None if passage is None else self.ids[passage]

    def chunks(self) -> Iterator[Record]:
        """Yield the chunk records, sorted by id."""
        by_id = {**{chunk_id: passage for passage, chunk_id in self.ids.items()}, **self.own}
        for chunk_id in sorted(by_id):
            yield _chunk(chunk_id, by_id[chunk_id]) | self.placed.get(by_id[chunk_id], {})

    def doc_ids(self) -> set[str]:
        return {passage.doc_id for passage in (*self.passages, *self.own.values())} - {NO_DOCUMENT}


class _Conversion:
    """The conversion of one source: `converted` makes the first pass, its iterators the second."""

    def __init__(self, mapping: ImportMapping, source: Path) -> None:
        self.map, self.source = mapping, source
        self.tally, self.pool = Tally(), _Pool()
        self.issues: list[LineIssue] = []
        self.gold_doc_ids: set[str] = set()
        self.trace_count = 0
        self._read: set[Path] = set()

    def converted(self) -> Converted:
        mapping = self.map
        if mapping.traces is not None:
            self._collect_traces(mapping.traces)
        if mapping.gold is not None:
            self._collect_gold(mapping.gold)
        if mapping.chunks is not None:
            self._collect_chunks(mapping.chunks)
        self.pool.mint()
        return Converted(
            name=mapping.name,
            chunks=self.pool.chunks(),
            traces=None if mapping.traces is None else self._traces(mapping.traces),
            gold=None if mapping.gold is None else self._gold(mapping.gold),
            run=mapping.run,
            triage=mapping.triage,
            doc_ids=() if mapping.pattern is None else self.pool.doc_ids() | self.gold_doc_ids,
            pattern=mapping.pattern or "",
            paged=mapping.paged,
            fields=tuple(map(self._count, mapping.keys)),
            issues=tuple(self.issues),
            problems=tuple(self._problems()),
            page_keys=tuple(key for key in mapping.keys if key.endswith(".page")),
        )

    # The first pass: count every field, and collect the chunks and documents.

    def _collect_traces(self, mapping: TraceMapping) -> None:
        for place in self._counted(self.source, mapping.own, self.map.records):
            own = read_all(mapping.own.fields, place, self.tally)
            read_all(mapping.copied, place, self.tally)
            if "q" not in own:
                self._without_question(self.source.name, place)
                continue
            self.trace_count += 1
            for candidates in _candidates(mapping, place, self.tally).values():
                for candidate in candidates:
                    self.pool.add(candidate)
            if mapping.citations is not None:
                for item in _items(mapping.citations, place, self.tally):
                    read_all(mapping.citations.fields, item, self.tally)

    def _collect_gold(self, mapping: GoldMapping) -> None:
        path, at = self._gold_source(mapping)
        for place in self._counted(path, mapping.own, at):
            if "q" not in read_all(mapping.own.fields, place, self.tally):
                self._without_question(path.name, place)
                continue
            for span in _gold_spans(mapping, place, self.tally):
                self.gold_doc_ids.add(span["doc_id"])
                if mapping.spans_as_chunks:
                    self.pool.add(_renamed(span, quote="text"))

    def _collect_chunks(self, group: Group) -> None:
        for place in self._counted(self.source, group, self.map.records):
            chunk = read_all(group.fields, place, self.tally)
            if str(chunk.get("text", "")).strip():  # a picture has no text: counted, but no chunk
                self.pool.add(chunk)

    def _counted(self, path: Path, group: Group, at: JsonPath | None) -> Iterator[Place]:
        """Yield the group's items and count them; report unreadable lines once per file."""
        issues = [] if path in self._read else self.issues
        self._read.add(path)
        for line, record in read_records(path, at=at, issues=issues):
            yield from _items(group, Place(record, record, line), self.tally)

    def _without_question(self, file: str, place: Place) -> None:
        excerpt = orjson.dumps(place.item, default=str).decode("utf-8", "replace")[:200]
        self.issues.append(
            LineIssue.at(
                SourceLine(file, place.line, 0, 0),
                "q_missing",
                "there is no question at the mapping's path",
                "Check the mapping's path to `q`, or the record.",
                excerpt,
            )
        )

    # The second pass: native records.

    def _traces(self, mapping: TraceMapping) -> Iterator[Record]:
        for own, place in self._questions(self.source, mapping.own, self.map.records):
            stages = {
                name: [self._candidate(each) for each in candidates if self.pool.id_of(each) is not None]
                for name, candidates in _candidates(mapping, place, None).items()
            }
            record: Record = {"run_id": str(self.map.run["run_id"]), **_identity(own)}
            if mapping.seen is not None:
                record |= {"chunks": stages[mapping.seen], "stages": stages}
            if "answer" in own:
                record["answer"] = own["answer"]
            if mapping.citations is not None:
                items = _items(mapping.citations, place)
                cited = [read_all(mapping.citations.fields, item, None) for item in items]
                record["citations"] = [_renamed(each, id="snippet_id", page="page_idx") for each in cited]
            copied = read_all(mapping.copied, place, None)
            yield record | {name: value for name, value in copied.items() if name not in record}

    def _gold(self, mapping: GoldMapping) -> Iterator[Record]:
        path, at = self._gold_source(mapping)
        for own, place in self._questions(path, mapping.own, at):
            spans = _gold_spans(mapping, place, None)
            record: Record = {**_identity(own), "answerable": True}
            record |= {name: value for name, value in own.items() if name not in record}
            if mapping.spans_as_chunks:
                record["chunks"] = [self.pool.id_of(_renamed(span, quote="text")) for span in spans]
            if mapping.spans is not None:
                record["spans"] = [_renamed(span, page="page_idx") for span in spans]
            yield record

    def _questions(self, path: Path, group: Group, at: JsonPath | None) -> Iterator[tuple[Record, Place]]:
        """Yield each item that has a question, as its own fields and place; the others are reported."""
        for line, record in read_records(path, at=at, issues=[]):
            for place in _items(group, Place(record, record, line)):
                if "q" in (own := read_all(group.fields, place, None)):
                    yield own, place

    def _candidate(self, candidate: Record) -> Record:
        rest = {name: value for name, value in candidate.items() if name not in ("id", "text")}
        return {"id": self.pool.id_of(candidate), **_renamed(rest, page="page_idx")}

    # The report.

    def _count(self, key: str) -> FieldCount:
        counts, first = self.tally.counts, self.tally.first_unusable.get(key)
        return FieldCount(key, counts[key, "found"], counts[key, "absent"], counts[key, "unusable"], first)

    def _problems(self) -> Iterator[Problem]:
        file = self.source.name
        if self.map.traces is not None and not self.trace_count:
            fix = "Check `records`, `traces.each` and `traces.q`."
            yield Problem("no_traces", "no trace was found", file, fix)
        if self.map.chunks is not None and not (self.pool.ids or self.pool.own):
            fix = "Check `records`, `chunks.each` and `chunks.text`."
            yield Problem("no_chunks", "no chunk was found", file, fix)
        for key, path in self.map.lists.items():
            yield from self._list_problems(self._count(key), path)
        if self.pool.skipped:
            message = f"candidates without id and text were left out: {self.pool.skipped:,}"
            yield Problem("candidate_without_text", message, file, "Check the stages' `id` and `text`.")
        for chunk_id, times in sorted(self.pool.conflicts.items()):
            message = f"the chunk id {chunk_id[:200]!r} has other texts too ({times:,}); the first one counts"
            yield Problem("chunk_id_conflict", message, file, "Leave `id` out: ids are then minted.")

    def _list_problems(self, count: FieldCount, path: str) -> Iterator[Problem]:
        """Report an `each` that leads to nothing, or to something other than a list."""
        gold = self.map.gold if count.key.startswith("gold.") else None
        file = (gold.source if gold is not None else None) or self.source.name
        if count.unusable:
            message = (
                f"`{count.key}`: the value at {path!r} is not a list "
                f"(records: {count.unusable:,}, first on line {count.first_unusable})"
            )
            fix = "Write a list there, or correct the path in the mapping."
            yield Problem("each_no_list", message, file, fix)
        elif count.absent and not count.found:
            message = f"`{count.key}`: no record has anything at {path!r} (records: {count.absent:,})"
            yield Problem("each_not_found", message, file, "Correct the path in the mapping.")

    def _gold_source(self, mapping: GoldMapping) -> tuple[Path, JsonPath | None]:
        """Return the gold file and the path to its records; `records` applies to the source only."""
        if mapping.source is None:
            return self.source, self.map.records
        try:
            return resolve_reference(self.source.parent, mapping.source), None
        except Fault as fault:
            where = str(self.source.parent / mapping.source)
            fix = "Put the gold file beside the source, or take `gold` out of the mapping."
            raise InputFault.of("gold_missing", fault.problems[0].message, where=where, fix=fix) from fault


def _items(group: Group, place: Place, tally: Tally | None = None) -> Iterator[Place]:
    """Yield the group's items at a place; the place itself if the group has no `each`."""
    if group.each is None:
        yield place
        return
    if tally is not None:
        tally.add(group.key, group.each.state(place.item, place.root), place.line)
    for item in group.each.all(place.item, place.root):
        yield replace(place, item=item)


def _candidates(mapping: TraceMapping, place: Place, tally: Tally | None) -> dict[str, list[Record]]:
    """Return each stage's ranked list, with the mapping's field names; pages are 0-based already."""
    return {
        name: [read_all(group.fields, item, tally) for item in _items(group, place, tally)]
        for name, group in mapping.stages.items()
    }


def _gold_spans(mapping: GoldMapping, place: Place, tally: Tally | None) -> list[Record]:
    """Return the gold spans that have a document and a quote."""
    if mapping.spans is None:
        return []
    spans = [read_all(mapping.spans.fields, item, tally) for item in _items(mapping.spans, place, tally)]
    return [span for span in spans if "doc_id" in span and "quote" in span]


def _passage_of(candidate: Record) -> Passage | None:
    if (text := candidate.get("text")) is None:
        return None
    doc_id = candidate.get("doc_id", NO_DOCUMENT)
    return Passage(doc_id, candidate.get("page"), text, candidate.get("section_id"))


def _identity(own: Record) -> Record:
    return {name: own[name] for name in ("q_id", "q") if name in own}


def _renamed(record: Mapping[str, Json], **names: str) -> Record:
    return {names.get(name, name): value for name, value in record.items()}


def _chunk(chunk_id: str, passage: Passage) -> Record:
    place = {
        "doc_id": None if passage.doc_id == NO_DOCUMENT else passage.doc_id,
        "section_id": passage.section_id,
        "page_idx": passage.page_idx,
    }
    stated = {name: value for name, value in place.items() if value is not None}
    digest = hashlib.sha1(passage.text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
    return {"chunk_id": chunk_id, **stated, "text": passage.text, "hash": f"sha1:{digest}"}
