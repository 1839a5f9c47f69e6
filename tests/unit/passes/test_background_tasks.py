"""Background tasks: the newest request runs first, and a wait is bounded."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from proofspan.errors import EvidenceFault
from proofspan.services.documents.background import MAX_QUEUED, BackgroundTasks, Done, Failed, Waiting

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


def test_a_task_runs_once_and_its_outcome_is_cached() -> None:
    tasks, made = BackgroundTasks(), []
    for _ in range(3):
        assert tasks.get("a", lambda: made.append(1) or "page", LONG_S) == Done("page")
    assert made == [1]
    tasks.forget()
    assert tasks.get("a", lambda: "new", LONG_S) == Done("new")


def test_a_wait_is_bounded(gate: Gate) -> None:
    tasks = BackgroundTasks()
    first = tasks.get("a", gate.work("a"), 0.05)
    assert isinstance(first, Waiting)
    second = tasks.get("a", gate.work("another"), 0.05)
    assert isinstance(second, Waiting)
    assert not tasks.is_done("a")
    gate.open()
    assert tasks.get("a", gate.work("a third"), LONG_S) == Done("a")
    assert gate.begun == ["a"]
    assert tasks.is_done("a") and tasks.is_done("never asked for")


def test_a_task_that_hangs_does_not_hold_up_the_others(gate: Gate) -> None:
    tasks = BackgroundTasks(threads=2)
    tasks.get("hangs", gate.work("hangs"), 0)
    assert [tasks.get(name, lambda name=name: name, LONG_S) for name in "abc"] == [
        Done(name) for name in "abc"
    ]


def test_the_newest_request_runs_first(gate: Gate) -> None:
    tasks = BackgroundTasks(threads=1)
    tasks.get("first", gate.work("first"), 0)
    eventually(lambda: gate.begun == ["first"])
    for name in ("left", "next", "now", "next"):
        tasks.get(name, gate.work(name), 0)
    gate.open()
    eventually(lambda: len(gate.begun) == 4)
    assert gate.begun == ["first", "next", "now", "left"]


def test_a_fault_is_cached_until_the_cache_is_cleared() -> None:
    tasks, asked = BackgroundTasks(), []

    def refuse() -> str:
        asked.append(1)
        raise EvidenceFault.of("timed_out", "no answer", where="a.pdf", fix="try again")

    outcomes = [tasks.get("a", refuse, LONG_S) for _ in range(2)]
    assert all(isinstance(outcome, Failed) for outcome in outcomes)
    assert outcomes[0] == outcomes[1] and asked == [1]
    tasks.forget()
    tasks.get("a", refuse, LONG_S)
    assert asked == [1, 1]


def test_an_unexpected_error_is_logged_and_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    tasks = BackgroundTasks(threads=1)

    def mistaken() -> str:
        raise ZeroDivisionError

    outcome = tasks.get("a", mistaken, LONG_S)
    assert isinstance(outcome, Failed)
    assert outcome.fault.problems[0].code == "broken_off"
    assert tasks.get("b", lambda: "b", LONG_S) == Done("b")
    errors = [record.exc_info[0] for record in caplog.records if record.exc_info]
    assert errors == [ZeroDivisionError]


def test_prefetching_waits_until_nothing_is_requested_and_takes_one_thread(gate: Gate) -> None:
    tasks = BackgroundTasks(threads=2)
    for name in ("wanted 1", "wanted 2"):
        tasks.get(name, gate.work(name), 0)
    eventually(lambda: len(gate.begun) == 2)
    tasks.prefetch("ahead 1", gate.work("ahead 1"))
    tasks.prefetch("ahead 2", gate.work("ahead 2"))
    assert len(gate.begun) == 2
    gate.open()
    eventually(lambda: tasks.is_done("ahead 1") and tasks.is_done("ahead 2"))
    assert gate.begun[2:] == ["ahead 2", "ahead 1"]


def test_prefetching_leaves_a_thread_free(gate: Gate) -> None:
    tasks = BackgroundTasks(threads=2)
    for name in ("ahead 1", "ahead 2"):
        tasks.prefetch(name, gate.work(name))
    eventually(lambda: len(gate.begun) == 1)
    assert tasks.get("wanted", lambda: "at once", LONG_S) == Done("at once")
    assert len(gate.begun) == 1


def test_a_prefetched_task_that_is_requested_joins_the_queue(gate: Gate) -> None:
    tasks = BackgroundTasks(threads=2)
    tasks.prefetch("kept", gate.work("kept"))
    eventually(lambda: gate.begun == ["kept"])
    tasks.prefetch("next", lambda: "next")
    assert tasks.get("next", lambda: "made twice", LONG_S) == Done("next")
    assert isinstance(tasks.get("kept", lambda: "made twice", 0), Waiting)
    gate.open()
    assert tasks.get("kept", lambda: "made twice", LONG_S) == Done("kept")


def test_queues_and_cache_are_bounded(gate: Gate) -> None:
    tasks = BackgroundTasks(threads=1, cached=2, prefetched=3)
    tasks.get("now", gate.work("now"), 0)
    eventually(lambda: gate.begun == ["now"])
    for number in range(10):
        tasks.prefetch(f"ahead {number}", gate.work(f"ahead {number}"))
    for number in range(MAX_QUEUED + 10):
        tasks.get(f"wanted {number}", gate.work(f"wanted {number}"), 0)
    assert tasks.is_done("ahead 6") and tasks.is_done("wanted 9"), "left out"
    assert not tasks.is_done("ahead 7") and not tasks.is_done("wanted 10")
    gate.open()
    eventually(lambda: tasks.is_done("ahead 7"))
    assert len(gate.begun) == 1 + MAX_QUEUED + 3
    assert tasks.get("now", lambda: "made again", LONG_S) == Done("made again"), "the last two are remembered"


@pytest.mark.slow
def test_threads_end_when_there_is_nothing_to_do() -> None:
    tasks, others = BackgroundTasks(), set(threading.enumerate())
    for round_number in range(2):
        assert tasks.get(round_number, lambda: "done", LONG_S) == Done("done")
        eventually(lambda: not any(each.name == "background" for each in {*threading.enumerate()} - others))


def test_many_threads_share_the_tasks() -> None:
    tasks, made, results = BackgroundTasks(), [], []

    def visit(number: int) -> None:
        for step in range(50):
            key = (number + step) % 10
            outcome = tasks.get(key, lambda key=key: made.append(key) or key, LONG_S)
            assert isinstance(outcome, Done)
            results.append(outcome.value == key)
            tasks.prefetch(("ahead", key), lambda: None)

    threads = [threading.Thread(target=visit, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 400 and all(results)
    assert sorted(made) == list(range(10))


def test_an_outcome_taken_once_is_not_cached(gate: Gate) -> None:
    tasks = BackgroundTasks()
    assert isinstance(tasks.get("a", gate.work("a"), 0, once=True), Waiting)
    gate.open()
    eventually(lambda: tasks.is_done("a"))
    assert tasks.get("a", lambda: "made too early", 0, once=True) == Done("a"), "kept for who waits for it"
    assert tasks.get("a", lambda: "anew", LONG_S, once=True) == Done("anew")


def test_who_waits_is_called_once_when_all_is_done() -> None:
    tasks, gates, calls = BackgroundTasks(), (Gate(), Gate()), list[str]()
    for name, gate in zip("ab", gates, strict=True):
        assert tasks.get(name, gate.work(name), 0) == Waiting()
    tasks.when_done("one", ("a", "b"), lambda: calls.append("forgotten"))
    tasks.when_done("one", ("a", "b"), lambda: calls.append("both"))
    tasks.when_done("another", ("a",), lambda: calls.append("a"))
    assert not calls
    gates[0].open()
    eventually(lambda: calls == ["a"])
    gates[1].open()
    eventually(lambda: calls == ["a", "both"])
    tasks.when_done("late", ("a", "b", "never asked for"), lambda: calls.append("at once"))
    assert calls == ["a", "both", "at once"]


def test_who_waits_for_a_task_that_is_dropped_is_called(gate: Gate) -> None:
    tasks, calls = BackgroundTasks(threads=1), list[str]()
    tasks.get("running", gate.work("running"), 0)
    eventually(lambda: gate.begun == ["running"])
    tasks.get("oldest", gate.work("oldest"), 0)
    tasks.when_done("one", ("oldest",), lambda: calls.append("dropped"))
    for number in range(MAX_QUEUED):
        assert not calls
        tasks.get(number, gate.work(str(number)), 0)
    assert calls == ["dropped"]
