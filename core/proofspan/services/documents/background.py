"""Work that a page does not wait for: done in the background, remembered, and asked for again by its key.

A document may take ten seconds before it is given up. Whoever shows it asks here, waits a moment, and shows
the rest meanwhile. What will probably be asked for next is done ahead, whenever nobody waits for anything.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from proofspan.errors import EvidenceFault, Fault
from proofspan.services.documents.document_cache import Recent

T = TypeVar("T")

#: Seconds after which a thread without work ends.
IDLE_S = 5.0
#: Work that somebody asked for and has left is dropped when so much of it has piled up.
MOST_WANTED = 64


@dataclass(frozen=True, slots=True)
class Done(Generic[T]):
    """What the work gave."""

    value: T


@dataclass(frozen=True, slots=True)
class Failed:
    """The work's fault: the same each time, until it is forgotten."""

    fault: Fault


@dataclass(frozen=True, slots=True)
class Waiting:
    """Not done yet, so many `seconds` after it was asked for first."""

    seconds: float


class Desk:
    """A few threads that do keyed work, what was asked for last first. Safe to share between threads.

    Of `hands` threads one at most works ahead. The last `remembered` outcomes are kept, whatever they are: a
    key names everything that its work depends on, such as the state of a file. Threads start with the first
    work and end when there is none.
    """

    def __init__(self, *, hands: int = 3, remembered: int = 64, ahead: int = 8) -> None:
        self._hands = hands
        self._changed = threading.Condition()
        self._outcomes: Recent[Done[Any] | Failed] = Recent(remembered)
        self._tasks: dict[Hashable, _Task] = {}
        self._wanted: deque[_Task] = deque()
        self._ahead: deque[_Task] = deque()
        self._most_ahead = ahead
        self._threads = self._idle = 0
        self._is_ahead_busy = False

    def get(
        self, key: Hashable, make: Callable[[], T], wait_s: float, *, once: bool = False
    ) -> Done[T] | Failed | Waiting:
        """What `make` gives or gave, or that it is at work after `wait_s` seconds.

        `make` runs in another thread, once, however often it is asked for meanwhile. `once` takes the outcome
        away: it is for work that has a memory of its own, under a key that does not tell it from older work.
        """
        with self._changed:
            known = self._outcomes.get(key)
            task = None
            if known is None:
                task = self._tasks.get(key) or _Task(key, make)
                self._want(task)
        if task is not None:
            task.finished.wait(wait_s)
            known = task.outcome
        if known is None:
            return Waiting(time.monotonic() - task.since if task is not None else 0.0)
        if once:
            self._outcomes.forget(key)
        return known

    def ahead(self, key: Hashable, make: Callable[[], object]) -> None:
        """Do this when there is nothing else to do, the newest first; of too many the oldest is left out."""
        with self._changed:
            if self.has(key):
                return
            task = self._tasks[key] = _Task(key, make)
            self._ahead.append(task)
            _drop(self._ahead, self._most_ahead, self._tasks)
            self._call()

    def is_done(self, key: Hashable) -> bool:
        """Whether there is nothing to wait for: an outcome, or nobody at work on one."""
        with self._changed:
            return key not in self._tasks

    def has(self, key: Hashable) -> bool:
        """Whether this is done, or will be."""
        with self._changed:
            return key in self._tasks or self._outcomes.get(key) is not None

    def forget(self) -> None:
        """Do everything anew that is asked for from now on. What is at work is not stopped."""
        with self._changed:
            self._outcomes.clear()

    def _want(self, task: _Task) -> None:
        """Put work in front of all that nobody has begun yet."""
        is_new = task.key not in self._tasks
        for queue in (self._wanted, self._ahead):
            if task in queue:
                queue.remove(task)
                is_new = True
        if is_new:
            self._tasks[task.key] = task
            self._wanted.append(task)
            _drop(self._wanted, MOST_WANTED, self._tasks)
            self._call()

    def _call(self) -> None:
        """See to it that somebody takes up new work, also where another has just been called."""
        self._changed.notify()
        if self._idle < len(self._wanted) + len(self._ahead) and self._threads < self._hands:
            self._threads += 1
            threading.Thread(target=self._work, name="desk", daemon=True).start()

    def _work(self) -> None:
        """One thread's day."""
        while (task := self._next()) is not None:
            try:
                task.do()
            finally:
                self._put_away(task)

    def _next(self) -> _Task | None:
        """The most urgent work, waited for a while; None sends the thread home."""
        with self._changed:
            self._idle += 1
            self._changed.wait_for(self._has_work, IDLE_S)
            self._idle -= 1
            if self._wanted:
                return self._wanted.pop()
            if not self._has_work():
                self._threads -= 1
                return None
            self._is_ahead_busy = True
            task = self._ahead.pop()
            task.is_ahead = True
            return task

    def _has_work(self) -> bool:
        return bool(self._wanted or (self._ahead and not self._is_ahead_busy))

    def _put_away(self, task: _Task) -> None:
        """Remember the outcome. Work that broke off takes its thread with it, and says so."""
        with self._changed:
            if task.outcome is None:
                self._threads -= 1
                task.outcome = _broken_off()
            self._outcomes.put(task.key, task.outcome)
            del self._tasks[task.key]
            if task.is_ahead:
                self._is_ahead_busy = False
                self._changed.notify()
        task.finished.set()


class _Task:
    """Work to be done and, once it is, its outcome."""

    def __init__(self, key: Hashable, make: Callable[[], Any]) -> None:
        self.key = key
        self.outcome: Done[Any] | Failed | None = None
        self.finished = threading.Event()
        self.since = time.monotonic()
        self.is_ahead = False
        self._make = make

    def do(self) -> None:
        """Make it. Whatever is no `Fault` is a mistake of ours, and goes on to the thread."""
        try:
            self.outcome = Done(self._make())
        except Fault as fault:
            self.outcome = Failed(fault)


def _drop(queue: deque[_Task], most: int, tasks: dict[Hashable, _Task]) -> None:
    """Leave the oldest work out where there is too much; whoever still wants it asks again."""
    while len(queue) > most:
        oldest = queue.popleft()
        del tasks[oldest.key]


def _broken_off() -> Failed:
    fault = EvidenceFault.of(
        "broken_off",
        "the work broke off unexpectedly",
        where="the dashboard",
        fix="try again; the dashboard's own output says what happened",
    )
    return Failed(fault)
