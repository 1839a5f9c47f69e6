"""One range of a trace file → one segment. Runs in the indexing process or in its workers alike."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from multiprocessing import get_context
from pathlib import Path

from core.contracts.records import LineIssue
from core.errors import StoreFault
from core.store.columns import Row, index_row, issue_table, row_table
from core.store.gold import NO_GOLD_FILE, GoldInput, read_targets
from core.store.labelling import Labeller, make_labeller
from core.store.runfile import Segment, issues_name
from core.store.segments import Range, write_table
from core.traces.traces import iter_traces
from core.triage.suggest import add_facts
from core.triage.types import Profile


@dataclass(frozen=True, slots=True)
class Source:
    """What every range of a run has in common; goes to the workers once."""

    path: Path
    file: str
    run_id: str
    folder: Path
    prefix: str
    profile: Profile
    chunks: Path | None
    chunks_file: str
    gold: GoldInput = NO_GOLD_FILE
    final: bool = False

    def labeller(self) -> Labeller:
        """Reads the chunk file and the gold file."""
        return make_labeller(self.profile, self.chunks, self.chunks_file, gold=read_targets(self.gold))


def index_range(source: Source, labeller: Labeller, cut: Range) -> Segment:
    """Reads, labels and writes the lines of one range."""
    rows, issues, facts = _read_range(source, labeller, cut)
    name = f"{source.prefix}-{cut.start:014d}-{cut.end:014d}.parquet"
    write_table(source.folder, name, row_table(rows))
    if issues:
        write_table(source.folder, issues_name(name), issue_table(issues))
    return Segment(name, cut.start, cut.end, cut.line, cut.lines, len(rows), len(issues), facts)


def _read_range(
    source: Source, labeller: Labeller, cut: Range
) -> tuple[list[Row], list[LineIssue], dict[str, int]]:
    """The rows of a range, its line issues, and the facts that suggest a profile."""
    rows: list[Row] = []
    issues: list[LineIssue] = []
    facts: dict[str, int] = {}
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
        rows.append(index_row(item, verdict, labeller.places, labeller.gold_ranks(item)))
        if verdict is not None and "following" not in facts:  # one that follows the template settles it
            add_facts(facts, item, verdict, labeller.profile)
    return rows, issues, facts


@contextmanager
def collector_paused() -> Iterator[None]:
    """No search for reference cycles meanwhile: records hold none, and looking for some costs a quarter."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def index_ranges(
    source: Source, labeller: Labeller | None, cuts: Iterator[Range], *, workers: int
) -> Iterator[Segment]:
    """The segments of all ranges, as they are finished; with several workers in any order."""
    if workers <= 1:
        own = labeller or source.labeller()
        yield from (index_range(source, own, cut) for cut in cuts)
        return
    pool = ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=_start_worker, initargs=(source,)
    )
    try:
        with pool:
            yield from _as_finished(pool, cuts, ahead=2 * workers)
    except BrokenProcessPool as error:
        raise StoreFault.of(
            "worker_died",
            "a process that read the traces was ended, most likely for want of memory",
            where=source.file,
            remedy="run `proofspan index` with --workers 1",
        ) from error


def _as_finished(pool: ProcessPoolExecutor, cuts: Iterator[Range], *, ahead: int) -> Iterator[Segment]:
    """Keeps a few ranges waiting for the workers, so that cutting a large file goes on beside reading it."""
    pending: set[Future[Segment]] = set()
    for cut in cuts:
        pending.add(pool.submit(_index_in_worker, cut))
        if len(pending) >= ahead:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    done, _ = wait(pending)
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
    global _worker  # the only way to hand a process its chunks once
    _worker = [(source, source.labeller())]
    gc.disable()  # as in `collector_paused`
    spare_pandas()


def _index_in_worker(cut: Range) -> Segment:
    ((source, labeller),) = _worker
    return index_range(source, labeller, cut)
