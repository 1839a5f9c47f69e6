"""A large file on several processes: each judges a range of its lines; what comes of it stays in order."""

from __future__ import annotations

import gc
import os
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context
from typing import NamedTuple

from proofspan.errors import InputFault
from proofspan.services.validating_lines import Counts, Job, Judged, OnDone, judge_lines
from proofspan.store.segments import Range, cut
from proofspan.traces.reader import open_source
from proofspan.traces.workers import end_with_parent, interrupts_held

#: A range has about so many bytes: what is found in it is held at once.
RANGE_BYTES = 512 << 10
#: Starting processes takes longer than to judge a file of fewer bytes.
WORTH_IT = 16 << 20


class Found(NamedTuple):
    """What came of a range."""

    judged: list[Judged]
    counts: Counts
    end: int


def judge_file(job: Job, counts: Counts, *, workers: int, on_done: OnDone | None = None) -> Iterator[Judged]:
    """The records of a JSONL file about which there is something to say, in the order of the file.

    InputFault where the file cannot be opened, or a worker died.
    """
    with open_source(job.path) as file:
        size = os.fstat(file.fileno()).st_size
    if workers <= 1 or size < WORTH_IT or job.is_whole:
        yield from judge_lines(job, counts, on_done=on_done)
        return
    ranges = cut(job.path, start=0, line=1, end=size, target=RANGE_BYTES, final=job.is_final)
    for found in _in_order(job, ranges, workers):
        counts.add(found.counts)
        yield from found.judged
        if on_done is not None:
            on_done(found.end)


def _in_order(job: Job, ranges: Iterator[Range], workers: int) -> Iterator[Found]:
    """The outcomes in the order of the ranges; a few more ranges than there are workers are under way."""
    pool = ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=_start_worker, initargs=(job,)
    )
    try:
        with interrupts_held():
            waiting = deque(pool.submit(_judge_range, each) for each in islice(ranges, workers + 1))
        while waiting:
            found = waiting.popleft().result()
            waiting.extend(pool.submit(_judge_range, each) for each in islice(ranges, 1))
            yield found
    except BrokenProcessPool as error:
        raise InputFault.of(
            "worker_died",
            "a process that read the file was ended, most likely for want of memory",
            where=job.file,
            remedy="Run it again with --workers 1.",
        ) from error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


#: Set once in each worker process: its file.
_worker: Sequence[Job] = ()


def _start_worker(job: Job) -> None:
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, and ends its workers
    global _worker  # the only way to hand a process its corpus once
    _worker = (job,)
    gc.disable()  # as in `collector_paused`


def _judge_range(where: Range) -> Found:
    (job,) = _worker
    counts = Counts()
    return Found(list(judge_lines(job, counts, where)), counts, where.end)
