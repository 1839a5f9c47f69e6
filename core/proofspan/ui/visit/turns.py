"""Runs of page scripts take turns: a few at once, the others in the order in which they were asked for.

A session has one run at a time, so nobody takes two places. Without turns all runs share one interpreter, and
each that begins makes all the others slower.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Final, ParamSpec

import streamlit as st

P = ParamSpec("P")

#: Runs at once: some of them wait for a document or a file. More of them would only share one interpreter.
AT_ONCE: Final = min(2 * (os.cpu_count() or 1), 8)
#: Seconds after which a visitor reads how many are before them, and between two such notes.
FIRST_NOTE_S, NOTE_S = 1.0, 4.0


class Turns:
    """Lets `at_once` threads work at the same time, the first that came first. Thread-safe."""

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._waiting: deque[object] = deque()
        self._changed = threading.Condition()

    @contextmanager
    def turn(self, note: Callable[[int], object]) -> Iterator[None]:
        """Wait for a turn and take it for the block. `note` is called with how many are before this thread.

        It is called after `FIRST_NOTE_S`, then every `NOTE_S`. What it raises ends the wait.
        """
        place = object()
        with self._changed:
            self._waiting.append(place)
        try:
            wait = FIRST_NOTE_S
            while (before := self._before(place, wait)) is not None:
                note(before)
                wait = NOTE_S
        except BaseException:
            with self._changed:
                self._waiting.remove(place)
                self._changed.notify_all()
            raise
        try:
            yield
        finally:
            with self._changed:
                self._free += 1
                self._changed.notify_all()

    def waiting(self) -> int:
        """Return how many threads wait."""
        with self._changed:
            return len(self._waiting)

    def _before(self, place: object, seconds: float) -> int | None:
        """Wait; return None once it is this place's turn, then taken, else how many are before it."""
        with self._changed:
            is_next = self._changed.wait_for(lambda: self._free and self._waiting[0] is place, seconds)
            if not is_next:
                return self._waiting.index(place)
            self._waiting.popleft()
            self._free -= 1
            self._changed.notify_all()
            return None


_TURNS: Final = Turns(AT_ONCE)


def in_turn(script: Callable[P, None]) -> Callable[P, None]:
    """Decorate a page script: it waits for its turn, and after a second says how many are before it."""

    @wraps(script)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        with _TURNS.turn(_note):
            script(*args, **kwargs)

    return run


def _note(before: int) -> None:
    st.toast(f"The server is busy: {before:,} before you." if before else "You are next.")
