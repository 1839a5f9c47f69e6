"""What a run cites and where it has to be looked for: its records and its documents as they lie there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from proofspan.contracts.records import Chunk, Citation, Trace
from proofspan.errors import Fault, Problem, StoreFault
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Manifest, Run
from proofspan.services.cited import pointers_of
from proofspan.services.stored import with_ids
from proofspan.store.files import read_table
from proofspan.store.placed import document_stamp
from proofspan.store.plan import find_source
from proofspan.store.prints import GROWN, Print, change_since, take_print
from proofspan.store.remembered import Answer, Remembered
from proofspan.store.runfile import RunFile, Segment
from proofspan.traces.reports import read_report
from proofspan.traces.traces import iter_traces


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
            remedy=f"proofspan index {self.manifest.folder}",
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
    print: Print | None = None
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
            printed = take_print(path)
        except Fault as fault:
            self.problems[doc_id] = fault.problems[0]
            return Held(stamp)
        except OSError as error:
            said = f"the document cannot be read: {error.strerror}"
            self.problems[doc_id] = Problem("unreadable", said, document.artifact.path)
            return Held("unreadable")
        is_text = not document.paged
        return Held(stamp, path, is_text, printed, self._remembered.of(printed, is_text=is_text))


def _is_same(path: Path, earlier: Print) -> bool:
    """Whether a document is still what it was when it was first looked at."""
    try:
        return change_since(path, earlier) == "same"
    except OSError:
        return False
