"""One PDF worker as a process of its own, and the socket to it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections import OrderedDict
from pathlib import Path
from typing import Any

from proofspan.contracts.records import Json
from proofspan.evidence.framing import NotSendableError, receive_frame, send_frame

WORKER_MODULE = "proofspan.evidence.worker"
#: The folder that holds the `proofspan` package: a worker finds the same code wherever it is started.
CODE_FOLDER = str(Path(__file__).resolve().parents[2])
START_TIMEOUT_S = 60.0
KILL_TIMEOUT_S = 5.0
REMEMBERED_DOCUMENTS = 32


class Worker:
    """One worker process and the socket to it. Used by one thread at a time."""

    def __init__(self, memory_bytes: int) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", WORKER_MODULE, str(theirs.fileno()), str(memory_bytes)],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the client, which then closes the socket
                env={**os.environ, "PYTHONPATH": _python_path()},
            )
        self.connection = ours
        self.served = 0
        self.is_warm = False
        self._owed = 0
        self._retires = False
        self.documents: OrderedDict[str, None] = OrderedDict()

    def warm_up(self) -> None:
        """Wait until the worker has loaded its libraries. Raises as `receive_frame` does."""
        if not self.is_warm:
            receive_frame(self.connection, deadline=time.monotonic() + START_TIMEOUT_S)
            self.is_warm = True

    def send(self, header: dict[str, Json], limit_s: float, *, answers: int = 1) -> None:
        """Send one request that has so many `answers`; `limit_s` is the time for each of them."""
        deadline = time.monotonic() + limit_s
        self._owed = answers
        try:
            send_frame(self.connection, {**header, "limit_s": limit_s}, deadline=deadline)
        except NotSendableError:
            self._owed = 0  # it was not told of it
            raise
        self.served += 1
        self._remember(str(header["path"]))

    def receive(self, limit_s: float) -> tuple[dict[str, Any], bytes]:
        """Wait for the next answer, at most `limit_s` seconds. None comes after a fault or a retirement."""
        header, body = receive_frame(self.connection, deadline=time.monotonic() + limit_s)
        self._retires = self._retires or header["retire"]
        self._owed = 0 if "fault" in header or self._retires else self._owed - 1
        return header, body

    @property
    def has_answered(self) -> bool:
        """Whether no answer is outstanding."""
        return self._owed == 0

    @property
    def is_fit(self) -> bool:
        """Whether the next request may go to it: it has answered, and does not ask to be replaced."""
        return self.has_answered and not self._retires

    def _remember(self, path: str) -> None:
        self.documents[path] = None
        self.documents.move_to_end(path)
        while len(self.documents) > REMEMBERED_DOCUMENTS:
            self.documents.popitem(last=False)

    @property
    def is_alive(self) -> bool:
        """Whether the process still runs."""
        return self.process.poll() is None

    def end(self) -> None:
        """Kill the process and reap it."""
        self.connection.close()
        self.process.kill()
        try:
            self.process.wait(KILL_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return  # killed, and stuck in the kernel: nothing more can be done here


def _python_path() -> str:
    inherited = os.environ.get("PYTHONPATH")
    return os.pathsep.join((CODE_FOLDER, inherited)) if inherited else CODE_FOLDER
