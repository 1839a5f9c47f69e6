"""`import mapped`: any JSON or JSONL of RAG results, by a YAML mapping.

The source is read twice: first to collect every chunk, since a minted id depends on all chunks of the same
page, then to write the traces one by one.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from operator import itemgetter
from pathlib import Path

import orjson

from proofspan.contracts.records.chunk_id import Passage, mint_passages
from proofspan.contracts.records.records import Json, LineIssue, SourceLine
from proofspan.errors import Fault, InputFault, Problem
from proofspan.manifest.paths import resolve_reference
from proofspan.traces.importers.field_getters import FieldCount, Place, Tally, read_all
from proofspan.traces.importers.field_getters import Path as JsonPath
from proofspan.traces.importers.mapping import Group, ImportMapping, load_mapping
from proofspan.traces.importers.workspace import Converted, Importer, Record
from proofspan.traces.lines.encodings import damage_of
from proofspan.traces.lines.reader import MAX_DEPTH, is_deeper
from proofspan.traces.lines.sniff import first_byte
from proofspan.traces.lines.tables import entry_lines, read_table, whole_json
from proofspan.traces.lines.unpack import plain_source, temporary_folder

#: The document of a chunk whose source names none.
NO_DOCUMENT = "unknown"
_STAGES = "traces.stages."
#: Bytes of a file that is one object: it is parsed as a whole.
MAX_OBJECT = 256 << 20
#: The fields of a chunk's place beside its page.
PLACE = ("bbox", "bbox_space", "page_label")


def convert(source: Path, files: Mapping[str, Path], *, fix_encoding: bool = False) -> Converted:
    """Convert `source` by the mapping in `files["mapping"]`, read repaired if asked."""
    return _Conversion(load_mapping(files["mapping"]), source, fix_encoding).converted()


MAPPED = Importer(
    name="mapped",
    description="Turn any JSON or JSONL of RAG results into a workspace, by a YAML mapping. "
    "data/mappings has examples.",
    convert=convert,
    files={"mapping": "YAML file that maps the source's fields."},
    fixes=True,
)


class _Conversion:
    """The conversion of one source: `converted` makes the first pass, its iterators the second.

    The first pass, with a tally, counts every field, reports what cannot be read, and collects chunks and
    documents. `passages` are the chunks without an id; they get one in `ids` when all are known. `own` are
    those with an id: the first text under an id counts, others are conflicts. `placed` has the first known
    box and page label of each chunk. `damage` are files with text that was decoded wrongly.
    """

    def __init__(self, mapping: ImportMapping, source: Path, fix_encoding: bool) -> None:
        self.map, self.source = mapping, source
        self.damage: list[Problem] = []
        self._copies = temporary_folder() if fix_encoding else None
        self.passages: set[Passage] = set()
        self.ids: Mapping[Passage, str] = {}
        self.own: dict[str, Passage] = {}
        self.conflicts: Counter[str] = Counter()
        self.skipped = 0
        self.placed: dict[Passage, Record] = {}
        self.tally = {key: FieldCount(key) for key in mapping.keys}
        self.issues: list[LineIssue] = []
        self._read: set[Path] = set()

    def converted(self) -> Converted:
        value, groups, trace_count = self.map.value, self.map.groups, 0
        doc_ids: set[str] = set()
        for _, _, stages, _ in self._trace_items(self.tally) if "traces" in groups else ():
            trace_count += 1
            for candidate in chain.from_iterable(stages.values()):
                self._add(candidate)
        for _, spans in self._gold_items(self.tally) if "gold" in groups else ():
            for span in spans:
                doc_ids.add(span["doc_id"])
                if self._spans_are_chunks:
                    self._add(_renamed(span, quote="text"))
        if "chunks" in groups:
            for chunk, _ in self._items(self.source, groups["chunks"], self.map.records, self.tally):
                if str(chunk.get("text", "")).strip():  # a picture has no text: counted, but no chunk
                    self._add(chunk)
        self.ids = mint_passages(self.passages)
        doc_ids |= {passage.doc_id for passage in (*self.passages, *self.own.values())} - {NO_DOCUMENT}
        documents = value.get("documents", {})
        return Converted(
            name=value["name"],
            chunks=self._chunks(),
            traces=self._traces() if "traces" in groups else None,
            gold=self._gold() if "gold" in groups else None,
            run=value.get("run", {}),
            triage=value.get("triage", {}),
            doc_ids=doc_ids if "pattern" in documents else (),
            pattern=documents.get("pattern", ""),
            paged=documents.get("paged", True),
            fields=tuple(self.tally.values()),
            issues=tuple(self.issues),
            problems=tuple(self._problems(trace_count)),
            page_keys=tuple(key for key in self.map.keys if key.endswith(".page")),
        )

    @property
    def _spans_are_chunks(self) -> bool:
        return bool(self.map.value["gold"].get("spans", {}).get("as_chunks"))

    def _add(self, candidate: Record) -> None:
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

    def _id_of(self, candidate: Record) -> str | None:
        """Return the candidate's chunk id; None if it has neither id nor text."""
        if (chunk_id := candidate.get("id")) is not None:
            return str(chunk_id)
        passage = _passage_of(candidate)
        return None if passage is None else self.ids[passage]

    def _chunks(self) -> Iterator[Record]:
        """Yield the chunk records, sorted by id."""
        by_id = {**{chunk_id: passage for passage, chunk_id in self.ids.items()}, **self.own}
        for chunk_id, passage in sorted(by_id.items(), key=itemgetter(0)):
            place = {
                "doc_id": None if passage.doc_id == NO_DOCUMENT else passage.doc_id,
                "section_id": passage.section_id,
                "page_idx": passage.page_idx,
            }
            stated = {name: value for name, value in place.items() if value is not None}
            digest = hashlib.sha1(passage.text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
            record = {"chunk_id": chunk_id, **stated, "text": passage.text, "hash": f"sha1:{digest}"}
            yield record | self.placed.get(passage, {})

    def _traces(self) -> Iterator[Record]:
        run_id, seen = str(self.map.value["run"]["run_id"]), self.map.value["traces"].get("seen")
        for own, copied, candidates, cited in self._trace_items():
            stages = {
                name: [self._candidate(each) for each in items if self._id_of(each) is not None]
                for name, items in candidates.items()
            }
            record: Record = {"run_id": run_id, **_identity(own)}
            if seen is not None:
                record |= {"chunks": stages[seen], "stages": stages}
            if "answer" in own:
                record["answer"] = own["answer"]
            if "traces.citations" in self.map.groups:
                record["citations"] = [_renamed(each, id="snippet_id", page="page_idx") for each in cited]
            yield record | {name: value for name, value in copied.items() if name not in record}

    def _candidate(self, entry: Record) -> Record:
        rest = {name: value for name, value in entry.items() if name not in ("id", "text")}
        return {"id": self._id_of(entry), **_renamed(rest, page="page_idx")}

    def _gold(self) -> Iterator[Record]:
        for own, spans in self._gold_items():
            record: Record = {**_identity(own), "answerable": True}
            record |= {name: value for name, value in own.items() if name not in record}
            if self._spans_are_chunks:
                record["chunks"] = [self._id_of(_renamed(span, quote="text")) for span in spans]
            if "gold.spans" in self.map.groups:
                record["spans"] = [_renamed(span, page="page_idx") for span in spans]
            yield record

    def _trace_items(
        self, tally: Tally | None = None
    ) -> Iterator[tuple[Record, Record, dict[str, list[Record]], list[Record]]]:
        """Yield own and copied fields, ranked lists and citations of each item that has a question.

        They have the mapping's field names; pages are 0-based already.
        """
        groups = self.map.groups
        stages = {key.removeprefix(_STAGES): each for key, each in groups.items() if key.startswith(_STAGES)}
        copied = groups["traces.fields"].fields if "traces.fields" in groups else ()
        for own, place in self._items(self.source, groups["traces"], self.map.records, tally):
            rest = read_all(copied, place, tally)
            if self._has_question(own, place, self.source, tally):
                lists = {name: _listed(group, place, tally) for name, group in stages.items()}
                yield own, rest, lists, _listed(groups.get("traces.citations"), place, tally)

    def _gold_items(self, tally: Tally | None = None) -> Iterator[tuple[Record, list[Record]]]:
        """Yield own fields and spans, those with a document and a quote, of each item with a question."""
        path, at, groups = self.source, self.map.records, self.map.groups
        if (name := self.map.value["gold"].get("source")) is not None:  # `records` does not apply to it
            try:
                path, at = resolve_reference(self.source.parent, name), None
            except Fault as fault:
                where = str(self.source.parent / name)
                fix = "Put the gold file beside the source, or take `gold` out of the mapping."
                message = fault.problems[0].message
                raise InputFault.of("gold_missing", message, where=where, fix=fix) from fault
        for own, place in self._items(path, groups["gold"], at, tally):
            if self._has_question(own, place, path, tally):
                spans = _listed(groups.get("gold.spans"), place, tally)
                yield own, [span for span in spans if "doc_id" in span and "quote" in span]

    def _items(
        self, path: Path, group: Group, at: JsonPath | None, tally: Tally | None
    ) -> Iterator[tuple[Record, Place]]:
        """Yield the fields of the group's items, and the items; report unreadable lines once per file."""
        issues: list[LineIssue] = []
        if tally is not None and path not in self._read:
            issues = self.issues
            self._read.add(path)
            if self._copies is None and (damage := damage_of(path, file=path.name)) is not None:
                self.damage.append(damage)
        plain = path
        if self._copies is not None:
            plain = plain_source(path, cache_dir=Path(self._copies.name), fix_encoding=True)
        for line, value in _values(plain, path.name, issues):
            for record in [value] if at is None else at.all(value, value):
                for place in _places(group, Place(record, record, line), tally):
                    yield read_all(group.fields, place, tally), place

    def _has_question(self, own: Record, place: Place, file: Path, tally: Tally | None) -> bool:
        if "q" not in own and tally is not None:
            excerpt = orjson.dumps(place.item, default=str).decode("utf-8", "replace")[:200]
            source = SourceLine(file.name, place.line, 0, 0)
            message = "there is no question at the mapping's path"
            fix = "Check the mapping's path to `q`, or the record."
            self.issues.append(LineIssue.at(source, "q_missing", message, fix, excerpt))
        return "q" in own

    def _problems(self, trace_count: int) -> Iterator[Problem]:
        file = self.source.name
        yield from self.damage
        if "traces" in self.map.groups and not trace_count:
            fix = "Check `records`, `traces.each` and `traces.q`."
            yield Problem("no_traces", "no trace was found", file, fix)
        if "chunks" in self.map.groups and not (self.ids or self.own):
            fix = "Check `records`, `chunks.each` and `chunks.text`."
            yield Problem("no_chunks", "no chunk was found", file, fix)
        for key, path in self.map.lists.items():  # each `each` that leads to nothing, or to no list
            count = self.tally[key]
            gold_file = self.map.value["gold"].get("source") if key.startswith("gold.") else None
            if count.unusable:
                message = (
                    f"`{key}`: the value at {path!r} is not a list "
                    f"(records: {count.unusable:,}, first on line {count.first_unusable})"
                )
                fix = "Write a list there, or correct the path in the mapping."
                yield Problem("each_no_list", message, gold_file or file, fix)
            elif count.absent and not count.found:
                message = f"`{key}`: no record has anything at {path!r} (records: {count.absent:,})"
                fix = "Correct the path in the mapping."
                yield Problem("each_not_found", message, gold_file or file, fix)
        if self.skipped:
            message = f"candidates without id and text were left out: {self.skipped:,}"
            yield Problem("candidate_without_text", message, file, "Check the stages' `id` and `text`.")
        for chunk_id, times in sorted(self.conflicts.items()):
            message = f"the chunk id {chunk_id[:200]!r} has other texts too ({times:,}); the first one counts"
            yield Problem("chunk_id_conflict", message, file, "Leave `id` out: ids are then minted.")


def _values(path: Path, file: str, issues: list[LineIssue]) -> Iterator[tuple[int, Json]]:
    """Yield every value of JSONL or an array, or the one object, with the 1-based line on which it begins."""
    lines = entry_lines(path) if first_byte(path) == b"[" else None
    try:
        for item in read_table(path, file=file, record_of=lambda value, source: (source.line, value)):
            if isinstance(item, LineIssue):
                issues.append(item)
            else:
                yield (lines[item[0] - 1], item[1]) if lines else item
    except InputFault as fault:
        if fault.problems[0].code != "json_over_lines":
            raise
        _, value = whole_json(path, file=file, limit=MAX_OBJECT)
        if is_deeper(value, MAX_DEPTH):
            message, fix = f"nested more than {MAX_DEPTH} deep", "Flatten the records."
            raise InputFault.of("nested_too_deeply", message, where=file, fix=fix) from None
        yield 1, value


def _places(group: Group, place: Place, tally: Tally | None) -> Iterator[Place]:
    """Yield the group's items at a place; the place itself if the group has no `each`."""
    if group.each is None:
        yield place
        return
    if tally is not None:
        tally[group.key].add(group.each.state(place.item, place.root), place.line)
    for item in group.each.all(place.item, place.root):
        yield place._replace(item=item)


def _listed(group: Group | None, place: Place, tally: Tally | None) -> list[Record]:
    """Return the fields of each of the group's items at a place; none without a group."""
    return [read_all(group.fields, item, tally) for item in _places(group, place, tally)] if group else []


def _passage_of(candidate: Record) -> Passage | None:
    if (text := candidate.get("text")) is None:
        return None
    doc_id = candidate.get("doc_id", NO_DOCUMENT)
    return Passage(doc_id, candidate.get("page"), text, candidate.get("section_id"))


def _identity(own: Record) -> Record:
    return {name: own[name] for name in ("q_id", "q") if name in own}


def _renamed(record: Mapping[str, Json], **names: str) -> Record:
    return {names.get(name, name): value for name, value in record.items()}
