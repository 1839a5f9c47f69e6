"""The output of commands: files that appear whole, results on stdout, progress on stderr."""

from __future__ import annotations

import io
import os
import secrets
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import click
import orjson
from rich.console import Console, RenderableType
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from proofspan.errors import Fault, InputFault, Problem, printable
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Artifact, Manifest
from proofspan.write_errors import OF_WRITING, Refusal, refused, write_refusal

STDOUT = "-"


@contextmanager
def output_to(name: str) -> Iterator[BinaryIO]:
    """Open the file `name` for writing, or stdout for `-`.

    A file is written beside its place and renamed when the block ends, so that an error or Ctrl-C leaves the
    earlier file as it was. (`click.open_file(atomic=True)` renames it then too.) A link is replaced, not
    followed; pipes and devices are written to directly. Raises InputFault when the file cannot be written.
    """
    path = Path(name)
    part = path.with_name(f".proofspan-{secrets.token_hex(6)}.part")
    if name == STDOUT:
        yield sys.stdout.buffer
        return
    try:
        # Nothing may be renamed over a device, a pipe or an open file (`/dev/stdout`).
        folder = os.path.realpath(path.parent)
        if folder == "/dev" or folder.startswith("/proc/") or (path.exists() and not path.is_file()):
            with path.open("wb") as stream:
                yield stream
            return
        if (why := refused(path)) is not None:
            raise InputFault(_unwritable(name, why))
        try:
            with part.open("xb") as stream:
                yield stream
            part.replace(path)
        finally:
            with suppress(OSError):
                part.unlink()
    except OSError as error:
        if error.filename not in (name, str(path), str(part)) and not is_write_error(error):
            raise
        raise InputFault(not_written(name, error)) from error


def is_write_error(error: OSError) -> bool:
    """True if the error is of writing to an open file, such as a full disk; a closed pipe is not one."""
    return error.filename is None and error.errno in OF_WRITING


def not_written(name: str, error: OSError) -> Problem:
    """Return the problem for an output that the system refuses to write."""
    return _unwritable(name, write_refusal(error, Path(name)))


def _unwritable(name: str, why: Refusal) -> Problem:
    return Problem("cannot_write", f"the output cannot be written: {why.reason}", name, why.fix)


def check_outputs(names: Sequence[str], inputs: Iterable[Path]) -> None:
    """Raise InputFault for outputs that are inputs, cannot be written, or are named twice."""
    given, problems = list(inputs), []
    for name in names:
        is_input = False
        with suppress(OSError):
            is_input = any(path.exists() and Path(name).samefile(path) for path in given)
        if name == STDOUT:
            continue
        if is_input:
            problems.append(
                Problem("output_is_input", "this is an input", name, "name another file to write")
            )
        # os.path.isdir: Path.is_dir raises for a name that is too long.
        elif os.path.isdir(name):  # noqa: PTH112
            problems.append(Problem("output_is_folder", "this is a folder", name, "name a file in it"))
        elif (why := refused(Path(name))) is not None:
            is_absent = not os.path.lexists(Path(name).parent)
            code = "no_folder" if is_absent else "cannot_write"
            problems.append(replace(_unwritable(name, why), code=code))
    if len({name if name == STDOUT else os.path.realpath(name) for name in names}) < len(names):
        fix = "name a file for each"
        problems.append(Problem("same_output", "two outputs would go into one file", names[0], fix))
    if problems:
        raise InputFault(*problems)


def workspace_files(manifest: Manifest, *, without: Iterable[Artifact | None] = ()) -> Iterator[Path]:
    """Yield every file of a workspace whose path is allowed, except some artifacts that are written."""
    written = {artifact.key for artifact in without if artifact is not None}
    if manifest.file is not None:
        yield manifest.file
    for artifact in manifest.artifacts():
        if artifact.key not in written:
            with suppress(Fault):
                yield artifact_path(manifest, artifact)


#: Seconds until a progress bar appears, and between its updates.
BAR_AFTER, BAR_EVERY = 1.0, 0.1


@contextmanager
def progress_bar(verb: str, *, quiet: bool = False) -> Iterator[Callable[[str, int, int | None], None]]:
    """Show a bar on a terminal's stderr when the work lasts longer than a second.

    Call the yielded function with the name of the current item, and the amounts done and in all, None
    where that is unknown.
    """
    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
    bar = Progress(*columns, console=console, transient=True)
    due = time.monotonic() + BAR_AFTER

    def on_progress(name: str, done: int, total: int | None) -> None:
        nonlocal due
        if quiet or not console.is_terminal or time.monotonic() < due:
            return
        due = time.monotonic() + BAR_EVERY
        if not bar.task_ids:
            bar.start()
            bar.add_task(verb)
        description = f"{verb} {escape(printable(name))}".strip()
        bar.update(bar.task_ids[0], description=description, completed=done, total=total)

    try:
        yield on_progress
    finally:
        if bar.task_ids:
            bar.stop()


class NamedPath(click.Path):
    """A path that is not empty: an unset shell variable does not mean the current folder."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        if value == "":
            self.fail("the path is empty; write `.` for the current folder", param, ctx)
        return super().convert(value, param, ctx)


#: Sign and colour of a verdict.
SIGNS: Mapping[str, tuple[str, str]] = {
    "pass": ("✓", "green"),
    "open": ("?", "yellow"),
    "warn": ("!", "yellow"),
    "fail": ("✗", "red"),
    "unknown": ("·", "dim"),
    "skipped": ("·", "dim"),
}

#: The last options of commands that measure an indexed workspace.
JSON_OPTION = click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
CACHE_OPTION = click.option("--cache-dir", type=NamedPath(), help="The index's folder.")
FIX_OPTION = click.option(
    "--fix-encoding",
    is_flag=True,
    help="Read UTF-16, bytes that are not UTF-8, and text that was decoded wrongly (Î”S for ΔS) repaired.",
)
OUTPUT_OPTION = click.option(
    "-o", "--output", default=STDOUT, help="The file to write; - for stdout.", show_default=True
)


def json_text(value: Any) -> bytes:
    """Return indented JSON with sorted keys and a line end."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def write_parts(*parts: RenderableType, output: str, width: int) -> None:
    """Print the parts below each other: in colour on a terminal, else as text of at most `width` columns."""
    if output == STDOUT and sys.stdout.isatty():
        Console(highlight=False).print(*parts, sep="\n")
        return
    text = io.StringIO()
    Console(file=text, width=width, color_system=None, highlight=False).print(*parts, sep="\n")
    lines = "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())
    write_bytes(lines.encode("utf-8", "replace"), output)


def print_problems(problems: Iterable[Problem]) -> None:
    """Print each problem on stderr with its severity."""
    for problem in problems:
        click.echo(f"{problem.severity}: {problem}", err=True)


def write_bytes(data: bytes, output: str) -> None:
    """Write a whole output at once."""
    with output_to(output) as sink:
        sink.write(data)
