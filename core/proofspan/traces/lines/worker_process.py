"""Settings of processes that read records by the million: their end, interrupts, garbage collection."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import parent_process


def end_with_parent() -> None:
    """End this process with its parent; after a killed parent it would wait for work for ever."""

    def wait() -> None:
        if parent := parent_process():
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Defer Ctrl-C to the end of the block, also in processes that this thread starts in it.

    A process that is still importing would otherwise end with a traceback.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the search for reference cycles: records have none, and it costs a quarter of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
