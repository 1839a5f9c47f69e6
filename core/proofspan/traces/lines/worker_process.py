"""What a process that reads records by the million does besides its work."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import parent_process


def end_with_parent() -> None:
    """Ends this process when its parent is gone: one that was killed tells its workers nothing.

    They would wait for work for ever.
    """
    threading.Thread(target=_wait_for_end, daemon=True).start()


def _wait_for_end() -> None:
    if parent := parent_process():
        parent.join()
        os._exit(1)


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Ctrl-C waits for the end of the block; processes that are started in it do not hear it before they ask.

    Else one that is still importing would end in a traceback. For the thread that starts them.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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
