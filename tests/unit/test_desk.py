"""Work in the background: what was asked for last comes first, and nobody waits longer than they said."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from proofspan.errors import EvidenceFault
from proofspan.services.documents.background import MOST_WANTED, Desk, Done, Failed, Waiting

LONG_S = 60.0


class Gate:
    """Work that notes its name when it begins, and ends when it is let go."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self._open = threading.Event()

    def work(self, name: str) -> Callable[[], str]:
        def make() -> str:
            self.begun.append(name)
            assert self._open.wait(LONG_S)
            return name

        return make

    def open(self) -> None:
        self._open.set()


@pytest.fixture(autouse=True)
def short_idleness(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proofspan.services.documents.background.IDLE_S", 0.1)


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.open()


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LONG_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_work_is_done_once_and_remembered() -> None:
    desk, made = Desk(), []
    for _ in range(3):
        assert desk.get("a", lambda: made.append(1) or "page", LONG_S) == Done("page")
    assert made == [1]
    desk.forget()
    assert desk.get("a", lambda: "new", LONG_S) == Done("new")


def test_nobody_waits_longer_than_they_said(gate: Gate) -> None:
    desk = Desk()
    first = desk.get("a", gate.work("a"), 0.05)
    assert isinstance(first, Waiting)
    second = desk.get("a", gate.work("another"), 0.05)
    assert isinstance(second, Waiting) and second.seconds > first.seconds
    assert not desk.is_done("a")
    gate.open()
    assert desk.get("a", gate.work("a third"), LONG_S) == Done("a")
    assert gate.begun == ["a"]
    assert desk.is_done("a") and desk.is_done("never asked for")


def test_one_that_hangs_does_not_keep_the_others(gate: Gate) -> None:
    desk = Desk(hands=2)
    desk.get("hangs", gate.work("hangs"), 0)
    assert [desk.get(name, lambda name=name: name, LONG_S) for name in "abc"] == [
        Done(name) for name in "abc"
    ]


def test_what_was_asked_for_last_is_done_first(gate: Gate) -> None:
    desk = Desk(hands=1)
    desk.get("first", gate.work("first"), 0)
    eventually(lambda: gate.begun == ["first"])
    for name in ("left", "next", "now", "next"):
        desk.get(name, gate.work(name), 0)
    gate.open()
    eventually(lambda: len(gate.begun) == 4)
    assert gate.begun == ["first", "next", "now", "left"]


def test_a_fault_is_remembered_until_it_is_forgotten() -> None:
    desk, asked = Desk(), []

    def refuse() -> str:
        asked.append(1)
        raise EvidenceFault.of("timed_out", "no answer", where="a.pdf", fix="try again")

    outcomes = [desk.get("a", refuse, LONG_S) for _ in range(2)]
    assert all(isinstance(outcome, Failed) for outcome in outcomes)
    assert outcomes[0] == outcomes[1] and asked == [1]
    desk.forget()
    desk.get("a", refuse, LONG_S)
    assert asked == [1, 1]


def test_a_mistake_of_ours_is_told_and_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    printed: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", printed.append)
    desk = Desk(hands=1)

    def mistaken() -> str:
        raise ZeroDivisionError

    outcome = desk.get("a", mistaken, LONG_S)
    assert isinstance(outcome, Failed)
    assert outcome.fault.problems[0].code == "broken_off"
    assert desk.get("b", lambda: "b", LONG_S) == Done("b")
    eventually(lambda: [args.exc_type for args in printed] == [ZeroDivisionError])


def test_ahead_waits_until_nobody_wants_anything_and_takes_one_thread(gate: Gate) -> None:
    desk = Desk(hands=2)
    for name in ("wanted 1", "wanted 2"):
        desk.get(name, gate.work(name), 0)
    eventually(lambda: len(gate.begun) == 2)
    desk.ahead("ahead 1", gate.work("ahead 1"))
    desk.ahead("ahead 2", gate.work("ahead 2"))
    assert len(gate.begun) == 2
    gate.open()
    eventually(lambda: desk.is_done("ahead 1") and desk.is_done("ahead 2"))
    assert gate.begun[2:] == ["ahead 2", "ahead 1"]


def test_work_ahead_leaves_a_thread_free(gate: Gate) -> None:
    desk = Desk(hands=2)
    for name in ("ahead 1", "ahead 2"):
        desk.ahead(name, gate.work(name))
    eventually(lambda: len(gate.begun) == 1)
    assert desk.get("wanted", lambda: "at once", LONG_S) == Done("at once")
    assert len(gate.begun) == 1


def test_work_ahead_that_is_asked_for_is_not_ahead_any_more(gate: Gate) -> None:
    desk = Desk(hands=2)
    desk.ahead("kept", gate.work("kept"))
    eventually(lambda: gate.begun == ["kept"])
    desk.ahead("next", lambda: "next")
    assert desk.get("next", lambda: "made twice", LONG_S) == Done("next")
    assert isinstance(desk.get("kept", lambda: "made twice", 0), Waiting)
    gate.open()
    assert desk.get("kept", lambda: "made twice", LONG_S) == Done("kept")


def test_it_is_bounded(gate: Gate) -> None:
    desk = Desk(hands=1, remembered=2, ahead=3)
    desk.get("now", gate.work("now"), 0)
    eventually(lambda: gate.begun == ["now"])
    for number in range(10):
        desk.ahead(f"ahead {number}", gate.work(f"ahead {number}"))
    for number in range(MOST_WANTED + 10):
        desk.get(f"wanted {number}", gate.work(f"wanted {number}"), 0)
    assert desk.is_done("ahead 6") and desk.is_done("wanted 9"), "left out"
    assert not desk.is_done("ahead 7") and not desk.is_done("wanted 10")
    gate.open()
    eventually(lambda: desk.is_done("ahead 7"))
    assert len(gate.begun) == 1 + MOST_WANTED + 3
    assert desk.get("now", lambda: "made again", LONG_S) == Done("made again"), "the last two are remembered"


@pytest.mark.slow
def test_threads_end_when_there_is_nothing_to_do() -> None:
    desk = Desk()
    for round_number in range(2):
        assert desk.get(round_number, lambda: "done", LONG_S) == Done("done")
        eventually(lambda: not any(thread.name == "desk" for thread in threading.enumerate()))


def test_many_threads_share_a_desk() -> None:
    desk, made, results = Desk(), [], []

    def visit(number: int) -> None:
        for step in range(50):
            key = (number + step) % 10
            outcome = desk.get(key, lambda key=key: made.append(key) or key, LONG_S)
            assert isinstance(outcome, Done)
            results.append(outcome.value == key)
            desk.ahead(("ahead", key), lambda: None)

    threads = [threading.Thread(target=visit, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 400 and all(results)
    assert sorted(made) == list(range(10))


def test_an_outcome_that_is_taken_away_is_made_anew(gate: Gate) -> None:
    desk = Desk()
    assert isinstance(desk.get("a", gate.work("a"), 0, once=True), Waiting)
    gate.open()
    eventually(lambda: desk.is_done("a"))
    assert desk.get("a", lambda: "made too early", 0, once=True) == Done("a"), "kept for who waits for it"
    assert desk.get("a", lambda: "anew", LONG_S, once=True) == Done("anew")
