"""`import mapped`: any JSON or JSONL of RAG results → a workspace, as a YAML mapping says.

The source is read twice: first to meet every chunk, since an id is minted from its place among all of its
page's chunks, then to write the traces one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import yaml

from proofspan.contracts.records.records import LineIssue, SourceLine
from proofspan.errors import Fault, InputFault, Problem
from proofspan.manifest.load import MANIFEST_NAME
from proofspan.manifest.paths import resolve_reference
from proofspan.traces.importers import to_native
from proofspan.traces.importers.documents import FoundDocument, find_documents, take
from proofspan.traces.importers.field_getters import Path as JsonPath
from proofspan.traces.importers.field_getters import Place, Tally, read_all
from proofspan.traces.importers.mapping import GoldMapping, Group, ImportMapping, TraceMapping, load_mapping
from proofspan.traces.importers.report import FieldCount, ImportReport
from proofspan.traces.importers.sources import read_records
from proofspan.traces.importers.staging import RECORD, sha256_of, staged

CHUNKS = "corpus/chunks.jsonl"
GOLD = "gold/goldset.jsonl"


def import_mapped(
    source: Path, *, mapping: Path, workspace: Path, link: bool = False, force: bool = False
) -> ImportReport:
    """Makes the workspace and says what was and what was not found.

    Documents are copied in, or with `link` hard-linked. A document that is named and not there stays in the
    manifest without a hash, so that `check` goes on reporting it until it is put in its place. Raises a
    Fault, and leaves no folder behind, where source or mapping cannot be used or `workspace` holds anything
    that must not be replaced.
    """
    importer = _Importer(load_mapping(mapping), source)
    importer.meet()
    with staged(workspace, force=force) as stage:
        importer.write(stage, link=link)
        importer.write_record(stage, mapping)
    return importer.report()


class _Importer:
    """One import: what has been met, counted and written so far."""

    def __init__(self, mapping: ImportMapping, source: Path) -> None:
        self.map = mapping
        self.source = source.absolute()
        self.tally = Tally()
        self.pool = to_native.Pool()
        self.issues: list[LineIssue] = []
        self.documents: list[FoundDocument] = []
        self.gold_doc_ids: set[str] = set()
        self.trace_ids: list[str] = []
        self.gold_ids: list[str] = []
        self.chunk_count = 0
        self.files: dict[str, str] = {}

    # -- first pass -----------------------------------------------------------------------------------

    def meet(self) -> None:
        """Reads all, counts every field and meets every chunk and document; then mints ids."""
        if self.map.traces is not None:
            self._meet_traces(self.map.traces)
        if self.map.gold is not None:
            self._meet_gold(self.map.gold)
        if self.map.chunks is not None:
            self._meet_chunks(self.map.chunks)
        self.pool.mint()
        if self.map.pattern is not None:
            named = self.pool.doc_ids() | self.gold_doc_ids
            self.documents = find_documents(named, pattern=self.map.pattern, folder=self.source.parent)

    def _meet_traces(self, mapping: TraceMapping) -> None:
        for place in self._places(self.source, mapping.own, at=self.map.records, met=self.issues):
            own = read_all(mapping.own.fields, place, self.tally)
            read_all(mapping.copied, place, self.tally)
            if "q" not in own:
                self._without_question(self.source.name, place)
                continue
            for found in to_native.candidates(mapping, place, self.tally).values():
                for candidate in found:
                    self.pool.meet(candidate)
            if mapping.citations is not None:
                for item in to_native.items(mapping.citations, place, self.tally):
                    read_all(mapping.citations.fields, item, self.tally)

    def _meet_gold(self, mapping: GoldMapping) -> None:
        path, at = self._gold_source(mapping)
        issues = self.issues if path != self.source or self.map.traces is None else []
        for place in self._places(path, mapping.own, at=at, met=issues):
            if "q" not in read_all(mapping.own.fields, place, self.tally):
                self._without_question(path.name, place)
                continue
            for span in to_native.gold_spans(mapping, place, self.tally):
                self.gold_doc_ids.add(span["doc_id"])
                if mapping.spans_as_chunks:
                    self.pool.meet(to_native.span_as_candidate(span))

    def _meet_chunks(self, group: Group) -> None:
        """Chunks that stand by themselves; what has no text (a picture) is none, and only counted."""
        is_alone = self.map.traces is None and self.map.gold is None
        for place in self._places(
            self.source, group, at=self.map.records, met=self.issues if is_alone else []
        ):
            chunk = read_all(group.fields, place, self.tally)
            if str(chunk.get("text", "")).strip():
                self.pool.meet(chunk)

    def _without_question(self, file: str, place: Place) -> None:
        where = SourceLine(file, place.line, 0, 0)
        fix = "Check the mapping's path to `q`, or the record."
        excerpt = orjson.dumps(place.item, default=str).decode("utf-8", "replace")[:200]
        self.issues.append(
            LineIssue.at(where, "q_missing", "no question stands where the mapping looks", fix, excerpt)
        )

    # -- second pass ----------------------------------------------------------------------------------

    def write(self, stage: Path, *, link: bool) -> None:
        """Writes chunks, gold, traces, documents and the manifest into the stage."""
        self.chunk_count = self._write_lines(stage, CHUNKS, self.pool.chunks())
        if self.map.gold is not None:
            self._write_lines(stage, GOLD, self._gold_records(self.map.gold))
        if self.map.traces is not None:
            self._write_lines(stage, self._trace_path(), self._trace_records(self.map.traces))
        for document in self.documents:
            take(document, stage, link=link)
            if document.source is not None and document.path is not None:
                self.files[document.path] = sha256_of(stage / document.path)
        text = yaml.safe_dump(self._manifest(), sort_keys=False, allow_unicode=True, width=110)
        self._write_bytes(stage, MANIFEST_NAME, text.encode())

    def _trace_records(self, mapping: TraceMapping) -> Iterator[to_native.Record]:
        for place in self._places(self.source, mapping.own, at=self.map.records):
            record = _unless_unasked(
                lambda at: to_native.trace(mapping, at, self.pool, run_id=self._run_id()), place
            )
            if record is not None:
                self.trace_ids.append(_key(record))
                yield record

    def _gold_records(self, mapping: GoldMapping) -> Iterator[to_native.Record]:
        path, at = self._gold_source(mapping)
        for place in self._places(path, mapping.own, at=at):
            record = _unless_unasked(lambda at: to_native.gold(mapping, at, self.pool), place)
            if record is not None:
                self.gold_ids.append(_key(record))
                yield record

    def _manifest(self) -> dict[str, Any]:
        manifest: dict[str, Any] = {"manifest_version": "1.0", "name": self.map.name}
        if named := [self._document(document) for document in self.documents if document.path is not None]:
            manifest["documents"] = named
        manifest["chunks"] = self._artifact(CHUNKS)
        if self.map.gold is not None:
            manifest["gold"] = self._artifact(GOLD)
        if self.map.triage:
            manifest["triage"] = dict(self.map.triage)
        if self.map.traces is not None:
            manifest["runs"] = [{**self.map.run, "traces": self._artifact(self._trace_path())}]
        return manifest

    def _document(self, document: FoundDocument) -> dict[str, Any]:
        entry = {"doc_id": document.doc_id, **self._artifact(document.path or "")}
        return entry if self.map.paged else {**entry, "paged": False}

    def _artifact(self, path: str) -> dict[str, str]:
        digest = self.files.get(path)
        return {"path": path, "sha256": digest} if digest else {"path": path}

    def write_record(self, stage: Path, mapping: Path) -> None:
        """Notes what this import made and from what, without the names of folders and without a clock."""
        record = {
            "source": {"file": self.source.name, "sha256": sha256_of(self.source)},
            "mapping": {"file": mapping.name, "sha256": sha256_of(mapping)},
            "files": dict(sorted(self.files.items())),
        }
        options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        (stage / RECORD).write_bytes(orjson.dumps(record, option=options))

    # -- outcome --------------------------------------------------------------------------------------

    def report(self) -> ImportReport:
        """The counts, in the mapping's order."""
        known = set(self.gold_ids)
        return ImportReport(
            traces=len(self.trace_ids),
            chunks=self.chunk_count,
            gold=len(self.gold_ids),
            joined=sum(q_id in known for q_id in self.trace_ids),
            fields=tuple(self._count(key) for key in self.map.keys),
            documents=tuple(self.documents),
            issues=tuple(self.issues),
            problems=tuple(self._problems()),
        )

    def _count(self, key: str) -> FieldCount:
        counts = self.tally.counts
        unusable = counts[key, "unusable"]
        first = self.tally.first_unusable.get(key)
        return FieldCount(key, counts[key, "found"], counts[key, "absent"], unusable, first)

    def _problems(self) -> Iterator[Problem]:
        if self.map.traces is not None and not self.trace_ids:
            yield Problem(
                "no_traces",
                "no trace was found",
                self.source.name,
                "Check `records`, `traces.each` and `traces.q`.",
            )
        if self.map.chunks is not None and not self.chunk_count:
            fix = "Check `records`, `chunks.each` and `chunks.text`."
            yield Problem("no_chunks", "no chunk was found", self.source.name, fix)
        for key, path in self.map.lists.items():
            yield from self._list_problems(self._count(key), path)
        if self.pool.skipped:
            is_one = self.pool.skipped == 1
            were = (
                "candidate has neither id nor text and was"
                if is_one
                else ("candidates have neither id nor text and were")
            )
            message = f"{self.pool.skipped:,} {were} left out"
            yield Problem(
                "candidate_without_text", message, self.source.name, "Check the stages' `id` and `text`."
            )
        for chunk_id, times in sorted(self.pool.conflicts.items()):
            more = f"{times:,} more text{' stands' if times == 1 else 's stand'}"
            message = f"{more} under the chunk id {chunk_id[:200]!r}; the first one counts"
            yield Problem(
                "chunk_id_conflict", message, self.source.name, "Leave `id` out: ids are then minted."
            )

    def _list_problems(self, count: FieldCount, path: str) -> Iterator[Problem]:
        """What a person has to know of an `each` that leads to nothing, or to what is no list."""
        of_gold = count.key.startswith("gold.") and self.map.gold is not None
        file = (self.map.gold.source if of_gold and self.map.gold else None) or self.source.name
        if count.unusable:
            records = f"{count.unusable:,} record{'s' * (count.unusable > 1)}"
            yield Problem(
                "each_no_list",
                f"`{count.key}` finds no list at {path!r} in {records}, first on line {count.first_unusable}",
                file,
                "Write a list there, or correct the path in the mapping.",
            )
        elif count.absent and not count.found:
            records = f"{count.absent:,} record{'s' * (count.absent > 1)}"
            yield Problem(
                "each_not_found",
                f"`{count.key}` finds nothing at {path!r} in any of {records}",
                file,
                "Correct the path in the mapping.",
            )

    # -- shared ---------------------------------------------------------------------------------------

    def _run_id(self) -> str:
        return str(self.map.run["run_id"])

    def _trace_path(self) -> str:
        return f"runs/{self._run_id()}/trace.jsonl"

    def _gold_source(self, mapping: GoldMapping) -> tuple[Path, JsonPath | None]:
        """The gold file and where its records stand; `records` belongs to SOURCE alone."""
        if mapping.source is None:
            return self.source, self.map.records
        try:
            return resolve_reference(self.source.parent, mapping.source), None
        except Fault as fault:
            where = str(self.source.parent / mapping.source)
            fix = "Put the gold file beside SOURCE, or take `gold` out of the mapping."
            raise InputFault.of("gold_missing", fault.problems[0].message, where=where, fix=fix) from fault

    def _places(
        self, path: Path, group: Group, *, at: JsonPath | None, met: list[LineIssue] | None = None
    ) -> Iterator[Place]:
        """The group's items in a file. The first pass counts, and gathers the lines' issues in `met`."""
        for found in read_records(path, at=at):
            if not isinstance(found, LineIssue):
                line, record = found
                tally = None if met is None else self.tally
                yield from to_native.items(group, Place(record, record, line), tally)
            elif met is not None:
                met.append(found)

    def _write_lines(self, stage: Path, path: str, records: Iterator[to_native.Record]) -> int:
        target = stage / path
        target.parent.mkdir(parents=True, exist_ok=True)
        count = 0
        with target.open("wb") as file:
            for record in records:
                file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
                count += 1
        self.files[path] = sha256_of(target)
        return count

    def _write_bytes(self, stage: Path, path: str, data: bytes) -> None:
        (stage / path).write_bytes(data)
        self.files[path] = sha256_of(stage / path)


def _key(record: to_native.Record) -> str:
    """What joins a trace and its gold question: the id, for want of one the question."""
    return str(record["q_id"] if "q_id" in record else record["q"])


def _unless_unasked(make: Callable[[Place], to_native.Record], place: Place) -> to_native.Record | None:
    """The native record; None for one without a question, which the first pass has reported."""
    try:
        return make(place)
    except KeyError:
        return None
