"""`proofspan index` as a process of its own, with its progress, so that a page never waits for it."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import orjson

from proofspan.diagnosis.types import Profile

#: Small runs are done within this; their page then comes up whole.
SHORT_SECONDS = 1.5
#: Between two starts of the same job: an index that is never up to date must not keep a core busy.
REST_SECONDS = 5.0
#: The end of what a failed process said; enough for its message.
LAST_LINES = 20
MAX_LINE = 1_000


@dataclass(frozen=True, slots=True)
class JobProgress:
    """How far the process is with a run: bytes of its file done and in all, traces indexed so far.

    While citations are located: traces done and in all, citations so far.
    """

    run_id: str
    done: int
    total: int
    rows: int

    @property
    def share(self) -> float:
        """0–1; 0 while nothing is known."""
        return min(1.0, self.done / self.total) if self.total else 0.0


def index_command(
    folder: Path, *, runs: Sequence[str], profile: Profile | None, cache_dir: Path, locate: bool = False
) -> list[str]:
    """The command that brings the index of `runs` up to date (none named: of all), one JSON line a step.

    With `locate` it then looks for their citations, which takes longer: on one core, for somebody looks at
    pages meanwhile.
    """
    command = [sys.executable, "-P", "-m", "proofspan.cli", "index", str(folder), "--progress-json"]
    command += ["--cache-dir", str(cache_dir)]
    command += ["--locate", "--workers", "1"] if locate else ["--no-locate"]
    for run_id in runs:
        command += ["--run", run_id]
    if profile is not None:
        command += ["--template", profile.template]
        for phrase in profile.refusal:
            command += ["--refusal", phrase]
    return command


class IndexJob:
    """One run of that command. Reading its state never blocks; it goes on when the page is left."""

    def __init__(self, command: Sequence[str]) -> None:
        self.progress: JobProgress | None = None
        self._ended: float | None = None
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
    def is_outdated(self) -> bool:
        """Whether it ended well, and long enough ago that asking for it means new work."""
        rested = self._ended is not None and time.monotonic() - self._ended > REST_SECONDS
        return rested and not self.is_running and self.failure is None

    @property
    def failure(self) -> str | None:
        """What the process said when it could not do its work; None while it runs and when it did it."""
        if self._process.poll() in (None, 0, 1):  # 1: done, with findings
            return None
        self._reader.join(timeout=1)
        said = "\n".join(self._said)
        return said or f"The process ended with status {self._process.returncode} and said nothing."

    def wait(self, seconds: float) -> None:
        """Until the process has ended, at most `seconds`: short indexing never shows a progress bar.

        What it said is then taken in as well.
        """
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=seconds)
            self._reader.join(timeout=1)

    def _follow(self) -> None:
        """Takes progress from the process's JSON lines and keeps what it says to people."""
        for line in self._process.stdout or ():
            try:
                step = orjson.loads(line)
                self.progress = JobProgress(step["run_id"], step["done"], step["total"], step["rows"])
            except (orjson.JSONDecodeError, KeyError, TypeError):
                self._said.append(line.decode("utf-8", "replace").rstrip()[:MAX_LINE])
        self._ended = time.monotonic()


class IndexJobs:
    """The processes at work for all visits, so that two windows never start the same one twice."""

    def __init__(self) -> None:
        self._jobs: dict[Hashable, IndexJob] = {}
        self._known: set[Hashable] = set()
        self._lock = threading.Lock()

    def ensure(self, key: Hashable, command: Callable[[], Sequence[str]]) -> IndexJob | None:
        """The job of `key`, started when there is none; None when it has just done its work.

        A job that failed is given back as it is, for its message, until `forget`. One that ended well is
        started again when it is asked for later, since then its files have changed once more.
        """
        with self._lock:
            job = self._jobs.get(key)
            if job is None or job.is_outdated:
                job = self._jobs[key] = IndexJob(command())
        return job if job.is_running or job.failure else None

    def once(self, key: Hashable, command: Callable[[], Sequence[str] | None]) -> None:
        """Starts what `command` says (None: nothing) the first time that `key` is named."""
        with self._lock:
            if key in self._known:
                return
            self._known.add(key)
            arguments = command()
            if arguments is not None:
                self._jobs[key] = IndexJob(arguments)

    def is_running(self, key: Hashable) -> bool:
        """Whether the job of `key` is at work."""
        with self._lock:
            job = self._jobs.get(key)
        return job is not None and job.is_running

    def forget(self) -> None:
        """Every job that has ended may be started again."""
        with self._lock:
            self._jobs = {key: job for key, job in self._jobs.items() if job.is_running}
