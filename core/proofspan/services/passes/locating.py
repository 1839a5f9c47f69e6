"""Locate the citations of whole runs in their documents and store the results beside the index.

Each citation is located as the Question page does it. Segments whose documents did not change are kept, and
quotes that were located in the same state of a document before, for any run, are not located again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import islice
from pathlib import Path

import pyarrow as pa

from proofspan.contracts.records.records import Chunk, Trace
from proofspan.errors import Fault, Problem
from proofspan.evidence.locate_bulk import TEMPORARY, Ask, GivenUp, Locator, locate_bulk
from proofspan.fingerprints import Fingerprint, change_since
from proofspan.manifest.types import Manifest
from proofspan.services.passes.placed_rows import (
    CitedDocument,
    Key,
    answer_of,
    cited_document,
    placed_row,
    wanted_of,
)
from proofspan.services.passes.turns import turn_on
from proofspan.services.question.view import citation_view
from proofspan.services.workspace.open import chosen_run
from proofspan.store.files import located as stored
from proofspan.store.files.columns import table_of
from proofspan.store.files.run_file import RunFile, Segment, read_run_file
from proofspan.store.files.segment_files import DamagedError, write_table
from proofspan.store.files.types import Progress
from proofspan.store.index.build import discard_damaged, index_folder
from proofspan.store.index.labelling import read_led_chunks
from proofspan.traces.records.citations import citations

#: How many citations are located, and in memory, together; results are stored after each window.
WINDOW = 10_000

OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class PlacedReport:
    """The status of a run's citations. `counts` has the citations in each state (one may be in several).

    `located` citations were located in this call, `reasons` counts why others could not be. `problems` are
    those of documents, one each, and `findings` what the citations as a whole show.
    """

    run_id: str
    citations: int
    located: int
    counts: Mapping[str, int]
    reasons: Mapping[str, int]
    problems: tuple[Problem, ...] = ()
    findings: tuple[str, ...] = ()


def place_runs(
    manifest: Manifest,
    run_ids: Sequence[str],
    *,
    cache_dir: Path,
    pool: Locator,
    workers: int = 2,
    on_progress: OnProgress | None = None,
) -> Iterator[PlacedReport]:
    """Locate the citations of indexed runs, run by run, and store the results; up-to-date runs cost nothing.

    `on_progress` gets traces done, traces in all and citations so far. Several processes may call this at
    once. StoreFault where a run has no index or the cache cannot be written; problems of single documents are
    in the report.
    """
    chunks = cache(partial(_chunks, manifest, cache_dir))
    given_up: GivenUp = {}
    for run_id in run_ids:
        chosen_run(manifest, run_id)
        with turn_on(manifest, run_id, stored.PLACED_FOLDER, cache_dir=cache_dir) as (folder, run_file):
            shared = (cache_dir, chunks, pool, workers, on_progress, given_up)
            report = _RunLocator(manifest, run_id, folder, run_file, *shared).refresh()
        yield report


def is_placed(manifest: Manifest, run_id: str, cache_dir: Path) -> bool:
    """Return whether the run's citations are located in the documents as they are. Reads two small files."""
    folder = index_folder(manifest, run_id, cache_dir)
    placed, run_file = stored.read_placed_file(folder), read_run_file(folder)
    return bool(placed and run_file and placed.is_of(run_file) and placed.agrees_with(manifest))


def _chunks(manifest: Manifest, cache_dir: Path) -> Mapping[str, Chunk]:
    """Return the workspace's chunks; none where their file cannot be used, which the index reports."""
    if manifest.chunks is None:
        return {}
    try:
        return read_led_chunks(manifest, manifest.chunks, cache_dir=cache_dir)[0]
    except Fault:
        return {}


def states_of(
    manifest: Manifest, traces: Sequence[Trace], chunks: Mapping[str, Chunk], locator: Locator
) -> pa.Table:
    """Locate the citations of some traces, and return their `ROW_STATES`, as `place_runs` makes them."""
    cited = [
        stored.Cited(row, trace.q_id, trace.paraphrase, trace.seed, 1, citation_view(each, chunks).citation)
        for row, trace in enumerate(traces)
        for each in citations(trace)
    ]
    keys, asks = _asked(cited, cache(partial(cited_document, manifest)))
    found = dict(zip(asks, locate_bulk([*asks.values()], locator, workers=1), strict=True))

    def result(key: Key) -> stored.Answer | str:
        answer = found[key]
        return answer.code if isinstance(answer, Problem) else answer_of(answer, asks[key].query)

    rows = [
        placed_row(item, key if isinstance(key, str) else result(key))
        for item, key in zip(cited, keys, strict=True)
    ]
    return stored.row_states(table_of(rows, stored.PLACED_SCHEMA), len(traces))


def _asked(
    cited: Iterable[stored.Cited], find: Callable[[str], CitedDocument]
) -> tuple[list[Key | str], dict[Key, Ask]]:
    """Return for each citation what is looked for in which document, or why nothing is; and the quotes."""
    keys: list[Key | str] = []
    asks: dict[Key, Ask] = {}
    for item in cited:
        wanted = wanted_of(item.citation, find)
        keys.append(wanted if isinstance(wanted, str) else wanted[0])
        if not isinstance(wanted, str):
            document = find(wanted[0][0])
            if document.path is not None:
                asks[wanted[0]] = Ask(document.path, wanted[1], document.is_text)
    return keys, asks


@dataclass(slots=True)
class _Document:
    """A cited document and the answers on it; `fresh` are those that are not in the cache yet."""

    file: CitedDocument
    answers: dict[bytes, stored.Answer] = field(default_factory=dict)
    fresh: dict[bytes, stored.Answer] = field(default_factory=dict)


@dataclass(slots=True)
class _RunLocator:
    """Locates the citations of one run; holds its lock meanwhile."""

    manifest: Manifest
    run_id: str
    folder: Path
    run_file: RunFile
    cache_dir: Path
    chunks: Callable[[], Mapping[str, Chunk]]
    locator: Locator
    workers: int
    on_progress: OnProgress | None
    given_up: GivenUp
    documents: dict[str, _Document] = field(default_factory=dict)
    problems: dict[str, Problem] = field(default_factory=dict)
    located: int = 0
    citations: int = 0
    again: bool = False

    def refresh(self) -> PlacedReport:
        """Bring the stored results up to date."""
        placed = stored.read_placed_file(self.folder)
        if placed is not None and not self._is_reusable(placed):
            placed = None
        if placed is None or placed.again or not placed.is_of(self.run_file):
            try:
                placed = self._place(placed)
            except DamagedError as error:
                raise discard_damaged(self.manifest, self.run_id, error.folder) from error
        problems = tuple(problem for _, problem in sorted(placed.problems.items()))
        return PlacedReport(
            self.run_id, placed.citations, self.located, placed.counts, placed.reasons, problems
        )

    def _is_reusable(self, placed: stored.PlacedFile) -> bool:
        """Return whether this program made the results from the documents as they are."""
        if placed.version != stored.locator_version() or not placed.agrees_with(self.manifest):
            return False
        try:
            stored.read_placed(self.folder, placed.parts, stored.PLACED_SCHEMA.names)
        except DamagedError:
            return False
        return True

    def _place(self, earlier: stored.PlacedFile | None) -> stored.PlacedFile:
        kept = {part.segment: part for part in earlier.parts} if earlier and not earlier.again else {}
        parts = tuple(kept.get(each.name) or self._part(each) for each in self.run_file.segments)
        self._show_progress(self.run_file.rows, sum(part.citations for part in parts))
        counts, reasons = stored.counts_of(self.folder, parts)
        placed = stored.PlacedFile(
            version=stored.locator_version(),
            index=stored.index_identity(self.run_file),
            listed=stored.listed_documents(self.manifest),
            documents=(dict(earlier.documents) if earlier and kept else {}) | self._stamps(),
            parts=parts,
            counts=counts,
            reasons=reasons,
            problems=(dict(earlier.problems) if earlier and kept else {}) | self.problems,
            again=self.again,
        )
        stored.write_placed_file(self.folder, placed)
        return placed

    def _part(self, segment: Segment) -> stored.Part:
        chunks = self.chunks()
        cited = (
            each._replace(citation=citation_view(each.citation, chunks).citation)
            for each in stored.read_citations(self.folder, self.run_file, segment)
        )
        tables = [stored.PLACED_SCHEMA.empty_table()]
        while window := list(islice(cited, WINDOW)):
            tables.append(self._window(window, segment))
        table = pa.concat_tables(tables).unify_dictionaries()
        digest = hashlib.sha256(repr((segment.name, stored.locator_version(), self._stamps())).encode())
        stem = segment.name.removesuffix(".parquet").replace("/", "-")
        name = f"{stem}-{digest.hexdigest()[:8]}.parquet"
        write_table(self.folder / stored.PLACED_FOLDER, name, table)
        return stored.Part(segment.name, name, table.num_rows)

    def _window(self, window: Sequence[stored.Cited], segment: Segment) -> pa.Table:
        """Return the window's rows; what is not known yet is located."""
        keys, asks = _asked(window, lambda doc_id: self._document(doc_id).file)
        missing = {key: ask for key, ask in asks.items() if key[1] not in self._document(key[0]).answers}
        first, last = window[0].row, window[-1].row + 1
        before, known = self.run_file.rows_before(segment) + first, self.citations

        def show_share(done: int, total: int) -> None:
            share = done / total
            self._show_progress(before + int((last - first) * share), known + int(len(window) * share))

        failed = self._locate(missing, show_share)
        rows = [
            placed_row(item, key if isinstance(key, str) else self._result(key, failed))
            for item, key in zip(window, keys, strict=True)
        ]
        for each in self.documents.values():  # a document that changed meanwhile gives no answers to keep
            file = each.file
            if each.fresh and file.path and file.fingerprint and _is_same(file.path, file.fingerprint):
                stored.keep_answers(self.cache_dir, file.fingerprint, each.fresh, is_text=file.is_text)
            each.fresh = {}
        show_share(1, 1)
        self.citations += len(window)
        return table_of(rows, stored.PLACED_SCHEMA)

    def _locate(self, missing: Mapping[Key, Ask], on_done: Callable[[int, int], None]) -> dict[Key, str]:
        """Locate these quotes and return the problem codes of those that failed."""
        asks = list(missing.values())
        answers = locate_bulk(
            asks, self.locator, workers=self.workers, on_done=on_done, given_up=self.given_up
        )
        self.located += len(missing)
        failed: dict[Key, str] = {}
        for (doc_id, digest), ask, found in zip(missing, asks, answers, strict=True):
            if isinstance(found, Problem):
                failed[doc_id, digest] = found.code
                self.problems.setdefault(doc_id, found)
                self.again |= found.code in TEMPORARY
                continue
            document = self._document(doc_id)
            document.answers[digest] = document.fresh[digest] = answer_of(found, ask.query)
        return failed

    def _result(self, key: Key, failed: Mapping[Key, str]) -> stored.Answer | str:
        return failed.get(key) or self._document(key[0]).answers[key[1]]

    def _show_progress(self, traces: int, citations: int) -> None:
        if self.on_progress is not None:
            self.on_progress(Progress(self.run_id, traces, self.run_file.rows, citations))

    def _stamps(self) -> dict[str, str]:
        listed = ((doc_id, each) for doc_id, each in self.documents.items() if self.manifest.document(doc_id))
        return {doc_id: each.file.stamp for doc_id, each in listed}

    def _document(self, doc_id: str) -> _Document:
        if doc_id not in self.documents:
            document = self.documents[doc_id] = _Document(cited_document(self.manifest, doc_id))
            file = document.file
            if file.problem is not None:
                self.problems[doc_id] = file.problem
            if file.fingerprint is not None:
                document.answers = stored.known_answers(
                    self.cache_dir, file.fingerprint, is_text=file.is_text
                )
        return self.documents[doc_id]


def _is_same(path: Path, earlier: Fingerprint) -> bool:
    try:
        return change_since(path, earlier) == "same"
    except OSError:
        return False
