"""One range of a trace file → one segment. Runs in the indexing process or in its workers alike."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

import pyarrow as pa

from proofspan.contracts.records.records import LineIssue
from proofspan.diagnosis.suggest import add_facts
from proofspan.errors import StoreFault
from proofspan.store.files.columns import Row, index_row, issue_table, row_table
from proofspan.store.files.run_file import Segment, issues_name
from proofspan.store.files.segment_files import write_segment, write_table
from proofspan.store.index.labelling import Inputs, Labeller, labeller_for
from proofspan.store.index.plan import Range
from proofspan.traces.lines.worker_process import end_with_parent
from proofspan.traces.records.traces import iter_traces


@dataclass(frozen=True, slots=True)
class Source:
    """What every range of a run has in common; goes to the workers once."""

    path: Path
    file: str
    run_id: str
    folder: Path
    prefix: str
    inputs: Inputs
    final: bool = False


def index_range(source: Source, labeller: Labeller, cut: Range) -> Segment:
    """Reads, labels and writes the lines of one range."""
    rows, issues, facts = _read_range(source, labeller, cut)
    return _written(source, cut, row_table(rows), issues, facts)


def _written(
    source: Source, cut: Range, table: pa.Table, issues: list[LineIssue], facts: dict[str, int]
) -> Segment:
    name = f"{source.prefix}-{cut.start:014d}-{cut.end:014d}.parquet"
    write_segment(source.folder, name, table)
    if issues:
        write_table(source.folder, issues_name(name), issue_table(issues))
    return Segment(name, cut.start, cut.end, cut.line, cut.lines, table.num_rows, len(issues), facts)


def _read_range(
    source: Source, labeller: Labeller, cut: Range
) -> tuple[list[Row], list[LineIssue], dict[str, int]]:
    """The rows of a range, its line issues, and the facts that suggest a profile."""
    rows: list[Row] = []
    issues: list[LineIssue] = []
    facts: dict[str, int] = {}
    context = labeller.context(source.inputs)
    found = iter_traces(
        source.path,
        file=source.file,
        run_id=source.run_id,
        offset=cut.start,
        line=cut.line,
        end=cut.end,
        final=source.final,
    )
    for item in found:
        if isinstance(item, LineIssue):
            issues.append(item)
            continue
        verdict = labeller.verdict(item)
        (gold, judged), omitted = labeller.outcomes(item, verdict), labeller.omitted(item, verdict)
        about = labeller.about.get(item.q_id, ())
        codes = labeller.codes(item, verdict, context)
        rows.append(index_row(item, verdict, labeller.places, gold, omitted, about, judged, codes))
        if verdict is not None and "following" not in facts:  # one that follows the template settles it
            add_facts(facts, item, verdict, labeller.profile)
    return rows, issues, facts


def index_ranges(
    source: Source, labeller: Callable[[], Labeller], cuts: Iterator[Range], *, workers: int
) -> Iterator[Segment]:
    """The segments of all ranges, as they are finished; with several workers in any order.

    `labeller` makes this process's own. Workers make theirs, and meanwhile it is made here as well: the
    caller wants to know what is wrong with its files.
    """
    if workers <= 1:
        yield from _index_here(source, labeller(), cuts)
        return
    pool = ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=_start_worker, initargs=(source,)
    )
    try:
        pending = {pool.submit(_index_in_worker, cut) for cut in islice(cuts, 2 * workers)}
        labeller()
        yield from _as_finished(pool, pending, cuts)
    except BrokenProcessPool as error:
        raise StoreFault.of(
            "worker_died",
            "a process that read the traces was ended, most likely for want of memory",
            where=source.file,
            fix="run `proofspan index` with --workers 1",
        ) from error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # its processes take a while to free their chunks


def _index_here(source: Source, labeller: Labeller, cuts: Iterator[Range]) -> Iterator[Segment]:
    """One range after the other; while the next is read, a thread writes what the last one gave."""
    with ThreadPoolExecutor(1) as writer:
        writing: Future[Segment] | None = None
        for cut in cuts:
            rows, issues, facts = _read_range(source, labeller, cut)
            table = row_table(rows)
            if writing:
                yield writing.result()
            writing = writer.submit(_written, source, cut, table, issues, facts)
        if writing:
            yield writing.result()


def _as_finished(
    pool: ProcessPoolExecutor, pending: set[Future[Segment]], cuts: Iterator[Range]
) -> Iterator[Segment]:
    """Keeps a few ranges waiting for the workers, so that cutting a large file goes on beside reading it."""
    while pending:
        done, pending = wait(pending, return_when=FIRST_COMPLETED)
        pending |= {pool.submit(_index_in_worker, cut) for cut in islice(cuts, len(done))}
        yield from (future.result() for future in done)


class _NoPandas(MetaPathFinder):
    """Makes `import pandas` fail as it does where pandas is not installed."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError("this process does without pandas", name=fullname)


def spare_pandas() -> None:
    """Lets this process do without pandas, which pyarrow imports with its first array: most of a second.

    Only for a process of our own that builds the index and does nothing else.
    """
    sys.meta_path.insert(0, _NoPandas())


#: Set once in each worker process: its source and labeller.
_worker: Sequence[tuple[Source, Labeller]] = ()


def _start_worker(source: Source) -> None:
    end_with_parent()
    global _worker  # the only way to hand a process its chunks once
    _worker = [(source, labeller_for(source.inputs)[0])]
    gc.disable()  # as in `collector_paused`
    spare_pandas()


def _index_in_worker(cut: Range) -> Segment:
    ((source, labeller),) = _worker
    return index_range(source, labeller, cut)
