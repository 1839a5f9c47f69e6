"""Run `proofspan index` in a process of its own, with its progress, so that no page waits for it."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, get_args

import orjson

from proofspan.diagnosis.types import Profile
from proofspan.services.workspace.changes import Changes
from proofspan.store.files.types import Progress

#: What `proofspan index` does, in its order: reads a run, checks its claims, locates its citations.
Event = Literal["progress", "checking", "locating"]
EVENTS: tuple[Event, ...] = get_args(Event)
#: Seconds in which small runs are done; their page then needs no progress bar.
SHORT_SECONDS = 1.5
#: Seconds between two starts of the same job: an index that is never up to date must not keep a core busy.
REST_SECONDS = 5.0
#: How much of the end of a failed process's output is kept for its message.
LAST_LINES = 20
MAX_LINE = 1_000


def index_command(
    folder: Path, *, runs: Sequence[str], profile: Profile | None, cache_dir: Path, locate: bool = False
) -> list[str]:
    """Return the command that brings the index of `runs` (none: all) up to date, with JSON progress lines.

    With `locate` it then checks their claims and locates their citations, on one core only: pages are in use
    meanwhile.
    """
    command = [sys.executable, "-P", "-m", "proofspan.cli", "index", str(folder), "--progress-json"]
    command += ["--cache-dir", str(cache_dir)]
    command += ["--claims", "--locate", "--workers", "1"] if locate else ["--no-claims", "--no-locate"]
    for run_id in runs:
        command += ["--run", run_id]
    if profile is not None:
        command += ["--template", profile.template]
        for phrase in profile.refusal:
            command += ["--refusal", phrase]
    return command


class IndexJob:
    """A process that runs the command. Reading its state never blocks; it goes on when the page is left.

    `progress` and `milestones` count its changes as those of `IndexJobs` do.
    """

    def __init__(
        self, command: Sequence[str], *, progress: Changes | None = None, milestones: Changes | None = None
    ) -> None:
        self.progress: Progress | None = None
        #: What the last progress is of.
        self.event: Event = "progress"
        self.ended: float | None = None
        self._progress, self._milestones = progress or Changes(), milestones or Changes()
        self._output: deque[str] = deque(maxlen=LAST_LINES)
        self._process = subprocess.Popen(
            list(command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        self._reader = threading.Thread(target=self._follow, daemon=True)
        self._reader.start()

    @property
    def is_running(self) -> bool:
        """Return whether the process is still running."""
        return self._process.poll() is None

    @property
    def failure(self) -> str | None:
        """Return the output of a process that failed; None while it runs and after success."""
        if self._process.poll() in (None, 0, 1):  # 1: done, with findings
            return None
        self._reader.join(timeout=1)
        output = "\n".join(self._output)
        return output or f"The process ended with status {self._process.returncode} and no output."

    def is_past(self, event: Event) -> bool:
        """Return whether the process has gone on to something after the event."""
        return EVENTS.index(self.event) > EVENTS.index(event)

    def wait(self, seconds: float) -> None:
        """Wait until the process has ended and its output is read, at most `seconds`."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=seconds)
            self._reader.join(timeout=1)

    def _follow(self) -> None:
        for line in self._process.stdout or ():
            try:
                step = orjson.loads(line)
                progress = Progress(step["run_id"], step["done"], step["total"], step["rows"])
                if step["event"] in EVENTS:
                    self._go_on(progress, step["event"])
            except (orjson.JSONDecodeError, KeyError, TypeError):
                self._output.append(line.decode("utf-8", "replace").rstrip()[:MAX_LINE])
        self._process.wait()  # who is called now finds it ended
        self.ended = time.monotonic()
        self._milestones.note()
        self._progress.note()

    def _go_on(self, progress: Progress, event: Event) -> None:
        before, at = self.progress, self.event
        self.progress, self.event = progress, event
        if before is None or (before.run_id, at) != (progress.run_id, event):
            self._milestones.note()
        self._progress.note()


class IndexJobs:
    """The index processes of all visits: two windows never start the same one twice."""

    def __init__(self) -> None:
        self._jobs: dict[Hashable, IndexJob] = {}
        self._known: set[Hashable] = set()
        self._lock = threading.Lock()
        #: Every step of any job; and only that one begins with a run, goes on to something else or ends.
        self.progress, self.milestones = Changes(), Changes()

    def ensure(self, key: Hashable, command: Callable[[], Sequence[str]]) -> IndexJob | None:
        """Return the job of `key`, started if need be; None when it has just succeeded.

        A failed job is returned for its message until `forget`. One that succeeded is started again when it
        is asked for later, as its files have then changed again.
        """
        with self._lock:
            job = self._jobs.get(key)
            is_over = job is None or not (job.is_running or job.failure)
            if job is None or (is_over and job.ended and time.monotonic() - job.ended > REST_SECONDS):
                job = self._jobs[key] = self._started(command())
        return job if job.is_running or job.failure else None

    def once(self, key: Hashable, command: Callable[[], Sequence[str] | None]) -> None:
        """Start the command (None: nothing) the first time that `key` is used."""
        with self._lock:
            if key in self._known:
                return
            self._known.add(key)
            arguments = command()
            if arguments is not None:
                self._jobs[key] = self._started(arguments)

    def is_running(self, key: Hashable) -> bool:
        """Return whether the job of `key` is running."""
        with self._lock:
            job = self._jobs.get(key)
        return job is not None and job.is_running

    def _started(self, command: Sequence[str]) -> IndexJob:
        return IndexJob(command, progress=self.progress, milestones=self.milestones)

    def forget(self) -> None:
        """Let every job that has ended be started again."""
        with self._lock:
            self._jobs = {key: job for key, job in self._jobs.items() if job.is_running}
