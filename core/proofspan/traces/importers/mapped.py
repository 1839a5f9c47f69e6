"""`import mapped`: any JSON, JSONL, CSV or Parquet of RAG results, by a YAML mapping.

The source is read twice: first to collect every chunk, since a minted id depends on all chunks of the same
page, then to write the traces one by one.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from operator import itemgetter
from pathlib import Path

import orjson

from proofspan.contracts.records.chunk_id import Passage, mint_passages
from proofspan.contracts.records.records import Json, LineIssue, SourceLine
from proofspan.errors import Fault, InputFault, Problem
from proofspan.manifest.paths import resolve_reference
from proofspan.traces.importers.counts import FieldCount, Tally
from proofspan.traces.importers.field_getters import read_all
from proofspan.traces.importers.joins import NONE
from proofspan.traces.importers.mapping import Group, ImportMapping, load_mapping
from proofspan.traces.importers.paths import Broken, Place
from proofspan.traces.importers.sources import Noticed, Source, is_kept, unit_of
from proofspan.traces.importers.workspace import Converted, Importer, Record, key_of
from proofspan.traces.lines.reader import EXCERPT

#: The document of a chunk whose source names none.
NO_DOCUMENT = "unknown"
_STAGES = "traces.stages."
#: The most runs of a source: it is read once for each.
MAX_RUNS = 50
#: The fields of a chunk's place beside its page.
PLACE = ("bbox", "bbox_space", "page_label")


def convert(source: Path, files: Mapping[str, Path], *, fix_encoding: bool = False) -> Converted:
    """Convert `source` by the mapping in `files["mapping"]`, read repaired if asked."""
    return _Conversion(load_mapping(files["mapping"]), source, fix_encoding).converted()


MAPPED = Importer(
    name="mapped",
    description="Turn any JSON, JSONL, CSV or Parquet of RAG results into a workspace, by a YAML mapping. "
    "`proofspan import suggest` writes a first one; data/mappings has examples.",
    convert=convert,
    files={"mapping": "YAML file that maps the source's fields."},
    fixes=True,
)


class _Conversion:
    """The conversion of one source: `converted` makes the first pass, its iterators the second.

    The first pass, with a tally, counts every field, reports what cannot be read, and collects chunks and
    documents. `passages` are the chunks without an id; they get one in `ids` when all are known. `own` are
    those with an id: the first text under an id counts, others are conflicts. `placed` has the first known
    box and page label of each chunk.
    """

    def __init__(self, mapping: ImportMapping, source: Path, fix_encoding: bool) -> None:
        self.map, self.fix_encoding = mapping, fix_encoding
        self.source = Source(source, mapping.records, mapping.where, mapping.group_by, fix_encoding)
        self.unit = unit_of(source)
        self.passages: set[Passage] = set()
        self.ids: Mapping[Passage, str] = {}
        self.own: dict[str, Passage] = {}
        self.conflicts: Counter[str] = Counter()
        self.skipped = 0
        self.placed: dict[Passage, Record] = {}
        self.tally = {key: FieldCount(key) for key in mapping.keys}
        self.noticed = Noticed(tally=self.tally)
        self._noticed_of: set[Path] = set()

    def converted(self) -> Converted:
        value, groups, trace_count = self.map.value, self.map.groups, 0
        doc_ids: set[str] = set()
        names: dict[str, None] = {}
        asked: set[str] = set()
        listed: set[str] = set()
        for own, _, stages, cited in self._trace_items(self.tally) if "traces" in groups else ():
            trace_count += 1
            asked.add(key_of(own))
            names[own.get("run", "")] = None
            for candidate in chain.from_iterable(stages.values()):
                self._add(candidate)
            for each in chain(cited, *stages.values()):
                doc_ids.add(each.get("doc_id", NO_DOCUMENT))
                listed.add(each.get("id", ""))
        for own, spans in self._gold_items(self.tally) if "gold" in groups else ():
            for span in spans:
                if not trace_count or key_of(own) in asked:
                    doc_ids.add(span["doc_id"])
                if self._spans_are_chunks:
                    self._add(_renamed(span, quote="text"))
        if "chunks" in groups:
            for chunk, _ in self._items(self.source, groups["chunks"], self.tally):
                if str(chunk.get("text", "")).strip():  # a picture has no text: counted, but no chunk
                    self._add(chunk)
                    if not trace_count:
                        doc_ids.add(chunk.get("doc_id", NO_DOCUMENT))
        self.ids = mint_passages(self.passages)
        doc_ids |= {passage.doc_id for chunk_id, passage in self.own.items() if chunk_id in listed}
        doc_ids.discard(NO_DOCUMENT)
        documents = value.get("documents", {})
        runs = self._runs(names) if "traces" in groups else []
        return Converted(
            name=value["name"],
            chunks=self._chunks(),
            traces=self._traces(*runs[0]) if runs else None,
            gold=self._gold() if "gold" in groups else None,
            run=self._run(*runs[0]) if runs else {},
            more_runs=tuple((self._run(*each), self._traces(*each)) for each in runs[1:]),
            triage=value.get("triage", {}),
            doc_ids=doc_ids,
            lists_documents="pattern" in documents,
            pattern=documents.get("pattern"),
            paged=documents.get("paged", True),
            fields=tuple(self.tally.values()),
            issues=tuple(self.noticed.issues),
            problems=tuple(self._problems(trace_count)),
            page_keys=tuple(key for key in self.map.keys if key.endswith(".page")),
            unit=self.unit,
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

    def _runs(self, names: Collection[str]) -> list[tuple[str, str]]:
        """Return the id of each run and the name of it in the source, numbered on from the mapping's id."""
        if len(names) > MAX_RUNS:
            message = f"`traces.run` has {len(names):,} values; at most {MAX_RUNS} runs are made"
            fix = "Map what names a run, such as the model."
            raise InputFault.of("too_many_runs", message, where=self.source.path.name, fix=fix)
        first = str(self.map.value["run"]["run_id"])
        stem = first.rstrip("0123456789")
        begin, width = first[len(stem) :], len(first) - len(stem)
        return [
            (f"{stem}{int(begin) + number:0{width}}" if begin else f"{first}-{number + 1}", name)
            if number
            else (first, name)
            for number, name in enumerate(names or [""])
        ]

    def _run(self, run_id: str, name: str) -> Record:
        return {**self.map.value["run"], "run_id": run_id, **({"title": name} if name else {})}

    def _traces(self, run_id: str, run: str) -> Iterator[Record]:
        seen = self.map.value["traces"].get("seen")
        for own, copied, candidates, cited in self._trace_items():
            if own.get("run", "") != run:
                continue
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
        for own, place in self._items(self.source, groups["traces"], tally):
            rest = read_all(copied, place, tally)
            if self._has_question(own, place, self.source, tally):
                lists = {name: _listed(group, place, tally) for name, group in stages.items()}
                yield own, rest, lists, _listed(groups.get("traces.citations"), place, tally)

    def _gold_items(self, tally: Tally | None = None) -> Iterator[tuple[Record, list[Record]]]:
        """Yield own fields and spans, those with a document and a quote, of each item with a question."""
        source, groups = self.source, self.map.groups
        if (name := self.map.value["gold"].get("source")) is not None:  # `records` does not apply to it
            folder = self.source.path.parent
            try:
                source = Source(resolve_reference(folder, name), fix_encoding=self.fix_encoding)
            except Fault as fault:
                fix = "Put the gold file beside the source, or take `gold` out of the mapping."
                message, where = fault.problems[0].message, str(folder / name)
                raise InputFault.of("gold_missing", message, where=where, fix=fix) from fault
        for own, place in self._items(source, groups["gold"], tally):
            if self._has_question(own, place, source, tally):
                spans = _listed(groups.get("gold.spans"), place, tally)
                yield own, [span for span in spans if "doc_id" in span and "quote" in span]

    def _items(self, source: Source, group: Group, tally: Tally | None) -> Iterator[tuple[Record, Place]]:
        """Yield the fields of the group's items, and the items; report unreadable lines once per file."""
        noticed = None
        if tally is not None and source.path not in self._noticed_of:
            self._noticed_of.add(source.path)
            noticed = self.noticed
            if (damage := source.damage()) is not None:
                noticed.problems.append(damage)
        for line, record in source.records(noticed):
            for place in _places(group, Place(record, record, line), tally):
                yield read_all(group.fields, place, tally), place

    def _has_question(self, own: Record, place: Place, source: Source, tally: Tally | None) -> bool:
        if "q" not in own and tally is not None:
            excerpt = orjson.dumps(place.item, default=str).decode("utf-8", "replace")[:EXCERPT]
            at = SourceLine(source.path.name, place.line, 0, 0)
            message = "there is no question at the mapping's path"
            fix = "Check the mapping's path to `q`, or the record."
            self.noticed.issues.append(LineIssue.at(at, "q_missing", message, fix, excerpt))
        return "q" in own

    def _problems(self, trace_count: int) -> Iterator[Problem]:
        file = self.source.path.name
        yield from self.noticed.problems
        if "traces" in self.map.groups and not trace_count:
            fix = "Check `records`, `traces.each` and `traces.q`."
            yield Problem("no_traces", "no trace was found", file, fix)
        if "chunks" in self.map.groups and not (self.ids or self.own):
            fix = "Check `records`, `chunks.each` and `chunks.text`."
            yield Problem("no_chunks", "no chunk was found", file, fix)
        for key, count in self.tally.items():
            gold_file = self.map.value["gold"].get("source") if key.startswith("gold.") else None
            if (problem := _problem_of(count, self.map.lists.get(key), self.unit)) is not None:
                yield replace(problem, where=gold_file or file)
        if self.skipped:
            message = f"candidates without id and text were left out: {self.skipped:,}"
            yield Problem("candidate_without_text", message, file, "Check the stages' `id` and `text`.")
        for chunk_id, times in sorted(self.conflicts.items()):
            message = f"the chunk id {chunk_id[:200]!r} has other texts too ({times:,}); the first one counts"
            yield Problem("chunk_id_conflict", message, file, "Leave `id` out: ids are then minted.")


def _problem_of(count: FieldCount, each: str | None, unit: str) -> Problem | None:
    """Return why a list, a join or a condition gave less than it should, or a text broke as JSON.

    `each` is the path of a list, None for all else. A field that is absent is only counted.
    """
    where = f"first on {unit} {count.first_unusable}"
    if count.unusable and each is not None:
        what = count.why or f"the value at {each!r} is not a list"
        message = f"`{count.key}`: {what} (records: {count.unusable:,}, {where})"
        return Problem("each_no_list", message, fix="Write a list there, or correct the path in the mapping.")
    if count.unusable and count.why:
        message = f"`{count.key}`: {count.why} (times: {count.unusable:,}, {where})"
        return Problem("value_unusable", message, fix="Correct the source, or the path in the mapping.")
    if each is None or count.found or not count.absent:
        return None
    if count.null == count.absent:
        message = f"`{count.key}`: the path {each!r} is right, but its value is null"
        fix = "Export these lists too, or take the group out of the mapping."
        return Problem("each_null", f"{message} (records: {count.null:,})", fix=fix)
    message = f"`{count.key}`: no record has anything at {each!r}"
    if count.null:
        message += f", in {count.null:,} it is null"
    message += f" (records: {count.absent:,}); {count.instead}"
    return Problem("each_not_found", message, fix="Correct the path in the mapping.")


def _places(group: Group, place: Place, tally: Tally | None) -> Iterator[Place]:
    """Yield the group's items at a place, joined, as far as `where` keeps them.

    Without `each` that is the place itself.
    """
    items: Iterator[Place] = iter([place])
    if group.each is not None:
        if tally is not None:
            count = tally[f"{group.key}.each"]
            state, why = group.each.state(place)
            if state == "absent" and not count.instead:
                why = group.each.nearest(place)
            count.add(state, place.line, why)
        items = (place._replace(item=each) for each in group.each.all(place) if not isinstance(each, Broken))
    if group.joins:
        items = iter(_joined(group, place, list(items), tally))
    where = tally.get(f"{group.key}.where") if tally is not None else None
    yield from (each for each in items if is_kept(group.where, each, where))


def _joined(group: Group, above: Place, items: list[Place], tally: Tally | None) -> list[Place]:
    found: list[dict[str, Json]] = [{} for _ in items]
    for join in group.joins:
        count = tally[join.key] if tally is not None else None
        for joined, partner in zip(found, join.partners(above, items, count), strict=True):
            if partner is not NONE:
                joined[join.name] = partner
    return [
        item._replace(joined={**above.joined, **joined}) for item, joined in zip(items, found, strict=True)
    ]


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
