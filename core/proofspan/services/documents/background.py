"""Background tasks: work that a page does not wait for, run in threads and cached by its key.

A document may take ten seconds before it is given up. A page requests it here, waits a moment, and shows the
rest meanwhile. What will probably be requested next is prefetched while nothing is requested.

A `ThreadPoolExecutor` does not serve: it runs the oldest task first, while a reader who moved on waits for
the newest, and it keeps the program from ending until a document that hangs is given up.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from proofspan.errors import EvidenceFault, Fault
from proofspan.recent import Recent

T = TypeVar("T")

#: Requested tasks in the queue; beyond that the oldest is dropped, since nobody waits for it any more.
MAX_QUEUED = 64


@dataclass(frozen=True, slots=True)
class Done(Generic[T]):
    """A finished task and what it returned."""

    value: T


@dataclass(frozen=True, slots=True)
class Failed:
    """A task that raised a fault. It is cached like a result."""

    fault: Fault


@dataclass(frozen=True, slots=True)
class Waiting:
    """A task that is not finished."""


class _Task:
    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make
        self.outcome: Done[Any] | Failed | None = None
        self.finished = threading.Event()


class BackgroundTasks:
    """Up to `threads` threads that run tasks by key, the newest request first. Thread-safe.

    One thread at most prefetches, out of the newest `prefetched` tasks. The last `cached` outcomes are kept:
    a key names everything that its task depends on, such as the fingerprint of a file. The threads are
    daemons and end when there is nothing to do.
    """

    def __init__(self, *, threads: int = 3, cached: int = 64, prefetched: int = 8) -> None:
        self._lock = threading.Lock()
        self._outcomes: Recent[Done[Any] | Failed] = Recent(cached)
        self._tasks: dict[Hashable, _Task] = {}
        self._queue: dict[Hashable, _Task] = {}  # both queues: newest last
        self._prefetch: dict[Hashable, _Task] = {}
        self._max_threads, self._max_prefetched = threads, prefetched
        self._threads = 0
        self._is_prefetching = False
        #: By the name of who waits: the tasks that are not done, and what is called when all are.
        self._waiting: dict[Hashable, tuple[set[Hashable], Callable[[], object]]] = {}

    def get(
        self, key: Hashable, make: Callable[[], T], wait_s: float, *, once: bool = False
    ) -> Done[T] | Failed | Waiting:
        """Return the outcome of `make`, or `Waiting` if it takes longer than `wait_s` seconds.

        `make` runs in another thread, once, however often it is requested meanwhile. `once` removes the
        outcome from the cache: for work that has a cache of its own, or a key that does not name all that it
        depends on.
        """
        calls: list[Callable[[], object]] = []
        with self._lock:
            outcome, task = self._outcomes.get(key), None
            if outcome is None:  # its task moves to the front of the queue unless it is running
                task = self._tasks.get(key)
                queued = self._queue.pop(key, None) or self._prefetch.pop(key, None)
                if task is None or queued is not None:
                    task = task or _Task(make)
                    calls = self._enqueue(self._queue, MAX_QUEUED, key, task)
        for call in calls:
            call()
        if task is not None:
            task.finished.wait(wait_s)
            outcome = task.outcome
        if outcome is not None and once:
            self._outcomes.forget(key)
        return outcome or Waiting()

    def prefetch(self, key: Hashable, make: Callable[[], object]) -> None:
        """Run `make` while nothing is requested, the newest first; the oldest of too many is dropped."""
        calls: list[Callable[[], object]] = []
        with self._lock:
            if key not in self._tasks and self._outcomes.get(key) is None:
                calls = self._enqueue(self._prefetch, self._max_prefetched, key, _Task(make))
        for call in calls:
            call()

    def outcome(self, key: Hashable) -> Done[Any] | Failed | None:
        """Return the outcome of a task that is finished; None where it is not, or was never requested."""
        with self._lock:
            return self._outcomes.get(key)

    def is_done(self, key: Hashable) -> bool:
        """Whether there is nothing to wait for: the task is finished, dropped or was never requested."""
        with self._lock:
            return key not in self._tasks

    def when_done(self, name: Hashable, keys: Collection[Hashable], call: Callable[[], object]) -> None:
        """Have `call` called once, in any thread, when there is nothing to wait for of all `keys`.

        It takes the place of what waits under the same `name`.
        """
        with self._lock:
            left = {key for key in keys if key in self._tasks}
            self._waiting.pop(name, None)
            if left:
                self._waiting[name] = left, call
        if not left:
            call()

    def has(self, key: Hashable) -> bool:
        """Whether the outcome of a task is cached, or the task is queued or running."""
        with self._lock:
            return key in self._tasks or self._outcomes.get(key) is not None

    def forget(self) -> None:
        """Clear the cached outcomes. Running tasks are not stopped."""
        self._outcomes.clear()

    def _enqueue(
        self, queue: dict[Hashable, _Task], limit: int, key: Hashable, task: _Task
    ) -> list[Callable[[], object]]:
        """Add a task to a queue; return what is called now that there is no room for another."""
        calls: list[Callable[[], object]] = []
        queue[key] = self._tasks[key] = task
        if len(queue) > limit:
            oldest = next(iter(queue))
            del queue[oldest], self._tasks[oldest]
            calls = self._ended(oldest)  # who still waits for it asks again
        if self._threads < self._max_threads:
            self._threads += 1
            threading.Thread(target=self._work, name="background", daemon=True).start()
        return calls

    def _work(self) -> None:
        while True:
            with self._lock:
                is_prefetch = not self._queue
                if is_prefetch and (self._is_prefetching or not self._prefetch):
                    self._threads -= 1
                    return
                self._is_prefetching |= is_prefetch
                key, task = (self._prefetch if is_prefetch else self._queue).popitem()
            try:
                outcome: Done[Any] | Failed = Done(task.make())
            except Fault as fault:
                outcome = Failed(fault)
            except Exception:
                logging.getLogger(__name__).exception("a background task failed")
                message = "the work ended with an unexpected error"
                fix = "try again; the dashboard's own output has the error"
                fault_of_ours = EvidenceFault.of("broken_off", message, where="the dashboard", fix=fix)
                outcome = Failed(fault_of_ours)
            with self._lock:
                task.outcome = outcome
                self._outcomes.put(key, outcome)
                del self._tasks[key]
                self._is_prefetching &= not is_prefetch
                calls = self._ended(key)
            task.finished.set()
            for call in calls:
                call()

    def _ended(self, key: Hashable) -> list[Callable[[], object]]:
        """Return what is called now that a task is done or dropped."""
        for left, _ in self._waiting.values():
            left.discard(key)
        done = [name for name, (left, _) in self._waiting.items() if not left]
        return [self._waiting.pop(name)[1] for name in done]
