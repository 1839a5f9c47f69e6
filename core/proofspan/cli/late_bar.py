"""A bar of progress that shows only when somebody has begun to wait."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn

from proofspan.errors import printable

AFTER_SECONDS = 1.0


@contextmanager
def late_bar(verb: str, *, quiet: bool = False) -> Iterator[Callable[[str, int, int], None]]:
    """A bar on a terminal's stderr, once the work has taken longer than a second; none where `quiet`.

    It is told what is at work, and how many bytes are done of how many.
    """
    console = Console(stderr=True)
    bar = Progress(
        TextColumn(f"{verb} {{task.fields[name]}}"),
        BarColumn(),
        DownloadColumn(),
        console=console,
        transient=True,
    )
    started = time.monotonic()
    tasks: list[TaskID] = []

    def on_progress(name: str, done: int, total: int) -> None:
        is_late = time.monotonic() - started > AFTER_SECONDS
        if console.is_terminal and not quiet and not tasks and is_late:
            bar.start()
            tasks.append(bar.add_task(verb, total=total, name=""))
        for task in tasks:
            bar.update(task, completed=done, total=total, name=escape(printable(name)))

    try:
        yield on_progress
    finally:
        if tasks:
            bar.stop()
