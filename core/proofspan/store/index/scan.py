"""Index the ranges of a source: each becomes a segment, in this process or in workers."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from importlib.abc import MetaPathFinder
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from proofspan.contracts.records.records import LABELS, LineIssue, SourceLine
from proofspan.diagnosis.types import ReportRow, Signals
from proofspan.errors import InputFault, StoreFault
from proofspan.store.files.columns import Row, index_row, issue_table, row_table
from proofspan.store.files.marks import write_marks
from proofspan.store.files.run_file import Segment, issues_name, scores_name
from proofspan.store.files.scores import write_scores
from proofspan.store.files.segment_files import write_segment, write_table
from proofspan.store.index.kernel import Kernel, joined, line_batches
from proofspan.store.index.labelling import Inputs, Labeller, labeller_for
from proofspan.store.index.plan import Range
from proofspan.traces.lines.sniff import foreign_file
from proofspan.traces.lines.worker_process import end_with_parent
from proofspan.traces.records.citations import cited_record
from proofspan.traces.records.stored_reports import read_report, remembered

T = TypeVar("T")
V = TypeVar("V")
G = TypeVar("G")


@dataclass(frozen=True, slots=True)
class Source:
    """The file of a run and how it is read; sent to each worker once."""

    path: Path
    file: str
    run_id: str
    folder: Path
    prefix: str
    inputs: Inputs
    final: bool = False


#: The rows of a range, its line issues, the facts that suggest a profile, and its scores.
_Read = tuple[pa.Table, list[LineIssue], dict[str, int], pa.Table | None]


def _write(source: Source, cut: Range, read: _Read) -> Segment:
    table, issues, facts, scores = read
    name = f"{source.prefix}-{cut.start:014d}-{cut.end:014d}.parquet"
    write_segment(source.folder, name, table)
    write_marks(source.folder, name, table)
    if issues:
        write_table(source.folder, issues_name(name), issue_table(issues))
    if scores is not None:
        write_scores(source.folder, scores_name(name), scores)
    ends, scored = (cut.start, cut.end, cut.line, cut.lines), 0 if scores is None else scores.num_rows
    return Segment(name, *ends, table.num_rows, len(issues), facts, scored)


def index_report(source: Source) -> Segment:
    """Write the only segment of a run that has a report and no traces: its rows are the report's.

    A file that is no report gives a segment with one line issue.
    """
    issues: list[LineIssue]
    try:
        stored, issues = read_report(source.path, file=source.file)
    except InputFault as fault:
        problem, line = fault.problems[0], SourceLine(source.file, 1, 0, 0)
        stored, issues = [], [LineIssue.at(line, problem.code, problem.message, problem.fix)]
    rows: list[Row] = []
    for row in stored:
        trace, verdict, ids = remembered(row, source.run_id), None, row.citations_in_answer
        if row.label in LABELS:  # any other counts as no label
            signals = Signals(cited=len(ids), cited_retrieved=sum(each in row.chunks for each in ids))
            verdict = ReportRow(row.q, row.label, row.why, row.chunks, ids, signals)
        cited = cited_record(replace(trace, payload=[{"chunk_id": chunk_id} for chunk_id in ids]))
        rows.append(index_row(trace, verdict, {}) | {"citations": cited, "llm_summary": row.llm_summary})
    cut = Range(0, source.path.stat().st_size, 1, len(stored))
    return _write(source, cut, (row_table(rows), issues, {}, None))


def _read_range(source: Source, labeller: Labeller, cut: Range) -> _Read:
    facts: dict[str, int] = {}
    if cut.start == 0 and (foreign := foreign_file(source.path, file=source.file)):
        return row_table(()), [foreign], facts, None
    kernel = Kernel(source.file, source.run_id, labeller, labeller.context(source.inputs))
    lines = line_batches(source.path, offset=cut.start, line=cut.line, end=cut.end, final=source.final)
    table, issues, scores = joined([kernel(batch, facts) for batch in lines])
    return table, issues, facts, scores


def index_ranges(
    source: Source, labeller: Callable[[], Labeller], cuts: Iterator[Range], *, workers: int
) -> Iterator[Segment]:
    """Yield the segments of all ranges as they are finished; with several workers in any order.

    `labeller` returns this process's labeller. Workers make their own, and meanwhile it is called here too:
    the caller needs the problems of its files.
    """
    if workers <= 1:
        yield from _index_here(source, labeller(), cuts)
        return
    yield from spread(
        _index_in_worker,
        cuts,
        workers=workers,
        start=_start_worker,
        given=source,
        meanwhile=labeller,
        file=source.file,
    )


def spread(
    work: Callable[[T], V],
    items: Iterator[T],
    *,
    workers: int,
    start: Callable[[G], None],
    given: G,
    file: str,
    meanwhile: Callable[[], object] = lambda: None,
) -> Iterator[V]:
    """Yield the results of `work` for all items as they are finished, computed in processes of their own.

    Each process begins with `start(given)`; `meanwhile` is called here when they have their first items.
    StoreFault where a process is ended by the system; `file` is what they read.
    """
    pool = ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=_start_process, initargs=(start, given)
    )
    try:
        pending = {pool.submit(work, item) for item in islice(items, 2 * workers)}
        meanwhile()
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            pending |= {pool.submit(work, item) for item in islice(items, len(done))}
            yield from (future.result() for future in done)
    except BrokenProcessPool as error:
        raise StoreFault.of(
            "worker_died",
            "a process that read the traces was ended, most likely because memory ran out",
            where=file,
            fix="run `proofspan index` with --workers 1",
        ) from error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # its processes take a while to free their chunks


def _start_process(start: Callable[[G], None], given: G) -> None:
    end_with_parent()
    start(given)
    gc.disable()  # as in `collector_paused`
    spare_pandas()


def _index_here(source: Source, labeller: Labeller, cuts: Iterator[Range]) -> Iterator[Segment]:
    """Index one range after the other; while the next is read, a thread writes the last one."""
    with ThreadPoolExecutor(1) as writer:
        writing: Future[Segment] | None = None
        for cut in cuts:
            read = _read_range(source, labeller, cut)
            if writing:
                yield writing.result()
            writing = writer.submit(_write, source, cut, read)
        if writing:
            yield writing.result()


class _NoPandas(MetaPathFinder):
    """Makes `import pandas` fail as it does where pandas is not installed."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError("this process does without pandas", name=fullname)


def spare_pandas() -> None:
    """Keep pyarrow from importing pandas with its first array, which takes most of a second.

    Only for a process of our own that builds the index, or bundles from it, and does nothing else.
    """
    sys.meta_path.insert(0, _NoPandas())


#: The source and labeller of a worker process.
_worker: tuple[Source, Labeller] | None = None


def _start_worker(source: Source) -> None:
    global _worker  # the only way to give a process its chunks once
    _worker = source, labeller_for(source.inputs)[0]


def _index_in_worker(cut: Range) -> Segment:
    assert _worker is not None  # noqa: S101 - set by the pool's initializer
    source, labeller = _worker
    return _write(source, cut, _read_range(source, labeller, cut))
