"""A cache in memory that forgets what was not used for longest."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class Recent(Generic[V]):
    """A least-recently-used cache of values whose total weight is at most `limit`. Thread-safe.

    Every value weighs 1 unless `weigh` is given, so that `limit` is their number.
    """

    def __init__(self, limit: int, *, weigh: Callable[[V], int] = lambda value: 1) -> None:
        self._limit = limit
        self._weigh = weigh
        self._weight = 0
        self._values: OrderedDict[Hashable, V] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> V | None:
        """Return the value of `key`, None if it is not cached."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: Hashable, value: V) -> None:
        """Cache `value`; the least recently used ones make room."""
        with self._lock:
            self._drop(key)
            self._values[key] = value
            self._weight += self._weigh(value)
            while self._weight > self._limit:
                self._drop(next(iter(self._values)))

    def forget(self, key: Hashable) -> None:
        """Remove the value of `key`."""
        with self._lock:
            self._drop(key)

    def clear(self) -> None:
        """Remove all values."""
        with self._lock:
            self._values.clear()
            self._weight = 0

    def get_or_make(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return the value of `key`, made first if it is not cached. Two threads may both make it."""
        value = self.get(key)
        if value is None:
            value = make()
            self.put(key, value)
        return value

    def _drop(self, key: Hashable) -> None:
        if (value := self._values.pop(key, None)) is not None:
            self._weight -= self._weigh(value)
