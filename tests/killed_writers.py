"""Processes that write until they are killed, and acknowledge on a pipe what they have written."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable


def started(write_for_ever: Callable[[int], None]) -> tuple[int, int]:
    """Start a process that writes; return its id and the end of its pipe to read from."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reading)
        try:
            write_for_ever(writing)
        finally:
            os._exit(1)
    os.close(writing)
    return process, reading


def killed(process: int, reading: int) -> bytes:
    """Kill a process and return what it has acknowledged and nobody has read yet."""
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    rest = b""
    while piece := os.read(reading, 1 << 16):
        rest += piece
    os.close(reading)
    return rest
