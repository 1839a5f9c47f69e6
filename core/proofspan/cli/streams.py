"""Standard output as it may be: in an encoding without our signs, on a full disk, a closed pipe."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from collections.abc import Iterator, Sequence

import click

from proofspan.errors import InputFault

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
            remedy="Free some space where it leads to, or lead it elsewhere.",
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
