"""Changes of work that goes on elsewhere, and who is called at the next one instead of asking for it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable


class Changes:
    """Counts changes, and calls at the next one who waits for it. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._waiting: dict[Hashable, Callable[[], object]] = {}

    @property
    def count(self) -> int:
        """Return how many changes there were; read it before what changes, then none is missed."""
        return self._count

    def note(self) -> None:
        """Count a change, and call everyone who waits, once each, in this thread."""
        with self._lock:
            self._count += 1
            calls = list(self._waiting.values())
            self._waiting.clear()
        for call in calls:
            call()

    def at_next(self, name: Hashable, seen: int, call: Callable[[], object]) -> None:
        """Have `call` called once at the next change, or now if there are more than `seen` already.

        It takes the place of what waits under the same `name`.
        """
        with self._lock:
            is_late = self._count != seen
            self._waiting.pop(name, None)
            if not is_late:
                self._waiting[name] = call
        if is_late:
            call()
