"""Page scripts take turns: in the order in which they came, and each visitor reads how many are before."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from proofspan.ui.visit import turns
from proofspan.ui.visit.turns import Turns

LONG_S = 60.0


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LONG_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_turns_are_taken_in_the_order_in_which_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "FIRST_NOTE_S", 0.01)
    shared, ended, notes = Turns(1), threading.Event(), dict[str, int]()
    began: list[str] = []

    def visit(name: str) -> None:
        with shared.turn(lambda before: notes.setdefault(name, before)):
            began.append(name)
            assert ended.wait(LONG_S)

    threads = [threading.Thread(target=visit, args=(name,)) for name in "abcd"]
    for count, thread in enumerate(threads, start=1):
        thread.start()
        eventually(lambda count=count: len(began) + shared.waiting() == count)  # type: ignore[misc]
    eventually(lambda: len(notes) == 3)
    assert (began, notes) == (["a"], {"b": 0, "c": 1, "d": 2})
    ended.set()
    for thread in threads:
        thread.join(LONG_S)
    assert began == ["a", "b", "c", "d"]


def test_who_leaves_the_queue_or_fails_takes_no_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "FIRST_NOTE_S", 0.01)
    shared = Turns(1)

    def leave(before: int) -> None:
        raise KeyboardInterrupt

    with shared.turn(leave):
        with pytest.raises(KeyboardInterrupt), shared.turn(leave):
            pytest.fail("there is no turn")
        assert shared.waiting() == 0
    with pytest.raises(ZeroDivisionError), shared.turn(leave):
        _ = 1 / 0
    with shared.turn(leave):
        pass
