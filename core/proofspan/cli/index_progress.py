"""How far an index is, told while it is built: a bar in a terminal, lines where a program listens."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Literal, Protocol

import click
import orjson
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from proofspan.errors import printable
from proofspan.store.index import Progress as Step

#: Progress is told at most once in so many seconds.
SECONDS_A_STEP = 0.2

Event = Literal["progress", "locating"]


class Tell(Protocol):
    """Hears how far a run is: bytes while it is read, traces while its citations are located."""

    def __call__(self, event: Event, step: Step) -> None: ...


@contextmanager
def progress(*, as_lines: bool, quiet: bool) -> Iterator[Tell]:
    """A bar in a terminal, JSON lines where a program listens, else nothing."""
    if as_lines:
        yield _Lines()
    elif quiet or not sys.stderr.isatty():
        yield lambda event, step: None
    else:
        columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            yield _Bars(bar)


class _Bars:
    """One bar a run and kind of work, made when it is first heard of."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._tasks: dict[tuple[Event, str], TaskID] = {}

    def __call__(self, event: Event, step: Step) -> None:
        """Move the run's bar to where it is."""
        key = event, step.run_id
        if key not in self._tasks:
            name = Text(printable(step.run_id)).markup + (": citations" if event == "locating" else "")
            self._tasks[key] = self._bar.add_task(name, total=step.total)
        self._bar.update(self._tasks[key], completed=step.done)


class _Lines:
    """One JSON object a line: the first and the last step of each run and kind of work, and some between."""

    def __init__(self) -> None:
        self._told = 0.0
        self._last: tuple[Event, str] | None = None

    def __call__(self, event: Event, step: Step) -> None:
        """Print the step, unless one was printed just now."""
        is_news = (event, step.run_id) != self._last or step.done == step.total
        if not is_news and time.monotonic() - self._told < SECONDS_A_STEP:
            return
        self._told, self._last = time.monotonic(), (event, step.run_id)
        click.echo(orjson.dumps({"event": event, **asdict(step)}, option=orjson.OPT_SORT_KEYS))
        sys.stdout.flush()
