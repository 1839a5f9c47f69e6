"""The citations of whole runs looked for in their documents, and what is found kept beside the index.

Each is looked for as the Question page does it. What is known from before is not asked again: parts of runs
whose segments and documents are as they were, and answers about a document in the same state, whichever run
asked. So a second look costs nothing, and a run that has grown only what is new.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from proofspan.contracts.records.records import Chunk, Citation, Trace
from proofspan.errors import Fault, Problem, StoreFault
from proofspan.evidence.locate_bulk import TEMPORARY, Ask, GivenUp, Locator, locate_bulk
from proofspan.evidence.page_base import is_telling
from proofspan.evidence.types import FoundSpan, SpanQuery
from proofspan.fingerprints import GROWN, Fingerprint, change_since, fingerprint_of
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Manifest, Run
from proofspan.services.question.citation_queries import pointers_of, span_query
from proofspan.services.question.view import with_ids
from proofspan.services.workspace.open import chosen_run
from proofspan.store.files.cache_dir import turn, writing_to
from proofspan.store.files.locate_cache import Answer, Remembered
from proofspan.store.files.located import (
    PLACED_FOLDER,
    PLACED_SCHEMA,
    Part,
    PlacedFile,
    counts_of,
    document_stamp,
    index_identity,
    listed_documents,
    locator_version,
    read_placed,
    read_placed_file,
    reasons_of,
    write_placed_file,
)
from proofspan.store.files.run_file import RunFile, Segment, read_run_file, whole_run_file
from proofspan.store.files.segment_files import DamagedError, read_table, write_table
from proofspan.store.files.types import Progress
from proofspan.store.index.build import index_folder
from proofspan.store.index.plan import find_source
from proofspan.store.index.side_files import read_led_chunks
from proofspan.traces.records.stored_reports import read_report
from proofspan.traces.records.traces import iter_traces

#: So many citations are worked on together and in memory at once; what is found is kept after each.
WINDOW = 10_000
NOT_PLACED = "not_placed"

OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class PlacedReport:
    """What became of a run's citations. `counts` says how many are in which state (they may be in several).

    `located` had to be looked for just now, `reasons` say why some could not be. `problems` are those of
    documents, one each, and `findings` what the citations as a whole show.
    """

    run_id: str
    citations: int
    located: int
    counts: Mapping[str, int]
    reasons: Mapping[str, int]
    problems: tuple[Problem, ...] = ()
    findings: tuple[str, ...] = ()


def place_run(
    manifest: Manifest,
    run_id: str,
    *,
    cache_dir: Path,
    pool: Locator,
    workers: int = 2,
    on_progress: OnProgress | None = None,
) -> PlacedReport:
    """Looks for the citations of an indexed run and keeps what is found; the same again costs nothing.

    `on_progress` hears of traces: done, in all, citations so far. Several processes may call this at once.
    StoreFault where the run has no index, its trace file was replaced since, or the cache cannot be written;
    what is wrong with single documents is in the report.
    """
    (report,) = place_runs(
        manifest, [run_id], cache_dir=cache_dir, pool=pool, workers=workers, on_progress=on_progress
    )
    return report


def place_runs(
    manifest: Manifest,
    run_ids: Sequence[str],
    *,
    cache_dir: Path,
    pool: Locator,
    workers: int = 2,
    on_progress: OnProgress | None = None,
) -> Iterator[PlacedReport]:
    """The same for several runs, one after the other; chunks are read once."""
    chunks = cache(partial(_chunks, manifest, cache_dir))
    given_up: GivenUp = {}
    for run_id in run_ids:
        run = chosen_run(manifest, run_id)
        folder = index_folder(manifest, run_id, cache_dir)
        _indexed(manifest, run_id, folder)
        with writing_to(folder):
            (folder / PLACED_FOLDER).mkdir(exist_ok=True)
            with turn(folder / PLACED_FOLDER):  # read only now: who had it before us may have left another
                run_file = _indexed(manifest, run_id, folder)
                records = RunRecords(manifest, run, folder, run_file, cache_dir)
                documents = CitedDocuments(manifest, Remembered(cache_dir, locator_version()))
                work = _Work(records, chunks, documents, pool, workers, on_progress, given_up)
                report = work.refresh()
        yield report


def _indexed(manifest: Manifest, run_id: str, folder: Path) -> RunFile:
    """The run's index as it is now."""
    run_file = whole_run_file(folder)
    if run_file is None:
        raise _not_indexed(manifest, run_id)
    return run_file


def is_placed(manifest: Manifest, run_id: str, cache_dir: Path) -> bool:
    """Whether the run's citations are located, in the documents as they are now. Reads two small files."""
    folder = index_folder(manifest, run_id, cache_dir)
    placed, run_file = read_placed_file(folder), read_run_file(folder)
    return bool(placed and run_file and placed.is_of(run_file) and placed.agrees_with(manifest))


def _still_good(folder: Path, manifest: Manifest) -> PlacedFile | None:
    """What is placed already, as far as this program did it, in the documents as they are; else None."""
    placed = read_placed_file(folder)
    if placed is None or placed.version != locator_version() or not placed.agrees_with(manifest):
        return None
    try:
        read_placed(folder, placed.parts, PLACED_SCHEMA.names)
    except DamagedError:
        return None
    return placed


def _chunks(manifest: Manifest, cache_dir: Path) -> Mapping[str, Chunk]:
    """The workspace's chunks; none where their file cannot be used, of which the index tells."""
    if manifest.chunks is None:
        return {}
    try:
        path = artifact_path(manifest, manifest.chunks)
        return read_led_chunks(manifest, path, file=manifest.chunks.path, cache_dir=cache_dir)[0]
    except Fault:
        return {}


@dataclass(slots=True)
class _Work:
    """One run on its way."""

    source: RunRecords
    chunks: Callable[[], Mapping[str, Chunk]]
    documents: CitedDocuments
    locator: Locator
    workers: int
    on_progress: OnProgress | None
    given_up: GivenUp
    located: int = 0
    citations: int = 0
    again: bool = False

    def refresh(self) -> PlacedReport:
        """Makes the run's placements what its files are now."""
        known = _still_good(self.source.folder, self.source.manifest)
        if known is not None and known.is_of(self.source.run_file) and not known.again:
            return _report(known, self.source.run.run_id)
        try:
            return self._place(known)
        except DamagedError as error:
            raise _damaged(self.source.folder, self.source.run.run_id) from error

    def _place(self, earlier: PlacedFile | None) -> PlacedReport:
        """The same from what is left of earlier ones."""
        run_file, folder = self.source.run_file, self.source.folder
        kept = {part.segment: part for part in earlier.parts} if earlier and not earlier.again else {}
        parts = tuple(kept.get(segment.name) or self._part(segment) for segment in run_file.segments)
        self._tell(run_file.rows, sum(part.citations for part in parts))
        stamps = dict(earlier.documents) if earlier and kept else {}
        problems = dict(earlier.problems) if earlier and kept else {}
        states = read_placed(folder, parts, ("status", "page_mismatch", "numbers_differ", "reason"))
        placed = PlacedFile(
            version=locator_version(),
            index=index_identity(run_file),
            listed=listed_documents(self.source.manifest),
            documents=stamps | self.documents.stamps(),
            parts=parts,
            counts=counts_of(states),
            reasons=reasons_of(states),
            problems=problems | self.documents.problems,
            again=self.again,
        )
        write_placed_file(folder, placed)
        return _report(placed, self.source.run.run_id, located=self.located)

    def _part(self, segment: Segment) -> Part:
        """Places the citations of one segment, a window after the other, and writes them."""
        found = self.source.citations(segment, self.chunks())
        tables = [PLACED_SCHEMA.empty_table()]
        while window := list(islice(found, WINDOW)):
            tables.append(self._placed(window, segment))
        table = pa.concat_tables(tables).unify_dictionaries()
        digest = hashlib.sha256(repr((segment.name, locator_version(), self.documents.stamps())).encode())
        name = f"{segment.name.removesuffix('.parquet')}-{digest.hexdigest()[:8]}.parquet"
        write_table(self.source.folder / PLACED_FOLDER, name, table)
        return Part(segment.name, name, table.num_rows)

    def _placed(self, window: Sequence[Cited], segment: Segment) -> pa.Table:
        """The window's rows; what is not known yet is looked for."""
        missing: dict[tuple[str, bytes], Ask] = {}
        keys: list[tuple[str, bytes] | str] = []
        for item in window:
            key = _key_of(item.citation, self.documents)
            keys.append(key)
            if isinstance(key, str):
                continue
            held = self.documents.get(key[0])
            if held.path is not None and key[1] not in held.known:
                missing[key] = Ask(held.path, span_query(item.citation), held.is_text)
        failed = self._locate(missing, window, segment)
        rows = [self._row(item, key, failed) for item, key in zip(window, keys, strict=True)]
        self.documents.keep()
        self._tell_of(window, segment, 1.0)
        self.citations += len(window)
        columns = zip(*rows, strict=True)
        arrays = [pa.array(c, f.type) for c, f in zip(columns, PLACED_SCHEMA, strict=True)]
        return pa.table(arrays, schema=PLACED_SCHEMA)

    def _locate(
        self, missing: Mapping[tuple[str, bytes], Ask], window: Sequence[Cited], segment: Segment
    ) -> dict[tuple[str, bytes], str]:
        """Looks for these quotes; those that met a problem, with its code."""

        def step(done: int, total: int) -> None:
            self._tell_of(window, segment, done / total)

        answers = locate_bulk(
            list(missing.values()),
            self.locator,
            workers=self.workers,
            on_done=step,
            given_up=self.given_up,
        )
        self.located += len(missing)
        failed: dict[tuple[str, bytes], str] = {}
        for (doc_id, asked), ask, answer in zip(missing, missing.values(), answers, strict=True):
            if isinstance(answer, Problem):
                failed[doc_id, asked] = answer.code
                self.documents.problems.setdefault(doc_id, answer)
                self.again |= answer.code in TEMPORARY
            else:
                self.documents.get(doc_id).fresh[asked] = _answer(answer, ask.query)
        return failed

    def _tell_of(self, window: Sequence[Cited], segment: Segment, share: float) -> None:
        """Progress within a window, as if its citations were spread over its traces evenly."""
        before = self.source.rows_before(segment) + window[0].row
        done = before + int((window[-1].row + 1 - window[0].row) * share)
        self._tell(done, self.citations + int(len(window) * share))

    def _tell(self, traces: int, citations: int) -> None:
        if self.on_progress is not None:
            total = self.source.run_file.rows
            self.on_progress(Progress(self.source.run.run_id, traces, total, citations))

    def _row(
        self, item: Cited, key: tuple[str, bytes] | str, failed: Mapping[tuple[str, bytes], str]
    ) -> tuple[object, ...]:
        cited = item.citation
        head = (*item[:5], cited.number, cited.chunk_id, cited.doc_id, cited.section_id, cited.page_idx)
        if isinstance(key, str):
            return (*head, NOT_PLACED, None, False, None, False, False, key)
        if key in failed:
            return (*head, NOT_PLACED, None, False, None, False, False, failed[key])
        held = self.documents.get(key[0])
        answer = held.fresh.get(key[1]) or held.known[key[1]]
        return (*head, *answer, None)


def _key_of(citation: Citation, documents: CitedDocuments) -> tuple[str, bytes] | str:
    """The document and the hash of what is looked for in it, or why nothing is."""
    if citation.doc_id is None:
        return "no_document"
    held = documents.get(citation.doc_id)
    if held.path is None:
        return held.stamp
    query = span_query(citation)
    if not query.quote.strip():
        return "no_quote"
    return citation.doc_id, hashlib.blake2b(repr(query).encode(), digest_size=16).digest()


def _answer(found: FoundSpan, query: SpanQuery) -> Answer:
    return Answer(
        status=found.status,
        page_idx=found.page_idx,
        page_mismatch=found.page_mismatch,
        agreement=found.agreement,
        numbers_differ=any(difference.kind == "number" for difference in found.differences),
        tells_page=is_telling(found, query.quote),
    )


def _report(placed: PlacedFile, run_id: str, *, located: int = 0) -> PlacedReport:
    problems = tuple(problem for _, problem in sorted(placed.problems.items()))
    return PlacedReport(run_id, placed.citations, located, placed.counts, placed.reasons, problems)


def _damaged(folder: Path, run_id: str) -> StoreFault:
    return StoreFault.of(
        "index_damaged",
        f"files of the index of run {run_id!r} are missing or damaged",
        where=str(folder),
        fix="delete that folder and run `proofspan index` again",
    )


def _not_indexed(manifest: Manifest, run_id: str) -> StoreFault:
    return StoreFault.of(
        "not_indexed",
        f"run {run_id!r} has no index yet",
        where=str(manifest.folder),
        fix=f"proofspan index {manifest.folder}",
    )


# What a run cites and where it has to be looked for: its records and its documents as they lie there.


class Cited(NamedTuple):
    """A citation with its trace's place in the segment and its identity."""

    row: int
    q_id: str
    paraphrase: int
    seed: int
    repeat: int
    citation: Citation


@dataclass(frozen=True, slots=True)
class RunRecords:
    """A run's records, by the segments of its index."""

    manifest: Manifest
    run: Run
    folder: Path
    run_file: RunFile
    cache_dir: Path

    def citations(self, segment: Segment, chunks: Mapping[str, Chunk]) -> Iterator[Cited]:
        """Every citation of a segment. StoreFault where its file is not the one that was indexed."""
        first, repeats = self.rows_before(segment), self._repeats()
        rows = 0
        for trace in self._traces(segment):
            repeat = repeats.get(first + rows, 1)
            for pointer in pointers_of(trace, chunks):
                yield Cited(rows, trace.q_id, trace.paraphrase, trace.seed, repeat, pointer.citation)
            rows += 1
        if rows != segment.rows:
            raise self._replaced()

    def rows_before(self, segment: Segment) -> int:
        """How many traces the segments before this one hold."""
        return sum(each.rows for each in self.run_file.segments if each.start < segment.start)

    def _traces(self, segment: Segment) -> Iterator[Trace]:
        source = find_source(self.manifest, self.run, cache_dir=self.cache_dir)
        indexed = self.run_file.source
        if source.path is None or indexed is None or change_since(source.path, indexed) not in GROWN:
            raise self._replaced()
        run_id, file = self.run.run_id, source.file
        if source.from_report:
            stored, _ = read_report(source.path, file=file)
            yield from (with_ids(row, run_id) for row in stored)
            return
        span = {"offset": segment.start, "line": segment.line, "end": segment.end}
        found = iter_traces(source.path, file=file, run_id=run_id, final=source.is_final, **span)
        yield from (item for item in found if isinstance(item, Trace))

    def _replaced(self) -> StoreFault:
        return StoreFault.of(
            "index_changed",
            f"the trace file of run {self.run.run_id!r} was replaced after it was indexed",
            where=self.run_file.file,
            fix=f"proofspan index {self.manifest.folder}",
        )

    def _repeats(self) -> dict[int, int]:
        """The traces that come again, by their place in the run."""
        if self.run_file.joined is None:
            return {}
        table = read_table(self.folder / self.run_file.joined, ["row", "repeat"])
        return dict(zip(*(column.to_pylist() for column in table.columns), strict=True))


@dataclass(slots=True)
class Held:
    """A document that citations name: where it lies and what is known of it, or why it cannot be used."""

    stamp: str
    path: Path | None = None
    is_text: bool = False
    print: Fingerprint | None = None
    known: dict[bytes, Answer] = field(default_factory=dict)
    fresh: dict[bytes, Answer] = field(default_factory=dict)


class CitedDocuments:
    """The documents of a run, each looked up when it is first cited."""

    def __init__(self, manifest: Manifest, remembered: Remembered) -> None:
        self._manifest = manifest
        self._remembered = remembered
        self._held: dict[str, Held] = {}
        self.problems: dict[str, Problem] = {}

    def get(self, doc_id: str) -> Held:
        """The document; its `stamp` is a problem's code where it has no path."""
        if doc_id not in self._held:
            self._held[doc_id] = self._look_up(doc_id)
        return self._held[doc_id]

    def stamps(self) -> dict[str, str]:
        """The state of every listed document that was looked up."""
        return {doc_id: held.stamp for doc_id, held in self._held.items() if self._manifest.document(doc_id)}

    def keep(self) -> None:
        """Keeps what was found out since; of a document that changed meanwhile nothing."""
        for held in self._held.values():
            if held.fresh and held.path and held.print and _is_same(held.path, held.print):
                self._remembered.keep(held.print, held.fresh, is_text=held.is_text)
            held.known |= held.fresh
            held.fresh = {}

    def _look_up(self, doc_id: str) -> Held:
        document = self._manifest.document(doc_id)
        stamp = document_stamp(self._manifest, document)
        if document is None:
            return Held(stamp)
        try:
            path = artifact_path(self._manifest, document.artifact)
            printed = fingerprint_of(path)
        except Fault as fault:
            self.problems[doc_id] = fault.problems[0]
            return Held(stamp)
        except OSError as error:
            said = f"the document cannot be read: {error.strerror}"
            self.problems[doc_id] = Problem("unreadable", said, document.artifact.path)
            return Held("unreadable")
        is_text = not document.paged
        return Held(stamp, path, is_text, printed, self._remembered.of(printed, is_text=is_text))


def _is_same(path: Path, earlier: Fingerprint) -> bool:
    """Whether a document is still what it was when it was first looked at."""
    try:
        return change_since(path, earlier) == "same"
    except OSError:
        return False
