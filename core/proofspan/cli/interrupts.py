"""Ctrl-C, heard even where Python loses it.

Python raises KeyboardInterrupt in the main thread between any two steps of whatever runs there. Inside a
callback of the interpreter (an import lets go of its lock, a weak reference dies, a `__del__`) it is only
printed, C code may clear it, and inside a class body, or inside `threading.Condition.wait`, with which every
thread starts, it comes out as a RuntimeError. So it is remembered as well as raised: a command that comes to
its next step all the same raises it there, and one that was interrupted ends with 130 whatever came of it.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import wraps
from types import FrameType
from typing import ParamSpec

import click

from proofspan.errors import InputFault

#: As shells have it: 128 and the number of SIGINT.
INTERRUPTED = 130

Told = ParamSpec("Told")


@dataclass(slots=True)
class _Heard:
    """Signals belong to the process, and so does what is known of them."""

    is_interrupted: bool = False
    is_held: bool = False


_heard = _Heard()


@contextmanager
def remembered() -> Iterator[None]:
    """Ends the program with status 130 when the block ends, however it ends, if Ctrl-C came within it.

    Does nothing where SIGINT is ignored, as in a shell's background, or where the program handles it itself.
    """
    if not _is_ours():
        yield
        return
    _heard.is_interrupted = _heard.is_held = False
    printing = sys.unraisablehook
    signal.signal(signal.SIGINT, _hear)
    sys.unraisablehook = _without_interruptions(printing)
    try:
        yield
    finally:
        is_interrupted = _heard.is_interrupted
        if is_interrupted:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second one while the first is told
            forget()
            with suppress(OSError):  # nobody is there to read it
                click.echo("interrupted", err=True)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.unraisablehook = printing
        if is_interrupted:
            sys.exit(INTERRUPTED)


@contextmanager
def held() -> Iterator[None]:
    """Ctrl-C waits for the end of the block: for code that is short and is not to be left half done.

    A second one does not wait.
    """
    _heard.is_held = True
    try:
        yield
    finally:
        _heard.is_held = False
    heed()


def heed() -> None:
    """KeyboardInterrupt if one came before and was lost. For where only work that goes on comes by."""
    if _heard.is_interrupted:
        raise KeyboardInterrupt


def heeding(on_progress: Callable[Told, None]) -> Callable[Told, None]:
    """The same callback; work that reports progress after Ctrl-C has lost it, and is ended here."""

    @wraps(on_progress)
    def told(*args: Told.args, **kwargs: Told.kwargs) -> None:
        heed()
        on_progress(*args, **kwargs)

    return told


def forget() -> None:
    """For a command that is meant to be ended by Ctrl-C: that is no interruption."""
    _heard.is_interrupted = False


def _is_ours() -> bool:
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler


def _hear(_signal: int, _frame: FrameType | None) -> None:
    is_first, _heard.is_interrupted = not _heard.is_interrupted, True
    if not (_heard.is_held and is_first):
        raise KeyboardInterrupt


def _without_interruptions(
    printing: Callable[[sys.UnraisableHookArgs], object],
) -> Callable[[sys.UnraisableHookArgs], object]:
    """What prints exceptions that nobody can catch, but for a Ctrl-C that is remembered anyway."""

    def hook(lost: sys.UnraisableHookArgs) -> None:
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            printing(lost)

    return hook


# Standard output as it may be: in an encoding without our signs, on a full disk, a closed pipe.

#: The status of a command whose reader has gone, as click has it.
CLOSED_PIPE = 1
#: What writing to a stream that has been open from the start can end in.
_OF_WRITING = {errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


def keep_writable() -> None:
    """What the encoding of stdout or stderr lacks is written as an escape (`\\u2713`) instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@contextlib.contextmanager
def written_out() -> Iterator[None]:
    """Writes all of stdout out when the block ends, however it ends.

    InputFault where that cannot be done; a reader that has gone ends the command without a word.
    """
    try:
        try:
            yield
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except OSError as error:
        if sys.stdout is None or error.filename is not None or error.errno not in _OF_WRITING:
            raise
        give_up_stdout()
        if error.errno == errno.EPIPE:
            raise SystemExit(CLOSED_PIPE) from None
        raise InputFault.of(
            "stdout_not_written",
            f"the output cannot be written: {error.strerror or error}",
            where="standard output",
            fix="Free some space where it leads to, or lead it elsewhere.",
        ) from error


def refuse_undecodable(arguments: Sequence[str], ctx: click.Context) -> None:
    """UsageError for an argument whose bytes are no text: it could be neither looked up nor written out."""
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError:
            shown = os.fsencode(argument).decode("utf-8", "backslashreplace")
            message = f"the argument '{shown}' is not valid UTF-8: rename the file, or type it as UTF-8"
            raise click.UsageError(message, ctx) from None


def give_up_stdout() -> None:
    """Leads stdout nowhere, so that Python's own last flush does not fail over what is left in it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
