"""Ctrl-C is heard wherever it comes: Python loses it in more places than one would think."""

from __future__ import annotations

import json
import signal
import sys
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from proofspan.cli import COMMANDS, bundle_cmd, check_cmd, index_cmd, main
from proofspan.cli.interrupts import forget, heed, heeding, held, remembered
from proofspan.cli.output import output_to
from proofspan.evidence import locate_bulk

pytestmark = pytest.mark.usefixtures("ctrl_c")
HANDBOOK = Path(__file__).parents[1] / "handbook"


def press() -> None:
    signal.raise_signal(signal.SIGINT)


def while_a_reference_dies() -> None:
    """As where an import lets go of its lock, which is a weak reference to it."""

    class Thing: ...

    thing = Thing()
    watched = weakref.ref(thing, lambda _: press())
    del thing
    assert watched() is None


def in_a_finalizer() -> None:
    class Thing:
        def __del__(self) -> None:
            press()

    Thing()


def while_a_thread_starts() -> None:
    """Between the two steps of `Condition.wait` where its lock is let go and nothing takes it back yet."""

    class Pressed(threading.Condition):
        def _release_save(self) -> None:
            super()._release_save()  # type: ignore[misc]
            press()

    thread = threading.Thread(target=lambda: None)
    thread._started._cond = Pressed(threading.Lock())  # type: ignore[attr-defined]
    thread.start()


def in_a_class_body() -> None:
    """As where a module is imported."""

    class Field:
        def __set_name__(self, owner: type, name: str) -> None:
            press()

    class Record:
        field = Field()


def where_it_is_cleared() -> None:
    """As C code does that goes on after an error."""
    with suppress(KeyboardInterrupt):
        press()


Lose = Callable[[], None]
SILENT: tuple[Lose, ...] = (while_a_reference_dies, in_a_finalizer, where_it_is_cleared)
ways = pytest.mark.parametrize("lose", [*SILENT, while_a_thread_starts, in_a_class_body, press])
silent_ways = pytest.mark.parametrize("lose", SILENT)


@ways
def test_whatever_became_of_it_the_program_ends_with_130(
    lose: Lose, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended, remembered():
        lose()
    assert ended.value.code == 130
    assert capfd.readouterr().err == "interrupted\n"


@silent_ways
def test_work_that_goes_on_is_ended_at_its_next_step(lose: Lose) -> None:
    steps: list[int] = []
    step = heeding(steps.append)
    with pytest.raises(SystemExit), remembered():
        step(1)
        lose()
        step(2)
    assert steps == [1]


@silent_ways
def test_an_output_that_was_interrupted_does_not_appear(lose: Lose, tmp_path: Path) -> None:
    with pytest.raises(SystemExit), remembered(), output_to(str(tmp_path / "out")) as output:
        output.write(b"half")
        lose()
    assert not list(tmp_path.iterdir())


@ways
def test_a_command_that_starts_its_workers_is_ended(
    lose: Lose, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Lanes(ThreadPoolExecutor):
        def submit(self, *args: Any, **kwargs: Any) -> Future[Any]:
            begun = super().submit(*args, **kwargs)
            lose()
            return begun

    monkeypatch.setattr(locate_bulk, "ThreadPoolExecutor", Lanes)
    (tmp_path / "notes.md").write_text("Check the tyres.\n")
    row = {"id": 1, "path": "notes.md", "quote": "Check the tyres."}
    (tmp_path / "spans.jsonl").write_text(json.dumps(row))
    with pytest.raises(SystemExit) as ended:
        main(["locate", str(tmp_path / "spans.jsonl"), "-o", str(tmp_path / "found.jsonl")])
    assert ended.value.code == 130
    assert not (tmp_path / "found.jsonl").exists()


@pytest.mark.parametrize("module", [index_cmd, check_cmd, bundle_cmd])
def test_every_long_command_is_ended_before_it_reports(
    module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    load = module.load_manifest

    def losing(workspace: Path) -> object:
        where_it_is_cleared()
        return load(workspace)

    monkeypatch.setattr(module, "load_manifest", losing)
    options = {
        index_cmd: ["index", "--cache-dir", str(tmp_path)],
        check_cmd: ["check"],
        bundle_cmd: ["bundle", "build", "--run", "R001", "-o", str(tmp_path / "bundles.jsonl")],
    }
    with pytest.raises(SystemExit) as ended:
        main([*options[module], str(HANDBOOK)])
    assert ended.value.code == 130
    assert capfd.readouterr() == ("", "interrupted\n")


def test_a_command_is_loaded_whole_before_it_is_ended(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    loaded: list[str] = []

    def loading(name: str) -> None:
        press()
        loaded.append(name)

    monkeypatch.setattr("importlib.import_module", loading)
    with pytest.raises(SystemExit) as ended:
        main(["check", "--help"])
    assert ended.value.code == 130
    assert loaded == [f"proofspan.cli.{COMMANDS['check'][0]}"]
    assert capfd.readouterr() == ("", "interrupted\n")


def test_the_second_does_not_wait() -> None:
    steps: list[int] = []
    with pytest.raises(SystemExit), remembered(), held():
        press()
        steps.append(1)
        press()
        steps.append(2)
    assert steps == [1]


def test_a_second_one_while_the_first_is_told_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []
    monkeypatch.setattr("click.echo", lambda text, **_: (press(), told.append(text)))
    with pytest.raises(SystemExit) as ended, remembered():
        press()
    assert (ended.value.code, told) == (130, ["interrupted"])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_after_one_that_was_lost_the_next_ends_it_at_once() -> None:
    with pytest.raises(SystemExit), remembered():
        where_it_is_cleared()
        press()
        pytest.fail("it went on")


def test_a_command_that_it_ends_well_ends_with_its_own_status() -> None:
    with remembered():
        with pytest.raises(KeyboardInterrupt):
            press()
        forget()
        heed()


def test_it_stays_ignored_where_it_is() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with remembered():
        press()
        heed()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_in_another_thread_it_is_left_alone() -> None:
    seen: list[object] = []

    def run() -> None:
        with remembered():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


def test_everything_is_as_before_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    hook = sys.unraisablehook
    with pytest.raises(SystemExit), remembered():
        press()
    assert sys.unraisablehook is hook
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with remembered():
        heed()  # the next command was not interrupted
    assert not told


def test_other_exceptions_that_nobody_can_catch_are_still_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Thing:
        def __del__(self) -> None:
            raise ZeroDivisionError

    told: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: told.append(lost.exc_type))
    with remembered():
        Thing()
    assert told == [ZeroDivisionError]
