"""`proofspan index` as a process of its own, with its progress, so that a page never waits for it."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import orjson

from core.triage.types import Profile

#: The end of what a failed process said; enough for its message.
LAST_LINES = 20
MAX_LINE = 1_000


@dataclass(frozen=True, slots=True)
class JobProgress:
    """How far the process is: bytes of the run's file done and in all, traces indexed so far."""

    run_id: str
    done: int
    total: int
    rows: int

    @property
    def share(self) -> float:
        """0–1; 0 while nothing is known."""
        return min(1.0, self.done / self.total) if self.total else 0.0


def index_command(
    folder: Path, *, runs: Sequence[str], profile: Profile | None, cache_dir: Path
) -> list[str]:
    """The command that brings the index of `runs` up to date (none named: of all), one JSON line a step."""
    command = [sys.executable, "-m", "core.cli", "index", str(folder), "--progress-json"]
    command += ["--cache-dir", str(cache_dir)]
    for run_id in runs:
        command += ["--run", run_id]
    if profile is not None:
        command += ["--template", profile.template]
        for phrase in profile.refusal or ("",):  # an empty phrase says that there is none
            command += ["--refusal", phrase]
    return command


class IndexJob:
    """One run of that command. Reading its state never blocks; it goes on when the page is left."""

    def __init__(self, command: Sequence[str]) -> None:
        self.progress: JobProgress | None = None
        self._said: deque[str] = deque(maxlen=LAST_LINES)
        self._process = subprocess.Popen(
            list(command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        self._reader = threading.Thread(target=self._follow, daemon=True)
        self._reader.start()

    @property
    def is_running(self) -> bool:
        """Whether the process is still at work."""
        return self._process.poll() is None

    @property
    def failure(self) -> str | None:
        """What the process said when it could not do its work; None while it runs and when it did it."""
        if self._process.poll() in (None, 0, 1):  # 1: done, with findings
            return None
        self._reader.join(timeout=1)
        said = "\n".join(self._said)
        return said or f"The process ended with status {self._process.returncode} and said nothing."

    def wait(self, seconds: float) -> None:
        """Until the process has ended, at most `seconds`: short indexing never shows a progress bar."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=seconds)

    def _follow(self) -> None:
        """Takes progress from the process's JSON lines and keeps what it says to people."""
        if self._process.stdout is None:
            return
        for line in self._process.stdout:
            try:
                step = orjson.loads(line)
                self.progress = JobProgress(step["run_id"], step["done"], step["total"], step["rows"])
            except (orjson.JSONDecodeError, KeyError, TypeError):
                self._said.append(line.decode("utf-8", "replace").rstrip()[:MAX_LINE])
