"""The traces of a run as its index has them, in the order of their file, which is not read through again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

from proofspan.contracts.records.records import Label, LineIssue, SourceLine, Trace, TraceKey
from proofspan.diagnosis.types import ReportRow
from proofspan.manifest.types import Manifest, Run
from proofspan.store.files.columns import issue_from
from proofspan.store.files.run_file import RunFile, issues_name, whole_run_file
from proofspan.store.files.segment_files import DamagedError, read_table, read_traces
from proofspan.store.index.build import discard_damaged, index_folder, not_indexed
from proofspan.traces.records.citations import cited_record
from proofspan.traces.records.traces import read_trace_at
from proofspan.traces.separate.join_cache import trace_file


class IndexedTrace(NamedTuple):
    """A trace without its candidates. Label and why are None without a verdict; `cited` is `cited_record`."""

    key: TraceKey
    source: SourceLine
    q: str
    answer: str
    label: Label | None
    why: str | None
    cited: bytes | None

    @classmethod
    def of(cls, key: TraceKey, trace: Trace, verdict: ReportRow | None) -> Self:
        """Return what the index has of a trace."""
        label, why = (verdict.label, verdict.why) if verdict else (None, None)
        return cls(key, trace.source, trace.q, trace.answer, label, why, cited_record(trace))


@dataclass(frozen=True, slots=True)
class IndexedRun:
    """The index of a run, and its uncompressed trace file at `path`.

    `issues` are the lines of its separate records that were not joined.
    """

    manifest: Manifest
    run_id: str
    path: Path
    issues: tuple[LineIssue, ...]
    folder: Path
    run_file: RunFile

    @classmethod
    def of(cls, manifest: Manifest, run: Run, cache_dir: Path) -> Self:
        """Open the index of a run. Raises InputFault without readable traces, StoreFault without an index."""
        traces = trace_file(manifest, run, cache_dir=cache_dir)
        path, folder = traces.needed_path, index_folder(manifest, run.run_id, cache_dir)
        run_file = whole_run_file(folder)
        if run_file is None:
            raise not_indexed(manifest, run.run_id)
        return cls(manifest, run.run_id, path, traces.issues, folder, run_file)

    def lines(self) -> Iterator[IndexedTrace | LineIssue]:
        """Yield traces and unreadable lines. Raises StoreFault if the index is damaged or was replaced."""
        try:
            for segment in self.run_file.segments:
                lines: list[IndexedTrace | LineIssue] = []
                columns = ("line", "offset", "length", "q", "answer", "label", "why", "citations")
                rows = read_traces(self.folder, self.run_file, segment, columns)
                for _, q_id, paraphrase, seed, repeat, line, offset, length, *values in rows:
                    key = TraceKey(self.run_id, q_id, paraphrase, seed, repeat)
                    source = SourceLine(self.run_file.file, line, offset, length)
                    lines.append(IndexedTrace(key, source, *values))
                if segment.issues:
                    records = read_table(self.folder / issues_name(segment.name)).to_pylist()
                    lines += map(issue_from, records)
                yield from sorted(lines, key=lambda each: each.source.line)
        except DamagedError as error:
            raise discard_damaged(self.manifest, self.run_id, error.folder) from error

    def read(self, trace: IndexedTrace) -> Trace:
        """Read the whole trace. Raises InputFault if its line has changed since it was indexed."""
        return read_trace_at(self.path, trace.source, run_id=self.run_id, q_id=trace.key.q_id)
